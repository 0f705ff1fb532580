"""Standard output that is full, closed, or that nobody reads any more."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from private_server import Server

from .program import Program

SHOWING = [
    ["stats", "orders"],
    ["stats", "orders", "--json"],
    ["queues"],
    ["rates", "orders"],
    ["failures", "orders"],
    ["groups", "grouped"],
    ["groups", "grouped", "--json"],
    ["inspect", "orders", "one"],
    ["peek", "orders", "ready", "--count", "1000"],
    ["peek", "orders", "ready", "--count", "1000", "--json"],
    ["find", "orders", "one"],
    ["push", "orders", "body"],
    ["lock", "orders", "report"],
    ["cancel", "orders", "one", "--json"],
    ["purge", "orders", "dead", "--yes"],
    ["redisson", "size", "orders"],
    ["laravel", "size", "orders"],
    ["--help"],
    ["--version"],
]
TAKING = [
    ["reserve", "orders", "--count", "100"],
    ["reserve", "orders", "--count", "100", "--ack"],
    ["reserve", "orders", "--count", "100", "--json"],
]


@pytest.fixture
def full(dueq: Program) -> Program:
    dueq("push", "orders", "body")
    dueq("bury", "orders", dueq.take())
    dueq("push", "orders", "body", "--id", "one")
    dueq("push", "grouped", "body", "--group", "acme")
    dueq("push", "orders", "--lines", stdin=b"line\n" * 300)
    return dueq


@pytest.mark.parametrize("words", SHOWING)
def test_full_disk(full: Program, words: list[str]) -> None:
    with open("/dev/full", "wb") as disk, full.start(*words, stdout=disk) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    said = b"standard output: No space left on device"
    if "--json" in words:
        assert b'"text":"' + said + b'"}\n' in err
    else:
        assert err == b"dueq: " + said + b"\n"


def gone(dueq: Program, *words: str) -> tuple[int, bytes]:
    """A run whose output nobody reads."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as pipe, dueq.start(*words, stdout=pipe) as process:
        _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize("words", SHOWING)
def test_reader_that_is_gone(full: Program, words: list[str]) -> None:
    """It ends as by SIGPIPE, in silence."""
    assert gone(full, *words) == (128 + signal.SIGPIPE, b"")


def test_reader_that_has_read_enough(full: Program) -> None:
    """A line is larger than any pipe, so that the rest meets nobody."""
    full("push", "orders", stdin=b"x" * 5_000_000)
    script = 'set -o pipefail; "$0" peek orders ready --count 1000 --json | head -c 10 | wc -c'
    process = subprocess.run(
        ["bash", "-c", script, full.path],
        env=full.environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (process.stdout.strip(), process.stderr) == (b"10", b"")
    assert process.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("words", TAKING)
def test_what_is_taken_and_not_printed_is_given_back(full: Program, words: list[str]) -> None:
    code, err = gone(full, *words)
    assert code == 128 + signal.SIGPIPE
    assert b"100 of 100 messages were released" in err
    with open("/dev/full", "wb") as disk, full.start(*words, stdout=disk) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert b"100 of 100 messages were released" in err
    stats = full.stats()
    assert (stats["ready"], stats["leased"], stats["acked"]) == (301, 0, 0)


def test_ctrl_c_while_nobody_reads(dueq: Program) -> None:
    """It is not held up by what it cannot write, and gives that back."""
    dueq("push", "orders", stdin=b"x" * 3_000_000)
    with dueq.start("reserve", "orders", "--ack") as process:
        assert process.stdout
        assert os.read(process.stdout.fileno(), 1) == b"x"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 128 + signal.SIGINT
        assert process.stderr
        assert b"1 of 1 messages were released" in process.stderr.read()
    assert dueq.stats()["ready"] == 1


# ---- Standard files that are closed ----


@pytest.mark.parametrize("which", [">&-", "<&- >&-", "<&- >&- 2>&-", "2>&-"])
@pytest.mark.parametrize(
    "words", ["reserve orders --body", "reserve orders --ack", "find orders x"]
)
def test_closed_output_is_no_way_to_the_server(
    dueq: Program, server: Server, which: str, words: str
) -> None:
    """What is printed is never read by the server as commands."""
    dueq("push", "orders", "\r\nFLUSHALL\r\nSET pwned yes\r\n", "--id", "x")
    process = subprocess.run(
        ["sh", "-c", f'"$0" {words} {which}', dueq.path],
        env=dueq.environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert server.command("GET", "pwned") is None
    if which != "2>&-":
        assert process.returncode == 4
        assert dueq.find("x")["state"] == "ready"
        if "2>&-" not in which:
            assert b"dueq: standard output: Bad file descriptor" in process.stderr


def test_closed_input_is_no_body(dueq: Program, tmp_path: Path) -> None:
    process = subprocess.run(
        ["sh", "-c", '"$0" push orders <&-', dueq.path],
        env=dueq.environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 4
    assert process.stderr.startswith(b"dueq: standard input: ")
