"""What a producer pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

from dueq import _core
from dueq.backoff import backoff_row
from dueq.errors import InvalidError
from dueq.times import due_ms, limit_ms, optional_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer

    from dueq.backoff import BackoffLike

    Body: TypeAlias = Buffer | str

R = TypeVar("R")


class Options(TypedDict, total=False):
    """The fields of a Draft but for its body, as keyword arguments of a push."""

    delay: float | timedelta | None
    at: float | datetime | None
    id: str | None
    max_attempts: int | None
    lease: float | timedelta | None
    headers: Mapping[str, str] | None
    priority: int
    ttl: float | timedelta | None
    backoff: BackoffLike | None
    max_crashes: int | None
    drop: bool
    dead_letter: str | None
    unique: float | timedelta | None
    replace: bool | Literal["body"]


_EXISTING = {False: _core.REFUSE, True: _core.REPLACE, "body": _core.REPLACE_BODY}

# A batch is about so large: far below what servers accept of one client.
_BATCH_BYTES = 16 * 1024 * 1024


def _text(value: str | None, name: str) -> str:
    if value == "":
        raise InvalidError(f"{name}: an empty one; None is none")
    return value or ""


def _limit(value: int | None, name: str) -> int:
    limit = 0 if value is None else value
    if not 0 <= limit <= _core.MAX_MAX_ATTEMPTS:
        raise InvalidError(f"{name}: {value} is not 1 to {_core.MAX_MAX_ATTEMPTS}")
    return limit


@dataclass(frozen=True, slots=True)
class Draft:
    """
    A message to push. Durations are seconds or a timedelta.

    body          bytes, anything with a buffer, or a str, which is stored as UTF-8
    delay         not before so long after the push
    at            not before this time by the server: an aware datetime, or seconds since 1970
    id            1 to 255 bytes of UTF-8 without control characters; None: the core makes one
    priority      1 high, 0 normal, -1 low: all of a higher one go before any of a lower one
    headers       names and values of text
    lease         of a delivery where the consumer names none
    ttl           not delivered later than so long after the push; None: no end

    max_attempts  failures (retries) before the message dies; None: without limit
    max_crashes   deliveries whose lease ended before it dies; None: without limit
    backoff       the delay of a retry that names none: a duration, a sequence of them (for the
                  first failure, the second ...) or a dueq.Backoff; None: none
    drop          True: when it dies the message is gone, and not kept as dead
    dead_letter   the queue that it moves to when it dies; None: it is dead in its own

    unique        with an id: refuses others of that id for so long, also when the message is gone
    replace       with an id, where a living message has it. False: this one is refused. True: the
                  old one is gone as if cancelled, and this one takes its place. "body": the same,
                  but one that is ready or delayed keeps its time and its place in the line.
    """

    body: Body
    delay: float | timedelta | None = field(default=None, kw_only=True)
    at: float | datetime | None = field(default=None, kw_only=True)
    id: str | None = field(default=None, kw_only=True)
    max_attempts: int | None = field(default=_core.DEFAULT_ATTEMPTS, kw_only=True)
    lease: float | timedelta | None = field(default=None, kw_only=True)
    headers: Mapping[str, str] | None = field(default=None, kw_only=True)
    priority: int = field(default=_core.NORMAL, kw_only=True)
    ttl: float | timedelta | None = field(default=None, kw_only=True)
    backoff: BackoffLike | None = field(default=None, kw_only=True)
    max_crashes: int | None = field(default=_core.DEFAULT_CRASHES, kw_only=True)
    drop: bool = field(default=False, kw_only=True)
    dead_letter: str | None = field(default=None, kw_only=True)
    unique: float | timedelta | None = field(default=None, kw_only=True)
    replace: bool | Literal["body"] = field(default=False, kw_only=True)

    def row(self) -> _core.DraftRow:
        """The same as the core wants it. InvalidError for what the core could not see."""
        if self.priority not in (_core.LOW, _core.NORMAL, _core.HIGH):
            raise InvalidError(f"priority: {self.priority!r} is not 1, 0 or -1")
        if self.replace not in _EXISTING:
            raise InvalidError(f"replace: {self.replace!r} is not True, False or 'body'")
        return (
            self.body,
            _text(self.id, "id"),
            *due_ms(self.delay, self.at),
            _limit(self.max_attempts, "max_attempts"),
            optional_ms(self.lease, "lease"),
            tuple(dict(self.headers).items()) if self.headers else (),
            self.priority,
            _limit(self.max_crashes, "max_crashes"),
            limit_ms(self.ttl, "ttl"),
            backoff_row(self.backoff),
            self.drop,
            _text(self.dead_letter, "dead_letter"),
            optional_ms(self.unique, "unique"),
            _EXISTING[self.replace],
        )


_PLAIN = Draft(b"").row()[1:]


def row(body: Body, options: Options) -> _core.DraftRow:
    """The row of Draft(body, **options)."""
    return Draft(body, **options).row() if options else (body, *_PLAIN)


def rows(drafts: Iterable[Body | Draft]) -> Iterator[_core.DraftRow]:
    """Drafts, or bodies alone, as the core wants them."""
    if isinstance(drafts, (str, bytes, bytearray, Draft)):
        raise TypeError("one message stands where several are wanted: put it in a list")
    return (draft.row() if isinstance(draft, Draft) else row(draft, {}) for draft in drafts)


def batches(drafts: Iterable[Body | Draft]) -> Iterator[tuple[_core.DraftRow, ...]]:
    """The same in tuples that are small enough for one call each."""
    return portions(rows(drafts), lambda row: size_of(row[0]))


def portions(rows: Iterable[R], size: Callable[[R], int]) -> Iterator[tuple[R, ...]]:
    """What goes into one call each, by how many bytes each has."""
    batch: list[R] = []
    total = 0
    for row in rows:
        batch.append(row)
        total += size(row)
        if len(batch) == _core.MAX_BATCH or total >= _BATCH_BYTES:
            yield tuple(batch)
            batch = []
            total = 0
    if batch:
        yield tuple(batch)


def size_of(text: Body) -> int:
    """About how many bytes it has."""
    return len(text) if isinstance(text, str) else memoryview(text).nbytes
