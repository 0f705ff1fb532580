"""Pushes many messages without waiting for each, in an event loop."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Self, Unpack

from dueq import _core, _trace
from dueq._inflight import InFlight, Push, log_failed, warn_of_forgotten
from dueq._link import Alone, held
from dueq.aio.pool import Pool, running_loop, surely
from dueq.draft import Body, Options, row, with_options
from dueq.errors import InvalidError

# How many pushes a task queues before other tasks may run.
_IN_A_ROW = 100


class Pusher(Alone):
    """
    Pushes messages without waiting for each, as dueq.Pusher.

        async with queue.pusher() as pusher:
            async for order in orders:
                await pusher.push(order, delay=60)

    If the block is cancelled, or the program drops the pusher without closing it, the pushes in
    flight are still finished: in the background or, after the event loop has ended, by a blocking
    wait.
    """

    _closed = True

    def __init__(self, pool: Pool, queue: str, most: int) -> None:
        self._pool = pool
        self._loop = running_loop()
        self._inflight = InFlight(pool.acquire(), queue, most)
        self._moved = asyncio.Event()
        self._count = 0
        self._landing: asyncio.Task[None] | None = None
        pool.tenants.add(self)
        self._descriptor = _core.descriptor(self._inflight.link.client)
        # A weak reference: the event loop must not keep a pusher alive that the program has
        # dropped.
        self._loop.add_reader(self._descriptor, _move, weakref.ref(self))
        self._closed = False
        held.add(self)

    @with_options
    async def push(self, body: Body | None = None, **options: Unpack[Options]) -> Push:
        """
        Queues a push, with the arguments of Queue.push(). Waits while `most` pushes are in flight.
        Raises errors of wrong arguments at once.
        """
        draft = row(body, options)
        if _trace.tracer:
            draft = _trace.tracer.created(self._pool, self._inflight.queue, draft)
        self._count += 1
        if not self._count % _IN_A_ROW:
            await asyncio.sleep(0)
        self._check()
        while not (push := self._inflight.push(draft)):
            await self._wait()
            self._check()
        return push

    async def flush(self) -> None:
        """Waits for all pushes. Raises the failures so far, as the end of the block does."""
        self._check()
        while self._inflight.collect():
            await self._wait()
        self._inflight.raise_failed()

    async def close(self) -> None:
        """
        Waits for all pushes and raises failures, as the end of the block does. A second call does
        nothing.
        """
        await self._leave()
        self._inflight.raise_failed()

    async def _leave(self) -> None:
        """
        Waits until all pushes are done, and gives the link back: in the background, if this call is
        cancelled.
        """
        self._closed = True
        if not self._landing:
            self._landing = self._pool.background(self._land())
        await asyncio.shield(self._landing)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.close()
        except Exception as failure:
            if error is None:
                raise
            # The block's own exception is raised.
            log_failed(failure)

    def __del__(self) -> None:
        self._forgotten()

    def _forgotten(self) -> None:
        # After fork() the pushes in flight belong to the parent.
        if self._closed or self._inflight.pid != os.getpid():
            return
        self._closed = True
        left = self._inflight.left()
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._land_later)
        else:
            self._inflight.land()
            self._end()
            self._inflight.log_failed()
        warn_of_forgotten(self, self._inflight.queue, left)

    def _land_later(self) -> None:
        self._landing = self._pool.background(self._land())
        self._landing.add_done_callback(lambda _: self._inflight.log_failed())

    def _check(self) -> None:
        if self._closed:
            raise InvalidError("this pusher is closed")

    def _move(self) -> None:
        self._inflight.collect()
        self._moved.set()

    async def _wait(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    async def _land(self) -> None:
        self._loop.add_reader(self._descriptor, _move, lambda: self)
        while self._inflight.collect():
            await surely(self._wait)
        self._end()

    def _end(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._pool.tenants.discard(self)
        self._pool.release(self._inflight.link)


def _move(pusher: Callable[[], Pusher | None]) -> None:
    if moved := pusher():
        moved._move()
