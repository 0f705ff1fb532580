"""What the queues of other systems have in common, for both faces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from dueq import _core
from dueq._link import Links
from dueq._steps import Steps, on
from dueq.errors import Error
from dueq.stats import Moved, Sizes
from dueq.times import patience_ms

if TYPE_CHECKING:
    from dueq._link import Open

_log = logging.getLogger("dueq")

# Before an agent goes on after a failure.
PAUSE_S = 1.0


class Foreign:
    """
    A queue of another system.

    label  what it is called there, and in its links
    url    as of dueq.Queue
    open   how a link opens it
    mover  the call that moves what is due
    """

    _pool: ClassVar[type[Links]]
    """The links of its face."""

    def __init__(
        self,
        label: str,
        url: str | None,
        open: Open,
        mover: Callable[[_core.Handle, int, int], int],
    ) -> None:
        self._home = self._pool(url, label, open=open)
        self._label = label
        self._mover = mover

    @property
    def url(self) -> str:
        """Where the server is, without the password."""
        return self._home.url()

    def __repr__(self) -> str:
        closed = " closed" if self._home.closed else ""
        return f"<{type(self).__name__} {self._label}{closed}>"

    def _warn(self, damaged: int) -> None:
        if damaged:
            _log.warning("%s: %d damaged entries were set aside", self._label, damaged)

    def _survive(self, error: Error) -> None:
        """An agent goes on after a failure that may pass, and raises any other."""
        if not error.retriable:
            raise error
        _log.warning("%s: moving what is due goes on after: %s", self._label, error)


def bounded(count: int) -> int:
    """A count of items that the core can refuse."""
    return min(max(count, 0), _core.MAX_BATCH + 1)


def moved(
    self: Foreign,
    timeout: float | timedelta | None = None,
    most: int = _core.MAX_BATCH,
    over: Callable[[], object] | None = None,
) -> Steps[Moved]:
    timeout_ms = patience_ms(timeout)
    call = on(self._label, self._mover, bounded(most), timeout_ms)
    answer = yield call._replace(waits=timeout_ms != 0, over=over)
    row = answer.moved or (0, 0, 0)
    self._warn(row[1])
    return Moved.from_row(row)


def sizes(self: Foreign, submit: Callable[[_core.Handle], int]) -> Steps[Sizes]:
    answer = yield on(self._label, submit)
    assert answer.sizes is not None
    return Sizes.from_row(answer.sizes)


def cleared(self: Foreign, submit: Callable[[_core.Handle], int]) -> Steps[int]:
    return (yield on(self._label, submit)).purged
