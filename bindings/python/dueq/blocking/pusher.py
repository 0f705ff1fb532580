"""Many pushes in flight."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dueq._flight import Flight, Push, log_failed
from dueq._link import Alone
from dueq.blocking.pool import Pool
from dueq.draft import row
from dueq.errors import InvalidError

if TYPE_CHECKING:
    from typing import Unpack

    from dueq.draft import Body, Options


class Pusher(Alone):
    """
    Pushes messages without waiting for each, from Queue.pusher(). It sends them in order, on a
    connection of its own, in batches: those that were pushed while the batch before was in flight.

    The end of the block waits for all pushes, and raises an ExceptionGroup with the error of each
    that failed. When the block itself raises, its exception propagates, and failures are logged.

        with queue.pusher() as pusher:
            for order in orders:
                pusher.push(order, delay=60)

    Many threads may use it at once. A child after fork() starts with no pushes in flight.
    """

    def __init__(self, pool: Pool, queue: str, most: int) -> None:
        self._pool = pool
        self._lock = threading.RLock()  # of this thread again: a signal handler may push
        self._flight: Flight | None = Flight(pool.acquire(), queue, most)

    def push(self, body: Body, **options: Unpack[Options]) -> Push:
        """
        Queues a push, with the arguments of Queue.push(), and returns at once; while `most` pushes
        are in flight it waits for earlier ones. Invalid arguments raise here.
        """
        draft = row(body, options)
        with self._lock:
            flight = self._open()
            while not (push := flight.push(draft)):
                self._pool.wait(flight.link)
                flight.collect()
        return push

    def flush(self) -> None:
        """Waits for all pushes, and raises the failures so far as the end of the block does."""
        with self._lock:
            flight = self._open()
            self._land(flight)
            flight.raise_failed()

    def close(self) -> None:
        """Does what the end of the block does. Does nothing when it is closed already."""
        with self._lock:
            flight, self._flight = self._flight, None
            if flight:
                self._land(flight)
                # A link that is left in the middle is not put back: nobody holds it then.
                self._pool.release(flight.link)
                flight.raise_failed()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except Exception as failure:
            if error is None:
                raise
            # The block's own exception is the news.
            log_failed(failure)

    def _open(self) -> Flight:
        if not self._flight:
            raise InvalidError("this pusher is closed")
        return self._flight

    def _land(self, flight: Flight) -> None:
        while flight.collect():
            self._pool.wait(flight.link)
