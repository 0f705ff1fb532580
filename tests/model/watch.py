"""The machine's eyes: answers, and after each step the whole state, compared with the model."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from drafts import QUEUES, asked
from drivers import Driver
from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant
from message import STATES, Draft, Message, Relay, State, escaped
from model import OUT_MS, Model, Queue
from world import World, near, now_ms

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

    # The whole state

    @invariant()
    def look(self) -> None:
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
            self.look_at_turns(queue)
            self.look_at_unique(queue)
            noted = times[queue.name]
            for first, more in ((queue.first_ms(), 0), (queue.first_out_ms(), OUT_MS)):
                late = first > 0 and (noted is None or noted > max(first, now_ms()) + more)
                self.same(f"the noted time of {queue.name}", noted, first if late else noted)
        if self.count % CHECK_EVERY == 0:
            self.check()

    def look_out(self, queue: Queue) -> None:
        """Compares the outbox; its times then are what the server says."""
        seen = self.world.scores(queue.name, "outbox")
        wanted = {t: near(seen.get(t, 0), e.time_ms) for t, e in queue.outbox.items()}
        self.same(f"the outbox of {queue.name}", seen, wanted)
        for ticket, entry in queue.outbox.items():
            entry.time_ms = seen[ticket]

    def look_at_turns(self, queue: Queue) -> None:
        """A group that the floor has passed may stay until it is met: it counts as new."""
        turns, (texts, seen) = queue.turns, self.world.turns(queue.name)
        wanted = {escaped(line.group): line.turn for line in turns.lines.values()}
        seen = {g: turn for g, turn in seen.items() if g in wanted or turn > turns.floor}
        self.same(f"the turns of {queue.name}", seen, wanted)
        noted = f"{turns.floor} {turns.joined}" if queue.has_groups else ""
        self.same(f"the floor of {queue.name}", texts[0], noted)
        self.same(f"what {queue.name} got back", int(texts[1] or 0), queue.released)

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
        wanted = queue.peek(state)
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
