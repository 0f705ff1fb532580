"""What the keys of protocol.md hold while a queue works, in a real server."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from inside import Inside, end_lease, section, take

import dueq
from moments import ms_of

MINUTE_MS = 60_000


# ---- reply ----


def last_call(inside: Inside) -> tuple[bytes, bytes]:
    """The session and what is kept of it, where there is one session."""
    found = inside.server.command("KEYS", inside.key("reply:*"))
    assert isinstance(found, list)
    [key] = found
    assert isinstance(key, bytes)
    ttl, value = inside.server.command("PTTL", key), inside.server.command("GET", key)
    assert isinstance(ttl, int)
    assert 15_000 < ttl <= 75_000  # the call's deadline, and 5 s, and what may be left of a minute
    assert isinstance(value, bytes)
    session = key.rsplit(b":", 1)[1]
    assert re.fullmatch(rb"[0-9A-Za-z]{22}", session)
    return session, value


def test_reply_of_a_session_is_that_of_its_last_call(inside: Inside) -> None:
    inside.queue.push_many(["a", "b"])
    session, value = last_call(inside)
    assert value == b"1 00"
    messages = inside.queue.reserve_many(5)
    tickets = [message.ticket.encode() for message in messages]
    found, value = last_call(inside)
    assert found == session
    assert re.fullmatch(rb"2 \d{10}\.\d+ \n" + b"\n".join(tickets), value)
    inside.queue.ack_many([tickets[0].decode(), "1:bill-7"])
    assert last_call(inside) == (session, b"3 04")
    inside.queue.stats()
    inside.queue.find("bill-7")
    list(inside.queue.peek("leased"))
    inside.queue.rates()
    assert inside.queue.reserve() is None
    assert last_call(inside) == (session, b"3 04")
    lock = inside.queue.lock("nightly", ttl=60)
    assert lock
    assert last_call(inside) == (session, f"5 {lock.token}".encode())
    assert messages[1].ack(push=["c", "d"])
    assert last_call(inside) == (session, b"6 000")
    assert inside.queue.purge("ready") == 2
    assert last_call(inside) == (session, b"7 2")
    assert inside.queue.kick_all() == 0
    assert last_call(inside) == (session, b"8 0 ")


@pytest.mark.parametrize(("timeout", "deadline_ms"), [("1s", 1000), ("86400", 86_400_000)])
def test_reply_is_kept_for_the_deadline(inside: Inside, timeout: str, deadline_ms: int) -> None:
    """And not much longer, also where the server's memory was emptied, or it alone."""
    with dueq.Queue("orders", f"{inside.server.url}?timeout={timeout}") as queue:
        queue.push("a")
        inside.server.command("FLUSHALL")
        queue.push("b", id="b", delay=3600)
        found = inside.server.command("KEYS", inside.key("reply:*"))
        assert isinstance(found, list)
        [key] = found
        assert isinstance(key, bytes)
        inside.server.command("DEL", key)
        queue.reschedule("b", delay=60)
    found = inside.server.command("KEYS", inside.key("reply:*"))
    assert isinstance(found, list)
    [key] = found
    assert isinstance(key, bytes)
    ttl = inside.server.command("PTTL", key)
    assert isinstance(ttl, int)
    assert deadline_ms + 5000 < ttl <= deadline_ms + 65_000


def test_reply_of_a_call_that_needs_another_queue(inside: Inside, mails: Inside) -> None:
    inside.queue.push("x", max_attempts=1, dead_letter="mails")
    message = take(inside.queue)
    assert not message.retry(error="no")
    assert last_call(inside)[1] == b"3 5+"
    assert mails.server.command("KEYS", mails.key("reply:*")) == []
    assert mails.meta("pushed") == 1


# ---- What is over ----


def test_unique_ids_whose_time_is_over_go(inside: Inside) -> None:
    for batch in range(20):
        ids = [f"{batch}-{number}" for number in range(200)]
        inside.queue.push_many([dueq.Draft("x", id=id, unique=0.001) for id in ids])
    assert inside.number("ZCARD", "unique") < 1000


def scripts_run(inside: Inside) -> int:
    stats = inside.server.command("INFO", "commandstats")
    assert isinstance(stats, bytes)
    found = re.search(rb"cmdstat_evalsha:calls=(\d+)", stats)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("lane", ["ready", "high"])
def test_reserve_passes_thousands_that_were_cancelled(inside: Inside, lane: str) -> None:
    tickets = [f"0.2AaIBtOKzz{lane[0] * (lane == 'high')}:{number}" for number in range(20_000)]
    for start in range(0, len(tickets), 1000):
        inside.command("RPUSH", lane, *tickets[start : start + 1000])
    inside.command("HSET", "meta", "has_priorities", 1)
    inside.queue.push("a", priority=int(lane == "high"))
    before = scripts_run(inside)
    assert take(inside.queue).body == b"a"
    assert scripts_run(inside) - before < 30
    assert inside.number("LLEN", lane) == 0


def test_messages_of_groups_in_the_order_strict_that_ended_go(inside: Inside) -> None:
    """Also where nobody looks at their groups again."""
    queue = inside.queue
    queue.limit(order="strict")
    for number in range(300):
        queue.push("x", group=f"customer-{number}")
        queue.ack_many(queue.reserve_many(1))
    assert inside.number("ZCARD", "begun") < 30


# ---- meta ----


def test_meta_counts_and_notes_the_next_time(inside: Inside) -> None:
    inside.queue.push("a", id="a", delay=3600)
    stats = inside.queue.stats()
    assert inside.meta("next_event") == ms_of(stats.next_event)
    inside.queue.push("b")
    take(inside.queue).ack()
    inside.queue.cancel("a")
    assert (inside.meta("acked"), inside.meta("cancelled")) == (1, 1)


def test_meta_has_the_fields_of_the_document(inside: Inside) -> None:
    queue = inside.queue
    queue.push_many([dueq.Draft("high", priority=1), dueq.Draft("gone", id="gone", ttl=0.001)])
    queue.push_many([dueq.Draft("late", delay=3600, id="late"), "a", "b", "c"])
    inside.command("RPUSH", "ready", "garbage")
    gone = queue.find("gone")
    assert gone
    assert gone.expires
    while queue.stats().now <= gone.expires:
        pass
    queue.push("out", dead_letter="mails", priority=1)
    first, out, second, third = queue.reserve_many(4)
    out.bury()
    fields = set(inside.hash("meta"))
    first.ack()
    second.retry(delay=0)
    third.bury()
    assert queue.cancel("late")
    assert queue.purge("dead") == 1
    queue.limit(concurrency=1, each_group_concurrency=1)
    assert len(queue.reserve_many(9)) == 1
    assert queue.reserve() is None
    fields |= set(inside.hash("meta"))
    queue.limit(concurrency=0, each_group_concurrency=0)
    assert len(queue.reserve_many(9)) == 1
    queue.pause()
    assert queue.reserve(timeout=0.01) is None
    fields |= set(inside.hash("meta"))
    queue.resume()
    queue.push("later", delay=3600)
    assert queue.reserve(timeout=0.01) is None
    queue.push(bytes(1 << 20), backoff=0)
    for _ in range(3):
        end_lease(queue, take(queue))
    queue.push("of a group", group="acme")
    take(queue).release()
    with dueq.Queue("bills", inside.server.url) as home, home.batch() as batch:
        batch.push("member", priority=1, queue=queue.name)
    take(queue).bury()
    fields |= set(inside.hash("meta"))
    table = section("Attempts, meta, rates, reply").split("**rates**")[0]
    cells = re.findall(r"^\| (`.+?`) \| .+ \|$", table, re.M)
    # No queue of this version has a wire version above 1.
    written = {word.decode() for word in fields} | {"wire"}
    assert written == set(re.findall(r"`(\w+)`", " ".join(cells)))
    names = ["acked", "retried", "cancelled", "purged", "expired", "quarantined"]
    assert {inside.meta(name) for name in names} == {1}
    assert [inside.meta(name) for name in ["pushed", "reserved", "died"]] == [11, 11, 3]


def test_meta_says_that_it_is_paused(inside: Inside) -> None:
    inside.queue.push("x", delay=3600)
    inside.queue.pause()
    assert (inside.meta("paused"), inside.hash("meta")[b"next_event"]) == (1, b"0")
    assert inside.queue.reserve() is None
    assert (inside.meta("paused"), inside.hash("meta")[b"next_event"]) == (1, b"0")
    inside.queue.resume()
    assert b"paused" not in inside.hash("meta")
    [due] = inside.scores("delayed").values()
    assert inside.scores("wake") == {b"w": 0, b"t": due}
    assert inside.queue.reserve() is None
    assert inside.meta("next_event") == next(iter(inside.scores("delayed").values()))


@pytest.mark.parametrize("priority", [1, -1])
def test_meta_lists_while_there_are_other_lines(inside: Inside, priority: int) -> None:
    queue = inside.queue
    queue.push_many(["a", dueq.Draft("b", priority=priority, delay=3600)])
    assert inside.meta("has_priorities") == 0
    inside.pass_due()
    assert len(queue.reserve_many(2)) == 2
    assert inside.meta("has_priorities") == 1
    assert queue.reserve() is None
    assert inside.meta("has_priorities") == 0
    queue.push("c", priority=priority)
    assert inside.meta("has_priorities") == 1
    message = take(queue)
    assert queue.reserve() is None
    assert inside.meta("has_priorities") == 0
    message.release()
    assert inside.meta("has_priorities") == 1
    assert take(queue).body == b"c"


def came(inside: Inside) -> int:
    """How many tickets ever came to `ready`, as meta counts them."""
    return inside.meta("reserved") + inside.meta("ready_offset") + inside.number("LLEN", "ready")


def test_meta_skew_counts_what_came_to_ready(inside: Inside) -> None:
    queue = inside.queue
    high = dueq.Draft("high", priority=1)
    queue.push_many(["a", "b", high, dueq.Draft("gone", id="gone"), dueq.Draft("c", delay=3600)])
    assert came(inside) == 3
    assert [take(queue).body for _ in range(2)] == [b"high", b"a"]
    assert came(inside) == 3
    queue.cancel("gone")
    inside.command("RPUSH", "ready", "garbage")
    message = take(queue)
    assert queue.reserve() is None
    assert came(inside) == 4
    message.release()
    assert came(inside) == 4
    message = take(queue)
    message.retry(delay=0)
    assert came(inside) == 5
    assert queue.purge("ready") == 1
    assert came(inside) == 5
    inside.pass_due()
    end_lease(queue, take(queue))
    assert came(inside) == 6
    message = take(queue)
    assert came(inside) == 6
    message.bury()
    assert queue.kick(message.id)
    assert came(inside) == 7
    queue.push("low", priority=-1)
    assert take(queue).id == message.id
    assert take(queue).body == b"low"
    assert (queue.reserve(), came(inside)) == (None, 7)


# ---- rates ----


def test_rates_note_the_totals_before_the_first_call_of_a_minute(inside: Inside) -> None:
    def noted() -> list[list[int]]:
        texts = inside.read("LRANGE", "rates", 0, -1)
        assert all(re.fullmatch(rb"\d+( \d+){8}", text) for text in texts)
        return [[int(word) for word in text.split()] for text in texts]

    while inside.now_ms() % MINUTE_MS > MINUTE_MS - 2000:
        pass  # A new minute in the midst of it would be noted too.
    before = inside.now_ms()
    inside.queue.push_many(["a", "b", "c", dueq.Draft("d", priority=1, id="d")])
    [[begun, *totals]] = noted()
    assert before <= begun <= inside.now_ms()
    assert totals == [0] * 8
    assert inside.meta("minute") == begun // MINUTE_MS
    inside.queue.cancel("d")
    inside.queue.reserve_many(2)[0].ack()
    # The minute that is noted is long ago; whoever is new says that this call is its first in one.
    inside.command("HSET", "meta", "minute", 5)
    with dueq.Queue("orders", inside.server.url) as another:
        take(another).retry(delay=3600)
    assert [row[1:] for row in noted()] == [[3, 4, 2, 1, 0, 0, 0, 1], [0] * 8]
    assert inside.meta("minute") == noted()[0][0] // MINUTE_MS
    with dueq.Queue("orders", inside.server.url) as another:
        another.push("e")
    minutes = [row[0] // MINUTE_MS for row in noted()]
    assert len(minutes) == 2 + (minutes[0] != minutes[1])


def minutes_before(now_ms: int, count: int) -> list[str]:
    """So many entries of rates, one a minute, the latest first."""
    return [f"{now_ms - 60000 * n} 2 3 4 5 6 7 8 9" for n in range(1, count + 1)]


def test_rates_keep_minutes_and_then_the_first_of_each_hour(inside: Inside) -> None:
    now = inside.now_ms()
    entries = minutes_before(now, 600)
    older = [f"{now - 3600000 * n} 2 3 4 5 6 7 8 9" for n in range(11, 450)]
    inside.command("RPUSH", "rates", *entries)
    inside.queue.push("x")
    inside.command("RPUSH", "rates", *older)
    inside.command("HSET", "meta", "minute", 0)
    again = dueq.Queue(inside.name, inside.server.url)
    again.push("y")
    kept = [entry.decode() for entry in inside.read("LRANGE", "rates", 2, -1)]
    assert kept[:358] == entries[:358]
    assert len(kept) == 358 + 336
    hours = [int(entry.split()[0]) // 3600000 for entry in kept[358:]]
    assert hours == list(range(hours[0], hours[0] - 336, -1))
    firsts = {int(entry.split()[0]) // 3600000: entry for entry in [*entries[358:], *older]}
    assert kept[358:] == [firsts[hour] for hour in hours]
    assert len(inside.queue.rates(hours=336)) == 336
    again.close()


def test_rates_are_bounded_where_they_may_not_be_read(inside: Inside) -> None:
    inside.command("RPUSH", "rates", *minutes_before(inside.now_ms(), 1100))
    inside.server.command("ACL", "SETUSER", "default", "-lrange")
    inside.queue.push("x")
    inside.server.command("ACL", "SETUSER", "default", "+lrange")
    assert inside.command("LLEN", "rates") == 1056


# ---- unique ----


def test_unique_holds_unique_ids_until_their_time(inside: Inside) -> None:
    before = inside.now_ms()
    inside.queue.push("x", id="bill-7", unique=60)
    [(id, until)] = inside.scores("unique").items()
    assert id == b"bill-7"
    assert before <= until - 60_000 <= inside.now_ms()
    take(inside.queue).ack()
    with pytest.raises(dueq.Duplicate):
        inside.queue.push("y", id="bill-7", unique=3600)
    assert inside.scores("unique") == {b"bill-7": until}
    inside.command("ZADD", "unique", inside.now_ms(), "bill-7")
    inside.queue.push("z", id="bill-7")
    assert inside.scores("unique") == {}
    assert take(inside.queue).body == b"z"


# ---- lock and lock_wake ----


def test_lock_holds_its_owner_until_its_end(inside: Inside) -> None:
    lock = inside.queue.lock("nightly", ttl=60)
    assert lock
    assert inside.command("GET", "lock:nightly") == lock.token.encode()
    assert 50_000 < inside.number("PTTL", "lock:nightly") <= 60_000
    lock.extend(600)
    assert 590_000 < inside.number("PTTL", "lock:nightly") <= 600_000
    assert inside.queue.lock("nightly", ttl=60) is None
    assert inside.command("GET", "lock:nightly") == lock.token.encode()
    assert inside.scores("lock_wake:nightly") == {}
    lock.release()
    assert inside.command("EXISTS", "lock:nightly") == 0
    assert inside.scores("lock_wake:nightly") == {b"w": 0}
    assert 0 < inside.number("TTL", "lock_wake:nightly") <= 60
    assert inside.queue.lock("nightly", ttl=60)
    assert inside.scores("lock_wake:nightly") == {}


# ---- Nothing ----


def everything(inside: Inside) -> dict[bytes, bytes]:
    """All keys of the server, byte by byte."""
    found = inside.server.command("KEYS", "*")
    assert isinstance(found, list)
    keys = [key for key in found if isinstance(key, bytes)]
    dumps = {key: inside.server.command("DUMP", key) for key in keys}
    return {key: dump for key, dump in dumps.items() if isinstance(dump, bytes)}


LOOKS: dict[str, Callable[[dueq.Queue], object]] = {
    "stats": dueq.Queue.stats,
    "find": lambda queue: [queue.find(id) for id in ["a", "dead", "none"]],
    "peek": lambda queue: [list(queue.peek(state, page=2)) for state in dueq.State],
    "rates": dueq.Queue.rates,
    "groups": lambda queue: queue.groups(2),
    "queues": lambda queue: dueq.queues(queue.url),
}


@pytest.mark.parametrize("look", LOOKS)
def test_looking_changes_nothing(inside: Inside, look: str) -> None:
    queue = inside.queue
    LOOKS[look](queue)
    assert everything(inside) == {}
    queue.push_many([dueq.Draft(id, id=id) for id in ["dead", "leased", "back", "a", "b", "c"]])
    queue.push_many([dueq.Draft("high", priority=1, delay=0.001), dueq.Draft("low", priority=-1)])
    dead, leased, back = queue.reserve_many(3)
    dead.bury("no")
    leased.extend(0.001)
    back.retry(delay=0.001)
    queue.push_many([dueq.Draft("x", group=name) for name in ["a", "b", "a", "c"]])
    inside.command("RPUSH", "ready", "garbage")
    before = everything(inside)
    assert len(before) > 10
    LOOKS[look](queue)
    assert everything(inside) == before


def test_queue_that_is_empty_keeps_its_counters_and_what_failed(inside: Inside) -> None:
    queue = inside.queue
    drafts = [dueq.Draft("a"), dueq.Draft("b", id="b"), dueq.Draft("c", priority=1, ttl=60)]
    queue.push_many([*drafts, dueq.Draft("d", delay=3600, id="d")])
    for message in queue.reserve_many(3):
        message.retry(delay=0, error="again")
    queue.ack_many(queue.reserve_many(3))
    queue.cancel("d")
    assert queue.reserve() is None
    found = {key.decode() for key in everything(inside)}
    parts = {key[len(inside.key("")) :].split(":")[0] for key in found if "orders" in key}
    # Nobody waits, so nobody took the wake marker.
    assert parts == {"meta", "rates", "failures", "reply", "wake"}
