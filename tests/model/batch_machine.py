"""Sequences with batches: of one queue, and with members in others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from batches import Callback
from drafts import SPAN_MS, asked
from ends_machine import PLAIN, WAYS, EndsMachine
from ends_watch import fields_of
from hypothesis import strategies as st
from hypothesis.stateful import rule
from machine import ANY, DRAWN, QUEUE, SPANS, Drawn
from message import Draft
from model import Queue, Status
from world import now_ms

Json: TypeAlias = Any

BATCH = st.sampled_from(["a", "a", "b \u00fc"])
CALLBACKS: list[tuple[Callback, ...]] = [
    ("then", "catch", "finally"),
    ("catch", "finally"),
    ("then",),
    (),
]
CALLED = st.sampled_from([*CALLBACKS, CALLBACKS[0]])
# What a member has whose batch is all that its policy names.
BARE = PLAIN | {"keep_ms": 0}


class BatchMachine(EndsMachine):
    @rule(
        who=ANY,
        queue=QUEUE,
        id=BATCH,
        to=QUEUE,
        called=CALLED,
        spans=st.sampled_from([3, 1, 8]),
        keep=st.sampled_from([4, 0, 2]),
    )
    def open_batch(
        self,
        who: int,
        queue: int,
        id: str,
        to: int,
        called: tuple[Callback, ...],
        spans: int,
        keep: int,
    ) -> None:
        """A callback of the batch's own queue has an id of the core's, or its name."""
        at, target, now = self.queue(queue), self.queue(queue + to), now_ms()
        callbacks = dict[Callback, tuple[str, Draft]]()
        for name in called:
            named = f"{id} {name}"
            given = named if target is not at or who % 2 else ""
            callbacks[name] = target.name, Draft(given, named.encode(), due_ms=SPAN_MS)
        request: Json = {"do": "open_batch", "queue": at.name, "id": id, "callbacks": {}}
        request |= {"open_ms": spans * SPAN_MS, "keep_ms": keep * SPAN_MS}
        for name, (_, draft) in callbacks.items():
            row = asked(draft, 0, 0)
            request["callbacks"][name] = {"queue": target.name if target is not at else "", **row}
        answer, batches = self.run(who, request), at.ends.batches
        wanted = batches.open_batch(id, spans * SPAN_MS, keep * SPAN_MS, callbacks, now)
        self.same("the status", answer["statuses"], [wanted])

    @rule(who=ANY, queue=QUEUE, id=BATCH, to=QUEUE, rows=DRAWN, bare=st.booleans())
    def push_members(self, who: int, queue: int, id: str, to: int, rows: Drawn, bare: bool) -> None:
        home = self.queue(queue)
        if id not in home.ends.batches.open:
            self.open_batch(who, queue, id, 0, CALLBACKS[0], 3, 4)
        if id in home.ends.batches.open:
            rows = [(0, 0)] * len(rows) if bare else rows
            alike = BARE if bare else {"replace": "refuse"}
            self.push_into(who, home, id, self.queue(queue + to), rows, alike)

    def push_into(
        self, who: int, home: Queue, id: str, at: Queue, rows: Drawn, alike: Json
    ) -> None:
        now, before, batches = now_ms(), home.sent, home.ends.batches
        drafts = [replace(self.draft(*row, at, now), **alike, batch=id) for row in rows]
        rows_asked = [asked(d, row, now) for d, (row, _) in zip(drafts, rows, strict=True)]
        if at is home:
            answer = self.run(who, {"do": "push", "queue": at.name, "drafts": rows_asked})
            self.pushed(at, drafts, answer, lambda named: batches.push(id, named, now))
            return
        drafts = [replace(draft, batch_queue=home.name) for draft in drafts]
        request = {"do": "push_to", "queue": home.name, "target": at.name, "drafts": rows_asked}
        answer = self.run(who, request)

        def push_to(named: list[Draft]) -> list[Status]:
            entries = answer.get("entries") or [f"~{i}" for i in range(len(named))]
            stamps = answer.get("stamps") or [None for _ in named]
            home.put_out(at.name, entries, stamps, named, now)
            batches.open[id].pushed += len(named)
            return ["OK" for _ in named]

        self.pushed(at, drafts, answer, push_to, lambda: self.went_out(home, before))

    @rule(who=ANY, queue=QUEUE, id=BATCH)
    def close_batch(self, who: int, queue: int, id: str) -> None:
        at, now = self.queue(queue), now_ms()
        before = at.sent
        answer = self.run(who, {"do": "close_batch", "queue": at.name, "id": id})
        self.same("the status", answer["statuses"], [at.ends.batches.close(id, now)])
        self.went_out(at, before)

    @rule(who=ANY, queue=QUEUE, id=BATCH)
    def find_batch(self, who: int, queue: int, id: str) -> None:
        at, now = self.queue(queue), now_ms()
        seen = self.run(who, {"do": "find_batch", "queue": at.name, "id": id})["batch"]
        batch = at.ends.batches.find(id, now)
        if seen and batch:
            self.agree_batch(batch, seen)
        else:
            self.same("the batch", seen, fields_of(batch) if batch else None)

    @rule(who=ANY, queue=QUEUE, id=BATCH, to=QUEUE)
    def cancel_batch(self, who: int, queue: int, id: str, to: int) -> None:
        home, at, now = self.queue(queue), self.queue(queue + to), now_ms()
        if id not in home.ends.batches.open:
            self.push_members(who, queue, id, to, [(0, 0)], bare=True)
        of = home.name if home is not at else ""
        answer = self.run(who, {"do": "cancel_batch", "queue": at.name, "id": id, "of": of})
        wanted = at.ends.batches.cancel(id, home.name, now)
        self.same("how many", answer["cancelled"], wanted)
        self.settle_out()

    @rule(
        who=ANY,
        queue=QUEUE,
        id=BATCH,
        to=QUEUE,
        ways=st.lists(WAYS, min_size=1, max_size=3),
        close=st.sampled_from(["after", "before", "in time", ""]),
        twice=st.booleans(),
    )
    def live_through(
        self, who: int, queue: int, id: str, to: int, ways: list[str], close: str, twice: bool
    ) -> None:
        """A batch as a program has it, and what it calls."""
        home, at = self.queue(queue), self.queue(queue + to)
        self.push_members(who, queue, id, to, [(0, 0)] * len(ways), bare=True)
        if close == "before":
            self.close_batch(who, queue, id)
        self.end_in(who + 1, at, ways)
        if close == "after":
            self.close_batch(who + 2, queue, id)
        elif close == "in time":
            self.pass_time(8)
            self.reserve_of(who, [home], 1, 4)
        for number in (queue + to, queue):
            self.relay_all(number, twice)

    @rule(who=ANY, queue=QUEUE, spans=SPANS)
    def take_callbacks(self, who: int, queue: int, spans: int) -> None:
        """Where members wait they are taken, too: all is acknowledged."""
        at = self.queue(queue)
        self.pass_time(spans)
        if at.paused:
            return
        found = self.reserve_of(who, [at], 10, 4)
        if found:
            self.ack_of(who, at, [message.ticket for message in found])
