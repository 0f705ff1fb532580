"""
Signals as numbers that a thread can wait for. They arrive at once, even while the main thread is in
a long C call.
"""

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
    """Collects the signals of this process from now on. The main thread must make it."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in HANDLED:
            signal.signal(number, _noted)

    def wait(self, seconds: float, *descriptors: int) -> tuple[list[int], list[int]]:
        """
        Waits for signals, or until a descriptor is readable, for at most `seconds`. Returns the
        numbers of the signals in their order, and the readable descriptors.
        """
        ready = select.select([self._read, *descriptors], [], [], max(0.0, seconds))[0]
        numbers = []
        if self._read in ready:
            ready.remove(self._read)
            numbers = [number for number in os.read(self._read, 4096) if number in HANDLED]
        return numbers, ready


def _noted(number: int, frame: FrameType | None) -> None:
    """
    Does nothing: a handler prevents the default action. The wakeup descriptor carries the number.
    """
