"""Pushes that are to be on a replica, of which this server has none, or on its disk."""

from __future__ import annotations

import json

import pytest

from .program import Ended, Program

ON_REPLICA = ("--replicas", "1", "--durable-timeout", "50ms")


def ends(dueq: Program, code: int, *words: str, stdin: bytes = b"") -> Ended:
    ended = dueq.run(*words, stdin=stdin)
    assert ended.code == code, ended.err
    return ended


def test_durable_push_prints_the_id_of_what_it_stored(dueq: Program) -> None:
    pushed = ends(dueq, 3, "push", "orders", "hello", *ON_REPLICA)
    (made,) = pushed.lines
    assert f"NOT_DURABLE: stored as {made}; on 0 of 1 replicas within 50 ms\n" in pushed.err
    assert "DUPLICATE says that it is durable" in pushed.err
    assert ends(dueq, 1, "push", "orders", "hello", "--id", made).lines == []
    assert dueq.stats()["ready"] == 1


def test_durable_push_as_json(dueq: Program) -> None:
    pushed = ends(dueq, 3, "push", "orders", "hello", "--id", "x", *ON_REPLICA, "--json")
    assert pushed.object == {"id": "x", "status": "OK"}
    assert json.loads(pushed.err)["status"] == "NOT_DURABLE"


def test_durable_push_of_lines_stops_behind_a_batch(dueq: Program) -> None:
    lines = "\n".join(map(str, range(1000))).encode()
    pushed = ends(dueq, 3, "push", "orders", "--lines", *ON_REPLICA, stdin=lines)
    stored = dueq.stats()["ready"]
    assert 0 < stored < 1000
    assert len(pushed.lines) == stored


def test_durable_push_by_url(dueq: Program) -> None:
    dueq.environment["DUEQ_URL"] += "?replicas=1&durable_timeout=50ms"
    assert len(ends(dueq, 3, "push", "orders", "hello").lines) == 1


def test_durable_ack_prints_the_ids_of_the_successors(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    ticket = dueq.take()
    done = ends(dueq, 3, "ack", "orders", ticket, "--push", "a", "--push", "b", *ON_REPLICA)
    assert len(done.lines) == 2
    counts = dueq.stats()
    assert (counts["ready"], counts["leased"], counts["acked"]) == (2, 0, 1)


def test_durable_schedule_is_declared(dueq: Program) -> None:
    added = ends(dueq, 3, "schedule", "add", "orders", "hourly", "@hourly", "x", *ON_REPLICA)
    assert "stored as schedule:hourly; on 0 of 1 replicas" in added.err
    dueq("schedule", "add", "orders", "hourly", "@hourly", "x")


def test_durable_disk_without_appendonly_stores_nothing(dueq: Program) -> None:
    refused = ends(dueq, 4, "push", "orders", "hello", "--disk")
    assert (
        "UNSUPPORTED: disk needs Redis 7.2 or later, or Valkey, with appendonly yes" in refused.err
    )
    assert dueq.stats()["pushed"] == 0


@pytest.mark.parametrize("words", [("--replicas", "101"), ("--durable-timeout", "x")])
def test_durable_options_out_of_range(dueq: Program, words: tuple[str, ...]) -> None:
    assert words[0] in ends(dueq, 2, "push", "orders", "hello", *words).err
