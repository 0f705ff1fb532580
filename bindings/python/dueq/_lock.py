"""A lock, and its verbs for both faces."""

from __future__ import annotations

import logging
from datetime import timedelta

from dueq import _core
from dueq._link import Links
from dueq._steps import Steps, on
from dueq.errors import Error, LeaseLost
from dueq.times import duration_ms

_log = logging.getLogger("dueq")


class Owned:
    """What a lock that is held is."""

    name: str
    token: str
    """This ownership: who has it may extend or release the lock."""

    def __init__(self, home: Links, queue: str, name: str, token: str) -> None:
        self._home = home
        self._queue = queue
        self._released = False
        self.name = name
        self.token = token

    def __repr__(self) -> str:
        return f"<Lock {self.name} of queue {self._queue}{' released' * self._released}>"

    def _check(self, status: int) -> None:
        if status == _core.LEASE_LOST:
            raise LeaseLost(f"lock {self.name}: it has ended, and may be somebody else's")


def extend(self: Owned, ttl: float | timedelta) -> Steps[None]:
    """Sets its end to so many seconds (or a timedelta) from now. Raises LeaseLost."""
    milliseconds = duration_ms(ttl, "ttl")
    answer = yield on(self._queue, _core.relock_submit, self.name, self.token, milliseconds)
    self._check(answer.status)


def release(self: Owned) -> Steps[None]:
    """Gives it up: the next one who waits gets it. Raises LeaseLost."""
    answer = yield on(self._queue, _core.unlock_submit, self.name, self.token)
    self._released = True
    self._check(answer.status)


def leave(self: Owned, error: BaseException | None) -> Steps[None]:
    """The end of a with block, which raised or not."""
    if self._released:
        return
    try:
        yield from release(self)
    except Error as failure:
        if error is None:
            raise
        # The block's own exception is the news; the lock ends by itself.
        _log.warning("lock %s could not be released: %s", self.name, failure)
