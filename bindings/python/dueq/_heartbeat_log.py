"""The thread that logs the warnings of consumers' heartbeats while the program works."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

from dueq import _core

if TYPE_CHECKING:
    from dueq._consumer import ConsumerBase


class HeartbeatLogger:
    """The logger of the process. Its thread sleeps until a heartbeat writes to its pipe."""

    def __init__(self) -> None:
        self._loops: WeakSet[ConsumerBase] = WeakSet()
        self._lock = threading.RLock()
        self._ends: tuple[int, int] | None = None

    def add(self, loop: ConsumerBase) -> None:
        """Also logs the warnings of this consumer's heartbeat."""
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
        """A function of its own: a local variable of _run() would keep a consumer alive."""
        with self._lock:
            loops = tuple(self._loops)
        for loop in loops:
            loop.warn()

    def forked(self) -> None:
        """In a forked child: drops the thread and the pipe, which belong to the parent."""
        self._lock = threading.RLock()
        if self._ends is not None:
            for end in self._ends:
                os.close(end)
            self._ends = None
            _core.wake_by(-1)


logger = HeartbeatLogger()
os.register_at_fork(after_in_child=logger.forked)
