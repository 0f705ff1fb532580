"""
Producers and consumers in Python, PHP and C on two queues, under fire: they and the server are
killed, stopped and cut off at random. Ledgers outside the queues prove what came of every message.

The last line is for machines. The exit status is 0 when nothing was lost, acknowledged and seen
again, held by two at a time, or early, and nothing else was met that should not be. With --fsync
everysec what the server lost is reported, and is no failure.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from crew import QUEUES, ROOT, Crew
from drain import UNWANTED, count, drain
from verdict import Verdict, judge

import dueq
import private_server
from private_server import Refused, Server

FAULT_EVERY_S = 0.8


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Chaos:
    def __init__(self, server: Server, crew: Crew, chance: random.Random, log: Path) -> None:
        self.server, self.crew, self.chance = server, crew, chance
        self.faults: Counter[str] = Counter()
        self.server_up = True
        self.log = log.open("w", encoding="utf-8", buffering=1)
        self.felt = log.with_suffix(".ledger").open("w", encoding="utf-8", buffering=1)
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def run(self, seconds: float, progress: Progress) -> None:
        begin = time.monotonic()
        fault_at = begin + 0.5
        while (now := time.monotonic()) < begin + seconds:
            while self._later and self._later[0][0] <= now:
                heapq.heappop(self._later)[2]()
            if now >= fault_at:
                self.fault()
                fault_at = now + self.chance.uniform(0.2, 2 * FAULT_EVERY_S - 0.2)
            self.crew.watch()
            progress.show(self.server_up, sum(self.faults.values()))
            wait = min(fault_at, self._later[0][0] if self._later else fault_at, now + 0.5)
            time.sleep(max(0.0, wait - time.monotonic()))
        while self._later:
            heapq.heappop(self._later)[2]()

    def fault(self) -> None:
        kinds: dict[Callable[[], str | None], int] = {
            lambda: self.kill_worker("consume"): 20,
            lambda: self.kill_worker("produce"): 10,
            lambda: self.stop_worker("consume", 1.2, 4.0): 20,
            lambda: self.stop_worker("produce", 0.3, 4.0): 6,
            self.cut_one: 14,
            self.cut_all: 6,
            self.kill_server: 12,
            self.stop_server: 12,
        }
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
        return f"{role}r killed: {name}"

    def stop_worker(self, role: str, least: float, most: float) -> str | None:
        workers = self.crew.at_work(role)
        if len(workers) < 2:
            return None
        worker = self.chance.choice(workers)
        process, number = worker.process, str(int(worker.name.split("-")[0]))
        begin_ms = now_ms()
        worker.stop()

        def go_on() -> None:
            if worker.process is process:
                worker.go_on()
                self.feel(begin_ms, number)
                self.note(f"goes on: {worker.name}")

        self.later(self.chance.uniform(least, most), go_on)
        return f"{role}r stopped: {worker.name}"

    def cut_one(self) -> str | None:
        clients = self.command("CLIENT", "LIST", "TYPE", "normal")
        if not isinstance(clients, bytes):
            return None
        ids = [
            word[3:]
            for line in clients.split(b"\n")
            if b"name=dueq-" in line
            for word in line.split()
            if word.startswith(b"id=")
        ]
        begin_ms = now_ms()
        if not ids or not self.command("CLIENT", "KILL", "ID", self.chance.choice(ids)):
            return None
        self.feel(begin_ms)
        return "connection cut: one"

    def cut_all(self) -> str | None:
        begin_ms = now_ms()
        count = self.command("CLIENT", "KILL", "TYPE", "normal")
        self.feel(begin_ms)
        return f"all connections cut: {count!r}" if count else None

    def command(self, *words: str | bytes) -> private_server.Reply:
        if not self.server_up:
            return None
        try:
            return self.server.command(*words)
        except (OSError, Refused, ValueError):
            return None

    def kill_server(self) -> str | None:
        if not self.server_up:
            return None
        begin_ms = now_ms()
        self.server.stop()
        self.server_up = False

        def start() -> None:
            self.server.start()
            self.server_up = True
            self.feel(begin_ms)
            self.note("server started")

        self.later(self.chance.choice((0.0, self.chance.uniform(0, 1.5))), start)
        return "server killed"

    def stop_server(self) -> str | None:
        if not self.server_up:
            return None
        begin_ms = now_ms()
        self.server.freeze()
        self.server_up = False

        def thaw() -> None:
            self.server.thaw()
            self.server_up = True
            self.feel(begin_ms)
            self.note("server goes on")

        # One in five is longer than the calls' deadline.
        most = 4.5 if self.chance.random() < 0.2 else 2.5
        self.later(self.chance.uniform(0.1, most), thaw)
        return "server stopped"


class Progress:
    """A line every few seconds."""

    def __init__(self, queues: list[dueq.Queue]) -> None:
        self.queues = queues
        self.begin = time.monotonic()
        self.next = self.begin + 2

    def show(self, server_up: bool, faults: int) -> None:
        now = time.monotonic()
        if now < self.next or not server_up:
            return
        self.next = now + 5
        try:
            stats = count(self.queues)
        except dueq.Error:
            return
        print(
            f"{now - self.begin:5.0f} s  {faults} faults  {stats['acked']} acknowledged,"
            f" {stats['ready']} ready, {stats['delayed']} delayed, {stats['leased']} leased,"
            f" {stats['dead']} dead",
            flush=True,
        )


def report(verdict: Verdict, folder: Path, begin_ms: int) -> None:
    print(
        f"\n{verdict.accepted} accepted, {verdict.deliveries} deliveries; the latest"
        f" {verdict.late_ms} ms after it was due"
    )
    done = ", ".join(f"{verb} {number}" for verb, number in sorted(verdict.done.items()))
    unknown = ", ".join(f"{verb} {number}" for verb, number in sorted(verdict.unknown.items()))
    print(
        f"ended by: {done}, lease {verdict.crashed}; calls not known to be run: {unknown or 'none'}"
    )
    print(
        f"moved when due {verdict.moved}, moved at their end {verdict.moved_at_end},"
        f" found dead {verdict.died}, successors {verdict.succeeded}"
    )
    failures = ", ".join(f"{name} {count}" for name, count in sorted(verdict.errors.items()))
    print(f"failed calls by status and verb: {failures or 'none'}")
    for name, marks in verdict.broken().items():
        if marks:
            print(f"\n{name}: {len(marks)}")
        for mark in marks[:5]:
            print(f"  {mark}")
            for line in story(folder, mark) if name != "odd" else []:
                print(f"    {line}")
    if verdict.lost_at:
        times = sorted(time_ms - begin_ms for time_ms in verdict.lost_at)
        print(
            f"accepted ones that were lost: accepted {times[0]} to {times[-1]} ms after the start"
        )


def story(folder: Path, mark: str) -> list[str]:
    """All that the ledgers say of a mark."""
    lines = []
    for path in sorted(folder.glob("*.ledger")):
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.split(" ")[1:2] == [mark]:
                lines.append(f"{path.stem}: {line}")
    return lines


def run(options: argparse.Namespace) -> int:
    folder: Path = options.ledgers
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    private_server.PROGRAM = options.server
    chance = random.Random(options.seed)
    begin_ms = now_ms()
    print(
        f"chaos for {options.seconds:g} s: {options.server}, appendfsync {options.fsync},"
        f" seed {options.seed}, ledgers in {folder}",
        flush=True,
    )
    words = ["--appendonly", "yes", "--appendfsync", options.fsync]
    words += ["--auto-aof-rewrite-min-size", "8mb"]
    with Server(*words) as server, ExitStack() as stack:
        url = f"{server.url}?timeout=3s"
        queues = [stack.enter_context(dueq.Queue(name, url)) for name in QUEUES]
        crew = Crew(folder, url, options.rate / 3, chance)
        chaos = Chaos(server, crew, chance, folder / "faults.log")
        try:
            crew.hire("produce", 1)
            crew.hire("consume", 2)
            progress = Progress(queues)
            chaos.run(options.seconds, progress)
            crew.dismiss("produce", "consume")
            print("the rest is drained", flush=True)
            stats = drain(queues, crew)
        finally:
            crew.kill()
    verdict = judge(
        path.open(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.ledger"))
    )
    report(verdict, folder, begin_ms)
    faults = ", ".join(f"{count} x {name}" for name, count in chaos.faults.most_common())
    print(f"faults: {faults}")

    wrong = list(crew.troubles)
    if any(stats[name] for name in UNWANTED):
        wrong.append(f"not to be there: {dict(stats)}")
    counted = [
        f"{stats[name]} {name} were counted by the server, which the ledgers do not explain"
        for name, verb in (("acked", "ack"), ("retried", "retry"))
        if not 0 <= stats[name] - verdict.done[verb] <= verdict.unknown[verb]
    ]
    broken = any(verdict.broken().values()) or bool(counted)
    for text in wrong + counted:
        print(f"wrong: {text}")
    print(verdict.line(sum(chaos.faults.values())))
    if options.fsync == "everysec":
        broken = False
    return int(broken or bool(wrong))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="./dev chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the faults go on")
    parser.add_argument("--seed", type=int, help="of the faults and the workers; default: any")
    parser.add_argument(
        "--server", default=private_server.PROGRAM, help="redis-server, valkey-server"
    )
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--rate", type=float, default=700.0, help="messages a second at most")
    parser.add_argument("--ledgers", type=Path, default=ROOT / "build/chaos", metavar="FOLDER")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(31)
    for ending in (signal.SIGTERM, signal.SIGHUP):  # what was started gets ended, too
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    sys.exit(run(options))


if __name__ == "__main__":
    main()
