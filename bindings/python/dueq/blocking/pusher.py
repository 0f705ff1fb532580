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
    Takes pushes over without waiting for each, from Queue.pusher(). They go in their order, on a
    connection of its own, in batches of what gathers while the batch before is under way.

    At the end of the block all are done, and what failed is raised: an ExceptionGroup with the
    error of each. When the block itself raises, that goes on, and failures are logged.

        with queue.pusher() as pusher:
            for order in orders:
                pusher.push(order, delay=60)

    It may be used by many threads at once; a child after fork() begins anew with its own pushes.
    """

    def __init__(self, pool: Pool, queue: str, most: int) -> None:
        self._pool = pool
        self._lock = threading.RLock()  # of this thread again: a signal handler may push
        self._flight: Flight | None = Flight(pool.acquire(), queue, most)

    def push(self, body: Body, **options: Unpack[Options]) -> Push:
        """
        Takes a message over, with the arguments of Queue.push(), and returns at once; or waits for
        earlier ones while `most` are under way. Arguments that are out of their range are raised
        here.
        """
        draft = row(body, options)
        with self._lock:
            flight = self._open()
            while not (push := flight.push(draft)):
                self._pool.wait(flight.link)
                flight.collect()
        return push

    def flush(self) -> None:
        """Waits until all are done, and raises what has failed so far as the block's end does."""
        with self._lock:
            flight = self._open()
            self._land(flight)
            flight.raise_failed()

    def close(self) -> None:
        """As the end of the block. Does nothing when it is closed already."""
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
