"""A message as a consumer holds it."""

from __future__ import annotations

import logging
import traceback
from datetime import timedelta
from enum import StrEnum
from types import TracebackType

from dueq import _core
from dueq._pool import Pool
from dueq.errors import Error, LeaseLost
from dueq.times import duration_ms

_log = logging.getLogger("dueq")


class State(StrEnum):
    """Where a message is in its life."""

    READY = _core.state_name(_core.READY)
    DELAYED = _core.state_name(_core.DELAYED)
    LEASED = _core.state_name(_core.LEASED)
    DEAD = _core.state_name(_core.DEAD)


class Message:
    """
    A message, from Queue.reserve() or Queue.find().

    As a context manager it is acknowledged at the end of the block. When the block raises, it is
    given back to be tried again, with the exception's text as its error, and the exception goes on.
    A message that the block itself has acknowledged, retried or buried is left alone.
    """

    __slots__ = (
        "_pool",
        "_settled",
        "attempt",
        "body",
        "created",
        "error",
        "headers",
        "id",
        "max_attempts",
        "state",
        "ticket",
        "time",
    )

    id: str
    """The same on every delivery."""
    ticket: str
    """This delivery. It may be kept elsewhere and given to Queue.ack_many()."""
    body: bytes
    headers: dict[str, str]
    attempt: int
    """Deliveries so far, this one included: 1 on the first. A kick does not set it back."""
    max_attempts: int | None
    """Deliveries, since the last kick if there was one, before it is dead; None: without limit."""
    state: State
    """Where it was when the server answered, as `time`."""
    time: float | None
    """Seconds since 1970. delayed: due; leased: end of lease; dead: when it died; ready: None."""
    created: float
    """When it was pushed, by the producer's clock, in seconds since 1970."""
    error: str
    """The text of the last retry or bury; empty if there was none."""

    def __init__(self, pool: Pool, row: _core.MessageRow) -> None:
        self._pool = pool
        self._settled = False
        self.id, self.ticket, self.body, self.headers = row[:4]
        self.attempt = row[4]
        self.max_attempts = row[5] or None
        self.state = State(_core.state_name(row[6]))
        self.time = row[7] / 1000 if row[7] else None
        self.created = row[8] / 1000
        self.error = row[9]

    def __repr__(self) -> str:
        return f"<Message {self.id} {self.state} attempt={self.attempt} {len(self.body)} bytes>"

    def ack(self) -> None:
        """Finishes the message: it is gone. Raises LeaseLost."""
        status = self._pool.run(_core.ack_submit, (self.ticket,))[0]
        self._settle(status)

    def retry(self, delay: float | timedelta = 0.0, error: str = "") -> bool:
        """
        Gives the message back to be delivered again in `delay` seconds (or a timedelta). `error` is
        kept with it, up to 4,096 bytes. False: its attempts are used up, and it is dead now. Raises
        LeaseLost.
        """
        milliseconds = duration_ms(delay, "delay")
        status = self._pool.run(_core.retry_submit, self.ticket, milliseconds, _text(error))[0]
        self._settle(status)
        return status != _core.BURIED

    def extend(self, seconds: float | timedelta) -> None:
        """Sets the lease to end so many seconds (or a timedelta) from now. Raises LeaseLost."""
        milliseconds = duration_ms(seconds, "seconds")
        status = self._pool.run(_core.extend_submit, self.ticket, milliseconds)[0]
        if status == _core.LEASE_LOST:
            self._settle(status)

    def bury(self, reason: str = "") -> None:
        """Sets the message aside as dead, with a reason of up to 4,096 bytes. Raises LeaseLost."""
        status = self._pool.run(_core.bury_submit, self.ticket, _text(reason))[0]
        self._settle(status)

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
        try:
            text = "".join(traceback.format_exception_only(error)).strip()
            if not self.retry(error=text):
                _log.warning(
                    "message %s: dead, attempt %d was its last: %s", self.id, self.attempt, text
                )
        except Error as failure:
            # The block's own exception is the news; the message comes back when its lease ends.
            _log.warning("message %s could not be given back: %s", self.id, failure)

    def _settle(self, status: int) -> None:
        self._settled = True
        if status == _core.LEASE_LOST:
            text = _core.status_text(status)
            raise LeaseLost(f"message {self.id}, attempt {self.attempt}: {text}")


def _text(text: str) -> bytes:
    # Texts of exceptions can hold what has no UTF-8, such as the bytes of a file's name.
    return text.encode("utf-8", "backslashreplace")
