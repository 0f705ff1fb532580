"""A message as a consumer holds it."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, overload

from dueq import _message
from dueq._message import Fields
from dueq._pool import Pool, blocking

if TYPE_CHECKING:
    from dueq.consumer import Consumer
    from dueq.draft import Body, Draft


class Message(Fields):
    """
    A message, from reserve(), Queue.find() or Queue.peek().

    As a context manager it is acknowledged at the end of the block. When the block raises, it is
    given back to be tried again after its backoff, with "ClassName: text" of the exception as its
    error, and the exception goes on. A message that the block itself has acknowledged, retried,
    released or buried is left alone. Where such a call failed, and the block went on and did not
    raise, the message is not acknowledged either: a warning is logged, and unless that call took
    effect after all it is delivered again when its lease ends.
    """

    __slots__ = ()

    _home: Pool | Consumer

    @overload
    def ack(self) -> None: ...
    @overload
    def ack(self, *, push: Iterable[Body | Draft], to: str | None = None) -> list[str | None]: ...
    def ack(
        self, *, push: Iterable[Body | Draft] | None = None, to: str | None = None
    ) -> list[str | None] | None:
        """
        Finishes the message: it is gone. Raises LeaseLost.

        push  up to 200 successors, stored in the same step: all or, with the lease lost, none.
              Their ids are returned in order, None for a duplicate.
        to    the queue that these go to, by name; None: the message's own
        """
        return self._home.run(_message.ack(self, push, to))

    retry = blocking(_message.retry)
    release = blocking(_message.release)
    extend = blocking(_message.extend)
    bury = blocking(_message.bury)

    def __enter__(self) -> Message:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._settled:
            self._home.leave(self, error)
