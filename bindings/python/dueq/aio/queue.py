"""Queues in an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, overload

from dueq import _core, _queue, _source
from dueq.aio._pool import Closing, Pool, waiting
from dueq.aio.consumer import Consumer
from dueq.aio.message import Lock, Message
from dueq.aio.pusher import Pusher

if TYPE_CHECKING:
    from dueq._queue import StateName


class Source(_source.Origin, Closing):
    """What Queue and Queues have in common: one takes messages from them, and closes them."""

    _home: Pool

    @overload
    async def reserve(self, timeout: None, lease: float | timedelta | None = None) -> Message: ...
    @overload
    async def reserve(
        self, timeout: float | timedelta = 0.0, lease: float | timedelta | None = None
    ) -> Message | None: ...
    async def reserve(
        self,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> Message | None:
        """
        Takes the next message that is ready, or None, as dueq.Queue.reserve(). When it is
        cancelled, what it took goes back to the front of the line, as if it had not been delivered.
        """
        messages = await self.reserve_many(1, timeout, lease)
        return messages[0] if messages else None

    async def reserve_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> list[Message]:
        """
        Takes up to `count` (1 to 200) messages, all of one queue; waits for the first only. As
        reserve().
        """
        pool = self._home
        queue, rows = await pool.run(_source.reserve(self, count, timeout, lease))
        return [Message(pool, queue, row) for row in rows]

    def consume(
        self,
        prefetch: int = 1,
        lease: float | timedelta | None = None,
        max_run: float | timedelta | None = _core.MAX_RUN_MS / 1000,
        timeout: float | timedelta | None = None,
        slack: float | timedelta = 0.0,
    ) -> Consumer:
        """
        A loop over messages as they become ready, until close() is called, with the arguments of
        dueq.Queue.consume(); see dueq.aio.Consumer.
        """
        return Consumer(self._home, self, prefetch, lease, max_run, timeout, slack)

    def __aiter__(self) -> AsyncIterator[Message]:
        """consume() with its defaults."""
        return aiter(self.consume())


class Queue(Source):
    """
    A queue of a server, as dueq.Queue, for one event loop: every verb is a coroutine.

    Calls at once use several connections. A call may be cancelled: a reserve that is loses
    nothing; whether a push, an ack or any other that is took effect is not known.

        async with dueq.aio.Queue("orders") as queue:
            await queue.push("pack it", delay=1.5)
            async with await queue.reserve(timeout=None) as message:
                await work(message.body)
    """

    def __init__(self, name: str, url: str | None = None) -> None:
        super().__init__(Pool(url, name), (name,))
        self.name = name

    def new_id(self) -> str:
        """An id as push() makes them, to know it beforehand: 22 characters that sort by time."""
        return self._home.new_id()

    push = waiting(_queue.push)
    push_many = waiting(_queue.push_many)
    ack_many = waiting(_queue.ack_many)
    cancel = waiting(_queue.cancel)
    cancel_many = waiting(_queue.cancel_many)
    kick = waiting(_queue.kick)
    kick_many = waiting(_queue.kick_many)
    kick_all = waiting(_queue.kick_all)
    reschedule = waiting(_queue.reschedule)
    pause = waiting(_queue.pause)
    resume = waiting(_queue.resume)
    purge = waiting(_queue.purge)
    remove = waiting(_queue.remove)
    stats = waiting(_queue.stats)
    rates = waiting(_queue.rates)

    def pusher(self, most: int = _core.MAX_PUSHES) -> Pusher:
        """
        A Pusher, to push many messages without waiting for each. most: how many may be under way,
        1 to 10,000.
        """
        return Pusher(self._home, self.name, most)

    async def find(self, id: str) -> Message | None:
        """Looks a message up, in any state, without touching it."""
        row = await self._home.run(_queue.find(self.name, id))
        return row and Message(self._home, self.name, row)

    def peek(self, state: StateName, page: int = 100) -> AsyncIterator[Message]:
        """Looks at all messages of one state without touching them, as dueq.Queue.peek()."""
        at = _queue.peek(self.name, state, page)

        async def messages() -> AsyncIterator[Message]:
            cursor, left = b"", True
            while left:
                answer = await self._home.call(at(cursor))
                for row in _queue.seen(self.name, answer):
                    yield Message(self._home, self.name, row)
                cursor = answer.cursor
                left = bool(cursor)

        return messages()

    @overload
    async def lock(self, name: str, ttl: float | timedelta, timeout: None) -> Lock: ...
    @overload
    async def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta = 0.0
    ) -> Lock | None: ...
    async def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta | None = 0.0
    ) -> Lock | None:
        """
        Takes a lock, which has one owner at a time, or None: somebody else holds it. As
        dueq.Queue.lock(). When it is cancelled, what it took is released.
        """
        token = await self._home.run(_queue.lock(self.name, name, ttl, timeout))
        return None if token is None else Lock(self._home, self.name, name, token)


class Queues(Source):
    """Several queues of one server, to wait for messages of all of them at once: as dueq.Queues."""

    def __init__(
        self,
        names: Iterable[str],
        url: str | None = None,
        order: Literal["preference", "round robin"] = "preference",
    ) -> None:
        several, number = _source.several(names, order)
        self.order = order
        super().__init__(Pool(url, *several), several, number)


async def queues(url: str | None = None) -> list[str]:
    """The names of all queues of a server that were ever used, sorted: as dueq.queues()."""
    pool = Pool(url)
    try:
        return await pool.run(_queue.queues())
    finally:
        await pool.close()
