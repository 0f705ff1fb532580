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
    """The fields of a Draft except its body, as keyword arguments of a push."""

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
        raise InvalidError(f"{name}: is empty; give None for none")
    return value or ""


def _limit(value: int | None, name: str, of_one: str) -> int:
    """of_one: what a limit of 1 means."""
    if value is None:
        return _core.NO_LIMIT
    if value == 0:
        raise InvalidError(f"{name}: 0: use None for no limit, 1 for {of_one}")
    if not 0 < value <= _core.MAX_MAX_ATTEMPTS:
        raise InvalidError(f"{name}: {value} is not 1 to {_core.MAX_MAX_ATTEMPTS}")
    return value


@dataclass(frozen=True, slots=True)
class Draft:
    """
    A message to push. Durations are seconds or a timedelta.

    body          bytes, anything with a buffer, or a str, which is stored as UTF-8
    delay         it is due this long after the push
    at            it is due at this time by the server's clock: an aware datetime, or seconds since
                  1970
    id            1 to 255 bytes of UTF-8 without control characters; None: the core creates one
    priority      1 high, 0 normal, -1 low: higher ones are delivered first
    headers       names and values of text
    lease         the lease of a delivery, if the consumer sets none
    ttl           it is deleted if it is not delivered within this time after the push; None: never

    max_attempts  failures (retries) until the message is dead; 1: no retry; None: no limit
    max_crashes   deliveries whose lease ended until it is dead; None: no limit
    backoff       the delay of a retry without a delay: a duration (0: at once), a sequence of them
                  (for the first failure, the second ...) or a dueq.Backoff. None: the default,
                  Backoff("exponential", base=1, cap=3600, jitter="equal"), which with 16 attempts
                  gives up after two to four hours
    drop          True: the message is deleted instead of kept as dead
    dead_letter   the queue that it moves to instead of being kept as dead; None: it is kept

    unique        with an id: refuses other messages of this id for this long after the push, also
                  when the message is done
    replace       with an id: what happens when a message in the queue has it. False: the push is
                  refused. True: the old message is deleted, as by cancel(), and this one is stored.
                  "body": the same, but a ready or delayed one keeps its due time and its place.
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
            _limit(self.max_attempts, "max_attempts", "no retry"),
            optional_ms(self.lease, "lease"),
            tuple(dict(self.headers).items()) if self.headers else (),
            self.priority,
            _limit(self.max_crashes, "max_crashes", "no second delivery after one"),
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
        raise TypeError("a list of messages is required, not one message")
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
