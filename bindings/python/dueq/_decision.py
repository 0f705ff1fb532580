"""What a job wants done with its message, in place of an ack without successors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from dueq.draft import Body, Draft


class Decided(BaseException):
    """
    Raised by Job.retry(), fail() and release(): it ends the handler, and the worker does with the
    message what was asked for. No `except Exception` catches it.
    """


@dataclass(frozen=True, slots=True)
class Retry:
    """delay: seconds; None: by the message's backoff."""

    delay: float | None
    error: str | BaseException

    def settle(self, message: Any) -> Any:
        """True; False: the attempts are exhausted."""
        return message.retry(self.delay, self.error)


@dataclass(frozen=True, slots=True)
class Fail:
    """The message is not tried again."""

    error: str | BaseException

    def settle(self, message: Any) -> Any:
        return message.bury(self.error)


@dataclass(frozen=True, slots=True)
class Release:
    """delay: seconds."""

    delay: float

    def settle(self, message: Any) -> Any:
        return message.release(self.delay)


@dataclass(frozen=True, slots=True)
class Push:
    """An ack with successors. to: their queue; None: that of the message."""

    drafts: tuple[Body | Draft, ...]
    to: str | None

    def settle(self, message: Any) -> Any:
        """The ids of the successors, None for a duplicate."""
        return message.ack(push=self.drafts, to=self.to)


Decision: TypeAlias = Retry | Fail | Release | Push
"""settle() calls a verb of the message: that of an event loop is to be awaited."""
