"""What the queues of other systems have in common, in both faces."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from dueq import _core
from dueq._call import Answer, Call, bounded, on
from dueq._link import Linked
from dueq._log import log
from dueq.errors import Error, InvalidError
from dueq.times import patience_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    Mover: TypeAlias = Callable[[_core.Handle, int, int], int]

# Before an agent goes on after a failure.
PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """What such a queue holds, counted by the server at one moment."""

    ready: int
    """In the list that is taken from."""
    delayed: int
    """To go there when they are due."""
    reserved: int
    """Popped and not finished; of Laravel alone."""
    quarantined: int
    """Damaged, quarantined and still there."""
    next: float | None
    """The next due time, in seconds since 1970."""
    now: float
    """The server's clock, in seconds since 1970."""

    @classmethod
    def of(cls, answer: Answer) -> Sizes:
        """The sizes that the core has read."""
        row = answer.sizes
        assert row is not None
        next_ms, now_ms = row[4:]
        return cls(*row[:4], next=next_ms / 1000 if next_ms else None, now=now_ms / 1000)


@dataclass(frozen=True, slots=True)
class Moved:
    """What a step that moves due items of such a queue did."""

    moved: int
    quarantined: int
    """Damaged and quarantined, with a warning to the log."""
    next: float | None
    """The next due time, in seconds since 1970 by the server's clock."""

    @classmethod
    def of(cls, answer: Answer) -> Moved:
        """The step that the core has made."""
        row = answer.moved or (0, 0, 0)
        return cls(row[0], row[1], row[2] / 1000 if row[2] else None)


class Foreign(Linked):
    """A queue of another system. Its label is its name there, and in its links."""

    _mover: ClassVar[Mover]
    """The call that moves what is due."""

    def _move(
        self,
        timeout: float | timedelta | None = None,
        most: int = _core.MAX_BATCH,
        over: Callable[[], object] | None = None,
    ) -> Call:
        timeout_ms = patience_ms(timeout)
        call = on(self._label, type(self)._mover, bounded(most), timeout_ms)
        return call._replace(waits=timeout_ms != 0, over=over)

    def _moved(self, answer: Answer) -> Moved:
        moved = Moved.of(answer)
        self._warn(moved.quarantined)
        return moved

    def _warn(self, quarantined: int) -> None:
        if quarantined:
            log.warning("%s: %d damaged entries were quarantined", self._label, quarantined)

    def _survive(self, error: Error) -> None:
        """An agent goes on after a failure that may pass, and raises any other."""
        if not error.retriable:
            raise error
        log.warning("%s: moving what is due goes on after: %s", self._label, error)

    def _log_end(self, error: Exception) -> None:
        log.error("%r: nothing is moved any more: %s", self, error)


def json_text(value: object, what: str) -> str:
    """JSON as it is shortest. InvalidError for what JSON cannot express."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"{what}: {error}") from None
