"""The machine's eyes: answers, and after each step the whole state, compared with the model."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from drafts import QUEUES, asked
from drivers import Driver
from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant
from limits import LOOKS
from message import OUT_MS, STATES, Draft, Message, Relay, State, escaped
from model import Model, Queue
from world import SLACK_MS, Groups, World, near, now_ms

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Refused

Json: TypeAlias = Any
T = TypeVar("T")

CHECK_EVERY = 10
GONE = 6  # how many ids that are gone are looked for after each step


class Watch(RuleBasedStateMachine):
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.world.start()
        self.model = Model(QUEUES)
        self.known: dict[str, None] = {}  # every id that was ever stored, in order
        self.given: dict[str, tuple[Queue, str]] = {}  # of every ticket that was given out
        self.tokens: list[str] = []  # of the lock, the latest first
        self.relays: list[tuple[Relay, Json]] = []  # with their entries; the latest last
        self.count = 0
        self.groups = False  # whether messages may have groups
        self.limits = False  # and groups limits
        self.orders = False  # and orders
        self.away: dict[str, set[str]] = {}  # of each queue the groups at a limit, as seen last

    # The whole state

    @invariant()
    def look(self) -> None:
        self.learn()
        self.count += 1
        driver = self.driver(self.count)
        self.last = driver.name, "look"
        queues = self.model.queues
        ids = {name: [*q.existing, *self.gone(q)[:GONE]] for name, q in queues.items()}
        answer = self.call(driver, {"do": "look", "ids": ids})
        for queue in queues.values():
            for id, seen in zip(ids[queue.name], answer["found"][queue.name], strict=True):
                message = queue.find(id)
                if seen is None or message is None:
                    self.same(f"whether {id} lives", seen is not None, message is not None)
                else:
                    self.settle_chance(queue, message, seen)
                    self.agree(seen, message)
        times = self.world.noted()
        for queue in queues.values():
            seen, wanted = answer["counts"][queue.name], queue.stats()
            wanted["next_event_ms"] = near(seen["next_event_ms"], wanted["next_event_ms"])
            self.same(f"stats of {queue.name}", seen, {name: wanted[name] for name in seen})
            self.look_out(queue)
            first_timer = self.look_at_turns(queue)
            self.look_at_unique(queue)
            noted, first_ms = times[queue.name], queue.first_ms()
            for first, more in ((first_ms, 0), (first_timer, 0), (queue.first_out_ms(), OUT_MS)):
                late = first > 0 and (noted is None or noted > max(first, now_ms()) + more)
                self.same(f"the noted time of {queue.name}", noted, first if late else noted)
        if self.count % CHECK_EVERY == 0:
            self.check()

    def learn(self) -> None:
        """What the server named, the model calls by that name from now on."""

    def look_out(self, queue: Queue) -> None:
        """Compares the outbox; its times then are what the server says."""
        seen = self.world.scores(queue.name, "outbox")
        wanted = {t: near(seen.get(t, 0), e.time_ms) for t, e in queue.outbox.items()}
        self.same(f"the outbox of {queue.name}", seen, wanted)
        for ticket, entry in queue.outbox.items():
            entry.time_ms = seen[ticket]

    def look_at_limited(self, queue: Queue) -> None:
        """After a reserve: which of two ended what limits need, the server says at once."""
        if queue.limits.hold:
            self.look_at_turns(queue)

    def look_at_turns(self, queue: Queue) -> int:
        """
        A group that the floor has passed may stay until it is met: it counts as new. Returns when
        the first group that waits for a time comes back.
        """
        turns, noted = queue.turns, self.world.groups(queue.name)
        is_new = noted.floor == "0 0" and not (noted.turns or noted.parked or noted.limited)
        if is_new and not any(line.messages for line in turns.lines.values()):
            # A reserve that saw that nothing waits began the time anew.
            turns.forget()
        aside = set(noted.parked) - set(noted.timers)
        queue.aside = {group for group in turns.lines if escaped(group) in aside}
        if not (noted.limited or queue.limits.hold):
            self.same(
                f"the groups of {queue.name} at a limit", (noted.parked, noted.timers), ({}, {})
            )
        else:
            self.look_at_limits(queue, noted)
        self.look_at_begun(queue, noted)
        self.away[queue.name] = set(noted.parked)
        wanted = {escaped(line.group): line.turn for line in turns.lines.values()}
        seen = noted.turns | noted.parked
        seen = {g: turn for g, turn in seen.items() if g in wanted or turn > turns.floor}
        self.same(f"the turns of {queue.name}", seen, wanted)
        text = f"{turns.floor} {turns.joined}" if queue.has_groups else ""
        if noted.limited and not wanted and noted.floor == "{} {}".format(*turns.before):
            # A reserve brought the last group back from a limit: the next begins the time anew.
            turns.floor, turns.joined = turns.before
            text = noted.floor
        self.same(f"the floor of {queue.name}", noted.floor, text)
        self.same(f"what {queue.name} got back", noted.returned, queue.released)
        return min(noted.timers.values(), default=0)

    def look_at_limits(self, queue: Queue, noted: Groups) -> None:
        """What is counted against the limits; and that no group waits for nothing, or too long."""
        limits, now = queue.limits, now_ms()
        may_end = limits.hold and not limits.must_hold(now)
        if may_end and not noted.limited:
            limits.forget()
        wanted = limits.hold and (limits.looks < LOOKS or not may_end)
        self.same(f"whether {queue.name} has limits of groups", noted.limited, wanted)
        leased = Counter(m.draft.group for m in queue.existing.values() if m.state == "leased")
        at_work = {escaped(group): number for group, number in leased.items() if group}
        self.same(f"what is at work in {queue.name}", noted.working, at_work if wanted else {})
        self.look_at_times(queue, noted, now)
        for line in queue.turns.lines.values():
            group = escaped(line.group)
            opens_ms, timer = limits.opens_ms(line.group, now), noted.timers.get(group)
            at_most = leased[line.group] >= limits.concurrency(line.group)
            in_order = bool(line.messages) and queue.waits_for_another(line.messages[0])
            if group in noted.parked and timer is not None:
                late = timer - max(opens_ms, now) > SLACK_MS
                self.same(f"whether {group} waits for too long", late, False)
            elif group in noted.parked:
                self.same(f"whether {group} waits for anything", at_most or in_order, True)

    def look_at_begun(self, queue: Queue, noted: Groups) -> None:
        """What was begun in the order strict. Messages that have ended may stay noted."""
        here = [m for m in queue.existing.values() if m.draft.group and not queue.has_ended(m)]
        seen = [message.draft.id for message in here if message.as_begun in noted.begun]
        wanted = [message.draft.id for message in here if message in queue.begun]
        self.same(f"what was begun in {queue.name}", seen, wanted)

    def look_at_times(self, queue: Queue, noted: Groups, now: int) -> None:
        """Times that are over may stay for a while; the others are then what the server says."""
        limits = queue.limits
        seen = {group: until for group, until in noted.holds.items() if until > now}
        held = {escaped(group): until for group, until in limits.held.items() if until > now}
        near_times = {group: near(seen.get(group, 0), until) for group, until in held.items()}
        self.same(f"the holds of {queue.name}", seen, near_times)
        limits.held = {group: seen.get(escaped(group), 0) for group in limits.held}
        rated = {group: us // 1000 for group, us in noted.rated.items() if us // 1000 > now}
        next_times = {group: ms for group, ms in limits.next_ms.items() if ms > now}
        for group, next_ms in next_times.items():
            latest, at = limits.latest_ms(group, now), rated.get(escaped(group), 0)
            # Whether a reserve has read a time that is too late since the rate was changed.
            if at < next_ms and at > min(next_ms, latest) - SLACK_MS:
                limits.next_ms[group] = next_times[group] = at
        wanted = {
            escaped(g): near(rated.get(escaped(g), 0), int(ms)) for g, ms in next_times.items()
        }
        self.same(f"the times of rates of {queue.name}", rated, wanted)
        limits.next_ms |= {group: rated[escaped(group)] for group in next_times}

    def check(self) -> None:
        self.same("the keys", self.world.complaints(), [])
        for queue in self.model.queues.values():
            received = set(self.world.scores(queue.name, "received"))
            wanted = {f"{source}\n{ticket}" for source, ticket in queue.received}
            self.same(f"what {queue.name} received", received, wanted)
            for state in STATES[:-1]:
                self.peek(queue, state)

    def look_at_unique(self, queue: Queue) -> None:
        """Until when each id is refused. Times that are over may stay for a while."""
        now, stored = now_ms(), self.world.scores(queue.name, "unique")
        seen = {id: until for id, until in stored.items() if until > now}
        wanted = {id: until for id, until in queue.unique.items() if until > now}
        near_times = {id: near(seen.get(id, 0), until) for id, until in wanted.items()}
        self.same(f"the unique ids of {queue.name}", seen, near_times)

    def peek(self, queue: Queue, state: State) -> None:
        driver = self.driver(self.count)
        request = {"do": "peek", "queue": queue.name, "state": state}
        messages = self.call(driver, request)["messages"]
        wanted = queue.peek(state, self.away.get(queue.name, ()))
        seen = [message["id"] for message in messages]
        self.same(f"what is {state}", seen, [message.draft.id for message in wanted])
        for message in messages:
            self.agree(message, queue.existing[message["id"]])

    def teardown(self) -> None:
        if sys.exc_info()[0] is None:
            self.check()

    # Help

    def driver(self, who: int) -> Driver:
        return self.world.drivers[who % len(self.world.drivers)]

    def run(self, who: int, request: Json) -> Json:
        driver = self.driver(who)
        self.world.steps += 1
        self.last = driver.name, request["do"]
        self.tell(f"{driver.name}: {brief(request)}")
        return self.call(driver, request)

    def call(self, driver: Driver, request: Json) -> Json:
        try:
            return driver.call(request)
        except Refused as refusal:
            raise self.world.differ(f"{self.last}: {refusal}") from refusal

    def tell(self, text: str) -> None:
        """The shortest sequence is hypothesis's to show, and the first one the world's."""
        note(text)
        self.world.sequence.append(text)

    def run_held(self, who: int, request: Json) -> Json:
        """What Python or PHP does not hold, and cannot find, is C's, which takes any."""
        answer = self.run(who, request)
        if answer["statuses"] != ["FOREIGN"]:
            return answer
        self.world.steps -= 1
        return self.run(len(self.world.drivers) - 1, request)

    def settle(self, who: int, queue: Queue, ticket: str, request: Json) -> Json:
        _, id = self.given.get(ticket, (queue, ticket))
        return self.run_held(who, {**request, "queue": queue.name, "ticket": ticket, "id": id})

    def queue(self, number: int) -> Queue:
        return self.model.queues[QUEUES[number % len(QUEUES)]]

    def fullest(self, number: int, state: State | None = None) -> Queue:
        """The queue of that number, or the next one that has any such message."""
        for at in range(number, number + len(QUEUES)):
            found = self.queue(at)
            if any(state in (None, message.state) for message in found.existing.values()):
                return found
        return self.queue(number)

    def busiest(self, number: int) -> Queue:
        for at in range(number, number + len(QUEUES)):
            if self.queue(at).has_work(now_ms()) and not self.queue(at).paused:
                return self.queue(at)
        return self.queue(number)

    def gone(self, queue: Queue) -> list[str]:
        return [id for id in reversed(self.known) if id not in queue.existing]

    def leased(self) -> int:
        return sum(len(queue.peek("leased")) for queue in self.model.queues.values())

    def tickets(
        self, interest: Callable[[Message], int] = lambda message: 0
    ) -> list[tuple[Queue, str]]:
        """
        Those that hold, by interest; then those that once did, the latest first; then one never
        given out.
        """
        existing = [(q, m) for q in self.model.queues.values() for m in q.existing.values()]
        existing.sort(key=lambda each: -interest(each[1]))
        held = [(queue, message.ticket) for queue, message in existing if message.state == "leased"]
        stale = [(q, t) for t, (q, _) in reversed(self.given.items()) if (q, t) not in held]
        never = [(q, m.ticket) for q, m in existing if m.ticket not in self.given]
        return held[:6] + stale[:5] + never[-1:]

    def pick(self, found: Sequence[T], index: int) -> T:
        return found[index % len(found)]

    def settle_chance(self, queue: Queue, message: Message, seen: Json) -> None:
        """Jitter may have made no delay of it at all."""
        if message.loose_ms and seen["state"] == "ready":
            queue.reschedule(message.draft.id, 0, 0)

    def agree(self, seen: Json, wanted: Message) -> None:
        """Compares a message; its times then are what the server says, to the millisecond."""
        draft = wanted.draft
        expected = {
            "id": draft.id,
            "ticket": wanted.ticket if wanted.state == "leased" else "",
            "body": b64encode(draft.body).decode(),
            "headers": [list(pair) for pair in draft.headers],
            "attempt": wanted.attempt,
            "max_attempts": draft.max_attempts,
            "crashes": wanted.crashes,
            "max_crashes": draft.max_crashes,
            "deliveries": wanted.deliveries,
            "priority": draft.priority,
            "group": draft.group,
            "state": wanted.state,
            "time_ms": near(seen["time_ms"], wanted.time_ms, wanted.loose_ms),
            "created_ms": near(seen["created_ms"], wanted.created_ms),
            "expires_ms": near(seen["expires_ms"], wanted.expires_ms),
            "error": wanted.error,
            "drop": draft.drop,
            "dead_letter": draft.dead_letter,
            "keep_ms": draft.keep_ms,
            "batch": draft.batch,
            "batch_queue": draft.batch_queue,
        }
        self.same(draft.id, seen, expected)
        wanted.time_ms, wanted.created_ms = seen["time_ms"], seen["created_ms"]
        wanted.expires_ms, wanted.loose_ms = seen["expires_ms"], 0

    def same(self, what: str, seen: Any, wanted: Any) -> None:
        if seen != wanted:
            text = f"{self.last}: {what}: {seen!r}, and by the model {wanted!r}"
            raise self.world.differ(text)


def brief(request: Json) -> str:
    """A request for people: drafts without what is as by default, and nothing long."""
    drafts = [
        {name: value for name, value in draft.items() if value != DEFAULTS[name]}
        for draft in request.get("drafts", [])
    ]
    more: Json = {"drafts": drafts} if drafts else {}
    if "entries" in request:
        more["entries"] = len(request["entries"])
    text = json.dumps(request | more, ensure_ascii=False)
    return re.sub(r"(\S{20})\S{40,}", r"\1...", text)


DEFAULTS = asked(Draft(""), 0, 0)
