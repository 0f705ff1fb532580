"""What the consumers of both faces share: what one holds, is to settle and has lost."""

from __future__ import annotations

import os
from datetime import timedelta
from threading import get_ident
from typing import TYPE_CHECKING
from weakref import WeakSet

from dueq import _core
from dueq._call import bounded
from dueq._fields import Fields, described
from dueq._link import Alone
from dueq._log import encoded, log
from dueq.errors import Error, InvalidError
from dueq.times import duration_ms, optional_ms, patience_ms

if TYPE_CHECKING:
    from dueq._link import Links

_loops: WeakSet[Loop] = WeakSet()


class Loop(Alone):
    """The core's consumer on a link of its own."""

    def __init__(
        self,
        home: Links,
        names: tuple[str, ...],
        order: int,
        prefetch: int,
        lease: float | timedelta | None,
        max_run: float | timedelta | None,
        timeout: float | timedelta | None,
        slack: float | timedelta,
    ) -> None:
        self.names = names
        self._home = home
        self._closed = True
        self._timeout_ms = patience_ms(timeout)
        self._link = home.acquire()
        try:
            self._handle = _core.consumer_open(
                tuple(self._link.queues[name] for name in names),
                order,
                bounded(prefetch),
                optional_ms(lease, "lease"),
                optional_ms(max_run, "max_run"),
                duration_ms(slack, "slack"),
            )
        except BaseException:
            home.release(self._link)
            raise
        self._last: Fields | None = None
        self._looping = False
        self._stopped = False
        self._closed = False
        self._lost = 0
        _loops.add(self)

    @property
    def lost(self) -> int:
        """
        How many messages it has lost: their lease had ended, or they were cancelled, before the end
        of a `with` block acknowledged them, or before the loop got them. Those whose lease had
        ended are delivered again.
        """
        self._count_lost()
        return self._lost

    def stop(self) -> None:
        """
        Ends the loop after its message; it cannot be started again. Prefetched messages are
        released. Other threads and signal handlers may call it.
        """
        self._stopped = True

    def forget(self, message: Fields) -> None:
        """A verb has settled a message: its lease is extended no longer."""
        _core.consumer_forget(self._handle, message.ticket)

    def settle_later(self, message: Fields, error: BaseException | None) -> bool:
        """Settles the last message at the end of its block, with the next request."""
        if message is not self._last or self._thread != get_ident() or self._closed:
            return False
        if error is None and message._asked:
            message._leave_to_lease()
            return True
        message._settled = True
        if error is None:
            _core.consumer_ack(self._handle, message.ticket)
            return True
        text = described(error)
        _core.consumer_retry(self._handle, message.ticket, _core.BY_POLICY, encoded(text))
        if message.attempt == message.max_attempts:
            message._log_exhausted(text)
        return True

    def __repr__(self) -> str:
        ended = " closed" if self._closed else " stopped" if self._stopped else ""
        return f"<{type(self).__name__} of {', '.join(self.names)}{ended}>"

    def _name(self) -> str:
        """The queue of the message that was delivered last."""
        return self.names[_core.consumer_queue(self._handle)]

    def _begin(self) -> None:
        """A loop begins, in this thread."""
        if self._looping:
            raise InvalidError("this consumer has a loop already")
        self._looping = True
        self._thread = get_ident()

    def _log_unfinished(self, error: Error) -> None:
        log.warning(
            "%r: what it holds is delivered again when the leases end, also what it was to "
            "acknowledge: %s",
            self,
            error,
        )

    def _count_lost(self) -> None:
        lost = self._lost if self._closed else _core.consumer_lost(self._handle)
        if lost != self._lost:
            log.warning(
                "%r: messages lost, whose leases had ended, or which were cancelled: %d",
                self,
                lost - self._lost,
            )
            self._lost = lost


def _forked() -> None:
    # What the parent's loops have delivered is settled by the child at once, if at all.
    for loop in _loops:
        loop._last = None


os.register_at_fork(after_in_child=_forked)
