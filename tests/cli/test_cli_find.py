import re

import pytest

from .program import Program


def test_find_nothing(dueq: Program) -> None:
    ended = dueq.run("find", "orders", "gone")
    assert (ended.code, ended.out) == (1, b"")
    assert ended.err.startswith("dueq: NOT_FOUND: gone: ")


def rows(dueq: Program, id: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in dueq("find", "orders", id).lines)


def test_find_as_text(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--header", "a=b", "--at", "2099-01-01T00:00:00Z")
    found = rows(dueq, "x")
    assert found["id"] == "x"
    assert found["state"].startswith("delayed due 2099-01-01T00:00:00.000Z (in ")
    assert (found["attempt"], found["crashes"]) == ("0 of 16", "0 of 5")
    assert (found["priority"], found["deliveries"]) == ("normal", "0")
    assert found["header"] == "a=b"
    assert found["body"] == "hello"
    assert not found.keys() & {"dead-letter", "drop", "expires", "error"}


def test_find_as_text_with_policies(dueq: Program) -> None:
    policy = [
        "--priority",
        "high",
        "--ttl",
        "1h",
        "--max-crashes",
        "none",
        "--dead-letter",
        "failed",
    ]
    dueq("push", "orders", "hello", "--id", "x", "--delay", "1m", *policy)
    found = rows(dueq, "x")
    assert (found["priority"], found["crashes"]) == ("high", "0 of any number")
    assert found["dead-letter"] == "failed"
    assert "Z (in 59m" in found["expires"]
    dueq("push", "orders", "hello", "--id", "y", "--drop")
    assert rows(dueq, "y")["drop"] == "yes"


def test_find_as_json(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--ttl", "1h", "--drop", "--priority", "low")
    found = dueq.find("x")
    assert (found["queue"], found["priority"], found["drop"]) == ("orders", "low", True)
    assert (found["crashes"], found["max_crashes"], found["deliveries"]) == (0, 5, 0)
    assert 3_590_000 < found["expires_ms"] - found["now_ms"] <= 3_600_000
    assert not found.keys() & {"dead_letter", "error", "ticket"}
    dueq("push", "orders", "hello", "--id", "y", "--dead-letter", "failed")
    found = dueq.find("y")
    assert (found["dead_letter"], found["drop"], found["expires_ms"]) == ("failed", False, None)


def test_peek_at_nothing(dueq: Program) -> None:
    assert dueq("peek", "orders", "ready").out == b""
    assert dueq("peek", "orders", "ready", "--json").out == b""


def test_peek_goes_through_all_pages(dueq: Program) -> None:
    made = dueq("push", "orders", "--lines", stdin=b"x\n" * 250).lines
    peeked = dueq("peek", "orders", "ready", "--count", "1000", "--json").objects
    assert [message["id"] for message in peeked] == made
    assert {message["state"] for message in peeked} == {"ready"}
    assert len(dueq("peek", "orders", "ready", "--json").objects) == 100
    assert len(dueq("peek", "orders", "ready", "--json", "--count", "101").objects) == 101
    assert len(dueq("peek", "orders", "ready").lines) == 1 + 100
    assert dueq.stats()["ready"] == 250


def test_peek_in_the_order_of_delivery(dueq: Program) -> None:
    for priority in ("low", "normal", "high"):
        dueq("push", "orders", priority, "--priority", priority)
    peeked = dueq("peek", "orders", "ready", "--json").objects
    assert [message["body"] for message in peeked] == ["high", "normal", "low"]


def test_peek_as_text(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--max-attempts", "none")
    dueq("bury", "orders", dueq.take(), "--reason", "no\nsuch\x1b customer " + "ü" * 100)
    head, row = dueq("peek", "orders", "dead").lines
    assert head.split() == ["DEAD", "FOR", "ATTEMPT", "SIZE", "ID", "ERROR"]
    span, attempt, size, id, error = row.split(maxsplit=4)
    assert span.endswith("s")
    assert (attempt, size, id) == ("1", "5", "x")
    assert error.startswith(r"no\x0asuch\x1b customer üü")
    assert error.endswith("ü...")


@pytest.mark.parametrize(
    ("state", "time"),
    [
        ("delayed", r"59m\d+s"),
        ("leased", r"29\.\ds"),
        ("ready", r"\d+ms|\d\.\ds"),
        ("dead", r"\d+ms|\d\.\ds"),
    ],
)
def test_peek_at_each_state(dueq: Program, state: str, time: str) -> None:
    made = dueq("push", "orders", "hello", *(["--delay", "1h"] * (state == "delayed"))).lines[0]
    if state in ("leased", "dead"):
        ticket = dueq.take()
    if state == "dead":
        dueq("bury", "orders", ticket)
    for other in {"ready", "delayed", "leased", "dead"} - {state}:
        assert dueq("peek", "orders", other).out == b""
    _, row = dueq("peek", "orders", state).lines
    assert re.fullmatch(time, row.split()[0])
    assert row.split()[-1] == made
    message = dueq("peek", "orders", state, "--json").object
    assert (message["state"], message["body"]) == (state, "hello")


@pytest.mark.parametrize("words", [["everything"], ["ready", "--count", "0"], []])
def test_peek_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    assert dueq.run("peek", "orders", *words).code == 2
