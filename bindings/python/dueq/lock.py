"""A lock of a queue."""

from __future__ import annotations

from types import TracebackType

from dueq import _lock
from dueq._pool import Pool, blocking


class Lock(_lock.Owned):
    """
    A lock that is held, from Queue.lock(). It ends by itself unless it is extended.

    As a context manager it is released at the end of the block, which raises LeaseLost if it has
    ended before; a block that raises goes on with its own exception. A lock that the block itself
    has released is left alone.
    """

    _home: Pool

    extend = blocking(_lock.extend)
    release = blocking(_lock.release)

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._home.run(_lock.leave(self, error))
