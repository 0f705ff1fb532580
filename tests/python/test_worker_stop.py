"""How the worker process ends, rests, and says what it does."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from pathlib import Path

import pytest

import dueq
from private_server import Server
from test_worker import pools, push, stats
from worker_process import WorkerProcess, until

HOLDS = [
    ("threads", "hold"),
    ("threads", "async_hold"),
    ("processes", "hold"),
    ("processes", "async_hold"),
    ("asyncio", "hold"),
    ("asyncio", "async_hold"),
]

holds = pytest.mark.parametrize(("pool", "task"), HOLDS)
some_holds = pytest.mark.parametrize(("pool", "task"), [HOLDS[0], HOLDS[2], HOLDS[5]])


def stop(worker: WorkerProcess) -> None:
    """Sends SIGTERM, and returns when the process that runs the job knows."""
    worker.send(signal.SIGTERM)
    worker.wait_until_said("to finish: 1")


@holds
def test_worker_stop_lets_jobs_finish(url: str, tmp_path: Path, pool: str, task: str) -> None:
    # Another process may not know yet, and take the message behind.
    number = "1" if pool == "processes" else "4"
    words = ["--pool", pool, "--prefetch", "3", "--concurrency", number]
    with WorkerProcess(tmp_path, url, *words) as worker:
        push(url, task, "x")
        worker.wait_for("began x")
        stop(worker)
        push(url, task, "after")
        worker.gate.touch()
        assert worker.ended() == 0
        assert worker.notes() == ["began x", "ended x"]
    counts = stats(url)
    assert (counts.acked, counts.retried, counts.ready, counts.leased) == (1, 0, 1, 0)


@some_holds
def test_worker_stop_releases_what_does_not_finish(
    url: str, tmp_path: Path, pool: str, task: str
) -> None:
    for _ in range(10):
        push(url, task, "x")
    words = ["--pool", pool, "--concurrency", "2", "--prefetch", "5", "--grace", "0.3"]
    with WorkerProcess(tmp_path, url, *words) as worker:
        worker.wait_for("began x", "began x")
        with dueq.Queue("default", url) as queue:
            until(lambda: sum(one.running for one in queue.workers()) == 2, "the registration")
            worker.send(signal.SIGINT)
            assert worker.ended() == 0
            assert worker.said("the grace of 0.3 s is over")
            assert queue.workers() == []
    counts = stats(url)
    assert (counts.ready, counts.leased, counts.retried, counts.acked) == (10, 0, 0, 0)
    with dueq.Queue("default", url) as queue:
        for message in queue.reserve_many(10):
            assert (message.attempt, message.crashes) == (1, 0)


# A process that has done its share is replaced, and the worker goes on.
ENDS = [
    (pool, way)
    for pool in ("threads", "processes", "asyncio")
    for way in ("stop", "abort", "--max-jobs", "--max-time")
    if pool != "processes" or not way.startswith("--")
]


@pytest.mark.parametrize(("pool", "way"), ENDS)
def test_worker_is_registered_no_more_however_it_ends(
    url: str, tmp_path: Path, pool: str, way: str
) -> None:
    words = [way, "1" if way == "--max-jobs" else "4"] if way.startswith("--") else []
    with (
        WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2", *words) as worker,
        dueq.Queue("default", url) as queue,
    ):
        if way in ("abort", "--max-jobs"):
            push(url, "hold", "x")
            worker.wait_for("began x")
        until(queue.workers, "the registration")
        if way == "--max-jobs":
            worker.gate.touch()
        elif way == "stop":
            worker.send(signal.SIGTERM)
        elif way == "abort":
            stop(worker)
            worker.send(signal.SIGTERM)
        assert worker.ended() == (128 + signal.SIGTERM if way == "abort" else 0)
        assert queue.workers() == []


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize(("pool", "task"), [HOLDS[0], HOLDS[5]])
def test_worker_that_is_killed_while_it_stops_is_told_from_a_crash(
    url: str, tmp_path: Path, server: Server, pool: str, task: str, stops: bool
) -> None:
    push(url, task, "x")
    with (
        WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "1") as worker,
        dueq.Queue("default", url) as queue,
    ):
        worker.wait_for("began x")
        until(lambda: sum(one.running for one in queue.workers()) == 1, "the registration")
        assert all(task in one.tasks.split("\n") for one in queue.workers())
        if stops:
            stop(worker)
            until(lambda: [one for one in queue.workers() if one.stopping], "that it stops")
        worker.send(signal.SIGKILL)
        worker.ended()
        for one in queue.workers():
            server.command("ZINCRBY", "dueq:{default}:consumers", "-60000", one.session)
        found = queue.workers()
        assert {one.offline for one in found} == {True}
        assert {one.stopping for one in found} == {stops}


@some_holds
def test_worker_second_signal_aborts(url: str, tmp_path: Path, pool: str, task: str) -> None:
    push(url, task, "x")
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        worker.wait_for("began x")
        stop(worker)
        worker.send(signal.SIGTERM)
        assert worker.ended() == 128 + signal.SIGTERM
    counts = stats(url)
    assert (counts.ready, counts.leased, counts.retried) == (1, 0, 0)


@pools
def test_worker_is_quiet_and_goes_on(url: str, tmp_path: Path, pool: str) -> None:
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "1") as worker:
        push(url, "add", 1)
        worker.wait_for("add 1")
        worker.send(signal.SIGTSTP)
        worker.wait_until_said("takes nothing new")
        # Its loop has ended when another consumer is the one that is woken.
        with dueq.Queue("default", url) as queue:
            until(lambda: stats(url).leased == 0, "the settlement")
            push(url, "add", 2)
            message = queue.reserve(timeout=10)
            assert message is not None
            assert b"2" in message.body
            message.release()
            worker.send(signal.SIGCONT)
            worker.wait_for("add 2")
        assert worker.stop() == 0


def what_it_does(url: str, tmp_path: Path, pool: str, task: str) -> str:
    """What a worker logs of a job at SIGUSR1."""
    push(url, task, "x")
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2") as worker:
        worker.wait_for("began x")
        worker.wait_until_said("worker_app:app, queues", 2 if pool == "processes" else 1)
        worker.send(signal.SIGUSR1)
        line = worker.wait_until_said(f": <Job {task} ")["message"]
        worker.wait_until_said("idle")
        worker.gate.touch()
        assert worker.stop() == 0
    return str(line)


@holds
def test_worker_says_what_it_does(url: str, tmp_path: Path, pool: str, task: str) -> None:
    line = what_it_does(url, tmp_path, pool, task)
    assert f"in {task}" in line
    assert "worker_app.py" in line
    assert "sleep(0.01)" in line


@pools
def test_worker_says_where_a_coroutine_computes(url: str, tmp_path: Path, pool: str) -> None:
    """A coroutine that runs at this moment does not say what it awaits."""
    line = what_it_does(url, tmp_path, pool, "async_compute")
    assert "in async_compute" in line
    assert "worker_app.py" in line


@pytest.mark.parametrize(
    ("pool", "task"),
    [
        ("threads", "slow"),
        ("threads", "asleep"),
        ("threads", "async_slow"),
        ("processes", "slow"),
        ("processes", "asleep"),
        ("processes", "async_slow"),
        ("asyncio", "slow"),
        ("asyncio", "async_slow"),
    ],
)
def test_worker_soft_limit(url: str, tmp_path: Path, pool: str, task: str) -> None:
    push(url, task)
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "1") as worker:
        until(lambda: stats(url).delayed == 1, worker.log)
        push(url, "add", 1)
        worker.wait_for("add 1")
        assert worker.stop() == 0
    with dueq.Queue("default", url) as queue:
        [left] = queue.peek("delayed")
        assert left.error == "SoftTimeout: the job has run for its timeout"


@pytest.mark.parametrize("pool", ["threads", "asyncio"])
def test_worker_hard_limit_ends_the_process(url: str, tmp_path: Path, pool: str) -> None:
    push(url, "deaf")
    push(url, "hold", "x")
    words = ["--pool", pool, "--concurrency", "2", "--grace", "20"]
    with WorkerProcess(tmp_path, url, *words) as worker:
        worker.wait_for("began deaf", "began x", "soft")
        worker.wait_until_said("a job is stuck: stops")
        worker.gate.touch()
        assert worker.ended() == 70
        assert "in deaf" in worker.said("HardTimeout")[0]["message"]
        assert "ended x" in worker.notes()
    counts = stats(url)
    assert (counts.acked, counts.delayed, counts.leased) == (1, 1, 0)
    with dueq.Queue("default", url) as queue:
        [left] = queue.peek("delayed")
        assert left.error.startswith("HardTimeout: the job did not end within")


def test_worker_hard_limit_replaces_a_child(url: str, tmp_path: Path) -> None:
    push(url, "deaf")
    with WorkerProcess(tmp_path, url, "--pool", "processes", "--concurrency", "1") as worker:
        worker.wait_until_said("ended with 70, and is replaced")
        push(url, "add", 1)
        worker.wait_for("add 1")
        assert worker.stop() == 0
    assert (stats(url).acked, stats(url).delayed) == (1, 1)


def test_worker_child_that_lets_no_thread_run_is_killed(url: str, tmp_path: Path) -> None:
    push(url, "stuck")
    words = ["--pool", "processes", "--concurrency", "1", "--lease", "1"]
    with WorkerProcess(tmp_path, url, *words) as worker:
        worker.wait_until_said("is killed: its job is over its hard limit")
        worker.wait_until_said("was killed by SIGKILL, and is replaced")
        push(url, "add", 1)
        worker.wait_for("add 1")
        assert worker.stop() == 0


def test_worker_child_that_is_killed_is_replaced(url: str, tmp_path: Path) -> None:
    with WorkerProcess(tmp_path, url, "--pool", "processes", "--concurrency", "2") as worker:
        push(url, "die")
        worker.wait_until_said("was killed by SIGKILL, and is replaced")
        push(url, "add", 1)
        push(url, "add", 2)
        worker.wait_for("add 1", "add 2")
        assert worker.stop() == 0


def test_worker_child_that_dies_at_once_has_a_pause(url: str, tmp_path: Path) -> None:
    """Where the worker was ready once: one that cannot start at all ends."""
    (tmp_path / "broken.py").write_text(
        "import os, pathlib, dueq\n"
        "mark = pathlib.Path('mark')\n"
        "assert not mark.exists()\n"
        "app = dueq.App()\n"
        "@app.task\n"
        "def spoil() -> None:\n"
        "    mark.touch()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    words = ["--pool", "processes", "--concurrency", "1"]
    with (
        tempfile.TemporaryDirectory(prefix="dueq-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd,
    ):
        systemd.bind(os.path.join(folder, "notify"))
        systemd.settimeout(30)
        notify = systemd.getsockname()
        with WorkerProcess(
            tmp_path, url, *words, app="broken:app", cwd=tmp_path, NOTIFY_SOCKET=notify
        ) as worker:
            assert systemd.recv(100) == b"READY=1"
            push(url, "spoil")
            worker.wait_until_said("was killed by SIGKILL, and is replaced in 0.5 s")
            worker.wait_until_said("ended with 1, and is replaced in 1 s")
            worker.wait_until_said("ended with 1, and is replaced in 2 s")
            assert worker.stop() == 0


def test_worker_children_end_with_their_parent(url: str, tmp_path: Path) -> None:
    with WorkerProcess(tmp_path, url, "--pool", "processes", "--concurrency", "2") as worker:
        push(url, "hold", "x")
        worker.wait_for("began x")
        worker.wait_until_said("queues default", 2)
        pids = {line["pid"] for line in worker.said("queues default")}
        assert len(pids) == 2
        worker.send(signal.SIGKILL)
        worker.wait_until_said("the parent has ended: stops", 2)
        worker.gate.touch()
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), worker.log)
    assert stats(url).acked == 1


@pools
def test_worker_does_not_say_done_of_a_lost_job(url: str, tmp_path: Path, pool: str) -> None:
    with WorkerProcess(tmp_path, url, "--pool", pool, "--lease", "600ms") as worker:
        push(url, "hold", "x")
        worker.wait_for("began x")
        with dueq.Queue("default", url) as queue:
            [message] = queue.peek("leased")
            queue.cancel(message.id)
        worker.wait_until_said(f"lost: message {message.id}: ")
        worker.gate.touch()
        worker.wait_until_said("its lease was lost before")
        assert worker.stop() == 0
        assert not worker.said("done in")


@pools
def test_worker_exit_of_a_handler_is_a_crash(url: str, tmp_path: Path, pool: str) -> None:
    with dueq.Queue("default", url) as queue:
        queue.push('{"args":[]}', headers={"task": "leave"}, max_crashes=1)
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        said = worker.wait_until_said("for it ended by SystemExit: 3")
        assert "crashed after" in said["message"]
        until(lambda: stats(url).dead == 1, worker.log)
        push(url, "add", 1)
        worker.wait_for("add 1")
        assert worker.stop() == 0
    counts = stats(url)
    assert (counts.retried, counts.delayed, counts.acked) == (0, 0, 1)


@pytest.mark.parametrize(
    ("pool", "task"), [(pool, task.replace("hold", "count")) for pool, task in HOLDS]
)
def test_worker_stop_lets_a_long_job_go_on(url: str, tmp_path: Path, pool: str, task: str) -> None:
    push(url, task, 6)
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        worker.wait_for("count 3 1")
        stop(worker)
        worker.gate.touch()
        assert worker.ended() == 0
        assert worker.said("released, for it ended by Stopped: the worker stops")
    with dueq.Queue("default", url) as queue:
        [left] = queue.peek("ready")
        # The process that runs the job may learn of the stop a step later than its parent says so.
        assert left.headers["cursor"] == str(len(worker.notes()))
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        until(lambda: stats(url).acked == 1, worker.log)
        assert worker.stop() == 0
        assert worker.notes() == [f"count {number} 1" for number in range(6)]
    counts = stats(url)
    assert (counts.acked, counts.retried) == (1, 0)


def test_worker_checkpoint_in_the_loop_s_own_thread_is_refused(url: str, tmp_path: Path) -> None:
    push(url, "async_wrong")
    with WorkerProcess(tmp_path, url, "--pool", "asyncio", "--max-jobs", "1") as worker:
        assert worker.ended() == 0
        assert worker.said("RuntimeError: this would wait for itself: await acheckpoint()")


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_worker_watch_starts_anew(url: str, tmp_path: Path, pool: str) -> None:
    code = tmp_path / "changing.py"
    text = "import dueq, os\napp = dueq.App()\n@app.task\ndef say():\n    "
    note = "open(os.environ['LEDGER'], 'a').write('{}\\n')\n"
    code.write_text(text + note.format("one"))
    words = ["--pool", pool, "--concurrency", "1", "--watch"]
    with WorkerProcess(tmp_path, url, *words, app="changing:app", cwd=tmp_path) as worker:
        push(url, "say")
        worker.wait_for("one")
        code.write_text("this is no Python\n")
        worker.wait_until_said("changing.py has changed: stops")
        worker.wait_until_said("changing:app cannot be imported")
        code.write_text(text + note.format("three"))
        push(url, "say")
        worker.wait_for("three")
        assert worker.stop() == 0


@pools
def test_worker_outlives_an_outage(own_server: Server, tmp_path: Path, pool: str) -> None:
    # The warning comes after a second: by then calls have failed by this deadline.
    url = own_server.url + "?timeout=500ms"
    processes = 2 if pool == "processes" else 1
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2") as worker:
        push(url, "add", 1)
        worker.wait_for("add 1")
        until(lambda: own_server.waiting() == (1 if pool == "asyncio" else 2), worker.log)
        own_server.stop()
        worker.wait_until_said("it is tried again", processes)
        own_server.start()
        worker.wait_until_said("it answers again, after ", processes)
        push(url, "add", 2)
        worker.wait_for("add 2")
        assert worker.stop() == 0
        assert len(worker.said("it is tried again")) == processes
        assert len(worker.said("it answers again")) == processes


@pools
def test_worker_waits_for_its_server(own_server: Server, tmp_path: Path, pool: str) -> None:
    own_server.stop()
    with WorkerProcess(tmp_path, own_server.url, "--pool", pool) as worker:
        worker.wait_until_said(f"{own_server.url}: it is tried again: ")
        own_server.start()
        worker.wait_until_said(f"{own_server.url}: it answers again, after ")
        push(own_server.url, "add", 1)
        worker.wait_for("add 1")
        assert worker.stop() == 0


@pools
@pytest.mark.parametrize(
    ("user", "error"),
    [
        (":wrong@", "AuthError"),
        ("one_queue:secret@", "DeniedError"),
        ("all:secret@?db=99", "DatabaseError"),
    ],
)
def test_worker_ends_where_the_server_refuses_it(
    own_server: Server, tmp_path: Path, pool: str, user: str, error: str
) -> None:
    own_server.command("ACL", "SETUSER", "all", "on", ">secret", "+@all", "~*", "&*")
    own_server.command(
        "ACL", "SETUSER", "one_queue", "on", ">secret", "+@all", "~dueq:{default}*", "&*"
    )
    user, at, database = user.partition("@")
    url = own_server.url.replace("//", f"//{user}{at}") + database
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        assert worker.ended() == 1
        assert worker.said(f"the worker cannot go on: {error}")
        assert not worker.said("is replaced")


@pools
def test_worker_tells_systemd(url: str, tmp_path: Path, pool: str) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="dueq-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd,
    ):
        systemd.bind(os.path.join(folder, "notify"))
        systemd.settimeout(30)
        variables = {"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": "900000"}
        with WorkerProcess(tmp_path, url, "--pool", pool, **variables) as worker:
            told: list[bytes] = []
            while told.count(b"WATCHDOG=1") < 3 or b"READY=1" not in told:
                told.append(systemd.recv(100))
            worker.send(signal.SIGTERM)
            while told[-1] != b"STOPPING=1":
                told.append(systemd.recv(100))
            assert worker.ended() == 0
            assert set(told) == {b"READY=1", b"WATCHDOG=1", b"STOPPING=1"}
