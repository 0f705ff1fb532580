"""The command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dueq import _core
from dueq._weights import weighted_order
from dueq.errors import Error
from dueq.worker import logs

_EPILOG = """\
module:app is a module, as `import` finds it from the working directory, and the name of a
dueq.App in it: dueq-worker shop.tasks:app

queues:
  high,low       strict: a message of "low" is taken when "high" has none
  high:3,low:1   by weight: "high" is asked first three times of four, so "low" never starves
  Without --queues: all queues of the app's tasks and handlers, in turn.

pools:
  threads    N handlers at once in one process; for handlers that wait for others
  processes  N processes with one handler each, and a parent that replaces a process which
             ends; for handlers that compute, leak or crash
  asyncio    N coroutines at once in one event loop; plain functions run in threads beside it

schedules:
  A worker declares the schedules of its app's tasks, @app.task(cron=...), when it starts. A
  release of the app that was replaced less than an hour ago declares nothing; DUEQ_RELEASE names
  the release. dueq schedules lists all schedules, dueq schedule prune removes those that the
  code no longer has.

signals:
  TERM, INT  stop: take no new messages, let jobs end within --grace, release the others,
             and exit; a second signal exits at once
  TSTP       stop taking messages, but run on; CONT takes messages again
  USR1       log what each slot does, since when, and where

exit code: 0 stopped, or a limit (--max-jobs, --max-time, --memory) was reached; 1 the app
cannot be imported, on_start raised, or the server refuses for good; 2 the command line or
module:app is wrong; 70 a job ran past its kill_after; 128 + N a second signal N
"""


@dataclass(frozen=True)
class Settings:
    """The options of the command line."""

    app: str
    queues: dict[str, int] | tuple[str, ...] | None
    concurrency: int
    pool: Literal["threads", "processes", "asyncio"]
    prefetch: int
    lease: float | None
    max_jobs: int | None
    max_time: float | None
    memory: int | None
    grace: float
    log: Literal["text", "json"]
    watch: bool


def parse(words: Sequence[str] | None = None) -> Settings:
    """
    Parses a command line; None: that of this process. Exits with 2 if the command line is wrong.
    """
    parser = argparse.ArgumentParser(
        prog="dueq-worker",
        description="Runs the tasks of a dueq.App.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("app", metavar="module:app", help="the module and the dueq.App in it")
    add("--queues", metavar="LIST", type=_queues, help="the queues, strict or by weight: see below")
    add("--concurrency", metavar="N", type=_count, default=4, help="how many jobs run at once (4)")
    add("--pool", choices=["threads", "processes", "asyncio"], default="threads", help="(threads)")
    add(
        "--prefetch",
        metavar="N",
        type=_prefetch,
        default=1,
        help="how many messages each thread or process, or the event loop, reserves at a time "
        "(1); raise it for jobs of milliseconds",
    )
    add(
        "--lease",
        metavar="DURATION",
        type=_duration,
        help="when a worker is killed, others get its jobs after this time: 500ms, 8s, 2m; "
        "a number is seconds (the message's own, else 8s)",
    )
    add("--max-jobs", metavar="N", type=_count, help="each process ends after this many jobs")
    add("--max-time", metavar="DURATION", type=_duration, help="each process ends after this time")
    add(
        "--memory",
        metavar="MB",
        type=_count,
        help="each process ends when it uses more memory than this",
    )
    add(
        "--grace",
        metavar="DURATION",
        type=_grace,
        default=25.0,
        help="how long jobs may go on after a stop signal (25s)",
    )
    add(
        "--log",
        choices=["text", "json"],
        default="text",
        help="the form of the log, on standard error (text)",
    )
    add(
        "--watch",
        action="store_true",
        help="restarts the worker when a file of the app changes: for development",
    )
    return Settings(**vars(parser.parse_args(words)))


def main(words: Sequence[str] | None = None) -> int:
    """Runs a worker and returns its exit code."""
    settings = parse(words)
    logs.set_up(settings.log)
    # Loaded only now, so that --help is fast.
    from dueq.worker import process, supervisor, watch

    if settings.pool == "processes":
        return supervisor.run(settings)
    code = process.run(settings)
    if code == process.RELOAD:
        watch.start_anew()
    return code


def _queues(text: str) -> dict[str, int] | tuple[str, ...]:
    parts = text.split(",")
    weights = {}
    for part in parts:
        name, colon, weight = part.rpartition(":")
        if colon and weight.isdecimal():
            weights[name] = int(weight)
    if not weights:
        if "" in parts or len(set(parts)) < len(parts):
            raise argparse.ArgumentTypeError(f"{text!r} has an empty name, or one twice")
        return tuple(parts)
    if len(weights) < len(parts):
        raise argparse.ArgumentTypeError(f"{text!r}: give each queue a weight, once, or none")
    try:
        weighted_order(weights)
    except Error as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return weights


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _prefetch(text: str) -> int:
    count = _count(text)
    if count > _core.MAX_BATCH:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {_core.MAX_BATCH}")
    return count


def _duration(text: str) -> float:
    """Seconds."""
    seconds = _grace(text)
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration above 0")
    return seconds


def _grace(text: str) -> float:
    ms = _core.duration_ms(text)
    if ms < 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a duration; write 250ms, 1.5s, 30m or 1h30m"
        )
    return ms / 1000
