"""The times of schedules."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from dueq import _core
from dueq.draft import rows
from dueq.errors import InvalidError
from dueq.times import moment, point_ms

if TYPE_CHECKING:
    from dueq.draft import Body, Draft

Catchup: TypeAlias = Literal["once", "skip", "all"]

_CATCHUPS = {
    "once": _core.CATCHUP_ONCE,
    "skip": _core.CATCHUP_SKIP,
    "all": _core.CATCHUP_ALL,
}


def next_time(
    expression: str, zone: str = "UTC", after: float | datetime | None = None
) -> datetime | None:
    """
    The first time of a schedule after `after`, in UTC. None: there is none.

    expression  as for Queue.schedule()
    zone        as for Queue.schedule()
    after       an aware datetime, or seconds since 1970; None: now, by this machine's clock
                (Queue.stats().now is the server's)

    Raises InvalidError for a wrong expression or zone.
    """
    after_ms = int(time.time() * 1000) if after is None else point_ms(after, "after")
    found = _core.schedule_next(expression, zone, after_ms)
    return None if found is None else moment(found)


def schedule_row(
    name: str,
    expression: str,
    job: Body | Draft,
    zone: str,
    catchup: Catchup,
    app: str,
    release: str,
) -> _core.ScheduleRow:
    """
    The row of a schedule for the core. Raises InvalidError for values that the core could not
    check.
    """
    if catchup not in _CATCHUPS:
        raise InvalidError(f"catchup: {catchup!r} is not one of {', '.join(_CATCHUPS)}")
    return name, expression, zone, _CATCHUPS[catchup], tuple(rows((job,))), app, release
