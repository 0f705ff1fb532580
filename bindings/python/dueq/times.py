"""Converts durations and times to the core's whole milliseconds, rounded up, and back."""

from datetime import UTC, datetime, timedelta

from dueq import _core
from dueq.errors import InvalidError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_S = 4_102_444_800  # the year 2100; the core has the exact limit
_LONGEST = timedelta(seconds=_LONGEST_S)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_MS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND


def moment(milliseconds: int) -> datetime:
    """
    The aware datetime in UTC of milliseconds since 1970, exactly. Damaged data may contain a time
    that no datetime can express: the result is then the nearest datetime that is not before 1970.
    """
    return _EPOCH + timedelta(milliseconds=min(max(milliseconds, 0), _LAST_MS))


def optional_moment(milliseconds: int) -> datetime | None:
    """The same; None for 0."""
    return moment(milliseconds) if milliseconds else None


def _seconds_ms(seconds: float, name: str, wanted: str) -> int:
    try:
        good = 0 <= seconds <= _LONGEST_S
    except TypeError:
        raise TypeError(f"{name}: {seconds!r} is not {wanted}") from None
    if not good:
        raise InvalidError(f"{name}: {seconds!r} is not a number of seconds from 0 to {_LONGEST_S}")
    # Up to the year 2100 a float's own error is below half a microsecond, and the nearest whole
    # microsecond is exact: the error must not count as one more millisecond.
    return -(-round(seconds * 1_000_000) // 1000)


def duration_ms(value: float | timedelta, name: str) -> int:
    """
    Converts seconds or a timedelta to milliseconds. Raises InvalidError for a negative or infinite
    duration, and TypeError for another type.
    """
    if not isinstance(value, timedelta):
        return _seconds_ms(value, name, "seconds or a timedelta")
    if not timedelta() <= value <= _LONGEST:
        raise InvalidError(f"{name}: {value!r} is not 0 to {_LONGEST_S} seconds")
    return -(-value // _MILLISECOND)


def point_ms(value: float | datetime, name: str) -> int:
    """
    Converts an aware datetime, or seconds since 1970, to milliseconds since 1970. Raises
    InvalidError for a naive datetime, or a time before 1970 or after the begin of 2100, and
    TypeError for another type.
    """
    if not isinstance(value, datetime):
        return _seconds_ms(value, name, "seconds since 1970 or an aware datetime")
    if value.utcoffset() is None:
        raise InvalidError(
            f"{name}: a naive datetime: add a time zone, as datetime.now(timezone.utc)"
        )
    since_1970 = value - _EPOCH
    if not timedelta() <= since_1970 <= _LONGEST:
        raise InvalidError(f"{name}: {value.isoformat()} is before 1970 or after the begin of 2100")
    return duration_ms(since_1970, name)


def due_ms(delay: float | timedelta | None, at: float | datetime | None) -> tuple[int, int]:
    """Converts a due time to delay_ms and at_ms. Raises InvalidError if both are given."""
    if delay is not None and at is not None:
        raise InvalidError("give either a delay or a time (at), not both")
    return optional_ms(delay, "delay"), 0 if at is None else point_ms(at, "at")


def optional_ms(value: float | timedelta | None, name: str) -> int:
    """Converts a duration to milliseconds; None to 0, which means the core's own default."""
    return 0 if value is None else duration_ms(value, name)


def patience_ms(timeout: float | timedelta | None) -> int:
    """Converts a time to wait to milliseconds; None means without end."""
    return _core.FOREVER if timeout is None else duration_ms(timeout, "timeout")


def limit_ms(value: float | timedelta | None, name: str) -> int:
    """
    Converts a limit to milliseconds; None to 0, which means no limit. Raises InvalidError for 0,
    which would mean the opposite.
    """
    if value is None:
        return 0
    milliseconds = duration_ms(value, name)
    if not milliseconds:
        raise InvalidError(f"{name}: must be above 0; None is no limit")
    return milliseconds
