"""Signals as numbers to wait for, at once also where the main thread is in a long call of C's."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

HANDLED = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGTSTP,
    signal.SIGCONT,
    signal.SIGUSR1,
    signal.SIGCHLD,
)


class Signals:
    """The signals of this process from now on. To be made in the main thread."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in HANDLED:
            signal.signal(number, _noted)

    def wait(self, seconds: float, *descriptors: int) -> tuple[list[int], list[int]]:
        """
        Waits for signals, or for one of the descriptors to be readable. Returns the numbers of the
        signals in order, and the readable descriptors.
        """
        ready = select.select([self._read, *descriptors], [], [], max(0.0, seconds))[0]
        numbers = []
        if self._read in ready:
            ready.remove(self._read)
            numbers = [number for number in os.read(self._read, 4096) if number in HANDLED]
        return numbers, ready


def _noted(number: int, frame: FrameType | None) -> None:
    """A handler, so that the signal does not end the process. The descriptor has its number."""
