"""Agents that move due items, by blocking calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dueq.blocking.pool import Closing, Pool
from dueq.errors import Error
from dueq.interop.foreign import Foreign

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    class Event(Protocol):
        """The method that threading.Event and multiprocessing.Event share."""

        def is_set(self) -> bool: ...

    Until: TypeAlias = Callable[[], object] | Event | None


class Agent(Foreign, Closing):
    """A queue of another system, whose clients move due items."""

    _home: Pool

    def _run(self, until: Until = None) -> None:
        """
        Moves due items until `until` ends it. While the server is away, waits, with warnings in the
        log. Raises ConnectError if the server was never reached.

        until  a function, or a threading.Event or similar: this call ends within half a second
               after the function returns true or the event is set; while the server is away, within
               the URL's timeout. None: the call never ends
        """
        over = _over(until)
        while not over():
            try:
                self._moved(self._home.call(self._move(over=over)))
            except Error as error:
                # The step may have been waiting for the server when `until` ended it.
                if not error.retriable or not over():
                    raise

    @contextmanager
    def _running(self) -> Iterator[None]:
        """
        Moves due items in a thread of its own, during a with block. If an error ends the thread,
        the error is logged, and raised at the end of the block.
        """
        stop = threading.Event()
        failures: list[Exception] = []

        def work() -> None:
            try:
                self._run(stop)
            except Exception as error:
                if self._home.closed:
                    return
                self._log_end(error)
                failures.append(error)

        thread = threading.Thread(target=work, name=f"dueq {self._label}", daemon=True)
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
