"""Schedules in code, their declaration by workers of several releases, and the hooks of an app."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import dueq
from dueq import errors
from dueq.task_schedule import renewed, replaced_by
from dueq.worker import start
from private_server import Server
from worker_process import HERE, WorkerProcess, until

HOUR_MS = 3_600_000
Tasks: TypeAlias = dict[str, dict[str, Any]]
pools = pytest.mark.parametrize("pool", ["threads", "processes", "asyncio"])


def worker(folder: Path, url: str, tasks: Tasks, *words: str, **environment: str) -> WorkerProcess:
    return WorkerProcess(
        folder,
        url,
        *words,
        app="schedule_app:app",
        cwd=HERE,
        **{"TASKS": json.dumps(tasks), **environment},
    )


def found(url: str, name: str) -> dict[str, str]:
    with dueq.Queue("orders", url) as queue:
        message = queue.find(f"schedule:{name}")
        return message.headers if message else {}


def declared(
    folder: Path, url: str, tasks: Tasks, *words: str, **environment: str
) -> WorkerProcess:
    """Starts a worker, and returns when it has declared its schedules, or has refused to."""
    ledger = folder / "ledger"
    before = ledger.read_text().count("start second") if ledger.exists() else 0
    with ExitStack() as stack:
        made = stack.enter_context(worker(folder, url, tasks, *words, **environment))
        until(lambda: made.notes().count("start second") > before, made.log)
        stack.pop_all()
    return made


def labels(url: str, name: str) -> list[str]:
    return [word.partition("@")[0] for word in found(url, name).get("release", "").split()]


@pools
def test_worker_declares_and_runs_what_the_code_says(url: str, tmp_path: Path, pool: str) -> None:
    tasks: Tasks = {"tick": {"every": 1}, "night": {"cron": "30 2 * * *", "tz": "Europe/Berlin"}}
    with worker(tmp_path, url, tasks, "--pool", pool, "--concurrency", "1", DUEQ_RELEASE="v1") as w:
        until(lambda: any(line.startswith("tick tick:") for line in w.notes()), w.log)
        w.send(signal.SIGTERM)
        assert w.ended() == 0
    night = found(url, "night")
    assert night.pop("time") > "0"
    since = night.pop("release").removeprefix("v1@").removesuffix("/2")
    assert since.isdecimal()
    assert night == {"schedule": "30 2 * * *", "zone": "Europe/Berlin", "app": "shop"}
    tick = found(url, "tick")
    assert tick["schedule"] == "every 1s"
    assert int(tick["last"]) < int(tick["time"])


@pools
def test_hooks_run_in_order_once_in_each_process(url: str, tmp_path: Path, pool: str) -> None:
    with worker(tmp_path, url, {}, "--pool", pool, "--concurrency", "2") as w:
        with dueq.Queue("orders", url) as queue:
            queue.push(json.dumps({"args": [7], "kwargs": {}}), headers={"task": "order"})
        until(lambda: "order 7" in w.notes(), w.log)
        until(lambda: w.notes().count("start second") == (2 if pool == "processes" else 1), w.log)
        w.send(signal.SIGTERM)
        assert w.ended() == 0
        notes = w.notes()
    processes = 2 if pool == "processes" else 1
    for hook in ("start first", "start second", "stop third", "stop fourth"):
        assert notes.count(hook) == processes
    if processes == 1:
        assert notes == ["start first", "start second", "order 7", "stop third", "stop fourth"]


@pools
def test_hooks_run_in_the_loop_of_the_jobs(url: str, tmp_path: Path, pool: str) -> None:
    with worker(tmp_path, url, {}, "--pool", pool, "--concurrency", "1", CANNOT_CLOSE="1") as w:
        with dueq.Queue("orders", url) as queue:
            queue.push(json.dumps({"args": [], "kwargs": {}}), headers={"task": "same_loop"})
        until(lambda: "same loop True" in w.notes(), w.log)
        w.send(signal.SIGTERM)
        assert w.ended() == 0
        assert w.notes()[-2:] == ["stop third", "stop fourth"]
        said = next(line for line in w.log if "on_stop: third raised" in line["message"])
        assert "cannot close" in said["traceback"]


@pools
def test_error_in_on_start_ends_the_worker(url: str, tmp_path: Path, pool: str) -> None:
    with worker(tmp_path, url, {}, "--pool", pool, "--concurrency", "1", BROKEN="1") as w:
        assert w.ended() == 1
        assert w.notes() == ["start first", "start second"]
        said = next(line for line in w.log if "on_start: second raised" in line["message"])
        assert said["level"] == "error"
        assert "the disk is not there" in said["traceback"]


def test_same_release_changes_nothing(url: str, tmp_path: Path) -> None:
    tasks = {"night": {"cron": "30 2 * * *"}}
    with (
        dueq.Queue("orders", url) as queue,
        declared(tmp_path, url, tasks),
        declared(tmp_path, url, tasks),
    ):
        assert queue.stats().pushed == 1


def test_rolling_deploy_does_not_flap(url: str, tmp_path: Path) -> None:
    """An old worker that starts again beside new ones changes nothing, nor what is gone."""
    old: Tasks = {"night": {"cron": "30 2 * * *"}, "gone": {"every": 3600}}
    new: Tasks = {"night": {"cron": "45 2 * * *"}, "fresh": {"every": 3600}}
    with declared(tmp_path, url, old):
        assert found(url, "night")["schedule"] == "30 2 * * *"
        with declared(tmp_path, url, new) as newer:
            assert found(url, "night")["schedule"] == "45 2 * * *"
            # A schedule that the code no longer has stays until somebody removes it.
            assert found(url, "gone")["app"] == "shop"
            with declared(tmp_path, url, old) as again:
                again.wait_until_said("to go back on purpose")
                assert found(url, "night")["schedule"] == "45 2 * * *"
            assert not any("to go back" in line["message"] for line in newer.log)
        with declared(tmp_path, url, new):
            assert found(url, "night")["schedule"] == "45 2 * * *"
    assert len(labels(url, "night")) == 2


def test_deploys_that_change_the_task_lose_and_double_no_time(url: str, tmp_path: Path) -> None:
    """Six releases, each with other options of the task, replace each other while it is due."""
    workers: list[WorkerProcess] = []
    with ExitStack() as stack:
        for number in range(6):
            tasks = {"tick": {"every": 1, "catchup": "all", "max_attempts": number + 2}}
            made = declared(tmp_path, url, tasks, DUEQ_RELEASE=f"v{number}")
            workers.append(stack.enter_context(made))
            if number:
                workers[-2].send(signal.SIGTERM)
                assert workers[-2].ended() == 0
        last = workers[-1]
        count = len(last.notes())
        until(lambda: len(last.notes()) > count + 1, last.log)
        last.send(signal.SIGTERM)
        assert last.ended() == 0
        ran = [line.rpartition(":")[2] for line in last.notes() if line.startswith("tick ")]
    seconds = [int(ms) // 1000 for ms in ran]
    assert sorted(seconds) == list(range(min(seconds), max(seconds) + 1))
    assert labels(url, "tick") == ["v5", "v4", "v3", "v2", "v1", "v0"]


def test_prune_after_a_deploy_removes_what_is_gone(url: str, tmp_path: Path) -> None:
    old: Tasks = {"night": {"cron": "30 2 * * *"}, "gone": {"every": 3600}}
    new: Tasks = {"night": {"cron": "30 2 * * *", "max_attempts": 3}}

    def prune() -> str:
        command = ["dueq", "schedule", "prune", "--app", "shop", "--url", url]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with declared(tmp_path, url, old):
        assert prune() == ""
        with declared(tmp_path, url, new):
            assert prune() == "orders\tgone\n"
            with declared(tmp_path, url, old) as again:
                again.wait_until_said("to go back on purpose")
            assert prune() == ""
    assert found(url, "night")["app"] == "shop"
    assert found(url, "gone") == {}


def test_rollback_within_the_hour_has_a_name_of_its_own(url: str, tmp_path: Path) -> None:
    old, new = {"night": {"cron": "30 2 * * *"}}, {"night": {"cron": "45 2 * * *"}}
    with declared(tmp_path, url, old, DUEQ_RELEASE="v1"):
        pass
    with declared(tmp_path, url, new, DUEQ_RELEASE="v2"):
        pass
    with declared(tmp_path, url, old, DUEQ_RELEASE="v1"):
        assert found(url, "night")["schedule"] == "45 2 * * *"
    with declared(tmp_path, url, old, DUEQ_RELEASE="v1-again"):
        assert found(url, "night")["schedule"] == "30 2 * * *"
    assert labels(url, "night") == ["v1-again", "v2", "v1"]


def test_release_may_come_back_after_an_hour() -> None:
    text = renewed(renewed("", "v1", 1, 1000), "v2", 2, 2000)
    assert text == "v2@2000/2 v1@1000/1"
    assert replaced_by(text, "v1", 1999 + HOUR_MS) == "v2"
    assert replaced_by(text, "v1", 2000 + HOUR_MS) is None
    assert replaced_by(text, "v2", 2000) is None
    assert replaced_by(text, "v3", 2000) is None
    assert renewed(text, "v2", 3, 9000) == "v2@2000/3 v1@1000/1"
    assert renewed(text, "v1", 1, 9000) == "v1@9000/1 v2@2000/2"
    for number in range(20):
        text = renewed(text, f"w{number}", 1, number)
    assert text.count("@") == 8
    assert replaced_by("damaged @/ x@y", "v1", 0) is None


def test_kill_while_a_worker_declares(own_server: Server, tmp_path: Path) -> None:
    """The killed worker has declared some of its schedules; the next one declares the rest."""
    tasks = {f"task-{number}": {"every": 3600} for number in range(20)}
    with dueq.Queue("orders", own_server.url) as queue:
        for wanted in (1, 7, 15):
            own_server.command("FLUSHALL")
            with worker(tmp_path, own_server.url, tasks) as w:
                while queue.stats().pushed < wanted:
                    assert w.process.poll() is None, w.log
                w.process.kill()
            with declared(tmp_path, own_server.url, tasks):
                assert queue.stats().delayed == 20
                assert queue.stats().pushed == 20


def test_queue_with_partitions(url: str) -> None:
    app = dueq.App(url, name="shop", partitions={"orders": 4})
    app.task("night", queue="orders", every=3600)(lambda: None)
    for _ in range(2):
        start.declare(app)
    with app.queue("orders") as queue:
        stats = queue.stats()
        assert (stats.pushed, stats.delayed) == (1, 1)


def test_schedule_of_another_app_stays(url: str, tmp_path: Path) -> None:
    with dueq.Queue("orders", url) as queue:
        assert queue.schedule("night", "@daily", "x", app="bank")
        assert queue.schedule("other", "@daily", "x")
    tasks = {"night": {"every": 60}, "other": {"every": 60}}
    with declared(tmp_path, url, tasks) as w:
        w.wait_until_said("that of the app bank")
        assert found(url, "night")["app"] == "bank"
        assert found(url, "other")["app"] == "shop"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"cron": "61 * * * *"}, "minute"),
        ({"cron": "@daily", "every": 60}, "one of them"),
        ({"cron": "0 0 31 2 *"}, "never due"),
        ({"cron": "@daily", "tz": "Mars"}, "time zone"),
        ({"every": 0.5}, "every"),
        ({"tz": "Europe/Berlin"}, "not given"),
        ({"every": 60, "catchup": "never"}, "once, skip, all"),
        ({"every": 60, "unique": 5}, "unique"),
        ({"every": timedelta(hours=1), "delay": 5}, "delay"),
    ],
)
def test_wrong_schedule_is_refused_at_import(options: dict[str, Any], text: str) -> None:
    app = dueq.App("redis://localhost", name="shop")
    with pytest.raises(errors.InvalidError, match=text):
        app.task("t", **options)(lambda: None)
    assert not app.tasks


def test_schedule_needs_a_name_and_no_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.InvalidError, match="has no name"):
        dueq.App("redis://localhost").task("t", every=60)(lambda: None)
    with pytest.raises(TypeError, match="without arguments"):
        dueq.App("redis://localhost", name="shop").task("t", every=60)(lambda number: None)
    with pytest.raises(errors.InvalidError, match="release"):
        dueq.App("redis://localhost", release="a b")
    app = dueq.App("redis://localhost", name="shop")
    app.task("t", every=timedelta(minutes=5))(lambda: None)
    assert app.tasks["t"].schedule is not None
    assert app.tasks["t"].schedule.expression == "every 300s"
    before = app.release
    app.task("u", every=1.5)(lambda: None)
    assert app.tasks["u"].schedule is not None
    assert app.tasks["u"].schedule.expression == "every 1500ms"
    assert app.release != before
    monkeypatch.setenv("DUEQ_RELEASE", "a@b")
    with pytest.raises(errors.InvalidError, match="release"):
        assert app.release
