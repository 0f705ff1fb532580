"""The counts and rates of a queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from dueq import _core
from dueq.times import moment


class Counted:
    """The base of results that can be converted to a dict."""

    __slots__ = ()

    def _asdict(self) -> dict[str, Any]:
        """
        The fields by name, as in a named tuple: for JSON, or a monitoring system. Times become
        seconds since 1970.
        """
        return asdict(self, dict_factory=_plain)  # type: ignore[call-overload,no-any-return]


def _plain(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {
        name: value.timestamp() if isinstance(value, datetime) else value for name, value in fields
    }


@dataclass(frozen=True, slots=True)
class Stats(Counted):
    """The counts of a queue, taken by the server at one moment."""

    ready: int
    """Messages that can be delivered now."""
    delayed: int
    """Messages that are due later."""
    leased: int
    """Messages that are leased to a consumer."""
    dead: int
    """Messages that are dead: buried, with their attempts or crashes exhausted, or damaged."""
    outbox: int
    """Dead letters and successors on their way to other queues."""
    outbox_error: str
    """
    Why a message stays in the outbox: the name of the other queue, and the error; "": no error.
    """
    pushed: int
    """Messages stored since the queue exists."""
    reserved: int
    """Deliveries since the queue exists."""
    acked: int
    """Messages acknowledged since the queue exists."""
    retried: int
    """Retries since the queue exists."""
    expired: int
    """Messages whose ttl ended before their first delivery, since the queue exists."""
    died: int
    """
    Messages that became dead, moved to a dead-letter queue or were dropped, since the queue exists.
    """
    cancelled: int
    """Messages cancelled since the queue exists."""
    purged: int
    """Messages purged since the queue exists."""
    quarantined: int
    """Damaged entries quarantined since the queue exists."""
    next_event: datetime | None
    """The next due time or end of a lease, in UTC. None: there is none."""
    oldest: datetime | None
    """
    Since when the oldest ready message is ready, in UTC. For a message that was delayed or
    delivered before, this may be up to a minute too early. None: no message is ready.
    """
    now: datetime
    """The server's clock, in UTC."""
    paused: bool
    """Whether deliveries are stopped until Queue.resume() is called."""
    evicting: bool
    """
    Whether the server may delete messages when its memory is full. False if the URL says
    evicting=accept.
    """

    @classmethod
    def from_row(cls, row: _core.CountsRow) -> Stats:
        """Converts the row of the core."""
        next_event_ms, oldest_ms, now_ms, paused, evicting = row[15:]
        return cls(
            *row[:15],
            next_event=moment(next_event_ms) if next_event_ms else None,
            oldest=moment(oldest_ms) if oldest_ms else None,
            now=moment(now_ms),
            paused=bool(paused),
            evicting=bool(evicting),
        )


@dataclass(frozen=True, slots=True)
class Rate(Counted):
    """
    The events of a queue in a span of time, usually a minute or an hour of the server's clock.

    Only consumers with a heartbeat measure how late messages are, and how long jobs run.
    """

    start: datetime
    """The begin of the span, in UTC."""
    span: float
    """The length of the span, in seconds."""
    pushed: int
    reserved: int
    acked: int
    retried: int
    expired: int
    died: int
    cancelled: int
    late_p50: float | None
    """
    How late messages were delivered, in seconds after they became ready or due: the p50. None:
    nothing was measured.
    """
    late_p99: float | None
    """The p99 of that."""
    run_p50: float | None
    """
    How long deliveries took, in seconds until ack, retry or release: the p50. None: nothing was
    measured.
    """
    run_p99: float | None

    @classmethod
    def from_row(cls, row: _core.RateRow) -> Rate:
        """Converts the row of the core."""
        times = [None if ms < 0 else ms / 1000 for ms in row[9:]]
        return cls(moment(row[0]), row[1] / 1000, *row[2:9], *times)


@dataclass(frozen=True, slots=True)
class Finding(Counted):
    """The findings of one kind, from Queue.check()."""

    kind: str
    """The name of the kind, such as "lost" or "orphaned"."""
    text: str
    """The description of the kind, such as "messages without a ticket"."""
    wrong: bool
    """Whether the finding is an inconsistency. False: it is only information."""
    count: int
    """How many entries were found."""
    repaired: int
    """How many of the entries that `count` counts the check repaired."""
    examples: tuple[str, ...]
    """Up to five ids, tickets, keys or texts, each cut at 120 bytes."""
