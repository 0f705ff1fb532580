"""The state that the consumers of dueq and of dueq.aio share."""

from __future__ import annotations

import os
from threading import get_ident
from typing import TYPE_CHECKING

from dueq import _core, _trace
from dueq._heartbeat_log import logger
from dueq._link import Alone, held
from dueq._log import encoded, log
from dueq._message import MessageBase, described
from dueq.errors import Error, InvalidError

if TYPE_CHECKING:
    from dueq._link import Links


class ConsumerBase(Alone):
    """A consumer of the core, on a link of its own."""

    __contains__ = None  # `in` would take messages

    def __init__(
        self,
        home: Links,
        names: tuple[str, ...],
        options: _core.ConsumeRow,
        timeout_ms: int,
        partitioned: bool,
    ) -> None:
        self.names = names
        self._several = partitioned or len(names) > 1
        self._partitioned = partitioned
        self._home = home
        self._closed = True
        self._timeout_ms = timeout_ms
        self._link = home.acquire()
        try:
            self._handle = _core.consumer_open(
                tuple(self._link.queues[name] for name in names), options
            )
        except BaseException:
            home.release(self._link)
            raise
        self._last: MessageBase | None = None
        self._looping = False
        self._stopped = False
        self._closed = False
        self._lost = 0
        held.add(self)
        logger.add(self)

    @property
    def lost(self) -> int:
        """
        How many messages this consumer has lost before it could settle or deliver them: other
        consumers took them after their leases had ended, or they were cancelled. Counts messages
        that the end of a `with` block acknowledged, and prefetched ones.
        """
        self._count_lost()
        return self._lost

    def stop(self) -> None:
        """
        Ends the loop after its current message. The loop cannot be started again. Prefetched
        messages are released. Other threads and signal handlers may call this.
        """
        self._stopped = True
        _core.consumer_wind_down(self._handle)

    @property
    def where(self) -> str:
        """The server's URL, without the password."""
        return self._home.where

    def leave(self) -> bool:
        """
        For a process that ends while a message is running: no lease is extended any more, and the
        queues learn that the consumer is gone. Call this until it returns True. Any thread may call
        it.
        """
        return _core.consumer_leave(self._handle)

    def forget(self, message: MessageBase) -> None:
        """Called when a verb has settled a message: its lease is not extended any more."""
        _core.consumer_forget(self._handle, message.ticket)

    def has_lost(self, message: MessageBase) -> bool:
        """Whether the message is known to be with another consumer, or cancelled."""
        return _core.consumer_has_lost(self._handle, message.ticket)

    def keep_ack(self, message: MessageBase, failure: Error) -> bool:
        """
        Called when an ack has failed. Returns whether the heartbeat will send it when the server is
        back.
        """
        return not self._closed and _core.consumer_keep_ack(
            self._handle, message.ticket, failure.status
        )

    def warn(self) -> None:
        """Logs the heartbeat's warnings. Any thread may call this."""
        while warning := _core.consumer_warning(self._handle):
            log.warning("%s", warning)
        self._tell_lost()

    def _tell_lost(self) -> None:
        """Called when a message may have been lost, to tell the tasks that asked for that."""

    def ack_later(self, message: MessageBase) -> bool:
        """
        Acknowledges the last delivered message with the consumer's next request. Returns False if
        the ack must be a call of its own: of another message, or in another thread.
        """
        if message is not self._last or message._settled or self._thread != get_ident():
            return False
        message._settled = True
        _core.consumer_ack(self._handle, message.ticket)
        if _trace.tracer:
            _trace.tracer.settled("ack", message)
        return True

    def retry_later(self, message: MessageBase, error: Exception) -> bool:
        """
        Retries the last delivered message at the end of its block, with the consumer's next
        request. Returns False if the retry must be a call of its own, as ack_later() does.
        """
        if message is not self._last or self._thread != get_ident():
            return False
        message._settled = True
        text = described(error)
        _core.consumer_retry(self._handle, message.ticket, _core.BY_POLICY, encoded(text))
        if _trace.tracer:
            _trace.tracer.settled("retry", message)
        if message.attempt == message.max_attempts:
            message._log_exhausted(text)
        return True

    def __repr__(self) -> str:
        ended = " closed" if self._closed else " stopped" if self._stopped else ""
        return f"<{type(self).__name__} of {', '.join(self.names)}{ended}>"

    def _name(self) -> str:
        """The name of the queue of the last delivered message."""
        place = _core.consumer_queue(self._handle)
        if self._partitioned:
            return _core.partition_name(self.names[0], place)
        return self.names[place]

    def _begin(self) -> None:
        """Begins a loop in this thread. Raises InvalidError if another loop runs."""
        if self._looping:
            raise InvalidError("this consumer has a loop already")
        self._looping = True
        self._thread = get_ident()
        logger.begin()  # a forked child has no thread for it

    def _finish_now(self) -> None:
        """Sends open settlements, releases prefetched messages, and waits until both are done."""
        if self._closed:
            return
        try:
            status = _core.consumer_stop(self._handle)
            while status == _core.PENDING:
                while self._link.wait():
                    pass
                status = _core.consumer_stop_take(self._handle)
        except Error as error:
            self._log_unfinished(error)
        self._count_lost()

    def _disown(self) -> None:
        """
        Also releases messages that were delivered and not settled: no program works on them any
        more.
        """
        if not self._closed:
            _core.consumer_disown(self._handle)

    def _close_now(self) -> None:
        self._finish_now()
        self._end()

    def _end(self) -> None:
        if self._closed:
            return
        self._count_lost()
        self._closed = self._stopped = True
        self._last = None
        _core.consumer_close(self._handle)
        self._home.release(self._link)

    def _log_unfinished(self, error: Error) -> None:
        log.warning(
            "%r: what it holds is delivered again when the leases end, also what it was to "
            "acknowledge: %s",
            self,
            error,
        )

    def _count_lost(self) -> None:
        if not self._closed:
            self._lost = _core.consumer_lost(self._handle)
            self.warn()


def _forked() -> None:
    # In a forked child: a message that the parent's loop delivered is settled by a call of its own.
    for loop in held:
        if isinstance(loop, ConsumerBase):
            loop._last = None


os.register_at_fork(after_in_child=_forked)
