"""A queue's keys from behind: damages them at random, repairs their types, counts what is left."""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Refused, Reply, Server

ATTEMPTS, CRASHES = 3, 5
LOCK = "nightly"
TYPES = {
    "msg": "hash", "ready": "list", "high": "list", "low": "list", "delayed": "zset",
    "leased": "zset", "dead": "zset", "wake": "zset",
    "meta": "hash", "attempts": "hash", "unique": "zset", "rates": "list", "quarantine": "list",
    "outbox": "zset", "handover": "hash", "received": "zset", "failures": "list",
    f"lock:{LOCK}": "string", f"lock_wake:{LOCK}": "zset",
}  # fmt: skip
INFO = [
    b"next_event",
    b"timekeepers",
    b"has_priorities",
    b"paused",
    b"minute",
    b"ready_offset",
    b"pushed",
    b"reserved",
    b"quarantined",
    b"outbox_event",
    b"outbox_error",
]
LINES, SETS = ["high", "ready", "low"], ["delayed", "leased", "outbox"]


class Keys:
    """The keys of a queue."""

    def __init__(self, server: Server, name: str, chance: random.Random) -> None:
        self.server = server
        self.name = name
        self.chance = chance
        self.log: list[str] = []

    def of(self, part: str) -> str:
        return f"dueq:{{{self.name}}}:{part}"

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
        changes: dict[str, Callable[[str], None]] = {
            "hash": self.change_hash,
            "list": self.change_list,
            "zset": self.change_zset,
            "string": self.change_string,
        }
        changes[TYPES[part]](part)

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
        if part == "meta":
            field = self.chance.choice(INFO)
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
            self.command("HSET", key, field, self.envelope(old))
        else:
            self.command("HSET", key, field, self.other(old))

    def envelope(self, old: bytes) -> bytes:
        """
        An envelope changed, most often before its body. Any number of attempts or crashes would be
        a sound one, also none: those stay.
        """
        head, body = old[:40], old[40:]
        new = self.other(head) + body if self.chance.random() < 0.8 else self.other(old)
        if len(new) >= 4:
            new = new[:2] + ATTEMPTS.to_bytes(2, "big") + new[4:]
        return re.sub(rb"\x02\x02..", b"\x02\x02\x00%c" % CRASHES, new, flags=re.S)

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

    def change_string(self, part: str) -> None:
        key = self.of(part)
        old = self.command("GET", key)
        self.command("SET", key, self.other(old if isinstance(old, bytes) else b""))
        if self.chance.random() < 0.8:
            self.command("PEXPIRE", key, self.chance.randrange(1, 30))

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
             b"999999999:" + old, b"1:" + old, b"0.2AaIBtOKzz:" + old, b"0.x:" + old, b"0.h:" + old,
             b"2.2AaIBtOKzzl:" + old, b"99999999999999:x", b"\xff" * 22, b"3 2 - x", b"3 2 1 - x",
             b"9 8 0 h x", b"\n\n", b"\xd2" + old, b"\xd2\x91\x91\x91\x91",
             b"\xd1\x10\x00\x03\x00\x00" + old]
        )  # fmt: skip

    # After it

    def repair_types(self) -> None:
        for part, kind in TYPES.items():
            if self.command("TYPE", self.of(part)) not in (kind.encode(), b"none"):
                self.command("DEL", self.of(part))
        # What is due stands in the sets; that a note of it was changed is not seen at once.
        self.command("HDEL", self.of("meta"), "next_event")
        # A lock without an end would be a sound one, and its owner's for ever.
        if self.command("PTTL", self.of(f"lock:{LOCK}")) == -1:
            self.command("DEL", self.of(f"lock:{LOCK}"))

    def entries(self) -> int:
        sets = sum(self.number("ZCARD", self.of(part)) for part in SETS)
        return sets + sum(self.number("LLEN", self.of(part)) for part in LINES)

    def soon(self) -> int:
        """What is ready, or will be within half a second. (A damaged lease may be a long one.)"""
        limit = int(time.time() * 1000) + 500
        sets = [self.number("ZCOUNT", self.of(part), "-inf", limit) for part in SETS]
        return sum(sets) + sum(self.number("LLEN", self.of(part)) for part in LINES)

    def scripts_run(self) -> int:
        stats = self.command("INFO", "commandstats")
        assert isinstance(stats, bytes)
        found = re.search(rb"cmdstat_evalsha:calls=(\d+)", stats)
        return int(found[1]) if found else 0
