"""The links of a queue to its server, and the one loop that waits for an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Concatenate, NamedTuple, ParamSpec

from dueq import _core
from dueq.errors import InvalidError

P = ParamSpec("P")

# Python runs signal handlers between two waits only. A signal ends a wait, but not if it came just
# before the wait began: its handler runs when the slice is over then.
_SLICE_MS = 500
_UNDER_WAY = (_core.PENDING, _core.INTERRUPTED)


class Answer(NamedTuple):
    """What a call answered. Each verb fills what is its own."""

    status: int
    messages: list[_core.MessageRow]
    rates: list[_core.RateRow]
    outcomes: list[tuple[int, str]]
    """Status and id of the items that are neither."""
    counts: _core.CountsRow | None
    damaged: int
    purged: int
    kicked: int
    cursor: bytes
    queue: int
    """The place of the messages' queue among those that were asked."""


class Link:
    """A client and its handles of queues, which carries one call at a time."""

    def __init__(self, url: str | None, names: tuple[str, ...]) -> None:
        self.client = _core.client_open(url)
        self.queues = {name: _core.queue_open(self.client, name) for name in names}
        self._target: _core.Handle | None = None

    def target(self, name: str | None) -> _core.Handle | None:
        """A handle of any other queue, for one call. None for None."""
        # A call needs it to its end. The one before has ended, so its handle may go.
        self._target = None if name is None else _core.queue_open(self.client, name)
        return self._target


class Pool:
    """
    A call takes a free link, or opens one, and puts it back: so threads never share a link, nor
    does a signal handler share that of the call it came into, and there are as many as calls were
    ever under way at once.
    """

    def __init__(self, url: str | None, *names: str) -> None:
        self._url = url
        self._names = names
        self._free = deque([Link(url, names)])
        self.closed = False

    def run(
        self,
        queue: str,
        submit: Callable[Concatenate[_core.Handle, P], int],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Answer:
        """Runs a call of one of the pool's queues to its end, as call()."""
        return self.call(lambda link: submit(link.queues[queue], *args, **kwargs))

    def call(self, submit: Callable[[Link], int]) -> Answer:
        """
        Runs a call to its end. Other threads go on meanwhile, and signal handlers run. When one
        raises, or close() is called, the call is given up.
        """
        link = self._take()
        # What ends this without putting the link back also ends the link: nobody holds it then.
        try:
            submit(link)
            while _core.wait(link.client, _SLICE_MS) in _UNDER_WAY:
                self._check()
            answer = Answer(*_core.take(link.client))
        except BaseException:
            _core.abandon(link.client)
            self._put(link)
            raise
        self._put(link)
        return answer

    def url(self) -> str:
        link = self._take()
        url = _core.client_url(link.client)
        self._put(link)
        return url

    def new_id(self) -> str:
        link = self._take()
        new = _core.new_id(link.client)
        self._put(link)
        return new

    def close(self) -> None:
        self.closed = True
        self._free.clear()

    def _check(self) -> None:
        if self.closed:
            raise InvalidError("this queue is closed")

    def _take(self) -> Link:
        self._check()
        try:
            return self._free.pop()
        except IndexError:
            return Link(self._url, self._names)

    def _put(self, link: Link) -> None:
        self._free.append(link)
        if self.closed:
            self._free.clear()


def pages(call: Callable[[bytes], Answer]) -> Iterator[Answer]:
    """The answers of a call that takes a cursor, from the first page to the last."""
    cursor, left = b"", True
    while left:
        answer = call(cursor)
        yield answer
        cursor = answer.cursor
        left = bool(cursor)
