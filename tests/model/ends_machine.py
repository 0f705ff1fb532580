"""Sequences in which the ends of messages are kept, and messages are links of chains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from drafts import DELAYED_ROW, QUEUES, SPAN_MS
from ends import CHAIN, End
from ends_watch import EndsWatch
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from machine import ANY, DRAWN, DRAWN_MANY, PICK, QUEUE, Drawn
from message import Draft, Message
from model import BY_POLICY, Queue
from raw_ends import shown_end
from world import near, now_ms

Json: TypeAlias = Any

# In spans.
KEEPS = [2, 0, 5, 1, 0, 3]
# The queue of `catch`, so many behind the message's own; "": the chain has none; None: no chain.
CATCHES: list[int | str | None] = [None, 1, None, 0, "", None, 2]
# Of a message that is the only one with its options.
PLAIN: dict[str, Any] = {
    name: getattr(Draft(""), name)
    for name in ("id", "due_ms", "ttl_ms", "lease_ms", "group", "unique_ms", "replace", "headers")
}
ONCE = PLAIN | {"keep_ms": 3 * SPAN_MS, "max_attempts": 1, "max_crashes": 1}
WAYS = st.sampled_from(["ack", "result", "bury", "retry", "cancel", "purge", "crash", "push"])


class EndsMachine(EndsWatch):
    @initialize(
        who=ANY, first=DRAWN_MANY, second=DRAWN_MANY, groups=st.sampled_from([False, False, True])
    )
    def begin(self, who: int, first: Drawn, second: Drawn, groups: bool) -> None:
        """Groups have no limits here."""
        self.groups = groups
        self.push(who, 0, first)
        self.push(who + 1, 1, second)

    def draft(self, row: int, policy: int, queue: Queue, now: int) -> Draft:
        number, draft = row + policy, super().draft(row, policy, queue, now)
        number, keep = divmod(number, len(KEEPS))
        catch, place = CATCHES[number % len(CATCHES)], QUEUES.index(queue.name)
        headers = draft.headers
        if catch is not None:
            name = QUEUES[(place + catch) % len(QUEUES)] if isinstance(catch, int) else catch
            headers += chain(name)
        return replace(draft, keep_ms=KEEPS[keep] * SPAN_MS, headers=headers)

    @rule(who=ANY, queue=QUEUE, pick=PICK, spans=st.sampled_from([0, 0, 0, 2]))
    def ask_outcome(self, who: int, queue: int, pick: int, spans: int) -> None:
        at = next((q for q in map(self.queue, range(queue, queue + 3)) if q.ends.kept), None)
        if not at:
            self.end_some(who, queue, ["ack"])
            return
        if spans:
            self.pass_time(spans)
        mortal = [id for id, message in at.existing.items() if message.expires_ms]
        found = [*[*reversed(at.ends.kept)][:6], *mortal[:3], *[*at.existing][:2], "never pushed"]
        self.outcome_of(who, at, self.pick(found, pick))

    def outcome_of(self, who: int, queue: Queue, id: str) -> None:
        now = now_ms()
        seen = self.run(who, {"do": "outcome", "queue": queue.name, "id": id})["end"]
        self.same(f"the end of {id}", seen, answered(queue.ends.outcome(id, now), seen))
        self.settle_out()

    @rule(who=ANY, pick=PICK, result=st.sampled_from(["", "r \u00fc", "{}"]))
    def ack_result(self, who: int, pick: int, result: str) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        queue, ticket = self.pick(self.tickets(is_kept), pick)
        self.ack_with(who, queue, ticket, result)

    def ack_with(self, who: int, queue: Queue, ticket: str, result: str) -> None:
        now, before = now_ms(), queue.sent
        answer = self.settle(who, queue, ticket, {"do": "ack_result", "result": result})
        self.same("the status", answer["statuses"], queue.ack([ticket], now, result))
        self.went_out(queue, before)

    @rule(who=ANY, queue=QUEUE, ways=st.lists(WAYS, min_size=1, max_size=3))
    def end_some(self, who: int, queue: int, ways: list[str]) -> None:
        self.push(who, queue, [(0, 0)] * len(ways), ONCE)
        self.end_in(who, self.queue(queue), ways)

    def end_in(self, who: int, queue: Queue, ways: list[str]) -> None:
        """Takes what there is, and ends a message in each of the ways."""
        if queue.paused:
            return
        found = self.reserve_of(who, [queue], 10, 4)
        found.sort(key=lambda message: message.draft.batch == "")
        for place, (way, message) in enumerate(zip(ways, found, strict=False)):
            self.end(who + place, queue, message, way)

    def end(self, who: int, queue: Queue, message: Message, way: str) -> None:
        ticket, id = message.ticket, message.draft.id
        if way == "ack":
            self.ack_of(who, queue, [ticket])
        elif way == "result":
            self.ack_with(who, queue, ticket, "done")
        elif way == "bury":
            now, before = now_ms(), queue.sent
            answer = self.settle(who, queue, ticket, {"do": "bury", "error": "no \u00fc"})
            self.same("the status", answer["statuses"], [queue.bury(ticket, "no \u00fc", now)])
            self.went_out(queue, before)
        elif way == "retry":
            self.fail(who, queue, ticket, BY_POLICY, "failed")
        elif way == "cancel":
            self.cancel_ids(who, queue, [id, "never pushed"])
        elif way == "purge":
            self.purge_all(who, queue, "leased")
        elif way == "crash":
            self.pass_time(5)
            self.reserve_of(who, [queue], 10, 4)
        else:
            to = QUEUES.index(queue.name) + who % 2
            self.ack_push(who, 0, to, [(0, 0)], PLAIN)

    @rule(
        who=ANY,
        queue=QUEUE,
        rows=DRAWN,
        how=st.sampled_from(["reserve", "reserve", "outcome"]),
    )
    def live_too_long(self, who: int, queue: int, rows: Drawn, how: str) -> None:
        at = self.queue(queue)
        mortal = PLAIN | {"ttl_ms": SPAN_MS, "keep_ms": 3 * SPAN_MS, "headers": chain(at.name)}
        self.push(who, queue, rows[:2], mortal)
        self.pass_time(2)
        if how == "reserve":
            self.reserve_of(who + 1, [at], 10, 4)
            return
        for id in [id for id, message in at.existing.items() if message.expires_ms][-2:]:
            self.outcome_of(who, at, id)

    @rule(
        who=ANY,
        queue=QUEUE,
        to=QUEUE,
        way=st.sampled_from(["bury", "retry", "crash", "push", "cancel"]),
    )
    def run_link(self, who: int, queue: int, to: int, way: str) -> None:
        """A link that ends well is followed by the next one."""
        at, target = self.queue(queue), self.queue(to)
        self.push(who, queue, [(0, 0)], ONCE | {"headers": chain(target.name)})
        if at.paused:
            return
        found = [m for m in self.reserve_of(who, [at], 10, 4) if CHAIN in dict(m.draft.headers)]
        if found and way == "push":
            self.ack_push(who, 0, to, [(0, 0)], PLAIN | {"headers": chain(target.name, 2)})
        elif found:
            self.end(who, at, found[-1], way)
        self.reserve_of(who + 1, [target], 10, 4)

    @rule(who=ANY, queue=QUEUE, picks=st.lists(PICK, min_size=1, max_size=2))
    def kill(self, who: int, queue: int, picks: list[int]) -> None:
        at = self.fullest(queue, "delayed")
        delayed = [message.draft.id for message in at.peek("delayed")]
        if not delayed:
            self.push(who, queue, [(DELAYED_ROW + pick, 0) for pick in picks])
            return
        others = [id for id in at.existing if id not in delayed]
        ids = [self.pick([*delayed, *others[:2], "never pushed"], pick) for pick in picks]
        now, before = now_ms(), at.sent
        answer = self.run(who, {"do": "kill", "queue": at.name, "ids": ids})
        self.same("the statuses", answer["statuses"], at.kill(ids, now))
        self.went_out(at, before)

    @rule(queue=QUEUE, twice=st.booleans())
    def relay_all(self, queue: int, twice: bool) -> None:
        """Relays that live; or each pushes its entries once more, as it did not hear the answer."""
        at = self.queue(queue)
        for _ in range(5):
            if not any(entry.time_ms <= now_ms() for entry in at.outbox.values()):
                return
            self.relay_take(queue, 0, 5)
            relay, entries = self.relays[-1]
            for stage in [0, 0, 1, 2] if twice else [0, 1, 2]:
                if stage <= relay.stage < 3:
                    self.relay_step(relay, entries, stage)
            self.settle_out()


def chain(target: str, link: int = 1) -> tuple[tuple[str, str], ...]:
    """The header of a link; target: the queue of its `catch`."""
    return ((CHAIN, f"{target}\n{link} 2 work\n" + "{}\n" * (2 - link)),)


def is_kept(message: Message) -> int:
    return int(message.draft.keep_ms > 0)


def answered(end: End | None, seen: Json) -> Json:
    """As outcome answers; times are as seen, where they are about right."""
    wanted = shown_end(end) if end else None
    if wanted and seen:
        wanted |= {name: near(seen[name], wanted[name]) for name in ("time_ms", "until_ms")}
    return wanted
