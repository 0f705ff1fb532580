"""The worker process: what it runs, in which order, and how it ends by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dueq
from worker_process import HERE, WorkerProcess, until

POOLS = ["threads", "processes", "asyncio"]

pools = pytest.mark.parametrize("pool", POOLS)


def push(url: str, task: str, *args: object, queue: str = "default") -> str:
    """As a program in any language does."""
    with dueq.Queue(queue, url) as target:
        return target.push(json.dumps({"args": args}), headers={"task": task}, backoff=60)


def stats(url: str, queue: str = "default") -> dueq.Stats:
    with dueq.Queue(queue, url) as target:
        return target.stats()


@pools
def test_worker_runs_tasks(url: str, tmp_path: Path, pool: str) -> None:
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2") as worker:
        push(url, "add", 1, 2)
        push(url, "async_add", 3, 4)
        push(url, "fail", "no luck")
        with dueq.Queue("plain", url) as plain:
            plain.push("a message")
        worker.wait_for("add 3", "async_add 7", "plain a message", "fail 1")
        until(lambda: stats(url).delayed == 1, "the retry")
        failure = worker.wait_until_said("task fail")
        assert worker.stop() == 0
    counts = stats(url)
    assert (counts.acked, counts.retried, counts.ready, counts.leased) == (2, 1, 0, 0)
    with dueq.Queue("default", url) as queue:
        [left] = queue.peek("delayed")
        assert (left.error, left.attempt) == ("ValueError: no luck", 1)
    assert failure["level"] == "error"
    assert "worker_app.py" in failure["traceback"]
    assert "raise ValueError(text)" in failure["traceback"]
    assert {key: failure[key] for key in ("task", "queue", "attempt")} == {
        "task": "fail",
        "queue": "default",
        "attempt": 1,
    }


@pools
@pytest.mark.parametrize("task", ["hold", "async_hold"])
def test_worker_runs_as_many_at_once_as_told(
    url: str, tmp_path: Path, pool: str, task: str
) -> None:
    for name in "abc":
        push(url, task, name)
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "3") as worker:
        worker.wait_for("began a", "began b", "began c")
        worker.gate.touch()
        worker.wait_for("ended a", "ended b", "ended c")
        assert worker.stop() == 0
    assert stats(url).acked == 3


@pools
def test_worker_runs_the_middleware_around_each_job(url: str, tmp_path: Path, pool: str) -> None:
    words = ["--pool", pool, "--concurrency", "1", "--max-jobs", "1"]
    for task in ["plain_task", "async_task"]:
        push(url, task, 5, "2026-11-28", queue="wrapped")
        ledger = tmp_path / task
        ledger.mkdir()
        with WorkerProcess(ledger, url, *words, app="worker_app:wrapped") as worker:
            worker.wait_for("outer over")
            worker.stop()
            assert worker.notes() == [
                f"outer {task} [5, datetime.date(2026, 11, 28)] True",
                f"inner {task}",
                f"{task} 5 2026-11-28 inner session {task}",
                "inner over",
                "outer over",
            ]


@pytest.mark.parametrize(
    ("headers", "body", "error"),
    [
        ({"task": "nobody"}, "{}", "UnknownTask: there is no task 'nobody' here; there are add, "),
        ({"task": "add", "serializer": "yaml"}, "", "UnknownTask: there is no serializer 'yaml' "),
        ({"task": "add"}, "[1, 2]", 'BadTask: the body is not {"args": [...], "kwargs": {...}}'),
        ({"task": "add"}, '{"args": [], "more": 1}', 'BadTask: the body is not {"args": [...], '),
        ({"task": "add"}, "{", "BadTask: the body is not of the serializer json: "),
        ({"task": "add"}, '{"args": [NaN]}', "BadTask: the body is not of the serializer json: "),
        ({}, "x", "UnknownTask: the message is no task, and the queue default has no handler here"),
        ({"task": "add"}, '{"args": [1, 2, 3]}', "TypeError: add() takes from 1 to 2 positional "),
    ],
)
def test_worker_retries_what_it_cannot_run(
    url: str, tmp_path: Path, headers: dict[str, str], body: str, error: str
) -> None:
    with dueq.Queue("default", url) as queue:
        queue.push(body, headers=headers, backoff=60)
        with WorkerProcess(tmp_path, url, "--max-jobs", "1") as worker:
            assert worker.ended() == 0
            assert any(error[:40] in line["message"] for line in worker.log)
        [left] = queue.peek("delayed")
        assert left.error.startswith(error)


@pytest.mark.parametrize(
    ("queues", "first", "second"), [("a,b", 8, 0), ("b,a", 0, 8), ("a:3,b:1", 6, 2)]
)
def test_worker_takes_by_preference_or_weight(
    url: str, tmp_path: Path, queues: str, first: int, second: int
) -> None:
    for queue in "ab":
        for _ in range(10):
            push(url, "add", 1, queue=queue)
    words = ["--queues", queues, "--concurrency", "1", "--max-jobs", "8"]
    with WorkerProcess(tmp_path, url, *words) as worker:
        assert worker.ended() == 0
    assert [stats(url, queue).acked for queue in "ab"] == [first, second]


def test_worker_ends_after_max_time(url: str, tmp_path: Path) -> None:
    with WorkerProcess(tmp_path, url, "--max-time", "0.2") as worker:
        assert worker.ended() == 0
        assert worker.said("--max-time 0.2 is over")


def test_worker_ends_when_it_is_large(url: str, tmp_path: Path) -> None:
    push(url, "grow", 200)
    with WorkerProcess(tmp_path, url, "--memory", "150") as worker:
        assert worker.ended() == 0
        assert worker.said("more than --memory 150")
        assert worker.notes() == ["grown"]


@pools
def test_worker_says_once_which_queues_nobody_pushed_to(
    url: str, tmp_path: Path, pool: str
) -> None:
    push(url, "add", 1)
    words = ["--pool", pool, "--concurrency", "2", "--queues", "default,defualt"]
    with WorkerProcess(tmp_path, url, *words) as worker:
        worker.wait_for("add 1")
        worker.wait_until_said("nothing was ever pushed")
        push(url, "add", 2, queue="defualt")
        worker.wait_for("add 2")
        assert worker.stop() == 0
    [line] = worker.said("nothing was ever pushed")
    assert (line["level"], line["message"]) == (
        "warning",
        "nothing was ever pushed to the queue defualt; dueq queues lists the queues of this server",
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["worker_app"], "'worker_app' is not of the form module:app"),
        (["no_such.module:app"], "there is no module 'no_such'"),
        (["worker_app:ap"], "has no 'ap'; its apps: app, keyed, nothing, picky, wrapped"),
        (["worker_app:number"], "is of the type int, and not a dueq.App"),
        (["worker_app:nothing"], "has no task and no --queues"),
        (["worker_app:app", "--queues", "a:1,b"], "give each queue a weight, once, or none"),
        (["worker_app:app", "--queues", "a,,b"], "an empty name, or one twice"),
        (["worker_app:app", "--queues", "a:1023,b:2"], "the sum of the weights is 1025"),
        (["worker_app:app", "--queues", "a{b}"], "dueq-worker: "),
        (["worker_app:app", "--concurrency", "0"], "not a whole number above 0"),
        (["worker_app:app", "--grace", "soon"], "'soon' is not a duration; write 250ms"),
        (["worker_app:app", "--lease", "0s"], "'0s' is not a duration above 0"),
        (["worker_app:app", "--prefetch", "201"], "more than 200"),
        ([], "the following arguments are required: module:app"),
    ],
)
def test_worker_refuses_a_wrong_command_line(
    url: str, tmp_path: Path, words: list[str], says: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dueq", *words],
        env={**os.environ, "DUEQ_URL": url, "LEDGER": str(tmp_path / "ledger")},
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_worker_processes_refuse_a_wrong_app_once_and_for_all(url: str, tmp_path: Path) -> None:
    with WorkerProcess(tmp_path, url, "--pool", "processes", app="worker_app:ap") as worker:
        assert worker.ended() == 2


@pools
def test_worker_refuses_a_wrong_url(tmp_path: Path, pool: str) -> None:
    with WorkerProcess(tmp_path, "redis://nowhere:70000", "--pool", pool) as worker:
        assert worker.ended() == 2
        assert worker.said("dueq-worker: not a valid server URL: the port")
        assert not worker.said("Traceback")


@pools
def test_worker_tells_what_its_app_raises(url: str, tmp_path: Path, pool: str) -> None:
    (tmp_path / "broken.py").write_text("import dueq\napp = dueq.App(\nurl='nothing')\n1 / 0\n")
    with WorkerProcess(tmp_path, url, "--pool", pool, app="broken:app", cwd=tmp_path) as worker:
        assert worker.ended() == 1
        assert "ZeroDivisionError" in worker.said("broken:app cannot be imported")[0]["traceback"]


def test_worker_is_a_command_that_teaches() -> None:
    command = shutil.which("dueq-worker", path=str(Path(sys.executable).parent))
    assert command
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    for word in ["module:app", "--queues", "--grace", "TSTP", "exit code", "asyncio"]:
        assert word in done.stdout


def test_worker_logs_text(url: str, tmp_path: Path) -> None:
    push(url, "fail", "a\x1b[31mb")
    push(url, "add", 1)
    done = subprocess.run(
        [sys.executable, "-m", "dueq", "worker_app:app", "--max-jobs", "2"],
        env={**os.environ, "DUEQ_URL": url, "LEDGER": str(tmp_path / "ledger")},
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert "INFO dueq.worker[" in done.stderr
    assert "failed after" in done.stderr
    assert "Traceback (most recent call last)" in done.stderr
    assert r"ValueError: a\x1b[31mb" in done.stderr
    assert "\x1b" not in done.stderr


# The same line stands in the test of PHP's worker.
OBEYED = "\x00\x07\n\r\x1b\x7f\x80\x9b\x9f\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"
FORGED = "2026-01-01 00:00:00 INFO all is well"


@pytest.mark.parametrize("kind", ["text", "json"])
def test_text_of_others_begins_no_line_of_a_log_and_steers_no_terminal(
    url: str, tmp_path: Path, kind: str
) -> None:
    text = "".join(f"a{character}" for character in OBEYED) + f"ü\n{FORGED}"
    push(url, "fail", text)
    done = subprocess.run(
        [sys.executable, "-m", "dueq", "worker_app:app", "--max-jobs", "1", "--log", kind],
        env={
            **os.environ,
            "DUEQ_URL": url,
            "LEDGER": str(tmp_path / "ledger"),
            "LC_ALL": "C.UTF-8",
        },
        cwd=HERE,
        capture_output=True,
        timeout=30,
        check=True,
    )
    log = done.stderr.decode()
    assert "ü" in log
    assert [character for character in OBEYED.replace("\n", "") if character in log] == []
    assert [line for line in log.split("\n") if line.startswith(("2026-01-01", "a"))] == []
    if kind == "json":
        (failed,) = [line for line in map(json.loads, log.splitlines()) if "traceback" in line]
        assert failed["traceback"].endswith(f"ValueError: {text}")
    else:
        lines = log[log.index("Traceback") :].split("\n")
        assert f"    {FORGED}" in lines
        assert r"\x1b" in log
        assert r"\u202e" in log
