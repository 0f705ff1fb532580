"""Redisson's delayed queues."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dueq import _agent, _redisson
from dueq._pool import Closing, Pool, blocking

if TYPE_CHECKING:
    from dueq._agent import Until
    from dueq._redisson import Codec, Layout
    from dueq.values import Value


class DelayedQueue(_redisson.Delayed, Closing):
    """
    A delayed queue of Redisson's (RDelayedQueue), shared with the Java programs that use it. Values
    wait in it until they are due; whoever transfers, a Redisson or a dueq, moves them then to the
    destination, a plain list from which any client takes them.

    destination  the list's key in the server, 1 to 255 bytes of UTF-8 without control characters
    url          as of dueq.Queue
    codec        that of the Redisson: "kryo5" (its default from 3.19), "bytes", "string", "long",
                 "jackson", "typed json" or, by Jackson 3, "jackson3" and "typed json3"
    layout       how elements are packed: "new" by Redisson 3.21.1 (2023) and later, "old" before.
                 None: as those that wait are, and "new" where none do

    Threads, fork(), signals, pickle and errors are as with dueq.Queue. Where elements of another
    layout wait, calls raise errors.LayoutError and change nothing.

        with dueq.DelayedQueue("orders") as queue:
            queue.offer("order 7", delay=1.5)
            with queue.transferring():
                print(queue.take())
    """

    _pool = Pool
    _home: Pool

    offer = blocking(_redisson.offer)
    offer_many = blocking(_redisson.offer_many)
    transfer = blocking(_redisson.transfer)
    take = blocking(_redisson.take)
    take_many = blocking(_redisson.take_many)
    poll = blocking(_redisson.poll)
    poll_many = blocking(_redisson.poll_many)
    peek = blocking(_redisson.peek)
    remove = blocking(_redisson.remove)
    contains = blocking(_redisson.contains)
    size = blocking(_redisson.size)
    clear = blocking(_redisson.clear)

    def run_transfer(self, until: Until = None) -> None:
        """
        Transfers until it is told to stop: an agent. It goes on after failures that may pass, with
        a warning to the log.

        until  a function, or a threading.Event or the like: it ends within half a second after
               the function returns true or the event is set. None: never
        """
        _agent.run(self, self._home, until)

    def transferring(self) -> AbstractContextManager[None]:
        """
        Transfers in a thread of its own, during a with block. What makes it end before is logged,
        and raised at the end of the block.
        """
        return _agent.running(self, self._home)

    def __contains__(self, value: Value) -> bool:
        return self.contains(value)

    def __len__(self) -> int:
        """How many values wait, as RDelayedQueue.size()."""
        return self.size().delayed

    def __bool__(self) -> bool:
        """True, also where none wait."""
        return True

    destroy = Closing.close

    def __reduce__(
        self,
    ) -> tuple[type[DelayedQueue], tuple[str, str | None, Codec, Layout | None]]:
        return type(self), (self.destination, self._home._url, self.codec, self.layout)
