"""dueq work: what a command gets, and what becomes of its message."""

import hashlib
import re
import subprocess
import time
from typing import Any

import pytest

from private_server import Server

from .program import Gate, Program

DRAIN = ["work", "orders", "--wait", "0"]


def fails_with(dueq: Program, script: str, *options: str) -> dict[str, Any]:
    """Runs a script for a message, which comes back after an hour; returns the message."""
    dueq("push", "orders", "body", "--id", "one", "--backoff", "1h")
    ended = dueq(*DRAIN, *options, "--", "sh", "-c", script)
    assert "dueq: one: " in ended.err
    return dueq.find("one")


# ---- What the command gets ----


def test_work_body_and_words(dueq: Program) -> None:
    body = bytes(range(256)) * 5
    dueq("push", "orders", stdin=body)
    words = ["sh", "-c", 'printf "<%s>" "$@"; cat', "sh", "--json", "-x", "--", "a b"]
    ended = dueq(*DRAIN, "--", *words)
    assert ended.out == b"<--json><-x><--><a b>" + body
    assert ended.err == ""
    stats = dueq.stats()
    assert (stats["acked"], stats["ready"], stats["leased"]) == (1, 0, 0)


def test_work_without_a_body(dueq: Program) -> None:
    dueq("push", "orders", "")
    assert dueq(*DRAIN, "--", "wc", "-c").text == "0\n"


def test_work_environment(dueq: Program) -> None:
    headers = [
        "content-type=text/plain",
        "a_B2=x=y",
        "2=two",
        "größe=1",
        "a.b=1",
        "CONTENT_TYPE=no",
    ]
    options = [word for header in headers for word in ("--header", header)]
    dueq("push", "orders", "body", "--id", "one", *options)
    dueq("release", "orders", dueq.take())
    dueq.environment |= {"DUEQ_HEADER_OUTER": "x", "DUEQ_ID": "outer", "OTHER": "stays"}
    ended = dueq(*DRAIN, "--", "env", "-0")
    found = dict(line.split("=", 1) for line in ended.text.rstrip("\0").split("\0"))
    assert found["DUEQ_TICKET"].endswith(":one")
    assert {name: found[name] for name in found if name.startswith("DUEQ_HEADER")} == {
        "DUEQ_HEADER_CONTENT_TYPE": "text/plain",
        "DUEQ_HEADER_A_B2": "x=y",
        "DUEQ_HEADER_2": "two",
    }
    assert (found["DUEQ_QUEUE"], found["DUEQ_ID"], found["OTHER"]) == ("orders", "one", "stays")
    assert (found["DUEQ_ATTEMPT"], found["DUEQ_DELIVERIES"]) == ("1", "2")


def test_work_commands_reach_the_same_server(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "hello")
    dueq.environment |= {"DUEQ_URL": "redis://127.0.0.1:1", "DUEQ": dueq.path}
    url = ["--url", server.url]
    dueq(*DRAIN, *url, "--", "sh", "-c", '"$DUEQ" push next -')
    assert dueq("reserve", "next", "--ack", *url).text == "hello\n"


def test_work_leaves_the_command_a_clean_place(dueq: Program) -> None:
    """Neither our files nor our way with signals go on to the command."""
    script = "ls /proc/self/fd; grep ^Sig[BI] /proc/self/status"
    plain = subprocess.run(["sh", "-c", script], capture_output=True, stdin=subprocess.PIPE)
    dueq("push", "orders", "--lines", stdin=b"a\nb\n")
    assert dueq(*DRAIN, "--", "sh", "-c", script).out == 2 * plain.stdout


def test_work_without_standard_files(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "one")
    script = 'exec "$0" work orders --wait 0 -- sh -c "cat >&2; exit 3" <&- >&- 2>&-'
    subprocess.run(["sh", "-c", script, dueq.path], env=dueq.environment, timeout=60, check=False)
    assert dueq.find("one")["error"] == "body"


def test_work_body_that_nobody_reads(dueq: Program) -> None:
    for _ in range(2):
        dueq("push", "orders", stdin=bytes(10_000_000))
    ended = dueq(*DRAIN, "--", "true")
    assert (ended.out, ended.err, dueq.stats()["acked"]) == (b"", "", 2)


def test_work_large_body(dueq: Program) -> None:
    body = b"0123456789" * 1_000_000
    dueq("push", "orders", stdin=body)
    assert dueq(*DRAIN, "--", "sha256sum").text.startswith(hashlib.sha256(body).hexdigest())


# ---- What becomes of the message ----


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("exit 3", "exit 3"),
        ("echo out; exit 1", "exit 1"),
        ("kill -9 $$", "signal 9"),
        ("echo first >&2; echo last >&2; echo >&2; exit 1", "last"),
        ("printf 'no end' >&2; exit 1", "no end"),
        ("printf 'dos\\r\\n' >&2; kill -9 $$", "dos"),
        ("exec 2>&-; exit 7", "exit 7"),
        ("exit 127", "exit 127"),
    ],
)
def test_work_that_fails(dueq: Program, script: str, error: str) -> None:
    found = fails_with(dueq, script)
    assert (found["state"], found["error"], found["attempt"]) == ("delayed", error, 1)
    assert found["time_ms"] - found["now_ms"] > 3_500_000
    assert found["crashes"] == 0


def test_work_that_writes_many_errors(dueq: Program) -> None:
    found = fails_with(
        dueq, "yes mistake | head -n 200000 >&2; yes x | tr -d '\\n' | head -c 9999 >&2; exit 1"
    )
    assert found["error"] == "x" * 4096


def test_work_until_the_attempts_are_used_up(dueq: Program) -> None:
    dueq("push", "orders", "--id", "one", "--max-attempts", "3", "--backoff", "0", "body")
    ended = dueq(*DRAIN, "--", "sh", "-c", 'echo "$DUEQ_ATTEMPT"; exit 1')
    assert ended.lines == ["1", "2", "3"]
    assert dueq.find("one")["state"] == "dead"
    assert ended.err.splitlines()[-1] == "dueq: one: exhausted: attempt 3: exit 1"


def test_work_does_not_try_again_at_once(dueq: Program) -> None:
    """An outage of a second does not end the life of what the queue holds."""
    dueq("push", "orders", "body", "--id", "one")
    dueq(*DRAIN, "--", "false")
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["max_attempts"]) == ("delayed", 1, 16)


def test_work_with_a_retry_delay(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "one")
    dueq(*DRAIN, "--retry-delay", "1h", "--", "false")
    found = dueq.find("one")
    assert (found["state"], found["time_ms"] - found["now_ms"] > 3_500_000) == ("delayed", True)


def test_work_that_buries(dueq: Program) -> None:
    """65 is EX_DATAERR; all others are tried again: 75, which is EX_TEMPFAIL, and 100 too."""
    dueq("push", "orders", "--lines", stdin=b"65\n7\n1\n75\n100\n")
    options = ["--bury-on", "7", "--retry-delay", "1h"]
    dueq(*DRAIN, *options, "--", "sh", "-c", "read -r code; exit $code")
    stats = dueq.stats()
    assert (stats["dead"], stats["delayed"], stats["acked"]) == (2, 3, 0)
    assert [found["error"] for found in dueq("peek", "orders", "dead", "--json").objects] == [
        "exit 65",
        "exit 7",
    ]


def test_work_that_takes_too_long(dueq: Program) -> None:
    """What the command has started is ended too, and a good end is none then."""
    script = 'trap "exit 0" TERM; echo partial >&2; sleep 1000 & wait'
    found = fails_with(dueq, script, "--timeout", "300ms", "--bury-on", "143")
    assert found["state"] == "delayed"
    assert re.fullmatch(r"timed out after [\d.]+m?s: partial", found["error"])


def test_work_that_does_not_end_when_told(dueq: Program) -> None:
    began = time.monotonic()
    found = fails_with(dueq, 'trap "" TERM; sleep 1000', "--timeout", "200ms")
    assert time.monotonic() - began >= 3
    assert found["error"].startswith("timed out after 3.")


def test_work_is_not_held_up_by_what_a_command_leaves(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body")
    dueq(*DRAIN, "--", "sh", "-c", '(read -r line < "$GATE") > /dev/null & exit 0')
    assert dueq.stats()["acked"] == 1


def test_work_of_a_message_that_was_cancelled(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body", "--id", "one")
    script = 'echo runs >&2; read -r line < "$GATE"'
    with dueq.start(
        "work", "orders", "--max-jobs", "1", "--json", "--", "sh", "-c", script
    ) as worker:
        assert worker.stderr
        assert worker.stderr.readline() == b"runs\n"
        assert dueq.run("cancel", "orders", "one").code == 1  # a consumer holds it
        gate.let()
        out, err = worker.communicate(timeout=60)
    assert worker.returncode == 0
    assert b'"outcome":"lost"' in out
    assert b'"status":"LEASE_LOST","text":"one: ' in err


# ---- Output ----


def test_work_output_goes_through(dueq: Program) -> None:
    dueq("push", "orders", "body")
    ended = dueq(*DRAIN, "--", "sh", "-c", "echo good; echo bad >&2")
    assert (ended.out, ended.err) == (b"good\n", "bad\n")


def test_work_json(dueq: Program) -> None:
    dueq("push", "orders", "0", "--id", "good")
    dueq("push", "orders", "3", "--id", "bad", "--max-attempts", "2", "--backoff", "0")
    ended = dueq(*DRAIN, "--json", "--", "sh", "-c", "read -r code; echo said; exit $code")
    assert ended.err == 3 * "said\n"
    seconds = [line.pop("seconds") for line in ended.objects if line["id"]]
    assert all(0 <= span < 60 for span in seconds)
    lines = [{**line, "seconds": None} for line in ended.objects]
    one = {"queue": "orders", "id": "bad", "attempt": 1, "code": 3, "seconds": None}
    assert lines == [
        {**one, "id": "good", "code": 0, "outcome": "acked"},
        {**one, "outcome": "retried", "error": "exit 3"},
        {**one, "attempt": 2, "outcome": "exhausted", "error": "exit 3"},
    ]


def test_work_json_that_nobody_reads(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\n")
    with open("/dev/full", "wb") as full:
        process = dueq.start(*DRAIN, "--json", "--", "true", stdout=full)
    with process:
        process.communicate(timeout=60)
    assert process.returncode == 4
    assert (dueq.stats()["acked"], dueq.stats()["ready"]) == (1, 1)


# ---- Several ----


def test_work_several_queues(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\n")
    dueq("push", "urgent", "c")
    script = 'echo "$DUEQ_QUEUE $(cat)"'
    words = ["work", "urgent", "orders", "--wait", "0", "--", "sh", "-c", script]
    assert dueq(*words).lines == ["urgent c", "orders a", "orders b"]


def test_work_several_queues_in_turn(dueq: Program) -> None:
    for queue in ("orders", "urgent"):
        dueq("push", queue, "--lines", stdin=b"a\nb\n")
    script = 'echo "$DUEQ_QUEUE"'
    options = ["--round-robin", "--wait", "0"]
    lines = dueq("work", "urgent", "orders", *options, "--", "sh", "-c", script).lines
    assert lines in (2 * ["urgent", "orders"], 2 * ["orders", "urgent"])


def test_work_several_at_once(dueq: Program, gate: Gate) -> None:
    """Each is settled when it ends, also while others run and the worker waits for more."""
    dueq("push", "orders", "--lines", stdin=b"0\n1\n0\n1\n0\n")
    script = 'read -r code; echo runs; read -r line < "$GATE"; exit $code'
    options = ["--concurrency", "4", "--max-jobs", "6", "--retry-delay", "1h"]
    with dueq.start("work", "orders", *options, "--", "sh", "-c", script) as worker:
        assert worker.stdout
        for _ in range(4):
            assert worker.stdout.readline() == b"runs\n"
        assert (dueq.stats()["leased"], dueq.stats()["ready"]) == (4, 1)
        gate.let()
        assert worker.stdout.readline() == b"runs\n"
        gate.let(2)
        dueq.until(lambda: dueq.stats()["leased"] == 2)
        gate.let(2)
        dueq.until(lambda: dueq.stats()["leased"] == 0)
        assert (dueq.stats()["acked"], dueq.stats()["delayed"]) == (3, 2)
        assert worker.poll() is None
        dueq("push", "orders", "0")
        gate.let()
        worker.communicate(timeout=60)
    assert worker.returncode == 0
    assert dueq.stats()["acked"] == 4


def test_work_up_to_a_limit(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\nd\n")
    ended = dueq("work", "orders", "--max-jobs", "3", "--concurrency", "2", "--", "cat")
    assert sorted(ended.text.replace("\n", "")) == ["a", "b", "c"]
    assert dueq.stats()["ready"] == 1


@pytest.mark.parametrize("slack", ["0", "100ms"])
def test_work_waits_for_what_is_due(dueq: Program, slack: str) -> None:
    dueq("push", "orders", "later", "--delay", "300ms")
    assert dueq(*DRAIN, "--", "cat").out == b""
    words = ["work", "orders", "--max-jobs", "1", "--wait", "20s", "--slack", slack, "--", "cat"]
    assert dueq(*words).text == "later"
    assert dueq("work", "orders", "--wait", "200ms", "--", "cat").out == b""
