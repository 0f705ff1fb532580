"""The thread that logs what the heartbeats of consumers find, while the program works."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

from dueq import _core

if TYPE_CHECKING:
    from dueq._consumer import ConsumerBase


class HeartbeatLogger:
    """One of a process, as long as that lives. It sleeps until a heartbeat writes to its pipe."""

    def __init__(self) -> None:
        self._loops: WeakSet[ConsumerBase] = WeakSet()
        self._lock = threading.RLock()
        self._ends: tuple[int, int] | None = None

    def add(self, loop: ConsumerBase) -> None:
        """Logs also what the heartbeat of this one finds."""
        with self._lock:
            self._loops.add(loop)

    def begin(self) -> None:
        """Starts the thread, unless it runs."""
        with self._lock:
            if self._ends is None:
                self._ends = os.pipe()
                os.set_blocking(self._ends[1], False)
                threading.Thread(target=self._run, name="dueq-logger", daemon=True).start()
                _core.wake_by(self._ends[1])

    def _run(self) -> None:
        assert self._ends
        while os.read(self._ends[0], 4096):
            self._warn()

    def _warn(self) -> None:
        """In a function of its own, as a consumer must not live on by a variable here."""
        with self._lock:
            loops = tuple(self._loops)
        for loop in loops:
            loop.warn()

    def forked(self) -> None:
        """The thread, and the pipe, are the parent's."""
        self._lock = threading.RLock()
        if self._ends is not None:
            for end in self._ends:
                os.close(end)
            self._ends = None
            _core.wake_by(-1)


logger = HeartbeatLogger()
os.register_at_fork(after_in_child=logger.forked)
