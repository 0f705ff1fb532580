"""Decisions of a job on how to settle its message, where an ack without successors does not do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from dueq.draft import Body, Draft


class Decided(BaseException):
    """
    Raised by Job.retry(), fail() and release(). It ends the handler, and the worker then settles
    the message as asked. No `except Exception` catches this.
    """


@dataclass(frozen=True, slots=True)
class Retry:
    """Retries the message. delay: seconds; None: by the message's backoff."""

    delay: float | None
    error: str | BaseException

    def settle(self, message: Any) -> Any:
        """Returns False if the attempts are exhausted."""
        return message.retry(self.delay, self.error)


@dataclass(frozen=True, slots=True)
class Fail:
    """Buries the message, which then is not tried again."""

    error: str | BaseException

    def settle(self, message: Any) -> Any:
        return message.bury(self.error)


@dataclass(frozen=True, slots=True)
class Release:
    """Releases the message. delay: seconds."""

    delay: float

    def settle(self, message: Any) -> Any:
        return message.release(self.delay)


@dataclass(frozen=True, slots=True)
class Push:
    """
    Acknowledges the message and pushes successors. to: their queue; None: that of the message.
    result: is kept with the end of the message; None: no result is.
    """

    drafts: tuple[Body | Draft, ...]
    to: str | None
    result: bytes | None = None

    def settle(self, message: Any) -> Any:
        """Returns the ids of the successors; None for a duplicate."""
        return message.ack(push=self.drafts, to=self.to, result=self.result)


@dataclass(frozen=True, slots=True)
class Return:
    """Acknowledges the message with a result, and without successors."""

    result: bytes

    def settle(self, message: Any) -> Any:
        return message.ack(result=self.result)


Decision: TypeAlias = Retry | Fail | Release | Push | Return
"""
settle() calls a verb of the message. With a message for asyncio, the caller awaits the result.
"""
