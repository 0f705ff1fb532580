"""dueq work: leases, signals and how it ends."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from private_server import Server

from .program import Gate, Program

LONG = "for i in $(seq 200); do sleep 0.1; done"
AT_THE_GATE = ["sh", "-c", 'echo runs; read -r line < "$GATE"; echo done']


def runs(worker: subprocess.Popen[bytes]) -> None:
    """Returns when a command runs."""
    assert worker.stdout
    assert worker.stdout.readline() == b"runs\n"


# ---- Leases ----


def test_work_keeps_the_lease_while_the_command_runs(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body")
    words = ["work", "orders", "--lease", "500ms", "--limit", "1", "--json"]
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
    words = ["work", "orders", "--lease", "300ms", "--max-run", "300ms", "--limit", "1", "--json"]
    with dueq.start(*words, "--", "sh", "-c", 'read -r line < "$GATE"') as worker:
        dueq.until(lambda: dueq.stats()["reserved"] == 1)
        dueq("ack", "orders", dueq.take())
        gate.let()
        out, err = worker.communicate(timeout=60)
    assert b'"outcome":"lost"' in out
    assert err.startswith(b"dueq: LEASE_LOST: one: ")
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
    words = ["work", "orders", "--limit", "1", "--wait", "20s", "--", "env"]
    assert "DUEQ_DELIVERIES=2" in dueq(*words).lines
    assert dueq.stats()["acked"] == 1


# ---- Signals ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_work_told_to_end_lets_the_commands_finish(
    dueq: Program, gate: Gate, number: signal.Signals
) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\n")
    with dueq.start("work", "orders", "--jobs", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        runs(worker)
        worker.send_signal(number)
        assert worker.stderr
        assert worker.stderr.readline().startswith(f"dueq: signal {number}: ".encode())
        gate.let(2)
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (128 + number, b"done\ndone\n")
    stats = dueq.stats()
    assert (stats["acked"], stats["ready"], stats["reserved"]) == (2, 1, 2)


def test_work_told_to_end_while_it_waits(dueq: Program, server: Server, gate: Gate) -> None:
    with dueq.start("work", "orders", "--", *AT_THE_GATE) as worker:
        server.wait_for_waiting(1)
        worker.terminate()
        out, err = worker.communicate(timeout=60)
    assert (worker.returncode, out, err) == (128 + signal.SIGTERM, b"", b"")


def test_work_told_to_end_while_it_runs_and_waits(
    dueq: Program, server: Server, gate: Gate
) -> None:
    dueq("push", "orders", "a")
    with dueq.start("work", "orders", "--jobs", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        server.wait_for_waiting(1)
        worker.terminate()
        server.wait_for_waiting(0)
        dueq("push", "orders", "b")
        gate.let()
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (128 + signal.SIGTERM, b"done\n")
    assert (dueq.stats()["acked"], dueq.stats()["reserved"]) == (1, 1)


def test_work_gives_back_what_came_too_late(dueq: Program, server: Server, gate: Gate) -> None:
    """The reserve is under way when the signal comes, and brings a message."""
    with dueq.start("work", "orders", "--", *AT_THE_GATE) as worker:
        server.wait_for_waiting(1)
        dueq("push", "orders", "body", "--id", "one", "--delay", "1s")
        server.freeze()
        try:
            worker.terminate()
            status = Path(f"/proc/{worker.pid}/status")
            dueq.until(lambda: "ShdPnd:\t0000000000000000" in status.read_text())
            time.sleep(1)  # The server's clock goes on.
        finally:
            server.thaw()
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (128 + signal.SIGTERM, b"")
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["deliveries"]) == ("ready", 0, 1)


def test_work_passes_a_second_signal_on(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "one")
    script = f'trap "echo interrupted >&2; exit 9" INT; echo runs; {LONG}'
    words = ["work", "orders", "--retry-delay", "1h", "--", "sh", "-c", script]
    with dueq.start(*words) as worker:
        runs(worker)
        worker.terminate()
        assert worker.stderr
        assert worker.stderr.readline().startswith(b"dueq: signal 15: ")
        worker.send_signal(signal.SIGINT)
        worker.communicate(timeout=60)
    assert worker.returncode == 128 + signal.SIGTERM
    assert dueq.find("one")["error"] == "interrupted"


def test_work_passes_signals_for_commands_on_at_once(dueq: Program) -> None:
    dueq("push", "orders", "body")
    script = f'trap "exit 0" USR1; echo runs; {LONG}'
    with dueq.start("work", "orders", "--limit", "1", "--", "sh", "-c", script) as worker:
        runs(worker)
        worker.send_signal(signal.SIGUSR1)
        worker.communicate(timeout=60)
    assert (worker.returncode, dueq.stats()["acked"]) == (0, 1)


def test_work_with_ctrl_c_at_a_terminal(dueq: Program, gate: Gate) -> None:
    """The command finishes: the terminal does not send it the signal."""
    dueq("push", "orders", "body")
    with dueq.at_a_terminal("work", "orders", "--", *AT_THE_GATE) as (child, until):
        until(b"dueq: signal 2: ")
        gate.let()
        until(b"done")
        how = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert how
        assert how.si_status == 128 + signal.SIGINT
    assert dueq.stats()["acked"] == 1


def test_work_leaves_ignored_signals_ignored(dueq: Program) -> None:
    dueq("push", "orders", "body")
    script = 'trap "" INT; exec "$0" work orders --wait 0 -- grep SigIgn /proc/self/status'
    ended = subprocess.run(
        ["sh", "-c", script, dueq.path], env=dueq.environment, capture_output=True, timeout=60
    )
    assert int(ended.stdout.split()[1], 16) >> (signal.SIGINT - 1) & 1


# ---- Failures ----


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), (".", 126)])
def test_work_of_a_command_that_does_not_run(dueq: Program, command: str, code: int) -> None:
    dueq("push", "orders", "body", "--id", "one", "--delay", "50ms")
    path = command if code == 127 else str(Path(__file__).parent)
    ended = dueq.run("work", "orders", "--jobs", "3", "--", path)
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
    with dueq.start("work", "orders", "--jobs", "2", "--", str(command)) as worker:
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
        words = ["work", "orders", "--lease", "60s", "--limit", "1", "--json"]
        script = 'echo runs >&2; read -r line < "$GATE"'
        with dueq.start(*words, "--", "sh", "-c", script) as worker:
            assert worker.stderr
            assert worker.stderr.readline() == b"runs\n"
            server.freeze()
            try:
                gate.let()
                assert worker.stderr.readline().startswith(b"dueq: TIMEOUT: ")
            finally:
                server.thaw()
            out, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0
        assert dueq.stats()["acked"] == 1
        # The first call may have taken effect.
        assert b'"outcome":"acked"' in out or b'"outcome":"unknown"' in out


def test_work_waits_for_the_server(dueq: Program) -> None:
    with Server() as server:
        dueq.environment["DUEQ_URL"] = f"{server.url}?timeout=300ms"
        server.stop()
        with dueq.start("work", "orders", "--limit", "1", "--", "cat") as worker:
            assert worker.stderr
            assert worker.stderr.readline().startswith(b"dueq: CONNECT: ")
            server.start()
            dueq("push", "orders", "body")
            out, _ = worker.communicate(timeout=60)
        assert (worker.returncode, out) == (0, b"body")


def test_work_without_a_server(dueq: Program) -> None:
    url = ["--url", "unix:///nowhere/socket?timeout=300ms"]
    ended = dueq.run("work", "orders", *url, "--wait", "1.5s", "--", "cat")
    assert ended.code == 3
    assert ended.err.startswith("dueq: CONNECT: ")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["orders"],
        ["orders", "cat"],
        ["orders", "--"],
        ["--", "cat"],
        ["{}", "--", "cat"],
        ["orders", "--jobs", "0", "--", "cat"],
        ["orders", "--lease", "1ms", "--", "cat"],
        ["orders", "--slack", "101ms", "--", "cat"],
        ["orders", "--wait", "never", "--", "cat"],
        ["orders", "--limit", "0", "--", "cat"],
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
        words = ["work", "orders", "--lease", "60s", "--limit", "2", "--json"]
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
