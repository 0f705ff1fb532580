# Made from dueq/aio/message.py by bindings/python/blocking.py.
"""A message: its verbs, and the end of its block."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self, overload

from dueq import _core, _trace
from dueq._call import Answer, Call, on, stored_ids
from dueq._log import log
from dueq._message import MessageBase, described, noted
from dueq._trace import Sending, sending, settling
from dueq.blocking.pool import Pool
from dueq.draft import Body, Draft, rows
from dueq.errors import Error, InvalidError, NotDurable
from dueq.times import duration_ms

if TYPE_CHECKING:
    from dueq._link import Link
    from dueq.blocking.consumer import Consumer


class Message(MessageBase):
    """
    A message, from reserve(), Queue.find() or Queue.peek().

    As a context manager it is acknowledged at the end of the block. If the block raises an
    Exception, the message is retried after its backoff, with "ClassName: text" of the exception as
    its error, and the exception propagates. Other exceptions are no failure (SystemExit,
    KeyboardInterrupt, GeneratorExit, asyncio.CancelledError): the message is released, which counts
    no attempt. If the block itself has acknowledged, retried, released or buried the message,
    nothing more happens. If such a call failed and the block handled the error, or the block was
    ended meanwhile, the message is not acknowledged: a warning is logged, and the message is
    delivered again when its lease ends, unless that call took effect.
    """

    __slots__ = ()

    _home: Pool | Consumer

    @overload
    def ack(self, *, wait: bool = True, result: Body | None = None) -> None: ...
    @overload
    def ack(
        self,
        *,
        push: Iterable[Body | Draft],
        to: str | None = None,
        result: Body | None = None,
    ) -> list[str | None]: ...
    def ack(
        self,
        *,
        push: Iterable[Body | Draft] | None = None,
        to: str | None = None,
        wait: bool = True,
        result: Body | None = None,
    ) -> list[str | None] | None:
        """
        Acknowledges the message, which deletes it. Raises LeaseLost.

        push  up to 200 successors (drafts or bodies), which are stored in the same step: all of
              them or, if the lease was lost, none. Returns their ids in order, None for a
              duplicate. Without `push` the result is None
        to    the name of the queue of the successors; None: the message's own. In a queue with
              partitions their key or id chooses the partition, which must be the same for all;
              successors without both stay in the message's partition
        wait  False: the ack of the last message of a consumer's loop, in the loop's thread, goes
              with the consumer's next request, within a quarter of a second, as at the end of a
              `with` block. If the lease was lost by then, nothing is raised: a warning is logged,
              and the consumer's `lost` counts the message. Any other ack is sent and answered now.
              Not with `push` and `result`
        result  up to 1 MiB, which the queue keeps with the message's end: see Queue.outcome(). If
                the message was pushed without `keep`, it is dropped. A larger one raises
                TooLargeError, and the message stays leased

        While the server is away, the call waits for the URL's timeout. Then it raises ClosedError,
        or ServerTimeoutError if the server hangs. If the message came from a consumer, the consumer
        keeps an ack without successors and result, and sends it when the server is back: do not do
        the work again.

        Raises NotDurable for successors that are not durable, as Queue.push(): the message is
        acknowledged in this case.
        """
        self._asked = True
        drafts = () if push is None else tuple(rows(push))
        if (push is not None or result is not None) and not wait:
            raise InvalidError("wait: an ack with successors or a result waits for its answer")
        if not drafts:
            if push is None and to is not None:
                raise InvalidError("to: is only for successors, and push has none")
            if not wait and self._home.ack_later(self):
                return None
            call = on(self.queue, _core.ack_submit, (self.ticket,))
            if result is not None:
                call = on(self.queue, _core.ack_result_submit, self.ticket, result)
            try:
                self._settle_by("ack", call)
            except Error as failure:
                if result is None:
                    self._keeps_ack(failure)
                raise
            return None if push is None else []
        with (
            settling("ack", self._home, self.queue, (self,)),
            sending(self._home, to or self.queue, drafts) as sent,
        ):
            outcomes = (self._stored(self._push_call(to, sent, result))).outcomes
            self._settle(outcomes[0][0])
            sent.outcomes = outcomes[1:]
        return stored_ids(sent.outcomes)

    def _push_call(self, to: str | None, sent: Sending, result: Body | None) -> Call:
        """The call that acknowledges with successors."""

        def submit(link: Link) -> int:
            own, target = link.queues[self.queue], link.target(self.queue, to)
            if result is None:
                return _core.ack_push_submit(own, self.ticket, target, sent.rows)
            return _core.ack_push_result_submit(own, self.ticket, result, target, sent.rows)

        return Call(submit)

    def _settle_by(self, verb: str, call: Call) -> int:
        """Settles the message by a call, and returns the status. Raises LeaseLost."""
        with settling(verb, self._home, self.queue, (self,)):
            status = self._home.call(call).status
            self._settle(status)
        return status

    def _hold_by(self, call: Call) -> None:
        """Runs a call that does not end the delivery. Raises LeaseLost."""
        status = self._home.call(call).status
        if status == _core.LEASE_LOST:
            self._settle(status)

    def _stored(self, call: Call) -> Answer:
        """
        Acknowledges with successors. If these are not durable, the message is acknowledged
        nevertheless.
        """
        try:
            return self._home.call(call)
        except NotDurable:
            self._let_go()
            raise

    # Made from core/verbs.toml by core/verbs.py: verbs of a message.

    def retry(
        self, delay: float | timedelta | None = None, error: str | BaseException = ""
    ) -> bool:
        """
        Ends the delivery as failed: the message is delivered again. Raises LeaseLost.

        delay  seconds (or a timedelta) until the message is due; 0: at once; None: by its backoff
        error  a text that is stored with the message, up to 4,096 bytes; or an exception: its class
               and text

        Returns False if the attempts are exhausted: the message is then dead or, by its policy,
        moves to its dead-letter queue or is deleted.
        """
        self._asked = True
        call = on(
            self.queue,
            _core.retry_submit,
            self.ticket,
            _core.BY_POLICY if delay is None else duration_ms(delay, "delay"),
            noted(error, "error"),
        )
        return self._settle_by("retry", call) == _core.OK

    def release(self, delay: float | timedelta = 0.0) -> None:
        """
        Gives the message back to the queue: the delivery does not count as an attempt. Raises
        LeaseLost.

        delay  seconds (or a timedelta) until the message is due; 0: it is ready, and the next one
               to be delivered
        """
        self._asked = True
        call = on(self.queue, _core.release_submit, (self.ticket,), duration_ms(delay, "delay"))
        self._settle_by("release", call)

    def hold_group(self, duration: float | timedelta) -> None:
        """
        Gives the message back to the queue, and holds its group: for so long no message of the
        group is delivered. The delivery does not count as an attempt. Raises LeaseLost.

        duration  for how many seconds (or a timedelta) the group is held; 0: it is held no more
        """
        self._asked = True
        call = on(
            self.queue, _core.hold_group_submit, self.ticket, duration_ms(duration, "duration")
        )
        self._settle_by("hold_group", call)

    def extend(self, lease: float | timedelta) -> None:
        """
        Extends the lease: it ends `lease` seconds (or a timedelta) from now. Raises LeaseLost.
        """
        call = on(self.queue, _core.extend_submit, (self.ticket,), duration_ms(lease, "lease"))
        self._hold_by(call)

    def bury(self, reason: str | BaseException = "") -> None:
        """
        Makes the message dead, whatever attempts it has left. By its policy it moves to its
        dead-letter queue or is deleted instead. Raises LeaseLost.

        reason  a text that is stored as the message's error, up to 4,096 bytes; or an exception:
                its class and text
        """
        self._asked = True
        call = on(self.queue, _core.bury_submit, self.ticket, noted(reason, "reason"))
        self._settle_by("bury", call)

    # The end of what was made.

    def _crash(self) -> None:
        """Ends the lease now, which counts as a crash. Raises LeaseLost."""
        self._asked = True
        self._settle_by("release", on(self.queue, _core.extend_submit, (self.ticket,), 1))

    def checkpoint(self, cursor: str) -> None:
        """
        Stores a text with the leased message, as its header `cursor`. Each further delivery has
        this header, so that a long job can go on from there. Raises LeaseLost.

        cursor  replaces an earlier one; all headers together have at most 65,535 bytes. Empty:
                removes the header
        """
        self._hold_by(on(self.queue, _core.checkpoint_submit, self.ticket, cursor))
        self.headers.pop("cursor", None)
        if cursor:
            self.headers["cursor"] = cursor

    def fire(self) -> list[str]:
        """
        Fires the schedule of this message (is_schedule): acknowledges the message and, in the same
        step, pushes the jobs whose times have come and the schedule's next message. Returns the ids
        of the jobs. Raises LeaseLost. If the call fails, retry the message: it has no limit of
        attempts.
        """
        self._asked = True
        row = (self.id, self.ticket, tuple(self.headers.items()), self.body)
        outcomes = (self._stored(on(self.queue, _core.fire_submit, row))).outcomes
        self._settle(outcomes[0][0])
        return [id for status, id in outcomes[1:-1] if status == _core.OK]

    def __enter__(self) -> Self:
        if _trace.tracer:
            self._begin_block(_trace.tracer)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._processing:
            self._leave_block(error)
        if self._settled:
            return
        if error is not None or self._asked or not self._home.ack_later(self):
            self._end_block(error)

    def _end_block(self, error: BaseException | None) -> None:
        """Settles the message by the exception of its block."""
        if isinstance(error, Exception) and self._home.retry_later(self, error):
            return
        if self._asked and not isinstance(error, Exception):
            self._leave_to_lease()
            return
        if error is not None and not isinstance(error, Exception):
            self._home.finish(self._give_back, error)
            return
        try:
            if error is None:
                self.ack()
            else:
                text = described(error)
                if not self.retry(error=text):
                    self._log_exhausted(text)
        except Error as failure:
            if error is None and self._settled and not self.lost:
                log.warning("message %s: its ack is sent later: %s", self.id, failure)
                return
            self._let_go()
            if error is None:
                raise
            # The block's own exception is raised. The message is delivered again when its lease
            # ends.
            log.warning("message %s could not be retried: %s", self.id, failure)

    def _give_back(self) -> None:
        try:
            self.release()
        except Error as failure:
            self._let_go()
            log.warning("message %s could not be released: %s", self.id, failure)
