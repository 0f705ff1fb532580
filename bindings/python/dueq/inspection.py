"""The workers, the failures, the groups and the batches of a queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, cast

from dueq import _core
from dueq.stats import Counted
from dueq.times import moment, optional_moment

MOST_GROUPS = 2**31 - 1
"""How many groups a call lists at most."""

FailureKind: TypeAlias = Literal["failed", "crashed", "buried", "died"]


@dataclass(frozen=True, slots=True)
class Lease(Counted):
    """A message that is leased to a worker."""

    # Made from core/results.toml by core/verbs.py: the fields of Lease.
    id: str
    """The id of the message."""
    ticket: str
    """The ticket of the delivery."""
    partition: int | None
    """The partition of the message. None: the queue has no partitions."""
    since: datetime
    """
    When the program began to work on the message, or when it was prefetched: by the server's clock.
    """
    running: bool
    """Whether the program has begun to work on the message. If not, it is prefetched."""

    @classmethod
    def from_row(cls, row: _core.LeaseRow) -> Lease:
        """Converts the row of the core."""
        return cls(
            *row[:2],
            None if row[2] < 0 else row[2],
            moment(row[3]),
            row[4],
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class WorkerInfo(Counted):
    """
    A consumer of a queue, with the state that it last registered. A consumer with a heartbeat
    registers when it has existed for two seconds, then every ten seconds (every 25 while it has no
    message). When it is closed, its registration is removed. Times are the server's, in UTC.
    """

    # Made from core/results.toml by core/verbs.py: the fields of WorkerInfo.
    session: str
    """The unique id of the consumer, 22 characters."""
    host: str
    """The host of its process."""
    pid: int
    """The number of its process."""
    program: str
    """The language and its version, such as "python 3.12.4", "php 8.3.6", "dueq work" or "c"."""
    version: str
    """The version of dueq."""
    slots: int
    """How many messages the consumer works on at a time; 0: not known."""
    since: datetime
    """When the consumer was opened."""
    seen: datetime
    """When the consumer last registered."""
    until: datetime
    """When the consumer becomes offline, unless it registers again."""
    now: datetime
    """The server's clock when it answered."""
    offline: bool
    """
    Whether the consumer has not registered for about a minute, or longer if it has more than 16
    queues: its process was killed, or is cut off. It stays in the list for an hour.
    """
    leased: int
    """
    How many messages of this queue were leased to the consumer when it registered, with prefetched
    ones.
    """
    running: int
    """How many of the leased messages the program was working on."""
    stopping: bool
    """
    Whether the consumer was stopped: it takes no new message, and ends when its messages are
    settled. An offline consumer that was stopped did not end in time: for example, a deploy killed
    it. An offline consumer that was not stopped crashed, or is cut off.
    """
    leases: tuple[Lease, ...]
    """
    The messages that the consumer had had for at least a second, in the order of their deliveries;
    at most 100.
    """
    tasks: str
    """The names of the tasks that its program knows, each in a line; empty: it does not say."""

    @classmethod
    def from_row(cls, row: _core.WorkerRow) -> WorkerInfo:
        """Converts the row of the core."""
        return cls(
            *row[:6],
            moment(row[6]),
            moment(row[7]),
            moment(row[8]),
            moment(row[9]),
            row[10],
            row[11],
            row[12],
            row[13],
            tuple(map(Lease.from_row, row[14])),
            row[15],
        )

    # The end of what was made.


def each_once(rows: Iterable[_core.WorkerRow]) -> list[WorkerInfo]:
    """The workers of all pages, each once: a worker that registers between two pages is on both."""
    return [WorkerInfo.from_row(row) for row in {row[0]: row for row in rows}.values()]


@dataclass(frozen=True, slots=True)
class End(Counted):
    """How a message ended that was pushed with `keep`."""

    # Made from core/results.toml by core/verbs.py: the fields of End.
    id: str
    """The id of the message."""
    outcome: str
    """How it ended: acked, dead, cancelled, expired or purged."""
    time: datetime
    """When it ended, by the server's clock."""
    created: datetime
    """When the message was pushed, by the producer's clock."""
    waited: float | None
    """
    How long the message waited: from its push until its last delivery began, or until it ended
    without one. None: not known.
    """
    ran: float | None
    """How long its last delivery ran. None: no delivery ended it, or it is not known."""
    deliveries: int
    """How many deliveries it had."""
    host: str | None
    """The host of the process that ended it. None: not known."""
    pid: int | None
    """The number of that process. None: not known."""
    has_result: bool
    """Whether it was acknowledged with a result."""
    result: bytes
    """The result; empty if it has none."""
    error: str
    """Of a dead message, the text of its last error; may be empty."""
    until: datetime | None
    """Until when the end is kept. None: as long as the dead message is in the queue."""

    @classmethod
    def from_row(cls, row: _core.EndRow) -> End:
        """Converts the row of the core."""
        return cls(
            *row[:2],
            moment(row[2]),
            moment(row[3]),
            None if row[4] < 0 else row[4] / 1000,
            None if row[5] < 0 else row[5] / 1000,
            row[6],
            row[7] or None,
            row[8] or None,
            row[9],
            row[10],
            row[11],
            optional_moment(row[12]),
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Failure(Counted):
    """A failure in a queue, which keeps the last 1000 failures. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of Failure.
    time: datetime
    """
    When the message failed, by the server's clock. For a crash: when a reserve noticed the crash.
    """
    kind: FailureKind
    """
    failed: the message was retried. crashed: its lease ended. buried: a consumer buried it. died:
    its attempts or crashes are used up, or it is damaged.
    """
    id: str
    """The id of the message."""
    ticket: str
    """
    The ticket of the delivery. The worker that has the ticket in its `leases` had the message.
    """
    delivery: int
    """The number of the delivery, from 1 on."""
    created: datetime
    """When the message was pushed, by the producer's clock."""
    host: str | None
    """The host of the process that settled the message. None: no process did, as for a crash."""
    pid: int | None
    """The number of that process. None: no process settled the message."""
    error: str
    """The first 500 bytes of the error; may be empty."""

    @classmethod
    def from_row(cls, row: _core.FailureRow) -> Failure:
        """Converts the row of the core."""
        return cls(
            moment(row[0]),
            cast("FailureKind", row[1]),
            row[2],
            row[3],
            row[4],
            moment(row[5]),
            row[6] or None,
            row[7] or None,
            row[8],
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class BatchStatus(Counted):
    """A batch, and how many of its members ended how. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of BatchStatus.
    id: str
    """The id of the batch."""
    state: str
    """
    open: it takes members; closed: only its members add members; ended: all members have ended.
    """
    pushed: int
    """How many members it has."""
    acked: int
    """How many of the members were acknowledged."""
    dead: int
    """How many died: the attempts or crashes were used up, or a consumer buried them."""
    cancelled: int
    """How many were cancelled, replaced, or refused by another queue."""
    expired: int
    """How many were not delivered in their time to live."""
    purged: int
    """How many were purged."""
    left: int
    """How many members have not ended."""
    opened: datetime
    """When it was opened."""
    closes: datetime
    """When an open batch closes by itself, or when it was closed."""
    ended: datetime | None
    """When it ended. None: it has not."""
    now: datetime
    """The server's clock when it answered."""
    then_id: str | None
    """
    The id of the message that is pushed if all members are acknowledged. Only find_batch tells the
    callbacks, and only until the batch has ended. None: there is no such message.
    """
    then_queue: str | None
    """The queue that gets that message. None: that of the batch."""
    catch_id: str | None
    """
    The id of the message that is pushed when the first member dies. None: there is no such message.
    """
    catch_queue: str | None
    """The queue that gets that message. None: that of the batch."""
    finally_id: str | None
    """The id of the message that is pushed when the batch ends. None: there is no such message."""
    finally_queue: str | None
    """The queue that gets that message. None: that of the batch."""

    @classmethod
    def from_row(cls, row: _core.BatchRow) -> BatchStatus:
        """Converts the row of the core."""
        return cls(
            *row[:9],
            moment(row[9]),
            moment(row[10]),
            optional_moment(row[11]),
            moment(row[12]),
            row[13] or None,
            row[14] or None,
            row[15] or None,
            row[16] or None,
            row[17] or None,
            row[18] or None,
        )

    # The end of what was made.


@dataclass(frozen=True, slots=True)
class Group(Counted):
    """A group of messages, which takes turns with the others. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of Group.
    name: str | None
    """The name of the group. None: these are all messages without a group."""
    waiting: int
    """
    How many of its messages wait to be delivered. Cancelled ones count until their turn comes, and
    delayed ones when they are due.
    """
    oldest: datetime | None
    """
    When the message that is the group's next was pushed, by the producer's clock. None: no message
    waits.
    """
    leased: int | None
    """
    How many of its messages are leased. None: not known, as more than 1,000 messages of the queue
    are leased.
    """
    served_per_minute: int | None
    """
    About how many of its messages were delivered in the last minute. None: not known, as the queue
    has not had limits of groups for a minute, or more than 10,000 groups had deliveries.
    """
    now: datetime
    """The server's clock when it answered."""
    at_limit: str
    """
    What keeps its messages waiting: concurrency or rate, its limits; order or hold; empty: nothing
    does.
    """
    held_until: datetime | None
    """Until when the group is held. None: it is not."""
    holder: str | None
    """
    If its order keeps its messages waiting: the id of the message that must end before the next one
    begins. None: there is none, or it is not known.
    """

    @classmethod
    def from_row(cls, row: _core.GroupRow) -> Group:
        """Converts the row of the core."""
        return cls(
            row[0] or None,
            row[1],
            optional_moment(row[2]),
            None if row[3] < 0 else row[3],
            None if row[4] < 0 else row[4],
            moment(row[5]),
            row[6],
            optional_moment(row[7]),
            row[8] or None,
        )

    # The end of what was made.
