"""The fast push scripts do what the full ones do: to each state of a message, and to each draft."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from layout import packed
from raw import RawDriver

from private_server import Refused

HOSTILE = [
    *("order-1", "a:b.c", "0.2AaIBtOKzz:x", "034q4HWvPr75LHPWlJby2F", "1:", ":", "0", "-1"),
    *("2.h:x", "}{", "%d+", "é€😀", " ", "nan", "inf", "\\", "x" * 255),
]
FAR_MS = 3_600_000
TIME = rb"\b\d{13}\b"
TIMES = ("delay_ms", "at_ms", "ttl_ms", "unique_ms", "lease_ms", "keep_ms")
NUMBERS = dict.fromkeys((*TIMES, "priority"), 0)
POLICY = {"max_attempts": 16, "max_crashes": 5, "backoff": None, "drop": False, "dead_letter": ""}
TEXTS = {"id": "x", "body": "bmV3", "group": "", "headers": [], "replace": "refuse", "batch": ""}
DRAFT = NUMBERS | POLICY | TEXTS
DRAFTS: dict[str, dict[str, Any]] = {
    "now": {},
    "later": {"delay_ms": FAR_MS},
    "past": {"at_ms": 1000},
    "unique": {"unique_ms": FAR_MS},
    "unique_later": {"unique_ms": FAR_MS, "delay_ms": FAR_MS},
    "headers": {"headers": [["h", "v"]], "lease_ms": 1000, "dead_letter": "other"},
    "headers_later": {"headers": [["h", "v"]], "drop": True, "delay_ms": FAR_MS},
}


class Queue:
    """A queue, in which a message is brought into a state by the full scripts."""

    def __init__(self, raw: RawDriver, name: str) -> None:
        self.raw, self.name = raw, name

    def run(self, script: str, *words: str | bytes | int) -> Any:
        try:
            return self.raw.run(script, self.name, *words)
        except Refused as error:
            return str(error)

    def store(self, words: list[Any], due: str = "0", extra: str = "") -> None:
        assert self.run("push_full", *words[:2], due, extra) == b"0"

    def reserve(self, lease_ms: int = FAR_MS) -> str:
        ticket: bytes = self.run("reserve_full", 1, lease_ms, "2", 0)[7]
        return ticket.decode()

    def command(self, *words: str | bytes | int) -> Any:
        return self.raw.command(*words)

    def key(self, name: str) -> str:
        return f"dueq:{{{self.name}}}:{name}"

    def keys(self) -> dict[str, Any]:
        """All that the queue has, but what a call only kept."""
        readers = {
            b"hash": ("HGETALL",),
            b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
            b"list": ("LRANGE", 0, -1),
            b"string": ("GET",),
        }
        found = {}
        for key in self.command("KEYS", f"dueq:{{{self.name}}}:*"):
            if key.endswith(b":raw"):
                continue
            kind = self.command("TYPE", key)
            verb, *rest = readers[kind]
            value = self.command(verb, key, *rest)
            if kind == b"hash":
                pairs = zip(value[::2], value[1::2], strict=True)
                value = dict(sorted(pairs))
                value.pop(b"minute", None)
            found[key.decode().rpartition(":")[2]] = value
        found.pop("rates", None)
        return found


def packed_envelope(changes: dict[str, Any]) -> bytes:
    envelope = packed([DRAFT | changes])[1][1]
    assert isinstance(envelope, bytes)
    return envelope


def stamped_envelope(words: list[Any], changes: dict[str, Any]) -> bytes:
    """Of the id and the stamp that the draft in `words` has."""
    envelope = packed_envelope({"id": words[0]} | changes)
    stamp: bytes = words[1][4:14]
    return envelope[:4] + stamp + envelope[14:]


def none(queue: Queue, words: list[Any]) -> None:
    queue.run("resume")


def ready(queue: Queue, words: list[Any]) -> None:
    queue.store(words)


def ready_with_headers(queue: Queue, words: list[Any]) -> None:
    queue.store([words[0], stamped_envelope(words, {"headers": [["old", "1"]]})])


def delayed(queue: Queue, words: list[Any]) -> None:
    queue.store(words, due=f"+{2 * FAR_MS}")


def high(queue: Queue, words: list[Any]) -> None:
    queue.store([words[0], words[1][:1] + bytes([words[1][1] | 32]) + words[1][2:]])


def leased(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.reserve()


def lapsed(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.reserve(1)


def back(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.run("retry", queue.reserve(), 0, 0, "why", "raw 1")


def back_later(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.run("retry", queue.reserve(), FAR_MS, 0, "why", "raw 1")


def dead(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.run("bury", queue.reserve(), "why", "raw 1")


def killed(queue: Queue, words: list[Any]) -> None:
    delayed(queue, words)
    queue.run("kill", words[0])


def kicked(queue: Queue, words: list[Any]) -> None:
    killed(queue, words)
    queue.run("kick", words[0])


def moved(queue: Queue, words: list[Any]) -> None:
    queue.store([words[0], stamped_envelope(words, {"dead_letter": "other"})])
    queue.run("bury", queue.reserve(), "why", "raw 1")


def expired(queue: Queue, words: list[Any]) -> None:
    envelope = stamped_envelope(words, {"ttl_ms": 1})
    queue.store([words[0], envelope])
    ended = envelope[:14] + struct.pack(">Q", 1000) + envelope[22:]
    queue.command("HSET", queue.key("msg"), words[0], ended)


def acked(queue: Queue, words: list[Any]) -> None:
    queue.store(words)
    queue.run("ack", queue.reserve())


def cancelled(queue: Queue, words: list[Any]) -> None:
    """Its ticket is still in the lane."""
    queue.store(words)
    queue.run("cancel_full", words[0])


def unique(queue: Queue, words: list[Any]) -> None:
    queue.store(words, extra=f"0 {FAR_MS} 0")
    queue.run("ack", queue.reserve())


def unique_no_more(queue: Queue, words: list[Any]) -> None:
    acked(queue, words)
    for i in range(120):
        queue.command("ZADD", queue.key("unique"), 1000 + i, f"old-{i}")
    queue.command("ZADD", queue.key("unique"), 1000, words[0])
    queue.command("ZADD", queue.key("unique"), 4000000000000, "new")


def unique_and_there(queue: Queue, words: list[Any]) -> None:
    queue.store(words, extra="0 1 0", due=f"+{FAR_MS}")
    queue.command("ZADD", queue.key("unique"), 1000, words[0])


def others_wait(queue: Queue, words: list[Any]) -> None:
    envelope = packed_envelope({"id": ""})
    queue.run("push", "034q4HWvPr75LHPWlJby2G", envelope)
    queue.run("push_later", f"@{4000000000000}", "034q4HWvPr75LHPWlJby2H", envelope)
    queue.run("reserve_full", 1, FAR_MS, "3", 0)


def newer(queue: Queue, words: list[Any]) -> None:
    """Of a newer dueq; its id is still unique."""
    unique(queue, words)
    queue.command("HSET", queue.key("meta"), "wire", 2)
    for name in ("msg", "ready", "delayed", "leased"):
        queue.command("SET", queue.key(name), "moved")


def partitioned(queue: Queue, words: list[Any]) -> None:
    queue.run("resume")
    for name in ("msg", "ready", "delayed"):
        queue.command("SET", queue.key(name), "partitions 8")


def foreign(name: str) -> Any:
    def state(queue: Queue, words: list[Any]) -> None:
        queue.run("resume")
        queue.command("SET", queue.key(name), "foreign")

    state.__name__ = f"foreign_{name}"
    return state


STATES = [
    *(none, ready, ready_with_headers, delayed, high, leased, lapsed, back, back_later, dead),
    *(killed, kicked, moved, expired, acked, cancelled, unique, unique_no_more, unique_and_there),
    *(others_wait, newer, partitioned, foreign("msg"), foreign("ready"), foreign("delayed")),
    *(foreign("unique"), foreign("meta"), foreign("wake")),
]


def near(mine: Any, theirs: Any) -> bool:
    """Equal, where points of time may differ by the time that the test takes."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(near(mine[k], theirs[k]) for k in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(near, mine, theirs))
    if not isinstance(mine, bytes) or not isinstance(theirs, bytes):
        return bool(mine == theirs)
    pairs = zip(re.findall(TIME, mine), re.findall(TIME, theirs), strict=False)
    times_near = all(abs(int(one) - int(other)) < 60_000 for one, other in pairs)
    return times_near and re.sub(TIME, b"T", mine) == re.sub(TIME, b"T", theirs)


def running(keys: dict[str, Any]) -> dict[str, Any]:
    """Without the ends of uniqueness that are over."""
    ends = keys.get("unique", [])
    left = [[id, end] for id, end in zip(ends[::2], ends[1::2], strict=True) if len(end) > 12]
    return keys | {"unique": left}


def fast(words: list[Any], replaces: bool) -> tuple[str, list[Any]]:
    """The script that is enough for one draft, and its words."""
    id, envelope, due, extra = words
    if replaces:
        return "push_replace", words
    window = [extra.split()[1]] if extra else []
    if due == "0":
        return "push_own", [id, envelope, *window]
    return "push_own_later", [id, envelope, due, *window]


# Each state of a message, and each draft that comes to it.
TABLE = {
    f"{state.__name__}-{draft}-{replace}": (state, DRAFT | DRAFTS[draft] | {"replace": replace})
    for state in STATES
    for draft in DRAFTS
    for replace in ("refuse", "replace", "replace_body")
}


@pytest.mark.parametrize(("state", "row"), TABLE.values(), ids=TABLE)
def test_fast_push_does_what_the_full_one_does(
    raw: RawDriver, state: Any, row: dict[str, Any]
) -> None:
    compare(raw, state, row)


@pytest.mark.parametrize("replace", ["refuse", "replace"])
@pytest.mark.parametrize("id", HOSTILE)
@pytest.mark.parametrize("state", [none, ready, delayed, leased, acked, unique])
def test_fast_push_takes_any_id(raw: RawDriver, state: Any, id: str, replace: str) -> None:
    compare(raw, state, DRAFT | {"id": id, "replace": replace})
    compare(raw, state, DRAFT | {"id": id, "replace": replace, "delay_ms": FAR_MS})


def compare(raw: RawDriver, state: Any, row: dict[str, Any]) -> None:
    raw.command("FLUSHALL")
    mine, theirs = Queue(raw, "fast"), Queue(raw, "full")
    old, words = packed([DRAFT | {"id": row["id"]}])[1], packed([row])[1]
    for queue in (mine, theirs):
        state(queue, old)
    replaces = row["replace"] != "refuse"
    full = "push_replace_full" if replaces else "push_full"
    before, script = mine.keys() if state is not none else None, fast(words, replaces)
    answer = mine.run(script[0], *script[1])
    if answer is None:
        assert before is None or mine.keys() == before, "what passes on changes nothing"
        answer = mine.run(full, *words)
    expected = theirs.run(full, *words)
    # An error of the server's names the script, and the queue.
    assert str(answer)[:9] == str(expected)[:9]
    found, wanted = mine.keys(), theirs.keys()
    if not isinstance(answer, bytes):
        assert found == before
        return
    if replaces:
        # Ends of uniqueness that are over may be left to the next push.
        found, wanted = running(found), running(wanted)
    assert near(found, wanted), (found, wanted)
