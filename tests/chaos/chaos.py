"""
Producers and consumers in Python, PHP and C on some queues, under fire: they and the server are
killed, stopped and cut off at random, relays between two of their steps. Ledgers outside the queues
prove what came of every message.
The queues are dueq's own, or those of another system (--queues).

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
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import Empty

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from crew import ROOT, Crew, now_ms
from kinds import KINDS, NEAR_USER, AnyVerdict, Kind
from relays import Relays

import dueq
import private_server
from private_server import Refused, Server

FAULT_EVERY_S = 0.8
# Not meta, whose counts what is done meanwhile would miss.
REPLACED = (
    *("msg", "ready", "high", "low", "delayed", "leased", "dead", "outbox", "handover", "received"),
    *("attempts", "unique"),
)
REPLACE = """
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], 'foreign')
return 1
"""
RESTORE = """
redis.call('DEL', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end
return 1
"""


def mend_log(server: Server) -> None:
    """
    Cuts half a script off the end of the server's append-only file. A server that does so itself
    leaves the half in the file and runs it when it starts again: Redis 7.0.15 does, Valkey until
    its pull request 4342.
    """
    manifest = server.directory / "appendonlydir/appendonly.aof.manifest"
    tool = server.program.replace("-server", "-check-aof")
    done = subprocess.run([tool, "--fix", manifest], input=b"y\n", capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Chaos:
    def __init__(
        self, server: Server, crew: Crew, kind: type[Kind], chance: random.Random, log: Path
    ) -> None:
        self.server, self.crew, self.kind, self.chance = server, crew, kind, chance
        self.faults: Counter[str] = Counter()
        self.relays = Relays(server.socket.with_name("relays"), server.socket, chance)
        self.interrupted: Counter[str] = Counter()  # relays, by the step
        self.waited = 0  # messages that could not be relayed
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
            self.meet_relay(max(0.0, wait - time.monotonic()))
        while self._later:
            heapq.heappop(self._later)[2]()

    def fault(self) -> None:
        kinds: dict[Callable[[], str | None], int] = {
            self.cut_one: 14,
            self.cut_all: 6,
            self.kill_server: 12,
            self.stop_server: 12,
        }
        for role, weight in self.kind.kills.items():
            kinds[partial(self.kill_worker, role)] = weight
        for role, weight in self.kind.stops.items():
            least = 1.2 if role == "consume" else 0.3
            kinds[partial(self.stop_worker, role, least, 4.0)] = weight
        if self.kind.far:
            kinds[self.deny] = kinds[self.replace_key] = 8
        [kind] = self.chance.choices(list(kinds), list(kinds.values()))
        if done := kind():
            self.note(done)
            self.faults[done.split(":")[0]] += 1

    def meet_relay(self, wait: float) -> None:
        """Does for so many seconds what interrupts relays."""
        try:
            met = self.relays.met.get(timeout=wait)
        except Empty:
            return
        way, where = met.plan.way, met.plan.where
        for worker in self.crew.workers:
            if worker.process.pid == met.process:
                name, number = worker.name, worker.number
                if met.plan.kills:
                    worker.kill()
                    worker.start()
                else:
                    self.feel(met.begin_ms, number)
                self.note(f"relay {way} {where}: {name}")
                self.faults[f"relay {way}"] += 1
                self.interrupted[where] += 1
        met.over.set()

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

    def cut_one(self) -> str | None:
        clients = self.command("CLIENT", "LIST")
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
        # Those that are subscribed are of a type of their own.
        types = self.chance.choice((["normal"], ["pubsub"], ["normal", "pubsub"]))
        counts = [self.command("CLIENT", "KILL", "TYPE", type) for type in types]
        self.feel(begin_ms)
        return f"all connections cut: {types} {counts}" if any(counts) else None

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
            mend_log(self.server)
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

    def deny(self) -> str | None:
        """Takes the consumers' rights on the far queue."""
        near = [f"~dueq:{{{name}}}:*" for name in self.kind.queues if name != self.kind.far]
        if not self.command("ACL", "SETUSER", NEAR_USER, "resetkeys", *near):
            return None
        self.mend_later(("ACL", "SETUSER", NEAR_USER, "~*"), now_ms())
        return f"queue not permitted: {self.kind.far}"

    def replace_key(self) -> str | None:
        """Puts something else in the place of a key of the far queue."""
        key = f"dueq:{{{self.kind.far}}}:{self.chance.choice(REPLACED)}"
        keys = ("2", key, f"{key}:kept")
        if not self.command("EVAL", REPLACE, *keys):
            return None
        self.mend_later(("EVAL", RESTORE, *keys), now_ms())
        return f"key replaced: {key}"

    def mend_later(self, words: tuple[str, ...], begin_ms: int) -> None:
        def mend() -> None:
            waits = [self.command("HLEN", f"dueq:{{{name}}}:handover") for name in self.kind.queues]
            if self.command(*words) is None:
                self.later(0.2, mend)
                return
            self.waited += sum(count for count in waits if isinstance(count, int))
            self.feel(begin_ms)
            self.note(f"far queue mended: {waits} wait")

        self.later(self.chance.uniform(0.5, 6.0), mend)


def doer(role: str) -> str:
    return {"move": "mover", "gamble": "gambler", "reach": "reacher"}.get(role, f"{role}r")


class Progress:
    """A line every few seconds."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.begin = time.monotonic()
        self.next = self.begin + 2

    def show(self, server_up: bool, faults: int) -> None:
        now = time.monotonic()
        if now < self.next or not server_up:
            return
        self.next = now + 5
        try:
            text = self.kind.progress()
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
    kind = KINDS[options.queues]
    print(
        f"chaos on {options.queues} queues for {options.seconds:g} s: {options.server},"
        f" appendfsync {options.fsync}, seed {options.seed}, ledgers in {folder}",
        flush=True,
    )
    words = ["--appendonly", "yes", "--appendfsync", options.fsync]
    words += ["--auto-aof-rewrite-min-size", "8mb"]
    words += ["--user", NEAR_USER, "on", "nopass", "~*", "&*", "+@all"]
    with Server(*words) as server, ExitStack() as stack:
        # A slow disk is no fault of the queues.
        queues = kind(f"{server.url}?timeout=15s", stack)
        rate = (options.rate or kind.rate) / len(kind.commands)
        crew = Crew(
            folder, partial(kind.url, server.socket), kind.commands, kind.queues, rate, chance
        )
        chaos = Chaos(server, crew, kind, chance, folder / "faults.log")
        try:
            for role, each in kind.each.items():
                crew.hire(role, each)
            chaos.run(options.seconds, Progress(queues))
            print("the rest is drained", flush=True)
            queues.drain(crew, server)
        finally:
            crew.kill()
        verdict = queues.judge(
            path.open(encoding="utf-8", errors="replace")
            for path in sorted(folder.glob("*.ledger"))
        )
        left, uncounted = queues.left(verdict)
    report(verdict, folder)
    if times := sorted(time_ms - begin_ms for time_ms in verdict.lost_at):
        print(
            f"accepted ones that were lost: accepted {times[0]} to {times[-1]} ms after the start"
        )
    faults = ", ".join(f"{count} x {name}" for name, count in chaos.faults.most_common())
    print(f"faults: {faults}")
    if kind.far:
        steps = ", ".join(f"{where} {count}" for where, count in sorted(chaos.interrupted.items()))
        print(f"relays interrupted {chaos.interrupted.total()}: {steps}")
        print(f"waited while {kind.far} was out of reach {chaos.waited}")
    wrong = crew.troubles + left
    broken = any(verdict.broken().values()) or bool(uncounted)
    for text in wrong + uncounted:
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
    parser.add_argument(
        "--queues", choices=tuple(KINDS), default="own", help="whose they are; default: dueq's own"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the faults go on")
    parser.add_argument("--seed", type=int, help="of the faults and the workers; default: any")
    parser.add_argument(
        "--server", default=private_server.PROGRAM, help="redis-server, valkey-server"
    )
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    parser.add_argument("--rate", type=float, help="messages a second at most")
    parser.add_argument(
        "--ledgers",
        type=Path,
        metavar="FOLDER",
        help="default: a new one in build/chaos, removed when the exit status is 0",
    )
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(31)
    for ending in (signal.SIGTERM, signal.SIGHUP):  # what was started gets ended, too
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    if options.ledgers:
        sys.exit(run(options))
    runs = ROOT / "build/chaos"
    runs.mkdir(parents=True, exist_ok=True)
    options.ledgers = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=runs))
    status = run(options)
    if status == 0:
        shutil.rmtree(options.ledgers)
    sys.exit(status)


if __name__ == "__main__":
    main()
