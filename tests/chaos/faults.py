"""Faults at random, from a seed: when they are made, those of workers, and what is told."""

from __future__ import annotations

import argparse
import heapq
import itertools
import logging
import random
import shutil
import signal
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from fleet import ROOT, Fleet, now_ms
from queue_kinds import AnyVerdict, Kind

import dueq
import private_server

FAULT_EVERY_S = 0.8
# How far a worker's clock is off, s.
SHIFTS = (-86400, 86400, -3600, 3600, -30, 30, -3, 3, -1, 1, 0, 0)

# What makes a fault (and returns what it did, None: nothing), and how often among the others.
Choices: TypeAlias = "dict[Callable[[], str | None], int]"


class Faults(ABC):
    every_s = FAULT_EVERY_S

    def __init__(self, fleet: Fleet, chance: random.Random, log: Path) -> None:
        self.fleet, self.chance = fleet, chance
        self.faults: Counter[str] = Counter()
        self.log = log.open("w", encoding="utf-8", buffering=1)
        self.felt = log.with_suffix(".ledger").open("w", encoding="utf-8", buffering=1)
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    @abstractmethod
    def kinds(self) -> Choices: ...

    @abstractmethod
    def is_calm(self) -> bool:
        """Can a server be asked how far it is?"""

    def rest(self, wait: float) -> None:
        """Until the next fault, or the end of one."""
        time.sleep(wait)

    def of_workers(self, kind: type[Kind]) -> Choices:
        """The faults of workers."""
        kinds: Choices = {}
        for role, weight in kind.kills.items():
            kinds[partial(self.kill_worker, role)] = weight
        for role, weight in kind.stops.items():
            least = 1.2 if role == "consume" else 0.3
            kinds[partial(self.stop_worker, role, least, 4.0)] = weight
        if kind.steady:
            kinds[self.shift_clock] = 8
        return kinds

    def run(self, seconds: float, progress: Progress) -> None:
        begin = time.monotonic()
        fault_at = begin + 0.5
        while (now := time.monotonic()) < begin + seconds:
            while self._later and self._later[0][0] <= now:
                heapq.heappop(self._later)[2]()
            if now >= fault_at:
                self.fault()
                fault_at = now + self.chance.uniform(0.2, 2 * self.every_s - 0.2)
            self.fleet.watch(idle=not self.is_calm())
            progress.show(self.is_calm(), sum(self.faults.values()))
            wait = min(fault_at, self._later[0][0] if self._later else fault_at, now + 0.5)
            self.rest(max(0.0, wait - time.monotonic()))
        self.end()

    def end(self) -> None:
        """Brings what was begun to its end."""
        while self._later:
            heapq.heappop(self._later)[2]()
            time.sleep(0.01)  # some look whether something has come, until it has

    def fault(self) -> None:
        kinds = self.kinds()
        [kind] = self.chance.choices(list(kinds), list(kinds.values()))
        self.make(kind)

    def make(self, kind: Callable[[], str | None]) -> bool:
        """Makes a fault, and notes it. Returns whether it could be made."""
        if done := kind():
            self.note(done)
            self.faults[done.split(":")[0]] += 1
        return bool(done)

    def note(self, what: str) -> None:
        self.log.write(f"{now_ms()} {what}\n")

    def feel(self, begin_ms: int, worker: str = "-") -> None:
        """Notes for the judge a fault that ends now. worker: the one that it met; -: all."""
        self.felt.write(f"fault {begin_ms} {now_ms()} {worker}\n")

    def forgotten(self, begin_ms: int, end_ms: int, queues: Sequence[str]) -> None:
        """Notes for the judge when a failover may have lost what was done to queues."""
        if queues:
            self.felt.write(f"forgotten {begin_ms} {end_ms} {','.join(queues)}\n")

    def replaced_by(self, begin_ms: int, queues: Sequence[str]) -> None:
        """Notes for the judge that queues had no primary until now: what was due then is late."""
        if queues:
            self.felt.write(f"replaced {begin_ms} {now_ms()} {','.join(queues)}\n")

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), action))

    def kill_worker(self, role: str) -> str | None:
        workers = [worker for worker in self.fleet.workers if worker.role == role]
        worker = self.chance.choice(workers)
        name = worker.name
        worker.kill()
        worker.start()
        return f"{doer(role)} killed: {name}"

    def stop_worker(self, role: str, least: float, most: float) -> str | None:
        workers = self.fleet.at_work(role)
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

    def shift_clock(self) -> str:
        """A worker's clock jumps, and stays so until it jumps again. The shell's has no other."""
        workers = [worker for worker in self.fleet.workers if worker.language != "shell"]
        worker = self.chance.choice(workers)
        seconds = self.chance.choice(SHIFTS)
        worker.shift_clock(seconds)
        return f"clock jumped: {worker.name} by {seconds} s"


def doer(role: str) -> str:
    names = {
        "move": "mover",
        "gamble": "gambler",
        "reach": "reacher",
        "steady": "steady one",
        "open": "opener",
        "member": "worker of members",
        "ask": "asker",
    }
    return names.get(role, f"{role}r")


def longest_outage(seconds: float) -> float:
    """Of a run of so many seconds; longer than the leases, and few enough take little of it."""
    return max(3.5, min(60.0, seconds / 6))


class Progress:
    """A line every few seconds."""

    def __init__(self, text: Callable[[], str]) -> None:
        self.text = text
        self.begin = time.monotonic()
        self.next = self.begin + 2

    def show(self, server_up: bool, faults: int) -> None:
        now = time.monotonic()
        if now < self.next or not server_up:
            return
        self.next = now + 5
        try:
            text = self.text()
        except dueq.Error:
            return
        print(f"{now - self.begin:5.0f} s  {faults} faults  {text}", flush=True)


def report(verdict: AnyVerdict, folder: Path) -> None:
    print("", *verdict.summary(), sep="\n")
    failures = ", ".join(f"{name} {count}" for name, count in sorted(verdict.errors.items()))
    print(f"failed calls by status and verb: {failures or 'none'}")
    for name, marks in verdict.broken().items():
        if marks:
            print(f"\n{name}: {len(marks)}")
        for mark in marks[:5]:
            print(f"  {mark}")
            for line in story(folder, mark) if name != "odd" else []:
                print(f"    {line}")


def keep_logs(folder: Path, servers: Iterable[private_server.Server]) -> None:
    """What the servers say of the run goes to the ledgers."""
    for number, server in enumerate(servers):
        (folder / f"server-{number}.log").write_text(server.log(), encoding="utf-8")


def story(folder: Path, mark: str) -> list[str]:
    """All that the ledgers say of a mark."""
    lines = []
    for path in sorted(folder.glob("*.ledger")):
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.split(" ")[1:2] == [mark]:
                lines.append(f"{path.stem}: {line}")
    return lines


def parser_of(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options that all such runs have."""
    parser = argparse.ArgumentParser(
        prog=f"./dev {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the faults go on")
    parser.add_argument("--seed", type=int, help="of the faults and the workers; default: any")
    parser.add_argument(
        "--server", default=private_server.PROGRAM, help="redis-server, valkey-server"
    )
    parser.add_argument("--rate", type=float, help="messages a second at most")
    parser.add_argument(
        "--ledgers",
        type=Path,
        metavar="FOLDER",
        help=f"default: a new one in build/{name}, removed when the exit status is 0",
    )
    return parser


def main_of(
    name: str, parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int]
) -> None:
    """Runs, with ledgers in a folder that is new, and ends the process with the run's status."""
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(31)
    for ending in (signal.SIGTERM, signal.SIGHUP):  # what was started gets ended, too
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    kept = options.ledgers is not None
    if not kept:
        runs = ROOT / f"build/{name}"
        runs.mkdir(parents=True, exist_ok=True)
        options.ledgers = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=runs))
    shutil.rmtree(options.ledgers, ignore_errors=True)
    options.ledgers.mkdir(parents=True)
    private_server.PROGRAM = options.server
    # That something is tried again is what these runs are for.
    logging.getLogger("dueq").setLevel(logging.CRITICAL)
    status = run(options)
    if status == 0 and not kept:
        shutil.rmtree(options.ledgers)
    sys.exit(status)
