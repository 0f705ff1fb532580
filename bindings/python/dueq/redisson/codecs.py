"""Redisson's codecs, and the values of Java that they write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dueq import _core
from dueq._json import json_text
from dueq.errors import CorruptError, InvalidError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from typing_extensions import Buffer

    from dueq._link import Open

    Value: TypeAlias = (
        bool | int | float | str | Buffer | Sequence[object] | Mapping[str, object] | None
    )
    Codec: TypeAlias = Literal[
        "kryo5", "bytes", "string", "long", "jackson", "typed json", "jackson3", "typed json3"
    ]
    Layout: TypeAlias = Literal["new", "old"]

CODECS = {
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


def opener(codec: Codec, layout: Layout | None) -> Open:
    """
    Returns a function that opens a delayed queue. Raises InvalidError for a wrong codec or layout.
    """
    if codec not in CODECS:
        raise InvalidError(f"codec: {codec!r} is not one of {', '.join(CODECS)}")
    if layout not in _LAYOUTS:
        raise InvalidError(f"layout: {layout!r} is not 'new', 'old' or None")
    numbers = CODECS[codec], _LAYOUTS[layout]
    return lambda client, destination: _core.redisson_open(client, destination, *numbers)


class Long(int):
    """
    A java.lang.Long with a small value. A plain int of 32 bits becomes a java.lang.Integer, and
    Java does not consider the two equal. Longs are read as plain ints.
    """


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that the codec cannot decode, such as an object of a Java class."""

    raw: bytes
    """The bytes of the value."""
    reason: str
    """Why the value cannot be decoded."""


def value_row(value: Value) -> _core.ValueRow:
    """The row of a value for the core."""
    if value is None:
        return _core.NULL, 0, 0.0, b""
    if isinstance(value, bool):
        return _core.BOOLEAN, value, 0.0, b""
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        return _core.DOUBLE, 0, value, b""
    if isinstance(value, str):
        return _core.STRING, 0, 0.0, value
    if isinstance(value, (dict, list, tuple)):
        return _core.JSON, 0, 0.0, json_text(value, "a value")
    try:
        return _core.BINARY, 0, 0.0, bytes(memoryview(value))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"a {type(value).__name__} has no form in Java here: bool, int, float, str, bytes, "
            f"list, dict and None have"
        ) from None


def _whole(value: int) -> _core.ValueRow:
    if not -(2**63) <= value < 2**63:
        return _core.JSON, 0, 0.0, str(int(value))
    short = -(2**31) <= value < 2**31 and not isinstance(value, Long)
    return _core.INTEGER if short else _core.LONG, value, 0.0, b""


def plain(row: _core.ReadRow, reason: Callable[[bytes], str]) -> Any:
    """Converts a value that the core has read; Unreadable if that is not possible."""
    status, kind, value = row
    if status == _core.CORRUPT:
        assert isinstance(value, bytes)
        return Unreadable(value, reason(value))
    if kind == _core.JSON:
        assert isinstance(value, str)
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            # Valid JSON that Python refuses: an integer of thousands of digits, or a thousand
            # levels.
            return Unreadable(value.encode(), f"JSON that Python does not read: {error}")
    return value


def readable(value: Any) -> Any:
    """Returns the value. Raises CorruptError for an Unreadable."""
    if not isinstance(value, Unreadable):
        return value
    error = CorruptError(f"{value.reason}; the exception's `raw` has the value's bytes")
    error.raw = value.raw
    raise error
