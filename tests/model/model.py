"""The contract of queues as a program: what each verb does to the messages, and what it answers.

It knows nothing of a server. Times are milliseconds by one clock, and `now` is handed in. Where
core/scripts and this page differ, one of them is wrong. message.py has the words it is written in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Literal

from ends import EXPIRED, Ends
from limits import Changes, Gate, Limits
from message import HIGH, LOW, NORMAL, OUT_MS, STATES, Draft, Entry, Message, Relay, State
from turns import Line, Turns

Status = Literal["OK", "DUPLICATE", "NOT_FOUND", "LEASE_LOST", "EXHAUSTED", "TAKEN", "BACKLOG"]

DEFAULT_LEASE_MS = 30_000
MAX_ERROR = 4096
BY_POLICY = -1
DID = (
    *("pushed", "reserved", "acked", "retried", "expired", "died", "cancelled", "purged"),
    "quarantined",
)
# How much earlier than others who put an entry into the outbox takes it.
AHEAD_MS = 1000
MOST = 100
# How many more than it still needs a reserve takes by turns, once some were gone.
MORE = 20


@dataclass
class Taking:
    """A reserve, and what it has taken."""

    count: int
    lease_ms: int
    now: int
    gate: Gate
    taken: list[Message] = field(default_factory=list)
    done: bool = False  # takes no more, however many it was asked for

    @property
    def is_over(self) -> bool:
        return self.done or len(self.taken) >= self.count


@dataclass(eq=False)
class Queue:
    name: str
    others: dict[str, Queue]  # all queues by name, this one too
    existing: dict[str, Message] = field(default_factory=dict)
    # In order of delivery. A cancelled message stays until it is met, and is dropped then.
    lanes: dict[int, list[Message]] = field(default_factory=lambda: {HIGH: [], NORMAL: [], LOW: []})
    # Once a message had a group, a reserve first sorts the normal lane into the lines of groups.
    has_groups: bool = False
    turns: Turns = field(default_factory=Turns)
    limits: Limits = field(default_factory=Limits)
    # Of groups in the order strict: what was delivered. Those that have ended may stay here.
    begun: set[Message] = field(default_factory=set)
    # The groups that waited without a time when watch.py looked last.
    aside: set[str] = field(default_factory=set)
    released: int = 0  # how many at the front of the normal lane go to the fronts of their lines
    outbox: dict[str, Entry] = field(default_factory=dict)  # by ticket
    received: set[tuple[str, str]] = field(default_factory=set)  # of a queue, its ticket
    unique: dict[str, int] = field(default_factory=dict)  # until when an id is refused
    locks: dict[str, tuple[str, int]] = field(default_factory=dict)  # a token, and its end
    paused: bool = False
    suspect: tuple[str, int] = ("", 0)  # the ticket delivered last with two crashes, and when
    did: Counter[str] = field(default_factory=Counter)
    sent: int = 0  # how many entries it ever put into the outbox
    ends: Ends = field(init=False)

    def __post_init__(self) -> None:
        self.ends = Ends(self)

    # What a producer does

    def push(self, drafts: list[Draft], now: int, after: str | None = None) -> list[Status]:
        """`after`: the id of the message whose successors they are."""
        stored = self.store(drafts, now, after)
        has_groups = any(draft.group for draft in drafts)
        if after is None and "OK" in stored and has_groups and self._may_sort(drafts):
            self._sort(self._known_places())
        return stored

    def store(self, drafts: list[Draft], now: int, after: str | None = None) -> list[Status]:
        stored = self._store(new_messages(drafts, now), now, after)
        self.ends.write(now)
        return stored

    def _may_sort(self, drafts: list[Draft]) -> bool:
        """
        What replaces a message sorts nothing. What was released waits for a reserve; but the next
        push counts what is in the lines, where groups have backlogs.
        """
        is_new = all(draft.replace == "refuse" for draft in drafts)
        return is_new and self.has_groups and (not self.released or self.limits.have_backlogs)

    def _store(
        self, messages: list[tuple[Message, int]], now: int, after: str | None = None
    ) -> list[Status]:
        """Of those of one call that replace each other the last counts, in the first place."""
        fresh = dict[str, tuple[Message, int]]()
        refused = self.above_backlog(messages, now, after)
        statuses: list[Status] = [
            "BACKLOG" if message in refused else self._judge(message, due, fresh, now, after)
            for message, due in messages
        ]
        for message, due_ms in fresh.values():
            self.existing[message.draft.id] = message
            self._wait(message, due_ms, now)
            self.has_groups = self.has_groups or message.draft.group != ""
        return statuses

    def above_backlog(
        self, messages: list[tuple[Message, int]], now: int, after: str | None
    ) -> list[Message]:
        """
        The new ones that come when as many of their group wait as may. Those of this call that are
        stored before them, and due now, count.
        """
        waiting, seen, refused = dict[str, int](), set[str](), list[Message]()
        for message, due_ms in messages:
            id, group = message.draft.id, message.draft.group
            is_unique = self.unique.get(id, 0) > now
            if id in seen or (id != after and (id in self.existing or is_unique)):
                continue
            number = waiting.setdefault(group, self._waiting(group))
            if group and number >= self.limits.backlog(group):
                refused.append(message)
                continue
            seen.add(id)
            waiting[group] += due_ms <= now
        return refused

    def _waiting(self, group: str) -> int:
        """Also those that were cancelled, until they are met."""
        in_lane = [message for message in self.lanes[NORMAL] if message.draft.group == group]
        line = self.turns.lines.get(group)
        return len(in_lane) + (len(line.messages) if line else 0)

    def _judge(
        self,
        message: Message,
        due_ms: int,
        fresh: dict[str, tuple[Message, int]],
        now: int,
        after: str | None,
    ) -> Status:
        """
        An existing message, in whatever state, keeps its id for itself; one gone, for its time, but
        not from its successor.
        """
        draft = message.draft
        old, before = self.existing.get(draft.id), draft.id in fresh
        if (old or before) and draft.replace == "refuse":
            return "DUPLICATE"
        if old and old.state == "outbox":
            return "DUPLICATE"
        if not (old or before or draft.id == after) and self.unique.get(draft.id, 0) > now:
            return "DUPLICATE"
        if draft.unique_ms:
            self.unique[draft.id] = now + draft.unique_ms
        if old and not before:
            if draft.replace == "replace_body" and self._keeps_its_place(old, draft):
                self.ends.note(old, "replaced", now)
                old.draft, old.expires_ms = draft, message.expires_ms
                return "OK"
            if old.state != "dead":
                self.ends.note(old, "replaced", now)
            if self._keeps_its_ticket(old, draft, now):
                old.draft, old.expires_ms = draft, message.expires_ms
                self.did.update(("cancelled", "pushed"))
                return "OK"
        self.did["cancelled"] += bool(old or before)
        self.did["pushed"] += 1
        fresh[draft.id] = message, due_ms
        return "OK"

    def _keeps_its_place(self, old: Message, draft: Draft) -> bool:
        """Its due time, its place in the lane and its attempts."""
        return old.state in ("ready", "delayed") and self._stands_as(old, draft)

    def _stands_as(self, old: Message, draft: Draft) -> bool:
        """In the same lane, or line."""
        places = [(each.priority, each.group, each.is_noted) for each in (draft, old.draft)]
        return places[0] == places[1]

    def _keeps_its_ticket(self, old: Message, draft: Draft, now: int) -> bool:
        """What was never delivered, and would be ready again, is as new where it is."""
        at_once, new = draft.due_ms <= now, old.state == "ready" and not old.came_back
        return new and at_once and self._stands_as(old, draft)

    def cancel(self, ids: list[str], now: int) -> list[State | None]:
        """From any state but the outbox. Whoever holds the message has lost its lease."""
        states = [self._cancel(id, now) for id in ids]
        self.ends.write(now)
        return states

    def _cancel(self, id: str, now: int) -> State | None:
        message = self.existing.get(id)
        if not message or message.state == "outbox":
            return None
        self.cancel_message(message, now)
        return message.state

    def cancel_message(self, message: Message, now: int, here: bool = False) -> None:
        if message.state != "dead":
            self.ends.note(message, "cancelled", now, here=here)
        del self.existing[message.draft.id]
        self.did["cancelled"] += 1

    def reschedule(self, id: str, due_ms: int, now: int) -> Status:
        message = self.existing.get(id)
        if not message or message.state != "delayed":
            return "NOT_FOUND"
        self._wait(message, due_ms, now)
        return "OK"

    # What a consumer does

    def reserve(self, count: int, lease_ms: int, now: int) -> list[Message]:
        """
        Up to `count` from the front of the lanes, or by turns; [] only when nothing is ready. What
        has crashed comes alone.
        """
        taking = Taking(count, lease_ms, now, self._gate(now))
        self.ends.batches.called_here = False
        if self.paused:
            return []
        self._line_up_due(now)
        if self.has_groups:
            self._sort(len(self.lanes[NORMAL]))
        for priority, lane in sorted(self.lanes.items(), reverse=True):
            for message in self._ended(priority, now):
                if not taking.done:
                    taking.done = bool(taking.taken) or self._meet(message, taking, True) == "taken"
            if priority == NORMAL and self.has_groups:
                self._take_by_turns(taking)
            while lane and not taking.is_over:
                message = lane.pop(0)
                if self._meet(message, taking) == "stays":
                    lane.insert(0, message)
        taking.gate.end()
        self.did["reserved"] += len(taking.taken)
        self.ends.write(now)
        return taking.taken

    def _gate(self, now: int) -> Gate:
        return Gate(self.limits, self.at_work, self.waits_for_another, now)

    def at_work(self, group: str) -> int:
        return sum(message.draft.group == group for message in self._in("leased"))

    def waits_for_another(self, first: Message) -> bool:
        """
        Of the first message of a line: whether it waits, as another message of its group was begun
        in the order strict, and has not ended for good. What was begun goes first when it comes
        back. What was cancelled is dropped, unless nobody looks at the group.
        """
        group = first.draft.group
        is_gone = self.existing.get(first.draft.id) is not first
        if first in self.begun or (is_gone and group not in self.aside):
            return False
        return any(m.draft.group == group and not self.has_ended(m) for m in self.begun)

    def has_ended(self, message: Message) -> bool:
        is_there = self.existing.get(message.draft.id) is message
        return not is_there or message.state in ("dead", "outbox")

    def _meet(
        self, message: Message, taking: Taking, crashed_now: bool = False
    ) -> Literal["gone", "taken", "stays"]:
        now = taking.now
        if self.existing.get(message.draft.id) is not message:
            return "gone"
        if crashed_now:
            message.ended += 1
            message.crashes += 1
        if message.expired(now):
            self.expire(message, now, here=True)
        elif message.spent:
            self._end(message, now, here=True)
        elif message.crashes and taking.taken:
            taking.done = True
            return "stays"
        elif not self._puts_off(message, crashed_now, taking):
            lease = taking.lease_ms or message.draft.lease_ms or DEFAULT_LEASE_MS
            message.move("leased", now + lease)
            message.began_ms = now if message.draft.is_noted else 0
            taking.taken.append(message)
            if self.limits.order(message.draft.group) == "strict":
                self.begun.add(message)
            taking.gate.taken[message.draft.group] += crashed_now
            taking.gate.judged[message.draft.group] += 1
            taking.done = message.crashes > 0
            if message.crashes > 1:
                self.suspect = message.ticket, now
            return "taken"
        return "gone"

    def _known_places(self) -> int:
        """
        How many of the normal lane a push may sort: where groups have limits, a reserve alone knows
        the place of what came back, as its group may have the order strict.
        """
        lane = self.lanes[NORMAL]
        if self.limits.hold:
            for place, message in enumerate(lane):
                if place >= self.released and message.draft.group and message.came_back:
                    return place
        return len(lane)

    def _sort(self, most: int) -> None:
        """
        The normal lane goes to the lines, in order; what was released, to their fronts; and before
        that what was begun in the order strict.
        """
        rest = self.lanes[NORMAL][most:]
        released, lane = (
            self.lanes[NORMAL][: self.released],
            self.lanes[NORMAL][self.released : most],
        )
        self.turns.begin()
        for message in reversed([m for m in lane if m in self.begun] + released):
            self.turns.join(message.draft.group).insert(0, message)
        for message in lane:
            if message not in self.begun:
                self.turns.join(message.draft.group).append(message)
        self.lanes[NORMAL] = rest
        self.released = 0

    def _take_by_turns(self, taking: Taking) -> None:
        """
        As many at once as are still wanted, and a few more once some were gone. A message that is
        not delivered costs its group no turn: the group gets it back behind those taken with it.
        """
        more, all_seen, gate = 0, False, taking.gate
        self.limits.looks += not (taking.is_over or self.limits.must_hold(taking.now))
        while not taking.is_over:
            most = taking.count - len(taking.taken) + more
            batch = [each for _ in range(most) if (each := self.turns.take(gate))]
            free = list[tuple[Line, Message | None, int]]()
            for line, message, floor in batch:
                met = "stays" if taking.is_over else self._meet(message, taking)
                more = more if met == "stays" else MORE
                if met != "taken":
                    free.append((line, message if met == "stays" else None, floor))
            self.turns.give_back(free, gate)
            all_seen = len(batch) < most
            if not batch:
                break
        self.turns.end(all_seen)

    def ack(self, tickets: list[str], now: int, result: str | None = None) -> list[Status]:
        statuses = [self._ack(ticket, now, result, alone=True) for ticket in tickets]
        self.ends.write(now)
        return statuses

    def _ack(self, ticket: str, now: int, result: str | None, alone: bool) -> Status:
        """alone: without successors, whose scripts do not say who acknowledges."""
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        self.ends.note(message, "acked", now, result, is_by_known=alone, here=alone)
        del self.existing[message.draft.id]
        self.did["acked"] += 1
        return "OK"

    def ack_push(self, ticket: str, target: Queue, drafts: list[Draft], now: int) -> list[Status]:
        """Both or nothing. The message goes first: a successor may have its id."""
        message, count = self._held(ticket), 1 + len(drafts)
        id = message.draft.id if message else None
        if message and target is self and self.above_backlog(new_messages(drafts, now), now, id):
            return ["BACKLOG"] * count
        acked = self._ack(ticket, now, None, alone=False)
        if acked == "OK" and target is self:
            return [acked, *self.push(drafts, now, id)]
        self.ends.write(now)
        return [acked] * count

    def put_out(
        self,
        target: str,
        entries: list[str],
        stamps: list[str | None],
        drafts: list[Draft],
        now: int,
    ) -> None:
        """Successors for another queue. Their times to live run from now on."""
        for ticket, stamp, draft in zip(entries, stamps, drafts, strict=True):
            message = Message(draft, now, now + draft.ttl_ms if draft.ttl_ms else 0, stamp=stamp)
            self.send(Entry(target, ticket, message, draft.due_ms, now + OUT_MS, False))

    def send(self, entry: Entry) -> None:
        self.outbox[entry.ticket] = entry
        self.sent += 1

    def retry(
        self, ticket: str, delay_ms: int, error: str, now: int, with_reserve: bool = False
    ) -> Status:
        """A failure. When that was its last attempt it has come to its end."""
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        message.ended += 1
        message.failures += 1
        message.error = error[:MAX_ERROR]
        self.did["retried"] += 1
        if 0 < message.draft.max_attempts <= message.failures:
            self._end(message, now, is_by_known=True, here=with_reserve)
            self.ends.write(now)
            return "EXHAUSTED"
        least_ms = delay_ms
        if delay_ms == BY_POLICY:
            least_ms, delay_ms = message.draft.backoff.range_ms(message.failures)
        self._wait(message, now + delay_ms, now)
        message.loose_ms = delay_ms - least_ms
        return "OK"

    def release(self, ticket: str, delay_ms: int, now: int) -> Status:
        """Not delivered, as if it had never been given out: at the front of its lane."""
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        message.ended += 1
        if delay_ms:
            message.move("delayed", now + delay_ms)
        else:
            message.move("ready")
            self.lanes[message.draft.priority].insert(0, message)
            self.released += self.has_groups and message.draft.priority == NORMAL
        return "OK"

    def hold_group(self, ticket: str, ms: int, now: int) -> Status:
        """As release, and as hold of its group."""
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        self.limits.hold_group(message.draft.group, ms, now)
        return self.release(ticket, 0, now)

    def extend(self, ticket: str, lease_ms: int, now: int) -> Status:
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        message.time_ms = now + lease_ms
        return "OK"

    def checkpoint(self, ticket: str, cursor: str) -> Status:
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        kept = [pair for pair in message.draft.headers if pair[0] != "cursor"]
        headers = (*kept, ("cursor", cursor)) if cursor else tuple(kept)
        message.draft = replace(message.draft, headers=headers)
        return "OK"

    def bury(self, ticket: str, reason: str, now: int) -> Status:
        message = self._held(ticket)
        if not message:
            return "LEASE_LOST"
        message.ended += 1
        message.failures += 1
        message.error = reason[:MAX_ERROR]
        self._end(message, now, is_by_known=True)
        self.ends.write(now)
        return "OK"

    # What an operator does

    def limit(self, group: str, changes: Changes, clear: bool) -> None:
        """
        When an order changes, what is leased, and what waits after a delivery until it is due, was
        begun in the groups that are in the order strict now. What is ready again was not.
        """
        if not self.limits.set(group, changes, clear):
            return
        under_way = [m for m in self.timed() if m.state == "leased" or m.came_back]
        self.begun = {
            m for m in [*self.begun, *under_way] if self.limits.order(m.draft.group) == "strict"
        }

    def kick(self, ids: list[str]) -> list[Status]:
        return [self._kick(self.existing.get(id)) for id in ids]

    def _kick(self, message: Message | None) -> Status:
        if not message or message.state != "dead":
            return "NOT_FOUND"
        message.forgive()
        self.begun.discard(message)
        self._line_up(message)
        return "OK"

    def kill(self, ids: list[str], now: int) -> list[Status]:
        """Delayed messages are dead, whatever their policies say."""
        statuses = [self._kill(self.existing.get(id), now) for id in ids]
        self.ends.write(now)
        return statuses

    def _kill(self, message: Message | None, now: int) -> Status:
        if not message or message.state != "delayed":
            return "NOT_FOUND"
        self.ends.note(message, "dead", now, message.error)
        message.move("dead", now)
        self.did["died"] += 1
        return "OK"

    def kick_all(self, error: str, since_ms: int, until_ms: int) -> int:
        """Those whose error contains the text, and that died from one time on, before another."""
        fitting = [
            message
            for message in self.peek("dead")
            if error in message.error
            and since_ms <= message.time_ms
            and (not until_ms or message.time_ms < until_ms)
        ]
        for message in fitting:
            self._kick(message)
        return len(fitting)

    def purge(self, state: State, now: int) -> int:
        """Notes for batches stay in the outbox."""
        found = self._in(state)
        count = len(found)
        for message in found:
            if state not in ("dead", "outbox"):
                self.ends.note(message, "purged", now)
            del self.existing[message.draft.id]
        if state == "outbox":
            gone = [entry for entry in self.outbox.values() if not entry.note]
            count = len(gone)
            for entry in gone:
                del self.outbox[entry.ticket]
                if entry.message.draft.batch:
                    self.ends.batches.note(entry.message.draft, "purged", here=False)
        self.ends.write(now)
        if state == "ready":
            for lane in self.lanes.values():
                lane.clear()
            self.turns.forget()
            self.released = 0
        self.did["purged"] += count
        return count

    def pause(self) -> Status:
        """Nothing is delivered, and nothing that is due or has come back becomes ready."""
        self.paused = True
        return "OK"

    def resume(self) -> Status:
        self.paused = False
        return "OK"

    def find(self, id: str) -> Message | None:
        """As the last verb left it: what is due, or its lease over, waits for a reserve."""
        return self.existing.get(id)

    def peek(self, state: State, away: Container[str] = ()) -> list[Message]:
        """
        Ready: in order of delivery, and then what is in lines, group by group, those `away` last.
        The others: by their time.
        """
        if state != "ready":
            return sorted(self._in(state), key=by_time)
        lanes = self.lanes[HIGH] + self.lanes[NORMAL] + self.lanes[LOW]
        for line in self.turns.in_order(away):
            lanes += line.messages
        return [message for message in lanes if self.existing.get(message.draft.id) is message]

    def stats(self) -> dict[str, int]:
        return {
            **{state: len(self._in(state)) for state in STATES[:-1]},
            "outbox": len(self.outbox),
            **{name: self.did[name] for name in DID},
            "paused": int(self.paused),
            "next_event_ms": min((message.time_ms for message in self.timed()), default=0),
        }

    def first_ms(self) -> int:
        """The first time that a reserve must not miss; 0: none."""
        return min((message.time_ms for message in self.timed()), default=0)

    def first_out_ms(self) -> int:
        """When a relay is told of the outbox; a reserve that did so notes a second more."""
        return min((entry.time_ms for entry in self.outbox.values()), default=0)

    def has_work(self, now: int) -> bool:
        """Would a reserve change anything?"""
        over = any(message.time_ms <= now for message in self.timed())
        gate = self._gate(now)
        lines = [line for line in self.turns.lines.values() if line.messages]
        in_turn = any(gate.is_open(line.group, line.messages[0]) for line in lines)
        return over or any(self.lanes.values()) or in_turn

    # Locks

    def lock(self, name: str, token: str, ttl_ms: int, now: int) -> Status:
        if name in self.locks and self.locks[name][1] > now:
            return "TAKEN"
        self.locks[name] = token, now + ttl_ms
        return "OK"

    def relock(self, name: str, token: str, ttl_ms: int, now: int) -> Status:
        if self.locks.get(name, ("", 0))[0] != token or self.locks[name][1] <= now:
            return "LEASE_LOST"
        self.locks[name] = token, now + ttl_ms
        return "OK"

    def unlock(self, name: str, token: str, now: int) -> Status:
        if self.locks.get(name, ("", 0))[0] != token or self.locks[name][1] <= now:
            return "LEASE_LOST"
        del self.locks[name]
        return "OK"

    # What they share

    def timed(self) -> list[Message]:
        """What a reserve of this queue waits for."""
        return self._in("delayed") + self._in("leased")

    def _in(self, state: State) -> list[Message]:
        return [message for message in self.existing.values() if message.state == state]

    def _line_up(self, message: Message) -> None:
        message.move("ready")
        self.lanes[message.draft.priority].append(message)

    def _wait(self, message: Message, due_ms: int, now: int) -> None:
        if due_ms > now:
            message.move("delayed", due_ms)
        else:
            self._line_up(message)

    def _held(self, ticket: str) -> Message | None:
        """Also after the end of its lease, until a reserve takes the message."""
        for message in self._in("leased"):
            if message.ticket == ticket:
                return message
        return None

    def expire(self, message: Message, now: int, here: bool = False) -> None:
        """Gone, as its time to live is over."""
        self.ends.note(message, "expired", now, here=here)
        self.ends.fail_chain(message, EXPIRED, now)
        del self.existing[message.draft.id]
        self.did["expired"] += 1

    def _end(
        self, message: Message, now: int, is_by_known: bool = False, here: bool = False
    ) -> None:
        """As its policy says: gone, or off to its dead-letter queue, or dead."""
        draft, target = message.draft, message.draft.dead_letter
        self.ends.note(message, "dead", now, message.error, is_by_known, here)
        self.did["died"] += 1
        self.ends.fail_chain(message, message.error, now)
        if draft.drop:
            del self.existing[draft.id]
        elif target not in ("", self.name):
            message.move("outbox", now + OUT_MS)
            self.send(Entry(target, message.ticket, message, 0, now + OUT_MS, True))
        else:
            message.move("dead", now)

    # What a relay does, a step each

    def take(self, now: int, lease_ms: int) -> Relay | None:
        """
        Those for the queue of the first that may be taken, under a lease: notes, if that is one.
        """
        found = [entry for entry in self.out() if entry.time_ms <= now + AHEAD_MS][:MOST]
        kinds = [(entry.target, entry.note is not None) for entry in found]
        taken = [entry for entry, kind in zip(found, kinds, strict=True) if kind == kinds[0]]
        for entry in taken:
            self._out_at(entry, now + lease_ms)
        return Relay(self.name, taken[0].target, taken, now + lease_ms) if taken else None

    def put(self, relay: Relay, now: int) -> list[Status]:
        """Nothing twice; and nothing when it may be another relay's."""
        if now >= relay.end_ms:
            return []
        notes = [(relay.queue, entry.ticket) for entry in relay.entries]
        new = [e for e, note in zip(relay.entries, notes, strict=True) if note not in self.received]
        if relay.is_of_notes:
            stored = self._count_notes(new)
        else:
            stored = self._store([(self._arrival(entry), entry.due_ms) for entry in new], now)
        for entry, status in zip(new, stored, strict=True):
            draft = entry.message.draft
            if status == "OK" and not entry.note and draft.batch and draft.batch_queue:
                self.ends.batches.guests[draft.batch_queue, draft.batch] += 1
        self.ends.write(now)
        known = dict(zip([entry.ticket for entry in new], stored, strict=True))
        statuses = [known.get(entry.ticket, "OK") for entry in relay.entries]
        self.received.update(n for n, s in zip(notes, statuses, strict=True) if s == "OK")
        return statuses

    def _count_notes(self, entries: list[Entry]) -> list[Status]:
        for entry in entries:
            if entry.note:
                self.ends.batches.count(entry.message.draft.id, *entry.note)
        return ["OK" for _ in entries]

    def _arrival(self, entry: Entry) -> Message:
        message = replace(entry.message, state="ready", time_ms=0)
        if entry.dead_letter:
            message.forgive()
            message.draft = replace(message.draft, replace="refuse", unique_ms=0)
        return message

    def done(self, relay: Relay, error: str, now: int) -> int:
        """What is another relay's is left alone. A message that is refused stays, and is dead."""
        left = 0
        for entry, status in zip(relay.entries, relay.statuses, strict=True):
            if self.outbox.get(entry.ticket) is not entry or entry.time_ms != relay.end_ms:
                continue
            if error:
                self._out_at(entry, now + min(1000 * 2**entry.tries, 300_000))
                entry.tries, entry.error = entry.tries + 1, f"{relay.target}: {error}"
                continue
            left += 1
            del self.outbox[entry.ticket]
            if status == "DUPLICATE" and entry.dead_letter:
                entry.message.move("dead", now)
            elif entry.dead_letter:
                del self.existing[entry.message.draft.id]
            elif status == "DUPLICATE" and entry.message.draft.batch:
                self.ends.batches.note(entry.message.draft, "cancelled", here=False)
        self.ends.write(now)
        return left

    def forget(self, relay: Relay) -> int:
        notes = {(relay.queue, entry.ticket) for entry in relay.entries}
        known = len(notes & self.received)
        self.received -= notes
        return known

    def relay(self, now: int) -> None:
        """All of it, for one queue after the other, as a client does that lives."""
        while relay := self.take(now, DEFAULT_LEASE_MS):
            target = self.others[relay.target]
            relay.statuses = list(target.put(relay, now))
            self.done(relay, "", now)
            target.forget(relay)

    def out(self) -> list[Entry]:
        return sorted(self.outbox.values(), key=lambda e: (e.time_ms, e.ticket.encode()))

    def _out_at(self, entry: Entry, time_ms: int) -> None:
        entry.time_ms = time_ms
        if entry.dead_letter:
            entry.message.time_ms = time_ms

    def _line_up_due(self, now: int) -> None:
        """The earlier first, then by ticket."""
        due = [message for message in self._in("delayed") if message.time_ms <= now]
        for message in sorted(due, key=by_time):
            self._line_up(message)

    def _puts_off(self, message: Message, crashed_now: bool, taking: Taking) -> bool:
        """What crashed, for its own sake; and until its group may have its next message."""
        now, group = taking.now, message.draft.group
        least_ms, delay_ms = self._crash_pause(message, crashed_now, now)
        if crashed_now and group and self.limits.hold:
            wait_ms = max(0, math.ceil(self.limits.opens_ms(group, now)) - now)
            least_ms, delay_ms = max(least_ms, wait_ms), max(delay_ms, wait_ms)
        if not delay_ms:
            return False
        message.move("delayed", now + delay_ms)
        message.loose_ms = delay_ms - least_ms
        return True

    def _crash_pause(self, message: Message, crashed_now: bool, now: int) -> tuple[int, int]:
        """From its second crash on: by its backoff, then while another one of its kind runs."""
        if message.crashes < 2:
            return 0, 0
        least_ms, delay_ms = message.draft.backoff.range_ms(message.crashes - 1)
        if crashed_now and delay_ms:
            return least_ms, delay_ms
        return (max(1000, least_ms), max(1000, delay_ms)) if self._suspect_runs(now) else (0, 0)

    def _suspect_runs(self, now: int) -> bool:
        ticket, since = self.suspect
        holds = any(m.ticket == ticket and m.time_ms > now for m in self._in("leased"))
        return holds and now < since + 60_000

    def _ended(self, priority: int, now: int) -> list[Message]:
        """Those whose lease has ended come before their lane, the earlier first."""
        over = [message for message in self._in("leased") if message.time_ms <= now]
        return sorted((m for m in over if m.draft.priority == priority), key=by_time)


def new_messages(drafts: list[Draft], now: int) -> list[tuple[Message, int]]:
    """With their due times."""
    return [(Message(d, now, now + d.ttl_ms if d.ttl_ms else 0), d.due_ms) for d in drafts]


def by_time(message: Message) -> tuple[int, bytes]:
    return message.time_ms, message.ticket.encode()


class Model:
    """The queues of a server."""

    def __init__(self, names: list[str]) -> None:
        self.queues: dict[str, Queue] = {}
        for name in names:
            self.queues[name] = Queue(name, self.queues)

    def pass_time(self, ms: int) -> None:
        """Time passes: all that is to come comes nearer, and what was is longer ago."""
        for queue in self.queues.values():
            queue.unique = {id: until - ms for id, until in queue.unique.items()}
            queue.locks = {name: (token, end - ms) for name, (token, end) in queue.locks.items()}
            for entry in queue.outbox.values():
                entry.time_ms -= ms
                entry.due_ms -= ms * bool(entry.due_ms)
                if not entry.dead_letter:  # that one is in `existing`
                    entry.message.expires_ms -= ms * bool(entry.message.expires_ms)
            queue.suspect = queue.suspect[0], queue.suspect[1] - ms
            queue.limits.pass_time(ms)
            queue.ends.pass_time(ms)
            for message in queue.existing.values():
                message.time_ms -= ms * (message.state != "ready")
                message.began_ms -= ms * bool(message.began_ms)
                message.expires_ms -= ms * bool(message.expires_ms)
