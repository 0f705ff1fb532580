"""The backend for Django's tasks, with Django: that of Django 6, or of django-tasks."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import override_settings

import dueq
import dueq.django
from dueq.django import framework
from dueq.serializers import UnknownTask
from dueq.testing import drain
from moments import seconds_between
from worker_process import WorkerProcess

os.environ["DJANGO_SETTINGS_MODULE"] = "django_site.settings"
django.setup()
# It can be imported only now.
tasks = import_module("django_site.tasks")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ledger"
    monkeypatch.setenv("LEDGER", str(path))
    return path


@pytest.fixture
def app(dueq_url: str, ledger: Path) -> dueq.App:
    """That of the backend, on an empty server."""
    app: dueq.App = framework.task_backends["default"].app
    return app


def tasks_setting(**options: Any) -> dict[str, Any]:
    return {"default": {"BACKEND": "dueq.django.DueqBackend", "OPTIONS": options}}


@pytest.mark.parametrize("pool", ["threads", "processes", "asyncio"])
def test_django_worker_runs_what_is_enqueued(
    app: dueq.App, dueq_url: str, tmp_path: Path, pool: str
) -> None:
    tasks.add.enqueue(1, b=2)
    tasks.async_add.enqueue(3, 4)
    tasks.fail.enqueue("no luck")
    tasks.give_up.enqueue()
    tasks.async_give_up.enqueue()
    tasks.query.enqueue()
    with WorkerProcess(
        tmp_path, dueq_url, "--pool", pool, app="dueq.django.worker:default"
    ) as worker:
        worker.wait_for(
            *("started add 1", "add 3", "finished add SUCCESSFUL 3"),
            *("async_add 7", "finished async_add SUCCESSFUL None"),
            *("started fail 1", "fail 1", "started fail 2", "fail 2"),
            "finished fail FAILED ['ValueError']",
            "finished give_up FAILED ['Decided']",
            "finished async_give_up FAILED ['Decided']",
            "query 17 True",
        )
        failure = worker.wait_until_said("failed after", times=2)
        assert worker.stop() == 0
    assert "raise ValueError(text)" in failure["traceback"]
    assert worker.notes().count("finished fail FAILED ['ValueError']") == 1
    assert sorted(app.queue_names) == ["default", "mail"]
    counts = app.queue("default").stats()
    assert (counts.acked, counts.dead, counts.ready, counts.delayed) == (2, 3, 0, 0)


def test_django_task_is_a_task_of_every_language(app: dueq.App) -> None:
    result = tasks.add.using(queue_name="mail").enqueue(1, b=2)
    [message] = app.queue("mail").peek("ready")
    assert message.headers == {"task": "django_site.tasks.add"}
    assert message.body == b'{"args":[1],"kwargs":{"b":2}}'
    assert (message.id, message.max_attempts) == (result.id, 2)
    app.queue("default").push(json={"args": [5]}, headers={"task": "django_site.tasks.add"})
    drain(app)
    assert "add 5" in Path(os.environ["LEDGER"]).read_text().splitlines()


def test_django_result_is_as_of_other_backends(app: dueq.App) -> None:
    told: list[Any] = []

    def hear(sender: type, task_result: Any, **_: object) -> None:
        told.append((sender, task_result.id))

    framework.task_enqueued.connect(hear)
    result = tasks.add.enqueue((1, 2))
    framework.task_enqueued.disconnect(hear)
    backend = framework.task_backends["default"]
    assert told == [(type(backend), result.id)]
    assert (result.status, result.args, result.kwargs) == ("READY", [[1, 2]], {})
    assert (result.backend, result.attempts, result.started_at) == ("default", 0, None)
    assert abs(result.enqueued_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert not backend.supports_get_result
    with pytest.raises(NotImplementedError):
        result.refresh()
    assert asyncio.run(tasks.add.aenqueue(1)).status == "READY"
    assert app.queue("default").stats().ready == 2


def test_django_task_is_due_at_run_after(app: dueq.App) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    tasks.add.using(run_after=at).enqueue(1)
    [message] = app.queue("default").peek("delayed")
    assert 0 <= seconds_between(at, message.time) < 0.001
    with override_settings(USE_TZ=False, TIME_ZONE="Europe/Berlin"):
        tasks.add.using(run_after=datetime(2038, 7, 1, 12)).enqueue(2)
    message = list(app.queue("default").peek("delayed"))[1]
    assert message.time == datetime(2038, 7, 1, 10, tzinfo=UTC)


def test_django_priorities_are_three(app: dueq.App) -> None:
    for priority in (-100, -1, 0, 1, 100):
        tasks.add.using(priority=priority).enqueue(priority)
    found = {m.json()["args"][0]: m.priority for m in app.queue("default").peek("ready")}
    assert found == {-100: -1, -1: -1, 0: 0, 1: 1, 100: 1}


def test_django_task_has_options_of_its_own(app: dueq.App) -> None:
    # As @task(options=...) makes it, which Django 6.0 has not.
    made_of = {"func": tasks.no_task, "priority": 0, "backend": "default", "run_after": None}
    make = partial(dueq.django.Task, queue_name="default", **made_of)
    task = make(options={"max_attempts": 7, "unique": 60, "timeout": 5})
    task.enqueue()
    with pytest.raises(dueq.Duplicate):
        task.enqueue()
    [message] = app.queue("default").peek("ready")
    assert message.max_attempts == 7
    known = app.named("django_site.tasks.no_task")
    assert (known.timeout, known.kill_after) == (5, 15)
    assert make(options={"fail_on": ValueError, "retry_on": [OSError]})
    with pytest.raises(framework.InvalidTask, match="do you mean max_attempts"):
        make(options={"max_atempts": 7})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_atempts": 7}, "do you mean max_attempts"),
        ({"max_attempts": 0}, "0: use None"),
        ({"timeout": 10, "kill_after": 9}, "kill_after"),
        ({"serializer": "json"}, "no such option"),
        ({"retry_on": [int]}, "is not a class of exceptions"),
    ],
)
def test_django_backend_refuses_options(options: dict[str, Any], why: str) -> None:
    refused = pytest.raises(ImproperlyConfigured, match=why)
    with override_settings(TASKS=tasks_setting(**options)), refused:
        framework.task_backends["default"]


def test_django_backend_has_the_server_of_its_options(
    dueq_url: str, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUEQ_URL", "redis://127.0.0.1:1")
    with override_settings(TASKS=tasks_setting(url=dueq_url)):
        tasks.add.enqueue(1)
        assert len(drain(framework.task_backends["default"].app)) == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("antigravity.fly", "of no installed app"),
        ("fly", "of no installed app"),
        ("django_site.other.fly", "No module named"),
        ("django_site.tasks.fly", 'does not define a "fly"'),
        ("django_site.tasks.no_task", "is no task, but a function"),
        ("os.system", "is no task, but a builtin_function_or_method"),
    ],
)
def test_django_runs_nothing_but_tasks_of_installed_apps(
    app: dueq.App, name: str, why: str
) -> None:
    app.queue("default").push(json={"args": ["x"]}, headers={"task": name})
    with override_settings(TASKS=tasks_setting()), pytest.raises(UnknownTask, match=why):
        drain(framework.task_backends["default"].app)
    assert "antigravity" not in sys.modules
    [message] = app.queue("default").peek("delayed")
    assert message.error.startswith("UnknownTask: ")


def test_django_closes_connections_of_the_database(
    app: dueq.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Django keeps one that is in memory.
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "database"))
    tasks.query.enqueue()
    connection.ensure_connection()
    drain(app)
    assert connection.connection is None


def test_django_threads_share_an_app(app: dueq.App) -> None:
    found: list[object] = []

    def look() -> None:
        found.append(framework.task_backends["default"])

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    [other] = found
    mine = framework.task_backends["default"]
    assert other is not mine
    assert isinstance(other, type(mine))
    assert other.app is mine.app
