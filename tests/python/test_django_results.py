"""Results of Django's tasks: what get_result() finds of a task, in each of its states."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import pytest
from django.test.utils import override_settings

import dueq
from dueq.django import framework
from dueq.testing import drain
from worker_process import WorkerProcess, until

os.environ["DJANGO_SETTINGS_MODULE"] = "django_site.settings"
django.setup()
# It can be imported only now.
tasks = import_module("django_site.tasks")

ME = f"{socket.gethostname()}-{os.getpid()}"


@pytest.fixture
def app(dueq_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dueq.App:
    """That of the backend that keeps results, on an empty server."""
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    app: dueq.App = backend().app
    return app


def backend() -> Any:
    return framework.task_backends["kept"]


def tasks_setting(**options: Any) -> dict[str, Any]:
    """A backend that keeps results, and lets a task go to any queue."""
    made = {"BACKEND": "dueq.django.DueqBackend", "OPTIONS": {"keep": 3600, **options}}
    return {"default": {**made, "QUEUES": []}}


def kept(task: Any) -> Any:
    """The task with the backend that keeps results."""
    return task.using(backend="kept", queue_name="kept")


def fail_twice(app: dueq.App, text: str = "no luck") -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=text):
            drain(app, delayed=True)


def test_django_result_of_a_task_that_succeeds(app: dueq.App) -> None:
    assert backend().supports_get_result
    pushed = kept(tasks.add).enqueue(1, b=2)
    found = backend().get_result(pushed.id)
    assert (found.task, found.id, found.status) == (pushed.task, pushed.id, "READY")
    assert (found.args, found.kwargs, found.backend) == ([1], {"b": 2}, "kept")
    assert (found.attempts, found.started_at, found.finished_at) == (0, None, None)
    assert found.enqueued_at == pushed.enqueued_at
    assert abs(found.enqueued_at - datetime.now(UTC)) < timedelta(minutes=1)
    with pytest.raises(ValueError, match="not finished"):
        _ = found.return_value

    assert len(drain(app)) == 1
    found.refresh()
    again = kept(tasks.add).get_result(pushed.id)
    for result in (found, again, asyncio.run(backend().aget_result(pushed.id))):
        assert (result.task, result.status, result.return_value) == (pushed.task, "SUCCESSFUL", 3)
        assert (result.args, result.kwargs, result.errors) == ([1], {"b": 2}, [])
        assert (result.attempts, result.worker_ids, result.is_finished) == (1, [ME], True)
        assert result.started_at == result.last_attempted_at <= result.finished_at
        assert abs(result.finished_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_django_result_of_a_task_with_an_id_of_its_own(app: dueq.App) -> None:
    with override_settings(TASKS=tasks_setting(unique=60)):
        pushed = tasks.add.enqueue(1)
        found = tasks.add.get_result(pushed.id)
    assert pushed.id.startswith("django_site.tasks.add:")
    for at in (pushed.enqueued_at, found.enqueued_at):
        assert abs(at - datetime.now(UTC)) < timedelta(minutes=1)


def test_django_result_is_found_in_any_queue_if_queues_is_empty(app: dueq.App) -> None:
    with override_settings(TASKS=tasks_setting()):
        app.queue("another").push("no task of Django")
        pushed = tasks.add.using(queue_name="of no setting").enqueue(1)
        assert tasks.add.get_result(pushed.id) == pushed
        with pytest.raises(framework.TaskResultDoesNotExist):
            tasks.add.get_result("123")


def test_django_result_of_a_task_that_returns_nothing(app: dueq.App) -> None:
    pushed = kept(tasks.async_add).enqueue(1)
    drain(app)
    asyncio.run(pushed.arefresh())
    assert (pushed.status, pushed.return_value) == ("SUCCESSFUL", None)


def test_django_result_of_a_task_that_runs(app: dueq.App) -> None:
    pushed = kept(tasks.add).enqueue(1)
    message = app.queue("kept").reserve()
    assert message
    pushed.refresh()
    assert (pushed.status, pushed.attempts, pushed.worker_ids) == ("RUNNING", 1, ["unknown"])
    message.retry(60, "try again later")
    pushed.refresh()
    assert (pushed.status, pushed.attempts) == ("READY", 1)
    [error] = pushed.errors
    assert error.traceback == "try again later"


def test_django_result_of_a_task_that_fails(app: dueq.App) -> None:
    pushed = kept(tasks.fail).enqueue("no luck")
    fail_twice(app)
    result = backend().get_result(pushed.id)
    assert (result.status, result.args, result.attempts) == ("FAILED", ["no luck"], 2)
    assert result.worker_ids == ["unknown", ME]
    assert result.started_at == result.last_attempted_at <= result.finished_at
    [error] = result.errors
    assert error.exception_class is ValueError
    assert "raise ValueError(text)" in error.traceback
    assert error.traceback.endswith("ValueError: no luck\n")
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value


def test_django_result_of_a_task_that_is_kicked_has_its_last_error(app: dueq.App) -> None:
    pushed = kept(tasks.fail).enqueue("no luck")
    fail_twice(app)
    assert app.queue("kept").kick(pushed.id)
    pushed.refresh()
    assert pushed.status == "READY"
    message = app.queue("kept").reserve()
    assert message
    message.bury("taken out by hand")
    pushed.refresh()
    [error] = pushed.errors
    assert (pushed.status, error.exception_class) == ("FAILED", dueq.TaskFailed)
    assert error.traceback == "taken out by hand"


def test_django_result_of_a_task_that_gives_up(app: dueq.App) -> None:
    pushed = kept(tasks.give_up).enqueue()
    drain(app)
    pushed.refresh()
    [error] = pushed.errors
    assert (pushed.status, pushed.attempts) == ("FAILED", 1)
    assert error.traceback.endswith("Decided: no such order\n")


def test_django_result_that_cannot_be_kept(app: dueq.App) -> None:
    pushed = kept(tasks.unkeepable).enqueue()
    drain(app)
    pushed.refresh()
    [error] = pushed.errors
    assert (pushed.status, pushed.attempts) == ("FAILED", 1)
    assert "\nTypeError: the result cannot be kept: " in error.traceback
    assert error.exception_class is TypeError


def test_django_result_has_the_arguments_of_the_push(app: dueq.App) -> None:
    pushed = kept(tasks.change).enqueue([1])
    drain(app)
    result = backend().get_result(pushed.id)
    assert (result.args, result.return_value) == ([[1]], [1, 17])


def test_django_result_that_does_not_exist(app: dueq.App) -> None:
    queue = app.queue("kept")
    cancelled = kept(tasks.add).enqueue(1)
    assert queue.cancel(cancelled.id)
    no_results = [b"no JSON", b"[]"]
    for task, attempt in (
        (1, 1),
        ("django_site.tasks.add", "1"),
        ("django_site.tasks.add", 1 << 60),
    ):
        made: dict[str, Any] = {
            "task": task,
            "args": [1, 2],
            "kwargs": {},
            "attempt": attempt,
            "value": 3,
        }
        no_results.append(json.dumps(made).encode())
    for number, result in enumerate(no_results):
        queue.push("raw", keep=60, id=f"raw-{number}")
        message = queue.reserve()
        assert message
        message.ack(result=result)
    ids = [
        cancelled.id,
        *(f"raw-{number}" for number in range(len(no_results))),
        "no-such-id",
        "",
        queue.push("no task", keep=60),
        queue.push(json={"args": [1]}, headers={"task": "os.system"}),
    ]
    # Of a program that does not ask get_result().
    plain = dueq.App().push("django_site.tasks.add", [1, 2], queue="first", keep=60)
    drain(app, queues=["first"])
    assert app.result(plain, queue="first") == 3
    for id in [*ids, plain]:
        with pytest.raises(framework.TaskResultDoesNotExist):
            backend().get_result(id)


def test_django_result_of_another_task_does_not_match(app: dueq.App) -> None:
    pushed = kept(tasks.add).enqueue(1)
    drain(app)
    with pytest.raises(framework.TaskResultMismatch):
        kept(tasks.fail).get_result(pushed.id)


def test_django_result_of_a_task_with_too_long_a_traceback(app: dueq.App) -> None:
    text = "x" * 20_000
    pushed = kept(tasks.fail).enqueue(text)
    fail_twice(app, text)
    pushed.refresh()
    [error] = pushed.errors
    assert (error.exception_class, len(error.traceback)) == (ValueError, 8192)


@pytest.mark.parametrize("pool", ["threads", "processes", "asyncio"])
def test_django_results_come_from_a_worker(
    app: dueq.App, dueq_url: str, tmp_path: Path, pool: str
) -> None:
    added, failed = kept(tasks.add).enqueue(1, b=2), kept(tasks.fail).enqueue("no luck")
    with WorkerProcess(tmp_path, dueq_url, "--pool", pool, app="dueq.django.worker:kept") as worker:
        queue = app.queue("kept")
        assert queue.outcome(added.id, timeout=30) is not None
        assert queue.outcome(failed.id, timeout=30) is not None
        assert worker.stop() == 0
    added.refresh()
    failed.refresh()
    assert (added.status, added.return_value, added.attempts) == ("SUCCESSFUL", 3, 1)
    assert added.worker_ids != [ME]
    assert (failed.status, failed.attempts) == ("FAILED", 2)
    assert failed.errors[0].exception_class is ValueError
    assert "raise ValueError(text)" in failed.errors[0].traceback


def test_django_result_of_a_running_task_has_its_begin(app: dueq.App) -> None:
    pushed = kept(tasks.add).enqueue(1)

    def has_begun() -> bool:
        pushed.refresh()
        return pushed.started_at is not None

    with app.queue("kept").consume() as consumer:
        message = next(iter(consumer))
        until(has_begun, "the worker has not registered")
        assert (pushed.status, pushed.worker_ids) == ("RUNNING", [ME])
        assert pushed.enqueued_at <= pushed.started_at == pushed.last_attempted_at
        message.ack()
