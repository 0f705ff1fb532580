"""Who consumes a queue, and what failed there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, cast

from dueq import _core
from dueq.stats import Counted
from dueq.times import moment

FailureKind: TypeAlias = Literal["failed", "crashed", "buried", "died"]


@dataclass(frozen=True, slots=True)
class Holding(Counted):
    """A message that a worker holds."""

    id: str
    ticket: str
    partition: int | None
    """The partition that it is in. None: the queue has none."""
    since: datetime
    """Since when its program works on it, or it is prefetched: by the server's clock, in UTC."""
    working: bool
    """Whether its program works on it. False: it is prefetched."""


@dataclass(frozen=True, slots=True)
class WorkerInfo(Counted):
    """
    A consumer of a queue, as it said when it was seen last. A consumer with a heartbeat registers
    when it has lived for two seconds, then every ten seconds (25 while it holds nothing), and
    leaves when it is closed. Times are the server's, in UTC.
    """

    session: str
    """22 characters that no other consumer has."""
    host: str
    pid: int
    program: str
    """What it runs in: "python 3.12.4"."""
    version: str
    """That of dueq."""
    slots: int
    """How many messages it works on at a time. 0: it does not say."""
    since: datetime
    """When the consumer was opened."""
    seen: datetime
    """When it registered last."""
    until: datetime
    """From then on it is offline: its process was killed, or is cut off."""
    now: datetime
    held: int
    """How many messages of this queue it held, prefetched ones too."""
    working: int
    """How many of these its program worked on."""
    stopping: bool
    """
    Whether it takes no further message: it ends when it has settled these. If its registration has
    ended, it was stopped, and did not end in time; else it crashed, or is cut off.
    """
    holdings: tuple[Holding, ...]
    """Those that it had held for a second, in the order in which it got them; at most 100."""

    @property
    def offline(self) -> bool:
        """Whether it was not seen for a minute. It is listed for an hour then."""
        return self.until <= self.now

    @classmethod
    def from_row(cls, row: _core.WorkerRow) -> WorkerInfo:
        """The worker as the core has it."""
        since_ms, seen_ms, until_ms, now_ms, held, working, stopping, holdings = row[6:]
        return cls(
            *row[:6],
            since=moment(since_ms),
            seen=moment(seen_ms),
            until=moment(until_ms),
            now=moment(now_ms),
            held=held,
            working=working,
            stopping=stopping,
            holdings=tuple(map(_holding, holdings)),
        )


def _holding(row: _core.HoldingRow) -> Holding:
    id, ticket, partition, since_ms, working = row
    return Holding(id, ticket, None if partition < 0 else partition, moment(since_ms), working)


def each_once(rows: Iterable[_core.WorkerRow]) -> list[WorkerInfo]:
    """The workers of all pages; one that registered between two pages is there twice."""
    return [WorkerInfo.from_row(row) for row in {row[0]: row for row in rows}.values()]


@dataclass(frozen=True, slots=True)
class Failure(Counted):
    """What failed. A queue keeps the last 1000. Times are in UTC."""

    time: datetime
    """By the server's clock. Of a crash, when it was noticed."""
    kind: FailureKind
    """
    failed: retried. crashed: its lease ended. buried. died: its attempts or crashes are used up, or
    it is damaged.
    """
    id: str
    ticket: str
    """That of the delivery: a worker whose `holdings` name it had the message."""
    delivery: int
    """The number of the delivery: 1 of the first."""
    created: datetime
    """When the message was pushed, as of a Message."""
    host: str | None
    """Whose process said so. None: nobody did, as of a crash."""
    pid: int | None
    error: str
    """Its first 500 bytes; may be empty."""

    @classmethod
    def from_row(cls, row: _core.FailureRow) -> Failure:
        """The failure as the core has it."""
        time_ms, kind, id, ticket, delivery, created_ms, host, pid, error = row
        return cls(
            moment(time_ms),
            cast("FailureKind", kind),
            id,
            ticket,
            delivery,
            moment(created_ms),
            host or None,
            pid if host else None,
            error,
        )
