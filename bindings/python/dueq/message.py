"""A message as a consumer holds it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, overload

from dueq import _core
from dueq._pool import Pool
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


class Message:
    """
    A message, from reserve(), Queue.find() or Queue.peek().

    As a context manager it is acknowledged at the end of the block. When the block raises, it is
    given back to be tried again after its backoff, with "ClassName: text" of the exception as its
    error, and the exception goes on. A message that the block itself has acknowledged, retried,
    released or buried is left alone.
    """

    __slots__ = (
        "_pool",
        "_settled",
        "attempt",
        "body",
        "crashes",
        "created",
        "dead_letter",
        "deliveries",
        "drop",
        "error",
        "expires",
        "headers",
        "id",
        "max_attempts",
        "max_crashes",
        "priority",
        "queue",
        "state",
        "ticket",
        "time",
        "to",
    )

    queue: str
    """The name of the queue that it is from."""
    id: str
    """The same on every delivery."""
    ticket: str
    """This delivery. It may be kept elsewhere and given to Queue.ack_many()."""
    body: bytes
    headers: dict[str, str]
    attempt: int
    """Failures since the last kick and, when leased, this delivery: 1 on the first."""
    max_attempts: int | None
    """Failures before it is at its end; None: without limit."""
    crashes: int
    """Deliveries since the last kick whose lease ended."""
    max_crashes: int | None
    """Crashes before it is at its end; None: without limit."""
    deliveries: int
    """All of them, this one included: also crashed and released ones, and those before a kick."""
    priority: int
    """1 high, 0 normal, -1 low."""
    state: State
    """Where it was when the server answered, as `time`."""
    time: float | None
    """Seconds since 1970. delayed: due; leased: end of lease; dead: when it died; ready: None."""
    created: float
    """When it was pushed, by the producer's clock, in seconds since 1970."""
    expires: float | None
    """When its time to live ends, by the server's clock, in seconds since 1970; None: never."""
    error: str
    """The text of the last retry or bury; empty if there was none."""
    drop: bool
    """Whether it is gone at its end, and not kept as dead."""
    dead_letter: str | None
    """The queue that it moves to at its end; None: it is dead in its own."""
    to: str | None
    """The queue that it moves to when it is due."""

    def __init__(self, pool: Pool, queue: str, row: _core.MessageRow) -> None:
        self._pool = pool
        self._settled = False
        self.queue = queue
        self.id, self.ticket, self.body, self.headers, self.attempt = row[:5]
        self.max_attempts = row[5] or None
        self.state = State(_core.state_name(row[6]))
        self.time = row[7] / 1000 if row[7] else None
        self.created = row[8] / 1000
        self.error, self.crashes = row[9:11]
        self.max_crashes = row[11] or None
        self.deliveries, self.priority = row[12:14]
        self.expires = row[14] / 1000 if row[14] else None
        self.drop = bool(row[15])
        self.dead_letter = row[16] or None
        self.to = row[17] or None

    def __repr__(self) -> str:
        return f"<Message {self.id} {self.state} attempt={self.attempt} {len(self.body)} bytes>"

    @overload
    def ack(self) -> None: ...
    @overload
    def ack(self, *, push: Iterable[Body | Draft], to: str | None = None) -> list[str | None]: ...
    def ack(
        self, *, push: Iterable[Body | Draft] | None = None, to: str | None = None
    ) -> list[str | None] | None:
        """
        Finishes the message: it is gone. Raises LeaseLost.

        push  up to 200 successors, stored in the same step: all or, with the lease lost, none.
              Their ids are returned in order, None for a duplicate.
        to    the queue that these go to, by name; None: the message's own
        """
        drafts = () if push is None else tuple(rows(push))
        if not drafts:
            if push is None and to is not None:
                raise InvalidError("to: says where successors go, and there are none")
            self._settle(self._pool.run(self.queue, _core.ack_submit, (self.ticket,)).status)
            return None if push is None else []
        outcomes = self._pool.call(
            lambda link: _core.ack_push_submit(
                link.queues[self.queue], self.ticket, link.target(to), drafts
            )
        ).outcomes
        self._settle(outcomes[0][0])
        return [id if status == _core.OK else None for status, id in outcomes[1:]]

    def retry(self, delay: float | timedelta | None = None, error: str = "") -> bool:
        """
        Gives the message back to be delivered again. Raises LeaseLost.

        delay  in so many seconds (or a timedelta); None: by its backoff, at once if it has none
        error  is kept with it, up to 4,096 bytes

        False: its attempts are used up, and this was its end: it is dead or, by its policy, moved
        to its dead-letter queue or gone.
        """
        milliseconds = _core.BY_POLICY if delay is None else duration_ms(delay, "delay")
        status = self._pool.run(
            self.queue, _core.retry_submit, self.ticket, milliseconds, _text(error)
        ).status
        self._settle(status)
        return status != _core.BURIED

    def release(self, delay: float | timedelta = 0.0) -> None:
        """
        Gives the message back as if it had not been delivered: it does not count as an attempt. In
        `delay` seconds (or a timedelta); 0: now, at the front of the line. Raises LeaseLost.
        """
        milliseconds = duration_ms(delay, "delay")
        self._settle(
            self._pool.run(self.queue, _core.release_submit, (self.ticket,), milliseconds).status
        )

    def extend(self, seconds: float | timedelta) -> None:
        """Sets the lease to end so many seconds (or a timedelta) from now. Raises LeaseLost."""
        milliseconds = duration_ms(seconds, "seconds")
        status = self._pool.run(
            self.queue, _core.extend_submit, (self.ticket,), milliseconds
        ).status
        if status == _core.LEASE_LOST:
            self._settle(status)

    def bury(self, reason: str = "") -> None:
        """
        Ends the message, with a reason of up to 4,096 bytes as its error: it is dead or, by its
        policy, moved to its dead-letter queue or gone. Raises LeaseLost.
        """
        self._settle(
            self._pool.run(self.queue, _core.bury_submit, self.ticket, _text(reason)).status
        )

    def __enter__(self) -> Message:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._settled:
            return
        if error is None:
            self.ack()
            return
        text = _described(error)
        try:
            if not self.retry(error=text):
                _log.warning(
                    "message %s: its attempts are used up by attempt %d: %s",
                    self.id,
                    self.attempt,
                    text,
                )
        except Error as failure:
            # The block's own exception is the news; the message comes back when its lease ends.
            _log.warning("message %s could not be given back: %s", self.id, failure)

    def _settle(self, status: int) -> None:
        self._settled = True
        if status == _core.LEASE_LOST:
            text = _core.status_text(status)
            raise LeaseLost(f"message {self.id}, attempt {self.attempt}: {text}")


def _described(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # of the handler's own class: it must not take the place of the news
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text(text: str) -> bytes:
    # Texts of exceptions can hold what has no UTF-8, such as the bytes of a file's name.
    return text.encode("utf-8", "backslashreplace")
