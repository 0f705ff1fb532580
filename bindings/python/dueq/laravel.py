"""Laravel's queues."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, overload

from dueq import _agent, _job, _laravel
from dueq._pool import Closing, Pool, blocking

if TYPE_CHECKING:
    from dueq._agent import Until


class Job(_job.Popped):
    """A job that was popped from a LaravelQueue. It comes back at `until` unless it is deleted."""

    delete = blocking(_job.delete)
    release = blocking(_job.release)


class LaravelQueue(_laravel.Jobs, Closing):
    """
    A Redis queue of Laravel's (5.5 to 13), shared with its workers and producers.

    name         as Laravel names it, without "queues:"; braces mark a cluster slot ("{default}")
    url          as of dueq.Queue
    prefix       what Laravel's Redis client puts in front of its keys ("shop_database_")
    retry_after  seconds (or a timedelta, rounded up to whole ones) after which a job that was
                 popped and not deleted comes back

    Threads, fork(), signals, pickle and errors are as with dueq.Queue.

        queue = dueq.LaravelQueue(prefix="shop_database_")
        queue.push("App\\\\Jobs\\\\Cancel@handle", {"order": 17}, delay=1800)
        while job := queue.pop(timeout=10):
            work(job.name, job.data)
            job.delete()
    """

    _pool = Pool
    _home: Pool

    push = blocking(_laravel.push)
    later = blocking(_laravel.later)
    push_raw = blocking(_laravel.push_raw)
    push_object = blocking(_laravel.push_object)
    push_many = blocking(_laravel.push_many)
    delete_many = blocking(_laravel.delete_many)
    size = blocking(_laravel.size)
    clear = blocking(_laravel.clear)
    migrate = blocking(_laravel.migrate)

    @overload
    def pop(self, timeout: None, retry_after: float | timedelta | None = None) -> Job: ...
    @overload
    def pop(
        self, timeout: float | timedelta = 0.0, retry_after: float | timedelta | None = None
    ) -> Job | None: ...
    def pop(
        self,
        timeout: float | timedelta | None = 0.0,
        retry_after: float | timedelta | None = None,
    ) -> Job | None:
        """
        Takes the next job, or None. What is due is moved to the list before, as Laravel does it.

        timeout      seconds (or a timedelta) to wait for one; None: for ever, and never None then
        retry_after  seconds (or a timedelta) until it comes back; None: the queue's

        A payload that a worker of Laravel's would lose is set aside, with a warning to the log.
        """
        jobs = self.pop_many(1, timeout, retry_after)
        return jobs[0] if jobs else None

    def pop_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        retry_after: float | timedelta | None = None,
    ) -> list[Job]:
        """Takes up to `count` (1 to 200) jobs; waits for the first only. As pop()."""
        jobs = self._home.run(_laravel.pop(self, count, timeout, retry_after))
        return [Job(self._home, self._label, row) for row in jobs]

    def run_migrate(self, until: Until = None) -> None:
        """
        Migrates until it is told to stop, so that idle workers of Laravel's wake on time: an agent.
        It goes on after failures that may pass, with a warning to the log.

        until  a function, or a threading.Event or the like: it ends within half a second after
               the function returns true or the event is set. None: never
        """
        _agent.run(self, self._home, until)

    def migrating(self) -> AbstractContextManager[None]:
        """
        Migrates in a thread of its own, during a with block. What makes it end before is logged,
        and raised at the end of the block.
        """
        return _agent.running(self, self._home)

    def __reduce__(
        self,
    ) -> tuple[type[LaravelQueue], tuple[str, str | None, str, float | timedelta]]:
        return type(self), (self.name, self._home._url, self.prefix, self.retry_after)
