"""What a worker process does before it takes messages, and after: schedules and hooks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from inspect import iscoroutine, iscoroutinefunction
from typing import Any

from dueq.app import App, Task
from dueq.blocking.message import Message
from dueq.errors import Error
from dueq.task_schedule import renewed, replaced_by
from dueq.times import point_ms
from dueq.worker import exit_codes
from dueq.worker.logs import log
from dueq.worker.worker import Worker

_PAUSE_S = 1.0


def reach_and_declare(worker: Worker) -> bool:
    """
    Waits until the server answers, and declares the schedules of the app's tasks. False: the worker
    stops.
    """
    while worker.reach():
        try:
            declare(worker.app)
        except Error as error:
            if not error.retriable:
                worker.fail(error)
                return False
            time.sleep(_PAUSE_S)
        else:
            return True
    return False


def declare(app: App) -> None:
    """
    Declares the schedules of the app's tasks. Several releases of an app run during a deploy, and
    their workers start in any order. So a release that another one replaced declares nothing for an
    hour.
    """
    tasks, label = app.scheduled, app.release
    if not tasks:
        return
    found = [app.queue(task.queue).find(f"schedule:{task.name}") for task in tasks]
    now_ms = point_ms(app.queue(tasks[0].queue).stats().now, "now")
    for message in found:
        if message and message.headers.get("app") == app.name:
            newer = replaced_by(message.headers.get("release", ""), label, now_ms)
            if newer:
                log.warning(
                    "the schedules of %s stay those of its release %s, which replaced %s less than "
                    "an hour ago; to go back on purpose, start the workers with another "
                    "DUEQ_RELEASE, as DUEQ_RELEASE=%s-again",
                    app.name,
                    newer,
                    label,
                    label,
                )
                return
    for task, message in zip(tasks, found, strict=True):
        _declare(app, task, message, label, now_ms)


def _declare(
    app: App, task: Task[..., Any], message: Message | None, label: str, now_ms: int
) -> None:
    times, name = task.schedule, app.name or ""
    assert times
    headers = message.headers if message else {}
    owner = headers.get("app", name)
    if owner != name:
        log.error(
            "the schedule %s of the queue %s is that of the app %s, and stays so: "
            "give the task another name, or remove the schedule",
            task.name,
            task.queue,
            owner,
        )
        return
    text = renewed(headers.get("release", ""), label, len(app.scheduled), now_ms)
    stored = app.queue(task.queue).schedule(
        task.name, times.expression, task.draft(), times.zone, times.catchup, name, text
    )
    if stored:
        log.info(
            "declared the schedule %s of the queue %s: %s", task.name, task.queue, times.expression
        )


def run_hooks(worker: Worker, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> bool:
    """
    Calls the functions of App.on_start() in this thread. False: one has raised, and the worker
    stops. run: runs a coroutine.
    """
    for hook in worker.app.start_hooks:
        try:
            _call(hook, run)
        except (Exception, SystemExit):
            _cannot_start(worker, hook)
            return False
    return True


async def run_hooks_in_loop(worker: Worker) -> bool:
    """As run_hooks(), in an event loop."""
    for hook in worker.app.start_hooks:
        try:
            await _await(hook)
        except (Exception, SystemExit):
            _cannot_start(worker, hook)
            return False
    return True


def run_stop_hooks(worker: Worker, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
    """Calls the functions of App.on_stop() in this thread. run: runs a coroutine."""
    for hook in worker.app.stop_hooks:
        try:
            _call(hook, run)
        except (Exception, SystemExit):
            log.exception("on_stop: %s raised", _named(hook))


async def run_stop_hooks_in_loop(worker: Worker) -> None:
    """As run_stop_hooks(), in an event loop."""
    for hook in worker.app.stop_hooks:
        try:
            await _await(hook)
        except (Exception, SystemExit):
            log.exception("on_stop: %s raised", _named(hook))


def _call(hook: Callable[[], object], run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
    result = hook()
    if iscoroutine(result):
        run(result)


async def _await(hook: Callable[[], object]) -> None:
    result = hook() if iscoroutinefunction(hook) else await asyncio.to_thread(hook)
    if iscoroutine(result):
        await result


def _cannot_start(worker: Worker, hook: Callable[[], object]) -> None:
    log.exception("on_start: %s raised: the worker cannot start", _named(hook))
    worker.stop(exit_codes.FAILED, "on_start failed")


def _named(hook: Callable[[], object]) -> str:
    return getattr(hook, "__qualname__", None) or repr(hook)
