"""Drives the verbs in random order, each through a driver at random, and the model beside them.

After each step the answer and the whole state must be the model's (watch.py). Time passes by
pass.lua, in spans beside which the real milliseconds of a run do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from drafts import (
    DELAYED_ROW,
    LIMITED,
    LIMITS,
    ORDERS,
    POLICY_COUNT,
    QUEUES,
    ROWS,
    SPAN_MS,
    WEIGHTS,
    asked,
    drawn,
)
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.stateful import initialize, rule, run_state_machine_as_test
from layout import nearer
from limits import SOON_MS, Changes
from message import DEFAULT_BACKOFF, NORMAL, STATES, Draft, Message, Relay, Replace, State
from model import AHEAD_MS, BY_POLICY, MOST, Queue, Status
from watch import Watch
from world import World, now_ms

Json: TypeAlias = Any
Drawn: TypeAlias = "list[tuple[int, int]]"
set_hypothesis_home_dir(str(Path(__file__).parents[2] / "build/hypothesis"))

ERRORS = ["", "no", "Error: \u00fc \x00\n", "e" * 5000]

ANY = st.integers(0, 59)
QUEUE = st.sampled_from([0, 0, 1, 0, 0, 1, 2])
SPANS = st.sampled_from([1, 2, 1, 5])
LEASES = st.sampled_from([2, 4, 0, 1, 8])
# How a message is made, and its policies, often none.
ODD_ROW = st.tuples(st.integers(0, len(ROWS) - 1), st.integers(0, POLICY_COUNT - 1))
ROW = st.tuples(
    st.integers(0, len(ROWS) - 1), st.one_of(st.just(0), st.integers(0, POLICY_COUNT - 1))
)
DRAWN_MANY = st.lists(ROW, min_size=3, max_size=6)
DRAWN = st.lists(ROW, min_size=2, max_size=4)
DRAWN_ODD = st.lists(ODD_ROW, min_size=1, max_size=2)
# An entry of the outbox is due then; so is one that could not be relayed.
OUT_MS, LONGEST_PAUSE_MS = 1_500, 301_000
# Whether messages have groups in a sequence, and groups limits, or also orders.
GROUPED = ["with limits", "", "", "without limits", "without limits", "", "", "with orders"]
LIMIT_NAMES = ("concurrency", "rate", "burst", "backlog", "weight")
UNCHANGED = -1
# Pages of a purge are small, so that there are several.
PAGE = 2
# A draft without any option.
PLAIN = Draft("")
# Of a list in order of interest: mostly the first.
PICK = st.sampled_from([*[0] * 9, *[1] * 4, 2, 2, *range(3, 12)])
PICKS = st.lists(PICK, min_size=1, max_size=4)


class Machine(Watch):
    only = ""  # one of GROUPED, for each sequence
    outbox_page = PAGE

    # The verbs. What is drawn must not depend on the state, which depends on the milliseconds of
    # the clock: so a rule that has nothing to do does another's work.

    @initialize(
        who=ANY,
        first=DRAWN_MANY,
        second=DRAWN_MANY,
        groups=st.sampled_from(GROUPED),
        change=st.sampled_from(LIMITS),
        own=st.sampled_from(LIMITS),
    )
    def begin(
        self, who: int, first: Drawn, second: Drawn, groups: str, change: Changes, own: Changes
    ) -> None:
        """A queue that never had a group, or a limit, runs other scripts."""
        groups = self.only or groups
        self.orders = groups == "with orders"
        self.limits = self.orders or groups == "with limits"
        self.groups = self.limits or groups != ""
        if self.orders:
            self.set_limits(who, self.queue(0), "", {"order": "strict"}, clear=False)
        elif self.limits:
            self.set_limits(who, self.queue(0), "", change, clear=False)
            self.set_limits(who, self.queue(0), "a", own, clear=False)
        self.push(who, 0, first)
        self.push(who + 1, 1, second)

    @rule(who=ANY, queue=QUEUE, rows=DRAWN)
    def push(self, who: int, queue: int, rows: Drawn, alike: Json | None = None) -> None:
        """What is alike, all of them have."""
        now, at = now_ms(), self.queue(queue)
        drafts = [replace(self.draft(*row, at, now), **(alike or {})) for row in rows]
        rows_asked = [asked(d, row, now) for d, (row, _) in zip(drafts, rows, strict=True)]
        before = at.sent
        answer = self.run(who, {"do": "push", "queue": at.name, "drafts": rows_asked})
        self.pushed(at, drafts, answer, lambda named: at.push(named, now))
        self.went_out(at, before)

    def draft(self, row: int, policy: int, queue: Queue, now: int) -> Draft:
        return drawn(row, policy, queue.name, now, self.groups, self.limits)

    @rule(
        who=ANY,
        queue=QUEUE,
        pick=PICK,
        rows=DRAWN_ODD,
        replace=st.sampled_from(["replace_body", "replace", "refuse"]),
        how=st.sampled_from(["", "", "again", "elsewhere", "window"]),
    )
    def push_known(
        self, who: int, queue: int, pick: int, rows: Drawn, replace: Replace, how: str
    ) -> None:
        """Of an id that lives; or has just left its old ticket in the lane; or is to come here."""
        at = self.fullest(queue)
        if not at.existing:
            self.push(who, queue, rows)
            return
        first: State = "ready" if replace == "replace_body" else "leased"
        found = sorted(at.existing.values(), key=lambda message: message.state != first)
        ways = [(m.draft.id, m.draft.dead_letter) for m in found if m.draft.dead_letter]
        if how == "elsewhere" and ways:
            id, name = self.pick(ways, pick)
            self.push(who, QUEUES.index(name), rows, {"id": id})
            return
        id = self.pick(found, pick).draft.id
        if how in ("again", "window"):
            self.cancel_ids(who, at, [id])
        if how == "window":
            alike = {"id": id, "group": "", "unique_ms": SPAN_MS}
            self.push(who, QUEUES.index(at.name), [(rows[0][0], 0)], alike)
        self.push(who + 1, QUEUES.index(at.name), rows, {"id": id, "replace": replace})

    def pushed(
        self,
        queue: Queue,
        drafts: list[Draft],
        answer: Json,
        push: Callable[[list[Draft]], list[Status]],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        # What is not stored needs no id.
        ids = [id or f"none {n}" for n, id in enumerate(answer["ids"])]
        named = [replace(draft, id=id) for draft, id in zip(drafts, ids, strict=True)]
        statuses, seen = push(named), answer["statuses"]
        if "BACKLOG" in statuses and self.last[0] in ("python", "php"):
            # They tell only which messages are not stored.
            seen, statuses = [
                ["BACKLOG" if status == "DUPLICATE" else status for status in found]
                for found in (seen, statuses)
            ]
        self.same("the statuses", seen, statuses)
        if not {"LEASE_LOST", "BACKLOG"} & set(statuses):
            right = [
                id == d.id if d.id else len(id) == 22 for d, id in zip(drafts, ids, strict=True)
            ]
            self.same("whether the ids are right", right, [True] * len(ids))
        then()
        self.known.update((id, None) for id in answer["ids"] if id)
        for id, stamp in zip(ids, self.world.stamps(queue.name, ids), strict=True):
            message = queue.find(id)
            if message and message.stamp is None:
                message.stamp = stamp

    def went_out(self, queue: Queue, before: int) -> None:
        """Of a call that put entries there. Who lives relays them; where nobody does, they wait."""
        if queue.sent == before:
            return
        if self.last[0] == "raw":
            self.pass_ms(OUT_MS)
        else:
            queue.relay(now_ms())

    @rule(who=ANY, queue=QUEUE, count=st.sampled_from([1, 2, 1, 3, 10]), lease=LEASES)
    def reserve(self, who: int, queue: int, count: int, lease: int) -> None:
        if not any(each.existing for each in self.model.queues.values()):
            self.push(who, queue, [(count + 7 * self.count, 0)])
            return
        busy = self.busiest(queue)
        if self.count % 2 and not busy.has_work(now_ms()):
            self.pass_time(2)
            return
        self.reserve_of(who, [busy], count, lease)

    @rule(who=ANY, queue=QUEUE)
    def reserve_some(self, who: int, queue: int) -> None:
        """Plain messages, of which the fast script takes two and leaves the others ready."""
        alike = {name: getattr(PLAIN, name) for name in ("id", "max_attempts", "lease_ms", "group")}
        self.reserve_of(who, [self.queue(queue)], 10, 4)
        self.push(who, queue, [(0, 0)] * 4, alike)
        self.reserve_of(who, [self.queue(queue)], 2, 4)

    @rule(who=ANY, queue=QUEUE, count=st.sampled_from([1, 2, 10]))
    def reserve_any(self, who: int, queue: int, count: int) -> None:
        self.reserve_of(who, [self.queue(queue + 1), self.queue(queue)], count, 1)

    def reserve_of(self, who: int, queues: list[Queue], count: int, lease: int) -> list[Message]:
        now, lease_ms, names = now_ms(), lease * SPAN_MS, [queue.name for queue in queues]
        request = {"do": "reserve", "queues": names, "count": count, "lease_ms": lease_ms}
        answer = self.run(who, request)
        wanted, lives = list[Message](), self.last[0] != "raw"
        for queue in queues:
            before = queue.sent
            wanted = queue.reserve(count, lease_ms, now)
            due = any(entry.time_ms <= now for entry in queue.outbox.values())
            if lives and (due or queue.sent > before):
                queue.relay(now)
            if lives and not wanted and queue.ends.batches.called_here:
                # A callback may be due by then: the client asks again.
                wanted = queue.reserve(count, lease_ms, now)
            if wanted:
                break
        self.learn()
        self.same("the queue", answer["queue"], queue.name if wanted else "")
        self.taken(queue, answer, wanted)
        if self.last[0] == "raw" and any(queue.outbox for queue in queues):
            self.pass_ms(OUT_MS)  # it was told to relay, and is not again within a second
        for each in queues:
            self.look_at_limited(each)
            self.pass_default(each)
        return wanted

    def taken(self, queue: Queue, answer: Json, wanted: list[Message]) -> None:
        seen = [message["id"] for message in answer["messages"]]
        self.same("the messages", seen, [message.draft.id for message in wanted])
        for message, expected in zip(answer["messages"], wanted, strict=True):
            self.agree(message, expected)
            self.given[message["ticket"]] = queue, message["id"]

    @rule(who=ANY, picks=PICKS)
    def ack(self, who: int, picks: list[int]) -> None:
        found = self.tickets()
        queue = found[0][0] if found else self.queue(0)
        tickets = [ticket for at, ticket in found if at is queue]
        if not self.leased() or not tickets:
            self.reserve(who, 0, 1, 4)
            return
        self.ack_of(who, queue, [self.pick(tickets, pick) for pick in picks])

    def ack_of(self, who: int, queue: Queue, tickets: list[str]) -> None:
        now, before = now_ms(), queue.sent
        answer = self.run(who, {"do": "ack", "queue": queue.name, "tickets": tickets})
        self.same("the statuses", answer["statuses"], queue.ack(tickets, now))
        self.went_out(queue, before)

    @rule(
        who=ANY,
        picks=st.lists(PICK, max_size=6),
        retry=st.one_of(st.none(), PICK),
        delay=st.sampled_from([0, -1, 1]),
        count=st.sampled_from([1, 2, 3, 10]),
    )
    def go_on(self, who: int, picks: list[int], retry: int | None, delay: int, count: int) -> None:
        """Acknowledges, gives one back as failed, and reserves the next in one call."""
        found = self.tickets()
        queue = found[0][0] if found else self.queue(0)
        tickets = [ticket for at, ticket in found if at is queue]
        if not tickets or self.driver(who).name != "raw":
            self.ack(who, picks or [0])
            return
        acks = [self.pick(tickets, pick) for pick in picks]
        again = "" if retry is None else self.pick(tickets, retry)
        now, error = now_ms(), ERRORS[count % len(ERRORS)]
        ms, lease_ms = delay * SPAN_MS if delay >= 0 else BY_POLICY, 2 * SPAN_MS
        asked_for = {"delay_ms": ms, "error": error, "count": count, "lease_ms": lease_ms}
        request = {"do": "settle", "queue": queue.name, "acks": acks, "retry": again}
        answer = self.run(who, {**request, **asked_for})
        statuses = list[str](queue.ack(acks, now))
        if again:
            statuses.append(queue.retry(again, ms, error, now, with_reserve=True))
        self.same("the statuses", answer["statuses"], statuses)
        self.taken(queue, answer, queue.reserve(count, lease_ms, now))
        self.look_at_limited(queue)
        self.pass_default(queue)
        if queue.outbox:
            self.pass_ms(OUT_MS)
        self.pass_default(queue)

    @rule(who=ANY, pick=PICK, to=QUEUE, rows=DRAWN)
    def ack_push(
        self, who: int, pick: int, to: int, rows: Drawn, alike: Json | None = None
    ) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        (queue, ticket), at, now = self.pick(self.tickets(), pick), self.queue(to), now_ms()
        drafts = [replace(self.draft(*row, at, now), **(alike or {})) for row in rows]
        if self.limits and at is not queue:
            drafts = [replace(draft, group="") for draft in drafts]
        rows_asked = [asked(d, row, now) for d, (row, _) in zip(drafts, rows, strict=True)]
        request = {"do": "ack_push", "target": at.name, "drafts": rows_asked}
        answer = self.settle(who, queue, ticket, request)
        before = queue.sent

        def ack_push(named: list[Draft]) -> list[Status]:
            statuses = queue.ack_push(ticket, at, named, now)
            if at is not queue and statuses[0] == "OK":
                entries = answer.get("entries") or [f"~{i}" for i in range(len(named))]
                stamps = answer.get("stamps") or [None for _ in named]
                queue.put_out(at.name, entries, stamps, named, now)
            return statuses

        self.pushed(at, drafts, answer, ack_push, lambda: self.went_out(queue, before))

    @rule(
        who=ANY, pick=PICK, delay=st.sampled_from([0, -1, 1, -1, 2]), error=st.sampled_from(ERRORS)
    )
    def retry(self, who: int, pick: int, delay: int, error: str) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        queue, ticket = self.pick(self.tickets(tries), pick)
        self.fail(who, queue, ticket, delay * SPAN_MS if delay >= 0 else BY_POLICY, error)

    def fail(self, who: int, queue: Queue, ticket: str, ms: int, error: str) -> None:
        now, request = now_ms(), {"do": "retry", "delay_ms": ms, "error": error}
        answer, before = self.settle(who, queue, ticket, request), queue.sent
        self.same("the status", answer["statuses"], [queue.retry(ticket, ms, error, now)])
        self.went_out(queue, before)
        self.pass_default(queue)

    def pass_default(self, queue: Queue) -> None:
        """What waits by the default backoff, or a second, is due: it would be so amid a step."""
        now = now_ms()
        late = [
            m
            for m in queue.existing.values()
            if (m.loose_ms and m.draft.backoff == DEFAULT_BACKOFF)
            or (m.state == "delayed" and now < m.time_ms < now + SPAN_MS / 2)
        ]
        if late:
            longest = max(0, *(m.time_ms - now for m in late)) + 2 * SOON_MS
            self.look()
            self.pass_ms(longest)

    @rule(who=ANY, queue=QUEUE, times=st.sampled_from([2, 3]))
    def fail_again(self, who: int, queue: int, times: int) -> None:
        """Takes what there is, and each time fails all of it."""
        for _ in range(times):
            if not self.busiest(queue).has_work(now_ms()):
                self.pass_time(5)
            at = self.busiest(queue)
            for message in self.reserve_of(who, [at], 10, 4):
                self.fail(who, at, message.ticket, BY_POLICY, "failed")
            self.look()  # what the delays are, by jitter, is seen before they pass

    @rule(who=ANY, pick=PICK)
    def retry_at_once(self, who: int, pick: int) -> None:
        self.retry(who, pick, 0, "again")

    @rule(
        who=ANY,
        pick=PICK,
        delay=st.sampled_from([0, 0, 1]),
        then=st.sampled_from(["", "", "", "purge"]),
    )
    def release(self, who: int, pick: int, delay: int, then: str) -> None:
        """A purge removes what waits for a reserve to bring it to the front."""
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        queue, ticket = self.pick(self.tickets(), pick)
        self.give_back(who, queue, ticket, delay * SPAN_MS)
        if then == "purge":
            self.purge_all(who, queue, "ready")

    def give_back(self, who: int, queue: Queue, ticket: str, ms: int) -> None:
        now, request = now_ms(), {"do": "release", "delay_ms": ms}
        answer = self.settle(who, queue, ticket, request)
        self.same("the status", answer["statuses"], [queue.release(ticket, ms, now)])

    # Orders of groups

    @rule(
        who=ANY,
        queue=QUEUE,
        pick=PICK,
        how=st.sampled_from(["retry", "crash", "bury", "retry"]),
        then=st.sampled_from(["cancel", "", "replace", "purge", "kick", "strict", "release", ""]),
        count=st.sampled_from([10, 1, 3]),
    )
    def stand_aside(self, who: int, queue: int, pick: int, how: str, then: str, count: int) -> None:
        """
        A message of a group fails. What is behind it waits until it comes back or ends, if the
        group is in the order strict, or comes to be then.
        """
        if not self.orders:
            self.work_badly(who, queue, how)
            return
        at, change = self.queue(queue), then in ("strict", "release")
        if change:
            self.set_limits(who, at, "a", {"order": "fair"}, clear=False)
        self.push(who, queue, [(0, 0)] * 3, {"group": "a"})
        self.reserve_of(who, [at], 10, 4)
        leased = [message for message in at.peek("leased") if message.draft.group == "a"]
        if not leased:
            return
        message = self.pick(leased, pick)
        if then == "release":
            others = [each for each in leased if each is not message]
            for each in others[:1]:
                self.give_back(who, at, each.ticket, 0)
            self.set_limits(who, at, "a", {"order": "strict"}, clear=False)
        if how == "crash":
            self.pass_time(5)
        elif how == "bury":
            self.bury_of(who, at, message.ticket, "aside")
        else:
            self.fail(who, at, message.ticket, 0 if then == "release" else SPAN_MS, "aside")
        if then == "strict":
            self.set_limits(who, at, "a", {"order": "strict"}, clear=False)
        if then == "kick":
            self.kick_ids(who, at, [message.draft.id])
        self.look()
        self.reserve_of(who + 1, [at], count, 4)
        if then == "cancel":
            self.cancel_ids(who, at, [message.draft.id])
        elif then == "replace":
            alike = {"id": message.draft.id, "group": "a", "replace": then}
            self.push(who, queue, [(pick, 0)], alike)
        elif then == "purge":
            self.purge_all(who, at, "delayed")
        self.look()
        self.reserve_of(who + 1, [at], count, 4)

    # Limits of groups

    @rule(
        who=ANY,
        queue=QUEUE,
        group=st.sampled_from(LIMITED),
        change=st.sampled_from(LIMITS),
        order=st.sampled_from(ORDERS),
        weight=st.sampled_from(WEIGHTS),
        clear=st.sampled_from([False, False, False, False, True]),
    )
    def limit(
        self,
        who: int,
        queue: int,
        group: str,
        change: Changes,
        order: Changes,
        weight: int,
        clear: bool,
    ) -> None:
        """A sequence in which groups have none does something else."""
        if not self.limits:
            self.reserve(who, queue, 10, 2)
            return
        change = (order if self.orders else change) | ({"weight": weight} if group else {})
        at = self.fullest(queue, "ready")
        self.set_limits(who, at, group, change, clear)
        self.reserve_of(who + 1, [at], 3 + 7 * clear, 4)

    def set_limits(self, who: int, queue: Queue, group: str, change: Changes, clear: bool) -> None:
        request = {"do": "limit", "queue": queue.name, "group": group, "clear": clear}
        request |= {name: change.get(name, UNCHANGED) for name in LIMIT_NAMES}
        request["order"] = change.get("order", "")
        self.same("the status", self.run(who, request)["statuses"], ["OK"])
        queue.limit(group, change, clear)

    @rule(
        who=ANY,
        queue=QUEUE,
        pick=PICK,
        spans=st.sampled_from([1, 3, 0]),
        count=st.sampled_from([1, 3, 10]),
    )
    def hold(self, who: int, queue: int, pick: int, spans: int, count: int) -> None:
        """A group that has messages, mostly; and looks what comes of the others."""
        at = self.fullest(queue)
        if not self.limits:
            self.work_badly(who, queue, "crash")
            return
        found = list(dict.fromkeys(m.draft.group for m in at.existing.values() if m.draft.group))
        group, now = self.pick([*found, "a", "b"], pick), now_ms()
        request = {"do": "hold", "queue": at.name, "group": group, "ms": spans * SPAN_MS}
        answer = self.run(who, request)
        at.limits.hold_group(group, spans * SPAN_MS, now)
        self.same("the status", answer["statuses"], ["OK"])
        self.reserve_of(who + 1, [at], count, 4)

    @rule(who=ANY, pick=PICK, spans=st.sampled_from([1, 2, 0]))
    def hold_group(self, who: int, pick: int, spans: int) -> None:
        tickets = [(queue, ticket) for queue, ticket in self.tickets() if "=" in ticket]
        if not (self.limits and self.leased() and tickets):
            self.release(who, pick, spans, "")
            return
        (queue, ticket), now, ms = self.pick(tickets, pick), now_ms(), spans * SPAN_MS
        answer = self.settle(who, queue, ticket, {"do": "hold_group", "ms": ms})
        self.same("the status", answer["statuses"], [queue.hold_group(ticket, ms, now)])

    @rule(who=ANY, queue=QUEUE, backlog=st.sampled_from([1, 2, 3]), rows=DRAWN, pick=PICK)
    def push_above(self, who: int, queue: int, backlog: int, rows: Drawn, pick: int) -> None:
        """Where the backlog is short: plain messages, the same id twice, or as a successor."""
        if not self.limits:
            self.push_known(who, queue, pick, rows[:1], "replace", "")
            return
        self.set_limits(who, self.queue(queue), "", {"backlog": backlog}, clear=False)
        alike: dict[str, Any] = {"group": "a", "priority": NORMAL}
        if pick % 3 == 1:
            self.push(who, queue, rows, alike | {"id": "twice"})
            return
        plain = [(0, 0)] * len(rows)
        self.push(who, queue, plain, alike)
        self.reserve_of(who, [self.queue(queue)], 1, 8)
        self.push(who + 1, queue, plain[1:], alike)
        self.ack_push(who, pick, queue, rows[:1], alike)

    @rule(who=ANY, queue=QUEUE, counts=st.lists(st.sampled_from([1, 2, 4]), min_size=2, max_size=4))
    def work_well(self, who: int, queue: int, counts: list[int]) -> None:
        """Takes more and more, and ends what came first, several in one call."""
        at = self.fullest(queue)
        taken = list[Message]()
        for count in counts:
            if not at.paused:
                taken += self.reserve_of(who, [at], count, 8)
            ended = taken[: count - 1]
            if ended:
                taken = taken[count - 1 :]
                self.ack_of(who, at, [message.ticket for message in ended])

    @rule(who=ANY, pick=PICK, lease=st.sampled_from([1, 2, 5]))
    def extend(self, who: int, pick: int, lease: int) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        (queue, ticket), now, ms = self.pick(self.tickets(), pick), now_ms(), lease * SPAN_MS
        answer = self.settle(who, queue, ticket, {"do": "extend", "lease_ms": ms})
        self.same("the status", answer["statuses"], [queue.extend(ticket, ms, now)])

    @rule(who=ANY, pick=PICK, cursor=st.sampled_from(["", "5", "\u00fc" * 300]))
    def checkpoint(self, who: int, pick: int, cursor: str) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        queue, ticket = self.pick(self.tickets(), pick)
        answer = self.settle(who, queue, ticket, {"do": "checkpoint", "cursor": cursor})
        self.same("the status", answer["statuses"], [queue.checkpoint(ticket, cursor)])

    @rule(who=ANY, pick=PICK, reason=st.sampled_from(ERRORS))
    def bury(self, who: int, pick: int, reason: str) -> None:
        if not self.leased():
            self.reserve(who, 0, 1, 4)
            return
        self.bury_of(who, *self.pick(self.tickets(ends), pick), reason)

    def bury_of(self, who: int, queue: Queue, ticket: str, reason: str) -> None:
        now, before = now_ms(), queue.sent
        answer = self.settle(who, queue, ticket, {"do": "bury", "error": reason})
        self.same("the status", answer["statuses"], [queue.bury(ticket, reason, now)])
        self.went_out(queue, before)

    @rule(who=ANY, queue=QUEUE, picks=st.lists(PICK, min_size=1, max_size=2))
    def cancel(self, who: int, queue: int, picks: list[int]) -> None:
        at = self.fullest(queue)
        if not at.existing:
            self.push(who, queue, [(pick, 0) for pick in picks])
            return
        found = [*list(at.existing)[:8], *self.gone(at)[:3], "never pushed"]
        self.cancel_ids(who, at, [self.pick(found, pick) for pick in picks])

    def cancel_ids(self, who: int, queue: Queue, ids: list[str]) -> None:
        now, before = now_ms(), queue.sent
        answer = self.run(who, {"do": "cancel", "queue": queue.name, "ids": ids})
        self.same("the states", answer["states"], queue.cancel(ids, now))
        self.went_out(queue, before)

    @rule(who=ANY, queue=QUEUE, picks=st.lists(PICK, min_size=1, max_size=3))
    def kick(self, who: int, queue: int, picks: list[int]) -> None:
        at = self.fullest(queue, "dead")
        dead = [message.draft.id for message in at.peek("dead")]
        if not dead:
            self.bury(who, picks[0], "to kick")
            return
        others = [id for id in at.existing if id not in dead]
        found = [*dead, *others[:2], "never pushed"]
        self.kick_ids(who, at, [self.pick(found, pick) for pick in picks])

    def kick_ids(self, who: int, queue: Queue, ids: list[str]) -> None:
        answer = self.run(who, {"do": "kick", "queue": queue.name, "ids": ids})
        self.same("the statuses", answer["statuses"], queue.kick(ids))

    @rule(
        who=ANY,
        queue=QUEUE,
        error=st.sampled_from(["", "", "", "fail", "\u00fc \x00", "absent"]),
        spans=st.tuples(st.sampled_from([0, 0, 3]), st.sampled_from([1, 0, 0])),
    )
    def kick_all(self, who: int, queue: int, error: str, spans: tuple[int, int]) -> None:
        at = self.fullest(queue, "dead")
        if not at.peek("dead"):
            self.bury(who, 0, "failed")
            return
        edges = [now_ms() - n * SPAN_MS + SPAN_MS // 2 if n else 0 for n in spans]
        request = {"do": "kick_all", "queue": at.name, "error": error}
        answer = self.run(who, {**request, "since_ms": edges[0], "until_ms": edges[1]})
        self.same("how many", answer["kicked"], at.kick_all(error, *edges))

    @rule(who=ANY, queue=QUEUE, pick=PICK, due=st.sampled_from(["+0", "@-1", "+1", "@2"]))
    def reschedule(self, who: int, queue: int, pick: int, due: str) -> None:
        at = self.fullest(queue, "delayed")
        delayed = [message.draft.id for message in at.peek("delayed")]
        if not delayed:
            self.push(who, queue, [(DELAYED_ROW + pick, 0)])
            return
        others = [id for id in at.existing if id not in delayed]
        id, now, ms = self.pick([*delayed, *others[:2], "never pushed"], pick), now_ms(), 0
        ms = int(due[1:]) * SPAN_MS
        request = {"do": "reschedule", "queue": at.name, "id": id, "delay_ms": 0, "at_ms": 0}
        request |= {"at_ms": now + ms} if due[0] == "@" else {"delay_ms": ms}
        answer = self.run(who, request)
        self.same("the status", answer["statuses"], [at.reschedule(id, now + ms, now)])

    @rule(who=ANY, queue=QUEUE, pause=st.sampled_from([True, False, False]))
    def pause_or_resume(self, who: int, queue: int, pause: bool) -> None:
        at = self.queue(queue)
        pause = pause and not at.paused
        answer = self.run(who, {"do": "pause" if pause else "resume", "queue": at.name})
        self.same("the status", answer["statuses"], [at.pause() if pause else at.resume()])

    @rule(who=ANY, queue=QUEUE, state=st.sampled_from(STATES), really=st.sampled_from([0, 0, 1]))
    def purge(self, who: int, queue: int, state: State, really: int) -> None:
        at = self.fullest(queue, state)
        if not really:
            self.work_badly(who, queue, "retry")
            return
        self.purge_all(who, at, state)

    def purge_all(self, who: int, queue: Queue, state: State) -> None:
        now, page = now_ms(), self.outbox_page if state == "outbox" else PAGE
        request = {"do": "purge", "queue": queue.name, "state": state, "page": page}
        answer = self.run(who, request)
        self.same("how many", answer["purged"], queue.purge(state, now))

    @rule(who=ANY, ttl=SPANS, then=st.sampled_from(["", "relock", "unlock"]), pick=PICK)
    def lock(self, who: int, ttl: int, then: str, pick: int) -> None:
        """Tries for the lock, and then says something about this or an earlier token."""
        at, now, ms, name = self.queue(0), now_ms(), ttl * SPAN_MS, "\u00fc l"
        request = {"queue": at.name, "name": name, "ttl_ms": ms}
        answer = self.run(who, {"do": "lock", **request})
        token = answer["token"]
        self.same("the status", answer["statuses"], [at.lock(name, token, ms, now)])
        self.tokens[:0] = [token] if token else []
        if then and self.tokens:
            token = self.pick(self.tokens, pick)
            answer = self.run_held(who, {"do": then, **request, "token": token})
            relocked = then == "relock"
            wanted = at.relock(name, token, ms, now) if relocked else at.unlock(name, token, now)
            self.same("the status", answer["statuses"], [wanted])

    @rule(who=ANY, queue=QUEUE, how=st.sampled_from(["crash", "retry", "bury"]))
    def work_badly(self, who: int, queue: int, how: str) -> None:
        """Takes one message, and fails."""
        if not self.busiest(queue).has_work(now_ms()):
            self.pass_time(5)
        self.reserve_of(who, [self.busiest(queue)], 1, 1)
        if how == "crash":
            self.pass_time(2)
        elif how == "retry":
            self.retry(who, 0, -1, "failed")
        else:
            self.bury(who, 0, "failed for good")

    # The steps of relays that may die between any two of them, or be too slow

    @rule(
        queue=QUEUE, how=st.sampled_from(["bury", "push", "crash", "push"]), pick=PICK, rows=DRAWN
    )
    def die(self, queue: int, how: str, pick: int, rows: Drawn) -> None:
        """A client puts entries into the outbox, and dies before it relays them."""
        raw = len(self.world.drivers) - 1
        if how == "push":
            self.ack_push(raw, pick, queue + 1 + pick % 2, rows)
        else:
            letter = self.queue(queue + 1 + pick % 2).name
            alike = {"dead_letter": letter, "drop": False, "max_attempts": 1, "max_crashes": 1}
            alike |= {"group": ""} if self.limits else {}
            self.push(raw, queue, rows[:1], alike)
            self.work_badly(raw, queue, how)

    @rule(queue=QUEUE, pick=PICK, spans=SPANS)
    def relay_take(self, queue: int, pick: int, spans: int) -> None:
        at = next((q for q in (self.queue(queue + n) for n in range(3)) if q.outbox), None)
        if not at:
            self.die(queue, "bury", pick, [(DELAYED_ROW * 5, 0)])
            at = self.queue(queue)
        lease_ms, now = spans * SPAN_MS, now_ms()
        request = {"do": "relay_take", "queue": at.name, "lease_ms": lease_ms}
        answer = self.run(-1, {**request, "ahead_ms": AHEAD_MS, "most": MOST})
        self.learn()
        relay = at.take(now, lease_ms)
        wanted = [entry.ticket for entry in relay.entries] if relay else []
        self.same("the entries", [entry[0].decode() for entry in answer["entries"]], wanted)
        self.same("the other queue", answer["target"], relay.target if relay else "")
        if relay:
            for entry in relay.entries:
                entry.time_ms = answer["end_ms"]
            relay.end_ms = answer["end_ms"]
            self.relays = [*self.relays[-3:], (relay, answer["entries"])]

    @rule(pick=PICK, steps=st.sampled_from([1, 1, 2, 3]))
    def relay(self, pick: int, steps: int) -> None:
        """The next step of one, or that which it did, again: its answer may have been lost."""
        if not self.relays:
            self.relay_take(pick, pick, 5)
        if not self.relays:
            return
        relay, entries = self.relays[-1 - pick % len(self.relays)]
        for _ in range(steps):
            again = pick % 3 == 2 and 0 < relay.stage < 3
            self.relay_step(relay, entries, relay.stage - again)

    @rule(queue=QUEUE, pick=PICK)
    def relay_overtaken(self, queue: int, pick: int) -> None:
        """One has pushed its entries, and is too slow to say so: another has them by then."""
        self.relay_take(queue, pick, 1)
        if not self.relays or self.relays[-1][0].stage:
            return
        slow, entries = self.relays[-1]
        self.relay_step(slow, entries, 0)
        self.pass_time(2)
        self.relay_take(queue, pick, 5)
        if slow.stage == 1:
            self.relay_step(slow, entries, 1)

    @rule(pick=PICK)
    def relay_fails(self, pick: int) -> None:
        """The other queue cannot be had. It is tried again after a pause, which is over then."""
        found = [each for each in self.relays if each[0].stage == 0 and each[0].leaves]
        if not found:
            self.relay(pick, 1)
            return
        relay, entries = found[-1 - pick % len(found)]
        relay.statuses, relay.stage = ["OK" for _ in entries], 3
        self.relay_done(relay, entries, "no \u00fc")
        self.pass_ms(LONGEST_PAUSE_MS)

    def relay_step(self, relay: Relay, entries: Json, stage: int) -> None:
        target = self.model.queues[relay.target]
        named = {"queue": relay.queue, "target": relay.target, "entries": entries}
        if stage == 0:
            now = now_ms()
            answer = self.run(-1, {"do": "relay_put", **named, "end_ms": relay.end_ms})
            relay.statuses = list(target.put(relay, now))
            self.same("the statuses", answer["statuses"], relay.statuses)
            relay.stage = 1 if relay.statuses else 3
        elif stage == 1:
            left = self.relay_done(relay, entries, "")
            relay.stage = 2 if left == len(entries) else 3
        elif stage == 2:
            answer = self.run(-1, {"do": "relay_forget", **named})
            self.same("what was known", answer["known"], target.forget(relay))

    def relay_done(self, relay: Relay, entries: Json, error: str) -> int:
        queue, now = self.model.queues[relay.queue], now_ms()
        named = {"queue": relay.queue, "target": relay.target, "entries": entries}
        request = {"do": "relay_done", **named, "end_ms": relay.end_ms, "error": error}
        answer = self.run(-1, {**request, "statuses": relay.statuses})
        left = queue.done(relay, error, now)
        self.same("how many left the outbox", answer["left"], left)
        return left

    @rule(spans=SPANS)
    def pass_time(self, spans: int) -> None:
        self.world.steps += 1
        self.pass_ms(spans * SPAN_MS)

    def pass_ms(self, ms: int) -> None:
        self.tell(f"{ms} ms pass")
        self.world.pass_time(ms)
        self.model.pass_time(ms)
        for relay, entries in self.relays:
            relay.end_ms -= ms
            outbox = self.model.queues[relay.queue].outbox
            for entry, held in zip(relay.entries, entries, strict=True):
                if outbox.get(entry.ticket) is entry:
                    held[2:4] = nearer(held[2], held[3], ms)


def tries(message: Message) -> int:
    """Of interest to retry: what has a backoff of its own, and has failed before."""
    return 1 + message.failures if message.draft.backoff != DEFAULT_BACKOFF else 0


def ends(message: Message) -> int:
    """Of interest to bury: what is not just dead then."""
    return int(message.draft.drop or message.draft.dead_letter != "")


def run(
    world: World,
    examples: int,
    only: str = "",
    machine: type[Machine] = Machine,
    **more: Any,
) -> None:
    """
    Runs that many sequences in it; a Difference, or Flaky, ends them, and the first is shown.
    only: one of GROUPED, for each of them.
    """
    drawn_from = type("Machine", (machine,), {"world": world, "only": only})
    rules = settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        **more,
    )
    try:
        run_state_machine_as_test(drawn_from, settings=rules)
    finally:
        if world.failed:
            print(*world.failed, sep="\n")
