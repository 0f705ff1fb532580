"""Redisson's delayed queues, in an event loop."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import NoReturn

from dueq import _redisson
from dueq.aio import _agent
from dueq.aio._pool import Closing, Pool, waiting


class DelayedQueue(_redisson.Delayed, Closing):
    """
    A delayed queue of Redisson's, as dueq.DelayedQueue, for one event loop: every verb is a
    coroutine.

    A call may be cancelled. What a take took goes back to the front of the destination then, and
    what a poll took is what the next poll of this object returns; whether any other took effect
    is not known.

        async with dueq.aio.DelayedQueue("orders") as queue, queue.transferring():
            await queue.offer("order 7", delay=1.5)
            print(await queue.take())
    """

    _pool = Pool
    _home: Pool

    offer = waiting(_redisson.offer)
    offer_many = waiting(_redisson.offer_many)
    transfer = waiting(_redisson.transfer)
    take = waiting(_redisson.take)
    take_many = waiting(_redisson.take_many)
    poll = waiting(_redisson.poll)
    poll_many = waiting(_redisson.poll_many)
    peek = waiting(_redisson.peek)
    remove = waiting(_redisson.remove)
    contains = waiting(_redisson.contains)
    size = waiting(_redisson.size)
    clear = waiting(_redisson.clear)

    async def run_transfer(self) -> NoReturn:
        """
        Transfers until it is cancelled: an agent. It goes on after failures that may pass, with a
        warning to the log.
        """
        await _agent.run(self, self._home)

    def transferring(self) -> AbstractAsyncContextManager[None]:
        """
        Transfers in a task of its own, during an async with block. What makes it end before is
        logged, and raised at the end of the block.
        """
        return _agent.running(self, self._home)

    async def close(self) -> None:
        """
        As dueq.aio.Queue.close(). Values that cancelled polls took, and no other poll has had
        since, are lost, with a warning to the log.
        """
        await super().close()
        self._warn_of_kept()

    destroy = close
