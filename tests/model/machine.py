"""Drives the verbs in random order, each through a driver at random, and the model beside them.

After each step the answer and the whole queue must be the model's. Time passes by pass.lua, in
spans beside which the real milliseconds of a run do not matter.
"""

from __future__ import annotations

import sys
import time
from base64 import b64encode
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from drivers import QUEUE, Driver, PythonDriver, c_driver, php_driver
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)
from model import Draft, Message, Model
from raw import Connection, RawDriver

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Server

Json: TypeAlias = Any
T = TypeVar("T")
ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "tests/contract"
set_hypothesis_home_dir(str(ROOT / "build/hypothesis"))

SPAN_MS = 1_000_000
# What a time may be off: a run's own milliseconds, far less than a span.
SLACK_MS = 5_000
CHECK_EVERY = 10

# Ids of the caller's own; "": the core makes one. The last has the form of a made one.
IDS = ["", "a", "b", "", "1:a", "0.b:c", "\u00fc \u732b", "", "1Hqc8ZUJ6w2v7AfFPD9Rxe", ""]
SHAPES: list[tuple[bytes, tuple[tuple[str, str], ...]]] = [
    (b"", ()),
    (b"x", ()),
    (bytes(range(256)), ()),
    (b"{}", (("type", "json"),)),
    (b"\r\n$-1\r\n", (("7", ""), ("\u00fc", "a\nb"), ("x", "y" * 300))),
]
# id, due (0; + from now; @ at a time, in spans), max_attempts, lease in spans, shape
ROWS = list(product(IDS, ["0", "+1", "+2", "@1", "@-1", "0"], [0, 1, 2, 5], [0, 1, 3], SHAPES))
ERRORS = ["", "no", "Error: \u00fc \x00\n", "e" * 5000]


class Difference(AssertionError):
    """The product and the model do not agree."""


class World:
    """A server, those who drive it, and how many steps they have made."""

    def __init__(self, server: Server, drivers: Sequence[Driver]) -> None:
        self.drivers = list(drivers)
        self.steps = 0
        self.differences = 0
        self.connection = Connection(server)
        self._pass = (CONTRACT / "pass.lua").read_text()
        self._check = (CONTRACT / "check.lua").read_text()

    def close(self) -> None:
        self.connection.close()
        for driver in self.drivers:
            driver.close()

    def start(self) -> None:
        self.connection.command("FLUSHALL")
        for driver in self.drivers:
            driver.call({"do": "forget"})

    def pass_time(self, ms: int) -> None:
        self.connection.script(self._pass, [f"dueq:{{{QUEUE}}}:"], ms)

    def complaints(self) -> list[str]:
        """What is not true of the queue's keys."""
        found = self.connection.script(self._check, [f"dueq:{{{QUEUE}}}:"], "0")
        assert isinstance(found, list)
        return [line.decode() for line in found if isinstance(line, bytes)]

    def noted(self) -> int | None:
        """The time that reserve looks at before it looks for what is due."""
        found = self.connection.command("HGET", f"dueq:{{{QUEUE}}}:info", "next")
        return int(found) if isinstance(found, bytes) else None

    def stamps(self, ids: list[str]) -> list[str]:
        stored = self.connection.command("HMGET", f"dueq:{{{QUEUE}}}:msg", *ids)
        assert isinstance(stored, list)
        return [
            each[4:14].decode() if isinstance(each, bytes) and each[1] & 1 else ""
            for each in stored
        ]


def three_languages(server: Server) -> World:
    return World(server, [PythonDriver(server.url), php_driver(server.url), c_driver(server.url)])


def scripts_alone(server: Server, scripts: dict[str, str]) -> World:
    return World(server, [RawDriver(server, QUEUE, scripts)])


def now_ms() -> int:
    return int(time.time() * 1000)


ANY = st.integers(0, 59)
SPANS = st.sampled_from([1, 2, 5])
LEASES = st.sampled_from([1, 0, 2, 4])
ROW_NUMBERS = st.lists(st.integers(0, len(ROWS) - 1), min_size=1, max_size=3)
# Of a list in order of interest: mostly the first.
PICK = st.sampled_from([0, 0, 0, 1, 0, 1, 2, *range(12)])
PICKS = st.lists(PICK, min_size=1, max_size=4)


class Machine(RuleBasedStateMachine):
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.world.start()
        self.model = Model()
        self.known: dict[str, None] = {}  # every id that was ever stored, in order
        self.given: dict[str, str] = {}  # the id of every ticket that was given out
        self.count = 0

    # The verbs. What is drawn must not depend on the state, which depends on the milliseconds of
    # the clock: so a rule that has nothing to do does another's work.

    @initialize(who=ANY, rows=ROW_NUMBERS)
    def begin(self, who: int, rows: list[int]) -> None:
        self.push(who, rows)

    @rule(who=ANY, rows=ROW_NUMBERS)
    def push(self, who: int, rows: list[int]) -> None:
        now = now_ms()
        asked, drafts = [], []
        for id, due, max_attempts, lease, (body, headers) in (
            ROWS[row % len(ROWS)] for row in rows
        ):
            at_ms = now + int(due[1:]) * SPAN_MS if due[0] == "@" else 0
            delay_ms = int(due) * SPAN_MS if due[0] == "+" else 0
            asked.append(
                {
                    "id": id,
                    "body": b64encode(body).decode(),
                    "headers": headers,
                    "max_attempts": max_attempts,
                    "lease_ms": lease * SPAN_MS,
                    "delay_ms": delay_ms,
                    "at_ms": at_ms,
                }
            )
            due_ms = at_ms or (delay_ms and now + delay_ms)
            drafts.append(Draft(id, body, headers, max_attempts, lease * SPAN_MS, due_ms))
        answer = self.run(who, {"do": "push", "drafts": asked})
        ids = answer["ids"]
        self.same(
            "the ids",
            [len(id) == 22 if not d.id else id == d.id for d, id in zip(drafts, ids, strict=True)],
            [True] * len(ids),
        )
        before = set(self.model.living)
        drafts = [Draft(id, *list(vars(d).values())[1:]) for d, id in zip(drafts, ids, strict=True)]
        self.same("the statuses", answer["statuses"], self.model.push(drafts, now))
        for id, stamp in zip(ids, self.world.stamps(ids), strict=True):
            self.known[id] = None
            if id not in before and id in self.model.living:
                self.model.living[id].stamp = stamp
                self.model.living[id].created_ms = now

    @rule(who=ANY, count=st.sampled_from([1, 2, 1, 3, 10]), lease=LEASES)
    def reserve(self, who: int, count: int, lease: int) -> None:
        if not self.model.living:
            self.push(who, [count + 7 * self.count])
            return
        if self.count % 2 and not self.model.has_work(now_ms()):
            self.pass_time(2)
            return
        now = now_ms()
        answer = self.run(who, {"do": "reserve", "count": count, "lease_ms": lease * SPAN_MS})
        wanted = self.model.reserve(count, lease * SPAN_MS, now)
        seen = [message["id"] for message in answer["messages"]]
        self.same("the messages", seen, [message.draft.id for message in wanted])
        for message, expected in zip(answer["messages"], wanted, strict=True):
            # The last error is find's to tell.
            self.agree({**message, "error": expected.error}, expected)
            self.given[message["ticket"]] = message["id"]

    @rule(who=ANY, picks=PICKS)
    def ack(self, who: int, picks: list[int]) -> None:
        if not self.model.count("leased"):
            self.reserve(who, 2, 1)
            return
        tickets = [self.pick(self.tickets(), pick) for pick in picks]
        now = now_ms()
        answer = self.run(who, {"do": "ack", "tickets": tickets})
        self.same("the statuses", answer["statuses"], self.model.ack(tickets, now))

    @rule(who=ANY, pick=PICK, delay=st.sampled_from([0, 1, 2]), error=st.sampled_from(ERRORS))
    def retry(self, who: int, pick: int, delay: int, error: str) -> None:
        if not self.model.count("leased"):
            self.reserve(who, 2, 1)
            return
        ticket, now, ms = self.pick(self.tickets(), pick), now_ms(), delay * SPAN_MS
        request = {"do": "retry", "delay_ms": ms, "error": error}
        self.settle(who, ticket, request, self.model.retry(ticket, ms, error, now))

    @rule(who=ANY, pick=PICK)
    def retry_at_once(self, who: int, pick: int) -> None:
        self.retry(who, pick, 0, "again")

    @rule(who=ANY, pick=PICK, lease=st.sampled_from([1, 2, 5]))
    def extend(self, who: int, pick: int, lease: int) -> None:
        if not self.model.count("leased"):
            self.reserve(who, 2, 1)
            return
        ticket, now, ms = self.pick(self.tickets(), pick), now_ms(), lease * SPAN_MS
        request = {"do": "extend", "lease_ms": ms}
        self.settle(who, ticket, request, self.model.extend(ticket, ms, now))

    @rule(who=ANY, pick=PICK, reason=st.sampled_from(ERRORS))
    def bury(self, who: int, pick: int, reason: str) -> None:
        if not self.model.count("leased"):
            self.reserve(who, 2, 1)
            return
        ticket, now = self.pick(self.tickets(), pick), now_ms()
        request = {"do": "bury", "error": reason}
        self.settle(who, ticket, request, self.model.bury(ticket, reason, now))

    @rule(who=ANY, picks=st.lists(PICK, min_size=1, max_size=2))
    def cancel(self, who: int, picks: list[int]) -> None:
        if not self.model.living:
            self.push(who, picks)
            return
        gone = [id for id in reversed(self.known) if id not in self.model.living]
        found = [*list(self.model.living)[:8], *gone[:3], "never pushed"]
        self.cancel_ids(who, [self.pick(found, pick) for pick in picks])

    def cancel_ids(self, who: int, ids: list[str]) -> None:
        answer = self.run(who, {"do": "cancel", "ids": ids})
        self.same("the statuses", answer["statuses"], self.model.cancel(ids))

    @rule(who=ANY, pick=PICK, row=st.integers(0, len(ROWS) - 1))
    def push_again(self, who: int, pick: int, row: int) -> None:
        """A new message of an id whose old ticket may still be in the line."""
        own = [id for id in self.model.living if id in IDS]
        if own:
            id, each = self.pick(own, pick), len(ROWS) // len(IDS)
            self.cancel_ids(who, [id])
            row = IDS.index(id) * each + row % each
        self.push(who + 1, [row])

    @rule(spans=SPANS)
    def pass_time(self, spans: int) -> None:
        self.world.steps += 1
        note(f"{spans * SPAN_MS} ms pass")
        self.world.pass_time(spans * SPAN_MS)
        self.model.pass_time(spans * SPAN_MS)

    # The whole state

    @invariant()
    def look(self) -> None:
        self.count += 1
        driver = self.world.drivers[self.count % len(self.world.drivers)]
        self.last = driver.name, "look"
        answer = driver.call({"do": "look", "ids": list(self.known)})
        for id, seen in zip(self.known, answer["found"], strict=True):
            message = self.model.find(id)
            if seen is None or message is None:
                self.same(f"whether {id} lives", seen is not None, message is not None)
            else:
                self.agree(seen, message)
        states = [self.model.count(state) for state in ("ready", "delayed", "leased", "dead")]
        self.same("stats", answer["counts"], [*states, self.model.acked, 0, self.model.next_ms()])
        noted, first = self.world.noted(), self.model.next_ms()
        late = first > 0 and (noted is None or noted > first)
        self.same("whether the noted time is late", late, False)
        if self.count % CHECK_EVERY == 0:
            self.check()

    def check(self) -> None:
        self.same("the keys", self.world.complaints(), [])

    def teardown(self) -> None:
        if sys.exc_info()[0] is None:
            self.check()

    # Help

    def run(self, who: int, request: Json) -> Json:
        driver = self.world.drivers[who % len(self.world.drivers)]
        self.world.steps += 1
        self.last = driver.name, request["do"]
        note(f"{driver.name}: {request}")
        return driver.call(request)

    def settle(self, who: int, ticket: str, request: Json, wanted: str) -> None:
        """A ticket that Python or PHP knows no message of is C's, which takes any."""
        request = {**request, "ticket": ticket, "id": self.given.get(ticket, ticket)}
        answer = self.run(who, request)
        if answer["statuses"] == ["FOREIGN"]:
            self.world.steps -= 1
            answer = self.run(len(self.world.drivers) - 1, request)
        self.same("the status", answer["statuses"], [wanted])

    def tickets(self) -> list[str]:
        """Those that hold, then those that once did, the latest first; then one never given out."""
        held = [m.ticket for m in self.model.living.values() if m.state == "leased"]
        stale = [ticket for ticket in reversed(self.given) if ticket not in held]
        never = [m.ticket for m in self.model.living.values() if m.ticket not in self.given]
        return held[:6] + stale[:5] + never[-1:]

    def pick(self, found: Sequence[T], index: int) -> T:
        return found[index % len(found)]

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
            "state": wanted.state,
            "time_ms": near(seen["time_ms"], wanted.time_ms),
            "created_ms": near(seen["created_ms"], wanted.created_ms),
            "error": wanted.error,
        }
        self.same(draft.id, seen, expected)
        wanted.time_ms, wanted.created_ms = seen["time_ms"], seen["created_ms"]

    def same(self, what: str, seen: Any, wanted: Any) -> None:
        if seen != wanted:
            self.world.differences += 1
            raise Difference(f"{self.last}: {what}: {seen!r}, and by the model {wanted!r}")


def near(seen: int, wanted: int) -> int:
    return seen if wanted and abs(seen - wanted) <= SLACK_MS else wanted


def machine(world: World) -> type[Machine]:
    return type("Machine", (Machine,), {"world": world})


def options(examples: int, **more: Any) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        **more,
    )


__all__ = ["Difference", "Phase", "machine", "options", "scripts_alone", "three_languages"]
