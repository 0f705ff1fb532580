# Made from dueq/aio/batch.py by bindings/python/blocking.py.
"""A batch of messages, which pushes callbacks when its members have ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from types import TracebackType
from typing import Self, Unpack, cast

from dueq import _core, _trace
from dueq._call import on, push_to, stored_id, stored_ids
from dueq.blocking.pool import Pool
from dueq.draft import Body, Draft, Options, TaskDraft, batches, row, rows, with_batch
from dueq.inspection import BatchStatus
from dueq.times import duration_ms


class Batch:
    """
    A batch, made by Queue.batch(). It counts how its members end, each once, at its first end.

    As a context manager it is opened at the begin of the block, and closed at its end. If the block
    raises, the batch stays open, and closes by its own time limit.
    """

    id: str
    is_new: bool
    """
    False: the batch was opened before, by a program that runs once more, for example. It has the
    callbacks of then.
    """

    def __init__(
        self,
        home: Pool,
        queue: str,
        id: str,
        callbacks: tuple[Body | Draft | None, ...],
        open: float | timedelta,
        keep: float | timedelta,
    ) -> None:
        self._home = home
        self._queue = queue
        drafts = [() if each is None else (*rows((each,)),) for each in callbacks]
        names = [each.queue if isinstance(each, TaskDraft) else "" for each in callbacks]
        made = (id, *drafts, *names, duration_ms(open, "open"), duration_ms(keep, "keep"))
        self._options = cast("_core.BatchOptionsRow", made)
        self.id = id
        self.is_new = True

    def open(self) -> None:
        """Opens the batch."""
        call = on(self._queue, _core.open_batch_submit, self._options)
        self.is_new = self._home.call(call).status == _core.OK

    def push(
        self, body: Body | None = None, *, queue: str | None = None, **options: Unpack[Options]
    ) -> str:
        """
        Stores a member, and returns its id. The arguments are those of Queue.push(), and

        queue  the queue that gets the member; None: that of the batch

        Raises InvalidError if the batch has ended. A member that another queue refuses, since a
        message has its id, counts as cancelled.
        """
        member = with_batch(row(body, options), self.id)
        return stored_id(self._store((member,), queue), options)

    def push_many(
        self, drafts: Iterable[Body | Draft], queue: str | None = None
    ) -> list[str | None]:
        """
        Stores any number of members, and returns their ids in order, None for a duplicate, which
        is no member. They go in calls of up to 200.
        """
        ids: list[str | None] = []
        for part in batches(drafts):
            members = tuple(with_batch(each, self.id) for each in part)
            ids += stored_ids(self._store(members, queue))
        return ids

    def status(self) -> BatchStatus | None:
        """How far the batch is. None: there is no such batch, or it ended long ago."""
        answer = self._home.call(on(self._queue, _core.find_batch_submit, self.id))
        return BatchStatus.from_row(answer.batches[0]) if answer.batches else None

    def close(self) -> bool:
        """Does Queue.close_batch()."""
        answer = self._home.call(on(self._queue, _core.close_batch_submit, self.id))
        return answer.status == _core.OK

    def cancel(self, queue: str | None = None) -> int:
        """
        Cancels the members that are ready or delayed, and returns their number.

        queue  the queue of the members; None: that of the batch
        """
        here = queue or self._queue
        home = "" if here == self._queue else self._queue
        cursor, left, cancelled = b"", True, 0
        while left:
            call = on(here, _core.cancel_batch_submit, self.id, home, cursor, _core.MAX_BATCH)
            answer = self._home.call(call)
            cancelled += answer.purged
            cursor = answer.cursor
            left = bool(cursor)
        return cancelled

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()

    def __repr__(self) -> str:
        return f"<Batch {self.id} of queue {self._queue}>"

    def _store(
        self, members: tuple[_core.DraftRow, ...], queue: str | None
    ) -> list[tuple[int, str]]:
        target = self._queue if queue is None else queue
        with _trace.sending(self._home, target, members) as sent:
            if target == self._queue:
                call = on(self._queue, _core.push_submit, sent.rows)
            else:
                call = push_to(self._queue, target, sent.rows)
            sent.outcomes = self._home.call(call).outcomes
        return sent.outcomes
