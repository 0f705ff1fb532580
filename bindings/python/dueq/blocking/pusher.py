"""Many pushes in flight."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Self, Unpack

from dueq import _trace
from dueq._inflight import InFlight, Push, log_failed, warn_of_forgotten
from dueq._link import Alone, held
from dueq.blocking.pool import Pool
from dueq.draft import Body, Options, row, with_options
from dueq.errors import InvalidError


class Pusher(Alone):
    """
    Pushes messages without waiting for each, from Queue.pusher(). It sends them in order, on a
    connection of its own, in batches: messages that are pushed while a batch is in flight make the
    next batch.

    The end of the block waits for all pushes, and raises an ExceptionGroup with the error of each
    push that failed. If the block itself raises, its exception propagates, and failed pushes are
    logged. A pusher that the program drops without a block or close() ends with its last reference,
    or with the program: then failed pushes are logged, and a ResourceWarning is issued.

        with queue.pusher() as pusher:
            for order in orders:
                pusher.push(order, delay=60)

    Many threads may use it at once. A child after fork() starts with no pushes in flight.
    """

    _inflight: InFlight | None = None

    def __init__(self, pool: Pool, queue: str, most: int) -> None:
        self._pool = pool
        self._lock = threading.RLock()  # reentrant: a signal handler may push
        self._inflight = InFlight(pool.acquire(), queue, most)
        held.add(self)

    @with_options
    def push(self, body: Body | None = None, **options: Unpack[Options]) -> Push:
        """
        Queues a push, with the arguments of Queue.push(), and returns at once. Waits only while
        `most` pushes are in flight. Raises errors of wrong arguments at once.
        """
        draft = row(body, options)
        with self._lock:
            flight = self._open()
            if _trace.tracer:
                draft = _trace.tracer.created(self._pool, flight.queue, draft)
            while not (push := flight.push(draft)):
                self._pool.wait(flight.link)
                flight.collect()
        return push

    def flush(self) -> None:
        """Waits for all pushes. Raises the failures so far, as the end of the block does."""
        with self._lock:
            flight = self._open()
            flight.land()
            flight.raise_failed()

    def close(self) -> None:
        """
        Waits for all pushes and raises failures, as the end of the block does. A second call does
        nothing.
        """
        with self._lock:
            flight, self._inflight = self._inflight, None
            if flight:
                flight.land()
                # If land() raises, the link is not put back, and ends as nothing else refers to it.
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
            # The block's own exception is raised.
            log_failed(failure)

    def __del__(self) -> None:
        self._forgotten()

    def _forgotten(self) -> None:
        flight = self._inflight
        left = flight.left() if flight else 0
        # In a child after fork() the pushes in flight may be the parent's.
        if not flight or not (left or flight.pid == os.getpid()):
            return
        try:
            self.close()
        except Exception as failure:
            log_failed(failure)
        finally:
            warn_of_forgotten(self, flight.queue, left)

    def _open(self) -> InFlight:
        if not self._inflight:
            raise InvalidError("this pusher is closed")
        return self._inflight
