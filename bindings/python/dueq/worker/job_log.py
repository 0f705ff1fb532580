"""Logs how jobs end."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, cast

from dueq._decision import Decision, Fail, Push, Release, Retry, Return
from dueq._message import MessageBase, described
from dueq.chain import Chain
from dueq.errors import LeaseLost
from dueq.job import PAUSE_S, Stopped
from dueq.serializers import CHAIN, FAILED, BadTask, UnknownTask
from dueq.worker.logs import fields, log
from dueq.worker.running_job import RunningJob

if TYPE_CHECKING:
    from dueq.worker.worker import Worker

NO_FAILURE = (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, Stopped)
"""
Exceptions that end a job without a failure: the message is released, or the exit counts as a crash.
"""


def has_crashed(worker: Worker, error: BaseException) -> bool:
    """
    Whether an exit counts as a crash, so that max_crashes ends a job that always exits. While the
    worker stops, an exit is no crash, as it may be the job's way to end soon.
    """
    return isinstance(error, SystemExit) and not worker.stopping


def release_delay(worker: Worker, error: BaseException) -> float:
    """
    Seconds until a released message is due: 0 if this worker stops, so that others get the message
    at once.
    """
    return 0.0 if worker.stopping or isinstance(error, Stopped) else PAUSE_S


def ended(running: RunningJob, decision: Decision | None, outcome: object) -> None:
    """Logs that a job has ended without an exception. outcome: what the settlement returned."""
    if running.failure is not None:
        is_retried = isinstance(decision, Retry)
        why = ", its attempts are exhausted" if is_retried else ", and is not retried"
        failed(running.job.message, running, running.failure, why)
        return
    match decision:
        case Retry(delay, error) if outcome:
            due = "by its backoff" if delay is None else f"in {_plain(delay)} s"
            _wished(logging.INFO, running, "retried", f", due {due}", error)
        case Retry(_, error) | Fail(error):
            why = "" if isinstance(decision, Fail) else ", its attempts are exhausted"
            _wished(logging.WARNING, running, "failed", why, error)
        case Release(delay):
            _wished(logging.INFO, running, "released", f", due in {_plain(delay)} s", "")
        case Push():
            ids = cast("list[str | None]", outcome)
            refused = f", of which duplicates: {ids.count(None)}" if None in ids else ""
            _done(running, f"; successors: {len(ids)}{refused}")
        case None | Return():
            _done(running, "")


def caught(message: MessageBase) -> None:
    """Logs that the catch of a chain was pushed, as a link has failed."""
    chain, failed = Chain.read(message.headers[CHAIN]), message.headers[FAILED].split("\n", 2)
    log.warning(
        "chain: link %d of %d failed, the task %s %s: the catch is pushed to %s",
        chain.link,
        chain.links,
        chain.task,
        failed[0],
        chain.catch_queue,
    )


def _plain(seconds: float) -> str:
    """Formats a number without an exponent."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".")


def _wished(
    level: int, running: RunningJob, what: str, more: str, error: str | BaseException
) -> None:
    text = described(error) if isinstance(error, BaseException) else error
    log.log(
        level,
        "%s: %s at the job's wish after %.3f s%s%s",
        _name(running.job.message),
        what,
        time.monotonic() - running.since,
        more,
        text and f": {text}",
        extra=fields(running.job, running.since),
    )


def _done(running: RunningJob, more: str) -> None:
    job = running.job
    seconds = time.monotonic() - running.since
    if job.lost:
        _lost(running)
        return
    log.info(
        "%s: done in %.3f s%s",
        _name(job.message),
        seconds,
        more,
        extra=fields(job, running.since),
    )


def _lost(running: RunningJob) -> None:
    log.warning(
        "%s: ended after %.3f s, but its lease was lost before: it may run elsewhere",
        _name(running.job.message),
        time.monotonic() - running.since,
        extra=fields(running.job, running.since),
    )


def released(running: RunningJob, error: BaseException) -> None:
    """Logs that a job was released, as an exception of NO_FAILURE ended it."""
    job = running.job
    log.warning(
        "%s: released, for it ended by %s",
        _name(job.message),
        described(error),
        extra=fields(job, running.since),
    )


def crashed(running: RunningJob, error: BaseException) -> None:
    """Logs that a job exited, which counts as a crash."""
    job = running.job
    log.error(
        "%s: crashed after %.3f s, for it ended by %s",
        _name(job.message),
        time.monotonic() - running.since,
        described(error),
        extra=fields(job, running.since),
    )


def failed(
    message: MessageBase, running: RunningJob | None, error: Exception, why: str = ""
) -> None:
    """
    Logs that a job has failed, or that its message is not a task. why: says that the job is not
    retried; "": it is.
    """
    if running is None or isinstance(error, (UnknownTask, BadTask)):
        log.error("%s: %s", _name(message), described(error))
        return
    if isinstance(error, LeaseLost) and running.job.decision is not None:
        # The handler has not failed. The settlement that the job asked for came too late.
        _lost(running)
        return
    log.error(
        "%s: failed after %.3f s%s: %s",
        _name(message),
        time.monotonic() - running.since,
        why,
        described(error),
        exc_info=error,
        extra=fields(running.job, running.since),
    )


def hook_failed(running: RunningJob, error: BaseException) -> None:
    """Logs what the hook on_exhausted raised. The outcome of the job stays the same."""
    log.error(
        "%s: on_exhausted failed: %s",
        _name(running.job.message),
        described(error),
        exc_info=error,
        extra=fields(running.job, running.since),
    )


def _name(message: MessageBase) -> str:
    task = message.headers.get("task")
    what = f"task {task}" if task else f"message of {message.queue}"
    return f"{what} {message.id} attempt {message.attempt}"
