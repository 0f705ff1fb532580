"""What becomes of a job, in the log."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from dueq._fields import Fields, described
from dueq.job import Stopped
from dueq.serializers import BadTask, UnknownTask
from dueq.worker.logs import fields, log
from dueq.worker.running import Running

if TYPE_CHECKING:
    from dueq.worker.worker import Worker

NO_FAILURE = (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, Stopped)
"""What ends a job without a failure: the message is released, or the job has crashed."""

_PAUSE_S = 5.0


def has_crashed(worker: Worker, error: BaseException) -> bool:
    """
    Whether an exit counts as a crash, so that max_crashes ends a job that always exits. Not where
    the worker stops: the exit may be the job's way to end soon.
    """
    return isinstance(error, SystemExit) and not worker.stopping


def release_delay(worker: Worker, error: BaseException) -> float:
    """Seconds until a released message comes again: at once only where this worker ends."""
    return 0.0 if worker.stopping or isinstance(error, Stopped) else _PAUSE_S


def done(running: Running) -> None:
    """A job has succeeded."""
    job = running.job
    seconds = time.monotonic() - running.since
    if job.lost:
        log.warning(
            "%s: ended after %.3f s, but its lease was lost before: it may run elsewhere",
            _name(job.message),
            seconds,
            extra=fields(job, running.since),
        )
        return
    log.info("%s: done in %.3f s", _name(job.message), seconds, extra=fields(job, running.since))


def released(running: Running, error: BaseException) -> None:
    """A job ended without a failure."""
    job = running.job
    log.warning(
        "%s: released, for it ended by %s",
        _name(job.message),
        described(error),
        extra=fields(job, running.since),
    )


def crashed(running: Running, error: BaseException) -> None:
    """A job has exited."""
    job = running.job
    log.error(
        "%s: crashed after %.3f s, for it ended by %s",
        _name(job.message),
        time.monotonic() - running.since,
        described(error),
        extra=fields(job, running.since),
    )


def failed(message: Fields, running: Running | None, error: Exception) -> None:
    """A job has failed, or its message is none."""
    if running is None or isinstance(error, (UnknownTask, BadTask)):
        log.error("%s: %s", _name(message), described(error))
        return
    log.error(
        "%s: failed after %.3f s: %s",
        _name(message),
        time.monotonic() - running.since,
        described(error),
        exc_info=error,
        extra=fields(running.job, running.since),
    )


def _name(message: Fields) -> str:
    task = message.headers.get("task")
    what = f"task {task}" if task else f"message of {message.queue}"
    return f"{what} {message.id} attempt {message.attempt}"
