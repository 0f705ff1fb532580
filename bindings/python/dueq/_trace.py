"""Where a tracer hooks in: dueq.opentelemetry sets one. Without it nothing is traced."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from dueq import _core
    from dueq._fields import Fields


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

    def end(self, error: BaseException | None) -> None:
        """It has ended. error: what it raised."""


class Tracer(Protocol):
    """What is told of messages."""

    def sending(self, queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
        """Messages are to be sent to a queue."""

    def created(self, queue: str, row: _core.DraftRow) -> _core.DraftRow:
        """A message is handed to a pusher. Returns it with headers."""

    def received(self, messages: Sequence[Fields], since: int) -> None:
        """A reserve that began at `since`, nanoseconds since 1970, has got messages."""

    def processing(self, message: Fields) -> Processing:
        """The block of a message begins."""


tracer: Tracer | None = None


def sending(queue: str, rows: tuple[_core.DraftRow, ...]) -> Sending:
    """Around a call that sends these."""
    return tracer.sending(queue, rows) if tracer else Sending(rows)
