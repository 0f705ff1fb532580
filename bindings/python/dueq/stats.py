"""The counts of a queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from dueq import _core
from dueq.times import moment


class Counted:
    """What a call has counted."""

    __slots__ = ()

    def _asdict(self) -> dict[str, Any]:
        """
        The fields by name, as a named tuple has it: for JSON, or a monitor. Times are seconds since
        1970 in it.
        """
        return asdict(self, dict_factory=_plain)  # type: ignore[call-overload,no-any-return]


def _plain(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {
        name: value.timestamp() if isinstance(value, datetime) else value for name, value in fields
    }


@dataclass(frozen=True, slots=True)
class Stats(Counted):
    """A queue counted by the server at one moment."""

    ready: int
    """Messages that can be delivered now."""
    delayed: int
    """Messages that are due later."""
    leased: int
    """Messages that a consumer holds."""
    dead: int
    """Messages that are dead: buried, with exhausted attempts, or damaged."""
    outbox: int
    """Dead letters and successors on their way to other queues."""
    outbox_error: str
    """Why a message stays in the outbox: its queue and the error. Empty: there is no error."""
    pushed: int
    """Messages stored since the queue exists."""
    reserved: int
    """Deliveries since the queue exists."""
    acked: int
    """Messages acknowledged since the queue exists."""
    retried: int
    """Retries since the queue exists."""
    expired: int
    """Messages whose time to live ended before a delivery, since the queue exists."""
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
    Since when the oldest ready message is ready, in UTC: up to a minute too early for one that was
    delayed or delivered before. None: none is ready.
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
        """The counts as the core has them."""
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

    Consumers with a heartbeat measure how late messages are, and how long they run.
    """

    start: datetime
    """The begin of the span, in UTC."""
    span: float
    """Its length, in seconds."""
    pushed: int
    reserved: int
    acked: int
    retried: int
    expired: int
    died: int
    cancelled: int
    late_p50: float | None
    """
    The p50 of how many seconds after they were due, or ready, messages were delivered. None:
    nothing was measured.
    """
    late_p99: float | None
    """The p99 of the same."""
    run_p50: float | None
    """The p50 of the seconds from a delivery until it was acknowledged, retried or released."""
    run_p99: float | None

    @classmethod
    def from_row(cls, row: _core.RateRow) -> Rate:
        """The rate as the core has it."""
        times = [None if ms < 0 else ms / 1000 for ms in row[9:]]
        return cls(moment(row[0]), row[1] / 1000, *row[2:9], *times)


@dataclass(frozen=True, slots=True)
class Finding(Counted):
    """What a check found of one kind."""

    kind: str
    """Its name: "lost", "orphaned", ..."""
    text: str
    """Its description: "messages without a ticket"."""
    wrong: bool
    """Whether it is an inconsistency. False: it is only worth knowing."""
    count: int
    """How many there are."""
    repaired: int
    """How many of them the check repaired."""
    examples: tuple[str, ...]
    """Up to five ids, tickets, keys or texts, each cut at 120 bytes."""
