"""Where a tracer hooks in: dueq.opentelemetry sets one. Without it nothing is traced."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from dueq import _core
    from dueq._message import Home, MessageBase


class Sending:
    """Messages on their way to a queue, in one call."""

    __slots__ = ("outcomes", "rows")

    rows: tuple[_core.DraftRow, ...]
    """What is to be sent. A tracer's have its headers."""
    outcomes: list[tuple[int, str]]
    """Status and id of each, once the server has answered."""

    def __init__(self, rows: tuple[_core.DraftRow, ...]) -> None:
        self.rows = rows
        self.outcomes = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Processing(Protocol):
    """The block of a message."""

    def end(self, message: MessageBase, error: BaseException | None) -> None:
        """It has ended; once more does nothing. error: what it raised."""


class Tracer(Protocol):
    """What is told of messages."""

    def sending(self, home: Home, queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
        """Messages are to be sent to a queue."""

    def created(self, home: Home, queue: str, row: _core.DraftRow) -> _core.DraftRow:
        """A message is handed to a pusher. Returns it with headers."""

    def received(self, messages: Sequence[MessageBase], since: int) -> None:
        """A reserve that began at `since`, nanoseconds since 1970, has got messages."""

    def processing(self, message: MessageBase) -> Processing:
        """The block of a message begins."""

    def settling(
        self, verb: str, home: Home, queue: str, messages: Sequence[MessageBase | str]
    ) -> AbstractContextManager[None]:
        """A call is to settle messages, or tickets, of a queue."""

    def settled(self, verb: str, message: MessageBase) -> None:
        """A message is settled with its consumer's next request."""


tracer: Tracer | None = None


def sending(home: Home, queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
    """Around a call that sends these."""
    return tracer.sending(home, queue, rows) if tracer else Sending(rows)


def settling(
    verb: str, home: Home, queue: str, messages: Sequence[MessageBase | str]
) -> AbstractContextManager[None]:
    """Around a call that settles these."""
    return tracer.settling(verb, home, queue, messages) if tracer else nullcontext()
