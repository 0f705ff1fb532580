"""What the queues keep of Django's tasks, for get_result()."""

from __future__ import annotations

import os
import socket
import string
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from django.conf import settings
from django.utils import timezone

from dueq._cursor import Cursor, made_step
from dueq._message import State
from dueq.django import framework
from dueq.errors import DeniedError, Error
from dueq.handle import result_bytes
from dueq.inspection import End
from dueq.job import Job
from dueq.serializers import CURSOR, JSON, TASK, BadTask, arguments_of
from dueq.times import moment

if TYPE_CHECKING:
    from dueq.blocking.message import Message
    from dueq.blocking.queue import Queue

KEPT = ("result", "django")
"""
The header of a message whose result is kept for get_result(): then the result has, besides what the
task returned, what the task was called with.
"""

_STATUS = framework.TaskResultStatus
_UNKNOWN = "unknown"
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase  # of an id
_MOST_TRACEBACK = 8192  # characters, of the end
_MOST_ATTEMPTS = 65535  # as in a message

Found: TypeAlias = Callable[[str], framework.Task]
"""Finds a task by its path."""


def new_result(
    task: framework.Task, alias: str, args: Iterable[object], kwargs: Mapping[str, object]
) -> framework.TaskResult:
    """The result of a task that was not pushed yet."""
    return framework.TaskResult(
        task=task,
        id="",
        status=_STATUS.READY,
        enqueued_at=None,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=list(args),
        kwargs=dict(kwargs),
        backend=alias,
        errors=[],
        worker_ids=[],
    )


def running(task: framework.Task, alias: str, job: Job) -> framework.TaskResult:
    """
    The result of a task in its job. Workers of earlier attempts are not stored: they are "unknown".
    """
    now = timezone.now()
    return replace(
        new_result(task, alias, job.args, job.kwargs),
        id=job.id,
        status=_STATUS.RUNNING,
        enqueued_at=as_now(job.message.created),
        started_at=now,
        last_attempted_at=now,
        worker_ids=_workers(job.attempt, f"{socket.gethostname()}-{os.getpid()}"),
    )


def kept_value(job: Job, value: object) -> object:
    """
    What the job returns, for the worker to keep. Fails the job for good if the result cannot be
    kept.
    """
    if not _is_kept(job):
        return value
    # From the body, as the task may have changed its arguments.
    args, kwargs = arguments_of(JSON, job.message.body)
    made = {
        "task": job.task,
        "args": args,
        "kwargs": kwargs,
        "attempt": job.attempt,
        "value": value,
    }
    try:
        result_bytes(made)
    except TypeError as error:
        job.fail(error)
    return made


def keep_error(job: Job, error: framework.TaskError) -> None:
    """
    Keeps the error with the message, which is about to become dead. If the message has no room for
    it, get_result() has the text of the error alone.
    """
    if not _is_kept(job):
        return
    text = error.traceback[-_MOST_TRACEBACK:].encode(errors="replace").decode()
    step, _ = made_step(_error_of(job.message.deliveries), [error.exception_class_path, text])
    with suppress(Error):
        job._keep("error", lambda kept: kept.with_step(step))


def of_end(end: End, queue: str, alias: str, found: Found) -> framework.TaskResult | None:
    """The result of a task that has succeeded. None: the end does not say of which task it is."""
    try:
        kept = JSON.loads(end.result)
    except ValueError:  # no worker's result, or none
        return None
    match kept:
        case {
            "task": str(path),
            "args": list(args),
            "kwargs": dict(kwargs),
            "attempt": int(attempt),
            "value": value,
            **others,
        } if not others and 1 <= attempt <= _MOST_ATTEMPTS:
            result = replace(
                _result_of(found(path), queue, alias, args, kwargs),
                id=end.id,
                status=_STATUS.SUCCESSFUL,
                enqueued_at=as_now(end.created),
                **_last_attempt(end, attempt),
            )
            object.__setattr__(result, "_return_value", value)
            return result
    return None


def of_message(
    message: Message, end: End | None, queue: Queue, alias: str, found: Found
) -> framework.TaskResult | None:
    """
    The result of a task that has not succeeded. None: the message is no task of Django.

    end  of a message that is dead
    """
    try:
        args, kwargs = arguments_of(JSON, message.body)
    except BadTask:
        return None
    task = found(message.headers.get(TASK, ""))
    result = replace(
        _result_of(task, queue.name, alias, args, kwargs),
        id=message.id,
        enqueued_at=as_now(message.created),
        errors=_errors(message),
        worker_ids=_workers(message.attempt, _UNKNOWN),
    )
    if message.state is State.LEASED:
        return replace(result, status=_STATUS.RUNNING, **_attempt_now(message, queue))
    if end and message.state is State.DEAD:
        return replace(result, status=_STATUS.FAILED, **_last_attempt(end, message.attempt))
    return result


def made_at(id: str) -> datetime:
    """When the core made this id: see "Ids, incarnations and tickets" in protocol.md."""
    number = reduce(lambda value, digit: value * 62 + _DIGITS.index(digit), id, 0)
    return as_now(moment(number >> 80))


def as_now(time: datetime) -> datetime:
    """As timezone.now() returns times: naive unless USE_TZ is set."""
    return time if settings.USE_TZ else timezone.make_naive(time)


def _is_kept(job: Job) -> bool:
    name, value = KEPT
    return job.message.keep is not None and job.message.headers.get(name) == value


def _result_of(
    task: framework.Task, queue: str, alias: str, args: list[Any], kwargs: dict[str, Any]
) -> framework.TaskResult:
    return new_result(task.using(queue_name=queue, backend=alias), alias, args, kwargs)


def _last_attempt(end: End, attempt: int) -> dict[str, Any]:
    """When and where the last attempt of a task began, and when it ended."""
    begun = None if end.ran is None else as_now(end.time - timedelta(seconds=end.ran))
    worker = f"{end.host}-{end.pid}" if end.host else _UNKNOWN
    return {
        "started_at": begun,
        "last_attempted_at": begun,
        "finished_at": as_now(end.time),
        "worker_ids": _workers(attempt, worker),
    }


def _attempt_now(message: Message, queue: Queue) -> dict[str, Any]:
    """
    When and where the message was delivered, if its worker has registered since and the user may
    see the workers.
    """
    try:
        workers = queue.workers()
    except DeniedError:
        return {}
    for worker in workers:
        for lease in worker.leases:
            if (lease.id, lease.ticket) == (message.id, message.ticket):
                return {
                    "started_at": as_now(lease.since),
                    "last_attempted_at": as_now(lease.since),
                    "worker_ids": _workers(message.attempt, f"{worker.host}-{worker.pid}"),
                }
    return {}


def _errors(message: Message) -> list[framework.TaskError]:
    """The last error of a message; []: none of its jobs has failed."""
    try:
        kept = Cursor.read(message.headers.get(CURSOR)).step(_error_of(message.deliveries))
    except (TypeError, ValueError):  # no worker's steps
        kept = ()
    match kept:
        case [[str(path), str(traceback)]]:
            return [framework.TaskError(exception_class_path=path, traceback=traceback)]
    if message.error or message.state is State.DEAD:
        return [
            framework.TaskError(exception_class_path="dueq.TaskFailed", traceback=message.error)
        ]
    return []


def _error_of(delivery: int) -> str:
    """The name of the step that has the error of a delivery."""
    return f"django error {delivery}"


def _workers(attempts: int, last: str) -> list[str]:
    return [*[_UNKNOWN] * (attempts - 1), last][:attempts]
