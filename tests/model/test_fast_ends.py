"""The fast scripts of messages whose ends are noted do what the full ones do: to each form of such
a message, and in each state of what notes its end."""

from __future__ import annotations

import re
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from raw import RawDriver
from test_fast_push import FAR_MS, Queue, near, packed_envelope

from private_server import Refused, Server
from script_sources import sources

LATEST = 4_000_000_000_000
STAMP = "2AaIBtOKzz"
BY = "shop-3 22591"
IDS = [f"034q4HWvPr75LHPWlJby2{last}" for last in "FGHJKLM"]
WARM, TIMER, ENTRY, CALLBACK, OTHER = (f"034q4HWvPr75LHPWlJby3{last}" for last in "ABCDE")
NOTE = re.compile(rb"\b\d{13}0{6}\d{3}\b")
PLAIN = packed_envelope({"id": ""})


def field(tag: int, value: bytes) -> bytes:
    return bytes([tag, len(value)]) + value


def header(name: str, value: str) -> bytes:
    words = name.encode(), value.encode()
    return bytes([len(words[0])]) + words[0] + struct.pack(">H", len(words[1])) + words[1]


def noted(
    policy: bytes, headers: bytes = b"", own: bool = False, flags: int = 0, more: bytes = b""
) -> bytes:
    """An envelope. flags: others than those of its parts; more: what these bring."""
    flags |= 16 | (4 if headers else 0) | own
    out = struct.pack(">BBH", 0xD3, flags, 16) + (STAMP.encode() if own else b"") + more
    if headers:
        out += struct.pack(">H", len(headers)) + headers
    return out + struct.pack(">H", len(policy)) + policy + b"body"


KEEP = field(5, struct.pack(">I", FAR_MS))
BATCH = field(6, b"b")
TASK = header("task", "pack")
# What the fast scripts take.
FAST = {
    "kept": noted(KEEP),
    "member": noted(BATCH),
    "both": noted(KEEP + BATCH),
    "kept_task": noted(KEEP, TASK),
    "member_task": noted(BATCH, TASK + header("trace", "x" * 300) + header("empty", "")),
    "own": noted(KEEP + BATCH, own=True),
    "own_task": noted(KEEP, TASK, own=True),
}
# What they pass on.
OTHERS = {
    "backoff": noted(field(1, bytes([1, 0, 0, 0, 4, 0])) + KEEP),
    "drop": noted(field(3, b"") + KEEP),
    "member_elsewhere": noted(BATCH + field(8, b"home")),
    "counted": noted(field(7, b"b")),
    "kept_and_counted": noted(KEEP + field(7, b"b")),
    "lease": noted(KEEP, flags=2, more=struct.pack(">I", 1000)),
    "time_to_live": noted(KEEP, flags=8, more=struct.pack(">Q", LATEST)),
    "utf8_header": noted(KEEP, header("task", "é")),
    "utf8_batch": noted(field(6, "é".encode())),
    "high": noted(KEEP, flags=32),
    "group": noted(KEEP, flags=128, more=b"\1g"),
    "plain": PLAIN,
    # Its ticket is of an earlier message of this id.
    "stale": noted(KEEP, own=True) + b", stale",
    # Damaged ones.
    "keep_of_0": noted(field(5, bytes(4))),
    "keep_of_3_bytes": noted(field(5, b"abc")),
    "no_field": noted(field(3, b"")),
    "empty_policy": noted(b""),
    "empty_batch": noted(field(6, b"")),
    "batch_that_is_no_text": noted(field(6, b"b\1")),
    "fields_in_a_wrong_order": noted(BATCH + KEEP),
    "field_twice": noted(KEEP + KEEP),
    "batch_beyond_the_policy": noted(KEEP + b"\6\2b"),
    "policy_without_a_size": noted(KEEP)[:5],
    "policy_beyond_the_envelope": noted(KEEP)[:9],
    "batch_beyond_the_envelope": noted(BATCH)[:8],
    "headers_beyond_the_envelope": noted(KEEP, TASK)[:9],
    "header_beyond_the_headers": noted(KEEP, TASK[:-1]),
    "header_without_a_name": noted(KEEP, header("", "x")),
    "header_with_a_control_character": noted(KEEP, header("a\nb", "x")),
    "header_that_is_no_text": noted(KEEP, b"\1a\0\1\xff"),
    "unknown_version": b"\xd4" + noted(KEEP)[1:],
    "unnoted_version": b"\xd1" + noted(KEEP)[1:],
    "one_byte": b"\xd3",
    "nothing": b"",
}
MESSAGES = FAST | OTHERS


def is_own(envelope: bytes) -> bool:
    return len(envelope) > 1 and envelope[1] % 2 == 1


def suffix(envelope: bytes) -> str:
    flags = envelope[1] if len(envelope) > 1 else 0
    mark = "h" if flags & 32 else "=g" if flags & 128 else ""
    stamp = "1AaIBtOKzz" if envelope.endswith(b"stale") else STAMP
    return "!" + (stamp if is_own(envelope) else "") + mark


def ticket_of(id: str, envelope: bytes) -> str:
    return id if envelope[:1] == b"\xd1" else f"0.{suffix(envelope)}:{id}"


def id_of(place: int, envelope: bytes) -> str:
    return f"a:b-{place}" if is_own(envelope) else IDS[place]


def is_member(envelope: bytes) -> bool:
    """Of the batch that is open; the others come to `msg` as they are."""
    return envelope in (FAST["member"], FAST["both"], FAST["member_task"], FAST["own"])


def begin(queue: Queue) -> None:
    """A batch is open, and a message was delivered."""
    callback: list[Any] = ["", ENTRY, CALLBACK, PLAIN, "0", ""]
    queue.run("open_batch", "b", FAR_MS, FAR_MS, TIMER, "then", *callback)
    queue.store([WARM, PLAIN])
    queue.run("ack", queue.reserve())
    queue.command("DEL", queue.key("wake"))


def put(queue: Queue, id: str, envelope: bytes) -> str:
    """Stores a message without a state. Returns its ticket."""
    if is_member(envelope):
        assert queue.run("push_batch", "b", id, envelope, "0", "") == b"0"
        # A waiting consumer has taken the token.
        queue.command("DEL", queue.key("ready"), queue.key("wake"))
    else:
        queue.command("HSET", queue.key("msg"), id, envelope)
    return ticket_of(id, envelope)


def lease(queue: Queue, id: str, envelope: bytes) -> str:
    ticket = put(queue, id, envelope)
    queue.command("ZADD", queue.key("leased"), LATEST, ticket)
    queue.command("HSET", queue.key("started"), id, LATEST - 1)
    return ticket


# ---- States of what notes the end of the message `id` ----


def fresh(queue: Queue, id: str, ticket: str) -> None:
    pass


def closed(queue: Queue, id: str, ticket: str) -> None:
    queue.run("close_batch", "b")


def closed_with_another(queue: Queue, id: str, ticket: str) -> None:
    put(queue, OTHER, FAST["member"])
    queue.run("close_batch", "b")


def no_batch(queue: Queue, id: str, ticket: str) -> None:
    queue.command("DEL", queue.key("batches"))


def damaged_batch(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("batches"), "b", "x" * 60)


def short_batch(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("batches"), "b", "\1" * 49)


def closed_with_a_timer(queue: Queue, id: str, ticket: str) -> None:
    record = queue.command("HGET", queue.key("batches"), "b")
    queue.command("HSET", queue.key("batches"), "b", record[:1] + b"\1" + record[2:])


def kept_before(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("ends"), id, "an earlier end", "", 14)
    queue.command("ZADD", queue.key("kept"), 4_100_000_000_000, id)


def others_are_over(queue: Queue, id: str, ticket: str) -> None:
    for n in range(5):
        queue.command("HSET", queue.key("ends"), f"old-{n}", "end")
        queue.command("ZADD", queue.key("kept"), 1000 + n, f"old-{n}")
    queue.command("HSET", queue.key("ends"), id, "of this id", "", 25)
    queue.command("ZADD", queue.key("kept"), 1000, id)


def bytes_are_no_number(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("ends"), "", "many")


def never_began(queue: Queue, id: str, ticket: str) -> None:
    queue.command("DEL", queue.key("started"))


def began_at_no_number(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("started"), id, "soon")


def awaited(queue: Queue, id: str, ticket: str) -> None:
    queue.command("ZADD", queue.key("awaited"), LATEST, id, LATEST, "other")


def lost(queue: Queue, id: str, ticket: str) -> None:
    queue.command("ZREM", queue.key("leased"), ticket)


def limited(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("meta"), "limited", "1")


def held(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("meta"), "held", "1")


def newer(queue: Queue, id: str, ticket: str) -> None:
    queue.command("HSET", queue.key("meta"), "wire", 2)
    for name in ("msg", "ready", "delayed", "leased"):
        queue.command("SET", queue.key(name), "moved")


def no_memory(queue: Queue, id: str, ticket: str) -> None:
    queue.command("CONFIG", "SET", "maxmemory", 1)


def foreign(name: str) -> Callable[[Queue, str, str], None]:
    def state(queue: Queue, id: str, ticket: str) -> None:
        queue.command("SET", queue.key(name), "foreign")

    state.__name__ = f"foreign_{name}"
    return state


STATES = [
    *(fresh, closed, closed_with_another, no_batch, damaged_batch, short_batch),
    *(closed_with_a_timer, kept_before, others_are_over, bytes_are_no_number, never_began),
    *(began_at_no_number, awaited, lost, limited, held, newer, no_memory),
    *map(foreign, ("msg", "leased", "batches", "ends", "kept", "started", "awaited")),
]
# In these the fast script ends each message of FAST.
SIMPLE = (fresh, closed_with_another, kept_before, others_are_over, never_began, awaited)


# ---- What is compared ----


def shown(queue: Queue) -> dict[str, Any]:
    """All keys; without the times in records of batches, and the times in ids of notes."""
    found = queue.keys()
    for name in ("batches", "batch_ends"):
        if isinstance(found.get(name), dict):
            found[name] = {
                id: value[:26] + value[50:] if value[:1] == b"\1" and len(value) > 49 else value
                for id, value in found[name].items()
            }
    for name in ("ends", "kept"):
        left = queue.command("PTTL", queue.key(name))
        now = int(time.time() * 1000)
        found[f"expiry of {name}"] = b"%d" % (now + left if left > 0 else left)
    return {name: plain(value) for name, value in found.items()}


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    # Some entries name their queue.
    return NOTE.sub(b"NOTE", value).replace(b"fast", b"full") if isinstance(value, bytes) else value


@contextmanager
def pair(raw: RawDriver) -> Iterator[tuple[Queue, Queue]]:
    raw.command("FLUSHALL")
    try:
        yield Queue(raw, "fast"), Queue(raw, "full")
    finally:
        raw.command("CONFIG", "SET", "maxmemory", 0)


def answer_of(queue: Queue, fast: str, full: str, words: list[Any]) -> tuple[Any, bool]:
    """What the fast script answers, or else the full one; and whether it is the fast one's."""
    before, answer = shown(queue), queue.run(fast, *words)
    if answer is not None:
        return answer, True
    assert shown(queue) == before, "what passes on changes nothing"
    return queue.run(full, *words), False


def same(mine: Queue, theirs: Queue, answers: tuple[Any, Any]) -> None:
    answer, expected = answers
    if isinstance(expected, str):
        # An error of the server's names the script, and the queue.
        answer, expected = str(answer)[:9], expected[:9]
    assert near(answer, expected), (answer, expected)
    found, wanted = shown(mine), shown(theirs)
    assert near(found, wanted), (found, wanted)


# ---- Acks ----

ACKS = {f"{name}-{state.__name__}": (name, state) for name in FAST for state in STATES}
ACKS |= {f"{name}-{state.__name__}": (name, state) for name in OTHERS for state in (fresh, closed)}


def compare_ack(raw: RawDriver, name: str, state: Any, result: str) -> None:
    envelope = MESSAGES[name]
    id = id_of(0, envelope)
    ticket = ticket_of(id, envelope)
    with pair(raw) as queues:
        mine, theirs = queues
        for queue in queues:
            begin(queue)
            lease(queue, id, envelope)
        for queue in queues:
            state(queue, id, ticket)
        words = [BY, result, ticket]
        answer, is_fast = answer_of(mine, "ack_noted", "ack_end", words)
        same(mine, theirs, (answer, theirs.run("ack_end", *words)))
    if name in FAST and state in SIMPLE:
        assert is_fast


@pytest.mark.parametrize("result", ["", "=17", "=" + "\0\r\n" * 9])
@pytest.mark.parametrize(("name", "state"), ACKS.values(), ids=ACKS)
def test_fast_ack_does_what_the_full_one_does(
    raw: RawDriver, name: str, state: Any, result: str
) -> None:
    compare_ack(raw, name, state, result)


# ---- Reserves ----

# What a reserve acknowledges: messages, and the state of the first one's notes.
SETTLED: dict[str, tuple[list[str], Any]] = {
    "nothing": ([], fresh),
    "kept": (["kept"], fresh),
    "plain": (["plain"], fresh),
    "member": (["member"], fresh),
    "last_member": (["member"], closed),
    "lost": (["both"], lost),
    "two_members": (["member", "member_task"], fresh),
    "all_members": (["member", "own"], closed),
    "two_of_three_members": (["member", "own"], closed_with_another),
    "each": (["plain", *FAST], fresh),
    "one_of_three_is_lost": (["kept", "both", "plain"], lost),
    "over": (["kept", "own_task"], others_are_over),
    "awaited": (["kept", "both"], awaited),
    "damaged": (["keep_of_0"], fresh),
    "no_batch": (["member"], no_batch),
    "no_memory": (["both", "kept"], no_memory),
}
SOME = ("kept", "both", "own", "plain", "backoff", "keep_of_0")
RESERVES = {
    f"{name}-{settled}": (name, settled)
    for name in MESSAGES
    for settled in SETTLED
    if name in SOME or settled in ("nothing", "each")
}


# Of these the fast script acknowledges all.
SETTLED_SIMPLY = ("nothing", "kept", "plain", "member", "two_members", "each", "over", "awaited")


def settled_id(place: int, envelope: bytes) -> str:
    """No id of the messages that the reserve takes."""
    return f"c:d-{place}" if is_own(envelope) else f"{IDS[0][:-2]}5{place}"


def compare_reserve(raw: RawDriver, name: str, settled: str, most: int, due: bool) -> None:
    envelope = MESSAGES[name]
    names, state = SETTLED[settled]
    acked = [(settled_id(i, MESSAGES[name]), MESSAGES[name]) for i, name in enumerate(names)]
    tickets = [ticket_of(*each) for each in acked]
    ender = ["", "", "", "", BY] if any(".!" in ticket for ticket in tickets) else []
    with pair(raw) as queues:
        mine, theirs = queues
        for queue in queues:
            begin(queue)
            for each in acked:
                lease(queue, *each)
            wait(queue, [put(queue, id_of(i, envelope), envelope) for i in range(3)], due)
        for queue in queues:
            if acked:
                state(queue, acked[0][0], tickets[0])
        words: list[Any] = [most, FAR_MS, "---ed-", len(tickets), *tickets, *ender]
        answer, is_fast = answer_of(mine, "reserve_noted", "reserve_full", words)
        answers = [answer, theirs.run("reserve_full", *words)]
        # The time and the wait depend on the clock, and no message came back.
        answers = [row[3:5] + row[6:] if isinstance(row, list) else row for row in answers]
        same(mine, theirs, (answers[0], answers[1]))
    if name in FAST and settled in SETTLED_SIMPLY:
        assert is_fast


def wait(queue: Queue, tickets: list[str], due: bool) -> None:
    """The messages of the tickets are ready, or are due."""
    if due:
        queue.command("ZADD", queue.key("delayed"), *(w for t in tickets for w in (1000, t)))
        queue.command("HSET", queue.key("meta"), "next_event", 1000)
    elif ".!h:" in tickets[0]:
        queue.command("RPUSH", queue.key("high"), *tickets)
        queue.command("HSET", queue.key("meta"), "has_priorities", 1)
    else:
        queue.command("RPUSH", queue.key("ready"), *tickets)


@pytest.mark.parametrize(
    ("most", "due"),
    [(0, False), (1, False), (2, False), (20, False), (1, True), (2, True), (20, True)],
)
@pytest.mark.parametrize(("name", "settled"), RESERVES.values(), ids=RESERVES)
def test_fast_reserve_does_what_the_full_one_does(
    raw: RawDriver, name: str, settled: str, most: int, due: bool
) -> None:
    compare_reserve(raw, name, settled, most, due)


@pytest.mark.parametrize(
    "ticket",
    ["0.!h:aaaaaaaa:b", "0.h:aaaaaaaa:b", "0.=bbbbbbbbb:a", "0.!=bbbbbbbbb:a", "0.x:a", "y"],
)
def test_fast_reserve_moves_no_ticket_that_it_does_not_know(raw: RawDriver, ticket: str) -> None:
    """More messages are due than it may take."""
    with pair(raw) as (mine, _):
        begin(mine)
        mine.command("ZADD", mine.key("delayed"), 999, put(mine, IDS[0], FAST["kept"]))
        mine.command("ZADD", mine.key("delayed"), 1000, ticket)
        mine.command("HSET", mine.key("meta"), "next_event", 999)
        before = mine.keys()
        assert mine.run("reserve_noted", 1, FAR_MS, "---ed-", 0) is None
        assert mine.keys() == before


# ---- Pushes ----

PUSHED_IN: list[Any] = [fresh, closed, no_batch, damaged_batch, short_batch, newer]
PUSHED_IN += map(foreign, ("ready", "batches", "wake", "meta"))
PUSHES = {
    f"{name}-{state.__name__}": (name, state)
    for name in FAST
    if "own" not in name
    for state in PUSHED_IN
}


def compare_push(raw: RawDriver, name: str, state: Any, count: int, waits: bool) -> None:
    envelope = MESSAGES[name]
    batch = ["b"] if is_member(envelope) else []
    fast, full = ("push_member", "push_batch") if batch else ("push_noted", "push_full")
    few = [word for id in IDS[:count] for word in (id, envelope)]
    all_words = [word for id in IDS[:count] for word in (id, envelope, "0", "")]
    with pair(raw) as queues:
        mine, theirs = queues
        for queue in queues:
            begin(queue)
            if waits:
                wait(queue, [put(queue, OTHER, FAST["kept"])], due=False)
            state(queue, "", "")
        same(mine, theirs, (mine.run(fast, *batch, *few), theirs.run(full, *batch, *all_words)))


@pytest.mark.parametrize("waits", [False, True], ids=["empty", "others_wait"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("name", "state"), PUSHES.values(), ids=PUSHES)
def test_fast_push_does_what_the_full_one_does(
    raw: RawDriver, name: str, state: Any, count: int, waits: bool
) -> None:
    compare_push(raw, name, state, count, waits)


# ---- Planted faults ----

# script, what is taken out of its expanded text, what comes in its place
FAULTS = {
    "ack_counts_no_member": ("ack_noted", "acked + number", "acked"),
    "ack_ends_what_it_does_not_hold": ("ack_noted", "if left ~= 1 then", "if false then"),
    "ack_ends_a_batch_by_itself": ("ack_noted", "purged <= number", "purged < number"),
    "ack_forgets_who_waits": ("ack_noted", "if waits[i] then", "if false then"),
    "ack_forgets_earlier_bytes": ("ack_noted", "- (old and #old or 0)", ""),
    "ack_forgets_what_is_over": ("ack_noted", "if over[1] then", "if false then"),
    "ack_keeps_no_expiry": ("ack_noted", "redis.pcall('PEXPIREAT', kept, last)", ""),
    "ack_keeps_when_it_began": ("ack_noted", "redis.pcall('HDEL', started, unpack(end_ids))", ""),
    "ack_sees_no_limits": ("ack_noted", "or state[1] or state[2] == '1'", ""),
    "ack_takes_any_field": ("ack_noted", "if at ~= stop or keep == 0", "if keep == 0"),
    "ack_takes_any_version": ("ack_noted", "version ~= 0xD3 or not flags", "not flags"),
    "ack_takes_any_header": ("ack_noted", "'[\\128-\\255]'", "'^$^'"),
    "reserve_notes_no_start": ("reserve_noted", "if starts[1] then", "if false then"),
    "reserve_takes_another_message": (
        "reserve_noted",
        "(flags % 2 == 1 and sub(envelope, 5, 14) or '') ~= sub(ticket, 4, -2 - #ids[i])",
        "false",
    ),
    "reserve_settles_without_a_note": ("reserve_noted", "mark == 33 then", "mark == 0 then"),
    "reserve_settles_what_is_lost": (
        "reserve_noted",
        "local ours = stop and not seen[ticket]",
        "local ours = not seen[ticket]",
    ),
    "push_counts_no_member": ("push_member", "text, 3) + n)", "text, 3))"),
    "push_wakes_nobody": ("push_noted", "if length == n then", "if false then"),
}


def rows(script: str) -> Iterator[Callable[[RawDriver], None]]:
    """The comparisons of a fast script."""
    if script == "ack_noted":
        for name, state in ACKS.values():
            yield partial(compare_ack, name=name, state=state, result="=17")
    elif script == "reserve_noted":
        for name, settled in RESERVES.values():
            yield partial(compare_reserve, name=name, settled=settled, most=2, due=False)
    else:
        for name, state in PUSHES.values():
            yield partial(compare_push, name=name, state=state, count=3, waits=False)


@pytest.mark.parametrize(("script", "old", "new"), FAULTS.values(), ids=FAULTS)
def test_planted_fault_is_found(script: str, old: str, new: str) -> None:
    texts = sources()
    assert old in texts[script]
    with Server() as server:
        raw = RawDriver(server, texts | {script: texts[script].replace(old, new)})
        try:
            for row in rows(script):
                try:
                    row(raw)
                except (AssertionError, Refused):
                    return
        finally:
            raw.close()
    pytest.fail("no comparison finds it", pytrace=False)
