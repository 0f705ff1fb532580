"""The consumer's side: of one queue, and of several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import Literal, Self, overload

from dueq import _source
from dueq._pool import Pool
from dueq.errors import InvalidError
from dueq.message import Message


class Source(_source.Origin):
    """What Queue and Queues have in common: one takes messages from them, and closes them."""

    def __init__(self, pool: Pool, names: tuple[str, ...], order: int | None = None) -> None:
        super().__init__(pool, names, order)
        self._pool = pool

    @overload
    def reserve(self, timeout: None, lease: float | timedelta | None = None) -> Message: ...
    @overload
    def reserve(
        self, timeout: float | timedelta = 0.0, lease: float | timedelta | None = None
    ) -> Message | None: ...
    def reserve(
        self,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> Message | None:
        """
        Takes the next message that is ready, or None.

        timeout  seconds (or a timedelta) to wait for one; None: for ever, and never None then
        lease    seconds (or a timedelta) until it comes back unless it is acknowledged, retried,
                 released, buried or extended; None: the message's own, else 30

        A paused queue has none ready; a wait goes on until it is resumed.

            while message := queue.reserve(timeout=10):
                with message:
                    work(message.body)
        """
        messages = self.reserve_many(1, timeout, lease)
        return messages[0] if messages else None

    def reserve_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> list[Message]:
        """
        Takes up to `count` (1 to 200) messages, all of one queue; waits for the first only. As
        reserve().
        """
        pool = self._pool
        queue, rows = pool.run(_source.reserve(self, count, timeout, lease))
        return [Message(pool, queue, row) for row in rows]

    def __iter__(self) -> Iterator[Message]:
        """Yields messages as they become ready, for ever, or until close() is called."""
        while not self._pool.closed:
            try:
                message = self.reserve(timeout=None)
            except InvalidError:
                if self._pool.closed:
                    return
                raise
            yield message

    def close(self) -> None:
        """Closes the connections. Calls under way in other threads end with an error soon after."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Queues(Source):
    """
    Several queues of one server, to wait for messages of all of them at once.

    names  1 to 64 different names of queues
    url    as of dueq.Queue
    order  which queue goes first where several have messages. "preference": that which comes first
           in `names`, always. "round robin": in turn.

    Each message tells its queue by Message.queue. Everything else is as with dueq.Queue: threads,
    fork(), signals, pickle and errors.

        for message in dueq.Queues(["urgent", "mail"]):
            with message:
                handlers[message.queue](message.body)
    """

    def __init__(
        self,
        names: Iterable[str],
        url: str | None = None,
        order: Literal["preference", "round robin"] = "preference",
    ) -> None:
        self.names, number = _source.several(names, order)
        self.order = order
        self._url = url
        super().__init__(Pool(url, *self.names), self.names, number)

    def __reduce__(self) -> tuple[type[Queues], tuple[tuple[str, ...], str | None, str]]:
        return type(self), (self.names, self._url, self.order)
