"""dueq check: what it says, what it ends with, and what a terminal sees of it."""

import pytest

from private_server import Server

from .program import Program

KEY = "dueq:{orders}:"


@pytest.fixture
def ids(dueq: Program, server: Server) -> list[str]:
    """Three messages without tickets."""
    made = [dueq("push", "orders", "body").text.strip() for _ in range(3)]
    server.command("DEL", KEY + "ready")
    return made


def test_nothing_is_wrong(dueq: Program) -> None:
    dueq("push", "orders", "body")
    assert dueq("check", "orders").text == ""
    assert dueq("check", "orders", "--repair", "--json").text == ""


def test_found_and_mended(dueq: Program, ids: list[str]) -> None:
    found = dueq.run("check", "orders")
    assert found.code == 1
    assert found.text.startswith("3 messages without a ticket\n  ")
    assert sorted(found.text.split()[5:]) == sorted(ids)
    repaired = dueq("check", "orders", "--repair")
    assert repaired.text.startswith("3 messages without a ticket: repaired\n")
    assert dueq("check", "orders").text == ""
    assert dueq.stats()["ready"] == 3


def test_json(dueq: Program, ids: list[str]) -> None:
    found = dueq.run("check", "orders", "--json")
    assert found.code == 1
    finding = found.object
    assert sorted(finding.pop("examples")) == sorted(ids)
    assert finding.pop("text") == "messages without a ticket"
    assert finding == {"kind": "lost", "wrong": True, "count": 3, "repaired": 0}
    assert dueq("check", "orders", "--repair", "--json").object["repaired"] == 3


def test_what_is_not_wrong_ends_with_0(dueq: Program) -> None:
    id = dueq("push", "orders", "body").text.strip()
    dueq("cancel", "orders", id)
    found = dueq("check", "orders")
    assert found.text == f"1 tickets of cancelled messages in lanes (not wrong)\n  {id}\n"


def test_examples_are_escaped(dueq: Program, server: Server) -> None:
    server.command("RPUSH", KEY + "ready", b"no\x1b[2J\nticket\xff")
    found = dueq.run("check", "orders")
    assert found.code == 1
    assert "\\x1b[2J\\x0aticket" in found.text
    assert "\x1b" not in found.text
    assert dueq("check", "orders", "--repair", "--json").objects[0]["count"] == 1


def test_another_type(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "body")
    server.command("SET", KEY + "dead", "foreign")
    found = dueq.run("check", "orders")
    assert (found.code, found.text) == (1, f"1 keys of another type\n  {KEY}dead string\n")
    dueq("check", "orders", "--repair")
    assert server.command("GET", KEY + "quarantine:dead") == b"foreign"


def test_refusals(dueq: Program) -> None:
    assert dueq.run("check").code == 2
    assert dueq.run("check", "orders", "more").code == 2
    assert "dueq check orders --repair" in dueq("check", "--help").text
