"""The control thread: handles signals, time limits, the grace, and systemd."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from dueq import _core
from dueq._call import on
from dueq._message import MessageBase
from dueq.blocking.message import Message
from dueq.blocking.pool import Pool as Calls
from dueq.errors import Error
from dueq.worker import exit_codes
from dueq.worker.logs import log
from dueq.worker.notify import Notifier
from dueq.worker.running_job import RunningJob
from dueq.worker.signals import Signals
from dueq.worker.watch import Watch, start_anew
from dueq.worker.worker import Pool, Worker

TICK_S = 0.25
RELOAD = -1
"""Returned instead of an exit code: the process must start again, with the changed code."""

# How long the last calls, which settle messages, may take before the process ends in any case.
_LAST_CALL_S = 3.0
# How long waiting slots may take to notice the stop: twice the time of one of their waits.
_LAST_WAIT_S = 1.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


class ControlThread:
    """Runs beside the slots, from start() until end() is called."""

    def __init__(
        self,
        worker: Worker,
        pool: Pool,
        signals: Signals,
        notifier: Notifier | None,
    ) -> None:
        self._worker = worker
        self._pool = pool
        self._signals = signals
        self._notifier = notifier
        self._channel = worker.channel
        self._watch = Watch() if worker.settings.watch else None
        self._calls = Calls(worker.app.url, *worker.queues)
        self._began = time.monotonic()
        self._told_ready = False
        self._signalled = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Called when the slots have ended."""
        self._ended = True
        self._thread.join()
        self._calls.close()

    def _run(self) -> None:
        try:
            while not self._ended:
                descriptors = [self._channel.alive] if self._channel else []
                numbers, closed = self._signals.wait(TICK_S, *descriptors)
                for number in numbers:
                    self._signal(number)
                if closed:
                    self._worker.stop(exit_codes.OK, "the parent has ended")
                    self._channel = None
                self._tick()
        except BaseException:
            log.exception("the control thread ended")
            self._leave(exit_codes.FAILED)

    def _signal(self, number: int) -> None:
        worker, name = self._worker, signal.Signals(number).name
        if number in (signal.SIGTERM, signal.SIGINT):
            if self._signalled:
                log.warning("%s again: ends at once", name)
                self._leave(exit_codes.ABORTED + number)
            self._signalled = True
            worker.stop(exit_codes.OK, name)
            if worker.code == RELOAD:
                worker.code = exit_codes.OK
        elif number == signal.SIGTSTP and not worker.quiet:
            log.info("%s: takes nothing new", name)
            worker.quiet = True
            worker.stop_taking()
        elif number == signal.SIGCONT and worker.quiet:
            log.info("%s: takes messages again", name)
            worker.quiet = False
        elif number == signal.SIGUSR1:
            self._dump()

    def _tick(self) -> None:
        worker, settings, now = self._worker, self._worker.settings, time.monotonic()
        for running in self._running():
            self._limit(running, now)
        if worker.stopping:
            if self._running() and not self._pool.is_busy():
                self._leave(worker.code)
            if now >= worker.stop_by:
                log.warning("the grace of %g s is over", settings.grace)
                self._leave(worker.code)
        elif settings.max_time and now - self._began >= settings.max_time:
            worker.stop(exit_codes.OK, f"--max-time {settings.max_time:g} is over")
        elif settings.memory and (size := _resident_mb()) > settings.memory:
            worker.stop(exit_codes.OK, f"{size} MB are more than --memory {settings.memory}")
        elif self._watch and (path := self._watch.changed()):
            worker.stop(RELOAD, f"{path} has changed")
        self._tell()

    def _running(self) -> list[RunningJob]:
        return [slot.running for slot in self._worker.slots if slot.running]

    def _limit(self, running: RunningJob, now: float) -> None:
        """Enforces the time limits of one job."""
        if now >= running.soft_at and not running.interrupted:
            running.interrupt()
        if now < running.hard_at or running.abandoned:
            return
        running.abandoned = True
        text = f"HardTimeout: the job did not end within {now - running.since:.0f} s"
        log.error("%r: %s\n%s", running.job, text, running.stack())
        self._within(lambda: self._retry(running, text))
        self._worker.stop(exit_codes.STUCK, "a job is stuck")

    def _retry(self, running: RunningJob, text: str) -> None:
        message = running.job.message
        if not Message(self._calls, message.queue, message._row).retry(error=text):
            running.tell_stuck(TimeoutError(text))

    def _tell(self) -> None:
        worker = self._worker
        if self._channel:
            self._channel.ready = worker.ready
        if self._notifier is None:
            return
        if worker.ready and not self._told_ready:
            self._told_ready = True
            self._notifier.say("READY=1")
        if worker.stopping and self._told_ready:
            self._told_ready = False
            self._notifier.say("STOPPING=1")
        if self._pool.is_alive():
            self._notifier.alive()

    def _dump(self) -> None:
        worker, now = self._worker, time.monotonic()
        state = "stopping" if worker.stopping else "quiet" if worker.quiet else "taking messages"
        log.info("%s; %d jobs done", state, worker.done)
        for slot in worker.slots:
            running = slot.running
            if running is None:
                log.info("slot %d: idle", slot.number)
                continue
            seconds, where = now - running.since, running.stack()
            log.info("slot %d: %r for %.1f s\n%s", slot.number, running.job, seconds, where)

    def _leave(self, code: int) -> NoReturn:
        """Releases the messages of running jobs, which counts no attempt, and ends the process."""
        # A waiting slot of this process would take the released messages again. So wait until no
        # slot waits.
        deadline = time.monotonic() + _LAST_WAIT_S
        while self._pool.is_waiting() and time.monotonic() < deadline:
            time.sleep(0.01)
        left = [running for running in self._running() if not running.abandoned]
        if left:
            log.warning("releases %d jobs that are not done", len(left))
        self._within(lambda: self._release([running.job.message for running in left]))
        deadline = time.monotonic() + _LAST_WAIT_S
        while not self._pool.leave() and time.monotonic() < deadline:
            time.sleep(0.01)
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        if code == RELOAD and not self._worker.channel:
            start_anew()
        os._exit(exit_codes.OK if code == RELOAD else code)

    def _release(self, messages: list[MessageBase]) -> None:
        self._pool.release_prefetched()
        for queue in {message.queue for message in messages}:
            tickets = tuple(message.ticket for message in messages if message.queue == queue)
            self._calls.call(on(queue, _core.release_submit, tickets, 0))

    def _within(self, call: Callable[[], None]) -> None:
        """Makes a call, and waits for _LAST_CALL_S at most."""

        def attempt() -> None:
            try:
                call()
            except Error as error:
                log.warning("it comes again when its lease ends: %s", error)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(_LAST_CALL_S)


def _resident_mb() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE >> 20
    except FileNotFoundError:
        # macOS has no /proc. It tells the most that the process has had, in bytes.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20
