"""The loop over messages, with a heartbeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import get_ident
from types import TracebackType
from typing import Self

from dueq import _core
from dueq._call import Answer, Call
from dueq._consumer import ConsumerBase
from dueq.blocking.message import Message
from dueq.blocking.pool import Pool


class Consumer(ConsumerBase):
    """
    A loop over messages as they become ready, from Queue.consume(). It costs one round trip for
    each batch: the settlements of `with` blocks are sent with the next reserve.

        for message in queue.consume(prefetch=20):
            with message:
                work(message.body)

    A heartbeat, a thread that does not need the interpreter, extends the leases of reserved and
    delivered messages, whatever the program does meanwhile, until each is settled or max_run is
    over. It runs after the loop, too, as long as the consumer or one of its messages exists, or
    until close().

    The settlement by the `with` block of the message that was delivered last is sent within a
    quarter of a second. Everything else is sent at once: other verbs, older messages, other
    threads. Where a lease had ended before its settlement was sent, a warning is logged, and `lost`
    counts it.

    However the loop ends, open settlements are sent, and prefetched messages are released. A
    message that was delivered stays leased until somebody settles it or the consumer is closed,
    which releases it: by close(), the end of a `with` block, or the end of the program.
    """

    _home: Pool

    def __iter__(self) -> Iterator[Message]:
        """Yields messages. Only one loop at a time."""
        self._begin()
        handle, name = self._handle, self.names[0]
        try:
            while not self._over():
                self._last = None
                row = _core.consumer_next(handle, self._timeout_ms)
                if isinstance(row, int):
                    row = self._wait()
                    if isinstance(row, int):
                        if row == _core.EMPTY:
                            return
                        continue
                if self._several:
                    name = self._name()
                self._last = message = Message(self, name, row)
                yield message
        finally:
            self._last = None
            self._looping = False
            self._finish_now()

    def work(
        self,
        handler: Callable[[Message], object],
        on_error: Callable[[Message, Exception], object] | None = None,
    ) -> None:
        """
        Runs the loop with a handler: a message is acknowledged when the handler returns, and
        retried when it raises an Exception.

        on_error  called with the message and the exception; then the message is retried, unless
                  on_error has settled it, and the loop continues. None: the exception ends the loop
        """
        for message in self:
            with message:
                try:
                    handler(message)
                except Exception as error:
                    if on_error is None:
                        raise
                    on_error(message, error)
                    message._leave_block(error)
                    if not message._settled:
                        message._end_block(error)

    def close(self) -> None:
        """
        Sends open settlements, releases all other messages that it holds, uncounted, and ends the
        heartbeat. Messages that other threads work on are to be settled before. In its loop it
        releases only what is not delivered; while the loop waits, or runs in another thread, this
        is stop().
        """
        self.stop()
        if not self._looping:
            self._disown()
        if not self._is_elsewhere():
            self._close_now()

    def _forgotten(self) -> None:
        self.stop()
        if not self._is_elsewhere():
            self._disown()
            self._close_now()

    def _is_elsewhere(self) -> bool:
        """Whether its loop waits, or runs in another thread."""
        return self._looping and (self._last is None or self._thread != get_ident())

    def release_prefetched(self) -> None:
        """
        Sends open settlements and releases prefetched messages while the loop's handler runs in
        another thread, of a process that is about to exit whatever that does.
        """
        self.stop()
        if self._last is not None:
            self._finish_now()

    def call(self, call: Call) -> Answer:
        """Runs a call of one of its messages, on another link."""
        self._home.reached = True
        return self._home.call(call)

    def finish(self, step: Callable[[], None], error: BaseException) -> None:
        """As its queue's."""
        self._home.finish(step, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self._forgotten()

    def _over(self) -> bool:
        return self._stopped or self._closed or self._home.closed

    def _wait(self) -> _core.MessageRow | int:
        """A message, EMPTY, or PENDING: the loop is to end."""
        row: _core.MessageRow | int = _core.PENDING
        while row == _core.PENDING and not self._over():
            # What has come when the loop is to end is not delivered, but released.
            if not self._link.wait() and not self._over():
                row = _core.consumer_take(self._handle)
        self._count_lost()
        return row
