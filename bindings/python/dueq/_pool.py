"""The links of a queue to its server, and the one loop that waits for an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from dueq import _core
from dueq.errors import InvalidError

P = ParamSpec("P")

# Python runs signal handlers between two waits only. A signal ends a wait, but not if it came just
# before the wait began: its handler runs when the slice is over then.
_SLICE_MS = 500
_UNDER_WAY = (_core.PENDING, _core.INTERRUPTED)


class Pool:
    """
    A link carries one call at a time. A call takes a free one, or opens one, and puts it back: so
    threads never share a link, nor does a signal handler share that of the call it came into, and
    there are as many as calls were ever under way at once.
    """

    def __init__(self, url: str | None, name: str) -> None:
        self._url = url
        self._name = name
        self._free: deque[_core.Link] = deque([_core.link_open(url, name)])
        self.closed = False

    def run(
        self,
        submit: Callable[Concatenate[_core.Link, P], int],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> _core.Answer:
        """
        Runs a call to its end. Other threads go on meanwhile, and signal handlers run. When one
        raises, or close() is called, the call is given up.
        """
        link = self._take()
        # What ends this without putting the link back also ends the link: nobody holds it then.
        try:
            submit(link, *args, **kwargs)
            while _core.wait(link, _SLICE_MS) in _UNDER_WAY:
                self._check()
            answer = _core.take(link)
        except BaseException:
            _core.abandon(link)
            self._put(link)
            raise
        self._put(link)
        return answer

    def url(self) -> str:
        link = self._take()
        url = _core.link_url(link)
        self._put(link)
        return url

    def new_id(self) -> str:
        link = self._take()
        new = _core.new_id(link)
        self._put(link)
        return new

    def close(self) -> None:
        self.closed = True
        self._free.clear()

    def _check(self) -> None:
        if self.closed:
            raise InvalidError("this queue is closed")

    def _take(self) -> _core.Link:
        self._check()
        try:
            return self._free.pop()
        except IndexError:
            return _core.link_open(self._url, self._name)

    def _put(self, link: _core.Link) -> None:
        self._free.append(link)
        if self.closed:
            self._free.clear()
