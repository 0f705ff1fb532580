"""What all chaos runs do to their workers, and when."""

from __future__ import annotations

import heapq
import itertools
import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from crew import Crew, now_ms

FAULT_EVERY_S = 0.8


class Faults(ABC):
    """
    every_s  seconds from a fault to the next, on average
    kills    roles, and how often one is killed, in relation to the other faults
    stops    the same of those that are stopped
    """

    every_s = FAULT_EVERY_S

    def __init__(
        self,
        crew: Crew,
        chance: random.Random,
        log: Path,
        kills: dict[str, int],
        stops: dict[str, int],
    ) -> None:
        self.crew, self.chance, self.kills, self.stops = crew, chance, kills, stops
        self.faults: Counter[str] = Counter()
        self.log = log.open("w", encoding="utf-8", buffering=1)
        self.felt = log.with_suffix(".ledger").open("w", encoding="utf-8", buffering=1)
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    @abstractmethod
    def kinds(self) -> dict[Callable[[], str | None], int]:
        """The faults besides those of workers, and how often each is made."""

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def run(self, seconds: float, show: Callable[[int], None]) -> None:
        begin = time.monotonic()
        fault_at = begin + 0.5
        while (now := time.monotonic()) < begin + seconds:
            self.do_later(now)
            if now >= fault_at:
                self.fault()
                fault_at = now + self.chance.uniform(0.2, 2 * self.every_s - 0.2)
            self.crew.watch()
            show(sum(self.faults.values()))
            wait = min(fault_at, self._later[0][0] if self._later else fault_at, now + 0.5)
            self.pause(max(0.0, wait - time.monotonic()))
        self.end()

    def do_later(self, until: float) -> None:
        while self._later and self._later[0][0] <= until:
            heapq.heappop(self._later)[2]()

    def end(self) -> None:
        """Brings all faults to their ends."""
        while self._later:
            heapq.heappop(self._later)[2]()
            time.sleep(0.01)  # some look whether something has come, until it has

    def fault(self) -> None:
        kinds = self.kinds()
        for role, weight in self.kills.items():
            kinds[partial(self.kill_worker, role)] = weight
        for role, weight in self.stops.items():
            least = 1.2 if role == "consume" else 0.3
            kinds[partial(self.stop_worker, role, least, 4.0)] = weight
        [kind] = self.chance.choices(list(kinds), list(kinds.values()))
        if done := kind():
            self.note(done)
            self.faults[done.split(":")[0]] += 1

    def note(self, what: str) -> None:
        self.log.write(f"{now_ms()} {what}\n")

    def feel(self, begin_ms: int, worker: str = "-") -> None:
        """Notes for the judge a fault that ends now. worker: the one that it met; -: all."""
        self.felt.write(f"fault {begin_ms} {now_ms()} {worker}\n")

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), action))

    def kill_worker(self, role: str) -> str | None:
        workers = [worker for worker in self.crew.workers if worker.role == role]
        worker = self.chance.choice(workers)
        name = worker.name
        worker.kill()
        worker.start()
        return f"{doer(role)} killed: {name}"

    def stop_worker(self, role: str, least: float, most: float) -> str | None:
        workers = self.crew.at_work(role)
        if len(workers) < 2:
            return None
        worker = self.chance.choice(workers)
        process, number = worker.process, worker.number
        begin_ms = now_ms()
        worker.stop()

        def go_on() -> None:
            if worker.process is process:
                worker.go_on()
                self.feel(begin_ms, number)
                self.note(f"goes on: {worker.name}")

        self.later(self.chance.uniform(least, most), go_on)
        return f"{doer(role)} stopped: {worker.name}"


def doer(role: str) -> str:
    return {"move": "mover", "gamble": "gambler", "reach": "reacher"}.get(role, f"{role}r")
