"""A queue: the producer's and the consumer's side."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Literal, overload

from dueq import _core
from dueq._pool import Pool
from dueq.draft import Draft
from dueq.errors import Duplicate, InvalidError
from dueq.message import Message, State
from dueq.stats import Stats
from dueq.times import due_ms, duration_ms, optional_ms

if TYPE_CHECKING:
    from dueq.draft import Body

_log = logging.getLogger("dueq")

# push_many sends about so much at once: far below what servers accept of one client.
_BATCH_BYTES = 16 * 1024 * 1024

_STATES = {
    _core.state_name(number): number
    for number in (_core.READY, _core.DELAYED, _core.LEASED, _core.DEAD)
}


class Queue:
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
        self.name = name
        self._url = url
        self._pool = Pool(url, name)

    @property
    def url(self) -> str:
        """Where the server is, without the password."""
        return self._pool.url()

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
    ) -> str:
        """
        Stores a message and returns its id. The arguments are those of dueq.Draft.

        Raises Duplicate when a living message has the id. After errors.ClosedError and
        errors.TimeoutError it is not known whether it is stored: push again with the same id then.
        """
        draft = Draft(
            body,
            delay=delay,
            at=at,
            id=id,
            max_attempts=max_attempts,
            lease=lease,
            headers=headers,
        )
        [(status, stored)] = self._pool.run(_core.push_submit, (draft.row(),))[1]
        if status == _core.DUPLICATE:
            raise Duplicate(f"a living message has the id {stored or id} already")
        return stored

    def push_many(self, drafts: Iterable[Body | Draft]) -> list[str | None]:
        """
        Stores any number of messages and returns their ids in order, None for a duplicate.

        They go in batches of up to 1,000, and each batch is stored whole or not at all. When one
        fails, a note of the exception tells how many messages went before it.
        """
        ids: list[str | None] = []
        for batch in _batches(drafts):
            try:
                outcomes = self._pool.run(_core.push_submit, batch)[1]
            except Exception as error:
                error.add_note(f"{len(ids)} messages were pushed before the batch that failed")
                raise
            ids += [id if status == _core.OK else None for status, id in outcomes]
        return ids

    @overload
    def reserve(self, timeout: None, lease: float | timedelta | None = None) -> Message: ...
    @overload
    def reserve(
        self, timeout: float | timedelta = 0.0, lease: float | timedelta | None = None
    ) -> Message | None: ...
    def reserve(
        self,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> Message | None:
        """
        Takes the next message that is ready, or None.

        timeout  seconds (or a timedelta) to wait for one; None: for ever, and never None then
        lease    seconds (or a timedelta) until it comes back unless it is acknowledged, retried,
                 buried or extended; None: the message's own, else 30

        A paused queue has none ready; a wait goes on until it is resumed.

            while message := queue.reserve(timeout=10):
                with message:
                    work(message.body)
        """
        messages = self.reserve_many(1, timeout, lease)
        return messages[0] if messages else None

    def reserve_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> list[Message]:
        """Takes up to `count` (1 to 1,000) messages; waits for the first only. As reserve()."""
        answer = self._pool.run(
            _core.reserve_submit,
            min(max(count, 0), _core.MAX_BATCH + 1),
            _core.FOREVER if timeout is None else duration_ms(timeout, "timeout"),
            optional_ms(lease, "lease"),
        )
        if answer[4]:
            _log.warning("queue %s: %d damaged entries were set aside", self.name, answer[4])
        return [Message(self._pool, row) for row in answer[2]]

    def __iter__(self) -> Iterator[Message]:
        """Yields messages as they become ready, for ever, or until close() is called."""
        while not self._pool.closed:
            try:
                message = self.reserve(timeout=None)
            except InvalidError:
                if self._pool.closed:
                    return
                raise
            yield message

    def ack_many(self, messages: Iterable[Message | str]) -> list[bool]:
        """Finishes any number of messages, given as such or by ticket. False: lease lost."""
        tickets = (item.ticket if isinstance(item, Message) else item for item in messages)
        return self._each(_core.ack_submit, tickets)

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
        rows = self._pool.run(_core.find_submit, id)[2]
        return Message(self._pool, rows[0]) if rows else None

    def kick(self, id: str) -> bool:
        """
        Gives a dead message back to be delivered at once, with as many attempts again as it had.
        False: there is no dead message with this id.
        """
        return self.kick_many((id,))[0]

    def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Gives any number of dead messages back, as kick()."""
        return self._each(_core.kick_submit, ids)

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
        status = self._pool.run(_core.reschedule_submit, id, *due_ms(delay, at))[0]
        return status == _core.OK

    def pause(self) -> None:
        """
        Lets the queue hand nothing out, to any consumer, until it is resumed. Everything else works
        as ever: push, and what consumers do with the messages they hold. Nothing changes where it
        is paused already.
        """
        self._pool.run(_core.pause_submit)

    def resume(self) -> None:
        """Ends a pause; consumers that wait wake. Nothing changes where it is not paused."""
        self._pool.run(_core.resume_submit)

    def purge(
        self,
        state: State | Literal["ready", "delayed", "leased", "dead"],
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """
        Takes all messages of one state away for good, and returns how many they were. Who holds a
        leased one learns it by LeaseLost.

        It goes in steps of up to 1,000, between which the server serves others; `progress` is
        called with the number so far after each. When a step fails or `progress` raises, a note of
        the exception tells how many are gone.
        """
        number = _STATES.get(state)
        if number is None:
            raise InvalidError(f"state: {state!r} is not one of {', '.join(_STATES)}")
        total, status = 0, _core.OK
        while status == _core.OK:
            try:
                answer = self._pool.run(_core.purge_submit, number, _core.MAX_BATCH)
                status, total = answer[0], total + answer[5]
                if progress:
                    progress(total)
            except Exception as error:
                error.add_note(f"{total} messages were purged before")
                raise
        return total

    def stats(self) -> Stats:
        """Counts the queue."""
        counts = self._pool.run(_core.stats_submit)[3]
        assert counts is not None
        return Stats.from_row(counts)

    def close(self) -> None:
        """Closes the connections. Calls under way in other threads end with an error soon after."""
        self._pool.close()

    def __enter__(self) -> Queue:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Queue], tuple[str, str | None]]:
        return type(self), (self.name, self._url)

    def __repr__(self) -> str:
        return f"<Queue {self.name}{' closed' if self._pool.closed else ''}>"

    def _each(
        self,
        submit: Callable[[_core.Link, tuple[str, ...]], int],
        texts: Iterable[str],
    ) -> list[bool]:
        left = iter(texts)
        done: list[bool] = []
        while batch := tuple(islice(left, _core.MAX_BATCH)):
            done += [status == _core.OK for status, _ in self._pool.run(submit, batch)[1]]
        return done


def _batches(drafts: Iterable[Body | Draft]) -> Iterator[tuple[_core.DraftRow, ...]]:
    batch: list[_core.DraftRow] = []
    size = 0
    for draft in drafts:
        row = (draft if isinstance(draft, Draft) else Draft(draft)).row()
        batch.append(row)
        size += len(row[0]) if isinstance(row[0], str) else memoryview(row[0]).nbytes
        if len(batch) == _core.MAX_BATCH or size >= _BATCH_BYTES:
            yield tuple(batch)
            batch = []
            size = 0
    if batch:
        yield tuple(batch)
