"""The backend, which pushes a task when it is enqueued."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.dispatch import receiver
from django.utils import timezone

from dueq._message import State
from dueq.app import App
from dueq.blocking.queue import queues
from dueq.django import framework, results
from dueq.django.app import OF_THE_APP, DjangoApp, found
from dueq.draft import row
from dueq.errors import InvalidError, NotFound
from dueq.serializers import UnknownTask

if TYPE_CHECKING:
    from dueq.draft import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(framework.Task):
    """A task of Django with options of its own: @task(options={"timeout": 60, "unique": 300})."""

    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Options of App.task(), which replace those of the backend."""


@cache
def _app(alias: str) -> DjangoApp:
    """
    One app for all threads, so that they share connections: Django makes a backend for each thread.
    """
    return DjangoApp(alias)


@receiver(setting_changed)
def _forget(*, setting: str, **_: object) -> None:
    """Drops the apps when a test changes TASKS: Django then makes new backends."""
    if setting == "TASKS":
        _app.cache_clear()


class DueqBackend(framework.BaseTaskBackend):
    """
    Pushes tasks to the queues that they name.

    OPTIONS  url, partitions: as for dueq.App; and options of App.task() for all tasks:
             max_attempts, backoff, timeout, unique and others. With keep, seconds or a timedelta,
             results are stored for that time after the end of a task, for get_result()

    Django's priorities become three: above 0, 0, and below 0.
    """

    task_class = Task
    supports_defer = True
    supports_async_task = True
    supports_priority = True

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, params)
        try:
            _check(self.options)
        except (TypeError, ValueError) as error:
            raise ImproperlyConfigured(f"TASKS: {alias}: OPTIONS: {error}") from error
        self.supports_get_result = self.options.get("keep") is not None
        self.app = _app(alias)
        """The app, for dueq-worker and dueq.testing.drain()."""
        self.app.configure(self.queues, self.options)

    def validate_task(self, task: framework.Task) -> None:
        super().validate_task(task)
        try:
            _check(getattr(task, "options", {}))
        except (TypeError, ValueError) as error:
            raise framework.InvalidTask(f"options: {error}") from error

    def enqueue(
        self, task: framework.Task, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> framework.TaskResult:
        self.validate_task(task)
        # Made before the push: this converts the arguments to the form that Django promises.
        result = results.new_result(task, self.alias, args, kwargs)
        at = task.run_after
        if at is not None and timezone.is_naive(at):
            at = timezone.make_aware(at)
        pushed = self.app.known(task).options(
            queue=task.queue_name, priority=(task.priority > 0) - (task.priority < 0), at=at
        )
        id = pushed.push(*result.args, **result.kwargs)
        # The time of the message, which get_result() tells. An id of the core has it.
        own_id = pushed._options.get("id") or pushed._options.get("unique")
        enqueued_at = timezone.now() if own_id else results.made_at(id)
        result = replace(result, id=id, enqueued_at=enqueued_at)
        framework.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> framework.TaskResult:
        """
        Asks the queues one after the other: those of QUEUES, or, if QUEUES is empty, all queues of
        the server. Raises TaskResultDoesNotExist also for a task that was cancelled, purged or
        expired, and for one whose message did not stay in its queue when it died.
        """
        if not self.supports_get_result:
            raise NotImplementedError(
                "this backend does not store results: give it keep in TASKS, OPTIONS"
            )
        # If QUEUES is empty, a task can go to any queue. Only the server knows which were used.
        for name in self.app.queue_names or queues(self.app.url):
            with suppress(NotFound, InvalidError, UnknownTask):
                if result := self._find(result_id, name):
                    return result
        raise framework.TaskResultDoesNotExist(result_id)

    def _find(self, id: str, name: str) -> framework.TaskResult | None:
        """Raises NotFound if the queue does not know the message."""
        queue = self.app.queue(name)
        end = queue.outcome(id)
        message = queue.find(id) if end is None or end.outcome == "dead" else None
        if end is None and (message is None or message.state is State.DEAD):
            end = queue.outcome(id)  # it has ended meanwhile
        if message:
            return results.of_message(message, end, queue, self.alias, found)
        return results.of_end(end, name, self.alias, found) if end else None


def _check(options: Mapping[str, Any]) -> None:
    """Raises TypeError or ValueError if the options are not those of App.task()."""
    of_task = ("timeout", "kill_after", "retry_on", "fail_on")
    made = App().task("any", **{key: value for key, value in options.items() if key in of_task})
    made(_check)
    others = {key: value for key, value in options.items() if key not in (*of_task, *OF_THE_APP)}
    row(b"", cast("Options", others))
