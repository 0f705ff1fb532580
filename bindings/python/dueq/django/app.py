"""The app of a backend: finds Django's tasks by their paths, and runs them in a worker."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from traceback import format_exception
from typing import Any

from django.apps import apps
from django.db import close_old_connections
from django.utils import timezone
from django.utils.module_loading import import_string

from dueq._decision import Decided, Fail, Retry
from dueq.app import App, Task
from dueq.django import framework, results
from dueq.job import Job, current_job
from dueq.serializers import UnknownTask

_STATUS = framework.TaskResultStatus
OF_THE_APP = ("url", "partitions")
"""The options of a backend that are not options of App.task()."""


class DjangoApp(App):
    """
    The name of a task is the path of its function, such as shop.tasks.send_receipt. The producer of
    a message chooses this name. So only modules of installed apps are imported for it.
    """

    def __init__(self, alias: str) -> None:
        # Django's settings name the queues.
        super().__init__(routes={})
        self._alias = alias
        self._queue_names: tuple[str, ...] = ()
        self._defaults: dict[str, Any] = {}
        self._lock = threading.Lock()

    def configure(self, queues: Iterable[str], options: Mapping[str, Any]) -> None:
        """Sets the queues and the options of all tasks, from TASKS."""
        self._queue_names = tuple(sorted(queues))
        self._defaults = {key: value for key, value in options.items() if key not in OF_THE_APP}
        self.url = options.get("url")
        self.partitions = dict(options.get("partitions", {}))

    @property
    def queue_names(self) -> tuple[str, ...]:
        return self._queue_names

    @property
    def task_names(self) -> None:
        """A worker finds a task when its first message comes."""
        return None

    def known(self, task: framework.Task) -> Task[..., Any]:
        """The task of this app for a task of Django."""
        with self._lock:
            known = self.tasks.get(task.module_path)
            if known is None:
                options = {**self._defaults, **getattr(task, "options", {})}
                if options.get("keep") is not None:
                    name, value = results.KEPT
                    options["headers"] = {**(options.get("headers") or {}), name: value}
                make = self.task(task.module_path, queue=task.queue_name, **options)
                known = make(self._handler(task))
            return known

    def named(self, name: str) -> Task[..., Any]:
        return self.tasks.get(name) or self.known(found(name))

    def _handler(self, task: framework.Task) -> Callable[..., Any]:
        """
        The handler of a task. It also runs a coroutine function in a thread: objects that Django
        binds to a thread, such as database connections, are then those of that thread.
        """

        def run(*args: object, **kwargs: object) -> object:
            close_old_connections()
            backend = type(framework.task_backends[self._alias])
            job = current_job()
            result = results.running(task, self._alias, job)
            framework.task_started.send_robust(backend, task_result=result)
            try:
                context = (framework.TaskContext(task_result=result),) if task.takes_context else ()
                value = task.call(*context, *args, **kwargs)
                kept = results.kept_value(job, value)
            except (Exception, Decided) as error:
                if self._is_last(job, error):
                    described = _described(_reason(job, error))
                    results.keep_error(job, described)
                    _finish(backend, result, _STATUS.FAILED, errors=[described])
                raise
            else:
                _finish(backend, result, _STATUS.SUCCESSFUL, _return_value=value)
            finally:
                close_old_connections()
            return kept

        return run

    def _is_last(self, job: Job, error: BaseException) -> bool:
        """Whether the job has failed for good by this error."""
        if isinstance(error, Decided) and not isinstance(job.decision, Retry):
            return isinstance(job.decision, Fail)
        most = job.message.max_attempts
        is_exhausted = most is not None and job.attempt >= most
        return is_exhausted or (
            not isinstance(error, Decided) and self.named(str(job.task)).is_final(error)
        )


def _reason(job: Job, error: BaseException) -> BaseException:
    """The error; or the exception that the job named as it gave up."""
    decision = job.decision
    named = decision.error if isinstance(decision, (Fail, Retry)) else None
    return named if isinstance(error, Decided) and isinstance(named, BaseException) else error


def _finish(backend: type, result: framework.TaskResult, status: object, **fields: object) -> None:
    """
    Finishes the result, and calls the receivers. A receiver that fails does not make the job fail.
    """
    for name, value in {"status": status, "finished_at": timezone.now(), **fields}.items():
        object.__setattr__(result, name, value)  # frozen, and the task may hold it
    framework.task_finished.send_robust(backend, task_result=result)


def _described(error: BaseException) -> framework.TaskError:
    kind = type(error)
    return framework.TaskError(
        exception_class_path=f"{kind.__module__}.{kind.__qualname__}",
        traceback="".join(format_exception(error)),
    )


def found(name: str) -> framework.Task:
    """Imports the task of a path. Raises UnknownTask."""
    module = name.rpartition(".")[0]
    if module not in sys.modules and apps.get_containing_app_config(module) is None:
        raise UnknownTask(f"there is no task {name!r} here: it is of no installed app")
    try:
        task = import_string(name)
    except ImportError as error:
        raise UnknownTask(f"there is no task {name!r} here: {error}") from error
    if not isinstance(task, framework.Task):
        raise UnknownTask(f"{name!r} is no task, but a {type(task).__name__}")
    return task
