"""Damaged entries, one kind at a time: each is set aside and told of, and what is sound goes on."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest
from inside import MADE_ID, Inside, end_lease, take

import dueq
from dueq import errors

GARBAGE = [b"garbage", b"", b"1:", b"0.hl:x", b"\xff\x00\n", b"x" * 3000]
# What is no number of ours, or one out of all range.
NUMBERS = ["inf", "-inf", "nan", "1e400", "9" * 30, "-5", "0.5", "x", ""]


def bodies(queue: dueq.Queue, timeout: float = 0) -> list[bytes]:
    """All that is to be had, in order, acknowledged."""
    found = []
    while messages := queue.reserve_many(10, timeout):
        found += [message.body for message in messages]
        assert queue.ack_many(messages) == [True] * len(messages)
    return found


def set_aside(inside: Inside) -> list[bytes]:
    """What went to `quarantine`, when that is what the queue counts as damaged."""
    bad = inside.read("LRANGE", "quarantine", 0, -1)
    assert inside.queue.stats().quarantined == len(bad)
    return bad


# ---- What is no ticket ----


@pytest.mark.parametrize("lane", ["high", "ready", "low"])
def test_garbage_in_a_lane(inside: Inside, lane: str) -> None:
    priority = {"high": 1, "ready": 0, "low": -1}[lane]
    inside.queue.push("a", priority=priority)
    for text in GARBAGE:
        inside.command("RPUSH", lane, text)
    inside.queue.push("b", priority=priority)
    assert bodies(inside.queue) == [b"a", b"b"]
    assert set_aside(inside) == GARBAGE


@pytest.mark.parametrize("part", ["delayed", "leased"])
@pytest.mark.parametrize("time", ["-inf", "0", "0.5"])
def test_garbage_in_a_set(inside: Inside, part: str, time: str) -> None:
    inside.queue.push("a", delay=3600)
    for text in GARBAGE:
        inside.command("ZADD", part, time, text)
    inside.pass_due()
    assert bodies(inside.queue) == [b"a"]
    assert sorted(set_aside(inside)) == sorted(GARBAGE)
    assert inside.queue.stats().next_event is None


def test_garbage_among_the_dead(inside: Inside) -> None:
    inside.queue.push("a")
    take(inside.queue).bury("no")
    for text in GARBAGE:
        inside.command("ZADD", "dead", "-inf", text)
    assert [message.body for message in inside.queue.peek("dead", page=1)] == [b"a"]
    assert inside.queue.kick_all() == 1
    assert bodies(inside.queue) == [b"a"]
    assert inside.queue.purge("dead") == 0
    assert inside.queue.stats().dead == 0


# ---- What no producer may send ----

# An id with a NUL splits an environment, one with a newline forges a line, ESC commands a terminal.
IDS = [
    b"a\0LD_PRELOAD=/tmp/x.so\0Z=1",
    b"a\nb",
    b"\x1b]0;x\x07",
    b"\x7f",
    b"\xff",
    b"\xc0\xaf",
    b"x" * 256,
]
IDS += [b"\xed\xa0\x80", b"x\xe2\x82", b"\0" * 22, b"a" * 21 + b"\n"]
ENVELOPE = bytes.fromhex("d1000005") + b"x"


def tickets_of(id: bytes) -> list[bytes]:
    """Tickets that a message of this id could have; 22 bytes may be one by themselves."""
    return [b"0:" + id, b"3.h:" + id, b"1.2AaIBtOKzz:" + id] + [id] * (len(id) == 22)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("part", ["ready", "high", "delayed", "leased"])
def test_id_that_is_none(inside: Inside, part: str, id: bytes) -> None:
    """Its entry is quarantined, once, and nobody gets to see the id as one."""
    inside.queue.push("a", delay=3600)
    inside.command("HSET", "msg", id, ENVELOPE)
    tickets = tickets_of(id)
    for ticket in tickets:
        if part in ["ready", "high"]:
            inside.command("RPUSH", part, ticket)
        else:
            inside.command("ZADD", part, 1, ticket)
    if part == "high":
        inside.command("HSET", "meta", "has_priorities", 1)
    for state in dueq.State:
        for message in inside.queue.peek(state):
            assert message.body == b"a"
    inside.pass_due()
    assert bodies(inside.queue) == [b"a"]
    assert sorted(set_aside(inside)) == sorted(tickets)


@pytest.mark.parametrize("id", [id for id in IDS if len(id) == 22])
def test_id_that_is_none_in_the_usual_call(inside: Inside, id: bytes) -> None:
    """The fast script takes any 22 bytes for an id; who gets the message looks closer."""
    with dueq.Queue("orders", inside.server.url) as another:
        another.push("holds the time")
        held = take(another)
        inside.command("HSET", "msg", id, ENVELOPE)
        another.push_many(["a", "b"])
        inside.command("LPUSH", "ready", id)
        assert bodies(another) == [b"a", b"b"]
        # Where it was leased it is quarantined when its lease is over.
        inside.command("ZADD", "leased", "XX", 1, id)
        inside.command("HSET", "meta", "next_event", 1)
        assert bodies(another) == []
        assert set_aside(inside) == [id]
        held.ack()


def headers(name: bytes, value: bytes) -> bytes:
    field = bytes([len(name)]) + name + len(value).to_bytes(2, "big") + value
    return bytes.fromhex("d1040005") + len(field).to_bytes(2, "big") + field + b"x"


@pytest.mark.parametrize(
    "envelope",
    [
        *(
            headers(name, b"v")
            for name in [b"", b"a\0b", b"a\nb", b"\x1b[2J", b"\x7f", b"\xff", b"\xc3"]
        ),
        *(headers(b"a", value) for value in [b"\xff", b"\xe2\x82", b"\xed\xa0\x80"]),
    ],
)
def test_header_that_is_none(inside: Inside, envelope: bytes) -> None:
    inside.put(MADE_ID, MADE_ID, envelope)
    inside.queue.push("a")
    assert bodies(inside.queue) == [b"a"]
    stats = inside.queue.stats()
    assert (stats.quarantined, stats.dead) == (1, 1)
    with pytest.raises(errors.CorruptError):
        inside.queue.find(MADE_ID)


@pytest.mark.parametrize("value", [b"", b"a\0b", b"a\nb", "Gr\u00f6\u00dfe \U0001f9c0".encode()])
def test_header_whose_value_is_any_text(inside: Inside, value: bytes) -> None:
    inside.put(MADE_ID, MADE_ID, headers(b"a", value))
    assert take(inside.queue).headers == {"a": value.decode()}


# ---- Times and numbers ----


@pytest.mark.parametrize("text", ["inf", "-inf", "1e300", "-5", "0.5"])
@pytest.mark.parametrize("part", ["delayed", "leased"])
def test_time_of_an_entry(inside: Inside, part: str, text: str) -> None:
    inside.queue.push("a", delay=3600 * (part == "delayed"))
    held = inside.queue.reserve_many(1)
    [member] = inside.scores(part)
    inside.command("ZADD", part, text, member)
    inside.command("HSET", "meta", "next_event", 1)
    inside.queue.push("b")
    assert b"b" in bodies(inside.queue, timeout=0.05)
    inside.queue.stats()
    assert len(held) == (part == "leased")
    assert list(inside.queue.peek("dead")) == []


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_of_meta(inside: Inside, text: str) -> None:
    queue = inside.queue
    queue.push_many([dueq.Draft("high", priority=1), "a", dueq.Draft("later", delay=0.01)])
    take(queue).retry(delay=0)
    fields = {field.decode() for field in inside.hash("meta")}
    for field in fields | {
        "ready_offset",
        "acked",
        "cancelled",
        "timekeepers",
        "quarantined",
        "expired",
        "outbox_event",
        "wire",
    }:
        inside.command("HSET", "meta", field, text)
    with dueq.Queue("orders", inside.server.url) as another:
        another.push("b")
        another.push("c", priority=-1)
        assert another.rates()
        assert another.stats().ready >= 4
        found = bodies(another, timeout=0.5)
        assert sorted(found) == [b"a", b"b", b"c", b"high", b"later"]
        another.rates()
        another.stats()


def test_next_event_with_a_fraction(inside: Inside) -> None:
    """A wait that would end within the millisecond is none that is over already."""
    note = """
        local time = redis.call('TIME')
        local ms = time[1] * 1000 + math.floor(time[2] / 1000)
        redis.call('HSET', KEYS[1], 'next_event', string.format('%d.5', ms))
    """
    inside.queue.push("later", delay=3600)
    for _ in range(200):
        inside.server.command("EVAL", note, 1, inside.key("meta"))
        assert inside.queue.reserve(timeout=0.001) is None


@pytest.mark.parametrize("text", ["%d.5", "%d0000000", "9e300", "nan", "-1", "x"])
def test_outbox_event_that_is_none(inside: Inside, text: str) -> None:
    """A waiting consumer takes no notice of it, and gets what falls due."""
    note = """
        local time = redis.call('TIME')
        local ms = time[1] * 1000 + math.floor(time[2] / 1000)
        redis.call('HSET', KEYS[1], 'next_event', '0', 'outbox_event', string.format(ARGV[1], ms))
    """
    inside.queue.push("later", delay=3600)
    for _ in range(200):
        inside.server.command("EVAL", note, 1, inside.key("meta"), text)
        assert inside.queue.reserve(timeout=0.001) is None
    inside.queue.push("soon", delay=0.05)
    assert inside.queue.reserve(timeout=20)


@pytest.mark.parametrize(
    "text",
    ["9999999999999:x " * 5000, "9" * 400 + ":x", "1:a 2:b 3:c", ":", "4102444800000:x " * 3],
)
def test_timekeepers_that_are_none(inside: Inside, text: str) -> None:
    """Nobody waits in vain for who claims to look."""
    for next in ["nan", "1", "4102444800000"]:
        inside.command("HSET", "meta", "timekeepers", text, "next_event", next)
        inside.queue.push("a", delay=0.05)
        message = inside.queue.reserve(timeout=20)
        assert message
        message.ack()


@pytest.mark.parametrize(
    "text", ["", "x", *(number + " 0" * 8 for number in ["9" * 30, "9" * 13, "-5", "0.5", ""])]
)
def test_texts_of_rates(inside: Inside, text: str) -> None:
    inside.queue.push("a")
    inside.command("LPUSH", "rates", text)
    inside.command("HSET", "meta", "minute", "x")
    with dueq.Queue("orders", inside.server.url) as another:
        another.push("b")
        assert another.stats().ready == 2
        assert sum(rate.pushed for rate in another.rates()) == 2


@pytest.mark.parametrize("text", ["", "x", "1 0", "0 9 9 - e", "0 999999999 0 - e", "9 8 0 - e"])
def test_attempts_that_is_none(inside: Inside, text: str) -> None:
    """It is as none: every delivery before counts as a failure, so that there is an end."""
    inside.queue.push("a", max_attempts=3)
    take(inside.queue).retry(delay=0, error="first")
    [id] = inside.hash("attempts")
    inside.command("HSET", "attempts", id, text)
    message = take(inside.queue)
    assert (message.attempt, message.deliveries) == (2, 2)
    assert message.retry(delay=0, error="second")
    assert not take(inside.queue).retry(error="third")
    assert inside.queue.stats().dead == 1


@pytest.mark.parametrize("text", ["", "x", "9 9", "1 999999999 0 - e", "0 9 9 - e", "9 0 0 - e"])
def test_attempts_that_is_none_of_a_crash(inside: Inside, text: str) -> None:
    inside.queue.push("a", max_crashes=3, max_attempts=3, backoff=0)
    end_lease(inside.queue, take(inside.queue))
    end_lease(inside.queue, take(inside.queue))
    [id] = inside.hash("attempts")
    inside.command("HSET", "attempts", id, text)
    delivered = 0
    while message := inside.queue.reserve():
        delivered += 1
        assert delivered <= 3
        end_lease(inside.queue, message)
    assert inside.queue.stats().dead == 1


@pytest.mark.parametrize("lane", ["ready", "high"])
def test_ticket_of_another_incarnation(inside: Inside, lane: str) -> None:
    """It is not the ticket of the message that has its id now."""
    # Until the fast script runs again.
    for _ in range(5):
        inside.queue.push("first")
        take(inside.queue).ack()
    inside.queue.push("a", id="a", priority=lane == "high")
    [own] = inside.tickets()[lane]
    inside.command("LPUSH", lane, own.replace(own[2:12], b"0123456789"))
    message = take(inside.queue)
    assert message.ticket == own.decode()
    assert inside.queue.reserve() is None
    message.ack()


@pytest.mark.parametrize("part", ["ready", "leased"])
def test_ticket_that_can_count_no_further(inside: Inside, part: str) -> None:
    """It is its end, which is told, and not one that no ticket can say."""
    inside.command("HSET", "msg", "a", bytes.fromhex("d1000000") + b"x")
    inside.command("RPUSH", "ready", "999999998:a")
    message = take(inside.queue)
    if part == "leased":
        end_lease(inside.queue, message)
    else:
        assert message.retry(delay=0)
    for _ in range(2):
        assert inside.queue.reserve() is None
        assert inside.tickets() == {"dead": [b"999999999:a"]}
        assert [message.id for message in inside.queue.peek("dead")] == ["a"]
        assert inside.queue.kick_all() == 1
    assert inside.queue.stats().quarantined == 0


# ---- What is gone ----


def test_meta_is_gone(inside: Inside) -> None:
    queue = inside.queue
    drafts = [dueq.Draft(name, priority=level) for name, level in [("high", 1), ("low", -1)]]
    queue.push_many([*drafts, "a", dueq.Draft("later", delay=0.01)])
    inside.command("DEL", "meta")
    assert sorted(bodies(queue, timeout=0.5)) == [b"a", b"high", b"later", b"low"]


# ---- Keys of another type ----


FOREIGN = ["msg", "attempts", "ready", "high", "low", "meta", "delayed", "received", "unique"]


@pytest.mark.parametrize("part", FOREIGN)
@pytest.mark.parametrize("how", ["retry", "bury", "crash", "ack"])
def test_other_queue_of_another_type(inside: Inside, mails: Inside, part: str, how: str) -> None:
    """What is for it stays in the outbox, and the queue goes on; it goes once that is mended."""
    queue = inside.queue
    draft = dueq.Draft("a", id="a", max_attempts=1, max_crashes=1, dead_letter="mails")
    queue.push_many([draft, "b"])
    mails.command("SET", part, "foreign")
    message = take(queue)
    if how == "retry":
        assert not message.retry(error="no")
    elif how == "bury":
        message.bury("no")
    elif how == "ack":
        message.ack(push=[dueq.Draft("a", id="a", delay=0.001)], to="mails")
    else:
        end_lease(queue, message)
    assert bodies(queue) == [b"b"]
    queue.push("c")
    assert bodies(queue) == [b"c"]
    stats = queue.stats()
    if stats.outbox:
        assert stats.outbox_error.startswith("mails: ")
        assert "WRONGTYPE" in stats.outbox_error
        [shown] = queue.peek("outbox")
        assert (shown.body, shown.error) == (b"a", "outbox: " + stats.outbox_error)
    mails.command("DEL", part)
    mend(queue)
    delivered = bodies(mails.queue, timeout=0.3)
    assert delivered == [b"a"]
    assert (queue.stats().outbox, inside.tickets(), inside.hash("msg")) == (0, {}, {})
    assert inside.command("EXISTS", "handover") == 0
    assert mails.command("EXISTS", "received") == 0


@pytest.mark.parametrize("part", FOREIGN)
def test_other_queue_takes_all_entries_or_none(inside: Inside, mails: Inside, part: str) -> None:
    """None comes twice because another one that came along could not be stored."""
    queue = inside.queue
    queue.push("x")
    mails.command("SET", part, "foreign")
    drafts = [dueq.Draft("a"), dueq.Draft("b", id="b"), dueq.Draft("c", id="c", unique=60)]
    take(queue).ack(push=drafts, to="mails")
    assert bodies(queue) == []
    delivered: list[bytes] = []
    with contextlib.suppress(dueq.Error):
        delivered = bodies(mails.queue)
    mails.command("DEL", part)
    mend(queue)
    assert delivered + bodies(mails.queue, timeout=0.3) == [b"a", b"b", b"c"]


def mend(queue: dueq.Queue) -> None:
    """Whoever waits brings over what is in the outbox."""
    deadline = time.monotonic() + 20
    while queue.stats().outbox and time.monotonic() < deadline:
        assert queue.reserve(timeout=0.2) is None


# Entries of an outbox that are none: what stands in `msg`, behind 0xD2 what must be MessagePack.
SOUND = [b"mails", MADE_ID.encode(), ENVELOPE, b"0", b""]


def packed(*words: bytes) -> bytes:
    """An array of texts, as MessagePack."""
    return bytes([0x90 + len(words)]) + b"".join(bytes([0xD9, len(w)]) + w for w in words)


ENTRIES = {
    "nothing": b"",
    "nil": b"\xc0",
    "a number": b"\x05",
    "a map": b"\x80",
    "an empty array": b"\x90",
    "not UTF-8": b"\xff" * 30,
    "cut": packed(*SOUND)[:-9],
    "one too few": packed(*SOUND[:4]),
    "numbers": bytes([0x95, 1, 2, 3, 4, 5]),
    "nested": b"\x91" * 100_000,
    "nested maps": b"\x81\x01" * 100_000,
    "a huge array": b"\xdd\xff\xff\xff\xff",
    "a huge map": b"\xdf\xff\xff\xff\xff",
    "a huge text": b"\xdb\xff\xff\xff\xffx",
    "many": b"\xdd\x00\x0f\xff\xff" + b"\xc0" * 0xFFFFF,
    "no name": packed(b"", *SOUND[1:]),
    "a name with braces": packed(b"a}b", *SOUND[1:]),
    "a name of bytes": packed(b"\xff", *SOUND[1:]),
    "no id": packed(b"mails", b"", *SOUND[2:]),
    "an id with a line": packed(b"mails", b"a\nb", *SOUND[2:]),
    "no envelope": packed(*SOUND[:2], b"", *SOUND[3:]),
    "an entry in an entry": packed(*SOUND[:2], b"\xd2" + packed(*SOUND), *SOUND[3:]),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_entry_of_the_outbox_that_is_none(inside: Inside, mails: Inside, entry: str) -> None:
    """It is dead, which is told; what is sound goes over, and neither queue stops."""
    queue, id = inside.queue, MADE_ID
    queue.push_many([dueq.Draft("out", dead_letter="mails"), "good"])
    inside.command("HSET", "msg", id, b"\xd2" + ENTRIES[entry])
    for member in [id, "garbage", "0:nobody"]:
        inside.command("ZADD", "outbox", 1, member)
    inside.command("HSET", "meta", "outbox_event", 1, "next_event", 1)
    take(queue).bury()
    begun = time.monotonic()
    assert bodies(queue) == [b"good"]
    mend(queue)
    assert bodies(mails.queue, timeout=0.2) == [b"out"]
    assert time.monotonic() - begun < 15
    assert inside.tickets() == {"dead": [id.encode()]}
    assert list(queue.peek("outbox")) == []
    assert queue.stats().dead == 1
    with pytest.raises(errors.CorruptError):
        queue.find(id)
    assert queue.purge("dead") == 1
    assert inside.hash("msg") == {}


@pytest.mark.parametrize(
    ("due", "extra"),
    [(b"@nan", b""), (b"@1e400", b""), (b"+" + b"9" * 30, b""), (b"x", b"x"), (b"", b"-1 -1 9"),
     (b"@-5", b"9" * 30 + b" 0 0"), (b"0", b"0 " + b"9" * 30 + b" 0"), (b"0", b"0 0 9")],
)  # fmt: skip
def test_entry_of_the_outbox_with_any_words(
    inside: Inside, mails: Inside, due: bytes, extra: bytes
) -> None:
    """It goes over whatever its times are, and leaves nothing behind."""
    inside.command("HSET", "msg", MADE_ID, b"\xd2" + packed(*SOUND[:3], due, extra))
    inside.command("ZADD", "outbox", 1, MADE_ID)
    inside.command("HSET", "meta", "outbox_event", 1, "next_event", 1)
    mend(inside.queue)
    assert inside.hash("msg") == {}
    assert len(mails.hash("msg")) == 1
    mails.queue.push("good")
    assert b"good" in bodies(mails.queue, timeout=0.2)


@pytest.mark.parametrize("text", ["", "x", "nan ", "9999 mails: no", "-5 x", "1e400 x"])
def test_text_of_handover(inside: Inside, mails: Inside, text: str) -> None:
    queue = inside.queue
    queue.push("a", dead_letter="mails")
    mails.command("SET", "ready", "foreign")
    take(queue).bury()
    [id] = inside.hash("handover")
    inside.command("HSET", "handover", id, text)
    for member in inside.scores("outbox"):
        inside.command("ZADD", "outbox", 1, member)
    inside.command("HSET", "meta", "outbox_event", 1, "next_event", 1)
    assert queue.reserve() is None
    [due] = inside.scores("outbox").values()
    assert inside.now_ms() < due <= inside.now_ms() + 300_000
    assert [message.body for message in queue.peek("outbox")] == [b"a"]


KEYS = [
    *["msg", "ready", "high", "low", "delayed", "leased", "dead", "wake", "meta", "attempts"],
    *["unique", "rates", "quarantine", "lock:held", "lock_wake:held"],
    *["outbox", "handover", "received", "failures"],
]
VERBS: dict[str, Callable[[dueq.Queue, dueq.Message, dueq.Lock], object]] = {
    "push": lambda queue, _, __: queue.push("x"),
    "push with an id": lambda queue, _, __: queue.push("x", id="x", priority=1, unique=1),
    "push later": lambda queue, _, __: queue.push("x", delay=60),
    "replace": lambda queue, _, __: queue.push("x", id="later", replace=True),
    "replace the body": lambda queue, _, __: queue.push("x", id="later", replace="body"),
    "reserve": lambda queue, _, __: queue.reserve_many(10),
    "wait": lambda queue, _, __: queue.reserve_many(10, timeout=0.01),
    "ack": lambda _, message, __: message.ack(),
    "ack and push": lambda _, message, __: message.ack(push=["x", dueq.Draft("y", id="y")]),
    "ack and push elsewhere": lambda _, message, __: message.ack(push=["x"], to="mails"),
    "retry": lambda _, message, __: message.retry(delay=0),
    "retry later": lambda _, message, __: message.retry(delay=60),
    "release": lambda _, message, __: message.release(),
    "extend": lambda _, message, __: message.extend(60),
    "checkpoint": lambda _, message, __: message.checkpoint("5"),
    "bury": lambda _, message, __: message.bury("no"),
    "kick": lambda queue, _, __: queue.kick("dead"),
    "kick_all": lambda queue, _, __: queue.kick_all(),
    "cancel": lambda queue, _, __: queue.cancel("later"),
    "reschedule": lambda queue, _, __: queue.reschedule("later", delay=60),
    "find": lambda queue, _, __: queue.find("later"),
    "peek": lambda queue, _, __: [list(queue.peek(state)) for state in dueq.State],
    "stats": lambda queue, _, __: queue.stats(),
    "rates": lambda queue, _, __: queue.rates(),
    "failures": lambda queue, _, __: queue.failures(),
    "groups": lambda queue, _, __: queue.groups(),
    "purge a group": lambda queue, _, __: queue.purge_group("a"),
    "pause": lambda queue, _, __: queue.pause(),
    "purge": lambda queue, _, __: queue.purge("ready"),
    "purge delayed": lambda queue, _, __: queue.purge("delayed"),
    "purge outbox": lambda queue, _, __: queue.purge("outbox"),
    "remove": lambda queue, _, __: queue.remove(),
    "lock": lambda queue, _, __: queue.lock("held", ttl=60),
    "relock": lambda _, __, lock: lock.extend(60),
    "unlock": lambda _, __, lock: lock.release(),
}


def whereabouts(inside: Inside) -> dict[bytes, list[str]]:
    """The states of each message."""
    found: dict[bytes, list[str]] = {id: [] for id in inside.hash("msg")}
    for state, tickets in inside.tickets().items():
        for ticket in tickets:
            id = ticket.rpartition(b":")[2]
            if id in found:
                found[id].append(state)
    return found


@pytest.mark.parametrize("part", KEYS)
@pytest.mark.parametrize("verb", VERBS)
def test_key_of_another_type(inside: Inside, verb: str, part: str) -> None:
    """An error of a verb that needs it, which loses and doubles nothing then."""
    queue = inside.queue
    queue.push_many([dueq.Draft("dead", id="dead"), dueq.Draft("held", id="held")])
    dead, held = queue.reserve_many(2)
    dead.bury("no")
    queue.push_many([dueq.Draft("a", id="a"), dueq.Draft("b", id="b", priority=1)])
    queue.push("c", id="c", priority=-1)
    queue.push("later", id="later", delay=3600, unique=3600)
    lock = queue.lock("held", ttl=60)
    assert lock
    before = whereabouts(inside)
    there = inside.command("EXISTS", part) == 1
    if there:
        inside.command("RENAME", part, inside.key("aside"))
    inside.command("SADD", part, "foreign")
    failed = True
    for _ in range(3):
        if failed:
            try:
                VERBS[verb](queue, held, lock)
                failed = False
            except errors.WrongTypeError as error:
                assert "WRONGTYPE" in str(error)  # noqa: PT017
    assert inside.read("SMEMBERS", part) == [b"foreign"] or verb == "remove"
    inside.command("DEL", part)
    if there:
        inside.server.command("RENAME", inside.key("aside"), inside.key(part))
    after = whereabouts(inside)
    if failed:
        assert {id: states for id, states in after.items() if id in before} == before
    assert all(len(states) == 1 for states in after.values())
    held_still = after.get(b"held") == ["leased"]
    delivered = bodies(queue)
    assert len(delivered) == len(set(delivered)) or verb.startswith("push")
    if failed:
        assert {b"a", b"b", b"c"} <= set(delivered)
        assert not held_still or held.ack() is None
