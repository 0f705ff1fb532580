"""Seconds, timedelta and datetime to the core's whole milliseconds, rounded up: never early."""

import math
from datetime import UTC, datetime, timedelta

from dueq import _core
from dueq.errors import InvalidError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_S = 4_102_444_800  # the year 2100; the core has the exact limit


def _whole_ms(seconds: float, name: str, wanted: str) -> int:
    try:
        good = 0 <= seconds <= _LONGEST_S
    except TypeError:
        raise TypeError(f"{name}: {seconds!r} is not {wanted}") from None
    if not good:
        raise InvalidError(f"{name}: {seconds!r} is not a number of seconds from 0 to {_LONGEST_S}")
    # Below the microsecond a float's own error begins, which must not count as a millisecond.
    return math.ceil(round(seconds * 1000, 3))


def duration_ms(value: float | timedelta, name: str) -> int:
    """
    Milliseconds of seconds or a timedelta. InvalidError if negative or endless, TypeError for
    anything else.
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    return _whole_ms(seconds, name, "seconds or a timedelta")


def point_ms(value: float | datetime, name: str) -> int:
    """Milliseconds since 1970 of seconds since 1970 or an aware datetime."""
    if not isinstance(value, datetime):
        return _whole_ms(value, name, "seconds since 1970 or a datetime")
    if value.tzinfo is None:
        raise InvalidError(f"{name}: {value!r} has no time zone")
    return duration_ms(value - _EPOCH, name)


def due_ms(delay: float | timedelta | None, at: float | datetime | None) -> tuple[int, int]:
    """A due time as the core wants it: delay_ms and at_ms. InvalidError where both are given."""
    if delay is not None and at is not None:
        raise InvalidError("give either a delay or a time (at), not both")
    return optional_ms(delay, "delay"), 0 if at is None else point_ms(at, "at")


def optional_ms(value: float | timedelta | None, name: str) -> int:
    """Milliseconds, and 0 for None: the core's own default."""
    return 0 if value is None else duration_ms(value, name)


def patience_ms(timeout: float | timedelta | None) -> int:
    """Milliseconds to wait, without end for None."""
    return _core.FOREVER if timeout is None else duration_ms(timeout, "timeout")


def limit_ms(value: float | timedelta | None, name: str) -> int:
    """Milliseconds, and 0 for None: no limit. InvalidError for 0, which would mean the contrary."""
    if value is None:
        return 0
    milliseconds = duration_ms(value, name)
    if not milliseconds:
        raise InvalidError(f"{name}: must be above 0; None is no limit")
    return milliseconds
