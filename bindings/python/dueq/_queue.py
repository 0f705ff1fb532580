"""The verbs of a queue, for both faces."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from dueq import _core
from dueq._message import STATES, Fields, State
from dueq._steps import Call, Steps, on
from dueq.draft import batches, row
from dueq.errors import Duplicate, InvalidError
from dueq.stats import Rate, Stats
from dueq.times import due_ms, duration_ms, patience_ms, point_ms

if TYPE_CHECKING:
    from typing import TypeAlias, Unpack

    from dueq._link import Answer, Link
    from dueq.draft import Body, Draft, Options

    StateName: TypeAlias = State | Literal["ready", "delayed", "leased", "dead"]

R = TypeVar("R")

_log = logging.getLogger("dueq")

_NUMBERS = {str(state): number for number, state in STATES.items()}


class Named(Protocol):
    """A queue, of either face."""

    name: str


def push(self: Named, body: Body, **options: Unpack[Options]) -> Steps[str]:
    """
    Stores a message and returns its id. The options are those of dueq.Draft: delay, at, id,
    max_attempts, lease, headers, priority, ttl, backoff, max_crashes, drop, dead_letter, to,
    unique, replace.

    Raises Duplicate when a living message has the id, unless it is to be replaced, or when the
    id is still unique. After errors.ClosedError and errors.TimeoutError it is not known whether
    it is stored. To push again with the same id then makes no second message while the first lives;
    where that may be done already, only `unique` refuses the id, for so long after the push.
    """
    [(status, stored)] = (yield on(self.name, _core.push_submit, (row(body, options),))).outcomes
    if status == _core.DUPLICATE:
        id = stored or options["id"]
        raise Duplicate(f"a living message has the id {id}, or it is still unique")
    return stored


def push_many(self: Named, drafts: Iterable[Body | Draft]) -> Steps[list[str | None]]:
    """
    Stores any number of messages and returns their ids in order, None for a duplicate.

    They go in batches of up to 200, and each batch is stored whole or not at all. When one
    fails, a note of the exception tells how many messages went before it.
    """
    ids: list[str | None] = []
    for batch in batches(drafts):
        try:
            outcomes = (yield on(self.name, _core.push_submit, batch)).outcomes
        except Exception as error:
            error.add_note(f"{len(ids)} messages were pushed before the batch that failed")
            raise
        ids += [id if status == _core.OK else None for status, id in outcomes]
    return ids


def ack_many(self: Named, messages: Iterable[Fields | str]) -> Steps[list[bool]]:
    """
    Finishes any number of messages, given as such or by ticket. False: lease lost.
    InvalidError for a message of another queue.
    """
    return _each(self.name, _core.ack_submit, _tickets(self.name, messages), _done_of)


def cancel(self: Named, id: str) -> Steps[State | None]:
    """
    Takes a message back from whatever state it is in, and returns that state. None: there is none
    with this id.

    LEASED: a consumer holds it, and may have begun its work, or be done. It gets LeaseLost on its
    next call. What a Consumer has prefetched and not begun is not begun any more, where it was
    cancelled a quarter of a second before.
    """
    [state] = yield from cancel_many(self, (id,))
    return state


def cancel_many(self: Named, ids: Iterable[str]) -> Steps[list[State | None]]:
    """Takes any number of messages back, as cancel()."""
    return _each(self.name, _core.cancel_submit, ids, _states_of)


def kick(self: Named, id: str) -> Steps[bool]:
    """
    Gives a dead message back to be delivered at once, with as many attempts again as it had.
    False: there is no dead message with this id.
    """
    [done] = yield from kick_many(self, (id,))
    return done


def kick_many(self: Named, ids: Iterable[str]) -> Steps[list[bool]]:
    """Gives any number of dead messages back, as kick()."""
    return _each(self.name, _core.kick_submit, ids, _done_of)


def kick_all(
    self: Named,
    error: str | None = None,
    since: float | datetime | None = None,
    until: float | datetime | None = None,
    progress: Callable[[int], object] | None = None,
) -> Steps[int]:
    """
    Gives all dead messages back, as kick(), and returns how many they were.

    error     only those whose error contains this text
    since     only those that died at this time or later, by the server: an aware datetime, or
              seconds since 1970
    until     only those that died before this time
    progress  as of purge(): it goes in steps of up to 200
    """
    wanted = (
        error or "",
        0 if since is None else point_ms(since, "since"),
        0 if until is None else max(1, point_ms(until, "until")),  # 0 would be no limit
    )
    cursor = b""

    def step() -> Steps[tuple[int, bool]]:
        nonlocal cursor
        answer = yield on(self.name, _core.kick_all_submit, wanted, cursor, _core.MAX_BATCH)
        cursor = answer.cursor
        return answer.kicked, bool(cursor)

    return _total(step, progress, "kicked")


def purge(
    self: Named, state: StateName, progress: Callable[[int], object] | None = None
) -> Steps[int]:
    """
    Takes all messages of one state away for good, and returns how many they were. The holder of a
    leased one gets LeaseLost on its next call.

    It goes in steps of up to 200, between which the server serves others; `progress` is
    called with the number so far after each. When a step fails or `progress` raises, a note of
    the exception tells how many are gone.
    """
    number = _state(state)

    def step() -> Steps[tuple[int, bool]]:
        answer = yield on(self.name, _core.purge_submit, number, _core.MAX_BATCH)
        return answer.purged, answer.status == _core.OK

    return _total(step, progress, "purged")


def remove(self: Named, progress: Callable[[int], object] | None = None) -> Steps[int]:
    """
    Takes the queue away with all that it has: its messages, its counters and history, and the ids
    that are still unique. Returns how many messages they were. As of purge(), with its `progress`.

    A message that is pushed meanwhile is removed too, or stays as a whole: then the queue is there
    again, as it is when a consumer waits at it. Its locks stay until they end.
    """

    def step() -> Steps[tuple[int, bool]]:
        answer = yield on(self.name, _core.remove_submit, _core.MAX_BATCH)
        return answer.purged, answer.status == _core.OK

    return _total(step, progress, "removed")


def reschedule(
    self: Named,
    id: str,
    delay: float | timedelta | None = None,
    at: float | datetime | None = None,
) -> Steps[bool]:
    """
    Gives a delayed message another due time. False: there is no delayed message with this id.

    delay  so many seconds (or a timedelta) from now
    at     a time by the server: an aware datetime, or seconds since 1970

    Without either it is due now.
    """
    answer = yield on(self.name, _core.reschedule_submit, id, *due_ms(delay, at))
    return answer.status == _core.OK


def pause(self: Named) -> Steps[None]:
    """
    Lets the queue hand nothing out, to any consumer, until it is resumed. Everything else works
    as ever: push, and what consumers do with the messages they hold. Nothing changes where it
    is paused already.
    """
    yield on(self.name, _core.pause_submit)


def resume(self: Named) -> Steps[None]:
    """Ends a pause; consumers that wait wake. Nothing changes where it is not paused."""
    yield on(self.name, _core.resume_submit)


def stats(self: Named) -> Steps[Stats]:
    """Counts the queue."""
    counts = (yield on(self.name, _core.stats_submit)).counts
    assert counts is not None
    return Stats.from_row(counts)


def rates(self: Named, minutes: int = 60) -> Steps[list[Rate]]:
    """
    What the queue did in each of the last `minutes` (1 to 360) minutes in which anything
    happened, the latest first; the first is still running.
    """
    asked = min(max(minutes, 0), _core.MAX_RATES + 1)
    answer = yield on(self.name, _core.rates_submit, asked)
    return [Rate.from_row(row) for row in answer.rates]


def find(name: str, id: str) -> Steps[_core.MessageRow | None]:
    found = seen(name, (yield on(name, _core.find_submit, id)))
    return found[0] if found else None


def peek(name: str, state: StateName, page: int) -> Callable[[bytes], Call]:
    """The call for the page that begins at a cursor."""
    number = _state(state)
    most = min(max(page, 0), _core.MAX_BATCH + 1)
    return lambda cursor: on(name, _core.peek_submit, number, cursor, most)


def seen(name: str, answer: Answer) -> list[_core.MessageRow]:
    """The messages of an answer, without those that are damaged."""
    for status, id in answer.outcomes:
        if status == _core.CORRUPT:
            _log.warning("%s: message %r is damaged", name, id)
    return answer.messages


def lock(
    queue: str, name: str, ttl: float | timedelta, timeout: float | timedelta | None
) -> Steps[str | None]:
    """The token of the lock, or None: it is taken."""

    def undo(answer: Answer) -> Iterable[Call]:
        return [on(queue, _core.unlock_submit, name, token) for _, token in answer.outcomes]

    timeout_ms = patience_ms(timeout)
    call = on(queue, _core.lock_submit, name, duration_ms(ttl, "ttl"), timeout_ms)
    answer = yield call._replace(waits=timeout_ms != 0, undo=undo)
    return None if answer.status == _core.TAKEN else answer.outcomes[0][1]


def queues() -> Steps[list[str]]:
    """The names of all queues of a server."""
    names: set[str] = set()
    cursor, left = b"", True
    while left:
        answer = yield Call(partial(_page, cursor))
        names.update(name for _, name in answer.outcomes)
        cursor = answer.cursor
        left = bool(cursor)
    return sorted(names)


def _page(cursor: bytes, link: Link) -> int:
    return _core.queues_submit(link.client, cursor)


def _each(
    queue: str,
    submit: Callable[[_core.Handle, tuple[str, ...]], int],
    texts: Iterable[str],
    read: Callable[[Answer], Iterable[R]],
) -> Steps[list[R]]:
    """What is read from the answers about any number of tickets or ids."""
    left = iter(_listed(texts))
    found: list[R] = []
    while batch := tuple(islice(left, _core.MAX_BATCH)):
        found += read((yield on(queue, submit, batch)))
    return found


def _listed(items: Iterable[R]) -> Iterable[R]:
    if isinstance(items, str):
        raise TypeError("one text stands where several are wanted: put it in a list")
    return items


def _done_of(answer: Answer) -> list[bool]:
    return [status == _core.OK for status, _ in answer.outcomes]


def _states_of(answer: Answer) -> list[State | None]:
    return [STATES.get(state) for state in answer.states]


def _tickets(queue: str, messages: Iterable[Fields | str]) -> Iterator[str]:
    for item in _listed(messages):
        if not isinstance(item, Fields):
            yield item
        elif item.queue == queue:
            yield item.ticket
        else:
            raise InvalidError(f"a message of the queue {item.queue}, not of {queue}")


def _state(name: StateName) -> int:
    number = _NUMBERS.get(name)
    if number is None:
        raise InvalidError(f"state: {name!r} is not one of {', '.join(_NUMBERS)}")
    return number


def _total(
    step: Callable[[], Steps[tuple[int, bool]]],
    progress: Callable[[int], object] | None,
    done: str,
) -> Steps[int]:
    """Adds the steps up while there are more, and notes in an exception how far they went."""
    total, more = 0, True
    try:
        while more:
            count, more = yield from step()
            total += count
            if progress:
                progress(total)
    except Exception as error:
        error.add_note(f"{total} messages were {done} before")
        raise
    return total
