"""Agents that move what is due, for those who block."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dueq._foreign import PAUSE_S, Foreign, moved
from dueq._pool import SLICE_MS, Pool
from dueq.errors import Error

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    class Event(Protocol):
        """What threading.Event and multiprocessing.Event have."""

        def is_set(self) -> bool: ...

    Until: TypeAlias = Callable[[], object] | Event | None

_log = logging.getLogger("dueq")


def run(queue: Foreign, pool: Pool, until: Until) -> None:
    """Moves what is due until it is told to stop, over failures that may pass."""
    over = _over(until)
    while not over():
        try:
            pool.run(moved(queue, over=over))
        except Error as error:
            queue._survive(error)
            end = time.monotonic() + PAUSE_S
            while time.monotonic() < end and not over():
                time.sleep(SLICE_MS / 1000)


@contextmanager
def running(queue: Foreign, pool: Pool) -> Iterator[None]:
    """The same in a thread of its own, during a with block."""
    stop = threading.Event()
    failures: list[Exception] = []

    def work() -> None:
        try:
            run(queue, pool, stop)
        except Exception as error:
            if pool.closed:
                return
            _log.error("%r: nothing is moved any more: %s", queue, error)
            failures.append(error)

    thread = threading.Thread(target=work, name=f"dueq {queue._label}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def _over(until: Until) -> Callable[[], object]:
    if until is None:
        return lambda: False
    return until if callable(until) else until.is_set
