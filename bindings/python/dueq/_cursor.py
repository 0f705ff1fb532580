"""What a job keeps in the header `cursor` of its message: its checkpoint, steps and progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dueq.errors import CorruptError, InvalidError
from dueq.serializers import JSON

# The first word of a cursor with steps or a progress. No JSON begins with it.
_MARK = "dueq"

_MAX_NAME = 255
_MAX_NOTE = 255

Json: TypeAlias = str


@dataclass(frozen=True, slots=True)
class Cursor:
    """
    The parts of a cursor (docs/internals/protocol.md, The cursor of a job).

    checkpoint  of Job.checkpoint(), as JSON; "": there was none
    progress    the share of Job.progress(), and behind a space its note; "": there was none
    steps       of each step its name and its value as JSON, in their order: {"charge":17}
    """

    checkpoint: Json = ""
    progress: str = ""
    steps: tuple[Json, ...] = ()

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        """The cursor of a header; None: the message has none."""
        first, *others = (text or "").split("\n")
        mark, _, progress = first.partition(" ")
        if mark != _MARK or not others:
            return cls(text or "")
        return cls(others[0], progress, tuple(others[1:]))

    @property
    def text(self) -> str:
        """The header."""
        if not self.progress and not self.steps:
            return self.checkpoint
        first = f"{_MARK} {self.progress}" if self.progress else _MARK
        return "\n".join((first, self.checkpoint, *self.steps))

    @property
    def value(self) -> Any:
        """The value of the checkpoint; None: there was none. Raises CorruptError."""
        return _read("checkpoint", self.checkpoint) if self.checkpoint else None

    def with_checkpoint(self, value: Any) -> Cursor:
        """Raises TypeError or ValueError if JSON cannot express the value."""
        return replace(self, checkpoint=JSON.dumps(value).decode())

    def with_progress(self, share: float, note: str) -> Cursor:
        """Raises InvalidError if the share is not 0 to 1."""
        if not 0 <= share <= 1:
            raise InvalidError(f"progress: {share!r} is not 0 to 1")
        number = f"{share:.4f}".rstrip("0").rstrip(".")
        line = "".join(" " if ord(each) < 32 or ord(each) == 127 else each for each in note)
        cut = line.encode(errors="replace")[:_MAX_NOTE].decode(errors="ignore")
        return replace(self, progress=f"{number} {cut}".rstrip(" "))

    def with_step(self, step: Json) -> Cursor:
        return replace(self, steps=(*self.steps, step))

    def step(self, name: str) -> tuple[Any, ...]:
        """The value of a step; (): there is none of this name. Raises CorruptError."""
        for step in self.steps:
            kept = _read("step", step)
            if not isinstance(kept, dict):
                raise CorruptError(f"the message's cursor has a step that is no object: {step!r}")
            if name in kept:
                return (kept[name],)
        return ()


def _read(what: str, text: Json) -> Any:
    try:
        return JSON.loads(text.encode())
    except ValueError as error:
        raise CorruptError(f"the message's cursor has a {what} that is no JSON: {error}") from error


def made_step(name: str, value: Any) -> tuple[Json, Any]:
    """
    A step as the cursor has it, and its value as the next run will read it. Raises TypeError or
    ValueError if JSON cannot express the value.
    """
    try:
        step = JSON.dumps({name: value})
    except (TypeError, ValueError) as error:
        raise type(error)(f"step {name}: what the function returned: {error}") from error
    return step.decode(), JSON.loads(step)[name]


def checked_step(name: str) -> str:
    """Returns the name of a step. Raises InvalidError if it cannot be one."""
    if not isinstance(name, str):
        raise TypeError(f"step: the name {name!r} is not a str")
    if not 0 < len(name.encode()) <= _MAX_NAME:
        raise InvalidError(f"step: the name {name!r} is not 1 to {_MAX_NAME} bytes of UTF-8")
    return name
