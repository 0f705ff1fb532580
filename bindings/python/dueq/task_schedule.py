"""Schedules in code: what App.task(cron=..., every=...) says, and whose declaration holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from dueq.errors import InvalidError
from dueq.schedule import Catchup, next_time, schedule_row
from dueq.times import limit_ms

if TYPE_CHECKING:
    from dueq.app import Task

RELEASE_ENV = "DUEQ_RELEASE"
# The rest of a deploy is over by then. A release that is older comes back by a rollback.
_DEPLOY_MS = 3_600_000
_MOST = 8  # releases that a schedule's message names
_LABEL = re.compile(r"[^\s@]{1,64}")


@dataclass(frozen=True)
class TaskSchedule:
    """When a task is pushed by itself."""

    expression: str
    zone: str
    catchup: Catchup


@dataclass(frozen=True)
class Release:
    """
    A release of an app. since_ms: when it first declared the schedule. count: how many schedules it
    has.
    """

    label: str
    since_ms: int
    count: int

    def __str__(self) -> str:
        return f"{self.label}@{self.since_ms}/{self.count}"


def task_schedule(
    cron: str | None, every: float | timedelta | None, tz: str, catchup: Catchup
) -> TaskSchedule | None:
    """The schedule of a task; None: it has none. Raises InvalidError for wrong values."""
    if cron is None and every is None:
        if tz != "UTC" or catchup != "once":
            raise InvalidError("tz and catchup say more about cron or every, which is not given")
        return None
    if cron is not None and every is not None:
        raise InvalidError("cron, every: give one of them")
    if cron is None:
        ms = limit_ms(every, "every") or 0
        cron = f"every {ms // 1000}s" if ms % 1000 == 0 else f"every {ms}ms"
    if next_time(cron, tz) is None:
        raise InvalidError(f"cron: {cron!r} is never due")
    schedule_row("check", cron, b"", tz, catchup, "", "")
    return TaskSchedule(cron, tz, catchup)


def label_of(given: str | None, tasks: Iterable[Task[..., object]]) -> str:
    """
    The label of the app's release: the given one, else $DUEQ_RELEASE, else a digest of all its
    schedules.
    """
    label = given or os.environ.get(RELEASE_ENV)
    if label:
        return checked_label("release", label)
    rows = sorted((task.queue, repr(row_of(task, "", ""))) for task in tasks)
    return sha256(repr(rows).encode()).hexdigest()[:12]


def checked_label(what: str, label: str) -> str:
    """Returns the label. Raises InvalidError if it cannot be one."""
    if not _LABEL.fullmatch(label):
        raise InvalidError(f"{what}: {label!r} is not 1 to 64 characters without blanks and @")
    return label


def row_of(task: Task[..., object], app: str, release: str) -> tuple[object, ...]:
    """The schedule of a task as a row for the core."""
    times = task.schedule
    assert times
    return schedule_row(
        task.name, times.expression, task.draft(), times.zone, times.catchup, app, release
    )


def releases(text: str) -> list[Release]:
    """Reads the releases that a schedule's message names, the latest first."""
    found = re.findall(r"(?:^| )([^\s@]+)@(\d+)/(\d+)(?= |$)", text)
    return [Release(label, int(since), int(count)) for label, since, count in found]


def replaced_by(text: str, label: str, now_ms: int) -> str | None:
    """
    The release that holds instead of this one, which another one replaced in the last hour. None:
    this one may declare its schedules.
    """
    found = releases(text)
    if found and found[0].label != label:
        for newer, older in pairwise(found):
            if older.label == label and now_ms - newer.since_ms < _DEPLOY_MS:
                return found[0].label
    return None


def renewed(text: str, label: str, count: int, now_ms: int) -> str:
    """The releases after this one has declared the schedule."""
    found = releases(text)
    since_ms = found[0].since_ms if found and found[0].label == label else now_ms
    others = [release for release in found if release.label != label][: _MOST - 1]
    return " ".join(map(str, [Release(label, since_ms, count), *others]))
