"""A queue: the producer's and the consumer's side."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, overload

from dueq import _core, _queue
from dueq._link import Answer
from dueq._pool import Pool, blocking
from dueq.lock import Lock
from dueq.message import Message
from dueq.pusher import Pusher
from dueq.source import Source

if TYPE_CHECKING:
    from dueq._queue import StateName


class Queue(Source):
    """
    A queue of a server. Nothing is sent before the first call, and a queue needs no creating.

    name  1 to 255 bytes of UTF-8 without braces and control characters
    url   redis://[user:password@]host[:port][/db], rediss:// for TLS, unix:///path/to/socket,
          embedded:DIR for a private server of a directory.
          None: $DUEQ_URL, and without it an embedded server in the user's state directory.

    It may be used by many threads at once, by a child after fork(), and by signal handlers; pickled
    it arrives as a queue of the same name and URL. Every call may raise a dueq.Error.
    """

    def __init__(self, name: str, url: str | None = None) -> None:
        super().__init__(Pool(url, name), (name,))
        self.name = name

    def new_id(self) -> str:
        """An id as push() makes them, to know it beforehand: 22 characters that sort by time."""
        return self._home.new_id()

    push = blocking(_queue.push)
    push_many = blocking(_queue.push_many)
    ack_many = blocking(_queue.ack_many)
    cancel = blocking(_queue.cancel)
    cancel_many = blocking(_queue.cancel_many)
    kick = blocking(_queue.kick)
    kick_many = blocking(_queue.kick_many)
    kick_all = blocking(_queue.kick_all)
    reschedule = blocking(_queue.reschedule)
    pause = blocking(_queue.pause)
    resume = blocking(_queue.resume)
    purge = blocking(_queue.purge)
    remove = blocking(_queue.remove)
    stats = blocking(_queue.stats)
    rates = blocking(_queue.rates)

    def pusher(self, most: int = _core.MAX_PUSHES) -> Pusher:
        """
        A Pusher, to push many messages without waiting for each. most: how many may be under way,
        1 to 10,000.
        """
        return Pusher(self._home, self.name, most)

    def find(self, id: str) -> Message | None:
        """Looks a message up, in any state, without touching it."""
        row = self._home.run(_queue.find(self.name, id))
        return row and Message(self._home, self.name, row)

    def peek(self, state: StateName, page: int = 100) -> Iterator[Message]:
        """
        Looks at all messages of one state without touching them: ready ones in the order of
        delivery, the others by their time.

        They are fetched as they are asked for, `page` (1 to 200) at a time. What changes its
        place meanwhile may be seen twice or not at all. Damaged ones are left out, with a warning
        to the log.
        """
        at = _queue.peek(self.name, state, page)

        def pages() -> Iterator[Answer]:
            answer = self._home.call(at(b""))
            yield answer
            while answer.cursor:
                answer = self._home.call(at(answer.cursor))
                yield answer

        rows = (row for answer in pages() for row in _queue.seen(self.name, answer))
        return (Message(self._home, self.name, row) for row in rows)

    @overload
    def lock(self, name: str, ttl: float | timedelta, timeout: None) -> Lock: ...
    @overload
    def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta = 0.0
    ) -> Lock | None: ...
    def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta | None = 0.0
    ) -> Lock | None:
        """
        Takes a lock, which has one owner at a time, or None: somebody else holds it.

        name     1 to 255 bytes of UTF-8 without control characters; each queue has locks of its own
        ttl      seconds (or a timedelta) until it ends unless it is extended or released before
        timeout  seconds (or a timedelta) to wait for its turn; None: for ever, and never None then

            if lock := queue.lock("nightly", ttl=60):
                with lock:
                    work()
        """
        token = self._home.run(_queue.lock(self.name, name, ttl, timeout))
        return None if token is None else Lock(self._home, self.name, name, token)

    def __reduce__(self) -> tuple[type[Queue], tuple[str, str | None]]:
        return type(self), (self.name, self._home._url)


def queues(url: str | None = None) -> list[str]:
    """
    The names of all queues of a server that were ever used, sorted. `url`: as of dueq.Queue.

    It looks through the names of all of the server's keys, a bounded number in each step.
    """
    pool = Pool(url)
    try:
        return pool.run(_queue.queues())
    finally:
        pool.close()
