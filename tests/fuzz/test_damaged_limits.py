"""
A queue whose groups have limits and holds, with the keys of these damaged at random while it is in
use: check finds it and mends it. Then no message is lost, no group waits for nothing, and none has
more at work than its limit.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

import dueq
from private_server import Refused, Server

GROUPS = ["a", "b", "c d", "\u00fc%", "e"]
EACH, ONE = 2, 1
HOLD_S = 0.3
SETS = ["parked", "timers", "rated", "holds", "turns"]
HASHES = ["working", "limits"]
NOTES = ["limited", "turns", "returned", "next_event", "held", "has_priorities"]
SCORES = ["-inf", "inf", "0", "-5", "0.5", "1e18", "4102444800000", "1700000000000"]
VALUES = ["", "0", "1", "2", "-1", "x", "9" * 30, "1e5", "0.5", "5 5", "9999999 9999999", "\xff"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


class Damager:
    """Of the keys that only groups with limits need."""

    def __init__(self, server: Server, queue: str, chance: random.Random) -> None:
        self.server, self.queue, self.chance = server, queue, chance
        self.done: list[str] = []

    def key(self, part: str) -> str:
        return f"dueq:{{{self.queue}}}:{part}"

    def damage(self) -> None:
        how = self.chance.choice([self.score, self.score, self.value, self.note, self.remove])
        with contextlib.suppress(Refused):  # the key is of another type since
            how()
        if self.chance.random() < 0.05:
            self.retype()

    def run(self, *words: str) -> None:
        self.done.append(" ".join(words))
        self.server.command(*words)

    def name(self) -> str:
        names = [name.replace("%", "%25").replace(" ", "%20") for name in GROUPS]
        return self.chance.choice([*names, "ghost", ""])

    def score(self) -> None:
        part, score = self.chance.choice(SETS), self.chance.choice(SCORES)
        self.run("ZADD", self.key(part), score, self.name())

    def value(self) -> None:
        part, value = self.chance.choice(HASHES), self.chance.choice(VALUES)
        field = self.name()
        if part == "limits":
            field = self.chance.choice(["each.concurrency", f"g.rate:{field}", "each.weight", "x"])
        self.run("HSET", self.key(part), field, value)

    def note(self) -> None:
        field, value = self.chance.choice(NOTES), self.chance.choice(VALUES)
        if self.chance.random() < 0.4:
            self.run("HDEL", self.key("meta"), field)
        else:
            self.run("HSET", self.key("meta"), field, value)

    def remove(self) -> None:
        part = self.chance.choice(["working", *SETS])
        if self.chance.random() < 0.4:
            self.run("DEL", self.key(part))
        else:
            self.run("HDEL" if part in HASHES else "ZREM", self.key(part), self.name())

    def retype(self) -> None:
        part = self.chance.choice([*HASHES, *SETS])
        self.run("DEL", self.key(part))
        self.run("SET", self.key(part), "foreign")


class Users:
    """Producers and consumers. A call may be refused while keys are damaged."""

    def __init__(self, queue: dueq.Queue, chance: random.Random) -> None:
        self.queue, self.chance = queue, chance
        self.held: list[dueq.Message] = []
        self.pushed, self.acked = set[str](), Counter[str]()

    def step(self) -> None:
        verbs = [self.push, self.reserve, self.reserve, self.ack, self.give_back, self.hold]
        with contextlib.suppress(dueq.Error):
            self.chance.choice(verbs)()

    def push(self) -> None:
        drafts = [dueq.Draft("", group=self.chance.choice(GROUPS)) for _ in range(3)]
        self.pushed |= {id for id in self.queue.push_many(drafts) if id}

    def reserve(self, timeout: float = 0) -> None:
        self.held += self.queue.reserve_many(self.chance.choice([1, 3, 10]), timeout, 60)

    def ack(self) -> None:
        if self.held:
            self.held[0].ack()
            self.acked[self.held.pop(0).id] += 1

    def give_back(self) -> None:
        if self.held:
            message = self.held[-1]
            if self.chance.random() < 0.5:
                message.release()
            else:
                message.retry(0)
            self.held.pop()

    def hold(self) -> None:
        group = self.chance.choice(GROUPS)
        if self.held and self.chance.random() < 0.5:
            self.held[-1].hold_group(HOLD_S)
            self.held.pop()
        else:
            self.queue.hold(group, self.chance.choice([0, HOLD_S]))


def set_limits(queue: dueq.Queue) -> dict[str | None, int]:
    queue.limit(each_group_concurrency=EACH, clear=True)
    queue.limit(group="a", concurrency=ONE, weight=3)
    queue.limit(group="b", rate="100/s", burst=2)
    return dict.fromkeys([None, *GROUPS], EACH) | {"a": ONE}


def mend(queue: dueq.Queue) -> None:
    """A key of another type is set aside first, and what was there is found missing then."""
    for _ in range(3):
        if not queue.check(repair=True):
            break
    assert queue.check() == []


def drain(users: Users, limits: dict[str | None, int]) -> None:
    """Takes all there is, and looks at what is at work."""
    deadline = time.monotonic() + 8
    while users.pushed - users.acked.keys():
        assert time.monotonic() < deadline, f"wedged: {users.queue.groups()}"
        fresh = len(users.held)
        users.reserve(0.1)
        at_work = Counter(message.group for message in users.held)
        for message in users.held[fresh:]:
            number = at_work[message.group]
            assert number <= limits.get(message.group, number), f"{message.group}: {number}"
        for _ in range(users.chance.choice([1, 4, 20])):
            users.ack()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("limited", [True, False])
def test_check_mends_the_limits_of_groups(server: Server, limited: bool, seed: int) -> None:
    server.command("FLUSHALL")
    chance = random.Random(f"{seed} {limited}")
    with dueq.Queue("limited", f"{server.url}?timeout=3s") as queue:
        users, damager = Users(queue, chance), Damager(server, queue.name, chance)
        limits = set_limits(queue) if limited else {}
        try:
            for step in range(60):
                users.step()
                if step >= 20 and chance.random() < 0.2:
                    damager.damage()
            mend(queue)
            if limited:
                # Of a limit that was damaged nobody knows any more what it was.
                set_limits(queue)
            # A hold may be as long as it says.
            for group in GROUPS:
                queue.hold(group, 0)
            # What was delivered above its limit, while that was damaged, goes first.
            while users.held:
                users.ack()
            drain(users, limits)
            assert users.acked.most_common(1)[0][1] == 1
            assert queue.check() == []
        except BaseException as error:
            error.add_note("\n".join(damager.done))
            raise
