"""Blocking calls, and the loop in which they wait."""

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
    """
    The links of a blocking queue. Several threads may call at the same time, and a signal handler
    may call within another call.
    """

    def call(self, call: Call) -> Answer:
        """
        Runs a call until it is done. Other threads and signal handlers run meanwhile. If a signal
        handler raises, or close() is called, the call is abandoned.
        """
        link = self.acquire()
        # An exit without a release drops the link, as nothing else refers to it.
        try:
            call.submit(link)
            while (answer := _core.answer(link.client, SLICE_MS)) is None:
                self.check()
                if call.over and call.over():
                    _core.stop_wait(link.client)
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
        return Answer._make(answer)

    def wait(self, link: Link) -> None:
        """Waits until the call on a link is done, as call()."""
        while link.wait():
            self.check()

    def finish(self, step: Callable[[], None], error: BaseException) -> None:
        """Runs a last step, although this exception propagates."""
        step()

    def retry_later(self, message: MessageBase, error: Exception) -> bool:
        """Returns False: a pool settles each message at once."""
        return False

    def ack_later(self, message: MessageBase) -> bool:
        """Returns False: a pool settles each message at once."""
        return False

    def forget(self, message: MessageBase) -> None:
        """Does nothing, as a message from reserve() has no heartbeat."""

    def has_lost(self, message: MessageBase) -> bool:
        """
        Returns False: without a heartbeat only the verbs of the message learn that it is lost.
        """
        return False

    def keep_ack(self, message: MessageBase, failure: Error) -> bool:
        """Returns False: only consumers keep acks."""
        return False

    def close(self) -> None:
        """Closes the links. Calls in progress in other threads end soon after."""
        self.closed = True
        self._free.clear()


class Closing(Linked):
    """An object that closes its pool at the end of a block."""

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
