"""How long a message waits after each failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from dueq import _core
from dueq.errors import InvalidError
from dueq.times import duration_ms, limit_ms, optional_ms

_KINDS = {
    "fixed": _core.BACKOFF_FIXED,
    "linear": _core.BACKOFF_LINEAR,
    "exponential": _core.BACKOFF_EXPONENTIAL,
    "list": _core.BACKOFF_LIST,
}
_JITTERS = {
    "none": _core.JITTER_NONE,
    "full": _core.JITTER_FULL,
    "equal": _core.JITTER_EQUAL,
}
_DEFAULT: _core.BackoffRow = (_core.BACKOFF_DEFAULT, _core.JITTER_NONE, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Backoff:
    """
    The delay of a retry that names none, by the failures n = 1, 2 ... of the message.

    kind    "fixed": base. "linear": base * n. "exponential": base * 2 ** (n - 1).
            "list": the nth of delays, and its last one from then on.
    base    seconds (or a timedelta), more than 0, or for "fixed" 0: at once; not for "list"
    cap     the most that a delay grows to, in seconds (or a timedelta); None: without limit
    jitter  what chance does to each delay d: "none"; "full": anything from 0 to d; "equal":
            anything from d / 2 to d
    delays  1 to 32 seconds (or timedeltas), for "list" alone

    Each is at most 49 days.
    """

    kind: Literal["fixed", "linear", "exponential", "list"]
    base: float | timedelta | None = None
    cap: float | timedelta | None = None
    jitter: Literal["none", "full", "equal"] = "none"
    delays: Sequence[float | timedelta] = field(default=(), kw_only=True)

    def row(self) -> _core.BackoffRow:
        """The same as the core wants it. InvalidError for what the core could not see."""
        if self.base is None and self.kind == "fixed":
            raise InvalidError("base: a fixed backoff needs one; 0 is at once")
        return (
            _number(_KINDS, self.kind, "backoff"),
            _number(_JITTERS, self.jitter, "jitter"),
            optional_ms(self.base, "base"),
            limit_ms(self.cap, "cap"),
            tuple(duration_ms(delay, "delays") for delay in self.delays),
        )


BackoffLike: TypeAlias = float | timedelta | Sequence[float | timedelta] | Backoff


def backoff_row(backoff: BackoffLike | None) -> _core.BackoffRow:
    """
    A backoff as the core wants it: None is the default, a delay alone a fixed one, a sequence a
    list. InvalidError where a delay is negative, endless or no number.
    """
    if backoff is None:
        return _DEFAULT
    if isinstance(backoff, (int, float, timedelta)):
        backoff = Backoff("fixed", backoff)
    elif isinstance(backoff, (str, bytes, bytearray)):
        raise TypeError("backoff: text; seconds, a timedelta or a list of these are wanted")
    elif not isinstance(backoff, Backoff):
        backoff = Backoff("list", delays=backoff)
    return backoff.row()


def _number(numbers: dict[str, int], word: str, name: str) -> int:
    try:
        return numbers[word]
    except KeyError:
        raise InvalidError(f"{name}: {word!r} is not one of {', '.join(numbers)}") from None
