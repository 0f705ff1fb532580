"""
The job that a producer pushes, and the job that a worker pops, for dueq.laravel and
dueq.laravel.aio.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from dueq import _core
from dueq._json import json_text
from dueq._link import Links
from dueq._log import escaped
from dueq.errors import InvalidError, LeaseLost
from dueq.times import due_ms, duration_ms, moment, point_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer

    Seconds: TypeAlias = float | timedelta


class Manner(TypedDict, total=False):
    """The fields of a JobDraft, except the job itself and its time, as keyword arguments."""

    display_name: str | None
    max_tries: int | None
    max_exceptions: int | None
    timeout: float | timedelta | None
    backoff: float | timedelta | Sequence[float | timedelta] | None
    retry_until: float | datetime | None
    fail_on_timeout: bool


class Options(Manner, total=False):
    """The same fields, and the time of the job."""

    delay: float | timedelta | None
    at: float | datetime | None


def _seconds(milliseconds: int) -> int:
    return math.ceil(milliseconds / 1000)


def _count(value: int | None, name: str) -> int:
    if value is None:
        return 0
    if not 0 < value < 2**32:
        raise InvalidError(f"{name}: {value} is not 1 to {2**32 - 1}; None is the worker's setting")
    return value


def _whole(value: Seconds | None, name: str) -> int:
    return 0 if value is None else _count(_seconds(duration_ms(value, name)), name)


def _backoff(value: Seconds | Sequence[Seconds] | None) -> str:
    if value is None:
        return ""
    steps = value if isinstance(value, Sequence) else (value,)
    if not steps:
        raise InvalidError("backoff: the list is empty; give None for none")
    return ",".join(str(_seconds(duration_ms(step, "backoff"))) for step in steps)


@dataclass(frozen=True, slots=True)
class JobDraft:
    """
    A job to push to a Laravel queue. Durations are seconds or a timedelta, rounded up to whole
    seconds, as in Laravel.

    job              "Class@method", or "Class" for its method fire(): the method that the worker
                     calls
    data             the argument of the method: anything that JSON can express; None: "", as in
                     Laravel's own push()
    payload          instead of these two and of the options: a whole payload, stored byte for byte
    command_name     instead of these: the class of a job object, together with `command`
    command          the object as PHP's serialize() writes it

    delay            the job is due this long after the push
    at               the job is due at this time by the server's clock: an aware datetime, or
                     seconds since 1970. Not together with delay
    display_name     the name that people see; None: the job's class
    max_tries        how many tries, 1 to 4294967295; None: the worker's setting
    max_exceptions   how many exceptions, 1 to 4294967295; None: no limit
    timeout          how long a try may take; None: the worker's setting
    backoff          the delay of each further try: a duration, or a list of durations; None: the
                     worker's setting
    retry_until      the last time of a try: an aware datetime, or seconds since 1970; None: no end
    fail_on_timeout  whether the job fails for good when a try takes too long
    """

    job: str = ""
    data: Any = None
    payload: str | Buffer = field(default="", kw_only=True)
    command_name: str = field(default="", kw_only=True)
    command: str | Buffer = field(default="", kw_only=True)
    delay: float | timedelta | None = field(default=None, kw_only=True)
    at: float | datetime | None = field(default=None, kw_only=True)
    display_name: str | None = field(default=None, kw_only=True)
    max_tries: int | None = field(default=None, kw_only=True)
    max_exceptions: int | None = field(default=None, kw_only=True)
    timeout: float | timedelta | None = field(default=None, kw_only=True)
    backoff: float | timedelta | Sequence[float | timedelta] | None = field(
        default=None, kw_only=True
    )
    retry_until: float | datetime | None = field(default=None, kw_only=True)
    fail_on_timeout: bool = field(default=False, kw_only=True)

    def row(self) -> _core.LaravelRow:
        """The row for the core. Raises InvalidError for values that the core could not check."""
        until = self.retry_until
        return (
            _bytes(self.payload),
            self.job,
            "" if self.data is None else json_text(self.data, "data"),
            self.command_name,
            _bytes(self.command),
            self.display_name or "",
            *due_ms(self.delay, self.at),
            _count(self.max_tries, "max_tries"),
            _count(self.max_exceptions, "max_exceptions"),
            _whole(self.timeout, "timeout"),
            _backoff(self.backoff),
            0 if until is None else _count(_seconds(point_ms(until, "retry_until")), "retry_until"),
            self.fail_on_timeout,
        )


def _bytes(text: str | Buffer) -> str | bytes:
    return text if isinstance(text, (str, bytes)) else bytes(memoryview(text))


def rows(jobs: Iterable[str | JobDraft]) -> Iterator[_core.LaravelRow]:
    """The rows of drafts, or of jobs without data, for the core."""
    if isinstance(jobs, (str, JobDraft)):
        raise TypeError("a list of jobs is required, not one job")
    return ((job if isinstance(job, JobDraft) else JobDraft(job)).row() for job in jobs)


def from_now(delay: Seconds) -> float:
    """Seconds from now; 0 for a negative delay, with which Laravel means a time in the past."""
    return max(delay.total_seconds() if isinstance(delay, timedelta) else delay, 0.0)


class Popped:
    """The fields of a popped job. queue: its name in the links of `home`."""

    def __init__(self, home: Links, queue: str, row: _core.JobRow) -> None:
        self._home = home
        self._queue = queue
        self._row = row

    @property
    def payload(self) -> bytes:
        """The payload, as it was pushed, or as the last attempt left it."""
        return self._row[0]

    @property
    def reserved(self) -> bytes:
        """
        Identifies this delivery: the payload with its number of attempts raised. A program may
        store it, and give it to Queue.delete_many().
        """
        return self._row[1]

    @property
    def id(self) -> str | None:
        """The payload's `id`."""
        return self._row[2] or None

    @property
    def uuid(self) -> str | None:
        """The payload's `uuid`, from Laravel 7 on."""
        return self._row[3] or None

    @property
    def name(self) -> str:
        """The method that the worker calls, "Class@method": the payload's `job`."""
        return self._row[4]

    @cached_property
    def data(self) -> Any:
        """The job's argument, decoded. None if it is not JSON."""
        try:
            return json.loads(self._row[5])
        except (ValueError, RecursionError):
            return None

    @property
    def display_name(self) -> str | None:
        """The name that people see."""
        return self._row[6] or None

    @property
    def attempts(self) -> int:
        """The number of deliveries, this one included: 1 for the first."""
        return self._row[7]

    @property
    def max_tries(self) -> int | None:
        """How many tries the payload allows. None: it does not say."""
        return self._row[8] or None

    @property
    def timeout(self) -> int | None:
        """How many seconds a try may take. None: the payload does not say."""
        return self._row[9] or None

    @property
    def backoff(self) -> list[int]:
        """Seconds before each further try; empty if the payload does not say."""
        return [int(step) for step in self._row[10].split(",") if step]

    @property
    def retry_until(self) -> datetime | None:
        """The last time of a try, in UTC. None: no end."""
        return moment(1000 * self._row[11]) if self._row[11] else None

    @property
    def until(self) -> datetime:
        """
        When the reservation ends, and the job is delivered again, by the server's clock, in UTC.
        """
        return moment(self._row[12])

    def __repr__(self) -> str:
        return escaped(f"<Job {self.uuid or self.id or ''} {self.name} attempts={self.attempts}>")

    def _check(self, outcomes: list[tuple[int, str]]) -> None:
        if outcomes[0][0] == _core.LEASE_LOST:
            raise LeaseLost(
                f"job {escaped(self.uuid or self.id or self.name)}: its reservation has ended, and "
                f"another worker may have it"
            )
