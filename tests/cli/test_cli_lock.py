import os
import signal
import subprocess
from pathlib import Path

import pytest

from private_server import Server

from .program import Program

# What a command under the lock does: says that it runs, and ends when its input does.
UNTIL_TOLD = ["sh", "-c", "echo runs; read -r line; exit 7"]
UNDER_LOCK = ["lock", "orders", "report", "--"]


def token(dueq: Program, *words: str) -> str:
    (made,) = dueq("lock", "orders", "report", *words).lines
    return made


def test_lock_by_hand(dueq: Program) -> None:
    mine = token(dueq)
    taken = dueq.run("lock", "orders", "report")
    assert (taken.code, taken.out) == (1, b"")
    assert taken.err.startswith("dueq: TAKEN: report: ")
    assert dueq("lock", "orders", "other").text != ""
    assert dueq("lock", "parcels", "report").text != ""
    assert dueq("relock", "orders", "report", mine, "--ttl", "1h").out == b""
    assert dueq("unlock", "orders", "report", mine).out == b""
    ended = dueq("lock", "orders", "report", "--json").object
    assert ended["status"] == "OK"
    assert ended["token"] != mine


@pytest.mark.parametrize("verb", ["relock", "unlock"])
def test_lock_with_a_stale_token(dueq: Program, verb: str) -> None:
    mine = token(dueq)
    dueq("unlock", "orders", "report", mine)
    ended = dueq.run(verb, "orders", "report", mine)
    assert (ended.code, ended.out) == (1, b"")
    assert ended.err.startswith("dueq: LEASE_LOST: report: ")
    ended = dueq.run(verb, "orders", "report", mine, "--json")
    assert (ended.code, ended.object) == (1, {"token": mine, "status": "LEASE_LOST"})


def test_lock_ends_by_itself(dueq: Program) -> None:
    token(dueq, "--ttl", "300ms")
    assert token(dueq, "--wait", "10s")


def test_lock_waits_for_its_turn(dueq: Program, server: Server) -> None:
    mine = token(dueq)
    with dueq.start("lock", "orders", "report", "--wait", "forever", "--", "echo", "mine") as other:
        server.wait_for_waiting(1)
        dueq("unlock", "orders", "report", mine)
        out, err = other.communicate(timeout=60)
    assert (other.returncode, out, err) == (0, b"mine\n", b"")


def test_lock_waits_in_vain(dueq: Program) -> None:
    token(dueq)
    assert dueq.run("lock", "orders", "report", "--wait", "200ms").code == 1


def test_lock_passes_the_exit_code_and_the_words_on(dueq: Program) -> None:
    words = ["sh", "-c", 'printf "<%s>" "$@"; cat; exit 7', "sh", "--json", "-x", "a b"]
    ended = dueq.run("lock", "orders", "report", "--", *words, stdin=b"input")
    assert (ended.code, ended.out, ended.err) == (7, b"<--json><-x><a b>input", "")
    assert token(dueq)


def test_lock_is_held_while_the_command_runs(dueq: Program) -> None:
    with dueq.start("lock", "orders", "report", "--ttl", "600ms", "--", *UNTIL_TOLD) as process:
        assert process.stdout
        assert process.stdout.readline() == b"runs\n"
        # Longer than its time to live: it is kept.
        assert dueq.run("lock", "orders", "report", "--wait", "2s").code == 1
        inner = dueq.run("lock", "orders", "report", "--", "echo", "inner")
        assert (inner.code, inner.out) == (124, b"")
        assert inner.err.startswith("dueq: TAKEN: report: ")
        _, err = process.communicate(b"end\n", timeout=60)
    assert (process.returncode, err) == (7, b"")
    assert token(dueq)


def test_lock_that_is_lost_while_the_command_runs(dueq: Program, server: Server) -> None:
    with dueq.start("lock", "orders", "report", "--ttl", "300ms", "--", *UNTIL_TOLD) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"runs\n"
        server.command("FLUSHALL")
        # Said at once, not at the end.
        assert process.stderr.readline().startswith(b"dueq: LEASE_LOST: report: ")
        assert token(dueq)
        process.communicate(b"end\n", timeout=60)
    assert process.returncode == 125
    assert dueq.run("lock", "orders", "report").code == 1


def test_lock_that_is_found_lost_at_the_end(dueq: Program, server: Server) -> None:
    with dueq.start("lock", "orders", "report", "--ttl", "1h", "--", *UNTIL_TOLD) as process:
        assert process.stdout
        assert process.stdout.readline() == b"runs\n"
        server.command("FLUSHALL")
        _, err = process.communicate(b"end\n", timeout=60)
    assert process.returncode == 125
    assert err.startswith(b"dueq: LEASE_LOST: report: ")


def test_lock_outlasts_a_break_of_the_server(dueq: Program) -> None:
    with Server() as server:
        url = ["--url", f"{server.url}?timeout=300ms"]
        words = ["lock", "orders", "report", "--ttl", "30s", *url, "--", *UNTIL_TOLD]
        with dueq.start(*words) as process:
            assert process.stdout
            assert process.stdout.readline() == b"runs\n"
            server.freeze()
            try:
                assert process.stdin
                process.stdin.write(b"end\n")
                process.stdin.close()
                assert process.wait(timeout=60) == 7
                assert process.stderr
                assert process.stderr.read().startswith(b"dueq: TIMEOUT: report: ")
            finally:
                server.thaw()


def test_lock_that_could_not_be_kept(dueq: Program) -> None:
    with Server() as server:
        url = ["--url", f"{server.url}?timeout=200ms"]
        words = ["lock", "orders", "report", "--ttl", "600ms", *url, "--", *UNTIL_TOLD]
        with dueq.start(*words) as process:
            assert process.stdout
            assert process.stderr
            assert process.stdout.readline() == b"runs\n"
            server.stop()
            assert process.stderr.readline().startswith((b"dueq: C", b"dueq: TIMEOUT"))
            while not process.stderr.readline().startswith(b"dueq: LEASE_LOST: report: "):
                assert process.poll() is None
            process.communicate(b"end\n", timeout=60)
    assert process.returncode == 125


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_lock_passes_a_signal_on(dueq: Program, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    script = f"trap 'exit 9' {name}; echo runs; while :; do read -r line; done"
    with dueq.start("lock", "orders", "report", "--", "sh", "-c", script) as process:
        assert process.stdout
        assert process.stdout.readline() == b"runs\n"
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == 9
    assert token(dueq)


def test_lock_when_a_signal_ends_the_command(dueq: Program) -> None:
    with dueq.start("lock", "orders", "report", "--", *UNTIL_TOLD) as process:
        assert process.stdout
        assert process.stdout.readline() == b"runs\n"
        process.terminate()
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert token(dueq)


def test_lock_with_ctrl_c_at_a_terminal(dueq: Program) -> None:
    script = "trap 'echo interrupted; exit 7' INT; echo runs; while read -r line; do :; done"
    with dueq.at_a_terminal(*UNDER_LOCK, "sh", "-c", script) as (child, until):
        until(b"interrupted")
        how = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert how
        assert how.si_status == 7


def test_lock_does_not_send_ctrl_c_a_second_time(dueq: Program) -> None:
    """The terminal sends it to all of its foreground group: here, to dueq alone."""
    script = """
        trap 'echo interrupted' INT
        trap 'echo end; exit 7' USR1
        echo runs
        while read -r line; do :; done
    """
    with dueq.at_a_terminal(*UNDER_LOCK, "setsid", "sh", "-c", script) as (child, until):
        until(b"^C")
        os.kill(child, signal.SIGUSR1)
        assert b"interrupted" not in until(b"end")


def test_lock_leaves_the_command_a_clean_place(dueq: Program) -> None:
    """Neither our files nor our way with signals go on to the command."""
    script = "ls /proc/self/fd; grep SigIgn /proc/self/status"
    plain = subprocess.run(["sh", "-c", script], capture_output=True, stdin=subprocess.PIPE)
    ended = dueq("lock", "orders", "report", "--", "sh", "-c", script)
    assert ended.out == plain.stdout


def test_lock_leaves_ignored_signals_ignored(dueq: Program) -> None:
    script = 'trap "" INT; exec "$0" lock orders report -- grep SigIgn /proc/self/status'
    ended = subprocess.run(
        ["sh", "-c", script, dueq.path], env=dueq.environment, capture_output=True, timeout=60
    )
    assert int(ended.stdout.split()[1], 16) >> (signal.SIGINT - 1) & 1


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), (".", 126)])
def test_lock_of_a_command_that_does_not_run(dueq: Program, command: str, code: int) -> None:
    path = command if code == 127 else str(Path(__file__).parent)
    ended = dueq.run("lock", "orders", "report", "--", path)
    assert ended.code == code
    assert ended.err.startswith(f"dueq: {path}: ")
    assert token(dueq)


def test_lock_ended_by_a_signal_while_it_waits(dueq: Program, server: Server) -> None:
    token(dueq)
    words = ["lock", "orders", "report", "--wait", "forever", "--", "echo", "runs"]
    with dueq.start(*words) as waiting:
        server.wait_for_waiting(1)
        waiting.terminate()
        out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (128 + signal.SIGTERM, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["lock", "orders"],
        ["lock", "orders", "report", "--ttl", "0"],
        ["lock", "orders", "report", "--ttl", "long"],
        ["lock", "orders", "report", "--wait", "never"],
        ["lock", "orders", ""],
        ["relock", "orders", "report"],
        ["relock", "orders", "report", "token", "--ttl", "0"],
        ["unlock", "orders", "report"],
        ["unlock", "orders", "report", "token", "more"],
    ],
)
def test_lock_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    ended = dueq.run(*words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")
