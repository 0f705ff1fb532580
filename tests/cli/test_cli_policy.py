"""push and what its options say of a message's later life; ack --push."""

import pytest

from .program import Program


@pytest.mark.parametrize(
    ("backoff", "seconds"),
    [
        ("0", [0, 0]),
        ("1h", [3600, 3600, 3600]),
        ("1h,90m,3h", [3600, 5400, 10800, 10800]),
        ("linear:1h", [3600, 7200, 10800]),
        ("linear:1h:2h", [3600, 7200, 7200]),
        ("exponential:1h", [3600, 7200, 14400]),
        ("exponential:1h:3h", [3600, 7200, 10800]),
        ("exponential:1h:3h:none", [3600, 7200, 10800]),
    ],
)
def test_push_with_a_backoff(dueq: Program, backoff: str, seconds: list[int]) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--backoff", backoff)
    for delay in seconds:
        dueq("retry", "orders", dueq.take())
        found = dueq.find("x")
        left = found["time_ms"] - found["now_ms"]
        if delay:
            assert 1000 * delay - 60_000 < left <= 1000 * delay
            dueq("reschedule", "orders", "x")
        assert dueq.find("x")["state"] == "ready"


@pytest.mark.parametrize(
    ("backoff", "least", "most"),
    [
        ("1h:full", 0, 1),
        ("2h,3h:equal", 1, 2),
        ("exponential:4h:full", 0, 4),
        ("linear:4h:2h:equal", 1, 2),
    ],
)
def test_push_with_jitter(dueq: Program, backoff: str, least: int, most: int) -> None:
    dueq("push", "orders", "--lines", "--backoff", backoff, stdin=b"x\n" * 20)
    for _ in range(20):
        dueq("retry", "orders", dueq.take())
    peeked = dueq("peek", "orders", "delayed", "--json").objects
    hours = [(message["time_ms"] - message["now_ms"]) / 3_600_000 for message in peeked]
    assert len(set(hours)) > 10
    assert least - 0.1 < min(hours) < max(hours) <= most


@pytest.mark.parametrize(
    "backoff",
    [
        "",
        "soon",
        "1s,",
        ",".join(["1s"] * 33),
        "exponential",
        "exponential:",
        "exponential:1s:",
        "linear:1s:2s:3s",
        "linear:1s:2s:full:full",
        "1s:half",
        "1s:2s",
        "cubic:1s",
        "linear:0s",
    ],
)
def test_push_with_a_wrong_backoff(dueq: Program, backoff: str) -> None:
    ended = dueq.run("push", "orders", "hello", "--backoff", backoff)
    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith("dueq: ")


def test_push_with_a_priority(dueq: Program) -> None:
    for priority in ("low", "normal", "high"):
        dueq("push", "orders", priority, "--priority", priority)
    taken = dueq("reserve", "orders", "--count", "3", "--json").objects
    assert [message["priority"] for message in taken] == ["high", "normal", "low"]


def test_push_with_a_time_to_live(dueq: Program) -> None:
    dueq("push", "orders", "late", "--ttl", "1ms")
    dueq("push", "orders", "in time", "--ttl", "1h")
    assert dueq("reserve", "orders", "--count", "9", "--body").text == "in time"
    assert dueq.stats()["expired"] == 1


def test_push_with_a_dead_letter_queue(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--max-attempts", "1", "--dead-letter", "failed")
    ended = dueq.run("retry", "orders", dueq.take(), "--error", "why")
    assert ended.code == 1
    assert ended.err.startswith("dueq: EXHAUSTED: ")
    assert dueq.run("find", "orders", "x").code == 1
    moved = dueq.find("x", "failed")
    assert (moved["state"], moved["error"], moved["attempt"]) == ("ready", "why", 0)


def test_push_to_be_dropped(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--drop")
    dueq("bury", "orders", dueq.take())
    assert dueq.run("find", "orders", "x").code == 1
    counts = dueq.stats()
    assert (counts["dead"], counts["died"]) == (0, 1)


def test_push_with_a_limit_of_crashes(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--max-crashes", "1", "--lease", "1ms")
    dueq("reserve", "orders")
    assert dueq.run("reserve", "orders", "--wait", "500ms").code == 1
    found = dueq.find("x")
    assert (found["state"], found["crashes"], found["max_crashes"]) == ("dead", 1, 1)


def test_push_of_an_id_that_is_unique_for_a_time(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--unique", "1h")
    dueq("reserve", "orders", "--ack")
    again = dueq.run("push", "orders", "hello", "--id", "x")
    assert again.code == 1
    assert again.err.startswith("dueq: DUPLICATE: x: ")


def test_push_that_replaces(dueq: Program) -> None:
    dueq("push", "orders", "old", "--id", "x", "--delay", "1h")
    due_ms = dueq.find("x")["time_ms"]
    assert dueq("push", "orders", "new", "--id", "x", "--replace=body").text == "x\n"
    found = dueq.find("x")
    assert (found["body"], found["time_ms"]) == ("new", due_ms)
    dueq("push", "orders", "newest", "--id", "x", "--replace")
    found = dueq.find("x")
    assert (found["body"], found["state"]) == ("newest", "ready")


def test_ack_pushes_what_follows(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    words = ["--push", "one", "--push", "-", "--to", "parcels", "--header", "a=b"]
    made = dueq("ack", "orders", dueq.take(), *words, stdin=b"two\n\xff").lines
    assert dueq.stats()["acked"] == 1
    taken = dueq("reserve", "parcels", "--count", "2", "--json").objects
    assert [message["id"] for message in taken] == made
    assert (taken[0]["body"], taken[1]["body_base64"]) == ("one", "dHdvCv8=")
    assert [message["headers"] for message in taken] == [{"a": "b"}] * 2


def test_ack_pushes_to_its_own_queue(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    ticket = dueq.take()
    ended = dueq("ack", "orders", ticket, "--push", "next", "--id", "x", "--delay", "1h", "--json")
    assert ended.objects == [{"ticket": ticket, "status": "OK"}, {"id": "x", "status": "OK"}]
    counts = dueq.stats()
    assert (counts["acked"], counts["delayed"]) == (1, 1)


def test_ack_pushes_nothing_when_the_lease_is_lost(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    ticket = dueq.take()
    dueq("retry", "orders", ticket, "--delay", "0")
    ended = dueq.run("ack", "orders", ticket, "--push", "next", "--to", "parcels")
    assert (ended.code, ended.out) == (1, b"")
    assert ended.err.count("LEASE_LOST") == 1
    ended = dueq.run("ack", "orders", ticket, "--push", "next", "--json")
    assert [item["status"] for item in ended.objects] == ["LEASE_LOST", "LEASE_LOST"]
    counts = dueq.stats()
    assert (counts["ready"], counts["pushed"]) == (1, 1)
    assert dueq.stats("parcels")["ready"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--delay", "1h"],
        ["--to", "parcels"],
        ["ticket", "--push", "next"],
        ["--push", "-", "--push", "-"],
        ["--push", "one", "--push", "two", "--id", "x"],
        ["--push", "next", "--to", "or{d}ers"],
        ["--push", "next", "--to", ""],
    ],
)
def test_ack_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    dueq("push", "orders", "hello")
    ended = dueq.run("ack", "orders", dueq.take(), *words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")
    assert dueq.stats()["leased"] == 1
