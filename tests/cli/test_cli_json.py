"""--json: one rule for what commands print, and errors as objects."""

import json
from typing import Any

import pytest

from .program import Ended, Program


def error(ended: Ended) -> dict[str, Any]:
    """The one object on standard error."""
    (line,) = ended.err.splitlines()
    found: dict[str, Any] = json.loads(line)
    assert found.pop("time").startswith("20")
    assert found.pop("level") == "error"
    return found


# ---- Each thing that a command is about has an object with its status ----


def test_json_has_a_status_for_each_thing(dueq: Program) -> None:
    def prints(code: int, *words: str, **item: str) -> None:
        ended = dueq.run(*words, "--json")
        assert (ended.code, ended.object, ended.err) == (code, item, "")

    prints(0, "push", "orders", "x", "--id", "a", id="a", status="OK")
    prints(1, "push", "orders", "x", "--id", "a", id="a", status="DUPLICATE")
    prints(1, "find", "orders", "gone", id="gone", status="NOT_FOUND")
    prints(1, "cancel", "orders", "gone", id="gone", status="NOT_FOUND")
    for verb in ("kick", "kill", "reschedule"):
        prints(1, verb, "orders", "a", id="a", status="NOT_FOUND", state="ready")
        prints(1, verb, "orders", "gone", id="gone", status="NOT_FOUND")
    prints(0, "pause", "orders", queue="orders", status="OK")
    prints(0, "resume", "orders", queue="orders", status="OK")
    ticket = dueq.take()
    prints(0, "extend", "orders", ticket, ticket=ticket, status="OK")
    prints(0, "release", "orders", ticket, ticket=ticket, status="OK")
    for verb in ("extend", "release", "retry", "bury", "ack"):
        prints(1, verb, "orders", ticket, ticket=ticket, status="LEASE_LOST")
    prints(0, "cancel", "orders", "a", id="a", status="OK", state="ready")
    token = dueq("lock", "orders", "report", "--json").object["token"]
    prints(1, "lock", "orders", "report", name="report", status="TAKEN")
    prints(0, "relock", "orders", "report", token, token=token, status="OK")
    prints(0, "unlock", "orders", "report", token, token=token, status="OK")
    prints(1, "unlock", "orders", "report", token, token=token, status="LEASE_LOST")


def test_without_json_only_what_is_not_ok_is_said(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "a")
    for words in (["pause"], ["resume"], ["cancel", "a"]):
        ended = dueq(words[0], "orders", *words[1:])
        assert (ended.out, ended.err) == (b"", "")
    for verb in ("find", "cancel", "kick", "kill", "reschedule"):
        ended = dueq.run(verb, "orders", "a")
        assert (ended.code, ended.out) == (1, b"")
        assert ended.err == "dueq: NOT_FOUND: a: no message has this id\n"


def test_a_verb_for_another_state_says_the_state(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "a")
    dueq("push", "orders", "x", "--id", "b", "--delay", "1h")
    for verb, id, state in (
        ("kick", "a", "ready"),
        ("kick", "b", "delayed"),
        ("kill", "a", "ready"),
        ("reschedule", "a", "ready"),
    ):
        ended = dueq.run(verb, "orders", id)
        assert (ended.code, ended.out) == (1, b"")
        said = f"{id}: it is {state}; dueq {verb} is for messages in other states"
        assert ended.err == f"dueq: NOT_FOUND: {said}\n"


def test_a_mistyped_command_has_a_suggestion(dueq: Program) -> None:
    for words, meant in (
        (["stat", "orders"], "stats"),
        (["pusch", "orders"], "push"),
        (["akc", "orders"], "ack"),
        (["kcik", "orders"], "kick"),
        (["schedule", "lst"], "schedule list"),
        (["help", "reserv"], "reserve"),
    ):
        ended = dueq.run(*words)
        assert ended.code == 2
        assert f"; did you mean {meant}?\n" in ended.err
    for words in (["x"], ["qqqq"], ["y" * 40]):
        ended = dueq.run(*words)
        assert ended.code == 2
        assert ended.err.startswith(f"dueq: there is no command {words[0]}\n")


# ---- Errors ----


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["push", "orders", "x", "--url", "unix:///nowhere?timeout=300ms"], 3, "CONNECT"),
        (["push", "{}", "x"], 2, "NAME"),
        (["stats", "orders", "--url", "ftp://host"], 2, "URL"),
        (["push", "orders", "x", "--delay", "soon"], 2, "INVALID"),
        (["push", "orders", "x", "--dely", "1s"], 2, "INVALID"),
        (["push", "orders", "x", "--delay"], 2, "INVALID"),
        (["push"], 2, "INVALID"),
        (["fly"], 2, "INVALID"),
        ([], 2, "INVALID"),
        (["work", "orders", "--wait", "0"], 2, "INVALID"),
    ],
)
def test_json_errors(dueq: Program, words: list[str], code: int, status: str) -> None:
    ended = dueq.run(*words, "--json")
    assert (ended.code, ended.out) == (code, b"")
    found = error(ended)
    assert found.pop("hint")
    assert not found.pop("text").startswith("dueq")
    assert found == {"status": status}


def test_json_errors_of_the_system(dueq: Program) -> None:
    ended = dueq.run("stats", "orders", "--url-file", "/nowhere", "--json")
    assert (ended.code, error(ended)) == (4, {"text": "/nowhere: No such file or directory"})


def test_json_of_a_command_is_its_own(dueq: Program) -> None:
    """Behind the -- the word is not ours."""
    ended = dueq.run("work", "orders", "--delay", "--", "cat", "--json")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "dueq: unrecognized option '--delay'")


def test_json_errors_of_a_taken_lock_leave_the_command_its_output(dueq: Program) -> None:
    dueq("lock", "orders", "report")
    ended = dueq.run("lock", "orders", "report", "--json", "--", "echo", "out")
    assert (ended.code, ended.out) == (124, b"")
    assert error(ended)["status"] == "TAKEN"
