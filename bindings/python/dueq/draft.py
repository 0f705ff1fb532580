"""The message that a producer pushes."""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    get_type_hints,
)

from dueq import _core
from dueq._gaps import Unknown, refuse_gaps
from dueq._json import json_text
from dueq.backoff import BackoffLike, backoff_row
from dueq.errors import InvalidError
from dueq.times import due_ms, limit_ms, optional_ms, point_ms

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from dueq.app import App
else:  # Python 3.12 has its name
    Buffer = getattr(collections.abc, "Buffer", bytes | bytearray | memoryview)

Body: TypeAlias = Buffer | str

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


class Options(TypedDict, total=False):
    """The arguments of a Draft except its body, as keyword arguments of a push."""

    # Made from core/options.toml by core/verbs.py: the keyword arguments of a push.
    json: object
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
    replicas: int
    disk: bool
    durable_timeout: float | timedelta | None
    key: str | None
    group: str | None
    keep: float | timedelta | None
    batch: str | None
    # The end of what was made.


_REPLACE = {False: _core.REFUSE, True: _core.REPLACE, "body": _core.REPLACE_BODY}

# About the size of a batch: far below the limit that servers set for one client.
_BATCH_BYTES = 16 * 1024 * 1024


# The core would convert other types silently, or refuse them without the option's name.
def _check(value: R, name: str, types: type | tuple[type, ...]) -> R:
    if not isinstance(value, types):
        listed = types if isinstance(types, tuple) else (types,)
        wanted = " or ".join(type.__name__.replace("NoneType", "None") for type in listed)
        raise TypeError(f"{name}: {value!r} is not {wanted}")
    return value


def durability_row(
    replicas: int, disk: bool, timeout: float | timedelta | None
) -> _core.DurabilityRow:
    """The row for the core of the durability that a queue or a push asks for."""
    _check(replicas, "replicas", int)
    _check(disk, "disk", bool)
    return replicas, disk, limit_ms(timeout, "durable_timeout")


def _header_row(headers: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    if headers is None:
        return ()
    pairs = tuple(dict(_check(headers, "headers", (Mapping, type(None)))).items())
    for name, value in pairs:
        _check(name, "headers", str)
        _check(value, f"headers: {name}", str)
    return pairs


def _body(body: Body | None, json: object) -> Body:
    if json is ...:
        if body is None:
            raise TypeError("body: it is missing, and so is json")
        return body
    if body is not None:
        raise TypeError("give either a body or json, not both")
    return json_text(json, "json")


def _text(value: str | None, name: str) -> str:
    if value is None:
        return ""
    if not _check(value, name, (str, type(None))):
        raise InvalidError(f"{name}: is empty; give None for none")
    return value


def _priority(value: int) -> int:
    if _check(value, "priority", int) not in (_core.LOW, _core.NORMAL, _core.HIGH):
        raise InvalidError(f"priority: {value!r} is not 1, 0 or -1")
    return value


def _replace(value: bool | Literal["body"]) -> int:
    if _check(value, "replace", (bool, str)) not in _REPLACE:
        raise InvalidError(f"replace: {value!r} is not True, False or 'body'")
    return _REPLACE[value]


def _limit(value: int | None, name: str, of_one: str) -> int:
    """of_one: says in the error what a limit of 1 means."""
    if value is None:
        return _core.NO_LIMIT
    if _check(value, name, (int, type(None))) == 0:
        raise InvalidError(f"{name}: 0: use None for no limit, 1 for {of_one}")
    if not 0 < value <= _core.MAX_MAX_ATTEMPTS:
        raise InvalidError(f"{name}: {value} is not 1 to {_core.MAX_MAX_ATTEMPTS}")
    return value


@dataclass(frozen=True, slots=True)
class Draft:
    # Made from core/options.toml by core/verbs.py: the fields of a draft.
    """
    A message to push. Durations are seconds or a timedelta.

    body          bytes, anything with a buffer, or a str, which is stored as UTF-8
    json          instead of a body: what json.dumps() takes; the body is its shortest JSON in UTF-8
    delay         the message is due this long after the push; None: it is ready at once
    at            the message is due at this time by the server's clock: an aware datetime, or
                  seconds since 1970; not together with a delay
    lease         the lease of a delivery, if the consumer sets none; None: 30 seconds; for a
                  consumer with a heartbeat 8
    headers       names and values of text, 65,535 bytes in all
    priority      1 high, 0 normal, -1 low: higher ones are delivered first
    ttl           the message is deleted if it was not delivered within this time after the push,
                  more than 0; None: never
    group         the group of the message, such as a customer: groups take turns, and within a
                  group the order of the pushes holds. 1 to 128 bytes of UTF-8 without control
                  characters; not together with a priority or a key. With partitions: a group is in
                  one partition, and no message of the queue has a key; None: it has no group; all
                  such messages take turns as one group
    keep          for how long the queue keeps the end of the message: how and when it ended, and
                  its result. At most 49 days; None: as the queue says, else not at all
    batch         the id of the batch of this queue that counts how the message ends. All messages
                  of a call are in the same batch, or in none; not together with replace; None: it
                  is in no batch

    id            1 to 255 bytes of UTF-8 without control characters; None: dueq makes one, of 22
                  characters
    unique        with an id: other messages of this id are refused for this long after the push,
                  also when the message is done; None: only while it is in the queue
    replace       with an id: what happens if a message of the queue has it already. False: the push
                  is refused. True: the old message is deleted, as by cancel(), and this one is
                  stored. "body": the same, but a ready or delayed message keeps its due time and
                  its place

    max_attempts  failures (retries) until the message is dead, 1 (no retry) to 65,535; None: no
                  limit
    backoff       the delay of a retry without a delay: a duration (0: at once), a list of durations
                  (for the first failure, the second ...; then always the last one) or a Backoff;
                  None: exponential from 1 second to 1 hour with equal jitter, which with 16
                  attempts gives up after two to four hours
    max_crashes   deliveries whose lease ended until the message is dead, 1 to 65,535; None: no
                  limit
    drop          the message is deleted where it would become dead
    dead_letter   the queue to which the message moves where it would become dead; not together with
                  drop; None: it stays in its queue

    replicas      the push waits until this many replicas of the server have received the message, 0
                  to 100. If too few do in time, the push fails, and the message is stored. The
                  queue and the URL may ask for replicas and disk, too: the strictest demand counts
    disk          the push also waits until the message is on the disks of the server and of the
                  replicas
    durable_timeout
                  how long the push waits for replicas and disks; None: as the queue and the URL
                  say, else 2 seconds

    key           with partitions: messages of one key are in one partition, in their order. 1 to
                  255 bytes of UTF-8 without control characters; not in a queue with partitions
                  whose messages have groups; None: the group decides, or else the id, if it is
                  given; else any partition
    """

    body: Body = None  # type: ignore[assignment] # never after __post_init__
    json: InitVar[object] = field(default=..., kw_only=True)
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
    replicas: int = field(default=0, kw_only=True)
    disk: bool = field(default=False, kw_only=True)
    durable_timeout: float | timedelta | None = field(default=None, kw_only=True)
    key: str | None = field(default=None, kw_only=True)
    group: str | None = field(default=None, kw_only=True)
    keep: float | timedelta | None = field(default=None, kw_only=True)
    batch: str | None = field(default=None, kw_only=True)
    # The end of what was made.

    def __post_init__(self, json: object) -> None:
        if self.body is None or json is not ...:
            object.__setattr__(self, "body", _body(self.body, json))

    def row(self) -> _core.DraftRow:
        """
        The row for the core. Raises InvalidError and TypeError for values that the core could not
        check.
        """
        return row(self.body, self._given())

    def _given(self) -> Options:
        """The options that are not the defaults."""
        options = zip(_READ, _values(self), _DEFAULTS, strict=True)
        given = {name: value for name, value, default in options if value is not default}
        return cast("Options", given)


@dataclass(frozen=True, slots=True)
class TaskDraft(Draft):
    """
    A message of a task, or a chain of them (dueq.chain).

    queue  the queue of the task, for Job.push()
    app    the app of the task
    gaps   the arguments that dueq.PREVIOUS or dueq.FAILURE stands for, by their places
    """

    queue: str = field(default="default", kw_only=True)
    app: App | None = field(default=None, kw_only=True, repr=False, compare=False)
    gaps: Unknown = field(default=(), kw_only=True)

    def push(self) -> str:
        """Pushes the message to its queue. Returns and raises as Task.push()."""
        app = self._checked()
        return app.queue(self.queue).push(self.body, **self._given())

    async def apush(self) -> str:
        """push() for asyncio."""
        app = self._checked()
        return await app.aio_queue(self.queue).push(self.body, **self._given())

    def row(self) -> _core.DraftRow:
        """As Draft.row(). Raises InvalidError if an argument is not known yet."""
        refuse_gaps(self.gaps)
        return Draft.row(self)

    def _checked(self) -> App:
        """The app that pushes the draft. Raises InvalidError if it cannot, and as row()."""
        if self.app is None:
            raise InvalidError("push: the draft is of no app: use Queue.push_many([draft])")
        self.row()
        return self.app


# The place of each option in a row, and what makes the item.
# Made from core/options.toml by core/verbs.py: the row of a draft.
_READ: dict[str, tuple[int, Callable[[Any], object]]] = {
    "delay": (1, lambda value: optional_ms(value, "delay")),
    "at": (2, lambda value: 0 if value is None else point_ms(value, "at")),
    "id": (3, lambda value: _text(value, "id")),
    "max_attempts": (4, lambda value: _limit(value, "max_attempts", "no retry")),
    "lease": (5, lambda value: limit_ms(value, "lease")),
    "headers": (6, lambda value: _header_row(value)),
    "priority": (7, lambda value: _priority(value)),
    "ttl": (8, lambda value: limit_ms(value, "ttl")),
    "backoff": (9, lambda value: backoff_row(value)),
    "max_crashes": (10, lambda value: _limit(value, "max_crashes", "no second delivery after one")),
    "drop": (11, lambda value: _check(value, "drop", bool)),
    "dead_letter": (12, lambda value: _text(value, "dead_letter")),
    "unique": (13, lambda value: optional_ms(value, "unique")),
    "replace": (14, lambda value: _replace(value)),
    "replicas": (15, lambda value: _check(value, "replicas", int)),
    "disk": (16, lambda value: _check(value, "disk", bool)),
    "durable_timeout": (17, lambda value: limit_ms(value, "durable_timeout")),
    "key": (18, lambda value: _text(value, "key")),
    "group": (19, lambda value: _text(value, "group")),
    "keep": (20, lambda value: limit_ms(value, "keep")),
    "batch": (21, lambda value: _text(value, "batch")),
}
# The end of what was made.
_values = attrgetter(*_READ)
_DEFAULTS = _values(Draft(b""))
_ITEMS = [read(value) for value, (_, read) in zip(_DEFAULTS, _READ.values(), strict=True)]

PLACES = {name: place for name, (place, _) in _READ.items()}
"""The place of each option in a row."""

DEFAULT_ROW = cast("_core.DraftRow", (b"", *_ITEMS))
"""The row of an empty message without options."""

# Made from core/options.toml by core/verbs.py: places in a row.
_ID: Final = 3  # its index in a row
_HEADERS: Final = 6  # its index in a row
_BATCH: Final = 21  # its index in a row
# The end of what was made.


def id_of(row: _core.DraftRow) -> str:
    """The id of a row; "": it has none yet."""
    return row[_ID]


def headers_of(row: _core.DraftRow) -> dict[str, str]:
    """The headers of a row."""
    return dict(row[_HEADERS])


def with_headers(row: _core.DraftRow, headers: Mapping[str, str]) -> _core.DraftRow | None:
    """A row with these headers instead of its own. None: they exceed the limit of a message."""
    pairs = tuple(headers.items())
    # The size in the envelope, which stores the length of each name and value.
    size = sum(len(name.encode()) + len(value.encode()) + 3 for name, value in pairs)
    if size > _core.MAX_HEADERS:
        return None
    return cast("_core.DraftRow", (*row[:_HEADERS], pairs, *row[_HEADERS + 1 :]))


def with_batch(row: _core.DraftRow, batch: str) -> _core.DraftRow:
    """A row of a member of this batch."""
    return cast("_core.DraftRow", (*row[:_BATCH], batch, *row[_BATCH + 1 :]))


_SHOWN = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=shown.default)
    for name, shown in inspect.signature(Draft).parameters.items()
    if name != "body"
]
_HINTS = get_type_hints(Options)


def with_options(push: F) -> F:
    """
    Gives a method with **options the names, types and defaults of the options: help(), inspect and
    typing.get_type_hints() show them.
    """
    own = inspect.signature(push)
    named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    shown = [each.replace(annotation=_HINTS[each.name]) for each in _SHOWN]
    push.__signature__ = own.replace(parameters=named + shown)  # type: ignore[attr-defined]
    del push.__annotations__["options"]
    push.__annotations__.update(_HINTS)
    return push


# Names of options in other libraries, and what they are called here.
_ELSEWHERE = {
    **dict.fromkeys(
        ("max_retries", "retries", "retry", "max_tries", "attempts"),
        "max_attempts, which counts the first run too",
    ),
    **dict.fromkeys(("retry_delay", "default_retry_delay", "retry_backoff"), "backoff"),
    **dict.fromkeys(("countdown", "delay_seconds", "in_", "schedule_in"), "delay"),
    **dict.fromkeys(("eta", "run_at", "scheduled_at"), "at"),
    **dict.fromkeys(("task_id", "job_id", "message_id"), "id"),
    **dict.fromkeys(("time_limit", "hard_timeout", "job_timeout"), "kill_after"),
    **dict.fromkeys(("soft_time_limit", "max_runtime"), "timeout"),
    **dict.fromkeys(("expires", "expires_in", "job_ttl"), "ttl"),
    **dict.fromkeys(("autoretry_for", "retry_for", "retry_when"), "retry_on"),
    **dict.fromkeys(("dont_autoretry_for", "throws", "discard_on"), "fail_on"),
    **dict.fromkeys(("queue_name", "routing_key"), "queue"),
}


def refuse_unknown(options: Iterable[str], known: Iterable[str]) -> None:
    """
    Raises TypeError for an option that does not exist. The text suggests the option that may be
    meant.
    """
    known = tuple(known)
    for name in sorted(set(options).difference(known)):
        meant = _ELSEWHERE.get(name, "")
        if meant.partition(",")[0] not in known:
            meant = "".join(get_close_matches(name, known, 1))
        hint = f"; do you mean {meant}?" if meant else ""
        raise TypeError(f"{name}: there is no such option{hint}")


def row(body: Body | None, options: Options) -> _core.DraftRow:
    """The row of Draft(body, **options)."""
    items = [_body(body, options.get("json", ...)), *_ITEMS]
    for name, value in options.items():
        if name in _READ:
            place, read = _READ[name]
            items[place] = read(value)
        elif name != "json":
            refuse_unknown(options, _HINTS)
    if "at" in options and "delay" in options:
        due_ms(options["delay"], options["at"])  # it refuses the two together
    return cast("_core.DraftRow", tuple(items))


def rows(drafts: Iterable[Body | Draft]) -> Iterator[_core.DraftRow]:
    """The rows of drafts, or of bodies, for the core."""
    if isinstance(drafts, (str, bytes, bytearray, Mapping, Draft)):
        kind = type(drafts).__name__
        raise TypeError(f"a list of messages is required, not one {kind}")
    return (draft.row() if isinstance(draft, Draft) else row(draft, {}) for draft in drafts)


def batches(drafts: Iterable[Body | Draft]) -> Iterator[tuple[_core.DraftRow, ...]]:
    """The rows of drafts in batches, each small enough for one call."""
    return portions(rows(drafts), lambda row: size_of(row[0]))


def portions(rows: Iterable[R], size: Callable[[R], int]) -> Iterator[tuple[R, ...]]:
    """
    Splits rows into batches, each small enough for one call, by the size of each row in bytes.
    """
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
    """About how many bytes a body has; 0 for a wrong type, which the core refuses."""
    if isinstance(text, str):
        return len(text)
    try:
        return memoryview(text).nbytes
    except TypeError:
        return 0
