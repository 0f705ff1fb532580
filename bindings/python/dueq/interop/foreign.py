"""The parts that queues of other systems share, for dueq and dueq.aio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from dueq import _core
from dueq._call import Answer, Call, counted, on
from dueq._link import Linked
from dueq._log import log
from dueq.stats import Counted
from dueq.times import moment, patience_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    Mover: TypeAlias = Callable[[_core.Handle, int, int], int]


@dataclass(frozen=True, slots=True)
class Sizes(Counted):
    """The counts of such a queue, taken by the server at one moment."""

    ready: int
    """Items in the list from which consumers take."""
    delayed: int
    """Items that are moved to that list when they are due."""
    reserved: int
    """Jobs that were popped and are not finished; only in Laravel's queues."""
    quarantined: int
    """Damaged entries in the quarantine."""
    next: datetime | None
    """The next due time, in UTC. None: nothing is delayed."""
    now: datetime
    """The server's clock, in UTC."""

    @classmethod
    def of(cls, answer: Answer) -> Sizes:
        """Converts the answer of the core."""
        row = answer.sizes
        assert row is not None
        next_ms, now_ms = row[4:]
        return cls(*row[:4], next=moment(next_ms) if next_ms else None, now=moment(now_ms))


@dataclass(frozen=True, slots=True)
class Moved(Counted):
    """The result of a step that moves due items of such a queue."""

    moved: int
    quarantined: int
    """Damaged entries that were quarantined, with a warning in the log."""
    next: datetime | None
    """
    The next due time by the server's clock, in UTC. None: nothing is delayed, or this step found
    nothing due.
    """

    @classmethod
    def of(cls, answer: Answer) -> Moved:
        """Converts the answer of the core."""
        row = answer.moved or (0, 0, 0)
        return cls(row[0], row[1], moment(row[2]) if row[2] else None)


class Foreign(Linked):
    """A queue of another system. Its label is its name, also in its links."""

    _mover: ClassVar[Mover]
    """The call that moves due items."""

    def _move(
        self,
        timeout: float | timedelta | None = None,
        most: int = _core.MAX_BATCH,
        over: Callable[[], object] | None = None,
    ) -> Call:
        timeout_ms = patience_ms(timeout)
        call = on(self._label, type(self)._mover, counted(most, "most"), timeout_ms)
        return call._replace(waits=timeout_ms != 0, over=over)

    def _moved(self, answer: Answer) -> Moved:
        moved = Moved.of(answer)
        self._warn(moved.quarantined)
        return moved

    def _warn(self, quarantined: int) -> None:
        if quarantined:
            log.warning("%s: %d damaged entries were quarantined", self._label, quarantined)

    def _log_end(self, error: Exception) -> None:
        log.error("%r: moving due items has ended: %s", self, error)
