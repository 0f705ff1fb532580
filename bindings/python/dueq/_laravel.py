"""The verbs of a queue of Laravel's, for both faces."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from dueq import _core, _foreign
from dueq._job import JobDraft, Popped, rows
from dueq._steps import Steps, on
from dueq.draft import portions, size_of
from dueq.errors import Duplicate
from dueq.stats import Moved, Sizes
from dueq.times import from_now, limit_ms, patience_ms

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import Buffer

    from dueq._job import Manner, Options
    from dueq._link import Open


class Jobs(_foreign.Foreign):
    """What a queue of Laravel's is, of either face."""

    def __init__(
        self,
        name: str = "default",
        url: str | None = None,
        prefix: str = "",
        retry_after: float | timedelta = _core.LARAVEL_RETRY_AFTER_MS / 1000,
    ) -> None:
        super().__init__(name, url, opener(prefix), _core.laravel_migrate_submit)
        self.name = name
        self.prefix = prefix
        self.retry_after = retry_after
        limit_ms(retry_after, "retry_after")


def opener(prefix: str) -> Open:
    """How a link opens such a queue."""
    return lambda client, name: _core.laravel_open(client, name, prefix)


def push(self: Jobs, job: str, data: Any = None, **options: Unpack[Options]) -> Steps[str]:
    """
    Pushes a job and returns its uuid. job, data and the options are those of dueq.JobDraft: delay,
    at, display_name, max_tries, max_exceptions, timeout, backoff, retry_until, fail_on_timeout.
    """
    return _one(self, JobDraft(job, data, **options))


def later(
    self: Jobs,
    delay: float | timedelta | datetime,
    job: str,
    data: Any = None,
    **options: Unpack[Manner],
) -> Steps[str]:
    """
    The same after so many seconds (or a timedelta), or at an aware datetime; now if that is past.
    """
    if isinstance(delay, datetime):
        return _one(self, JobDraft(job, data, at=delay, **options))
    return _one(self, JobDraft(job, data, delay=from_now(delay), **options))


def push_raw(
    self: Jobs,
    payload: str | Buffer,
    delay: float | timedelta | None = None,
    at: float | datetime | None = None,
) -> Steps[str]:
    """
    Pushes a whole payload, stored byte by byte, and returns its uuid, or else its id. InvalidError
    where a worker of Laravel's would lose it. Raises Duplicate where it is to be delayed, and one
    of the same bytes is there.
    """
    return _one(self, JobDraft(payload=payload, delay=delay, at=at))


def push_object(
    self: Jobs, command_name: str, command: str | Buffer, **options: Unpack[Options]
) -> Steps[str]:
    """
    Pushes a job object, and returns its uuid.

    command_name  its class
    command       the object as PHP's serialize() wrote it, in UTF-8
    """
    return _one(self, JobDraft(command_name=command_name, command=command, **options))


def push_many(self: Jobs, jobs: Iterable[str | JobDraft]) -> Steps[list[str | None]]:
    """
    Pushes any number of jobs, names or dueq.JobDraft, and returns their uuids in order, None for a
    duplicate.

    They go in batches of up to 200, and each batch is stored whole or not at all. When one
    fails, a note of the exception tells how many jobs went before it.
    """
    ids: list[str | None] = []
    for batch in portions(rows(jobs), lambda row: sum(map(size_of, (row[0], row[2], row[4])))):
        try:
            outcomes = (yield on(self._label, _core.laravel_push_submit, batch)).outcomes
        except Exception as error:
            error.add_note(f"{len(ids)} jobs were pushed before the batch that failed")
            raise
        ids += [id if status == _core.OK else None for status, id in outcomes]
    return ids


def pop(
    self: Jobs,
    count: int,
    timeout: float | timedelta | None,
    retry_after: float | timedelta | None,
) -> Steps[list[_core.JobRow]]:
    """The jobs as the core has them."""

    timeout_ms = patience_ms(timeout)
    retry_ms = limit_ms(self.retry_after if retry_after is None else retry_after, "retry_after")
    call = on(self._label, _core.laravel_pop_submit, _foreign.bounded(count), timeout_ms, retry_ms)
    behind = on(self._label, _core.laravel_size_submit).submit
    answer = yield call._replace(waits=timeout_ms != 0, behind=behind)
    self._warn(answer.damaged)
    return answer.jobs


def delete_many(self: Jobs, jobs: Iterable[Popped | bytes]) -> Steps[list[bool]]:
    """
    Finishes any number of jobs, given as such or by their `reserved`. False: it is not ours any
    more.
    """
    left = (job.reserved if isinstance(job, Popped) else job for job in jobs)
    done: list[bool] = []
    while batch := tuple(islice(left, _core.MAX_BATCH)):
        outcomes = (yield on(self._label, _core.laravel_delete_submit, batch)).outcomes
        done += [status == _core.OK for status, _ in outcomes]
    return done


def size(self: Jobs) -> Steps[Sizes]:
    """Counts the queue."""
    return _foreign.sizes(self, _core.laravel_size_submit)


def clear(self: Jobs) -> Steps[int]:
    """Takes all jobs away, also the reserved ones, and returns how many they were."""
    return _foreign.cleared(self, _core.laravel_clear_submit)


def migrate(self: Jobs, timeout: float | timedelta | None = 0.0, most: int = 200) -> Steps[Moved]:
    """
    Moves delayed jobs that are due, and reserved ones whose time is over, to the list, and wakes
    workers that wait: one step.

    timeout  seconds (or a timedelta) to wait for the first that is due; None: for ever
    most     how many of each are moved at most, 1 to 200
    """
    return _foreign.moved(self, timeout, most)


def _one(self: Jobs, draft: JobDraft) -> Steps[str]:
    [(status, id)] = (yield on(self._label, _core.laravel_push_submit, (draft.row(),))).outcomes
    if status == _core.DUPLICATE:
        raise Duplicate(f"a delayed job of exactly these bytes is there: {id or 'without an id'}")
    return id
