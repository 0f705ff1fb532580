"""Where messages come from, for both faces."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta

from dueq import _core
from dueq._link import Answer, Link, Links
from dueq._steps import Call, Steps, on
from dueq.errors import InvalidError
from dueq.times import optional_ms, patience_ms

_log = logging.getLogger("dueq")

_ORDERS = {"preference": _core.PREFERENCE, "round robin": _core.ROUND_ROBIN}


class Origin:
    """One queue, or several at once: where messages are reserved. order: None of one."""

    def __init__(self, home: Links, names: tuple[str, ...], order: int | None = None) -> None:
        self.names = names
        self._home = home
        self._order = order

    @property
    def url(self) -> str:
        """Where the server is, without the password."""
        return self._home.url()

    def __repr__(self) -> str:
        closed = " closed" if self._home.closed else ""
        return f"<{type(self).__name__} {', '.join(self.names)}{closed}>"

    @property
    def number(self) -> int:
        """The order of several in the core."""
        return self._order or _core.PREFERENCE

    def _submit(self, link: Link, count: int, timeout_ms: int, lease_ms: int) -> int:
        handles = tuple(link.queues.values())
        if self._order is None:
            return _core.reserve_submit(handles[0], count, timeout_ms, lease_ms)
        return _core.reserve_any_submit(handles, self._order, count, timeout_ms, lease_ms)


def several(names: Iterable[str], order: str) -> tuple[tuple[str, ...], int]:
    """What dueq.Queues was given, checked."""
    if isinstance(names, str):
        raise TypeError("names: one name stands where several are wanted: put it in a list")
    names = tuple(names)
    if not 0 < len(set(names)) == len(names) <= _core.MAX_QUEUES:
        raise InvalidError(f"names: not 1 to {_core.MAX_QUEUES} different ones")
    if order not in _ORDERS:
        raise InvalidError(f"order: {order!r} is not one of {', '.join(_ORDERS)}")
    return names, _ORDERS[order]


def reserve(
    self: Origin,
    count: int,
    timeout: float | timedelta | None,
    lease: float | timedelta | None,
) -> Steps[tuple[str, list[_core.MessageRow]]]:
    """The messages, and the queue that they are from."""
    most = min(max(count, 0), _core.MAX_BATCH + 1)
    timeout_ms, lease_ms = patience_ms(timeout), optional_ms(lease, "lease")

    def undo(answer: Answer) -> Iterable[Call]:
        tickets = tuple(row[1] for row in answer.messages)
        queue = self.names[answer.queue]
        return [on(queue, _core.release_submit, tickets, 0)] if tickets else []

    answer = yield Call(
        lambda link: self._submit(link, most, timeout_ms, lease_ms), timeout_ms != 0, undo
    )
    if answer.damaged:
        label = ", ".join(self.names)
        _log.warning("%s: %d damaged entries were set aside", label, answer.damaged)
    return self.names[answer.queue], answer.messages
