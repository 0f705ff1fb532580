"""The fields of a message, in both faces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from dueq import _core, _trace
from dueq._log import encoded, escaped, log
from dueq.errors import Error, InvalidError, LeaseLost
from dueq.times import moment

if TYPE_CHECKING:
    from dueq._trace import Processing

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
    """What runs the calls of a message: a pool, or a consumer."""

    @property
    def where(self) -> str:
        """The server's URL, without the password."""

    def forget(self, message: MessageBase, /) -> None:
        """A verb has settled it."""

    def has_lost(self, message: MessageBase, /) -> bool:
        """Whether it is known that another consumer has it, or that it was cancelled."""

    def keep_ack(self, message: MessageBase, failure: Error, /) -> bool:
        """Its ack has failed. Whether the ack is kept, and sent when the server is back."""


class MessageBase:
    """The fields of a message."""

    __slots__ = ("_asked", "_home", "_lost", "_processing", "_row", "_settled", "queue")

    queue: str
    """The name of its queue."""

    def __init__(self, home: Home, queue: str, row: _core.MessageRow) -> None:
        self._home = home
        self._row = row
        self._asked = False  # a verb was called that settles it
        self._settled = False
        self._lost = False
        self._processing: Processing | None = None
        self.queue = queue

    @property
    def id(self) -> str:
        """The same on every delivery."""
        return self._row[0]

    @property
    def ticket(self) -> str:
        """Names this delivery, as for Queue.ack_many()."""
        return self._row[1]

    @property
    def body(self) -> bytes:
        """The bytes that were pushed."""
        return self._row[2]

    def json(self) -> Any:
        """The value of a body that is JSON. ValueError if it is none."""
        return json.loads(self.body)

    @property
    def headers(self) -> dict[str, str]:
        """Texts by name, as they were pushed."""
        return self._row[3]

    @property
    def is_schedule(self) -> bool:
        """Whether it is the message of a schedule, for fire(), and no job."""
        return self.id.startswith("schedule:") and "schedule" in self.headers

    @property
    def attempt(self) -> int:
        """Failures since the last kick and, when leased, this delivery: 1 on the first."""
        return self._row[4]

    @property
    def max_attempts(self) -> int | None:
        """Failures until it is dead; None: no limit."""
        return self._row[5] or None

    @property
    def state(self) -> State:
        """Its state when the server answered."""
        return STATES[self._row[6]]

    @property
    def time(self) -> datetime | None:
        """
        By the server's clock, in UTC. delayed: when it is due; leased: when the lease ends; dead:
        since when; ready: None.
        """
        return moment(self._row[7]) if self._row[7] else None

    @property
    def created(self) -> datetime:
        """When it was pushed, by the producer's clock, in UTC."""
        return moment(self._row[8])

    @property
    def error(self) -> str:
        """The text of the last retry or bury; empty if there was none."""
        return self._row[9]

    @property
    def crashes(self) -> int:
        """Deliveries since the last kick whose lease ended."""
        return self._row[10]

    @property
    def max_crashes(self) -> int | None:
        """Crashes until it is dead; None: no limit."""
        return self._row[11] or None

    @property
    def deliveries(self) -> int:
        """All deliveries: with this one, crashed and released ones, and those before a kick."""
        return self._row[12]

    @property
    def priority(self) -> int:
        """1 high, 0 normal, -1 low."""
        return self._row[13]

    @property
    def expires(self) -> datetime | None:
        """When its time to live ends, by the server's clock, in UTC; None: never."""
        return moment(self._row[14]) if self._row[14] else None

    @property
    def drop(self) -> bool:
        """Whether it is deleted instead of kept as dead."""
        return bool(self._row[15])

    @property
    def dead_letter(self) -> str | None:
        """The queue that it moves to instead of being kept as dead; None: it is kept."""
        return self._row[16] or None

    def __repr__(self) -> str:
        id, size = escaped(self.id), len(self.body)
        return f"<Message {id} {self.state} attempt={self.attempt} {size} bytes>"

    @property
    def lost(self) -> bool:
        """
        Whether another consumer has it, or it was cancelled, as far as is known: a consumer's
        heartbeat learns so within a third of the lease. Then nothing that its handler does with it
        counts any more, and each verb raises LeaseLost.
        """
        return self._lost or (not self._settled and self._home.has_lost(self))

    def _begin_block(self) -> None:
        """A block of the message begins, which a tracer may want to know."""
        if _trace.tracer and not self.is_schedule:
            self._processing = _trace.tracer.processing(self)

    def _leave_block(self, error: BaseException | None) -> None:
        """What it did is over, with this error; the message may not be settled yet."""
        if self._processing:
            self._processing.end(self, error)

    def _let_go(self) -> None:
        """The end of a block does nothing more with it, and no heartbeat extends its lease."""
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
        """Its ack has failed in an outage, and its consumer sends it later."""
        kept = self._home.keep_ack(self, failure)
        self._settled = self._settled or kept
        return kept

    def _leave_to_lease(self) -> None:
        """
        The end of a with block that asked for a settlement, and handled its failure: what became of
        it may not be known, and an ack could lose the message.
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
    """The text that a message keeps of an exception."""
    try:
        text = str(error)
    except Exception:  # of the handler's own class: it must not hide this one
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def noted(text: str | BaseException, name: str) -> bytes:
    """A text, or that of an exception, as the core takes it."""
    if isinstance(text, BaseException):
        text = described(text)
    elif not isinstance(text, str):
        raise TypeError(f"{name}: {text!r} is neither a text nor an exception")
    return encoded(text)


def listed(items: Iterable[R], name: str) -> Iterable[R]:
    """The same. TypeError for one text alone."""
    if isinstance(items, (str, bytes, bytearray)):
        raise TypeError(f"{name}: a list is wanted, not one {type(items).__name__}")
    return items


def tickets(
    queue: str, messages: Iterable[MessageBase | str], partitioned: bool = False
) -> Iterator[str]:
    """The tickets of messages, or tickets. InvalidError for a message of another queue."""
    prefix = _core.partition_name(queue, 0)[:-1]
    for item in messages:
        if not isinstance(item, MessageBase):
            yield item
        elif item.queue == queue or (partitioned and item.queue.startswith(prefix)):
            yield item.ticket
        else:
            raise InvalidError(f"the message is of the queue {item.queue}, not of {queue}")


def settled(messages: Iterable[MessageBase | str]) -> None:
    """A call has settled them."""
    for item in messages:
        if isinstance(item, MessageBase):
            item._let_go()


def state_number(name: StateName) -> int:
    """The core's number of a state."""
    number = _NUMBERS.get(name)
    if number is None:
        raise InvalidError(f"state: {name!r} is not one of {', '.join(_NUMBERS)}")
    return number
