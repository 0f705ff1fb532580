"""The state that the slots of a worker process and its control thread share."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from typing import Protocol

from dueq.app import App
from dueq.errors import Error, InvalidError
from dueq.stats import Stats
from dueq.worker import exit_codes
from dueq.worker.channel import Channel
from dueq.worker.command import Settings
from dueq.worker.logs import log
from dueq.worker.running_job import RunningJob

# How long the heartbeat extends the lease of a job without a time limit of its own.
_MAX_RUN_S = 86400.0
_LONGEST_PAUSE_S = 1.0


class Slot:
    """Runs one job after another."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.running: RunningJob | None = None


class Pool(Protocol):
    """The slots, and how they take messages."""

    def run(self) -> None:
        """Takes messages until the worker stops, and waits for their jobs."""

    def stop_taking(self) -> None:
        """Ends the loops over messages; any thread may call it."""

    def is_waiting(self) -> bool:
        """
        Whether a slot may still reserve a message: so also one that this process releases now.
        """

    def leave(self) -> bool:
        """Tells the queues that this pool's consumers leave. Returns whether all queues know."""

    def release_prefetched(self) -> None:
        """
        Releases messages that were reserved but not begun. The process ends in a moment, and does
        not wait for running jobs.
        """

    def is_alive(self) -> bool:
        """Whether the part that all slots share, such as an event loop, still runs."""

    def is_busy(self) -> bool:
        """Whether any slot does something else than an abandoned job."""


class Worker:
    """The state of a worker process."""

    def __init__(self, settings: Settings, app: App, channel: Channel | None) -> None:
        self.settings = settings
        self.app = app
        self.queues = settings.queues or dict.fromkeys(app.queue_names, 1)
        self.partitioned = next((name for name in self.queues if name in app.partitions), None)
        """The queue with partitions that this worker serves; None: it serves ordinary queues."""
        if self.partitioned and len(self.queues) > 1:
            raise InvalidError(
                f"{self.partitioned} has partitions, and needs a worker of its own: "
                f"--queues {self.partitioned}"
            )
        self.slots = [Slot(number) for number in range(settings.concurrency)]
        self.pool: Pool | None = None
        self.channel = channel
        self.quiet = channel is not None and channel.quiet
        self.stopping = False
        self.ready = False
        self.code = exit_codes.OK
        self.stop_by = float("inf")
        """When the grace is over, by the monotonic clock."""
        self.done = 0
        self._lock = threading.Lock()
        self._reaching = threading.Lock()

    @property
    def max_run(self) -> float:
        """For how long the heartbeat extends a lease, in seconds."""
        limits = (task.kill_after or 0.0 for task in self.app.tasks.values())
        return max(_MAX_RUN_S, 2 * max(limits, default=0.0))

    def stop(self, code: int, why: str) -> None:
        """
        Stops the worker: it takes no new messages, and ends when its jobs have ended. Any thread
        may call this.
        """
        with self._lock:
            if self.stopping:
                self.code = self.code or code
                return
            self.stopping = True
            self.code = code
            self.stop_by = time.monotonic() + self.settings.grace
        busy = sum(slot.running is not None for slot in self.slots)
        log.info("%s: stops; jobs that have %g s to finish: %d", why, self.settings.grace, busy)
        self.stop_taking()

    def stop_taking(self) -> None:
        """Ends the loops of all slots. A loop begins again if the slot may take messages."""
        if self.pool:
            self.pool.stop_taking()

    def may_take(self) -> bool:
        """Whether a slot may take messages now."""
        return not self.stopping and not self.quiet

    def begin(self, slot: Slot, running: RunningJob) -> None:
        """Called when a job begins."""
        slot.running = running
        if self.channel:
            self.channel.hard_at = running.hard_at

    def end(self, slot: Slot) -> None:
        """Called when a job has ended, and its message is settled."""
        slot.running = None
        if self.channel:
            self.channel.hard_at = 0.0
        with self._lock:
            self.done += 1
            over = self.done == self.settings.max_jobs
        if over:
            self.stop(exit_codes.OK, f"--max-jobs {self.settings.max_jobs} is reached")

    def reach(self) -> bool:
        """
        Waits until the server answers: the first time for each queue, later for one. False: the
        worker stops.
        """
        pause = 0.1
        names = list(self.queues)[: 1 if self.ready else None]
        with self._reaching:
            while not self.stopping:
                try:
                    found = {name: self.app.queue(name).stats() for name in names}
                except Error as error:
                    if not error.retriable:
                        self.fail(error)
                        break
                    # The core logs that the server is away, and that it is back.
                    time.sleep(pause * random.uniform(0.5, 1.0))
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
                else:
                    self._tell_unused(found)
                    return True
        return False

    def _tell_unused(self, found: Mapping[str, Stats]) -> None:
        """
        Warns of queues to which nothing was ever pushed, as a mistyped name looks like an idle
        queue. Of several processes only the first warns.
        """
        if self.ready or (self.channel and not self.channel.tells):
            return
        for name, has in found.items():
            if not (has.pushed or has.ready or has.delayed or has.leased or has.dead):
                log.warning(
                    "nothing was ever pushed to the queue %s; "
                    "dueq queues lists the queues of this server",
                    name,
                )

    def fail(self, error: Error) -> None:
        """Stops the worker, as the server refuses for good."""
        log.error("the worker cannot go on: %s: %s", type(error).__name__, error)
        self.stop(exit_codes.FAILED, "a failure")
