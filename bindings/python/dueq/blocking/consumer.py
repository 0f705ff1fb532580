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
from dueq._link import SLICE_MS
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
    delivered messages, whatever the program does, until each message is settled or max_run is over.
    The heartbeat goes on after the loop, as long as the consumer or one of its messages exists, or
    until close().

    When the `with` block of the last delivered message ends, its settlement is sent within a
    quarter of a second. All other settlements are sent at once: by other verbs, of older messages,
    in other threads. If a lease ended before its settlement was sent, a warning is logged, and
    `lost` counts the message.

    However the loop ends, open settlements are sent, and prefetched messages are released. A
    delivered message stays leased until the program settles it, or until the consumer is closed,
    which releases it: by close(), the end of a `with` block, or the end of the program.
    """

    _home: Pool

    def __iter__(self) -> Iterator[Message]:
        """Yields messages. Raises InvalidError if another loop of this consumer runs."""
        self._begin()
        handle, timeout_ms, name = self._handle, self._timeout_ms, self.names[0]
        home = self._home
        try:
            while not (self._stopped or home.closed):
                self._last = None
                row = _core.consumer_next(handle, timeout_ms, SLICE_MS)
                while row is None or isinstance(row, int):
                    # A message that arrives when the loop must end is released, and not delivered.
                    if self._stopped or home.closed:
                        return
                    if row is None:
                        row = _core.consumer_take(handle)
                    elif row == _core.EMPTY:
                        return
                    elif not self._link.wait():
                        row = None
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

        on_error  called with the message and the exception. Then the message is retried, unless
                  on_error has settled it, and the loop goes on. None: the message is retried, and
                  the exception ends the loop
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
        Sends open settlements, releases all other messages of this consumer without counting an
        attempt, and ends the heartbeat. Settle messages that other threads work on before you call
        this. Called within its own loop, it releases only prefetched messages. If the loop waits,
        or runs in another thread, this does the same as stop().
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
        """Whether the loop waits, or runs in another thread."""
        return self._looping and (self._last is None or self._thread != get_ident())

    def release_prefetched(self) -> None:
        """
        Sends open settlements and releases prefetched messages, while the loop's handler runs in
        another thread. For a process that is about to exit, whatever that handler does.
        """
        self.stop()
        if self._last is not None:
            self._finish_now()

    def call(self, call: Call) -> Answer:
        """Runs a call of one of this consumer's messages, on another link."""
        self._home.reached = True
        return self._home.call(call)

    def finish(self, step: Callable[[], None], error: BaseException) -> None:
        """Does the same as the queue's pool."""
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
