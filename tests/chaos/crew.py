"""The processes of a chaos run: workers in several languages, each with a ledger of its own."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HANG_S = 20.0  # a worker that writes nothing for so long hangs: its calls have 3 s, its waits 5


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Worker:
    """A place in the crew: one process after the other, each with a number of its own."""

    _numbers = itertools.count(1)

    def __init__(self, crew: Crew, language: str, role: str, queues: tuple[str, ...]) -> None:
        self.crew, self.language, self.role, self.queues = crew, language, role, queues
        self.stopped = False
        self.start()

    def start(self) -> None:
        number = next(self._numbers)
        self.number = str(number)
        self.name = f"{number:04}-{self.language}-{self.role}"
        self.ledger = self.crew.folder / f"{self.name}.ledger"
        self.ledger.touch()
        self.errors = self.ledger.with_suffix(".err")
        self._size, self._grown = 0, time.monotonic()
        words = [*self.crew.commands[self.language], self.role, self.ledger]
        words += [self.crew.url(self.role), *self.queues]
        words += [self.number, str(self.crew.chance.getrandbits(31))]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*map(str, words), str(self.crew.rate), str(self.crew.stop_file(self.role))],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )

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

    def trouble(self) -> str | None:
        """What is wrong with a worker that should be at work, in words."""
        if self.process.poll() is not None:
            text = self.errors.read_text("utf-8", "replace").strip()[-500:]
            return f"{self.name} ended with {self.process.returncode}: {text}"
        size = self.ledger.stat().st_size
        now = time.monotonic()
        if size != self._size or self.stopped:
            self._size, self._grown = size, now
        elif now - self._grown > HANG_S:
            return f"{self.name} (process {self.process.pid}) hangs: no line for {HANG_S:.0f} s"
        return None


class Crew:
    """
    All workers.

    url       the server's, for a role
    commands  how to start one, by language
    queues    the names of what they work on: each worker on one of these groups
    rate      messages a second of each producer
    """

    def __init__(
        self,
        folder: Path,
        url: Callable[[str], str],
        commands: dict[str, list[str | Path]],
        queues: Sequence[tuple[str, ...]],
        rate: float,
        chance: random.Random,
    ) -> None:
        self.folder, self.url, self.rate, self.chance = folder, url, rate, chance
        self.commands, self.queues = commands, queues
        self.workers: list[Worker] = []
        self.troubles: list[str] = []

    def stop_file(self, role: str) -> Path:
        return self.folder / f"stop-{role}"

    def hire(self, role: str, each: int) -> None:
        """So many of each language, and at least one on each group of queues."""
        groups = itertools.cycle(self.queues)
        languages = list(self.commands) * max(each, -(-len(self.queues) // len(self.commands)))
        for language, queues in zip(languages, groups, strict=False):
            self.workers.append(Worker(self, language, role, queues))

    def at_work(self, role: str) -> list[Worker]:
        return [worker for worker in self.workers if worker.role == role and not worker.stopped]

    def watch(self) -> None:
        """Notes crashed and hanging workers, and replaces them."""
        for worker in self.workers:
            if trouble := worker.trouble():
                self.troubles.append(trouble)
                worker.kill()
                worker.start()

    def dismiss(self, *roles: str) -> None:
        """Lets the workers of these roles end by themselves."""
        for role in roles:
            self.stop_file(role).touch()
        leaving = [worker for worker in self.workers if worker.role in roles]
        self.workers = [worker for worker in self.workers if worker.role not in roles]
        deadline = time.monotonic() + HANG_S
        for worker in leaving:
            worker.go_on()
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
                if worker.process.returncode:
                    self.troubles.append(str(worker.trouble()))
            except subprocess.TimeoutExpired:
                self.troubles.append(f"{worker.name} does not end")
                worker.kill()

    def kill(self) -> None:
        for worker in self.workers:
            worker.kill()
