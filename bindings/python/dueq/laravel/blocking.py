# Made from dueq/laravel/aio.py by bindings/python/blocking.py.
"""A Laravel queue, and its jobs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from dueq import _core
from dueq._call import counted, on, stored_ids
from dueq.blocking.pool import Pool
from dueq.draft import portions, size_of
from dueq.errors import Duplicate
from dueq.interop.blocking import Agent
from dueq.interop.foreign import Moved, Sizes
from dueq.laravel.jobs import JobDraft, Popped, from_now, rows
from dueq.times import duration_ms, limit_ms, patience_ms, point_ms

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import Buffer

    from dueq.laravel.jobs import Manner, Options


class Job(Popped):
    """
    A job that was popped from a Queue. It is delivered again at `until`, unless it was deleted.
    """

    _home: Pool

    def delete(self) -> None:
        """Deletes the job, which is done. Raises LeaseLost if its reservation has ended."""
        call = on(self._queue, _core.laravel_delete_submit, (self.reserved,))
        self._check(self._home.call(call).outcomes)

    def release(self, delay: float | timedelta = 0.0) -> None:
        """
        Gives the job back, to be delivered again after `delay` seconds (or a timedelta), rounded up
        to whole seconds; a negative delay is 0. Raises LeaseLost, and changes nothing, if its
        reservation has ended.
        """
        delay_ms = duration_ms(from_now(delay), "delay")
        call = on(self._queue, _core.laravel_release_submit, (self.reserved,), delay_ms)
        self._check(self._home.call(call).outcomes)


class Queue(Agent):
    """
    A Redis queue of Laravel (5.5 to 13), shared with Laravel's workers and producers.

    name         its name in Laravel, without "queues:"; braces mark a cluster slot ("{default}")
    url          as for dueq.Queue
    prefix       the prefix that Laravel's Redis client puts before its keys ("shop_database_")
    retry_after  seconds (or a timedelta, rounded up to whole seconds), more than 0, after which a
                 job that was popped and not deleted is delivered again

        with dueq.laravel.Queue(prefix="shop_database_") as queue:
            queue.push("App\\\\Jobs\\\\Cancel@handle", {"order": 17}, delay=1800)
            while job := queue.pop(timeout=10):
                work(job.name, job.data)
                job.delete()

    Threads, fork(), signals, pickle, event loops and errors are as with dueq.Queue. A cancelled pop
    puts its jobs back to the front of the list, as if they had not been popped.
    """

    _system = "laravel."
    _mover = _core.laravel_migrate_submit

    def __init__(
        self,
        name: str = "default",
        url: str | None = None,
        prefix: str = "",
        retry_after: float | timedelta = _core.LARAVEL_RETRY_AFTER_MS / 1000,
    ) -> None:
        pool = Pool(url, name, open=lambda client, key: _core.laravel_open(client, key, prefix))
        super().__init__(pool, name)
        self.name = name
        self.prefix = prefix
        self.retry_after = retry_after
        limit_ms(retry_after, "retry_after")

    def push(self, job: str, data: Any = None, **options: Unpack[Options]) -> str:
        """
        Pushes a job and returns its uuid. job, data and the options are those of JobDraft: delay,
        at, display_name, max_tries, max_exceptions, timeout, backoff, retry_until, fail_on_timeout.
        """
        return self._push(JobDraft(job, data, **options))

    def later(
        self,
        delay: float | timedelta | datetime,
        job: str,
        data: Any = None,
        **options: Unpack[Manner],
    ) -> str:
        """
        Pushes a job as push(), due after `delay` seconds (or a timedelta), or at an aware datetime;
        at once if that time is past.
        """
        if isinstance(delay, datetime):
            point_ms(delay, "delay")  # the error must name `delay`; JobDraft's would name `at`
            return self._push(JobDraft(job, data, at=delay, **options))
        return self._push(JobDraft(job, data, delay=from_now(delay), **options))

    def push_raw(
        self,
        payload: str | Buffer,
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
    ) -> str:
        """
        Pushes a whole payload, which is stored byte for byte, and returns its uuid, or else its id.
        Raises InvalidError if a Laravel worker would lose the payload, and Duplicate if it is
        delayed and a payload of the same bytes is delayed already.
        """
        return self._push(JobDraft(payload=payload, delay=delay, at=at))

    def push_object(
        self, command_name: str, command: str | Buffer, **options: Unpack[Options]
    ) -> str:
        """
        Pushes a job object, and returns its uuid.

        command_name  the class of the object
        command       the object as PHP's serialize() writes it, in UTF-8
        options       as for push()
        """
        return self._push(JobDraft(command_name=command_name, command=command, **options))

    def push_many(self, jobs: Iterable[str | JobDraft]) -> list[str | None]:
        """
        Pushes any number of jobs, names or JobDraft, and returns their uuids in order, None for a
        duplicate.

        They go in batches of up to 200, and each batch is stored whole or not at all. When one
        fails, a note of the exception says how many jobs were pushed before it.
        """
        ids: list[str | None] = []
        for batch in portions(rows(jobs), lambda row: sum(map(size_of, (row[0], row[2], row[4])))):
            call = on(self._label, _core.laravel_push_submit, batch)
            try:
                outcomes = self._home.call(call).outcomes
            except Exception as error:
                error.add_note(f"{len(ids)} jobs were pushed before the batch that failed")
                raise
            ids += stored_ids(outcomes)
        return ids

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
        Pops the next job. None: there is none. As Laravel does, first moves due jobs to the list.

        timeout      seconds (or a timedelta) to wait for a job; None: without end, and the result
                     is never None
        retry_after  seconds (or a timedelta) until the job is delivered again; None: the queue's

        A payload that a Laravel worker would lose is quarantined, with a warning in the log.
        """
        jobs = self.pop_many(1, timeout, retry_after)
        return jobs[0] if jobs else None

    def pop_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        retry_after: float | timedelta | None = None,
    ) -> list[Job]:
        """Pops up to `count` (1 to 200) jobs, as pop(). It waits only for the first."""
        timeout_ms = patience_ms(timeout)
        retry_ms = limit_ms(self.retry_after if retry_after is None else retry_after, "retry_after")
        most = counted(count, "count")
        call = on(self._label, _core.laravel_pop_submit, most, timeout_ms, retry_ms)
        behind = on(self._label, _core.laravel_size_submit).submit
        answer = self._home.call(call._replace(waits=timeout_ms != 0, behind=behind))
        self._warn(answer.quarantined)
        return [Job(self._home, self._label, row) for row in answer.jobs]

    def delete_many(self, jobs: Iterable[Popped | bytes]) -> list[bool]:
        """
        Deletes any number of jobs that are done, given as jobs or by their `reserved`. False: the
        reservation of the job had ended.
        """
        left = (job.reserved if isinstance(job, Popped) else job for job in jobs)
        done: list[bool] = []
        while batch := tuple(islice(left, _core.MAX_BATCH)):
            call = on(self._label, _core.laravel_delete_submit, batch)
            done += [status == _core.OK for status, _ in self._home.call(call).outcomes]
        return done

    def migrate(self, timeout: float | timedelta | None = 0.0, most: int = 200) -> Moved:
        """
        Moves delayed jobs that are due, and reserved jobs whose reservation has ended, to the list,
        and wakes waiting workers: one step.

        timeout  seconds (or a timedelta) to wait until a job is due; None: without end
        most     how many of each kind to move at most, 1 to 200
        """
        return self._moved(self._home.call(self._move(timeout, most)))

    run_migrate = Agent._run
    migrating = Agent._running

    def size(self) -> Sizes:
        """Counts the queue."""
        return Sizes.of(self._home.call(on(self._label, _core.laravel_size_submit)))

    def clear(self) -> int:
        """Deletes all jobs, also the reserved ones, and returns their number."""
        return (self._home.call(on(self._label, _core.laravel_clear_submit))).purged

    def __reduce__(self) -> tuple[type[Queue], tuple[Any, ...]]:
        return type(self), (self.name, self._home._url, self.prefix, self.retry_after)

    def _push(self, draft: JobDraft) -> str:
        call = on(self._label, _core.laravel_push_submit, (draft.row(),))
        [(status, id)] = self._home.call(call).outcomes
        if status == _core.DUPLICATE:
            raise Duplicate(
                f"a delayed job of exactly these bytes is there: {id or 'without an id'}"
            )
        return id
