"""The bytes of protocol.md and tests/golden/ in a server: envelopes, tickets, attempts."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from inside import MADE_ID, Inside, end_lease, golden, take

import dueq
from dueq import errors
from moments import ms_of, seconds_between
from private_server import Server

LATEST_MS = 8204889600000
MADE = datetime(2026, 11, 1, 14, tzinfo=UTC)
STAMP_SIZE = 10
KINDS = ["none", "fixed", "linear", "exponential", "list"]
JITTERS = ["none", "full", "equal"]


class Envelope:
    """A row of envelopes.tsv."""

    def __init__(self, row: list[str]) -> None:
        self.name, stamp, lease, attempts, headers, body, envelope = row
        self.stamp = None if stamp == "-" else stamp.encode()
        self.lease = None if lease == "-" else int(lease) / 1000
        self.attempts = int(attempts) or None
        pairs = [] if headers == "-" else [header.split("=") for header in headers.split("&")]
        self.headers = dict(pairs)
        self.body = b"" if body == "-" else bytes.fromhex(body)
        self.bytes = bytes.fromhex(envelope)


class Policy:
    """A row of policies.tsv."""

    def __init__(self, row: list[str]) -> None:
        self.name, stamp, asked, body, envelope = row
        self.stamp = None if stamp == "-" else stamp.encode()
        self.body = b"" if body == "-" else bytes.fromhex(body)
        self.bytes = bytes.fromhex(envelope)
        words = dict(word.split("=", 1) for word in asked.split("&"))
        self.expires_ms = int(words.get("expires", 0))
        self.lease_ms = int(words.get("lease", 0))
        name, _, value = words.get("header", "").partition(":")
        self.headers = {name: value} if name else {}
        self.priority = int(words.get("priority", 0))
        self.max_crashes = int(words.get("max_crashes", 5)) or None
        self.drop = "drop" in words
        self.dead_letter = words.get("dead_letter")
        self.group = words.get("group")
        self.keep_ms = int(words.get("keep", 0))
        self.batch, self.counted = words.get("batch"), words.get("counted")
        self.batch_queue = words.get("batch_queue")
        self.is_noted = bool(self.keep_ms or self.batch or self.counted)
        self.backoff: dueq.Backoff | None = None
        if "list" in words:
            number, delays = words["list"].split("/")
            seconds = [int(delay) / 1000 for delay in delays.split(",")]
            self.backoff = self.with_jitter(4, int(number), delays=seconds)
        elif "backoff" in words:
            kind, jitter, base, cap = map(int, words["backoff"].split("/"))
            self.backoff = self.with_jitter(
                kind, jitter, base=base / 1000, cap=cap / 1000 if cap else None
            )

    @staticmethod
    def with_jitter(kind: int, jitter: int, **values: Any) -> dueq.Backoff:
        return dueq.Backoff(KINDS[kind], jitter=JITTERS[jitter], **values)  # type: ignore[arg-type]

    def tag(self, stamp: str) -> str:
        """What a ticket has between its number and the id."""
        return ("!" if self.is_noted else "") + stamp + self.mark()

    def push(self, queue: dueq.Queue, **options: Any) -> str:
        batch = self.batch or self.counted
        if not batch:
            return queue.push(self.body, **options)
        with (
            dueq.Queue(self.batch_queue or queue.name, queue.url) as home,
            home.batch(id=batch) as opened,
        ):
            id = opened.push(self.body, queue=queue.name, **options)
        if self.counted:
            take(queue).bury()
        return id

    def mark(self) -> str:
        if self.group:
            return "=" + re.sub("[% :]", lambda found: f"%{ord(found[0]):02X}", self.group)
        return {1: "h", 0: "", -1: "l"}[self.priority]

    def at(self, stored: bytes, expires: bytes) -> bytes:
        """The envelope with the parts that no two pushes share as they are in the golden one."""
        if self.stamp:
            stored = stored[:4] + self.stamp + stored[4 + STAMP_SIZE :]
        if self.expires_ms:
            at = 4 + (STAMP_SIZE if self.stamp else 0)
            stored = stored[:at] + expires + stored[at + 8 :]
        return stored

    def first_delay_ms(self) -> tuple[int, int]:
        """The least and the most that a retry by this policy may wait."""
        if not self.backoff:
            return 500, 1000
        first = self.backoff.delays[0] if self.backoff.delays else self.backoff.base
        assert isinstance(first, int | float)
        delay = round(first * 1000)
        least = {"none": delay, "full": 0, "equal": delay // 2}[self.backoff.jitter]
        return least, delay


ENVELOPES = [pytest.param(Envelope(row), id=row[0]) for row in golden("envelopes")]
POLICIES = [pytest.param(Policy(row), id=row[0]) for row in golden("policies")]


# ---- Envelopes ----


@pytest.mark.parametrize("row", ENVELOPES)
def test_push_stores_the_golden_envelope(inside: Inside, row: Envelope) -> None:
    id = inside.queue.push(
        row.body,
        id="bill-7" if row.stamp else None,
        lease=row.lease,
        max_attempts=row.attempts,
        headers=row.headers,
    )
    stored = inside.envelope(id)
    ticket = id.encode()
    if row.stamp:
        stamp = stored[4:14]
        stored = stored[:4] + row.stamp + stored[14:]
        ticket = b"0." + stamp + b":bill-7"
    assert stored == row.bytes
    assert inside.tickets() == {"ready": [ticket]}


@pytest.mark.parametrize("row", ENVELOPES)
def test_reserve_reads_the_golden_envelope(inside: Inside, row: Envelope) -> None:
    id = "bill-7" if row.stamp else MADE_ID
    ticket = f"0.{row.stamp.decode()}:{id}" if row.stamp else id
    inside.put(id, ticket, row.bytes)
    message = take(inside.queue)
    assert (message.id, message.ticket, message.attempt) == (id, ticket, 1)
    assert (message.body, message.headers) == (row.body, row.headers)
    assert message.max_attempts == row.attempts
    assert message.created == MADE
    left = seconds_between(inside.queue.stats().now, message.time)
    assert left == pytest.approx(row.lease or 30, abs=5)
    if row.lease is None or row.lease > 1:  # the shortest is over before it can be acknowledged
        message.ack()
        assert inside.tickets() == {}


@pytest.mark.parametrize("row", POLICIES)
def test_push_stores_the_golden_policy(inside: Inside, row: Policy) -> None:
    before = inside.now_ms()
    id = row.push(
        inside.queue,
        id="bill-7" if row.stamp else None,
        keep=row.keep_ms / 1000 or None,
        lease=row.lease_ms / 1000 or None,
        headers=row.headers,
        priority=row.priority,
        ttl=3600 if row.expires_ms else None,
        backoff=row.backoff,
        max_crashes=row.max_crashes,
        drop=row.drop,
        dead_letter=row.dead_letter,
        group=row.group,
    )
    stored = inside.envelope(id)
    assert row.at(stored, row.expires_ms.to_bytes(8, "big")) == row.bytes
    if row.expires_ms:
        at = 4 + (STAMP_SIZE if row.stamp else 0)
        ends = int.from_bytes(stored[at : at + 8], "big")
        assert before <= ends - 3600_000 <= inside.now_ms()
    tag = row.tag(stored[4:14].decode() if row.stamp else "")
    ticket = f"0.{tag}:{id}" if tag else id
    lane = {"h": "high", "l": "low"}.get(row.mark(), "lines" if row.group else "ready")
    if row.counted:
        ticket, lane = f"1.{tag}:{id}", "dead"
    assert inside.tickets() == {lane: [ticket.encode()]}


@pytest.mark.parametrize("row", POLICIES)
def test_reserve_reads_the_golden_policy(inside: Inside, row: Policy) -> None:
    id = "bill-7" if row.stamp else MADE_ID
    tag = row.tag(row.stamp.decode() if row.stamp else "")
    ticket = f"0.{tag}:{id}" if tag else id
    inside.put(id, ticket, row.bytes)
    found = inside.queue.find(id)
    assert found is not None
    assert ms_of(found.expires) == row.expires_ms
    inside.command("HSET", "msg", id, row.at(row.bytes, LATEST_MS.to_bytes(8, "big")))
    message = take(inside.queue)
    for shown in (found, message):
        assert (shown.body, shown.headers) == (row.body, row.headers)
        assert (shown.priority, shown.max_crashes) == (row.priority, row.max_crashes)
        assert (shown.drop, shown.dead_letter) == (row.drop, row.dead_letter)
        assert (shown.group, shown.keep or 0) == (row.group, row.keep_ms / 1000)
        assert (shown.batch, shown.batch_queue) == (row.batch, row.batch_queue)
    assert (message.ticket, message.attempt, message.created) == (ticket, 1, MADE)
    least, most = row.first_delay_ms()
    before = inside.now_ms()
    message.retry()
    if most == 0:
        assert list(inside.tickets().values()) == [[f"1{ticket[1:]}".encode()]] or not tag
        assert not inside.scores("delayed")
    for due in inside.scores("delayed").values():
        assert before + least <= due <= inside.now_ms() + most


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("checkpoints")])
def test_checkpoint_stores_the_golden_envelope(inside: Inside, row: list[str]) -> None:
    _, cursor, before, after = row
    envelope = bytes.fromhex(before)
    ticket = f"{ticket_of(envelope)}:bill-7"
    inside.put("bill-7", ticket, envelope)
    message = take(inside.queue)
    for _ in range(2):
        message.checkpoint(cursor.replace("-", ""))
        assert inside.envelope("bill-7") == bytes.fromhex(after)
        assert inside.tickets() == {"leased": [ticket.encode()]}
    found = inside.queue.find("bill-7")
    assert found
    assert (found.headers, found.body) == (message.headers, message.body)


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("damaged")])
def test_reserve_quarantines_the_damaged(inside: Inside, row: list[str]) -> None:
    inside.put("bill-7", "0:bill-7", bytes.fromhex(row[1].replace("-", "")))
    inside.queue.push("good")
    messages = inside.queue.reserve_many(10)
    assert [message.body for message in messages] == [b"good"]
    stats = inside.queue.stats()
    assert (stats.ready, stats.leased, stats.dead, stats.quarantined) == (0, 1, 1, 1)
    assert inside.hash("attempts")[b"bill-7"].endswith(b" damaged envelope")
    with pytest.raises(errors.CorruptError, match="bill-7"):
        inside.queue.find("bill-7")
    assert list(inside.queue.peek("dead")) == []
    assert inside.queue.cancel("bill-7")
    assert inside.tickets() == {"leased": [messages[0].ticket.encode()]}


def test_reserve_any_bytes_are_a_message_or_damaged(inside: Inside) -> None:
    """The scripts and the library must agree on what an envelope is."""
    chance = random.Random(7)
    later = LATEST_MS.to_bytes(8, "big")
    good = [Envelope(row).bytes for row in golden("envelopes")]
    good += [row.at(row.bytes, later) for row in map(Policy, golden("policies"))]
    count, telling = 6000, [0, 1, 2, 4, 7, 0xD1, 0xD3, 0xFF]
    for index in range(count):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(min(len(data), 64))] = chance.choice(telling)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        inside.command("HSET", "msg", f"bill-{index}", bytes(data))
        inside.command("RPUSH", "ready", f"{ticket_of(bytes(data))}:bill-{index}")
    taken = 0
    while inside.command("LLEN", "ready"):
        taken += len(inside.queue.reserve_many(200, lease=1000))
    stats = inside.queue.stats()
    assert stats.leased == taken
    # The tickets of those whose stamp is no stamp were dropped: they are of another message.
    assert stats.dead + stats.expired + taken + stats.ready == count
    assert stats.ready < 700  # of groups
    assert stats.dead == stats.quarantined
    assert taken > 1000
    assert stats.dead > 1000


def ticket_of(envelope: bytes) -> str:
    """The part of a first ticket before its id, as far as the envelope says."""
    flags = (envelope + bytes(2))[1]
    tag = envelope[4:14].decode("latin-1") if flags & 1 else ""
    if re.fullmatch(r"[0-9A-Za-z]{10}", tag, flags=re.A) is None:
        tag = ""
    tag += "h" if flags & 32 else "l" if flags & 64 else ""
    return f"0.{tag}" if tag else "0"


# ---- Tickets and keys ----


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("tickets")])
def test_ack_knows_tickets(inside: Inside, row: list[str]) -> None:
    if row[1] == "no ticket":
        with pytest.raises(errors.InvalidError):
            inside.queue.ack_many([row[0]])
    else:
        assert inside.queue.ack_many([row[0]]) == [False]


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("tickets")])
def test_reserve_knows_tickets(inside: Inside, row: list[str]) -> None:
    """The scripts know the same ones: others are set aside, these are of a message that is gone."""
    inside.command("RPUSH", "ready", row[0])
    assert inside.queue.reserve() is None
    assert inside.read("LRANGE", "quarantine", 0, -1) == [row[0].encode()] * (row[1] == "no ticket")
    assert inside.queue.stats().quarantined == int(row[1] == "no ticket")


@pytest.mark.parametrize("name", sorted({row[0] for row in golden("keys")}))
def test_keys_are_named_as_golden(server: Server, name: str) -> None:
    server.command("FLUSHALL")
    inside = Inside(server, name)
    queue = inside.queue
    # What is for another queue stays in the outbox where that queue's keys are foreign.
    Inside(server, "mails").command("SET", "ready", "foreign")
    queue.allow(["mails"])
    queue.limit(concurrency=1000)
    queue.push("out", dead_letter="mails")
    take(queue).bury()
    queue.push("a", delay=3600)
    queue.push("b")
    queue.push("c", max_attempts=1)
    inside.command("RPUSH", "ready", "garbage")
    take(queue)
    take(queue).retry()
    assert queue.reserve() is None
    queue.push_many(dueq.Draft("i", id=id, keep=3600) for id in ("begun", "ended"))
    assert take(queue).id == "begun"
    for id in ("begun", "ended"):
        assert queue.outcome(id, timeout=0.01) is None
    queue.cancel("ended")
    queue.limit(each_group_rate="1/h", each_group_burst=5)
    queue.hold("b", 3600)
    queue.limit(order="strict", group="d")
    queue.push("i", group="d")
    queue.push_many(dueq.Draft("h", group="a") for _ in range(50))
    assert len(queue.reserve_many(9)) == 6
    queue.push("h", group="c")
    queue.push_many([dueq.Draft("d"), dueq.Draft("e", priority=1), dueq.Draft("f", priority=-1)])
    queue.push("g", id="g", unique=3600)
    assert queue.lock("a lock: nightly", ttl=3600)
    with queue.batch("ended"):
        pass
    assert queue.open_batch("open")
    lock = queue.lock("free", ttl=3600)
    assert lock
    lock.release()
    found = server.command("KEYS", "*")
    assert isinstance(found, list)
    keys = {key.decode() for key in found if isinstance(key, bytes)}
    begin = f"dueq:{{{name}}}:"
    assert {f"{begin}lock:a lock: nightly", f"{begin}lock_wake:free"} <= keys
    found_parts = {key[len(begin) :].split(":")[0] for key in keys if key.startswith(begin)}
    golden_keys = {part: key for named, part, key in golden("keys") if named == name}
    assert all(key == begin + part for part, key in golden_keys.items())
    # What came by a relay is noted until it ends; a queue of partitions has no messages itself;
    # consumers register later.
    elsewhere = {"received", "partitions", "members", "consumers", "described", "timings"}
    # Members of batches of other queues.
    elsewhere |= {"guests"}
    # A reserve counts deliveries in one of these keys: which one depends on the minute.
    assert found_parts & {"served_even", "served_odd"}
    found_parts |= {"served_even", "served_odd"}
    assert golden_keys.keys() - elsewhere <= found_parts
    if name == "orders":
        assert golden_keys.keys() - elsewhere == found_parts


def test_keys_of_partitions(server: Server) -> None:
    server.command("FLUSHALL")
    with dueq.Queue("orders", server.url, partitions=2) as queue:
        queue.push("x", key="customer-17")
        for message in queue.consume(timeout=1):
            with message:
                held = server.command("HGETALL", "dueq:{orders}:partitions")
                members = server.command("ZRANGE", "dueq:{orders}:members", 0, -1)
            break
        assert isinstance(held, list)
        assert isinstance(members, list)
        table = dict(zip(held[::2], held[1::2], strict=True))
        [member] = members
        assert isinstance(member, bytes)
        assert re.fullmatch(rb"[0-9A-Za-z]{22}", member)
        owners = {b"0": member, b"1": member}
        assert table == {b"count": b"2", b"epoch": b"1", b"chooser": b"key", **owners}
    keys = server.command("KEYS", "dueq:{orders}:*")
    assert isinstance(keys, list)
    places = ("msg", "ready", "delayed")
    assert set(keys) == {f"dueq:{{orders}}:{key}".encode() for key in ("partitions", *places)}
    for place in places:
        assert server.command("GET", f"dueq:{{orders}}:{place}") == b"partitions 2"
    assert server.command("EXISTS", "dueq:{orders#1}:meta", "dueq:{orders#0}:msg") == 1


# ---- A life ----


def test_ticket_and_attempts_through_a_life(inside: Inside) -> None:
    queue = inside.queue
    queue.push("x", id="bill-7")
    stamp = inside.envelope("bill-7")[4:14]

    def stands(state: str, before: int, past: bytes) -> None:
        ticket = b"%d.%s:bill-7" % (before, stamp)
        assert inside.tickets() == {state: [ticket]}
        assert inside.hash("attempts") == ({b"bill-7": past % stamp} if past else {})

    def counts(message: dueq.Message | None) -> tuple[int, int, int]:
        assert message
        return message.attempt, message.crashes, message.deliveries

    stands("ready", 0, b"")
    message = take(queue)
    assert counts(message) == (1, 0, 1)
    stands("leased", 0, b"")
    message.retry(delay=3600, error="one two")
    stands("delayed", 1, b"1 0 0 %s one two")
    assert counts(queue.find("bill-7")) == (1, 0, 1)
    inside.pass_due()
    message = take(queue)
    assert counts(message) == (2, 0, 2)
    stands("leased", 1, b"1 0 0 %s one two")
    end_lease(queue, message)
    message = take(queue)
    assert counts(message) == (2, 1, 3)
    stands("leased", 2, b"2 0 1 %s one two")
    message.release()
    stands("ready", 3, b"3 1 1 %s one two")
    assert counts(queue.find("bill-7")) == (1, 1, 3)
    message = take(queue)
    assert counts(message) == (2, 1, 4)
    message.bury("no")
    stands("dead", 4, b"4 1 1 %s no")
    assert counts(queue.find("bill-7")) == (2, 1, 4)
    assert queue.kick("bill-7")
    stands("ready", 4, b"4 4 0 %s no")
    assert counts(queue.find("bill-7")) == (0, 0, 4)
    message = take(queue)
    assert (counts(message), message.error) == ((1, 0, 5), "no")
    message.retry(delay=0, error="")
    stands("ready", 5, b"5 4 0 %s ")
    queue.cancel("bill-7")
    assert inside.hash("attempts") == {}
    assert inside.hash("msg") == {}
    assert queue.reserve() is None
    assert inside.tickets() == {}


def test_ticket_of_a_made_id_through_a_life(inside: Inside) -> None:
    id = inside.queue.push("x").encode()
    message = take(inside.queue)
    assert inside.tickets() == {"leased": [id]}
    message.retry(delay=0, error="")
    assert inside.tickets() == {"ready": [b"1:" + id]}
    assert inside.hash("attempts") == {id: b"1 0 0 - "}
    take(inside.queue).release(delay=3600)
    assert inside.tickets() == {"delayed": [b"2:" + id]}
    assert inside.hash("attempts") == {id: b"2 1 0 - "}


@pytest.mark.parametrize(("priority", "mark", "lane"), [(1, b"h", "high"), (-1, b"l", "low")])
@pytest.mark.parametrize("given", [None, "bill-7"])
def test_ticket_with_a_priority_through_a_life(
    inside: Inside, priority: int, mark: bytes, lane: str, given: str | None
) -> None:
    queue = inside.queue
    id = queue.push("x", id=given, priority=priority)
    tag = (inside.envelope(id)[4:14] if given else b"") + mark
    end = tag + b":" + id.encode()
    assert inside.tickets() == {lane: [b"0." + end]}
    message = take(queue)
    assert inside.tickets() == {"leased": [b"0." + end]}
    message.retry(delay=0, error="no")
    assert inside.tickets() == {lane: [b"1." + end]}
    assert inside.hash("attempts") == {id.encode(): b"1 0 0 %s no" % tag}
    end_lease(queue, take(queue))
    assert queue.push("y")
    if priority < 0:
        assert take(queue).body == b"y"
        assert b"1." + end in inside.tickets()["leased"]
    assert take(queue).body == b"x"
    assert b"2." + end in inside.tickets()["leased"]
    assert inside.hash("attempts") == {id.encode(): b"2 0 1 %s no" % tag}


def test_attempts_in_the_dead_letter_queue(inside: Inside) -> None:
    """The count goes on, all of it is forgiven, and the error stays."""
    failed = Inside(inside.server, "failed")
    inside.queue.push("x", id="bill-7", max_attempts=2, dead_letter="failed")
    envelope = inside.envelope("bill-7")
    end_lease(inside.queue, take(inside.queue))
    assert take(inside.queue).retry(delay=0, error="first")
    assert not take(inside.queue).retry(error="second")
    assert (inside.tickets(), inside.hash("msg"), inside.hash("attempts")) == ({}, {}, {})
    assert failed.tickets() == {"ready": [b"3.%s:bill-7" % envelope[4:14]]}
    assert failed.hash("msg") == {b"bill-7": envelope}
    assert failed.hash("attempts") == {b"bill-7": b"3 3 0 %s second" % envelope[4:14]}
    message = take(failed.queue)
    assert (message.attempt, message.crashes, message.deliveries) == (1, 0, 4)
