"""
Two live queues, whose messages move from one to the other, with keys that are damaged at random.
Whatever stands in them: every call answers in time with a result or an error of dueq's own, what is
damaged is not delivered without end, and once each key is of its type again, new messages flow.

DUEQ_CORRUPTION_SECONDS sets how long it goes on (10), DUEQ_CORRUPTION_SEED repeats a run.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import pytest
from damager import ATTEMPTS, CRASHES, LOCK, Keys

import dueq
from dueq import errors
from private_server import Server

T = TypeVar("T")

SECONDS = float(os.environ.get("DUEQ_CORRUPTION_SECONDS", "10"))
SEED = int(os.environ.get("DUEQ_CORRUPTION_SEED", "1"))
TIMEOUT = 3
NAMES = ["damaged", "mails"]
# A sound server is never without an answer, and all that its scripts answer can be read.
WRONG = (errors.ProtocolError, errors.ServerTimeoutError, errors.ClosedError, errors.ConnectError)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


class Users:
    """Producers and consumers of the queues, all in one."""

    def __init__(self, url: str, chance: random.Random) -> None:
        self.queues = {name: dueq.Queue(name, url) for name in NAMES}
        self.both = dueq.Queues(NAMES, url, order="round robin")
        self.chance = chance
        self.held: list[dueq.Message] = []
        self.locks: list[dueq.Lock] = []
        self.ids: list[str] = ["nobody"]
        self.calls = self.refused = 0
        self.texts: set[str] = set()  # what the errors said

    def queue(self) -> dueq.Queue:
        return self.queues[self.chance.choice([*NAMES, NAMES[0]])]

    def call(self, verb: Callable[[], T], waits: float = 0) -> T | None:
        self.calls += 1
        begin = time.monotonic()
        try:
            return verb()
        except WRONG:
            raise
        except dueq.Error as error:
            self.texts.add(str(error))
            self.refused += 1
            return None
        finally:
            assert time.monotonic() - begin < TIMEOUT + waits + 1

    def step(self) -> None:
        verbs = (
            [self.push, self.reserve, self.settle] * 4 + [self.look, self.manage] * 2 + [self.lock]
        )
        self.chance.choice(verbs)()
        self.held = self.held[-20:]
        self.ids = self.ids[-40:]

    def drafts(self) -> list[dueq.Draft]:
        return [self.draft() for _ in range(self.chance.choice([1, 2, 3]))]

    def draft(self) -> dueq.Draft:
        choice = self.chance.choice
        id = choice([None, f"id-{self.chance.randrange(50)}"])
        more: dict[str, Any] = {}
        if id:
            more = {"unique": choice([None, 0.02]), "replace": choice([False, True, "body"])}
        if choice([True, False]):
            more |= {
                "priority": choice([-1, 0, 1]),
                "ttl": choice([None, 0.01, 1]),
                "max_crashes": choice([2, CRASHES]),
                "backoff": choice(
                    [None, 0, 0.01, [0, 0.01], dueq.Backoff("exponential", 0.01, 0.03)]
                ),
            }
            more |= choice([{}, {"drop": True}, {"dead_letter": choice([*NAMES, "nowhere"])}])
        return dueq.Draft(
            self.chance.randbytes(self.chance.randrange(40)),
            id=id,
            delay=choice([0, 0, 0.01, 0.05]),
            lease=choice([None, 0.01, 0.02]),
            headers=choice([None, {"a": "b"}]),
            max_attempts=ATTEMPTS,
            **more,
        )

    def push(self) -> None:
        drafts = self.drafts()
        pushed = self.call(lambda: self.queue().push_many(drafts))
        self.ids += [id for id in pushed or [] if id]

    def reserve(self) -> None:
        count, waits = self.chance.randrange(1, 5), self.chance.choice([0, 0, 0, 0.02])
        lease = self.chance.choice([None, 0.005, 0.05])
        consumer = self.chance.choice([self.both, self.queue()])
        self.held += self.call(lambda: consumer.reserve_many(count, waits, lease), waits) or []

    def settle(self) -> None:
        if not self.held:
            return
        message = self.held.pop(self.chance.randrange(len(self.held)))
        others = [held for held in self.held if held.queue == message.queue]
        to = self.chance.choice([None, *NAMES])
        verbs: list[Callable[[], object]] = [
            message.ack,
            lambda: message.ack(push=self.drafts(), to=to),
            lambda: message.retry(0.01, error="failed"),
            message.retry,
            message.release,
            lambda: message.release(0.01),
            lambda: message.extend(0.02),
            lambda: message.bury("reason"),
            lambda: self.queues[message.queue].ack_many([message, *others]),
        ]
        self.call(self.chance.choice(verbs))

    def look(self) -> None:
        queue, id = self.queue(), self.chance.choice(self.ids)
        state, page = self.chance.choice(list(dueq.State)), self.chance.choice([1, 3, 100])
        verbs: list[Callable[[], object]] = [
            queue.stats,
            queue.rates,
            queue.failures,
            lambda: queue.find(id),
            lambda: list(queue.peek(state, page)),
            lambda: dueq.queues(queue.url),
        ]
        self.call(self.chance.choice(verbs))

    def manage(self) -> None:
        queue, id = self.queue(), self.chance.choice(self.ids)
        state = self.chance.choice(list(dueq.State))
        verbs: list[Callable[[], object]] = [
            lambda: queue.cancel(id),
            lambda: queue.kick(id),
            lambda: queue.kick_all(error="reason"),
            lambda: queue.reschedule(id, delay=0.01),
            lambda: queue.reschedule(id),
            lambda: queue.purge(state),
            queue.remove,
            queue.pause,
            queue.resume,
            queue.resume,
        ]
        self.call(self.chance.choice(verbs))

    def lock(self) -> None:
        queue, waits = self.queue(), self.chance.choice([0, 0.02])
        taken = self.call(lambda: queue.lock(LOCK, ttl=0.05, timeout=waits), waits)
        self.locks = [*self.locks[-3:], *([taken] if taken else [])]
        for lock in self.locks:
            self.call(lock.release if self.chance.random() < 0.5 else partial(lock.extend, 0.05))


def drain(users: Users, keys: list[Keys]) -> int:
    """Takes what there is, again and again, without finishing it, until nothing comes back."""
    for queue in users.queues.values():
        queue.resume()
    # Each may end as often as it has failures and crashes to spare, here and where it moves to.
    most = 2 * (ATTEMPTS + CRASHES) * sum(one.entries() for one in keys)
    delivered, begin = 0, time.monotonic()
    while any(one.soon() for one in keys):
        fails = users.chance.random() < 0.3
        messages = users.both.reserve_many(100, timeout=0.01, lease=1 if fails else 0.001)
        delivered += len(messages)
        for message in messages if fails else []:
            with contextlib.suppress(dueq.LeaseLost):
                message.retry(0)
        assert delivered <= most, "delivered without end"
        assert time.monotonic() - begin < 30, "never empty"
    return delivered


def flow(users: Users, round: int) -> None:
    """New messages are delivered once each, and finished."""
    wanted: set[str] = set()
    for name, queue in users.queues.items():
        drafts = [
            dueq.Draft("plain"),
            dueq.Draft("given", id=f"given-{name}-{round}", unique=0.01),
            dueq.Draft("later", delay=0.03),
            dueq.Draft("last", id=f"last-{name}-{round}", delay=0.03),
            dueq.Draft("high", priority=1, ttl=60),
            dueq.Draft("low", priority=-1),
        ]
        ids = {id for id in queue.push_many(drafts) if id}
        assert len(ids) == len(drafts)
        wanted |= ids
    seen: list[str] = []
    deadline = time.monotonic() + 10
    while not wanted <= set(seen):
        assert time.monotonic() < deadline, f"only {seen} of {wanted}"
        for message in users.both.reserve_many(10, timeout=1, lease=60):
            message.ack()
            seen.append(message.id)
    assert all(seen.count(id) == 1 for id in wanted)
    assert all(queue.find(id) is None for queue in users.queues.values() for id in wanted)
    for queue in users.queues.values():
        lock = queue.lock(LOCK, ttl=60, timeout=5)
        assert lock
        lock.release()
        queue.rates()
        queue.failures()
        for state in ("dead", "delayed"):
            queue.purge(state)
        assert queue.stats().dead == 0


def test_every_verb_on_damaged_keys(server: Server) -> None:
    chance = random.Random(SEED)
    keys = [Keys(server, name, chance) for name in NAMES]
    users = Users(f"{server.url}?timeout={TIMEOUT}s", chance)
    end, round, damages, delivered = time.monotonic() + SECONDS, 0, 0, 0
    while time.monotonic() < end:
        round += 1
        try:
            for _ in range(60):
                users.step()
                if chance.random() < 0.4:
                    chance.choice([keys[0], *keys]).damage()
                    damages += 1
                if chance.random() < 0.1:
                    chance.choice(keys).repair_types()
            for one in keys:
                one.repair_types()
            delivered += drain(users, keys)
            flow(users, round)
            before = keys[0].scripts_run()
            users.both.reserve(timeout=0.1)
            assert keys[0].scripts_run() - before < 20, "a waiting consumer is not quiet"
        except BaseException as error:
            for one in keys:
                error.add_note(f"{one.name}: {', '.join(one.log)}")
            error.add_note(f"seed {SEED}, round {round}")
            raise
        for one in keys:
            one.log.clear()
    print(f"{round} rounds, {damages} damages, {users.calls} calls, {users.refused} refused,")
    print(f"{delivered} deliveries afterwards")
    assert round > 0
    assert users.texts
    assert "" not in users.texts
