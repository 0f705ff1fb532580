"""
Runs Django's own tests of tasks with dueq's backend in the place of Django's dummy and immediate
backends, on a private server. SOURCE is the source of the Django that this Python has, 6.0 or
later:

    PYTHONPATH=SOURCE/tests:tests/python python tests/python/django_own.py
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.test.runner import DiscoverRunner

import dueq.django
from dueq.django import framework
from dueq.testing import drain
from private_server import Server

MODULES = [
    *("tasks.test_tasks", "tasks.test_custom_backend"),
    *("tasks.test_dummy_backend", "tasks.test_immediate_backend"),
]

NOT_OURS = {
    "DummyBackendTestCase": [
        "test_using_correct_backend",  # has no OPTIONS
        "test_refresh_result",  # changes a result in the list of the dummy backend
        "test_refresh_result_async",
    ],
    "ImmediateBackendTestCase": [
        "test_using_correct_backend",  # has no OPTIONS
        "test_cannot_get_result",  # dueq can do what the immediate backend cannot
        "test_cannot_refresh_result",
        "test_cannot_pass_run_after",
        "test_catches_exception",  # SystemExit is a crash, and the task runs again
        "test_complex_return_value",  # has the error's text by Django
    ],
}


class Dummy(dueq.django.DueqBackend):
    """Has what the tests of the dummy backend use besides what every backend has."""

    @property
    def results(self) -> list[framework.TaskResult]:
        queues = [dueq.Queue(name) for name in dueq.queues()]
        return [self.get_result(message.id) for queue in queues for message in queue.peek("ready")]

    def clear(self) -> None:
        server.command("FLUSHALL")


class Immediate(dueq.django.DueqBackend):
    """Runs a task when it is enqueued."""

    def enqueue(self, *args: Any, **kwargs: Any) -> framework.TaskResult:
        server.command("FLUSHALL")  # a task that an earlier test interrupted
        result = super().enqueue(*args, **kwargs)
        with suppress(Exception):
            drain(self.app, server=server.url, queues=[result.task.queue_name])
        result.refresh()
        return result


OURS = {"DummyBackend": Dummy, "ImmediateBackend": Immediate}


def use_ours(module: Any) -> None:
    """Puts our backends in the place of Django's, and takes the tests away that are not ours."""
    for name, value in list(vars(module).items()):
        if name in OURS:
            setattr(module, name, OURS[name])
        changed = getattr(value, "_overridden_settings", None) or {}
        for backend in changed.get("TASKS", {}).values():
            if ours := OURS.get(backend["BACKEND"].rpartition(".")[2]):
                backend["BACKEND"] = f"{__name__}.{ours.__name__}"
                backend["OPTIONS"] = {"keep": 3600, "max_attempts": 1}
        for test in NOT_OURS.get(name, []):
            delattr(value, test)


settings.configure(
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
django.setup()
with Server() as server:
    os.environ["DUEQ_URL"] = server.url
    for module in MODULES:
        use_ours(import_module(module))
    sys.exit(DiscoverRunner().run_tests(MODULES) > 0)
