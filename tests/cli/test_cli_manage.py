import os
import signal
from unittest.mock import ANY

import pytest

from private_server import Server

from .program import Program


def dead(dueq: Program, *ids: str, reason: str = "why") -> None:
    """Messages that were buried, in this order."""
    for id in ids:
        dueq("push", "orders", "body", "--id", id)
        dueq("bury", "orders", dueq.take(), "--reason", reason)


def state(dueq: Program, id: str) -> object:
    return dueq.find(id)["state"]


def test_kick_of_dead_ones(dueq: Program) -> None:
    dead(dueq, "x")
    dueq("kick", "orders", "x")
    assert state(dueq, "x") == "ready"
    again = dueq.run("kick", "orders", "x")
    assert again.code == 1
    assert "NOT_FOUND" in again.err


def test_kick_of_all(dueq: Program) -> None:
    dead(dueq, *(f"id {number}" for number in range(12)))
    assert dueq("kick", "orders", "--all").text == "12\n"
    assert dueq("kick", "orders", "--all", "--json").object == {"kicked": 0}
    counts = dueq.stats()
    assert (counts["ready"], counts["dead"]) == (12, 0)


def test_kick_of_those_with_an_error(dueq: Program) -> None:
    dead(dueq, "a", "b", reason="the shop did not answer")
    dead(dueq, "c", reason="no such customer")
    assert dueq("kick", "orders", "--all", "--error", "shop did").text == "2\n"
    assert [state(dueq, id) for id in "abc"] == ["ready", "ready", "dead"]


def test_kick_goes_through_all_pages(dueq: Program) -> None:
    words = ["--lease", "1ms", "--max-crashes", "1"]
    dueq("push", "orders", "--lines", *words, stdin=b"x\n" * 200)
    dueq("reserve", "orders", "--count", "200")
    dueq.run("reserve", "orders", "--wait", "200ms")
    dead(dueq, "x", reason="no such customer")
    assert dueq.stats()["dead"] == 201
    assert dueq("kick", "orders", "--all", "--error", "no such customer").text == "1\n"
    assert state(dueq, "x") == "ready"
    assert dueq("kick", "orders", "--all").text == "200\n"


def test_kick_of_those_that_died_in_a_time(dueq: Program) -> None:
    dead(dueq, "x")
    died_ms = dueq.find("x")["time_ms"]
    at, after = (f"{ms // 1000}.{ms % 1000:03}" for ms in (died_ms, died_ms + 1))
    assert dueq("kick", "orders", "--all", "--until", at).text == "0\n"
    assert dueq("kick", "orders", "--all", "--since", after).text == "0\n"
    assert dueq("kick", "orders", "--all", "--since", at, "--until", after).text == "1\n"
    assert state(dueq, "x") == "ready"


@pytest.mark.parametrize(
    "words",
    [
        ["--all", "x"],
        ["x", "--error", "why"],
        ["x", "--since", "1"],
        ["--until", "1"],
        ["--all", "--since", "yesterday"],
        [],
    ],
)
def test_kick_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    dead(dueq, "x")
    assert dueq.run("kick", "orders", *words).code == 2
    assert state(dueq, "x") == "dead"


@pytest.mark.parametrize(
    ("words", "state", "progress"),
    [
        (["kick", "orders", "--all"], "dead", b"1 kicked"),
        (["purge", "orders", "ready", "--yes"], "ready", b"200 purged"),
    ],
)
def test_progress_on_a_terminal(
    dueq: Program, words: list[str], state: str, progress: bytes
) -> None:
    dead(dueq, "x")
    dueq("push", "orders", "--lines", stdin=b"x\n" * 201)
    count = dueq.stats()[state]
    screen, terminal = os.openpty()
    with open(screen, "rb", buffering=0) as shown:
        with open(terminal, "wb", buffering=0) as stderr:
            process = dueq.start(*words, stderr=stderr)
        with process:
            out, _ = process.communicate(timeout=60)
        text = b""
        while not text.endswith(b"\r\x1b[K"):
            text += shown.read(1000)
    assert int(out) == count
    assert b"\r" + progress in text


def test_reschedule_to_now_and_to_a_time(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "x", "--delay", "1h")
    dueq("reschedule", "orders", "x", "--at", "2099-01-01T00:00:00Z")
    assert dueq("find", "orders", "x", "--json").object["time_ms"] == 4070908800000
    dueq("reschedule", "orders", "x")
    assert state(dueq, "x") == "ready"
    assert dueq.run("reschedule", "orders", "x").code == 1


def test_reschedule_with_both_times_is_wrong_usage(dueq: Program) -> None:
    ended = dueq.run("reschedule", "orders", "x", "--at", "1", "--delay", "1s")
    assert ended.code == 2


def test_allow_sets_and_prints_the_list(dueq: Program) -> None:
    none = dueq("allow", "orders")
    assert (none.out, none.err) == (
        b"",
        "dueq: there is no list: messages of orders may go to any queue\n",
    )
    words = ["--dead-letter", "orders-failed", "--dead-letter", "mails"]
    assert dueq("allow", "orders", *words).text == "mails\norders-failed\n"
    assert dueq("allow", "orders", "--json").object == {
        "queue": "orders",
        "dead_letter": ["mails", "orders-failed"],
    }
    assert dueq("allow", "orders", "--any", "--json").object == {
        "queue": "orders",
        "dead_letter": [],
    }


@pytest.mark.parametrize("words", [["--any", "--dead-letter", "a"], ["a"], ["--dead-letter"]])
def test_allow_with_wrong_words(dueq: Program, words: list[str]) -> None:
    dueq("allow", "orders", "--dead-letter", "orders-failed")
    assert dueq.run("allow", "orders", *words).code == 2
    assert dueq("allow", "orders").text == "orders-failed\n"


def test_allow_in_vain(dueq: Program) -> None:
    refused = dueq.run("allow", "orders", "--dead-letter", "a{b")
    assert (refused.code, refused.err[:10]) == (2, "dueq: NAME")


def test_a_message_that_may_not_go_says_why(dueq: Program) -> None:
    dueq("allow", "orders", "--dead-letter", "orders-failed")
    dueq("push", "orders", "x", "--id", "a", "--dead-letter", "mails")
    dueq("bury", "orders", dueq.take())
    reason = "mails: the list of targets of this queue does not have it: dueq allow"
    assert dueq.stats()["outbox_error"] == reason
    assert reason in dueq("find", "orders", "a").text + dueq("peek", "orders", "outbox").text


def test_pause_and_resume(dueq: Program) -> None:
    dueq("push", "orders", "body")
    dueq("pause", "orders")
    assert dueq.run("reserve", "orders").code == 1
    assert dueq("stats", "orders", "--json").object["paused"] is True
    assert "paused" in dueq("stats", "orders").text
    dueq("resume", "orders")
    assert dueq("reserve", "orders", "--body").text == "body"
    assert dueq("stats", "orders", "--json").object["paused"] is False


@pytest.mark.parametrize("name", ["ready", "delayed", "dead"])
def test_purge_of_a_state(dueq: Program, name: str) -> None:
    dead(dueq, "x")
    dueq("push", "orders", "body")
    dueq("push", "orders", "body", "--delay", "1h")
    assert dueq("purge", "orders", name, "--yes").text == "1\n"
    assert dueq("purge", "orders", name, "--yes", "--json").object == {"purged": 0}
    counts = dueq("stats", "orders", "--json").object
    assert (counts[name], counts["purged"]) == (0, 1)


def test_groups_and_purge_of_a_group(dueq: Program) -> None:
    for group in ("acme", "globex", "acme", "a b"):
        dueq("push", "orders", "body", "--group", group)
    dueq("push", "orders", "body")
    dueq("push", "orders", "body", "--group", "acme", "--delay", "1h")
    rows = dueq("groups", "orders", "--json").objects
    assert [(row["name"], row["waiting"], row["leased"]) for row in rows] == [
        ("acme", 2, 0),
        ("globex", 1, 0),
        ("a b", 1, 0),
        (None, 1, 0),
    ]
    assert 0 <= rows[0]["now_ms"] - rows[0]["oldest_ms"] < 60000
    dueq("reserve", "orders")
    header, *lines = dueq("groups", "orders", "--count", "4").lines
    assert header.split() == [
        *["WAITING/OF", "LEASED/OF", "OLDEST", "SERVED", "RATE", "WEIGHT"],
        *["AT", "LIMIT", "GROUP"],
    ]
    assert [line.split()[:2] for line in lines] == [["1", "0"], ["1", "0"], ["1", "0"], ["1", "1"]]
    assert [line.split(maxsplit=7)[7] for line in lines] == ["globex", "a b", "(no group)", "acme"]
    assert len(dueq("groups", "orders", "--count", "2").lines) == 3
    assert dueq("purge", "orders", "--group", "acme", "--yes").text == "2\n"
    assert dueq("purge", "orders", "--group", "acme", "--yes", "--json").object == {"purged": 0}
    assert dueq.stats()["ready"] == 3
    dueq("hold", "orders", "--group", "globex", "--duration", "1h")
    first, *_ = dueq("groups", "orders").lines[1:]
    assert first.split()[3:] == ["-", "-", "-", "hold", "59m59s", "globex"]
    assert dueq("groups", "others").out == b""


def test_groups_show_how_much_of_their_limits_they_use(dueq: Program, server: Server) -> None:
    for group in ("acme", "globex", "acme", "acme"):
        dueq("push", "orders", "body", "--group", group)
    dueq("push", "orders", "body")
    dueq("limit", "orders", "--each-group-concurrency", "2", "--each-group-backlog", "1000000")
    dueq("limit", "orders", "--each-group-rate", "100/m", "--each-group-burst", "10")
    dueq("limit", "orders", "--group", "acme", "--concurrency", "1", "--weight", "4")
    dueq("reserve", "orders", "--count", "9")
    # A minute after the first limit, the queue knows how many were delivered in a minute.
    assert [row["served_per_minute"] for row in dueq("groups", "orders", "--json").objects] == [
        *[None, None, None]
    ]
    server.command("HSET", "dueq:{orders}:meta", "served_from", "0")
    assert [line.split(maxsplit=7) for line in dueq("groups", "orders").lines[1:]] == [
        ["2/1.0M", "1/1", ANY, "1", "100/m", "4", "concurrency", "acme"],
        ["0/1.0M", "1/2", "-", "1", "100/m", "-", "-", "globex"],
        ["0", "1", "-", "1", "-", "-", "-", "(no group)"],
    ]
    server.command("HSET", "dueq:{orders}:limits", "each.concurrency", "many")
    ended = dueq.run("groups", "orders")
    assert ended.code == 4
    assert "CORRUPT: limits: " in ended.err
    assert [line.split(maxsplit=6)[:2] for line in ended.lines[1:]] == [
        ["2", "1"],
        ["0", "1"],
        ["0", "1"],
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["groups", "orders", "--count", "0"], "--count"),
        (["groups", "orders", "acme"], "too many arguments"),
        (["purge", "orders", "ready", "--group", "acme", "--yes"], "too many arguments"),
        (["purge", "orders", "--group", "acme"], "--yes"),
    ],
)
def test_wrong_usage_of_groups(dueq: Program, words: list[str], said: str) -> None:
    refused = dueq.run(*words)
    assert refused.code == 2
    assert said in refused.err


def test_purge_without_a_terminal_needs_yes(dueq: Program) -> None:
    dueq("push", "orders", "body")
    refused = dueq.run("purge", "orders", "ready")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert dueq.stats()["ready"] == 1


def test_purge_of_no_state_is_wrong_usage(dueq: Program) -> None:
    assert dueq.run("purge", "orders", "everything", "--yes").code == 2


def test_cancel_tells_that_a_consumer_holds_it(dueq: Program) -> None:
    for id in ("a", "b", "c"):
        dueq("push", "orders", "body", "--id", id)
    dueq("reserve", "orders", "--count", "2")
    ended = dueq.run("cancel", "orders", "a")
    assert (ended.code, ended.out) == (1, b"")
    assert "LEASED: a: " in ended.err
    ended = dueq.run("cancel", "orders", "b", "c", "d", "--json")
    assert ended.code == 1
    assert ended.objects == [
        {"id": "b", "status": "OK", "state": "leased"},
        {"id": "c", "status": "OK", "state": "ready"},
        {"id": "d", "status": "NOT_FOUND"},
    ]
    dueq("push", "orders", "body", "--id", "e", "--delay", "1h")
    assert dueq("cancel", "orders", "e").out == b""


def test_remove(dueq: Program) -> None:
    dead(dueq, "x")
    dueq("push", "orders", "body")
    dueq("push", "orders", "body", "--delay", "1h")
    refused = dueq.run("remove", "orders")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert dueq.stats()["ready"] == 1
    assert dueq("remove", "orders", "--yes").text == "3\n"
    assert "orders" not in dueq("queues").text
    assert dueq("remove", "orders", "--yes", "--json").object == {"removed": 0}


@pytest.mark.parametrize(
    ("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x04", 1), (signal.SIGINT, 130)]
)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["remove", "orders"], b"1 ready"),
        (["purge", "orders", "ready"], b"1 ready"),
        (["purge", "orders", "--group", "acme"], b"the group acme of the queue orders"),
    ],
)
def test_remove_and_purge_ask_on_a_terminal(
    dueq: Program, words: list[str], said: bytes, answer: bytes | signal.Signals, code: int
) -> None:
    dueq("push", "orders", "body", "--group", "acme")
    screen, terminal = os.openpty()
    with open(screen, "r+b", buffering=0) as seen:
        with open(terminal, "r+b", buffering=0) as both:
            process = dueq.start(*words, stdin=both, stderr=both)
        with process:
            text = b""
            while b"[y/N] " not in text:
                text += seen.read(1000)
            if isinstance(answer, bytes):
                seen.write(answer)
            else:
                process.send_signal(answer)
            process.communicate(timeout=60)
    assert said in text
    assert process.returncode == code
    assert dueq.stats()["ready"] == (1 if code else 0)
