"""The delay of a message after each failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from dueq import _core
from dueq.errors import InvalidError
from dueq.times import duration_ms, limit_ms, optional_ms

KINDS = {
    "fixed": _core.BACKOFF_FIXED,
    "linear": _core.BACKOFF_LINEAR,
    "exponential": _core.BACKOFF_EXPONENTIAL,
    "list": _core.BACKOFF_LIST,
}
JITTERS = {
    "none": _core.JITTER_NONE,
    "full": _core.JITTER_FULL,
    "equal": _core.JITTER_EQUAL,
}
_DEFAULT: _core.BackoffRow = (_core.BACKOFF_DEFAULT, _core.JITTER_NONE, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Backoff:
    """
    The delay of a retry that sets none, by the failures n = 1, 2 ... of the message.

    kind    "fixed": base. "linear": base * n. "exponential": base * 2 ** (n - 1). "list": the nth
            of delays, and the last one from then on
    base    seconds (or a timedelta), more than 0; for "fixed" also 0: at once; None for "list"
    cap     the most that a delay grows to, in seconds (or a timedelta), more than 0; None: no cap
    jitter  the random part of each delay d. "none": exactly d. "full": from 0 to d. "equal": from d
            / 2 to d
    delays  1 to 32 delays in seconds (or timedeltas), for "list" alone

    Each time is at most 49 days.
    """

    kind: Literal["fixed", "linear", "exponential", "list"]
    base: float | timedelta | None = None
    cap: float | timedelta | None = None
    jitter: Literal["none", "full", "equal"] = "none"
    delays: Sequence[float | timedelta] = field(default=(), kw_only=True)

    def row(self) -> _core.BackoffRow:
        """The row for the core. Raises InvalidError for values that the core could not check."""
        if self.base is None and self.kind == "fixed":
            raise InvalidError("base: a fixed backoff needs one; 0 is at once")
        return (
            _number(KINDS, self.kind, "backoff"),
            _number(JITTERS, self.jitter, "jitter"),
            optional_ms(self.base, "base"),
            limit_ms(self.cap, "cap"),
            tuple(duration_ms(delay, "delays") for delay in self.delays),
        )


BackoffLike: TypeAlias = float | timedelta | Sequence[float | timedelta] | Backoff


def backoff_row(backoff: BackoffLike | None) -> _core.BackoffRow:
    """
    The row of a backoff for the core. None: the default. A single delay: a fixed backoff. A
    sequence: a list. Raises InvalidError if a delay is negative, infinite or not a number, and
    TypeError for a text.
    """
    if backoff is None:
        return _DEFAULT
    if isinstance(backoff, (int, float, timedelta)):
        backoff = Backoff("fixed", backoff)
    elif isinstance(backoff, (str, bytes, bytearray)):
        raise TypeError("backoff: a text; give seconds, a timedelta, a list of them or a Backoff")
    elif not isinstance(backoff, Backoff):
        backoff = Backoff("list", delays=backoff)
    return backoff.row()


def _number(numbers: dict[str, int], word: str, name: str) -> int:
    try:
        return numbers[word]
    except KeyError:
        raise InvalidError(f"{name}: {word!r} is not one of {', '.join(numbers)}") from None
