"""The consumer's side: of one queue, and of several at once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import Literal, Self, overload

from dueq import _core
from dueq._pool import Answer, Pool
from dueq.errors import InvalidError
from dueq.message import Message
from dueq.times import duration_ms, optional_ms

_log = logging.getLogger("dueq")

_ORDERS = {"preference": _core.PREFERENCE, "round robin": _core.ROUND_ROBIN}


class Consumer:
    """What Queue and Queues have in common: one takes messages from them, and closes them."""

    def __init__(self, pool: Pool, label: str) -> None:
        self._pool = pool
        self._label = label

    @property
    def url(self) -> str:
        """Where the server is, without the password."""
        return self._pool.url()

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
        answer, queue = self._reserve(
            min(max(count, 0), _core.MAX_BATCH + 1),
            _core.FOREVER if timeout is None else duration_ms(timeout, "timeout"),
            optional_ms(lease, "lease"),
        )
        if answer.damaged:
            _log.warning("%s: %d damaged entries were set aside", self._label, answer.damaged)
        return [Message(self._pool, queue, row) for row in answer.messages]

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

    def __repr__(self) -> str:
        closed = " closed" if self._pool.closed else ""
        return f"<{type(self).__name__} {self._label}{closed}>"

    def _reserve(self, count: int, timeout_ms: int, lease_ms: int) -> tuple[Answer, str]:
        """The answer of a reserve, and the name of the queue that its messages are from."""
        raise NotImplementedError


class Queues(Consumer):
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
        if isinstance(names, str):
            raise TypeError("names: one name stands where several are wanted: put it in a list")
        self.names = tuple(names)
        self.order = order
        self._url = url
        if not 0 < len(set(self.names)) == len(self.names) <= _core.MAX_QUEUES:
            raise InvalidError(f"names: not 1 to {_core.MAX_QUEUES} different ones")
        if order not in _ORDERS:
            raise InvalidError(f"order: {order!r} is not one of {', '.join(_ORDERS)}")
        super().__init__(Pool(url, *self.names), ", ".join(self.names))

    def __reduce__(self) -> tuple[type[Queues], tuple[tuple[str, ...], str | None, str]]:
        return type(self), (self.names, self._url, self.order)

    def _reserve(self, count: int, timeout_ms: int, lease_ms: int) -> tuple[Answer, str]:
        answer = self._pool.call(
            lambda link: _core.reserve_any_submit(
                tuple(link.queues.values()), _ORDERS[self.order], count, timeout_ms, lease_ms
            )
        )
        return answer, self.names[answer.queue]
