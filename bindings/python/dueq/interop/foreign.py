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
from dueq.times import moment, optional_moment, patience_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    Mover: TypeAlias = Callable[[_core.Handle, int, int], int]


@dataclass(frozen=True, slots=True)
class Sizes(Counted):
    """The counts of such a queue, taken by the server at one moment. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of Sizes.
    ready: int
    """Items in the list from which consumers take."""
    delayed: int
    """Items that are moved to that list when they are due."""
    reserved: int
    """Jobs that were popped and are not finished; 0 where the system does not know that."""
    quarantined: int
    """Damaged entries in the quarantine."""
    next: datetime | None
    """The next due time. None: nothing is delayed."""
    now: datetime
    """The server's clock when it counted."""

    @classmethod
    def from_row(cls, row: _core.SizesRow) -> Sizes:
        """Converts the row of the core."""
        return cls(
            *row[:4],
            optional_moment(row[4]),
            moment(row[5]),
        )

    # The end of what was made.

    @classmethod
    def of(cls, answer: Answer) -> Sizes:
        """Converts the answer of the core."""
        assert answer.sizes is not None
        return cls.from_row(answer.sizes)


@dataclass(frozen=True, slots=True)
class Moved(Counted):
    """The result of a step that moves due items of such a queue. Times are in UTC."""

    # Made from core/results.toml by core/verbs.py: the fields of Moved.
    moved: int
    """How many items were moved."""
    quarantined: int
    """Damaged entries that were quarantined."""
    next: datetime | None
    """
    The next due time by the server's clock. None: nothing is delayed, or this step found nothing
    due.
    """

    @classmethod
    def from_row(cls, row: _core.MovedRow) -> Moved:
        """Converts the row of the core."""
        return cls(
            *row[:2],
            optional_moment(row[2]),
        )

    # The end of what was made.


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
        moved = Moved.from_row(answer.moved or (0, 0, 0))
        self._warn(moved.quarantined)
        return moved

    def _warn(self, quarantined: int) -> None:
        if quarantined:
            log.warning("%s: %d damaged entries were quarantined", self._label, quarantined)

    def _log_end(self, error: Exception) -> None:
        log.error("%r: moving due items has ended: %s", self, error)
