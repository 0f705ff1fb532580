"""A consumer, for both faces: what it holds, notes and has lost."""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from typing import TYPE_CHECKING
from weakref import WeakSet

from dueq import _core
from dueq._link import Alone
from dueq._message import Fields, described, encoded, left, used_up
from dueq.errors import Error
from dueq.times import duration_ms, optional_ms, patience_ms

if TYPE_CHECKING:
    from dueq._link import Link
    from dueq._source import Origin

_log = logging.getLogger("dueq")

_loops: WeakSet[Loop] = WeakSet()


class Loop(Alone):
    """The core's consumer on a link of its own."""

    def __init__(
        self,
        origin: Origin,
        link: Link,
        prefetch: int,
        lease: float | timedelta | None,
        max_run: float | timedelta | None,
        timeout: float | timedelta | None,
        slack: float | timedelta,
    ) -> None:
        self.names = origin.names
        self._timeout_ms = patience_ms(timeout)
        self._link = link
        self._handle = _core.consumer_open(
            tuple(link.queues.values()),
            origin.number,
            min(max(prefetch, 0), _core.MAX_BATCH + 1),
            optional_ms(lease, "lease"),
            optional_ms(max_run, "max_run"),
            duration_ms(slack, "slack"),
        )
        self._last: Fields | None = None
        self._looping = False
        self._stopped = False
        self._closed = False
        self._lost = 0
        _loops.add(self)

    @property
    def lost(self) -> int:
        """
        How many messages it has lost: whose lease had ended, or which were cancelled, before they
        were acknowledged by the end of a `with` block, or delivered to the loop. Those whose lease
        had ended are delivered to somebody else.
        """
        self._count_lost()
        return self._lost

    def stop(self) -> None:
        """
        Ends the loop after the message at hand, and for good. What is in hand goes back uncounted.
        It may be called by other threads and by signal handlers.
        """
        self._stopped = True

    def forget(self, message: Fields) -> None:
        """A verb has settled a message: its lease is kept no longer."""
        _core.consumer_forget(self._handle, message.ticket)

    def __repr__(self) -> str:
        ended = " closed" if self._closed else " stopped" if self._stopped else ""
        return f"<{type(self).__name__} of {', '.join(self.names)}{ended}>"

    def _name(self) -> str:
        """The queue of the message that was handed out last."""
        return self.names[_core.consumer_queue(self._handle)]

    def _note(self, message: Fields, error: BaseException | None) -> None:
        """Notes the end of the last message's block, to be sent with the next request."""
        if error is None and message._asked:
            left(message)
            return
        message._settled = True
        if error is None:
            _core.consumer_ack(self._handle, message.ticket)
            return
        text = described(error)
        _core.consumer_retry(self._handle, message.ticket, _core.BY_POLICY, encoded(text))
        if message.attempt == message.max_attempts:
            used_up(message, text)

    def _tell_unfinished(self, error: Error) -> None:
        _log.warning(
            "%r: what it holds comes back when the leases end, also what it was to acknowledge: %s",
            self,
            error,
        )

    def _count_lost(self) -> None:
        lost = self._lost if self._closed else _core.consumer_lost(self._handle)
        if lost != self._lost:
            _log.warning(
                "%r: messages lost, whose leases had ended, or which were cancelled: %d",
                self,
                lost - self._lost,
            )
            self._lost = lost


def _forked() -> None:
    # What the parent's loops have handed out is settled by the child at once, if at all.
    for loop in _loops:
        loop._last = None


os.register_at_fork(after_in_child=_forked)
