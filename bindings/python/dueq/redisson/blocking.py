# Made from dueq/redisson/aio.py by bindings/python/blocking.py.
"""Delayed queues of Redisson."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dueq import _core
from dueq._call import Answer, Call, counted, on
from dueq._log import log
from dueq.blocking.pool import Pool
from dueq.draft import portions, size_of
from dueq.errors import CorruptError
from dueq.interop.blocking import Agent
from dueq.interop.foreign import Moved, Sizes
from dueq.redisson.codecs import CODECS, opener, plain, readable, value_row
from dueq.times import due_ms, patience_ms

if TYPE_CHECKING:
    from datetime import datetime

    from dueq.redisson.codecs import Codec, Layout, Value


class DelayedQueue(Agent):
    """
    A delayed queue of Redisson (RDelayedQueue), shared with the Java programs that use it. Values
    wait in it until they are due. Then a client that transfers, Redisson or dueq, moves them to the
    destination: a plain list from which any client takes them.

    destination  the list's key in the server, 1 to 255 bytes of UTF-8 without control characters
    url          as for dueq.Queue
    codec        the codec of the Redisson clients: "kryo5" (their default from 3.19), "bytes",
                 "string", "long", "jackson", "typed json" or, of Jackson 3, "jackson3" and "typed
                 json3"
    layout       the format of waiting elements: "new" of Redisson 3.21.1 (2023) and later, "old" of
                 earlier versions. None: that of the elements that wait, or "new" if none waits

        with dueq.redisson.DelayedQueue("orders") as queue, queue.transferring():
            queue.offer("order 7", delay=1.5)
            print(queue.take())

    Threads, fork(), signals, pickle, event loops and errors are as with dueq.Queue. If elements of
    another layout wait, calls raise errors.LayoutError and change nothing. A cancelled take puts
    its values back to the front of the destination. The next poll of this object returns the values
    of a cancelled poll.
    """

    _system = "redisson."
    _mover = _core.redisson_transfer_submit

    def __init__(
        self,
        destination: str,
        url: str | None = None,
        codec: Codec = "kryo5",
        layout: Layout | None = None,
    ) -> None:
        super().__init__(Pool(url, destination, open=opener(codec, layout)), destination)
        self._kept: list[_core.ReadRow] = []
        self.destination = destination
        self.codec = codec
        self.layout = layout

    def offer(
        self,
        value: Value,
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
    ) -> None:
        """
        Offers a value, which is moved to the destination when it is due.

        value  None, bool, int (dueq.redisson.Long for a Java Long that fits into 32 bits), float,
               str, bytes; with the JSON codecs also lists and dicts that JSON can express
        delay  the value is due this many seconds (or a timedelta) after the offer
        at     the value is due at this time by the server's clock: an aware datetime, or seconds
               since 1970. Not together with delay

        Without delay and at, the value is due now. Raises InvalidError if the codec cannot express
        the value.
        """
        self.offer_many((value,), delay, at)

    def offer_many(
        self,
        values: Iterable[Value],
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
    ) -> None:
        """
        Offers any number of values, as offer().

        They go in batches of up to 200. Each batch is stored whole or not at all. If a batch fails,
        a note of the exception says how many values were offered before it.
        """
        if isinstance(values, (str, bytes, bytearray)):
            raise TypeError("a list of values is required, not one value")
        due = due_ms(delay, at)
        rows = ((value_row(value), *due) for value in values)
        done = 0
        for batch in portions(rows, lambda row: size_of(row[0][3])):
            try:
                self._home.call(on(self._label, _core.redisson_offer_submit, batch))
            except Exception as error:
                error.add_note(f"{done} values were offered before the batch that failed")
                raise
            done += len(batch)

    def transfer(self, timeout: float | timedelta | None = 0.0, most: int = 200) -> Moved:
        """
        Moves due values to the destination, in the order of their times: one step of a transfer.

        timeout  seconds (or a timedelta) to wait until a value is due, subscribed to the queue's
                 channel; None: without end
        most     how many to move at most, 1 to 200

        A damaged element is quarantined, with a warning in the log.
        """
        return self._moved(self._home.call(self._move(timeout, most)))

    run_transfer = Agent._run
    transferring = Agent._running

    def take(self, timeout: float | timedelta | None = None) -> Any:
        """
        Takes the next value from the destination. None: no value came, or the value is Java's null;
        take_many() tells the two apart.

        timeout  seconds (or a timedelta) to wait for a value; None: without end

        There is no acknowledgement: a value that was taken is not delivered again. Raises
        CorruptError, whose `raw` has the bytes, if the value cannot be decoded. The value is taken
        in this case, too.
        """
        return self._value((self._home.call(self._take(1, timeout))).values)

    def take_many(self, count: int, timeout: float | timedelta | None = None) -> list[Any]:
        """
        Takes up to `count` (1 to 200) values from the destination, as take(). Waits only for the
        first. A value that cannot be decoded becomes a dueq.redisson.Unreadable.
        """
        return self._values((self._home.call(self._take(count, timeout))).values)

    def poll(self) -> Any:
        """
        Takes the waiting value that was offered first, before it is due, so that it does not reach
        the destination. None: no value waits. Raises CorruptError as take().
        """
        return self._value(self._poll(1))

    def poll_many(self, count: int) -> list[Any]:
        """Takes up to `count` (1 to 200) waiting values, first offered first, as take_many()."""
        return self._values(self._poll(counted(count, "count")))

    def peek(self, count: int = 1) -> list[Any]:
        """
        Reads up to `count` (1 to 200) waiting values, first offered first, without changing them.
        """
        call = on(self._label, _core.redisson_peek_submit, counted(count, "count"))
        return self._values(self._home.call(call).values)

    def remove(self, value: Value) -> bool:
        """
        Deletes the waiting element of this value that was offered first. False: there is none. The
        cost grows with the queue.

        A dict with None members matches the element that dueq stores for it. If there is none, it
        matches the element that Redisson stores, without these members (except with the codec
        "typed json3").
        """
        call = on(self._label, _core.redisson_remove_submit, value_row(value))
        return self._home.call(call).status == _core.OK

    def contains(self, value: Value) -> bool:
        """Whether an element of this value waits. The cost is that of remove()."""
        call = on(self._label, _core.redisson_contains_submit, value_row(value))
        return self._home.call(call).status == _core.OK

    def size(self) -> Sizes:
        """Counts the elements of the queue."""
        return Sizes.of(self._home.call(on(self._label, _core.redisson_size_submit)))

    def clear(self) -> int:
        """Deletes all waiting elements, and returns their number. The destination stays."""
        return (self._home.call(on(self._label, _core.redisson_clear_submit))).purged

    def close(self) -> None:
        """
        Closes the connections, as dueq.Queue. Values of cancelled polls that no later poll has
        returned are lost, with a warning in the log.
        """
        super().close()
        if self._kept:
            log.warning("%r: %d values of cancelled polls are lost", self, len(self._kept))

    destroy = close

    def __reduce__(self) -> tuple[type[DelayedQueue], tuple[Any, ...]]:
        return type(self), (self.destination, self._home._url, self.codec, self.layout)

    def _take(self, count: int, timeout: float | timedelta | None) -> Call:
        timeout_ms = patience_ms(timeout)
        call = on(self._label, _core.redisson_take_submit, counted(count, "count"), timeout_ms)
        behind = on(self._label, _core.redisson_size_submit).submit
        return call._replace(waits=timeout_ms != 0, behind=behind)

    def _poll(self, count: int) -> list[_core.ReadRow]:
        def undo(answer: Answer) -> Iterable[Call]:
            # The values cannot be put back to their places: the next poll returns them.
            self._kept += answer.values
            return ()

        kept, self._kept = self._kept[:count], self._kept[count:]
        if kept:
            return kept
        call = on(self._label, _core.redisson_poll_submit, count)
        return (self._home.call(call._replace(undo=undo))).values

    def _value(self, rows: list[_core.ReadRow]) -> Any:
        return readable(plain(rows[0], self._reason)) if rows else None

    def _values(self, rows: list[_core.ReadRow]) -> list[Any]:
        return [plain(row, self._reason) for row in rows]

    def _reason(self, raw: bytes) -> str:
        """Why a value cannot be read."""
        link = self._home.acquire()
        try:
            _core.codec_decode(link.client, CODECS[self.codec], raw)
        except CorruptError as error:
            return str(error)
        finally:
            self._home.release(link)
        return f"a damaged element of {self.destination}: it has neither layout"
