"""dueq work: the life of a worker, which signals steer, and what it tells of itself."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from private_server import Server

from .program import AT_THE_GATE, LONG, Gate, Program, runs, said

# ---- The end ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_work_told_to_end_lets_the_commands_finish(
    dueq: Program, gate: Gate, number: signal.Signals
) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\n")
    with dueq.start("work", "orders", "--concurrency", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        runs(worker)
        worker.send_signal(number)
        assert said(worker).startswith(f"dueq: signal {number}: ".encode())
        gate.let(2)
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"done\ndone\n")
    stats = dueq.stats()
    assert (stats["acked"], stats["ready"], stats["reserved"]) == (2, 1, 2)


def test_work_told_to_end_while_it_waits(dueq: Program, server: Server, gate: Gate) -> None:
    with dueq.start("work", "orders", "--", *AT_THE_GATE) as worker:
        server.wait_for_waiting(1)
        worker.terminate()
        out, err = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"")
    assert err.splitlines() == [
        b"dueq: warning: nothing was ever pushed to the queue orders",
        b"  dueq queues lists the queues of this server",
    ]


def test_work_told_to_end_while_it_runs_and_waits(
    dueq: Program, server: Server, gate: Gate
) -> None:
    dueq("push", "orders", "a")
    with dueq.start("work", "orders", "--concurrency", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        server.wait_for_waiting(1)
        worker.terminate()
        server.wait_for_waiting(0)
        dueq("push", "orders", "b")
        gate.let()
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"done\n")
    assert (dueq.stats()["acked"], dueq.stats()["reserved"]) == (1, 1)


def test_work_that_a_message_kills_again_and_again(dueq: Program) -> None:
    bodies = b"".join(b"poison\n" if i == 3 else b"healthy\n" for i in range(9))
    dueq("push", "orders", "--lines", "--max-crashes", "3", "--backoff", "50ms", stdin=bodies)
    command = 'read -r body; if [ "$body" = poison ]; then kill -9 $PPID; sleep 0.1; fi'
    words = ["--concurrency", "4", "--lease", "400ms", "--wait", "2s", "--", "sh", "-c", command]
    while dueq.stats()["dead"] == 0:
        with dueq.start("work", "orders", *words) as worker:
            assert worker.wait() in (0, -signal.SIGKILL)
    dueq("work", "orders", "--wait", "0", "--", "true")
    assert (dueq.stats()["dead"], dueq.stats()["acked"]) == (1, 8)


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
    assert (worker.returncode, out) == (0, b"")
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["deliveries"]) == ("ready", 0, 1)


@pytest.mark.parametrize("on_term", ["", "exit 0", "exit 3"])
def test_work_releases_what_does_not_end_within_its_grace(dueq: Program, on_term: str) -> None:
    """However the command ends then: it is no failure, and another worker has the message."""
    dueq("push", "orders", "body", "--id", "one", "--max-attempts", "1")
    script = f'trap "{on_term}" TERM; echo runs; {LONG}'
    words = ["work", "orders", "--grace", "300ms", "--", "sh", "-c", script]
    with dueq.start(*words) as worker:
        runs(worker)
        worker.terminate()
        _, err = worker.communicate(timeout=60)
    assert worker.returncode == 0
    assert err.splitlines()[-1].startswith(b"dueq: one: released: attempt 1: stopped after ")
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["crashes"]) == ("ready", 0, 0)


def test_work_told_to_end_twice_ends_at_once(dueq: Program) -> None:
    """What it ran is gone, and its message another worker's, uncounted."""
    dueq("push", "orders", "body", "--id", "one", "--max-attempts", "1")
    script = f'trap "" TERM INT; echo $$; {LONG}'
    with dueq.start("work", "orders", "--", "sh", "-c", script) as worker:
        assert worker.stdout
        command = int(worker.stdout.readline())
        worker.terminate()
        assert said(worker).startswith(b"dueq: signal 15: ")
        worker.send_signal(signal.SIGINT)
        worker.communicate(timeout=15)
    assert worker.returncode == 128 + signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)
    found = dueq.find("one")
    assert (found["state"], found["attempt"], found["crashes"]) == ("ready", 0, 0)


def test_work_told_to_end_counts_a_timeout_before(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "one", "--backoff", "1h")
    words = ["work", "orders", "--timeout", "500ms", "--", "sh", "-c", f"echo runs; {LONG}"]
    with dueq.start(*words) as worker:
        runs(worker)
        worker.terminate()
        worker.communicate(timeout=60)
    assert worker.returncode == 0
    assert dueq.find("one")["error"].startswith("timed out after ")


def test_work_with_ctrl_c_at_a_terminal(dueq: Program, gate: Gate) -> None:
    """The command finishes: the terminal does not send it the signal."""
    dueq("push", "orders", "body")
    with dueq.at_a_terminal("work", "orders", "--", *AT_THE_GATE) as (child, until):
        until(b"dueq: signal 2: ")
        gate.let()
        until(b"done")
        how = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert how
        assert how.si_status == 0
    assert dueq.stats()["acked"] == 1


def test_work_leaves_ignored_signals_ignored(dueq: Program) -> None:
    dueq("push", "orders", "body")
    script = 'trap "" INT; exec "$0" work orders --wait 0 -- grep SigIgn /proc/self/status'
    ended = subprocess.run(
        ["sh", "-c", script, dueq.path], env=dueq.environment, capture_output=True, timeout=60
    )
    assert int(ended.stdout.split()[1], 16) >> (signal.SIGINT - 1) & 1


def test_work_up_to_a_time(dueq: Program, gate: Gate) -> None:
    """The command that runs then may end."""
    dueq("push", "orders", "--lines", stdin=b"a\nb\n")
    with dueq.start("work", "orders", "--max-time", "3s", "--", *AT_THE_GATE) as worker:
        runs(worker)

        def is_ending() -> bool:
            worker.send_signal(signal.SIGUSR1)
            told = said(worker), said(worker)
            return told[0].endswith(b", ending\n")

        dueq.until(is_ending)
        gate.let()
        out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"done\n")
    assert (dueq.stats()["acked"], dueq.stats()["ready"]) == (1, 1)
    assert dueq("work", "nothing", "--max-time", "200ms", "--", "cat").out == b""


# ---- Other signals ----


def test_work_is_quiet_for_a_while(dueq: Program, server: Server, gate: Gate) -> None:
    dueq("push", "orders", "a")
    with dueq.start("work", "orders", "--concurrency", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        server.wait_for_waiting(1)
        worker.send_signal(signal.SIGTSTP)
        assert said(worker).startswith(b"dueq: quiet: ")
        server.wait_for_waiting(0)
        dueq("push", "orders", "b")
        gate.let()
        dueq.until(lambda: dueq.stats()["acked"] == 1)
        assert dueq.stats()["ready"] == 1
        assert worker.poll() is None
        worker.send_signal(signal.SIGCONT)
        assert said(worker) == b"dueq: quiet no more\n"
        gate.let()
        dueq.until(lambda: dueq.stats()["acked"] == 2)
        worker.terminate()
        worker.communicate(timeout=60)
    assert worker.returncode == 0


def test_work_that_is_quiet_can_end(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x")
    dueq("reserve", "orders", "--ack")
    with dueq.start("work", "orders", "--wait", "20s", "--", "cat") as worker:
        server.wait_for_waiting(1)
        worker.send_signal(signal.SIGTSTP)
        assert said(worker).startswith(b"dueq: quiet: ")
        worker.terminate()
        worker.communicate(timeout=60)
    assert worker.returncode == 0


def test_work_tells_what_it_runs(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body", "--id", "one")
    with dueq.start("work", "orders", "--concurrency", "3", "--", *AT_THE_GATE) as worker:
        runs(worker)
        worker.send_signal(signal.SIGUSR1)
        assert said(worker) == b"dueq: 1 of 3 commands run, 1 messages so far\n"
        line = said(worker).decode()
        gate.let()
        worker.terminate()
        worker.communicate(timeout=60)
    assert re.fullmatch(
        r"dueq: orders: one: attempt 1: process \d+ runs since "
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \(\d+(ms|\.\ds)\)\n",
        line,
    )


def test_work_passes_a_signal_for_commands_on(dueq: Program) -> None:
    dueq("push", "orders", "body")
    script = f'trap "exit 0" USR2; echo runs; {LONG}'
    with dueq.start("work", "orders", "--max-jobs", "1", "--", "sh", "-c", script) as worker:
        runs(worker)
        worker.send_signal(signal.SIGUSR2)
        worker.communicate(timeout=60)
    assert (worker.returncode, dueq.stats()["acked"]) == (0, 1)


# ---- The server, and the service manager ----


def test_work_says_once_that_the_server_is_away_and_when_it_is_back(dueq: Program) -> None:
    with Server() as server:
        url = dueq.environment["DUEQ_URL"] = f"{server.url}?timeout=300ms"
        server.stop()
        with dueq.start("work", "orders", "--max-jobs", "1", "--", "cat") as worker:
            away = said(worker).decode()
            server.start()
            dueq("push", "orders", "body")
            assert worker.stderr
            back = worker.stderr.read().decode()
            out, _ = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"body")
    assert away.startswith(f"dueq: warning: {url}: it is tried again: cannot reach ")
    answers = f"dueq: warning: {re.escape(url)}: it answers again"
    assert re.fullmatch(rf"{answers}, after \d+\.\d s and \d+ tries\n", back)


def test_work_outlives_its_server(dueq: Program) -> None:
    with Server() as server:
        dueq.environment["DUEQ_URL"] = f"{server.url}?timeout=150ms"
        with dueq.start("work", "orders", "--max-jobs", "1", "--", "cat") as worker:
            server.wait_for_waiting(1)
            server.stop()
            time.sleep(0.7)
            assert worker.poll() is None
            server.start()
            dueq("push", "orders", "body")
            out, _ = worker.communicate(timeout=60)
        assert (worker.returncode, out) == (0, b"body")
        with dueq.start("work", "orders", "--wait", "1s", "--", "cat") as worker:
            server.wait_for_waiting(1)
            server.stop()
            _, err = worker.communicate(timeout=60)
    assert worker.returncode == 3
    assert b"CONNECT" in err


def test_work_tells_the_service_manager(dueq: Program, tmp_path: Path, gate: Gate) -> None:
    """Which does not hear the commands."""
    dueq.environment["NOTIFY_SOCKET"] = str(tmp_path / "notify")
    dueq("push", "orders", "body")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        command = ["sh", "-c", 'env | grep -c NOTIFY; read -r line < "$GATE"']
        with dueq.start("work", "orders", "--", *command) as worker:
            assert manager.recv(100) == b"READY=1"
            assert worker.stdout
            assert worker.stdout.readline() == b"0\n"
            worker.terminate()
            assert manager.recv(100) == b"STOPPING=1"
            gate.let()
            worker.communicate(timeout=60)
    assert worker.returncode == 0


def test_work_is_ready_when_the_server_has_answered(dueq: Program, tmp_path: Path) -> None:
    dueq.environment["NOTIFY_SOCKET"] = str(tmp_path / "notify")
    with (
        Server() as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        dueq.environment["DUEQ_URL"] = server.url
        server.stop()
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        with dueq.start("work", "orders", "--", "cat") as worker:
            assert b"it is tried again" in said(worker)
            assert select.select([manager], [], [], 0)[0] == []
            server.start()
            assert manager.recv(100) == b"READY=1"
            worker.terminate()
            worker.communicate(timeout=60)
            assert manager.recv(100) == b"STOPPING=1"
    assert worker.returncode == 0


# ---- Its log ----


def test_work_log_as_json(dueq: Program, gate: Gate) -> None:
    dueq("push", "orders", "body", "--id", "one\u202e", "--max-attempts", "1")
    script = 'read -r line < "$GATE"; exit 3'
    words = ["work", "orders", "--log", "json", "--", "sh", "-c", script]
    with dueq.start(*words) as worker:
        dueq.until(lambda: dueq.stats()["leased"] == 1)
        worker.send_signal(signal.SIGUSR1)
        told = [json.loads(said(worker)) for _ in range(2)]
        worker.terminate()
        gate.let()
        out, err = worker.communicate(timeout=60)
    assert (worker.returncode, out) == (0, b"")
    assert b"\\u202e" in err
    lines = told + [json.loads(line) for line in err.splitlines()]
    assert all(line.pop("time").startswith("20") for line in lines)
    assert [line["level"] for line in lines] == ["info", "info", "info", "error"]
    assert (lines[1]["id"], lines[1]["queue"]) == ("one\u202e", "orders")
    assert lines[1]["process"] > 0
    ended = {key: lines[3][key] for key in ("id", "attempt", "code", "outcome", "error")}
    assert ended == {
        "id": "one\u202e",
        "attempt": 1,
        "code": 3,
        "outcome": "exhausted",
        "error": "exit 3",
    }


def test_work_log_as_text_beside_json(dueq: Program) -> None:
    words = ["work", "orders", "--json", "--log", "text", "--", "no-such-command"]
    dueq("push", "orders", "body")
    ended = dueq.run(*words)
    assert (ended.code, ended.err) == (127, "dueq: no-such-command: No such file or directory\n")


# ---- Its queues ----


def test_work_queues_in_order(dueq: Program) -> None:
    dueq("push", "low", "--lines", stdin=b"a\nb\n")
    dueq("push", "high", "c")
    words = ["work", "--queues", "high,low", "--wait", "0", "--"]
    assert dueq(*words, "sh", "-c", 'echo "$DUEQ_QUEUE"').lines == ["high", "low", "low"]


def test_work_queues_by_weight(dueq: Program) -> None:
    """Of 200 messages, about 150 are of the queue that is three times as heavy."""
    for queue in ("high", "low"):
        dueq("push", queue, "--lines", stdin=b"x\n" * 200)
    words = ["work", "--queues", "high:3,low:1", "--max-jobs", "200", "--concurrency", "4", "--"]
    dueq(*words, "true")
    assert 110 < dueq.stats("high")["acked"] < 190
    assert dueq.stats("high")["acked"] + dueq.stats("low")["acked"] == 200
    words = ["work", "--queues", "empty:9,low:1", "--wait", "0", "--", "true"]
    dueq(*words)
    assert dueq.stats("low")["ready"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--queues", ""],
        ["--queues", "a:0"],
        ["--queues", "a:x"],
        ["--queues", "a:2,b"],
        ["--queues", "a,a"],
        ["--queues", "a:700,b:700"],
        ["--queues", "a", "b"],
        ["--queues", "a:2,b:1", "--round-robin"],
        ["--queues", ",".join(map(str, range(1025)))],
        ["a", "--grace", "soon"],
        ["a", "--log", "xml"],
        ["a", "--max-time", "never"],
        ["a", "--jobs", "2"],
    ],
)
def test_work_with_wrong_options(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("work", *words, "--", "cat")
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")


def test_work_says_that_its_server_is_away_while_all_commands_run(
    dueq: Program, gate: Gate
) -> None:
    with Server("--appendonly", "yes", "--appendfsync", "always") as own:
        dueq("push", "orders", "a", "--url", own.url)
        words = ("orders", "--lease", "1s", "--url", own.url, "--", *AT_THE_GATE)
        with dueq.start("work", *words) as worker:
            runs(worker)
            time.sleep(1)  # the heartbeat is connected
            own.stop()
            assert b"it is tried again" in said(worker)
            own.start()
            assert b"it answers again" in said(worker)
            gate.let()
            worker.terminate()
            worker.communicate(timeout=60)
