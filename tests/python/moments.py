"""What tests ask of points of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ms_of(moment: datetime | None) -> int:
    """The milliseconds since 1970 of a point of time in UTC, exactly; 0 for None."""
    if moment is None:
        return 0
    assert moment.tzinfo is UTC
    milliseconds, rest = divmod(moment - EPOCH, timedelta(milliseconds=1))
    assert not rest
    return milliseconds


def seconds_between(earlier: datetime | None, later: datetime | None) -> float:
    """From one point of time to another."""
    assert earlier
    assert later
    return (later - earlier).total_seconds()
