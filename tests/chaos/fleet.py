"""The processes of a chaos run: workers in several languages, each with a ledger of its own."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HANG_S = 20.0  # a worker that writes nothing for so long hangs: its calls have 3 s, its waits 5
# Those whose handlers never fail, on a queue of their own: in each language, and who feeds it.
STEADY: dict[str, list[str | Path]] = {
    "python": [sys.executable, HERE / "worker_steady.py"],
    "php": ["php", HERE / "worker_steady.php"],
    "c": [ROOT / "build/cmake/tests/chaos-worker-steady"],
}
# Those who work on the queues with kept ends and batches; and which language has which role.
BATCHES: dict[str, list[str | Path]] = {
    "python": [sys.executable, HERE / "worker_batch.py"],
    "php": ["php", HERE / "worker_batch.php"],
}
BATCH_ROLES: dict[str, tuple[str, ...]] = {
    "open": tuple(BATCHES),
    "member": tuple(BATCHES),
    "ask": ("python",),
}
CLOCK = ROOT / "build/cmake/tests/libshifted_clock.so"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def clock_ns() -> int:
    """The time of day minus the monotonic time, which no jump of a worker's clock changes."""
    return min(time.time_ns() - time.monotonic_ns() for _ in range(100))


class Worker:
    """A place in the fleet: one process after the other, each with a number of its own."""

    _numbers = itertools.count(1)

    def __init__(
        self,
        fleet: Fleet,
        language: str,
        role: str,
        command: Sequence[str | Path],
        queues: tuple[str, ...],
    ) -> None:
        self.fleet, self.language, self.role = fleet, language, role
        self.command, self.queues = command, queues
        self.stopped = False
        self.start()

    def start(self) -> None:
        number = next(self._numbers)
        self.number = str(number)
        self.name = f"{number:04}-{self.language}-{self.role}"
        self.ledger = self.fleet.folder / f"{self.name}.ledger"
        self.ledger.touch()
        self.errors = self.ledger.with_suffix(".err")
        self._size, self._grown = 0, time.monotonic()
        self.shift_clock(0)
        words = [*self.command, self.role, self.ledger, self.fleet.url(self.role), *self.queues]
        words += [self.number, str(self.fleet.chance.getrandbits(31))]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*map(str, words), str(self.fleet.rate), str(self.fleet.stop_file(self.role))],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=self.fleet.environment | {"CLOCK_FILE": str(self._shift)},
            )

    @property
    def _shift(self) -> Path:
        return self.ledger.with_suffix(".shift")

    def shift_clock(self, seconds: int) -> None:
        """Its clock is so far off from now on."""
        # In place: the process has mapped it.
        with self._shift.open("r+b" if self._shift.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.stopped = False

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        self.stopped = True

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False
        self._grown = time.monotonic()

    def poisoned(self) -> bool:
        """Whether a message has killed it."""
        if self.process.poll() not in (-signal.SIGKILL, -signal.SIGSEGV):
            return False
        lines = self.ledger.read_text("utf-8").splitlines()
        return bool(lines) and lines[-1].startswith("dying ")

    def trouble(self, idle: bool) -> str | None:
        """What is wrong with a worker, in words. idle: it may have no work."""
        if self.process.poll() is not None:
            text = self.errors.read_text("utf-8", "replace").strip()[-500:]
            return f"{self.name} ended with {self.process.returncode}: {text}"
        size = self.ledger.stat().st_size
        now = time.monotonic()
        if size != self._size or self.stopped or idle:
            self._size, self._grown = size, now
        elif now - self._grown > HANG_S:
            return f"{self.name} (process {self.process.pid}) hangs: no line for {HANG_S:.0f} s"
        return None


class Fleet:
    """
    All workers.

    url       the server's, for a role
    commands  how to start one, by language
    queues    the names of what they work on: each worker on one of these groups
    rate      messages a second of each producer
    longest   s that an outage lasts at most: what a few messages take is longer
    """

    def __init__(
        self,
        folder: Path,
        url: Callable[[str], str],
        commands: dict[str, list[str | Path]],
        queues: Sequence[tuple[str, ...]],
        rate: float,
        chance: random.Random,
        longest: float = 0,
    ) -> None:
        self.folder, self.url, self.rate, self.chance = folder, url, rate, chance
        self.commands, self.queues = commands, queues
        self.longest = longest
        self.workers: list[Worker] = []
        self.troubles: list[str] = []
        self.environment = os.environ | {
            "CHAOS_CLOCK": str(clock_ns()),
            "CHAOS_LONGEST": str(longest),
            "LD_PRELOAD": str(CLOCK),
        }
        # No core files of those that die by poison.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    def stop_file(self, role: str) -> Path:
        return self.folder / f"stop-{role}"

    def start(self, role: str, each: int) -> None:
        """So many of each language, and at least one on each group of queues."""
        groups = itertools.cycle(self.queues)
        languages = list(self.commands) * max(each, -(-len(self.queues) // len(self.commands)))
        for language, queues in zip(languages, groups, strict=False):
            command = self.commands[language]
            self.workers.append(Worker(self, language, role, command, queues))

    def start_steady(self, role: str, queue: str, each: int) -> None:
        """So many of each language, or one that feeds or drains the queue."""
        for language in list(STEADY) * each if role == "steady" else ["python"]:
            self.workers.append(Worker(self, language, role, STEADY[language], (queue,)))

    def start_batches(self, queues: tuple[str, ...]) -> None:
        """All who work on the queues with kept ends and batches."""
        for role, languages in BATCH_ROLES.items():
            for language in languages:
                self.workers.append(Worker(self, language, role, BATCHES[language], queues))

    def start_finish(self, queues: tuple[str, ...]) -> None:
        """Those who end what is left in these queues."""
        for language, command in BATCHES.items():
            self.workers.append(Worker(self, language, "finish", command, queues))

    def at_work(self, role: str) -> list[Worker]:
        return [worker for worker in self.workers if worker.role == role and not worker.stopped]

    def watch(self, idle: bool = False) -> None:
        """Notes crashed and hanging workers, and replaces them. idle: they may have no work."""
        for worker in self.workers:
            if worker.poisoned():
                worker.start()
            elif trouble := worker.trouble(idle):
                self.troubles.append(trouble)
                worker.kill()
                worker.start()

    def end(self, *roles: str) -> None:
        """Lets the workers of these roles end by themselves."""
        for role in roles:
            self.stop_file(role).touch()
        leaving = [worker for worker in self.workers if worker.role in roles]
        self.workers = [worker for worker in self.workers if worker.role not in roles]
        deadline = time.monotonic() + HANG_S
        for worker in leaving:
            worker.go_on()
            if worker.role == "steady":
                worker.process.terminate()
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
                # One that was just started knows no SIGTERM yet.
                if worker.process.returncode not in (0, -signal.SIGTERM) and not worker.poisoned():
                    self.troubles.append(str(worker.trouble(False)))
            except subprocess.TimeoutExpired:
                self.troubles.append(f"{worker.name} does not end")
                worker.kill()

    def kill(self) -> None:
        for worker in self.workers:
            worker.kill()
