"""Its tasks, which write what they did to $LEDGER."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import django
from django.db import connection
from django.dispatch import receiver

import dueq

if django.VERSION >= (6, 0):
    from django.tasks import TaskContext, TaskResult, task
    from django.tasks.signals import task_finished, task_started
else:
    from django_tasks import TaskContext, TaskResult, task
    from django_tasks.signals import task_finished, task_started


def note(*words: object) -> None:
    with Path(os.environ["LEDGER"]).open("a", encoding="utf-8") as file:
        print(*words, file=file)


@task
def add(a: int, b: int = 0) -> int:
    note("add", a + b)
    return a + b


@task(queue_name="mail")
async def async_add(a: int, b: int = 0) -> None:
    await asyncio.sleep(0)
    note("async_add", a + b)


@task(takes_context=True)
def fail(context: TaskContext, text: str) -> None:
    note("fail", context.attempt)
    raise ValueError(text)


@task
def give_up() -> None:
    dueq.current_job().fail("no such order")


@task
async def async_give_up() -> None:
    dueq.current_job().fail("no such order")


@task
def unkeepable() -> object:
    return object()


@task
def change(given: list[int]) -> list[int]:
    given.append(17)
    return given


@task
def query() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 17")
        note("query", *cursor.fetchone(), threading.get_ident() == connection._thread_ident)


@receiver(task_started)
def started(task_result: TaskResult, **_: object) -> None:
    note("started", task_result.task.name, task_result.attempts)


@receiver(task_finished)
def finished(task_result: TaskResult, **_: object) -> None:
    errors = [error.exception_class.__name__ for error in task_result.errors]
    value = errors or task_result.return_value
    note("finished", task_result.task.name, task_result.status, value)


def no_task() -> None: ...
