"""The fields of a message, for dueq and dueq.aio."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from dueq import _core
from dueq._log import encoded, escaped, log
from dueq.errors import Error, InvalidError, LeaseLost
from dueq.times import moment, optional_moment

if TYPE_CHECKING:
    from dueq._trace import Processing, Tracer

R = TypeVar("R")


class State(StrEnum):
    """The state of a message."""

    READY = _core.state_name(_core.READY)
    DELAYED = _core.state_name(_core.DELAYED)
    LEASED = _core.state_name(_core.LEASED)
    DEAD = _core.state_name(_core.DEAD)
    OUTBOX = _core.state_name(_core.OUTBOX)


StateName: TypeAlias = State | Literal["ready", "delayed", "leased", "dead", "outbox"]

STATES = {
    number: State(_core.state_name(number))
    for number in (_core.READY, _core.DELAYED, _core.LEASED, _core.DEAD, _core.OUTBOX)
}

_NUMBERS = {str(state): number for number, state in STATES.items()}


class Home(Protocol):
    """The owner of a message, which runs its calls: a pool, or a consumer."""

    @property
    def where(self) -> str:
        """The server's URL, without the password."""

    def forget(self, message: MessageBase, /) -> None:
        """Called when a verb has settled the message."""

    def has_lost(self, message: MessageBase, /) -> bool:
        """Whether the message is known to be with another consumer, or cancelled."""

    def keep_ack(self, message: MessageBase, failure: Error, /) -> bool:
        """
        Called when an ack has failed. Returns whether the owner keeps the ack, and sends it when
        the server is back.
        """


class MessageBase:
    """The fields of a message. Times are in UTC."""

    __slots__ = ("_asked", "_home", "_lost", "_processing", "_row", "_settled", "queue")

    queue: str
    """The name of the message's queue; in a queue with partitions, of its partition."""

    def __init__(self, home: Home, queue: str, row: _core.MessageRow) -> None:
        self._home = home
        self._row = row
        self._asked = False  # whether a settling verb was called
        self._settled = False
        self._lost = False
        self._processing: Processing | None = None
        self.queue = queue

    # Made from core/results.toml by core/verbs.py: the fields of Message.
    @property
    def id(self) -> str:
        """The id, the same on every delivery."""
        return self._row[0]

    @property
    def body(self) -> bytes:
        """The bytes that were pushed."""
        return self._row[1]

    @property
    def headers(self) -> dict[str, str]:
        """The headers as they were pushed: texts by name, in the producer's order."""
        return self._row[2]

    @property
    def ticket(self) -> str:
        """
        Names this delivery, for the calls that settle messages by their tickets; empty unless
        leased.
        """
        return self._row[3]

    @property
    def attempt(self) -> int:
        """
        Failures since the push or the last kick and, while leased, this delivery: 1 for the first.
        """
        return self._row[4]

    @property
    def max_attempts(self) -> int | None:
        """How many failures make the message dead. None: no limit."""
        return self._row[5] or None

    @property
    def crashes(self) -> int:
        """Deliveries since the push or the last kick whose lease ended."""
        return self._row[6]

    @property
    def max_crashes(self) -> int | None:
        """How many crashes make the message dead. None: no limit."""
        return self._row[7] or None

    @property
    def deliveries(self) -> int:
        """All deliveries: this one, crashed and released ones, and those before a kick."""
        return self._row[8]

    @property
    def priority(self) -> int:
        """1 high, 0 normal, -1 low."""
        return self._row[9]

    @property
    def state(self) -> State:
        """The state when the server answered."""
        return STATES[self._row[10]]

    @property
    def time(self) -> datetime | None:
        """
        When the message is due (delayed), its lease ends (leased), or it became dead (dead), by the
        server's clock. None: it is ready.
        """
        return optional_moment(self._row[11])

    @property
    def created(self) -> datetime:
        """When the message was pushed, by the producer's clock."""
        return moment(self._row[12])

    @property
    def expires(self) -> datetime | None:
        """When the ttl ends, by the server's clock. None: never."""
        return optional_moment(self._row[13])

    @property
    def error(self) -> str:
        """The text of the last retry or bury; empty if there was none."""
        return self._row[14]

    @property
    def drop(self) -> bool:
        """Whether the message is deleted where it would become dead."""
        return self._row[15]

    @property
    def dead_letter(self) -> str | None:
        """
        The queue to which the message moves where it would become dead. None: it stays in its
        queue.
        """
        return self._row[16] or None

    @property
    def group(self) -> str | None:
        """The group with which the message takes turns. None: it has none."""
        return self._row[17] or None

    @property
    def progress(self) -> float | None:
        """
        How far the job of the message has come, from 0 to 1, as the job said. None: it said
        nothing.
        """
        return None if self._row[18] < 0 else self._row[18]

    @property
    def progress_note(self) -> str:
        """What the job said with its progress; empty: nothing."""
        return self._row[19]

    @property
    def keep(self) -> float | None:
        """For how long the end of the message is kept. None: it is not kept."""
        return self._row[20] / 1000 or None

    @property
    def batch(self) -> str | None:
        """
        The batch that counts how the message ends. None: it is in no batch, or its end was counted.
        """
        return self._row[21] or None

    @property
    def batch_queue(self) -> str | None:
        """
        The queue of its batch; in a queue of partitions the name of a partition. None: its own.
        """
        return self._row[22] or None

    # The end of what was made.

    def json(self) -> Any:
        """The value of a body that is JSON. Raises ValueError if the body is not JSON."""
        return json.loads(self.body)

    @property
    def is_schedule(self) -> bool:
        """Whether this is the message of a schedule, for fire(), and not a job."""
        return self.id.startswith("schedule:") and "schedule" in self.headers

    def __repr__(self) -> str:
        id, size = escaped(self.id), len(self.body)
        return f"<Message {id} {self.state} attempt={self.attempt} {size} bytes>"

    @property
    def lost(self) -> bool:
        """
        Whether the message is known to be lost: another consumer has it, or it was cancelled. A
        consumer's heartbeat learns this within a third of the lease. From then on the handler's
        work is in vain, and each verb raises LeaseLost.
        """
        return self._lost or (not self._settled and self._home.has_lost(self))

    def _begin_block(self, tracer: Tracer) -> None:
        """Begins the span of the message's block."""
        if not self.is_schedule:
            self._processing = tracer.processing(self)

    def _leave_block(self, error: BaseException | None) -> None:
        """Ends the span of the block, with this error. The message may not be settled yet."""
        if self._processing:
            self._processing.end(self, error)

    def _let_go(self) -> None:
        """
        Marks the message as settled: the end of its block does nothing, and no heartbeat extends
        its lease.
        """
        self._settled = True
        self._home.forget(self)

    def _settle(self, status: int) -> None:
        again = self._settled and not self._lost
        self._let_go()
        if status == _core.LEASE_LOST:
            text = "this program has settled it already" if again else _core.status_text(status)
            self._lost = not again
            raise LeaseLost(f"message {escaped(self.id)}, attempt {self.attempt}: {text}")

    def _keeps_ack(self, failure: Error) -> bool:
        """
        Called when an ack has failed in an outage. Returns whether the consumer keeps the ack, to
        send it later.
        """
        kept = self._home.keep_ack(self, failure)
        self._settled = self._settled or kept
        return kept

    def _leave_to_lease(self) -> None:
        """
        Called at the end of a with block in which a settling call failed, and the block handled the
        error. The outcome of that call may not be known, so an ack now could lose the message.
        """
        self._let_go()
        log.warning(
            "message %s: its handler's call to settle it failed or was ended, so it is not "
            "acknowledged: unless that call took effect, it is delivered again when its lease ends",
            self.id,
        )

    def _log_exhausted(self, error: str) -> None:
        """Logs that the failure of a message was its last."""
        log.warning(
            "message %s: its attempts are exhausted by attempt %d: %s", self.id, self.attempt, error
        )


def described(error: BaseException) -> str:
    """The text of an exception that is stored with a message."""
    try:
        text = str(error)
    except Exception:  # the __str__ of the program's class failed
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def noted(text: str | BaseException, name: str) -> bytes:
    """The bytes for the core of a text, or of an exception's description."""
    if isinstance(text, BaseException):
        text = described(text)
    elif not isinstance(text, str):
        raise TypeError(f"{name}: {text!r} is neither a text nor an exception")
    return encoded(text)


def listed(items: Iterable[R], name: str) -> Iterable[R]:
    """Returns the items. Raises TypeError for a single text."""
    if isinstance(items, (str, bytes, bytearray)):
        raise TypeError(f"{name}: a list is wanted, not one {type(items).__name__}")
    return items


def tickets(
    queue: str, messages: Iterable[MessageBase | str], partitioned: bool = False
) -> Iterator[str]:
    """
    The tickets of messages, or tickets as they are. Raises InvalidError for a message of another
    queue.
    """
    prefix = _core.partition_name(queue, 0)[:-1]
    for item in messages:
        if not isinstance(item, MessageBase):
            yield item
        elif item.queue == queue or (partitioned and item.queue.startswith(prefix)):
            yield item.ticket
        else:
            raise InvalidError(f"the message is of the queue {item.queue}, not of {queue}")


def settled(messages: Iterable[MessageBase | str]) -> None:
    """Marks messages as settled."""
    for item in messages:
        if isinstance(item, MessageBase):
            item._let_go()


def state_number(name: StateName) -> int:
    """The core's number for a state."""
    number = _NUMBERS.get(name)
    if number is None:
        raise InvalidError(f"state: {name!r} is not one of {', '.join(_NUMBERS)}")
    return number
