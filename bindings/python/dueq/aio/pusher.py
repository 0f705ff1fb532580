"""Many pushes in flight, in an event loop."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dueq import _core
from dueq._flight import Flight, Push, log_failed
from dueq._link import Alone
from dueq.aio.pool import Pool, surely
from dueq.draft import row
from dueq.errors import InvalidError

if TYPE_CHECKING:
    from typing import Unpack

    from dueq.draft import Body, Options

# How many pushes a task takes over before it lets others run.
_IN_A_ROW = 100


class Pusher(Alone):
    """
    Pushes messages without waiting for each, as dueq.Pusher.

        async with queue.pusher() as pusher:
            async for order in orders:
                await pusher.push(order, delay=60)

    When the block is cancelled, the pushes in flight are still finished, in the background.
    """

    def __init__(self, pool: Pool, queue: str, most: int) -> None:
        self._pool = pool
        self._flight = Flight(pool.acquire(), queue, most)
        self._moved = asyncio.Event()
        self._count = 0
        self._landing: asyncio.Task[None] | None = None
        pool.tenants.add(self)
        self._descriptor = _core.descriptor(self._flight.link.client)
        asyncio.get_running_loop().add_reader(self._descriptor, self._move)

    async def push(self, body: Body, **options: Unpack[Options]) -> Push:
        """
        Queues a push, with the arguments of Queue.push(); while `most` pushes are in flight it
        waits for earlier ones. Invalid arguments raise here.
        """
        draft = row(body, options)
        self._count += 1
        if not self._count % _IN_A_ROW:
            await asyncio.sleep(0)
        self._check()
        while not (push := self._flight.push(draft)):
            await self._wait()
            self._check()
        return push

    async def flush(self) -> None:
        """Waits for all pushes, and raises the failures so far as the end of the block does."""
        self._check()
        while self._flight.collect():
            await self._wait()
        self._flight.raise_failed()

    async def close(self) -> None:
        """Does what the end of the block does. Does nothing when it is closed already."""
        await self._leave()
        self._flight.raise_failed()

    async def _leave(self) -> None:
        """Waits until all are done, and gives the link back; when it is cancelled, afterwards."""
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

    def _check(self) -> None:
        if self._landing:
            raise InvalidError("this pusher is closed")

    def _move(self) -> None:
        self._flight.collect()
        self._moved.set()

    async def _wait(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    async def _land(self) -> None:
        while self._flight.collect():
            await surely(self._wait)
        asyncio.get_running_loop().remove_reader(self._descriptor)
        self._pool.tenants.discard(self)
        self._pool.release(self._flight.link)
