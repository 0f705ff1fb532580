"""For the tests of programs: runs their tasks without a worker, in any test framework."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from contextvars import copy_context
from datetime import datetime

from dueq.app import App
from dueq.blocking.message import Message
from dueq.blocking.queue import Queue
from dueq.job import Job
from dueq.times import moment
from dueq.worker.runner import Run, Runner

# As long as a test in a debugger may take.
_LEASE_S = 3600.0
# What has just become due, or is on its way from another queue, is there within milliseconds.
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
    Runs the tasks of an app in this thread until none is ready, also those that the tasks push.
    Returns the jobs that ran, in order.

    queues   names of the queues, the first preferred; None: those of the app's tasks and handlers
    delayed  also runs what is due later, in the order of the due times, without waiting. The
             messages of schedules stay: they have no end
    most     RuntimeError when there are more jobs: tasks that push each other without end
    server   the URL of the test's own server; None: that of the fixtures dueq_url and dueq_queue

    RuntimeError, and no task runs, where the app's queues are on another server: a test must not
    run the tasks of production.

    Everything is as in a worker (middleware, dueq.current_job(), the settlement of the message),
    except that time limits are not kept. What a job raises is raised here, after its message is
    retried: a further drain(app, delayed=True) runs it again.

        send_receipt.push(17)
        assert [job.task for job in drain(app)] == ["send_receipt"]

    In a test that is a coroutine function: await asyncio.to_thread(drain, app).
    """
    sources = [app.queue(name) for name in (app.queue_names if queues is None else queues)]
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
                run = Run(app, message, lambda: False, runner.run)
                jobs.append(run.running.job)
                here = copy_context()
                if decision := here.run(run.in_thread):
                    here.run(run.tell_exhausted, decision.settle(message))
                if run.running.failure:
                    raise run.running.failure
    return jobs


def _refuse_others(sources: Iterable[Queue], own: str | None) -> None:
    """RuntimeError where a queue is not on the test's own server."""
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
    """Reserves one after another until nothing is left."""
    while message := _ready(sources) or (_delayed(sources) if delayed else None):
        yield message


def _ready(sources: list[Queue]) -> Message | None:
    for source in sources:
        if message := source.reserve(lease=_LEASE_S):
            return message
    return None


def _delayed(sources: list[Queue]) -> Message | None:
    """The message that is due first."""
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
