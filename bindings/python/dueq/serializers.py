"""Tasks as messages: the name in a header, the arguments in the body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

from dueq.errors import InvalidError

TASK = "task"
SERIALIZER = "serializer"
CURSOR = "cursor"
CHAIN = "dueq-chain"
FAILED = "dueq-failed"
RESERVED = frozenset({TASK, SERIALIZER, CURSOR, CHAIN, FAILED})

_MAX_NAME = 255


class UnknownTask(LookupError):
    """This program has no task, no handler of the queue, or no serializer of this name."""


class BadTask(ValueError):
    """The body of a message is not the body of a task."""


class Serializer(Protocol):
    """
    Encodes the arguments of a task as a body, and decodes them.

    Anybody who may push chooses the bytes that it decodes. A serializer that runs code of its
    input, such as pickle, lets them run code in the worker.
    """

    @property
    def name(self) -> str:
        """The name in the header `serializer`, the same in producers and workers."""

    def dumps(self, value: dict[str, Any], /) -> bytes:
        """Encodes {"args": [...], "kwargs": {...}}."""

    def loads(self, data: bytes, /) -> object:
        """Decodes the value. If this raises an exception, the message is retried."""


class Json:
    """The default serializer. It makes the same bytes in every language."""

    name = "json"

    def dumps(self, value: Any, /) -> bytes:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        _check_keys(value)
        return text.encode()

    def loads(self, data: bytes, /) -> Any:
        return json.loads(data.decode(), parse_constant=_not_json)


JSON = Json()


def checked_name(name: str) -> str:
    """Returns the name. Raises InvalidError if it cannot be the name of a task."""
    bad = any(ord(letter) < 32 or ord(letter) == 127 for letter in name)
    if bad or not 0 < len(name.encode()) <= _MAX_NAME:
        raise InvalidError(
            f"name: {name!r} is not 1 to {_MAX_NAME} bytes of UTF-8 without control characters"
        )
    return name


def body_of(serializer: Serializer, args: Sequence[object], kwargs: Mapping[str, object]) -> bytes:
    """The body of a task with these arguments."""
    return serializer.dumps({"args": list(args), "kwargs": dict(kwargs)})


def arguments_of(serializer: Serializer, body: bytes) -> tuple[list[Any], dict[str, Any]]:
    """
    The arguments in the body of a task. "args" and "kwargs" may each be missing. Raises BadTask.
    """
    try:
        value = serializer.loads(body)
    except Exception as error:
        raise BadTask(f"the body is not of the serializer {serializer.name}: {error}") from error
    if not isinstance(value, dict) or not value.keys() <= {"args", "kwargs"}:
        raise BadTask('the body is not {"args": [...], "kwargs": {...}}')
    args, kwargs = value.get("args", []), value.get("kwargs", {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise BadTask('the body is not {"args": [...], "kwargs": {...}}')
    return args, kwargs


def unique_id(name: str, body: bytes) -> str:
    """The id of a unique task that is pushed without an id: the same for the same arguments."""
    return f"{name}:{hashlib.sha256(body).hexdigest()[:32]}"


def _check_keys(value: Any) -> None:
    """Raises TypeError for a key that is not a str: json.dumps() would convert it silently."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text, as JSON's keys are")
            _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if isinstance(inner, (dict, list, tuple)):
                _check_keys(inner)


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
