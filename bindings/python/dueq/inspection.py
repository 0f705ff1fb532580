"""The workers and the failures of a queue."""

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
class Lease(Counted):
    """A message that is leased to a worker."""

    id: str
    ticket: str
    partition: int | None
    """The partition of the message. None: the queue has no partitions."""
    since: datetime
    """
    When the program began to work on the message, or when it was prefetched: by the server's clock,
    in UTC.
    """
    running: bool
    """Whether the program has begun to work on the message. False: it is prefetched."""


@dataclass(frozen=True, slots=True)
class WorkerInfo(Counted):
    """
    A consumer of a queue, with the state that it last registered. A consumer with a heartbeat
    registers when it has existed for two seconds, then every ten seconds (every 25 while it has no
    message). When it is closed, its registration is removed. Times are the server's, in UTC.
    """

    session: str
    """The unique id of the consumer, 22 characters."""
    host: str
    pid: int
    program: str
    """The language and its version: "python 3.12.4"."""
    version: str
    """The version of dueq."""
    slots: int
    """How many messages the consumer works on at a time. 0: not known."""
    since: datetime
    """When the consumer was opened."""
    seen: datetime
    """When the consumer last registered."""
    until: datetime
    """
    When the consumer becomes offline, unless it registers again: its process was killed, or is cut
    off.
    """
    now: datetime
    leased: int
    """How many messages of this queue are leased to the consumer, prefetched ones included."""
    running: int
    """How many of these messages the program works on."""
    stopping: bool
    """
    Whether the consumer was stopped: it takes no new message, and ends when its messages are
    settled. An offline consumer that was stopped did not end in time; one that was not stopped
    crashed, or is cut off.
    """
    leases: tuple[Lease, ...]
    """
    The messages that it has had for at least a second, in the order in which it got them; at most
    100.
    """

    @property
    def offline(self) -> bool:
        """
        Whether the consumer has not registered for about a minute. It stays in the list for an
        hour.
        """
        return self.until <= self.now

    @classmethod
    def from_row(cls, row: _core.WorkerRow) -> WorkerInfo:
        """Converts the row of the core."""
        since_ms, seen_ms, until_ms, now_ms, leased, running, stopping, leases = row[6:]
        return cls(
            *row[:6],
            since=moment(since_ms),
            seen=moment(seen_ms),
            until=moment(until_ms),
            now=moment(now_ms),
            leased=leased,
            running=running,
            stopping=stopping,
            leases=tuple(map(_lease, leases)),
        )


def _lease(row: _core.LeaseRow) -> Lease:
    id, ticket, partition, since_ms, running = row
    return Lease(id, ticket, None if partition < 0 else partition, moment(since_ms), running)


def each_once(rows: Iterable[_core.WorkerRow]) -> list[WorkerInfo]:
    """The workers of all pages, each once: a worker that registers between two pages is on both."""
    return [WorkerInfo.from_row(row) for row in {row[0]: row for row in rows}.values()]


@dataclass(frozen=True, slots=True)
class Failure(Counted):
    """A failure in a queue, which keeps the last 1000 failures. Times are in UTC."""

    time: datetime
    """When the message failed, by the server's clock. For a crash: when the crash was noticed."""
    kind: FailureKind
    """
    failed: the message was retried. crashed: its lease ended. buried: a consumer buried it. died:
    its attempts or crashes are exhausted, or it is damaged.
    """
    id: str
    ticket: str
    """The ticket of the delivery: the worker whose `leases` contain it had the message."""
    delivery: int
    """The number of the delivery, from 1 on."""
    created: datetime
    """When the message was pushed, as Message.created."""
    host: str | None
    """The host of the process that reported the failure. None: no process did, as for a crash."""
    pid: int | None
    error: str
    """The first 500 bytes of the error; may be empty."""

    @classmethod
    def from_row(cls, row: _core.FailureRow) -> Failure:
        """Converts the row of the core."""
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
