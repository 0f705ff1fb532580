"""A queue: the producer's and the consumer's side."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, overload

from dueq import _core
from dueq._pool import Answer, Pool, pages
from dueq.consumer import Consumer
from dueq.draft import Draft, batches
from dueq.errors import Duplicate, InvalidError
from dueq.lock import Lock
from dueq.message import Message, State
from dueq.stats import Rate, Stats
from dueq.times import due_ms, duration_ms, point_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    from dueq.backoff import BackoffLike
    from dueq.draft import Body

    StateName: TypeAlias = State | Literal["ready", "delayed", "leased", "dead"]

P = ParamSpec("P")

_log = logging.getLogger("dueq")

_STATES = {
    _core.state_name(number): number
    for number in (_core.READY, _core.DELAYED, _core.LEASED, _core.DEAD)
}


class Queue(Consumer):
    """
    A queue of a server. Nothing is sent before the first call, and a queue needs no creating.

    name  1 to 255 bytes of UTF-8 without braces and control characters
    url   redis://[user:password@]host[:port][/db], rediss:// for TLS, unix:///path/to/socket,
          embedded:DIR for a private server of a directory.
          None: $DUEQ_URL, and without it an embedded server in the user's state directory.

    It may be used by many threads at once, by a child after fork(), and by signal handlers; pickled
    it arrives as a queue of the same name and URL. Every call may raise a dueq.Error.
    """

    def __init__(self, name: str, url: str | None = None) -> None:
        super().__init__(Pool(url, name), name)
        self.name = name
        self._url = url

    def new_id(self) -> str:
        """An id as push() makes them, to know it beforehand: 22 characters that sort by time."""
        return self._pool.new_id()

    def push(
        self,
        body: Body,
        *,
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
        id: str | None = None,
        max_attempts: int | None = _core.DEFAULT_ATTEMPTS,
        lease: float | timedelta | None = None,
        headers: Mapping[str, str] | None = None,
        priority: int = _core.NORMAL,
        ttl: float | timedelta | None = None,
        backoff: BackoffLike | None = None,
        max_crashes: int | None = _core.DEFAULT_CRASHES,
        drop: bool = False,
        dead_letter: str | None = None,
        to: str | None = None,
        unique: float | timedelta | None = None,
        replace: bool | Literal["body"] = False,
    ) -> str:
        """
        Stores a message and returns its id. The arguments are those of dueq.Draft.

        Raises Duplicate when a living message has the id, unless it is to be replaced, or when the
        id is still unique. After errors.ClosedError and errors.TimeoutError it is not known whether
        it is stored: push again with the same id then.
        """
        draft = Draft(
            body,
            delay=delay,
            at=at,
            id=id,
            max_attempts=max_attempts,
            lease=lease,
            headers=headers,
            priority=priority,
            ttl=ttl,
            backoff=backoff,
            max_crashes=max_crashes,
            drop=drop,
            dead_letter=dead_letter,
            to=to,
            unique=unique,
            replace=replace,
        )
        [(status, stored)] = self._run(_core.push_submit, (draft.row(),)).outcomes
        if status == _core.DUPLICATE:
            raise Duplicate(f"a living message has the id {stored or id}, or it is still unique")
        return stored

    def push_many(self, drafts: Iterable[Body | Draft]) -> list[str | None]:
        """
        Stores any number of messages and returns their ids in order, None for a duplicate.

        They go in batches of up to 200, and each batch is stored whole or not at all. When one
        fails, a note of the exception tells how many messages went before it.
        """
        ids: list[str | None] = []
        for batch in batches(drafts):
            try:
                outcomes = self._run(_core.push_submit, batch).outcomes
            except Exception as error:
                error.add_note(f"{len(ids)} messages were pushed before the batch that failed")
                raise
            ids += [id if status == _core.OK else None for status, id in outcomes]
        return ids

    def ack_many(self, messages: Iterable[Message | str]) -> list[bool]:
        """
        Finishes any number of messages, given as such or by ticket. False: lease lost.
        InvalidError for a message of another queue.
        """
        return self._each(_core.ack_submit, map(self._ticket, messages))

    def _ticket(self, item: Message | str) -> str:
        if not isinstance(item, Message):
            return item
        if item.queue != self.name:
            raise InvalidError(f"a message of the queue {item.queue}, not of {self.name}")
        return item.ticket

    def cancel(self, id: str) -> bool:
        """
        Takes a message back from whatever state it is in. False: there is none with this id. Who
        holds it learns it by LeaseLost.
        """
        return self.cancel_many((id,))[0]

    def cancel_many(self, ids: Iterable[str]) -> list[bool]:
        """Takes any number of messages back, as cancel()."""
        return self._each(_core.cancel_submit, ids)

    def find(self, id: str) -> Message | None:
        """Looks a message up, in any state, without touching it."""
        found = self._messages(self._run(_core.find_submit, id))
        return found[0] if found else None

    def peek(self, state: StateName, page: int = 100) -> Iterator[Message]:
        """
        Looks at all messages of one state without touching them: ready ones in the order of
        delivery, the others by their time.

        They are fetched as they are asked for, `page` (1 to 200) at a time. What changes its
        place meanwhile may be seen twice or not at all. Damaged ones are left out, with a warning
        to the log.
        """
        number = _state(state)
        most = min(max(page, 0), _core.MAX_BATCH + 1)
        found = pages(lambda cursor: self._run(_core.peek_submit, number, cursor, most))
        return (message for answer in found for message in self._messages(answer))

    def kick(self, id: str) -> bool:
        """
        Gives a dead message back to be delivered at once, with as many attempts again as it had.
        False: there is no dead message with this id.
        """
        return self.kick_many((id,))[0]

    def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Gives any number of dead messages back, as kick()."""
        return self._each(_core.kick_submit, ids)

    def kick_all(
        self,
        error: str | None = None,
        since: float | datetime | None = None,
        until: float | datetime | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> int:
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
        steps = pages(
            lambda cursor: self._run(_core.kick_all_submit, wanted, cursor, _core.MAX_BATCH)
        )
        return _total((answer.kicked for answer in steps), progress, "kicked")

    def reschedule(
        self,
        id: str,
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
    ) -> bool:
        """
        Gives a delayed message another due time. False: there is no delayed message with this id.

        delay  so many seconds (or a timedelta) from now
        at     a time by the server: an aware datetime, or seconds since 1970

        Without either it is due now.
        """
        status = self._run(_core.reschedule_submit, id, *due_ms(delay, at)).status
        return status == _core.OK

    def pause(self) -> None:
        """
        Lets the queue hand nothing out, to any consumer, until it is resumed. Everything else works
        as ever: push, and what consumers do with the messages they hold. Nothing changes where it
        is paused already.
        """
        self._run(_core.pause_submit)

    def resume(self) -> None:
        """Ends a pause; consumers that wait wake. Nothing changes where it is not paused."""
        self._run(_core.resume_submit)

    def purge(self, state: StateName, progress: Callable[[int], object] | None = None) -> int:
        """
        Takes all messages of one state away for good, and returns how many they were. Who holds a
        leased one learns it by LeaseLost.

        It goes in steps of up to 200, between which the server serves others; `progress` is
        called with the number so far after each. When a step fails or `progress` raises, a note of
        the exception tells how many are gone.
        """
        number = _state(state)

        def steps() -> Iterator[int]:
            status = _core.OK
            while status == _core.OK:
                answer = self._run(_core.purge_submit, number, _core.MAX_BATCH)
                status = answer.status
                yield answer.purged

        return _total(steps(), progress, "purged")

    def stats(self) -> Stats:
        """Counts the queue."""
        counts = self._run(_core.stats_submit).counts
        assert counts is not None
        return Stats.from_row(counts)

    def rates(self, minutes: int = 60) -> list[Rate]:
        """
        What the queue did in each of the last `minutes` (1 to 360) minutes in which anything
        happened, the latest first; the first is still running.
        """
        asked = min(max(minutes, 0), _core.MAX_RATES + 1)
        return [Rate.from_row(row) for row in self._run(_core.rates_submit, asked).rates]

    @overload
    def lock(self, name: str, ttl: float | timedelta, timeout: None) -> Lock: ...
    @overload
    def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta = 0.0
    ) -> Lock | None: ...
    def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta | None = 0.0
    ) -> Lock | None:
        """
        Takes a lock, which has one owner at a time, or None: somebody else holds it.

        name     1 to 255 bytes of UTF-8 without control characters; each queue has locks of its own
        ttl      seconds (or a timedelta) until it ends unless it is extended or released before
        timeout  seconds (or a timedelta) to wait for its turn; None: for ever, and never None then

            if lock := queue.lock("nightly", ttl=60):
                with lock:
                    work()
        """
        answer = self._run(
            _core.lock_submit,
            name,
            duration_ms(ttl, "ttl"),
            _core.FOREVER if timeout is None else duration_ms(timeout, "timeout"),
        )
        if answer.status == _core.TAKEN:
            return None
        [(_, token)] = answer.outcomes
        return Lock(self._pool, self.name, name, token)

    def __reduce__(self) -> tuple[type[Queue], tuple[str, str | None]]:
        return type(self), (self.name, self._url)

    def _run(
        self, submit: Callable[Concatenate[_core.Handle, P], int], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        return self._pool.run(self.name, submit, *args, **kwargs)

    def _reserve(self, count: int, timeout_ms: int, lease_ms: int) -> tuple[Answer, str]:
        return self._run(_core.reserve_submit, count, timeout_ms, lease_ms), self.name

    def _messages(self, answer: Answer) -> list[Message]:
        for status, id in answer.outcomes:
            if status == _core.CORRUPT:
                _log.warning("%s: message %s is damaged", self.name, id)
        return [Message(self._pool, self.name, row) for row in answer.messages]

    def _each(
        self,
        submit: Callable[[_core.Handle, tuple[str, ...]], int],
        texts: Iterable[str],
    ) -> list[bool]:
        left = iter(texts)
        done: list[bool] = []
        while batch := tuple(islice(left, _core.MAX_BATCH)):
            done += [status == _core.OK for status, _ in self._run(submit, batch).outcomes]
        return done


def queues(url: str | None = None) -> list[str]:
    """
    The names of all queues of a server that were ever used, sorted. `url`: as of dueq.Queue.

    It looks through the names of all of the server's keys, a bounded number in each step.
    """
    pool = Pool(url)
    found = pages(lambda cursor: pool.call(lambda link: _core.queues_submit(link.client, cursor)))
    names = {name for answer in found for _, name in answer.outcomes}
    pool.close()
    return sorted(names)


def _state(name: StateName) -> int:
    number = _STATES.get(name)
    if number is None:
        raise InvalidError(f"state: {name!r} is not one of {', '.join(_STATES)}")
    return number


def _total(steps: Iterator[int], progress: Callable[[int], object] | None, done: str) -> int:
    """Adds the steps up, and notes in an exception how far they went."""
    total = 0
    try:
        for count in steps:
            total += count
            if progress:
                progress(total)
    except Exception as error:
        error.add_note(f"{total} messages were {done} before")
        raise
    return total
