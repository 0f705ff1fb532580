# Made from dueq/aio/lock.py by bindings/python/blocking.py.
"""A lock of a queue."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType
from typing import Self

from dueq import _core
from dueq._call import on
from dueq._log import log
from dueq.blocking.pool import Pool
from dueq.errors import Error, LeaseLost
from dueq.times import duration_ms


class Lock:
    """
    A lock, acquired by Queue.lock(). It ends after its ttl unless it is extended.

    As a context manager it is released at the end of the block, which raises LeaseLost if the lock
    has ended before. If the block raises, its own exception propagates. If the block itself has
    released the lock, nothing more happens.
    """

    name: str
    token: str
    """Identifies the owner: a program that has the token may extend or release the lock."""

    def __init__(self, home: Pool, queue: str, name: str, token: str) -> None:
        self._home = home
        self._queue = queue
        self._released = False
        self.name = name
        self.token = token

    def extend(self, ttl: float | timedelta) -> None:
        """
        Extends the lock: it ends `ttl` seconds (or a timedelta) from now. Raises LeaseLost if the
        lock has ended.
        """
        ttl_ms = duration_ms(ttl, "ttl")
        call = on(self._queue, _core.relock_submit, self.name, self.token, ttl_ms)
        self._check(self._home.call(call).status)

    def release(self) -> None:
        """
        Releases the lock: the next waiting client acquires it. Raises LeaseLost if the lock has
        ended.
        """
        call = on(self._queue, _core.unlock_submit, self.name, self.token)
        answer = self._home.call(call)
        self._released = True
        self._check(answer.status)

    def __repr__(self) -> str:
        return f"<Lock {self.name} of queue {self._queue}{' released' * self._released}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._released:
            return
        try:
            self.release()
        except Error as failure:
            if error is None:
                raise
            # The block's own exception is raised; the lock ends after its ttl.
            log.warning("lock %s could not be released: %s", self.name, failure)

    def _check(self, status: int) -> None:
        if status == _core.LEASE_LOST:
            raise LeaseLost(f"lock {self.name}: it has ended, and another owner may hold it")
