"""A pool whose slots are threads. The first slot is the main thread."""

from __future__ import annotations

import threading
import time
from contextlib import closing

from dueq.blocking.consumer import Consumer
from dueq.blocking.message import Message
from dueq.blocking.queue import Queues
from dueq.chain import caught
from dueq.errors import Error
from dueq.worker import exit_codes, job_log, start
from dueq.worker.logs import log
from dueq.worker.runner import Run, Runner
from dueq.worker.worker import Slot, Worker


class Threads:
    """Each slot has a consumer of its own, which sends settlements with its next request."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        whole = worker.partitioned
        app = worker.app
        self._source = app.new_queue(whole) if whole else Queues(worker.queues, app.url)
        self._consumers: dict[Slot, Consumer] = {}
        self._serving = set(worker.slots)

    def run(self) -> None:
        if not start.reach_and_declare(self._worker):
            return
        with closing(Runner()) as runner:
            if not start.run_hooks(self._worker, runner.run):
                return
            self._worker.ready = True
            first, *others = self._worker.slots
            threads = [
                threading.Thread(target=self._serve_alone, args=(slot,), name=f"slot-{slot.number}")
                for slot in others
            ]
            for thread in threads:
                thread.start()
            self._serve(first, runner)
            for thread in threads:
                thread.join()
            start.run_stop_hooks(self._worker, runner.run)

    def stop_taking(self) -> None:
        for consumer in tuple(self._consumers.values()):
            consumer.stop()

    def is_waiting(self) -> bool:
        return any(slot.running is None for slot in self._serving)

    def leave(self) -> bool:
        gone = [consumer.leave() for consumer in tuple(self._consumers.values())]
        return all(gone)

    def release_prefetched(self) -> None:
        for consumer in tuple(self._consumers.values()):
            consumer.release_prefetched()

    def is_alive(self) -> bool:
        return True

    def is_busy(self) -> bool:
        return any(not (slot.running and slot.running.abandoned) for slot in self._serving)

    def _serve_alone(self, slot: Slot) -> None:
        with closing(Runner()) as runner:
            self._serve(slot, runner)

    def _serve(self, slot: Slot, runner: Runner) -> None:
        try:
            while not self._worker.stopping:
                if self._worker.quiet:
                    time.sleep(0.1)
                    continue
                try:
                    self._consume(slot, runner)
                except Error as error:
                    if not error.retriable:
                        self._worker.fail(error)
                    self._worker.reach()
        except BaseException:
            log.exception("slot %d ended", slot.number)
            self._worker.stop(exit_codes.FAILED, "a failure")
        finally:
            self._serving = self._serving - {slot}

    def _consume(self, slot: Slot, runner: Runner) -> None:
        settings = self._worker.settings
        with self._source.consume(
            settings.prefetch,
            settings.lease,
            self._worker.max_run,
            tasks=self._worker.app.task_names,
        ) as consumer:
            self._consumers[slot] = consumer
            if not self._worker.may_take():
                return
            for message in consumer:
                self._work(slot, message, runner)

    def _work(self, slot: Slot, message: Message, runner: Runner) -> None:
        running = None
        try:
            with message:
                if message.is_schedule:
                    message.fire()
                    return
                if push := caught(message):
                    push.settle(message)
                    job_log.caught(message)
                    return
                run = Run(self._worker.app, message, lambda: self._worker.stopping, runner.run)
                running = run.running
                self._worker.begin(slot, running)
                try:
                    decision = run.in_thread()
                    if running.failure:
                        message._leave_block(running.failure)
                    outcome = decision and decision.settle(message)
                except job_log.NO_FAILURE as error:
                    if job_log.has_crashed(self._worker, error):
                        message._crash()
                        job_log.crashed(running, error)
                        return
                    message.release(job_log.release_delay(self._worker, error))
                    job_log.released(running, error)
                else:
                    job_log.ended(running, decision, outcome)
                    run.tell_exhausted(outcome)
        except Exception as error:
            job_log.failed(message, running, error)
        finally:
            self._worker.end(slot)
