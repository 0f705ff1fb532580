"""The hook for a tracer, which dueq.opentelemetry sets. Without a tracer nothing is traced."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from dueq import _core
    from dueq._message import Home, MessageBase


class Sending:
    """The messages that one call pushes."""

    __slots__ = ("outcomes", "rows")

    rows: tuple[_core.DraftRow, ...]
    """The rows to push. A tracer adds headers to them."""
    outcomes: list[tuple[int, str]]
    """Status and id of each row, once the server has answered."""

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
    """The span of a message's block."""

    def end(self, message: MessageBase, error: BaseException | None) -> None:
        """
        Called when the block has ended. A second call does nothing. error: what the block raised.
        """


class Tracer(Protocol):
    """Receives events of messages."""

    def sending(self, home: Home, queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
        """Called before messages are pushed to a queue."""

    def created(self, home: Home, queue: str, row: _core.DraftRow) -> _core.DraftRow:
        """Called when a pusher gets a message. Returns its row, with headers added."""

    def received(self, messages: Sequence[MessageBase], since: int) -> None:
        """
        Called when a reserve has got messages. since: when the reserve began, in nanoseconds since
        1970.
        """

    def processing(self, message: MessageBase) -> Processing:
        """Called when the block of a message begins."""

    def settling(
        self, verb: str, home: Home, queue: str, messages: Sequence[MessageBase | str]
    ) -> AbstractContextManager[None]:
        """Called before a call settles messages, or tickets, of a queue."""

    def settled(self, verb: str, message: MessageBase) -> None:
        """Called when a message will be settled with its consumer's next request."""


tracer: Tracer | None = None


def sending(home: Home, queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
    """The block around a call that pushes these rows."""
    return tracer.sending(home, queue, rows) if tracer else Sending(rows)


def settling(
    verb: str, home: Home, queue: str, messages: Sequence[MessageBase | str]
) -> AbstractContextManager[None]:
    """The block around a call that settles these messages."""
    return tracer.settling(verb, home, queue, messages) if tracer else nullcontext()
