"""
A live queue whose keys are damaged at random. Whatever stands in them: every call answers in time
with a result or an error of dueq's own, what is damaged is not delivered without end, and once each
key is of its type again, new messages flow.

DUEQ_CORRUPTION_SECONDS sets how long it goes on (10), DUEQ_CORRUPTION_SEED repeats a run.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

import dueq
from dueq import errors

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Refused, Reply, Server

T = TypeVar("T")

SECONDS = float(os.environ.get("DUEQ_CORRUPTION_SECONDS", "10"))
SEED = int(os.environ.get("DUEQ_CORRUPTION_SEED", "1"))
ATTEMPTS = 3
TIMEOUT = 3
TYPES = {
    "msg": "hash", "ready": "list", "delayed": "zset", "leased": "zset", "dead": "zset",
    "wake": "zset", "info": "hash", "past": "hash", "bad": "list", "calls": "hash",
}  # fmt: skip
# A sound server is never without an answer, and all that its scripts answer can be read.
WRONG = (errors.ProtocolError, errors.TimeoutError, errors.ClosedError, errors.ConnectError)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


class Keys:
    """The keys of a queue, from behind."""

    def __init__(self, server: Server, name: str, chance: random.Random) -> None:
        self.server = server
        self.name = name
        self.chance = chance
        self.log: list[str] = []

    def of(self, part: str) -> str:
        key = f"dueq:{{{self.name}}}:{part}"
        return f"{key}:{int(time.time()) // 3600}" if part == "calls" else key

    def command(self, *words: str | bytes | int) -> Reply:
        return self.server.command(*words)

    def list(self, *words: str | bytes | int) -> list[bytes]:
        found = self.command(*words)
        assert isinstance(found, list)
        return [item for item in found if isinstance(item, bytes)]

    def number(self, *words: str | bytes | int) -> int:
        found = self.command(*words)
        assert isinstance(found, int)
        return found

    # Damage

    def damage(self) -> None:
        part = self.chance.choice(list(TYPES))
        how = self.chance.choice([self.change] * 7 + [self.remove] * 2 + [self.retype])
        self.log.append(f"{how.__name__} {part}")
        with contextlib.suppress(Refused):  # the key is of another type since
            how(part)

    def change(self, part: str) -> None:
        {"hash": self.change_hash, "list": self.change_list, "zset": self.change_zset}[TYPES[part]](
            part
        )

    def remove(self, part: str) -> None:
        key = self.of(part)
        if self.chance.random() < 0.2:
            self.command("DEL", key)
        elif TYPES[part] == "hash" and (fields := self.list("HKEYS", key)):
            self.command("HDEL", key, self.chance.choice(fields))
        elif TYPES[part] == "list":
            self.command("LPOP", key)
        elif TYPES[part] == "zset":
            self.command("ZREMRANGEBYRANK", key, 0, 0)

    def retype(self, part: str) -> None:
        key = self.of(part)
        words: list[tuple[str, ...]] = [
            ("SET", key, "foreign"), ("RPUSH", key, "foreign"), ("HSET", key, "a", "foreign"),
            ("ZADD", key, "5", "foreign"), ("SADD", key, "foreign"), ("XADD", key, "*", "a", "b"),
        ]  # fmt: skip
        self.command("DEL", key)
        self.command(*self.chance.choice(words))

    def change_hash(self, part: str) -> None:
        key = self.of(part)
        fields = self.list("HKEYS", key)
        if part == "info":
            field: bytes = self.chance.choice([b"next", b"claims", b"acked", b"damaged"])
        elif fields:
            field = self.chance.choice(fields)
        else:
            return
        value = self.command("HGET", key, field)
        old = value if isinstance(value, bytes) else b""
        if part == "msg" and self.chance.random() < 0.2:
            self.command("HDEL", key, field)
            self.command("HSET", key, self.other(field), old)
        elif part == "msg":
            # Any number of attempts would be a sound one, also none: those stay.
            new = self.other(old)
            if len(new) >= 4:
                new = new[:2] + ATTEMPTS.to_bytes(2, "big") + new[4:]
            self.command("HSET", key, field, new)
        else:
            self.command("HSET", key, field, self.other(old))

    def change_list(self, part: str) -> None:
        key = self.of(part)
        count = self.number("LLEN", key)
        if count and self.chance.random() < 0.6:
            at = self.chance.randrange(count)
            [old] = self.list("LRANGE", key, at, at)
            self.command("LSET", key, at, self.other(old))
        else:
            self.command("LPUSH", key, self.other(self.known()))

    def change_zset(self, part: str) -> None:
        key = self.of(part)
        members = self.list("ZRANGE", key, 0, -1)
        member = self.chance.choice(members) if members else self.known()
        now = time.time() * 1000
        score = self.chance.choice(
            ["-inf", "inf", "0", "-5", "1e18", "0.5", f"{now + 20:.3f}", f"{now - 20:.0f}"]
        )
        if self.chance.random() < 0.5:
            self.command("ZREM", key, member)
            member = self.other(member)
        self.command("ZADD", key, score, member)

    def known(self) -> bytes:
        """An id that stands in the queue, or any."""
        with contextlib.suppress(Refused):
            if fields := self.list("HKEYS", self.of("msg")):
                return self.chance.choice(fields)
        return b"nobody"

    def other(self, old: bytes) -> bytes:
        chance = self.chance
        kind = chance.randrange(6)
        if kind < 3 and old:
            at = chance.randrange(len(old))
            return old[:at] + bytes([old[at] ^ 1 << chance.randrange(8)]) + old[at + 1 :]
        if kind == 3:
            return old[: chance.randrange(len(old) + 1)]
        if kind == 4:
            return chance.randbytes(chance.choice([1, 4, 22, 300]))
        return chance.choice(
            [b"", b"0", b"-1", b"nan", b"inf", b"1e400", b"9" * 30, b"9007199254740993", b"5 x",
             b"999999999:" + old, b"1:" + old, b"0.2AaIBtOKzz:" + old, b"0.x:" + old,
             b"99999999999999:x", b"\xff" * 22, b"3 2 - x", b"\n\n"]
        )  # fmt: skip

    # After it

    def mend_types(self) -> None:
        for part, kind in TYPES.items():
            if self.command("TYPE", self.of(part)) not in (kind.encode(), b"none"):
                self.command("DEL", self.of(part))

    def entries(self) -> int:
        sets = sum(self.number("ZCARD", self.of(part)) for part in ("delayed", "leased"))
        return sets + self.number("LLEN", self.of("ready"))

    def soon(self) -> int:
        """What is ready, or will be within half a second. (A damaged lease may be a long one.)"""
        limit = int(time.time() * 1000) + 500
        sets = [
            self.number("ZCOUNT", self.of(part), "-inf", limit) for part in ("delayed", "leased")
        ]
        return sum(sets) + self.number("LLEN", self.of("ready"))

    def scripts_run(self) -> int:
        stats = self.command("INFO", "commandstats")
        assert isinstance(stats, bytes)
        found = re.search(rb"cmdstat_evalsha:calls=(\d+)", stats)
        return int(found[1]) if found else 0


class Users:
    """Producers and consumers of the queue, all in one."""

    def __init__(self, queue: dueq.Queue, chance: random.Random) -> None:
        self.queue = queue
        self.chance = chance
        self.held: list[dueq.Message] = []
        self.ids: list[str] = ["nobody"]
        self.calls = self.refused = 0
        self.texts: set[str] = set()  # what the errors said

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
        chance = self.chance
        verb = chance.choice(
            [self.push, self.push, self.reserve, self.reserve, self.settle, self.settle, self.look]
        )
        verb()
        self.held = self.held[-20:]
        self.ids = self.ids[-40:]

    def push(self) -> None:
        chance = self.chance
        drafts = [
            dueq.Draft(
                chance.randbytes(chance.randrange(40)),
                id=chance.choice([None, f"id-{chance.randrange(50)}"]),
                delay=chance.choice([0, 0, 0.01, 0.05]),
                lease=chance.choice([0.01, 0.02]),
                headers=chance.choice([None, {"a": "b"}]),
                max_attempts=ATTEMPTS,
            )
            for _ in range(chance.randrange(1, 4))
        ]
        pushed = self.call(lambda: self.queue.push_many(drafts))
        self.ids += [id for id in pushed or [] if id]

    def reserve(self) -> None:
        count, waits = self.chance.randrange(1, 5), self.chance.choice([0, 0, 0, 0.02])
        lease = self.chance.choice([None, 0.005, 0.05])
        self.held += self.call(lambda: self.queue.reserve_many(count, waits, lease), waits) or []

    def settle(self) -> None:
        if not self.held:
            return
        message = self.held.pop(self.chance.randrange(len(self.held)))
        verbs: list[Callable[[], object]] = [
            message.ack,
            lambda: message.retry(0.01, error="failed"),
            message.retry,
            lambda: message.extend(0.02),
            lambda: message.bury("reason"),
            lambda: self.queue.ack_many([message, *self.held]),
        ]
        self.call(self.chance.choice(verbs))

    def look(self) -> None:
        id = self.chance.choice(self.ids)
        verbs: list[Callable[[], object]] = [
            self.queue.stats,
            lambda: self.queue.find(id),
            lambda: self.queue.cancel(id),
        ]
        self.call(self.chance.choice(verbs))


def drain(queue: dueq.Queue, keys: Keys) -> int:
    """Takes what there is, again and again, without finishing it, until nothing comes back."""
    most = ATTEMPTS * keys.entries()
    delivered, begin = 0, time.monotonic()
    while keys.soon():
        delivered += len(queue.reserve_many(100, timeout=0.01, lease=0.001))
        assert delivered <= most, "delivered without end"
        assert time.monotonic() - begin < 30, "never empty"
    return delivered


def flow(queue: dueq.Queue, round: int) -> None:
    """New messages are delivered once each, and finished."""
    drafts = [
        dueq.Draft(f"{round}-{i}", id=id, delay=delay)
        for i, (id, delay) in enumerate(
            [(None, 0), (f"healthy-{round}", 0), (None, 0.03), (f"later-{round}", 0.03)]
        )
    ]
    wanted = {id for id in queue.push_many(drafts) if id}
    assert len(wanted) == len(drafts)
    seen: list[str] = []
    deadline = time.monotonic() + 10
    while set(seen) != wanted:
        assert time.monotonic() < deadline, f"only {seen} of {wanted}"
        for message in queue.reserve_many(10, timeout=1):
            if message.id in wanted:
                seen.append(message.id)
                message.ack()
    assert len(seen) == len(wanted)
    assert all(queue.find(id) is None for id in wanted)


def test_every_verb_on_damaged_keys(server: Server) -> None:
    chance = random.Random(SEED)
    keys = Keys(server, "damaged", chance)
    users = Users(dueq.Queue(keys.name, f"{server.url}?timeout={TIMEOUT}s"), chance)
    end, round, damages, delivered = time.monotonic() + SECONDS, 0, 0, 0
    while time.monotonic() < end:
        round += 1
        keys.log.clear()
        try:
            for _ in range(60):
                users.step()
                if chance.random() < 0.4:
                    keys.damage()
                    damages += 1
                if chance.random() < 0.1:
                    keys.mend_types()
            keys.mend_types()
            delivered += drain(users.queue, keys)
            flow(users.queue, round)
            before = keys.scripts_run()
            users.queue.reserve(timeout=0.1)
            assert keys.scripts_run() - before < 20, "a waiting consumer is not quiet"
        except BaseException as error:
            error.add_note(f"seed {SEED}, round {round}: {', '.join(keys.log)}")
            raise
    print(f"{round} rounds, {damages} damages, {users.calls} calls, {users.refused} refused,")
    print(f"{delivered} deliveries afterwards")
    assert round > 0
    assert users.texts
    assert "" not in users.texts
