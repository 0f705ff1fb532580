"""Calls that block: the one loop that waits for an answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dueq import _core
from dueq._call import Answer, Call
from dueq._link import SLICE_MS, Link, Linked, Links
from dueq.errors import Error

if TYPE_CHECKING:
    from dueq._message import MessageBase


class Pool(Links):
    """Threads may call at once, and so may a signal handler that came into a call."""

    def call(self, call: Call) -> Answer:
        """
        Runs a call until it is final. Other threads and signal handlers run meanwhile. When one
        of these handlers raises, or close() is called, the call is abandoned.
        """
        link = self.acquire()
        # What ends this without putting the link back also ends the link: nobody holds it then.
        try:
            call.submit(link)
            self.wait(link, call.over)
            answer = Answer(*_core.take(link.client))
        except BaseException:
            _core.abandon(link.client)
            if call.behind:
                with suppress(Error):
                    call.behind(link)
                    _core.wait(link.client, SLICE_MS)
                _core.abandon(link.client)
            self.release(link)
            raise
        self.release(link)
        return answer

    def wait(self, link: Link, over: Callable[[], object] | None = None) -> None:
        """Waits until the call that a link carries is final, as call(). over: as of Call."""
        while link.wait():
            self.check()
            if over and over():
                _core.stop_wait(link.client)

    def finish(self, step: Callable[[], None], error: BaseException) -> None:
        """Runs what must end although this exception goes on."""
        step()

    def settle_later(self, message: MessageBase, error: BaseException | None) -> bool:
        """Whether the settlement of a message waits for the next request: never."""
        return False

    def forget(self, message: MessageBase) -> None:
        """A message from reserve() has no heartbeat."""

    def has_lost(self, message: MessageBase) -> bool:
        """Without a heartbeat only its own verbs learn so."""
        return False

    def keep_ack(self, message: MessageBase, failure: Error) -> bool:
        """Nobody keeps it."""
        return False

    def close(self) -> None:
        """Closes the links. Calls in progress in other threads end soon after."""
        self.closed = True
        self._free.clear()


class Closing(Linked):
    """What closes its pool at the end of a block."""

    def __init__(self, home: Pool, label: str) -> None:
        self._home: Pool = home
        self._label = label

    def close(self) -> None:
        """Closes the connections. Calls in progress in other threads soon end with an error."""
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
