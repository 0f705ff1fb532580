"""A worker process, from the import of the app to the exit code."""

from __future__ import annotations

import os
import signal
import sys

from dueq.errors import Error
from dueq.worker import exit_codes
from dueq.worker.aio import Loop
from dueq.worker.app_loader import NoApp, load
from dueq.worker.channel import Channel
from dueq.worker.command import Settings
from dueq.worker.control_thread import RELOAD, ControlThread
from dueq.worker.logs import log
from dueq.worker.notify import Notifier
from dueq.worker.running_job import catch_interrupts
from dueq.worker.signals import Signals
from dueq.worker.threads import Threads
from dueq.worker.watch import Watch
from dueq.worker.worker import Pool, Worker

__all__ = ["RELOAD", "run"]


def run(settings: Settings, channel: Channel | None = None) -> int:
    """Runs a worker. Returns its exit code, or RELOAD. channel: for a child of supervisor.py."""
    # Until Signals handles these two, their default actions would stop or end the process.
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        app = load(settings.app)
    except NoApp as error:
        print(f"dueq-worker: {error}", file=sys.stderr)
        return exit_codes.USAGE
    except Exception as error:
        watch = Watch(error) if settings.watch else None
        log.exception("%s cannot be imported", settings.app)
        if watch is None:
            return exit_codes.FAILED
        watch.wait()
        return RELOAD
    if not (settings.queues or app.queue_names):
        print(f"dueq-worker: {settings.app} has no task and no --queues", file=sys.stderr)
        return exit_codes.USAGE
    signals = Signals()
    catch_interrupts()
    try:
        worker = Worker(settings, app, channel)
        pool: Pool = Loop(worker) if settings.pool == "asyncio" else Threads(worker)
        worker.pool = pool
        control = ControlThread(worker, pool, signals, None if channel else Notifier())
    except Error as error:
        print(f"dueq-worker: {error}", file=sys.stderr)
        return exit_codes.USAGE
    log.info(
        "process %d: %s, queues %s, %s",
        os.getpid(),
        settings.app,
        ", ".join(worker.queues),
        app.queue(next(iter(worker.queues))).url,
    )
    control.start()
    pool.run()
    control.end()
    log.info("ends after %d jobs", worker.done)
    return worker.code
