"""dueq work: leases, and failures."""

import time
from pathlib import Path

import pytest

from private_server import Server

from .program import LONG, Gate, Program, runs

# ---- Leases ----


def test_work_keeps_the_lease_while_the_command_runs(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body")
    words = ["work", "orders", "--lease", "500ms", "--max-jobs", "1", "--json"]
    with dueq.start(*words, "--", "sh", "-c", 'read -r line < "$GATE"') as worker:
        dueq.until(lambda: dueq.stats()["leased"] == 1)
        assert dueq.run("reserve", "orders", "--wait", "1.5s").code == 1
        gate.let()
        out, _ = worker.communicate(timeout=60)
    assert b'"outcome":"acked"' in out
    stats = dueq.stats()
    assert (stats["acked"], stats["reserved"], stats["leased"]) == (1, 1, 0)


def test_work_lets_go_after_the_longest_time(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body", "--id", "one")
    words = [
        "work",
        "orders",
        "--lease",
        "300ms",
        "--max-run",
        "300ms",
        "--max-jobs",
        "1",
        "--json",
    ]
    with dueq.start(*words, "--", "sh", "-c", 'read -r line < "$GATE"') as worker:
        dueq.until(lambda: dueq.stats()["reserved"] == 1)
        dueq("ack", "orders", dueq.take())
        gate.let()
        out, err = worker.communicate(timeout=60)
    assert b'"outcome":"lost"' in out
    assert b'"status":"LEASE_LOST","text":"one: ' in err
    assert worker.returncode == 0


def test_work_that_is_killed(dueq: Program, tmp_path: Path) -> None:
    """Another worker has its message soon, and the command is told to end."""
    dueq("push", "orders", "body", "--id", "one")
    told = tmp_path / "told"
    dueq.environment["TOLD"] = str(told)
    script = f'trap "> $TOLD; exit" TERM; echo runs; {LONG}'
    words = ["work", "orders", "--lease", "500ms", "--", "sh", "-c", script]
    with dueq.start(*words) as worker:
        runs(worker)
        worker.kill()
        worker.wait(timeout=60)
    dueq.until(told.exists)
    words = ["work", "orders", "--max-jobs", "1", "--wait", "20s", "--", "env"]
    assert "DUEQ_DELIVERIES=2" in dueq(*words).lines
    assert dueq.stats()["acked"] == 1


# ---- Failures ----


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), (".", 126)])
def test_work_of_a_command_that_does_not_run(dueq: Program, command: str, code: int) -> None:
    dueq("push", "orders", "body", "--id", "one", "--delay", "50ms")
    path = command if code == 127 else str(Path(__file__).parent)
    ended = dueq.run("work", "orders", "--concurrency", "3", "--", path)
    assert (ended.code, ended.out) == (code, b"")
    assert ended.err.startswith(f"dueq: {path}: ")
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["crashes"]) == ("ready", 0, 0)


def test_work_of_a_command_that_is_gone(dueq: Program, gate: Gate, tmp_path: Path) -> None:
    """Those that run are let finish."""
    command = tmp_path / "command"
    command.write_text('#!/bin/sh\necho runs\nread -r line < "$GATE"\n')
    command.chmod(0o755)
    dueq("push", "orders", "a")
    with dueq.start("work", "orders", "--concurrency", "2", "--", str(command)) as worker:
        runs(worker)
        command.unlink()
        dueq("push", "orders", "b", "--id", "b")
        assert worker.stderr
        assert worker.stderr.readline().startswith(f"dueq: {command}: ".encode())
        gate.let()
        worker.communicate(timeout=60)
    assert (worker.returncode, dueq.stats()["acked"]) == (127, 1)
    assert dueq.find("b")["attempt"] == 0


def test_work_outlasts_a_break_of_the_server(dueq: Program, gate: Gate) -> None:
    with Server() as server:
        dueq.environment["DUEQ_URL"] = f"{server.url}?timeout=300ms"
        dueq("push", "orders", "body")
        words = ["work", "orders", "--lease", "60s", "--max-jobs", "1", "--json"]
        script = 'echo runs >&2; read -r line < "$GATE"'
        with dueq.start(*words, "--", "sh", "-c", script) as worker:
            assert worker.stderr
            assert worker.stderr.readline() == b"runs\n"
            server.freeze()
            try:
                gate.let()
                assert b"it is tried again: " in worker.stderr.readline()
            finally:
                server.thaw()
            out, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0
        assert dueq.stats()["acked"] == 1
        # The first call may have taken effect.
        assert b'"outcome":"acked"' in out or b'"outcome":"unknown"' in out


def test_work_without_a_server(dueq: Program) -> None:
    url = ["--url", "unix:///nowhere/socket?timeout=300ms"]
    ended = dueq.run("work", "orders", *url, "--wait", "1.5s", "--", "cat")
    assert ended.code == 3
    away, error = ended.err.splitlines()[:2]
    assert "it is tried again: " in away
    assert error.startswith("dueq: CONNECT: ")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["orders"],
        ["orders", "cat"],
        ["orders", "--"],
        ["--", "cat"],
        ["{}", "--", "cat"],
        ["orders", "--concurrency", "0", "--", "cat"],
        ["orders", "--lease", "1ms", "--", "cat"],
        ["orders", "--slack", "101ms", "--", "cat"],
        ["orders", "--wait", "never", "--", "cat"],
        ["orders", "--max-jobs", "0", "--", "cat"],
        ["orders", "--timeout", "long", "--", "cat"],
        ["orders", "--bury-on", "0", "--", "cat"],
        ["orders", "--bury-on", "256", "--", "cat"],
        ["orders", "orders", "--", "cat"],
    ],
)
def test_work_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("work", *words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")


def test_work_outlives_a_planned_failover(dueq: Program, gate: Gate) -> None:
    """What its command finishes meanwhile is acknowledged when the server is a primary again."""
    with Server() as server:
        dueq.environment["DUEQ_URL"] = f"{server.url}?timeout=1s"
        dueq("push", "orders", "first")
        script = 'echo runs >&2; read -r line < "$GATE"'
        words = ["work", "orders", "--lease", "60s", "--max-jobs", "2", "--json"]
        with dueq.start(*words, "--", "sh", "-c", script) as worker:
            assert worker.stderr
            assert worker.stderr.readline() == b"runs\n"
            server.command("REPLICAOF", "127.0.0.1", "1")
            gate.let()
            assert b"READONLY" in worker.stderr.readline()
            time.sleep(2)
            assert worker.poll() is None
            server.command("REPLICAOF", "NO", "ONE")
            gate.let()
            dueq("push", "orders", "second")
            out, _ = worker.communicate(timeout=60)
        assert out.count(b'"outcome":"acked"') == 2
        assert worker.returncode == 0
        assert dueq.stats()["acked"] == 2
