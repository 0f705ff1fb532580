"""Laravel's queues, in an event loop."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import NoReturn, overload

from dueq import _job, _laravel
from dueq.aio import _agent
from dueq.aio._pool import Closing, Pool, waiting


class Job(_job.Popped):
    """A job that was popped, as dueq.Job: its verbs are coroutines."""

    delete = waiting(_job.delete)
    release = waiting(_job.release)


class LaravelQueue(_laravel.Jobs, Closing):
    """
    A Redis queue of Laravel's, as dueq.LaravelQueue, for one event loop: every verb is a coroutine.

    A call may be cancelled. What a pop took goes back to the front of the list then, as if it had
    not been popped; whether any other took effect is not known.

        async with dueq.aio.LaravelQueue() as queue:
            while job := await queue.pop(timeout=10):
                await work(job.name, job.data)
                await job.delete()
    """

    _pool = Pool
    _home: Pool

    push = waiting(_laravel.push)
    later = waiting(_laravel.later)
    push_raw = waiting(_laravel.push_raw)
    push_object = waiting(_laravel.push_object)
    push_many = waiting(_laravel.push_many)
    delete_many = waiting(_laravel.delete_many)
    size = waiting(_laravel.size)
    clear = waiting(_laravel.clear)
    migrate = waiting(_laravel.migrate)

    @overload
    async def pop(self, timeout: None, retry_after: float | timedelta | None = None) -> Job: ...
    @overload
    async def pop(
        self, timeout: float | timedelta = 0.0, retry_after: float | timedelta | None = None
    ) -> Job | None: ...
    async def pop(
        self,
        timeout: float | timedelta | None = 0.0,
        retry_after: float | timedelta | None = None,
    ) -> Job | None:
        """Takes the next job, or None, as dueq.LaravelQueue.pop()."""
        jobs = await self.pop_many(1, timeout, retry_after)
        return jobs[0] if jobs else None

    async def pop_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        retry_after: float | timedelta | None = None,
    ) -> list[Job]:
        """Takes up to `count` (1 to 200) jobs; waits for the first only. As pop()."""
        rows = await self._home.run(_laravel.pop(self, count, timeout, retry_after))
        return [Job(self._home, self._label, row) for row in rows]

    async def run_migrate(self) -> NoReturn:
        """
        Migrates until it is cancelled, so that idle workers of Laravel's wake on time: an agent. It
        goes on after failures that may pass, with a warning to the log.
        """
        await _agent.run(self, self._home)

    def migrating(self) -> AbstractAsyncContextManager[None]:
        """
        Migrates in a task of its own, during an async with block. What makes it end before is
        logged, and raised at the end of the block.
        """
        return _agent.running(self, self._home)
