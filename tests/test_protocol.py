"""docs/protocol.md and tests/golden/ against the package and a real server."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dueq
from dueq import errors

sys.path.insert(0, str(Path(__file__).parent / "python"))

from private_server import Reply, Server

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
HEADER = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
MADE_ID = "034q4HWvPr75LHPWlJby2F"


def golden(name: str) -> list[list[str]]:
    lines = (ROOT / f"tests/golden/{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def section(heading: str) -> str:
    """A section of the document, without its subsections' siblings."""
    found = re.search(rf"^(#+) {heading}$\n(.*?)(?=^\1 |^## |\Z)", DOCUMENT, flags=re.S | re.M)
    assert found, heading
    return found[2]


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


ENVELOPES = [pytest.param(Envelope(row), id=row[0]) for row in golden("envelopes")]


class Inside:
    """A queue, and its keys as they are in the server."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.queue = dueq.Queue(name, server.url)

    def key(self, part: str) -> str:
        return f"dueq:{{{self.name}}}:{part}"

    def command(self, command: str, part: str, *words: str | bytes | int) -> Reply:
        return self.server.command(command, self.key(part), *words)

    def hash(self, part: str) -> dict[bytes, bytes]:
        flat = self.command("HGETALL", part)
        assert isinstance(flat, list)
        return dict(zip(flat[::2], flat[1::2], strict=True))  # type: ignore[arg-type]

    def tickets(self) -> dict[str, Reply]:
        found = {"ready": self.command("LRANGE", "ready", 0, -1)}
        for part in ["delayed", "leased", "dead"]:
            found[part] = self.command("ZRANGE", part, 0, -1)
        return {part: tickets for part, tickets in found.items() if tickets}

    def put(self, id: str, ticket: str, envelope: bytes) -> None:
        """Pushes as somebody else who keeps to the protocol would."""
        self.command("HSET", "msg", id, envelope)
        self.command("RPUSH", "ready", ticket)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def inside(server: Server) -> Iterator[Inside]:
    server.command("FLUSHALL")
    made = Inside(server, "orders")
    with made.queue:
        yield made


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


# ---- Bytes ----


@pytest.mark.parametrize("row", ENVELOPES)
def test_push_stores_the_golden_envelope(inside: Inside, row: Envelope) -> None:
    id = inside.queue.push(
        row.body,
        id="bill-7" if row.stamp else None,
        lease=row.lease,
        max_attempts=row.attempts,
        headers=row.headers,
    )
    stored = inside.command("HGET", "msg", id)
    assert isinstance(stored, bytes)
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
    assert message.created == 1793541600
    left = (message.time or 0) - inside.queue.stats().now
    assert left == pytest.approx(row.lease or 30, abs=5)
    if row.lease is None or row.lease > 1:  # the shortest is over before it can be acknowledged
        message.ack()
        assert inside.tickets() == {}


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("damaged")])
def test_reserve_sets_the_damaged_aside(inside: Inside, row: list[str]) -> None:
    inside.put("bill-7", "0:bill-7", bytes.fromhex(row[1].replace("-", "")))
    inside.queue.push("good")
    messages = inside.queue.reserve_many(10)
    assert [message.body for message in messages] == [b"good"]
    stats = inside.queue.stats()
    assert (stats.ready, stats.leased, stats.dead, stats.damaged) == (0, 1, 1, 1)
    assert inside.hash("past")[b"bill-7"].endswith(b" damaged envelope")
    with pytest.raises(errors.CorruptError, match="bill-7"):
        inside.queue.find("bill-7")
    assert inside.queue.cancel("bill-7")
    assert inside.tickets() == {"leased": [messages[0].ticket.encode()]}


def test_reserve_any_bytes_are_a_message_or_damaged(inside: Inside) -> None:
    """The scripts and the library must agree on what an envelope is."""
    chance = random.Random(7)
    good = [Envelope(row).bytes for row in golden("envelopes")]
    count = 3000
    for index in range(count):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.choice([0, 1, 2, 4, 7, 0xD1, 0xFF])
        del data[len(data) - chance.randrange(len(data)) :]
        stamp = f".{data[4:14].decode('latin-1')}" if data[1:2] and data[1] & 1 else ""
        if re.fullmatch(r"\.[0-9A-Za-z]{10}", stamp, flags=re.A) is None:
            stamp = ""
        inside.command("HSET", "msg", f"bill-{index}", bytes(data))
        inside.command("RPUSH", "ready", f"0{stamp}:bill-{index}")
    taken = 0
    while inside.command("LLEN", "ready"):
        taken += len(inside.queue.reserve_many(1000, lease=1000))
    stats = inside.queue.stats()
    assert stats.leased == taken
    assert stats.dead == stats.damaged
    assert taken > 100
    assert stats.dead > 100


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in golden("tickets")])
def test_ack_knows_tickets(inside: Inside, row: list[str]) -> None:
    if row[1] == "no ticket":
        with pytest.raises(errors.InvalidError):
            inside.queue.ack_many([row[0]])
    else:
        assert inside.queue.ack_many([row[0]]) == [False]


@pytest.mark.parametrize("row", [pytest.param(row, id=row[2]) for row in golden("keys")])
def test_keys_are_named_as_golden(server: Server, row: list[str]) -> None:
    server.command("FLUSHALL")
    name, _, key = row
    queue = Inside(server, name)
    queue.queue.push("a", delay=3600)
    queue.queue.push("b")
    queue.queue.push("c", max_attempts=1)
    queue.command("RPUSH", "ready", "garbage")
    take(queue.queue)
    take(queue.queue).retry()
    assert queue.queue.reserve() is None
    queue.queue.push("d")
    found = server.command("KEYS", "*")
    assert isinstance(found, list)
    keys = {re.sub(rb":calls:\d+$", b":calls", name) for name in found if isinstance(name, bytes)}
    assert key.encode() in keys
    if name == "orders":
        assert keys == {row[2].encode() for row in golden("keys") if row[0] == "orders"}


# ---- What is kept beside the envelopes ----


def test_ticket_and_past_through_a_life(inside: Inside) -> None:
    inside.queue.push("x", id="bill-7")
    stored = inside.command("HGET", "msg", "bill-7")
    assert isinstance(stored, bytes)
    stamp = stored[4:14]

    def ticket(before: int) -> list[Reply]:
        return [b"%d.%s:bill-7" % (before, stamp)]

    assert inside.tickets() == {"ready": ticket(0)}
    message = take(inside.queue)
    assert inside.tickets() == {"leased": ticket(0)}
    assert inside.hash("past") == {}
    message.retry(delay=3600, error="one two")
    assert inside.tickets() == {"delayed": ticket(1)}
    assert inside.hash("past") == {b"bill-7": b"1 0 0 %s one two" % stamp}
    inside.command("ZADD", "delayed", 0, b"".join(t for t in ticket(1) if isinstance(t, bytes)))
    inside.command("HDEL", "info", "next")
    message = take(inside.queue)
    assert (message.attempt, inside.tickets()) == (2, {"leased": ticket(1)})
    message.extend(0.001)
    while inside.queue.stats().now <= (inside.queue.stats().next or 0):
        time.sleep(0.001)
    message = take(inside.queue)
    assert inside.hash("past") == {b"bill-7": b"2 0 1 %s one two" % stamp}
    assert (message.attempt, inside.tickets()) == (3, {"leased": ticket(2)})
    message.bury("no")
    assert inside.tickets() == {"dead": ticket(3)}
    assert inside.hash("past") == {b"bill-7": b"3 0 1 %s no" % stamp}
    inside.queue.cancel("bill-7")
    assert inside.tickets() == {}
    assert inside.hash("past") == {}
    assert inside.hash("msg") == {}


def test_ticket_of_a_made_id_through_a_life(inside: Inside) -> None:
    id = inside.queue.push("x").encode()
    message = take(inside.queue)
    assert inside.tickets() == {"leased": [id]}
    message.retry(error="")
    assert inside.tickets() == {"ready": [b"1:" + id]}
    assert inside.hash("past") == {id: b"1 0 0 - "}


def test_calls_remember_the_last_of_a_session(inside: Inside) -> None:
    def call() -> tuple[bytes, bytes]:
        found = inside.server.command("KEYS", inside.key("calls:*"))
        assert isinstance(found, list)
        [key] = found
        assert isinstance(key, bytes)
        assert abs(int(key.rsplit(b":", 1)[1]) - time.time() / 3600) < 2
        ttl = inside.server.command("TTL", key)
        assert isinstance(ttl, int)
        assert 7000 < ttl <= 7200
        flat = inside.server.command("HGETALL", key)
        assert isinstance(flat, list)
        [session, value] = flat
        assert isinstance(session, bytes)
        assert isinstance(value, bytes)
        assert re.fullmatch(rb"[0-9A-Za-z]{22}", session)
        return session, value

    inside.queue.push_many(["a", "b"])
    session, value = call()
    assert value == b"1 00"
    tickets = [message.ticket.encode() for message in inside.queue.reserve_many(5)]
    found, value = call()
    assert found == session
    assert re.fullmatch(rb"2 \d{13}\n" + b"\n".join(tickets), value)
    inside.queue.ack_many([tickets[0].decode(), "1:bill-7"])
    assert call() == (session, b"3 04")
    inside.queue.stats()
    inside.queue.find("bill-7")
    assert call() == (session, b"3 04")


def test_info_counts_and_notes_the_next_time(inside: Inside) -> None:
    inside.queue.push("a", id="a", delay=3600)
    info = inside.hash("info")
    stats = inside.queue.stats()
    assert int(info[b"next"]) == round((stats.next or 0) * 1000)
    inside.queue.push("b")
    take(inside.queue).ack()
    inside.queue.cancel("a")
    info = inside.hash("info")
    assert (info[b"acked"], info[b"cancelled"]) == (b"1", b"1")


# ---- The document ----


def test_document_statuses_are_the_header_s() -> None:
    table = re.findall(r"^\| (-?\d+) \| (\w+) \| (yes|) ?\| (.+) \|$", section("Failures"), re.M)
    rows = re.findall(r'X\((-?\d+), (\w+), ([01]),\s*"(.+?)"\)', HEADER)
    assert table == [(code, name, "yes" * int(again), what) for code, name, again, what in rows]


def test_document_keys_are_the_scripts() -> None:
    for path in sorted((ROOT / "core/scripts").glob("*.lua")):
        keys = re.findall(r"^-- KEYS\[\d+\] (\w+)", path.read_text(encoding="utf-8"), re.M)
        found = re.search(r"Keys: ([\w, ]+)\.", section(path.stem).replace("\n", " "))
        assert found, path.stem
        assert found[1].split(", ") == keys, path.stem


def test_document_lists_the_golden_keys() -> None:
    listed = re.findall(r"^\| `(dueq:\{orders\}:\w+)", section("Keys"), re.M)
    assert sorted(listed) == sorted(row[2] for row in golden("keys") if row[0] == "orders")


def test_document_shows_golden_vectors() -> None:
    ids = section("Ids, stamps and tickets")
    shown = re.findall(r"^\| `(\w+)` \| (\d+)(?: \(.+\))? \|$", ids, re.M)
    assert shown
    for id, milliseconds in shown:
        assert [id, milliseconds] in golden("ids")
    tickets = re.findall(r"^\| `(.+?)` \| (\d+) \| `?(\w*)`? \| `(.+?)` \|$", ids, re.M)
    assert tickets
    for ticket, before, stamp, id in tickets:
        assert [ticket, before, stamp or "-", id] in golden("tickets")
    envelopes = re.findall(r"^\| .+ \| `(d1 [0-9a-f ]+)` \|$", section("The envelope"), re.M)
    assert len(envelopes) == 4
    for envelope in envelopes:
        assert envelope.replace(" ", "") in [row[6] for row in golden("envelopes")]


def test_document_limits_are_the_header_s() -> None:
    limits = section("Limits")
    for name, shown in {
        "MAX_NAME": "1 to 255 bytes",
        "MAX_HEADERS": "65,535 bytes",
        "MAX_BATCH": "1 to 1,000",
        "MAX_MAX_ATTEMPTS": "1 to 65,535",
        "MAX_ERROR": "4,096 bytes",
    }.items():
        found = re.search(rf"DUEQ_{name} = (\d+)", HEADER)
        assert found
        assert f"{int(found[1]):,}" in shown
        assert shown in limits
    assert "4,102,444,800,000 ms" in limits
    assert "INT64_C(4102444800000)" in HEADER


# ---- The server ----


def every_verb(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("a", id="a", lease=20), dueq.Draft("b", delay=0.3)])
    assert queue.push("c", headers={"n": "v"})
    message = take(queue)
    message.extend(30)
    message.retry(delay=0.1, error="again")
    take(queue).ack()
    bodies = []
    for _ in range(2):
        waited = queue.reserve(timeout=10)
        assert waited is not None
        bodies.append(waited.body)
        waited.bury("enough")
    assert bodies == [b"a", b"b"]
    assert queue.reserve(timeout=0.2, lease=1) is None
    queue.push("d", id="d", max_attempts=1)
    take(queue).extend(0.001)
    assert queue.reserve(timeout=0.2) is None
    found = queue.find("d")
    assert found is not None
    assert found.state == "dead"
    assert queue.cancel_many(["a", "d", "none"]) == [True, True, False]
    assert queue.stats().dead == 1


def acl(server: Server) -> str:
    """Makes the user of the document; returns the URL that logs in as such."""
    found = re.search(r"```\n(ACL SETUSER .*?)```", section("What the server must permit"), re.S)
    assert found
    server.command(*found[1].split())
    return server.url.replace("unix://", "unix://shop:secret@")


def test_every_verb_with_what_the_document_permits() -> None:
    with Server() as server:
        with dueq.Queue("orders", acl(server) + "?db=1") as queue:
            every_verb(queue)
        assert server.command("ACL", "LOG") == []
        with (
            dueq.Queue("other", acl(server)) as other,
            pytest.raises((errors.DeniedError, errors.ServerError)),
        ):
            other.push("x")


def test_every_verb_without_client_commands() -> None:
    with Server() as server:
        url = acl(server)
        server.command("ACL", "SETUSER", "shop", "-client")
        with dueq.Queue("orders", url) as queue:
            every_verb(queue)


def permitted() -> list[str]:
    found = re.search(r"```\n(ACL SETUSER .*?)```", section("What the server must permit"), re.S)
    assert found
    words = re.findall(r"\+(\S+)", found[1])
    return [word for word in words if not word.startswith(("client|", "select"))]


def test_document_permits_no_more_than_is_used() -> None:
    scripts = "".join(path.read_text() for path in (ROOT / "core/scripts").rglob("*.lua"))
    used = {command.lower() for command in re.findall(r"call\('(\w+)'", scripts)}
    assert set(permitted()) == used | {"evalsha", "script|load", "bzpopmin"}


def test_full_server_refuses_push_only() -> None:
    with Server() as server:
        inside = Inside(server, "orders")
        inside.queue.push_many([dueq.Draft(str(n), id=str(n)) for n in range(6)])
        inside.queue.push("later", delay=0.001)
        server.command("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(errors.FullError):
            inside.queue.push("x")
        with pytest.raises(errors.FullError):
            inside.queue.push("x", id="x")
        messages = inside.queue.reserve_many(5)
        assert len(messages) == 5
        messages[0].ack()
        messages[1].retry()
        messages[2].retry(delay=30)
        messages[3].extend(30)
        messages[4].bury()
        assert inside.queue.cancel("3")
        assert inside.queue.find("4") is not None
        assert inside.queue.ack_many(inside.queue.reserve_many(5)) == [True] * 3
        assert inside.queue.reserve(timeout=0.1) is None
        assert inside.queue.stats().dead == 1
        inside.queue.close()
