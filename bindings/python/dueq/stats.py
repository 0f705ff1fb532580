"""The counts and rates of a queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from dueq import _core
from dueq.times import moment, optional_moment


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
class GroupLimits(Counted):
    """The limits of one group, as they were set."""

    # Made from core/results.toml by core/verbs.py: the fields of GroupLimits.
    name: str
    """The name of the group."""
    concurrency: int | None
    """How many of its messages may be leased at once. None: the limit of each group."""
    rate: str
    """How many of its messages are delivered in a time; empty: the rate of each group."""
    burst: int | None
    """How many the rate allows at once after a pause. None: the burst of each group."""
    backlog: int | None
    """How many of its messages may wait before a push is refused. None: the limit of each group."""
    weight: int | None
    """How many turns it gets for one turn of a group without a weight. None: one."""
    order: str
    """In which order its messages begin: fair, fifo or strict; empty: the queue's."""

    @classmethod
    def from_row(cls, row: _core.GroupLimitsRow) -> GroupLimits:
        """Converts the row of the core."""
        return cls(
            row[0],
            row[1] or None,
            row[2],
            row[3] or None,
            row[4] or None,
            row[5] or None,
            row[6],
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Limits(Counted):
    """The limits of a queue and of its groups, as they were set."""

    # Made from core/results.toml by core/verbs.py: the fields of Limits.
    concurrency: int | None
    """How many messages may be leased at once. None: no limit."""
    rate: str
    """How many messages are delivered in a time, such as "1000/s"; empty: no limit."""
    burst: int | None
    """How many the rate allows at once after a pause. None: what the rate allows in 100 ms."""
    each_group_concurrency: int | None
    """How many messages of each group may be leased at once. None: no limit."""
    each_group_rate: str
    """How many of each group are delivered in a time; empty: no limit."""
    each_group_burst: int | None
    """
    How many of each group its rate allows at once after a pause. None: what the rate allows in 100
    ms.
    """
    each_group_backlog: int | None
    """How many messages of each group may wait before a push is refused. None: no limit."""
    order: str
    """In which order messages of a group begin: fifo or strict; empty: fair."""
    groups: tuple[GroupLimits, ...]
    """The groups that have limits of their own, by their names."""

    @classmethod
    def from_row(cls, row: _core.BoundsRow) -> Limits:
        """Converts the row of the core."""
        return cls(
            row[0] or None,
            row[1],
            row[2] or None,
            row[3] or None,
            row[4],
            row[5] or None,
            row[6] or None,
            row[7],
            tuple(map(GroupLimits.from_row, row[8])),
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Stats(Counted):
    """The counts of a queue, taken by the server at one moment. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of Stats.
    ready: int
    """Messages that can be delivered now."""
    delayed: int
    """Messages that are due later."""
    leased: int
    """Messages that are leased to a consumer."""
    dead: int
    """Messages that are dead: buried, killed, damaged, or out of attempts or crashes."""
    outbox: int
    """Dead letters and successors on their way to other queues."""
    outbox_error: str
    """Why a message stays in the outbox: the other queue, and the error; empty: no error."""
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
    """
    Entries quarantined, and messages that died because they were damaged, since the queue exists.
    """
    next_event: datetime | None
    """The next due time or end of a lease. None: there is none."""
    oldest: datetime | None
    """
    Since when the oldest ready message has been ready. For a message that was delayed or delivered
    before, this may be up to a minute too early. None: no message is ready.
    """
    now: datetime
    """The server's clock when it counted."""
    paused: bool
    """Whether deliveries are stopped until the queue is resumed."""
    at_limit: str
    """
    Which limit keeps ready messages waiting: concurrency or rate; or unreadable, if a limit cannot
    be read; empty: none does.
    """
    evicting: bool
    """
    Whether the server may delete messages when its memory is full, and the URL does not say
    evicting=accept.
    """
    ends: int
    """Ends of messages that are kept."""
    ends_bytes: int
    """How many bytes the kept ends have, with their results."""

    @classmethod
    def from_row(cls, row: _core.CountsRow) -> Stats:
        """Converts the row of the core."""
        return cls(
            *row[:15],
            optional_moment(row[15]),
            optional_moment(row[16]),
            moment(row[17]),
            *row[18:],
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Rate(Counted):
    """
    The events of a queue in a span of time, usually a minute or an hour of the server's clock.

    Only consumers with a heartbeat measure how late messages are, and how long jobs run.
    """

    # Made from core/results.toml by core/verbs.py: the fields of Rate.
    start: datetime
    """The begin of the span."""
    span: float
    """The length of the span."""
    pushed: int
    """Messages stored."""
    reserved: int
    """Deliveries."""
    acked: int
    """Messages acknowledged."""
    retried: int
    """Retries."""
    expired: int
    """Messages whose ttl ended before their first delivery."""
    died: int
    """Messages that became dead, moved to a dead-letter queue or were dropped."""
    cancelled: int
    """Messages cancelled."""
    late_p50: float | None
    """
    The p50 of the times from when a message was ready, or due, until its delivery. None: nothing
    was measured.
    """
    late_p99: float | None
    """The p99 of the same times. None: nothing was measured."""
    run_p50: float | None
    """
    The p50 of the times from a delivery until its message was acknowledged, retried or settled
    otherwise. None: nothing was measured.
    """
    run_p99: float | None
    """The p99 of the same times. None: nothing was measured."""

    @classmethod
    def from_row(cls, row: _core.RateRow) -> Rate:
        """Converts the row of the core."""
        return cls(
            moment(row[0]),
            row[1] / 1000,
            *row[2:9],
            None if row[9] < 0 else row[9] / 1000,
            None if row[10] < 0 else row[10] / 1000,
            None if row[11] < 0 else row[11] / 1000,
            None if row[12] < 0 else row[12] / 1000,
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Finding(Counted):
    """The findings of one kind, from Queue.check()."""

    # Made from core/results.toml by core/verbs.py: the fields of Finding.
    kind: str
    """One word for the kind, such as "lost" or "orphaned"."""
    text: str
    """What the kind means, such as "messages without a ticket"."""
    wrong: bool
    """Whether the finding is an inconsistency. If not, it is only worth knowing."""
    count: int
    """How many entries were found."""
    repaired: int
    """How many of the entries that `count` counts this check repaired."""
    examples: tuple[str, ...]
    """Up to five ids, tickets, keys or texts, unescaped, each cut at 120 bytes."""

    @classmethod
    def from_row(cls, row: _core.FindingRow) -> Finding:
        """Converts the row of the core."""
        return cls(*row)

    # The end of what was made.
