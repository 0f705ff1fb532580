"""
The JSON forms of values that JSON does not have. docs/internals/protocol.md has the table, which
PHP keeps to as well.
"""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import enum
import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from reprlib import repr as short
from typing import Any
from uuid import UUID

# More digits than any amount has. Without a limit, 1E+1000000 would be a megabyte of zeros.
_MAX_DIGITS = 400

_LISTS = (
    list,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.MutableSequence,
    collections.abc.Sequence,
)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_PLAIN = (str, int, float, bool, list, dict)


@dataclass(frozen=True, slots=True)
class Form:
    """How values of a type are written as JSON, and read."""

    own: type | tuple[type, ...]
    """The type. Only its values are written; others may be JSON already."""
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]

    def write(self, value: Any) -> Any:
        """
        What JSON has for the value. A value of another type is returned as it is. Raises TypeError
        or ValueError for a value that this form cannot express.
        """
        return self.to_json(value) if isinstance(value, self.own) else value

    def read(self, value: Any) -> Any:
        """The value that write() wrote. Raises an exception for anything else."""
        return self.from_json(value)


def form_of(annotation: Any) -> Form | None:
    """The form of the values of an annotation; None: they are JSON, or nobody knows."""
    if isinstance(annotation, typing.NewType):
        return form_of(annotation.__supertype__)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return form_of(annotation.__origin__)
    if hasattr(annotation, "__value__"):  # `type Name = ...` of Python 3.12
        return form_of(annotation.__value__)
    if origin in (typing.Union, types.UnionType):
        return _union(annotation)
    kind = origin or annotation
    if not isinstance(kind, type):
        return None
    given = typing.get_args(annotation)
    if kind in _LISTS and given:
        return _list(form_of(given[0]))
    if kind in _DICTS and given:
        return _dict(form_of(given[1]))
    if kind is tuple:
        return _tuple(given)
    return _of_class(kind, annotation)


def write_any(value: Any) -> Any:
    """What JSON has for a value, by the types of the value and of what is inside it."""
    if isinstance(value, dict):
        return {key: write_any(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [write_any(inner) for inner in value]
    form = form_of(type(value))
    return form.write(value) if form else value


def _of_class(kind: type, annotation: Any) -> Form | None:
    if issubclass(kind, enum.Enum):
        return Form(kind, lambda value: write_any(value.value), partial(_member, kind))
    for own, form in _SCALARS.items():
        if issubclass(kind, own):
            return form
    if _is_from("pydantic", "BaseModel", kind) and hasattr(kind, "model_validate_json"):
        write, read = _pydantic(kind)
    elif _is_from("msgspec", "Struct", kind):
        write, read = _msgspec(annotation)
    elif dataclasses.is_dataclass(kind):
        write, read = partial(_fields_json, kind), partial(_from_fields, kind)
    else:
        return None
    return Form(
        kind, partial(_exactly, kind, write), lambda v: v if isinstance(v, kind) else read(v)
    )


def _is_from(module: str, base: str, kind: type) -> bool:
    """
    Whether a class derives from a class of a library. If it does, the library is imported: dueq
    itself never imports one.
    """
    return issubclass(kind, getattr(sys.modules.get(module), base, ()))


def _exactly(kind: type, write: Callable[[Any], Any], value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"a {type(value).__name__} would arrive as a {kind.__name__}")
    return write(value)


# Values without parts


def _wanted(value: Any, what: str, *kinds: type) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ValueError(f"{short(value)} is not {what}")
    return value


def _scalar(
    own: type | tuple[type, ...],
    what: str,
    kinds: tuple[type, ...],
    write: Callable[[Any], Any],
    read: Callable[[Any], Any],
) -> Form:
    """
    what: as an error calls the JSON form; kinds: its types in JSON. Another serializer may have
    made the value already.
    """

    def from_json(value: Any) -> Any:
        if isinstance(value, own):
            return value
        try:
            return read(_wanted(value, what, *kinds))
        except (ValueError, ArithmeticError):
            raise ValueError(f"{short(value)} is not {what}") from None

    return Form(own, write, from_json)


def _write_moment(value: datetime) -> str:
    if value.utcoffset() is None:
        raise ValueError(
            f"the datetime {value} has no time zone: give it one, as by datetime.now(UTC) or "
            "value.astimezone()"
        )
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _read_moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if value.utcoffset() is None:
        raise ValueError
    return value.astimezone(UTC)


def _write_seconds(value: timedelta) -> float:
    if value.microseconds:
        return value.total_seconds()
    return value.days * 86400 + value.seconds


def _write_decimal(value: Decimal) -> str:
    if not value.is_finite() or abs(value.adjusted()) > _MAX_DIGITS:
        raise ValueError(f"the Decimal {value} has no form of at most {_MAX_DIGITS} digits")
    return format(value, "f")


def _read_decimal(text: str | int) -> Decimal:
    value = Decimal(text)
    if not value.is_finite():
        raise ValueError
    return value


# A datetime is a date, too.
_SCALARS: dict[type, Form] = {
    datetime: _scalar(
        datetime,
        "a point of time with its zone, such as '2026-11-28T17:30:00Z'",
        (str,),
        _write_moment,
        _read_moment,
    ),
    date: _scalar(
        date,
        "a date, such as '2026-11-28'",
        (str,),
        lambda value: value.isoformat(),
        date.fromisoformat,
    ),
    timedelta: _scalar(
        timedelta,
        "a number of seconds",
        (int, float),
        _write_seconds,
        lambda seconds: timedelta(seconds=seconds),
    ),
    UUID: _scalar(UUID, "a UUID", (str,), str, UUID),
    Decimal: _scalar(
        Decimal,
        "a decimal number in a text, such as '12.50'",
        (str, int),
        _write_decimal,
        _read_decimal,
    ),
    bytes: _scalar(
        (bytes, bytearray),
        "bytes in Base64",
        (str,),
        lambda value: base64.b64encode(value).decode(),
        lambda text: base64.b64decode(text, validate=True),
    ),
}


def _member(kind: type[enum.Enum], value: Any) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        for member in kind:
            if write_any(member.value) == value:
                return member
    raise ValueError(f"{short(value)} is no value of {kind.__name__}")


# Classes with fields


@cache
def _fields(kind: type) -> dict[str, Form | None]:
    """The forms of the fields that the constructor of a dataclass takes."""
    hints = typing.get_type_hints(kind, include_extras=True)
    made = [field for field in dataclasses.fields(kind) if field.init]
    return {field.name: form_of(hints[field.name]) for field in made}


def _fields_json(kind: type, value: Any) -> dict[str, Any]:
    return _each(_fields(kind), {name: getattr(value, name) for name in _fields(kind)}, Form.write)


def _from_fields(kind: type, value: Any) -> Any:
    wanted = f"an object with the fields of {kind.__name__}"
    forms = _fields(kind)
    if unknown := _wanted(value, wanted, dict).keys() - forms:
        raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return kind(**_each(forms, value, Form.read))


def _each(
    forms: Mapping[str, Form | None], values: Mapping[str, Any], change: Callable[[Form, Any], Any]
) -> dict[str, Any]:
    changed = {}
    for name, value in values.items():
        form = forms[name]
        try:
            changed[name] = change(form, value) if form else value
        except Exception as error:
            raise ValueError(f"{name}: {error}") from error
    return changed


def _pydantic(kind: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    # A strict model takes a text for a datetime out of JSON only.
    return (
        lambda value: value.model_dump(mode="json", by_alias=True),
        lambda value: kind.model_validate_json(json.dumps(value)),
    )


def _msgspec(annotation: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    msgspec: Any = sys.modules["msgspec"]
    return (
        partial(msgspec.to_builtins, str_keys=True),
        lambda value: msgspec.convert(value, annotation, str_keys=True),
    )


# Lists, dicts, tuples and unions


def _list(item: Form | None) -> Form | None:
    if item is None:
        return None

    def read(value: Any) -> list[Any]:
        return _items([item] * len(_wanted(value, "a list", list, tuple)), value, Form.read)

    return Form((list, tuple), lambda value: _items([item] * len(value), value, Form.write), read)


def _dict(inner: Form | None) -> Form | None:
    if inner is None:
        return None
    return Form(
        dict,
        lambda value: _each(dict.fromkeys(value, inner), value, Form.write),
        lambda value: _each(
            dict.fromkeys(_wanted(value, "an object", dict), inner), value, Form.read
        ),
    )


def _tuple(given: tuple[Any, ...]) -> Form:
    """given: what stands in the brackets. Every tuple has a form, as JSON has lists alone."""
    more = given[1:] == (...,)
    forms = [form_of(one) for one in given if one is not ...]

    def forms_for(value: Any) -> list[Form | None]:
        if not given:
            return [None] * len(value)
        if more:
            return forms * len(value)
        if len(value) != len(forms):
            raise ValueError(f"{short(value)} has not {len(forms)} items")
        return forms

    def read(value: Any) -> tuple[Any, ...]:
        _wanted(value, "a list", list, tuple)
        return tuple(_items(forms_for(value), value, Form.read))

    return Form(tuple, lambda value: _items(forms_for(value), value, Form.write), read)


def _items(
    forms: Iterable[Form | None], values: Iterable[Any], change: Callable[[Form, Any], Any]
) -> list[Any]:
    return [
        change(form, value) if form else value for form, value in zip(forms, values, strict=True)
    ]


def _union(annotation: Any) -> Form | None:
    """
    A value is read by the first member with a form that can read it; else it is JSON of another
    member, if one fits.
    """
    members = typing.get_args(annotation)
    forms = [form for form in map(form_of, members) if form]
    if not forms:
        return None
    kinds = [typing.get_origin(member) or member for member in members]
    plain = tuple(kind for kind in kinds if kind in _PLAIN)
    optional = type(None) in members
    # Of another member nobody knows which JSON it has.
    any_json = len(forms) + len(plain) + optional < len(members)

    def write(value: Any) -> Any:
        own = [form for form in forms if isinstance(value, form.own)]
        exact = [form for form in own if type(value) is form.own]
        written = (exact or own)[0].write(value) if own else value
        if (own or isinstance(value, plain)) and not isinstance(value, type(back := read(written))):
            raise TypeError(f"{short(value)} would arrive as {short(back)}")
        return written

    def read(value: Any) -> Any:
        if value is None and optional:
            return None
        failed: Exception | None = None
        for form in forms:
            try:
                return form.read(value)
            except Exception as error:
                failed = failed or error
        if any_json or isinstance(value, plain):
            return value
        assert failed
        raise failed if len(forms) == 1 else ValueError(f"{short(value)} is not {annotation}")

    return Form(object, write, read)
