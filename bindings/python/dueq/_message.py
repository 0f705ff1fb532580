"""A message, and its verbs for both faces."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from dueq import _core
from dueq._shown import shown
from dueq._steps import Call, Steps, on
from dueq.draft import Draft, rows
from dueq.errors import Error, InvalidError, LeaseLost
from dueq.times import duration_ms

if TYPE_CHECKING:
    from dueq.draft import Body

_log = logging.getLogger("dueq")


class State(StrEnum):
    """Where a message is in its life."""

    READY = _core.state_name(_core.READY)
    DELAYED = _core.state_name(_core.DELAYED)
    LEASED = _core.state_name(_core.LEASED)
    DEAD = _core.state_name(_core.DEAD)


STATES = {
    number: State(_core.state_name(number))
    for number in (_core.READY, _core.DELAYED, _core.LEASED, _core.DEAD)
}


class Home(Protocol):
    """Where a message is from, and what runs its verbs."""

    def forget(self, message: Fields, /) -> None:
        """A verb has settled it."""


class Fields:
    """What a message is."""

    __slots__ = ("_asked", "_home", "_row", "_settled", "queue")

    queue: str
    """The name of the queue that it is from."""

    def __init__(self, home: Home, queue: str, row: _core.MessageRow) -> None:
        self._home = home
        self._row = row
        self._asked = False  # a verb was called that settles it
        self._settled = False
        self.queue = queue

    @property
    def id(self) -> str:
        """The same on every delivery."""
        return self._row[0]

    @property
    def ticket(self) -> str:
        """This delivery. It may be kept elsewhere and given to Queue.ack_many()."""
        return self._row[1]

    @property
    def body(self) -> bytes:
        """The bytes that were pushed."""
        return self._row[2]

    @property
    def headers(self) -> dict[str, str]:
        """Texts by name, as they were pushed."""
        return self._row[3]

    @property
    def attempt(self) -> int:
        """Failures since the last kick and, when leased, this delivery: 1 on the first."""
        return self._row[4]

    @property
    def max_attempts(self) -> int | None:
        """Failures before it is at its end; None: without limit."""
        return self._row[5] or None

    @property
    def state(self) -> State:
        """Where it was when the server answered, as `time`."""
        return STATES[self._row[6]]

    @property
    def time(self) -> float | None:
        """Seconds since 1970. delayed: due; leased: end of lease; dead: its death; ready: None."""
        return self._row[7] / 1000 if self._row[7] else None

    @property
    def created(self) -> float:
        """When it was pushed, by the producer's clock, in seconds since 1970."""
        return self._row[8] / 1000

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
        """Crashes before it is at its end; None: without limit."""
        return self._row[11] or None

    @property
    def deliveries(self) -> int:
        """All of them, this one, crashed and released ones and those before a kick included."""
        return self._row[12]

    @property
    def priority(self) -> int:
        """1 high, 0 normal, -1 low."""
        return self._row[13]

    @property
    def expires(self) -> float | None:
        """When its time to live ends, by the server, in seconds since 1970; None: never."""
        return self._row[14] / 1000 if self._row[14] else None

    @property
    def drop(self) -> bool:
        """Whether it is gone at its end, and not kept as dead."""
        return bool(self._row[15])

    @property
    def dead_letter(self) -> str | None:
        """The queue that it moves to at its end; None: it is dead in its own."""
        return self._row[16] or None

    def __repr__(self) -> str:
        return (
            f"<Message {shown(self.id)} {self.state} attempt={self.attempt} {len(self.body)} bytes>"
        )

    def _let_go(self) -> None:
        """The end of a block does nothing more with it, and no heartbeat keeps its lease."""
        self._settled = True
        self._home.forget(self)

    def _settle(self, status: int) -> None:
        self._let_go()
        if status == _core.LEASE_LOST:
            text = _core.status_text(status)
            raise LeaseLost(f"message {shown(self.id)}, attempt {self.attempt}: {text}")


def ack(
    self: Fields, push: Iterable[Body | Draft] | None, to: str | None
) -> Steps[list[str | None] | None]:
    self._asked = True
    drafts = () if push is None else tuple(rows(push))
    if not drafts:
        if push is None and to is not None:
            raise InvalidError("to: says where successors go, and there are none")
        self._settle((yield on(self.queue, _core.ack_submit, (self.ticket,))).status)
        return None if push is None else []
    answer = yield Call(
        lambda link: _core.ack_push_submit(
            link.queues[self.queue], self.ticket, link.target(to), drafts
        )
    )
    self._settle(answer.outcomes[0][0])
    return [id if status == _core.OK else None for status, id in answer.outcomes[1:]]


def retry(self: Fields, delay: float | timedelta | None = None, error: str = "") -> Steps[bool]:
    """
    Gives the message back to be delivered again. Raises LeaseLost.

    delay  in so many seconds (or a timedelta); None: by its backoff, at once if it has none
    error  is kept with it, up to 4,096 bytes

    False: its attempts are used up, and this was its end: it is dead or, by its policy, moved
    to its dead-letter queue or gone.
    """
    self._asked = True
    milliseconds = _core.BY_POLICY if delay is None else duration_ms(delay, "delay")
    answer = yield on(self.queue, _core.retry_submit, self.ticket, milliseconds, encoded(error))
    self._settle(answer.status)
    return answer.status != _core.BURIED


def release(self: Fields, delay: float | timedelta = 0.0) -> Steps[None]:
    """
    Gives the message back as if it had not been delivered: it does not count as an attempt. In
    `delay` seconds (or a timedelta); 0: now, at the front of the line. Raises LeaseLost.
    """
    self._asked = True
    milliseconds = duration_ms(delay, "delay")
    answer = yield on(self.queue, _core.release_submit, (self.ticket,), milliseconds)
    self._settle(answer.status)


def extend(self: Fields, seconds: float | timedelta) -> Steps[None]:
    """Sets the lease to end so many seconds (or a timedelta) from now. Raises LeaseLost."""
    milliseconds = duration_ms(seconds, "seconds")
    answer = yield on(self.queue, _core.extend_submit, (self.ticket,), milliseconds)
    if answer.status == _core.LEASE_LOST:
        self._settle(answer.status)


def bury(self: Fields, reason: str = "") -> Steps[None]:
    """
    Ends the message, with a reason of up to 4,096 bytes as its error: it is dead or, by its
    policy, moved to its dead-letter queue or gone. Raises LeaseLost.
    """
    self._asked = True
    answer = yield on(self.queue, _core.bury_submit, self.ticket, encoded(reason))
    self._settle(answer.status)


def leave(self: Fields, error: BaseException | None) -> Steps[None]:
    """The end of a with block, which raised or not."""
    if self._settled:
        return
    try:
        if error is not None:
            text = described(error)
            if not (yield from retry(self, error=text)):
                used_up(self, text)
        elif self._asked:
            left(self)
        else:
            yield from ack(self, None, None)
    except Error as failure:
        self._let_go()
        if error is None:
            raise
        # The block's own exception is the news; the message comes back when its lease ends.
        _log.warning("message %s could not be given back: %s", self.id, failure)


def left(self: Fields) -> None:
    """
    The end of a with block that asked for a settlement, and handled its failure: what became of it
    may not be known, and an ack could lose the message.
    """
    self._let_go()
    _log.warning(
        "message %s: what its handler did to settle it has failed, so it is left to its lease: if "
        "that took no effect, it is delivered again when the lease ends",
        self.id,
    )


def described(error: BaseException) -> str:
    """The text that a message keeps of an exception."""
    try:
        text = str(error)
    except Exception:  # of the handler's own class: it must not take the place of the news
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def used_up(message: Fields, text: str) -> None:
    """Tells the log that the failure of a message was its end."""
    _log.warning(
        "message %s: its attempts are used up by attempt %d: %s", message.id, message.attempt, text
    )


def encoded(text: str) -> bytes:
    """The text of an error as the core takes it."""
    # Texts of exceptions can hold what has no UTF-8, such as the bytes of a file's name.
    return text.encode("utf-8", "backslashreplace")
