"""Batches: they count how their members end, and push callbacks.

The scripts that have the batches of their queue count at once. The others, and those of other
queues, put notes into the outbox of their own queue, which a relay brings to the batch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Literal

from message import OUT_MS, Draft, Entry, Message

if TYPE_CHECKING:
    from model import Queue, Status

Callback = Literal["then", "catch", "finally"]

_numbers = count()


def unnamed() -> str:
    """Stands for a name that the server makes, until ends_watch.py has seen it."""
    # Not "~0", "~1", as entries have that the library brings at once (machine.py).
    return f"~new {next(_numbers)}"


@dataclass(eq=False)
class Batch:
    id: str
    made_ms: int  # its callbacks have been made, by the clock of who opened it
    opened_ms: int
    closes_ms: int  # or when it was closed
    keep_ms: int  # how long it is found after its end
    # The queue that gets it, and the draft, whose due_ms is its delay.
    callbacks: dict[Callback, tuple[str, Draft]]
    timer: Entry | None = None  # in the outbox: it closes the batch
    state: Literal["open", "closed", "ended"] = "open"
    ended_ms: int = 0
    pushed: int = 0
    ends: Counter[str] = field(default_factory=Counter)  # of members: how they ended

    def left(self) -> int:
        return max(0, self.pushed - self.ends.total())

    def is_kept(self, now: int) -> bool:
        return self.ended_ms + self.keep_ms > now

    def add(self, change: Counter[str], now: int) -> list[Callback]:
        """Returns what it calls: each callback once, as none of them can come again."""
        called, had_dead = list[Callback](), self.ends["dead"] > 0
        for what, number in change.items():
            if what not in ("close", "timeout"):
                self.ends[what] += number
            elif self.state == "open":
                self.state, self.closes_ms = "closed", now
        if self.ends["dead"] and not had_dead:
            called.append("catch")
        if self.state == "closed" and not self.left():
            self.state, self.ended_ms = "ended", now
            called += ["then"] if self.ends["acked"] == self.pushed else []
            called.append("finally")
        return called


@dataclass(eq=False)
class Batches:
    """Of a queue."""

    queue: Queue
    open: dict[str, Batch] = field(default_factory=dict)  # those that have not ended
    ended: dict[str, Batch] = field(default_factory=dict)  # also some that are found no more
    # How many members of a batch of another queue are here, by that queue and the batch.
    guests: Counter[tuple[str, str]] = field(default_factory=Counter)
    noted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    changes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    called_here: bool = False  # since the last reserve began

    def open_batch(
        self,
        id: str,
        open_ms: int,
        keep_ms: int,
        callbacks: dict[Callback, tuple[str, Draft]],
        now: int,
    ) -> Status:
        if self.find(id, now):
            return "DUPLICATE"
        batch = self.open[id] = Batch(id, now, now, now + open_ms, keep_ms, callbacks)
        batch.timer = self._send_note(self.queue.name, id, "timeout", 1, now, now + open_ms)
        return "OK"

    def find(self, id: str, now: int) -> Batch | None:
        ended = self.ended.get(id)
        return self.open.get(id) or (ended if ended and ended.is_kept(now) else None)

    def close(self, id: str, now: int) -> Status:
        if id in self.open:
            self.count(id, "close", 1)
            self.write(now)
            return "OK"
        return "OK" if self.find(id, now) else "NOT_FOUND"

    def push(self, id: str, drafts: list[Draft], now: int) -> list[Status]:
        statuses = self.queue.store(drafts, now)
        self.open[id].pushed += statuses.count("OK")
        return statuses

    def cancel(self, id: str, home: str, now: int) -> int:
        """Those that wait in this queue. home: the queue of the batch."""
        own = "" if home == self.queue.name else home
        found = [
            message
            for message in self.queue.existing.values()
            if (message.draft.batch, message.draft.batch_queue) == (id, own)
            and message.state in ("ready", "delayed")
        ]
        for message in found:
            self.queue.cancel_message(message, now, here=True)
        self.write(now)
        return len(found)

    # Counting

    def note(self, draft: Draft, how: str, here: bool) -> None:
        """A member has ended."""
        if here and not draft.batch_queue:
            self.count(draft.batch, how, 1)
            return
        self.noted[draft.batch_queue or self.queue.name, draft.batch, how] += 1
        if draft.batch_queue:
            guest = draft.batch_queue, draft.batch
            self.guests[guest] = max(0, self.guests[guest] - 1)

    def count(self, id: str, what: str, number: int) -> None:
        self.changes[id][what] += number

    def write(self, now: int) -> None:
        noted, changes = dict(self.noted), dict(self.changes)
        self.noted.clear()
        self.changes.clear()
        for (home, id, how), number in noted.items():
            self._send_note(home, id, how, number, now, now)
        for id, change in changes.items():
            # A batch that is not known has ended.
            if id in self.open:
                self._change(self.open[id], change, now)

    def _change(self, batch: Batch, change: Counter[str], now: int) -> None:
        for name in batch.add(change, now):
            if name in batch.callbacks:
                self._call(batch, name, now)
        if batch.state != "open" and batch.timer:
            # Else a relay brings it, and removes it.
            if not change["timeout"]:
                self.queue.outbox.pop(batch.timer.ticket, None)
            batch.timer = None
        if batch.state == "ended":
            del self.open[batch.id]
            if batch.keep_ms:
                self.ended[batch.id] = batch

    def _call(self, batch: Batch, name: Callback, now: int) -> None:
        target, draft = batch.callbacks[name]
        due_ms, is_named = now + draft.due_ms, draft.id != ""
        draft = replace(draft, id=draft.id or unnamed(), due_ms=due_ms)
        if target == self.queue.name:
            self.called_here = True
            if self.queue.push([draft], now) == ["OK"]:
                called = self.queue.existing[draft.id]
                called.created_ms, called.is_named = batch.made_ms, is_named
        else:
            called, out_ms = Message(draft, batch.made_ms, is_named=is_named), now + OUT_MS
            entry = Entry(target, unnamed(), called, due_ms, out_ms, False, is_named=False)
            self.queue.send(entry)

    def _send_note(
        self, home: str, id: str, what: str, number: int, now: int, time_ms: int
    ) -> Entry:
        message, note = Message(Draft(id), now, stamp=""), (what, number)
        entry = Entry(home, unnamed(), message, 0, time_ms, False, note=note, is_named=False)
        self.queue.send(entry)
        return entry

    def pass_time(self, ms: int) -> None:
        for batch in [*self.open.values(), *self.ended.values()]:
            batch.opened_ms -= ms
            batch.closes_ms -= ms
            batch.ended_ms -= ms * bool(batch.ended_ms)
