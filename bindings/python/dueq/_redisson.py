"""The verbs of a delayed queue of Redisson's, for both faces."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from dueq import _core, _foreign
from dueq._link import Answer
from dueq._steps import Call, Steps, on
from dueq.draft import portions, size_of
from dueq.errors import CorruptError, InvalidError
from dueq.stats import Moved, Sizes
from dueq.times import due_ms, patience_ms
from dueq.values import plain, readable, value_row

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from dueq._link import Open
    from dueq.values import Value

    Codec: TypeAlias = Literal[
        "kryo5", "bytes", "string", "long", "jackson", "typed json", "jackson3", "typed json3"
    ]
    Layout: TypeAlias = Literal["new", "old"]

_log = logging.getLogger("dueq")

_CODECS = {
    "kryo5": _core.CODEC_KRYO5,
    "bytes": _core.CODEC_BYTES,
    "string": _core.CODEC_STRING,
    "long": _core.CODEC_LONG,
    "jackson": _core.CODEC_JACKSON,
    "typed json": _core.CODEC_TYPED_JSON,
    "jackson3": _core.CODEC_JACKSON3,
    "typed json3": _core.CODEC_TYPED_JSON3,
}

_LAYOUTS = {None: _core.LAYOUT_FOUND, "new": _core.LAYOUT_NEW, "old": _core.LAYOUT_OLD}


class Delayed(_foreign.Foreign):
    """What a delayed queue is, of either face."""

    def __init__(
        self,
        destination: str,
        url: str | None = None,
        codec: Codec = "kryo5",
        layout: Layout | None = None,
    ) -> None:
        super().__init__(destination, url, opener(codec, layout), _core.redisson_transfer_submit)
        self.destination = destination
        self.codec = codec
        self.layout = layout
        self._kept: list[_core.ReadRow] = []

    def _warn_of_kept(self) -> None:
        if self._kept:
            _log.warning(
                "%r: %d values that cancelled polls took are lost with it", self, len(self._kept)
            )

    def _reason(self, raw: bytes) -> str:
        """Why a value cannot be read."""
        link = self._home.take()
        try:
            _core.codec_decode(link.client, _CODECS[self.codec], raw)
        except CorruptError as error:
            return str(error)
        finally:
            self._home.put(link)
        return f"an element of {self.destination} that is packed in neither layout"

    def _values(self, rows: list[_core.ReadRow]) -> list[Any]:
        return [plain(row, self._reason) for row in rows]

    def _value(self, rows: list[_core.ReadRow]) -> Any:
        return readable(plain(rows[0], self._reason)) if rows else None


def opener(codec: Codec, layout: Layout | None) -> Open:
    """How a link opens such a queue. InvalidError where it cannot."""
    if codec not in _CODECS:
        raise InvalidError(f"codec: {codec!r} is not one of {', '.join(_CODECS)}")
    if layout not in _LAYOUTS:
        raise InvalidError(f"layout: {layout!r} is not 'new', 'old' or None")
    numbers = _CODECS[codec], _LAYOUTS[layout]
    return lambda client, destination: _core.redisson_open(client, destination, *numbers)


def offer(
    self: Delayed,
    value: Value,
    delay: float | timedelta | None = None,
    at: float | datetime | None = None,
) -> Steps[None]:
    """
    Offers a value, to be moved to the destination when it is due.

    value  None, bool, int (dueq.Long where Java has a Long that fits 32 bits), float, str, bytes;
           with the codecs of JSON also lists and dicts that JSON can express.
           InvalidError where the codec has no form for it
    delay  due so many seconds (or a timedelta) after the offer
    at     due at this time by the server: an aware datetime, or seconds since 1970

    Without either it is due now.
    """
    return offer_many(self, (value,), delay, at)


def offer_many(
    self: Delayed,
    values: Iterable[Value],
    delay: float | timedelta | None = None,
    at: float | datetime | None = None,
) -> Steps[None]:
    """
    Offers any number of values, as offer().

    They go in batches of up to 200, and each batch is stored whole or not at all. When one
    fails, a note of the exception tells how many values went before it.
    """
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError("one value stands where several are wanted: put it in a list")
    due = due_ms(delay, at)
    rows = ((value_row(value), *due) for value in values)
    done = 0
    for batch in portions(rows, lambda row: size_of(row[0][3])):
        try:
            yield on(self._label, _core.redisson_offer_submit, batch)
        except Exception as error:
            error.add_note(f"{done} values were offered before the batch that failed")
            raise
        done += len(batch)


def transfer(
    self: Delayed,
    timeout: float | timedelta | None = 0.0,
    most: int = 200,
) -> Steps[Moved]:
    """
    Moves what is due to the destination, in the order of the times: one step of a transfer.

    timeout  seconds (or a timedelta) to wait for the first that is due, subscribed to the queue's
             channel; None: for ever
    most     how many are moved at most, 1 to 200

    An element that is packed in neither layout is set aside, with a warning to the log.
    """
    return _foreign.moved(self, timeout, most)


def take(self: Delayed, timeout: float | timedelta | None = None) -> Steps[Any]:
    """
    Takes the next value from the destination, or None: none came. (Java's null is None, too:
    take_many() tells the two apart.)

    timeout  seconds (or a timedelta) to wait for one; None: for ever

    There is no acknowledgement: a value that was taken is the caller's. CorruptError for one that
    cannot be read; its `raw` has the bytes. It is taken all the same.
    """
    return self._value((yield _taking(self, 1, timeout)).values)


def take_many(
    self: Delayed, count: int, timeout: float | timedelta | None = None
) -> Steps[list[Any]]:
    """
    Takes up to `count` (1 to 200) values from the destination; waits for the first only. As
    take(), but a value that cannot be read is a dueq.Unreadable.
    """
    return self._values((yield _taking(self, count, timeout)).values)


def _taking(self: Delayed, count: int, timeout: float | timedelta | None) -> Call:
    timeout_ms = patience_ms(timeout)
    call = on(self._label, _core.redisson_take_submit, _foreign.bounded(count), timeout_ms)
    behind = on(self._label, _core.redisson_size_submit).submit
    return call._replace(waits=timeout_ms != 0, behind=behind)


def poll(self: Delayed) -> Steps[Any]:
    """
    Takes the value that waits longest, whatever its time, or None: none waits. It never reaches
    the destination. CorruptError as of take().
    """
    return self._value((yield from _polled(self, 1)))


def poll_many(self: Delayed, count: int) -> Steps[list[Any]]:
    """Takes up to `count` (1 to 200) values that wait, those offered first. As take_many()."""
    return self._values((yield from _polled(self, _foreign.bounded(count))))


def _polled(self: Delayed, count: int) -> Steps[list[_core.ReadRow]]:
    def undo(answer: Answer) -> Iterable[Call]:
        # There is no way back to its place and time: the next poll has it.
        self._kept += answer.values
        return ()

    kept, self._kept = self._kept[:count], self._kept[count:]
    if kept:
        return kept
    call = on(self._label, _core.redisson_poll_submit, count)
    return (yield call._replace(undo=undo)).values


def peek(self: Delayed, count: int = 1) -> Steps[list[Any]]:
    """Looks at them, in the same order, without touching them."""
    answer = yield on(self._label, _core.redisson_peek_submit, _foreign.bounded(count))
    return self._values(answer.values)


def remove(self: Delayed, value: Value) -> Steps[bool]:
    """
    Takes the element of this value that waits longest away. False: there is none. Its cost grows
    with the queue.

    A dict with None members finds what dueq offered of it; where there is none, what Redisson wrote
    of such a map, which leaves these members out (but for the codec "typed json3").
    """
    answer = yield on(self._label, _core.redisson_remove_submit, value_row(value))
    return answer.status == _core.OK


def contains(self: Delayed, value: Value) -> Steps[bool]:
    """Does an element of this value wait, as remove() finds it? The cost grows with the queue."""
    answer = yield on(self._label, _core.redisson_contains_submit, value_row(value))
    return answer.status == _core.OK


def size(self: Delayed) -> Steps[Sizes]:
    """Counts the queue."""
    return _foreign.sizes(self, _core.redisson_size_submit)


def clear(self: Delayed) -> Steps[int]:
    """Takes all that wait away, and returns how many they were. The destination stays."""
    return _foreign.cleared(self, _core.redisson_clear_submit)
