"""The consumer's side: of one queue, and of several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Literal, overload

from dueq import _core, _source
from dueq._pool import Closing, Pool
from dueq.consumer import Consumer
from dueq.message import Message


class Source(_source.Origin, Closing):
    """What Queue and Queues have in common: one takes messages from them, and closes them."""

    _home: Pool

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
        pool = self._home
        queue, rows = pool.run(_source.reserve(self, count, timeout, lease))
        return [Message(pool, queue, row) for row in rows]

    def consume(
        self,
        prefetch: int = 1,
        lease: float | timedelta | None = None,
        max_run: float | timedelta | None = _core.MAX_RUN_MS / 1000,
        timeout: float | timedelta | None = None,
        slack: float | timedelta = 0.0,
    ) -> Consumer:
        """
        A loop over messages as they become ready, until close() is called; see dueq.Consumer.

        prefetch  how many are reserved at a time, 1 to 200
        lease     seconds (or a timedelta) after which a message of a process that was killed is
                  ready again; None: the message's own, else 8 (without a heartbeat: 30)
        max_run   seconds (or a timedelta) that the heartbeat keeps a message after it was handed
                  out; None or 0: there is no heartbeat, and each message has its lease alone
        timeout   the loop ends when none came for so many seconds (or a timedelta); None: never
        slack     what falls due while the loop waits comes up to so many seconds (or a timedelta)
                  late, 0 to 0.1, and with it, in one request, all that falls due meanwhile, up to
                  `prefetch`; never early. What is pushed ready comes at once
        """
        return Consumer(self._home, self, prefetch, lease, max_run, timeout, slack)

    def __iter__(self) -> Iterator[Message]:
        """consume() with its defaults; nothing when it is closed."""
        return iter(()) if self._home.closed else iter(self.consume())


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
        several, number = _source.several(names, order)
        self.order = order
        super().__init__(Pool(url, *several), several, number)

    def __reduce__(self) -> tuple[type[Queues], tuple[tuple[str, ...], str | None, str]]:
        return type(self), (self.names, self._home._url, self.order)
