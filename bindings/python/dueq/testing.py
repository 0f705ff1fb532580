"""Runs the tasks of a program in its tests, without a worker, for any test framework."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from contextvars import copy_context
from datetime import datetime

from dueq.app import App
from dueq.blocking.message import Message
from dueq.blocking.queue import Queue
from dueq.chain import caught
from dueq.job import Job
from dueq.times import moment
from dueq.worker.runner import Run, Runner

# Long enough for a test in a debugger.
_LEASE_S = 3600.0
# How long to wait for a message that was just made due: it is ready within milliseconds.
_SOON_S = 5.0

own_server: str | None = None
"""The URL of the fixtures' private server; None: no fixture has started it."""


def drain(
    app: App,
    *,
    queues: Iterable[str] | None = None,
    delayed: bool = False,
    most: int = 1000,
    server: str | None = None,
) -> list[Job]:
    """
    Runs the tasks of an app in this thread until no message is ready. Tasks that these tasks push
    run too. Returns the jobs that ran, in order.

    queues   names of the queues, the first preferred; None: those of the app's tasks and handlers
    delayed  True: delayed tasks run too, in the order of their due times, without waiting. Messages
             of schedules stay, as each fire pushes the next one
    most     how many jobs may run: for one more, as when tasks push each other without end,
             RuntimeError
    server   the URL of the test's own server; None: that of the fixtures dueq_url and dueq_queue

    Raises RuntimeError, and runs no task, if the app's queues are on another server: a test must
    not run the tasks of production. The same if there are no queues to take from.

    Middleware runs, dueq.current_job() works, and messages are settled as in a worker. Time limits
    are not enforced. An exception of a job is raised here, after its message is retried: a further
    drain(app, delayed=True) runs the job again.

        send_receipt.push(17)
        assert [job.task for job in drain(app)] == ["send_receipt"]

    In a test that is a coroutine function: await asyncio.to_thread(drain, app).
    """
    sources = [app.queue(name) for name in (app.queue_names if queues is None else queues)]
    if not sources:
        raise RuntimeError('drain() has no queues to take from: drain(app, queues=["default"])')
    _refuse_others(sources, server or own_server)
    jobs: list[Job] = []
    with closing(Runner()) as runner:
        for message in _messages(sources, delayed):
            if len(jobs) == most:
                message.release()
                raise RuntimeError(f"more than {most} jobs: do the tasks push each other?")
            with message:
                if message.is_schedule:
                    message.fire()
                    continue
                if push := caught(message):
                    push.settle(message)
                    continue
                run = Run(app, message, lambda: False, runner.run)
                jobs.append(run.running.job)
                here = copy_context()
                if decision := here.run(run.in_thread):
                    here.run(run.tell_exhausted, decision.settle(message))
                if run.running.failure:
                    raise run.running.failure
    return jobs


def _refuse_others(sources: Iterable[Queue], own: str | None) -> None:
    """Raises RuntimeError if a queue is not on the test's own server."""
    if own is None:
        raise RuntimeError(
            "drain() runs tasks on a test's own server only, and there is none: use the fixture "
            "dueq_url, or name the server: drain(app, server=URL)"
        )
    with Queue("any", own) as queue:
        own = queue.url
    for source in sources:
        if source.url != own:
            raise RuntimeError(
                f"the app's queue {source.name} is on {source.url}, and the test's own server is "
                f"{own}: make the app without a URL, and its queues while the fixture dueq_url "
                "holds, or name the server: drain(app, server=URL)"
            )


def _messages(sources: list[Queue], delayed: bool) -> Iterator[Message]:
    """Reserves one message after another, until none is left."""
    while message := _ready(sources) or (_delayed(sources) if delayed else None):
        yield message


def _ready(sources: list[Queue]) -> Message | None:
    for source in sources:
        if message := source.reserve(lease=_LEASE_S):
            return message
    return None


def _delayed(sources: list[Queue]) -> Message | None:
    """Makes the message that is due first due now, and reserves it."""
    first: tuple[datetime, Queue, str] | None = None
    for source in sources:
        for message in source.peek("delayed"):
            if message.is_schedule:
                continue
            due = message.time or moment(0)
            if first is None or due < first[0]:
                first = (due, source, message.id)
            if source.partitions is None:
                break
    if first is None:
        return None
    _, source, id = first
    source.reschedule(id)
    return source.reserve(_SOON_S, _LEASE_S)
