"""
Producers and consumers in Python, PHP and C on some queues, under fire: they and the server are
killed, stopped and cut off at random, relays between two of their steps. Ledgers outside the queues
prove what came of every message.
The queues are dueq's own, or those of another system (--queues).

Two of the queues keep the ends of their messages, and have batches with members in both: each
callback must come once, and each result must be kept.

The last line is for machines. The exit status is 0 when nothing was lost, acknowledged and seen
again, held by two at a time, or early, and nothing else was met that should not be. With --fsync
everysec what the server lost is reported, and is no failure.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import Empty

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from drain import SHORT_S
from faults import Choices, Faults, Progress, longest_outage, main_of, parser_of, report
from fleet import Fleet, now_ms
from group_probe import GroupProbe, LimitProbe
from queue_kinds import KINDS, NEAR_USER, Kind
from relay_proxy import RelayProxy

import private_server
from private_server import Refused, Server

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


class Chaos(Faults):
    def __init__(
        self,
        server: Server,
        fleet: Fleet,
        kind: type[Kind],
        chance: random.Random,
        log: Path,
        longest: float,
    ) -> None:
        super().__init__(fleet, chance, log)
        self.server, self.kind, self.longest = server, kind, longest
        self.relay_proxy = RelayProxy(server.socket.with_name("relay-proxy"), server.socket, chance)
        self.interrupted: Counter[str] = Counter()  # relays, by the step
        self.waited = 0  # messages that could not be relayed
        self.server_up = True
        self.writable = True
        self.next_outage = 0.0
        if kind.steady:  # however short the run
            self.later(1, self.make_first)

    def make_first(self) -> None:
        """When the first long messages are in work."""
        ledgers = [one.ledger for one in self.fleet.workers if one.role == "steady"]
        if not any("begun" in ledger.read_text("utf-8") for ledger in ledgers):
            self.later(0.1, self.make_first)
            return
        self.make_soon(self.outage)
        for seconds, make in ((2, self.burst), (4, self.refuse_writes)):
            self.later(self.longest + seconds, partial(self.make_soon, make))

    def make_soon(self, kind: Callable[[], str | None]) -> None:
        if not self.make(kind):
            self.later(0.1, partial(self.make_soon, kind))

    def is_calm(self) -> bool:
        return self.server_up

    def kinds(self) -> Choices:
        kinds: Choices = {
            self.cut_one: 14,
            self.cut_all: 6,
            self.kill_server: 12,
            self.stop_server: 12,
            **self.of_workers(self.kind),
        }
        if self.kind.far:
            kinds[self.deny] = kinds[self.replace_key] = 8
        if self.kind.steady:
            kinds |= {self.outage: 6, self.burst: 8, self.refuse_writes: 6}
        return kinds

    def rest(self, wait: float) -> None:
        """Interrupts relays meanwhile."""
        try:
            met = self.relay_proxy.met.get(timeout=wait)
        except Empty:
            return
        way, where = met.plan.way, met.plan.where
        for worker in self.fleet.workers:
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
        except (OSError, Refused, EOFError):
            return None

    def kill_server(self) -> str | None:
        return self.kill_for(self.chance.choice((0.0, self.chance.uniform(0, 1.5))))

    def kill_for(self, seconds: float) -> str | None:
        if not self.server_up or not self.writable:
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

        self.later(seconds, start)
        return "server killed"

    def stop_server(self) -> str | None:
        # One in five is longer than the calls' deadline.
        return self.stop_for(self.chance.uniform(0.1, 4.5 if self.chance.random() < 0.2 else 2.5))

    def stop_for(self, seconds: float) -> str | None:
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

        self.later(seconds, thaw)
        return "server stopped"

    def outage(self) -> str | None:
        """Longer than the leases. Two thirds of the time the server is not away so."""
        if time.monotonic() < self.next_outage:
            return None
        seconds = self.chance.uniform(3.2, self.longest)
        make = self.chance.choice((self.kill_for, self.stop_for))
        if not (done := make(seconds)):
            return None
        self.next_outage = time.monotonic() + 3 * seconds
        return f"{done} for longer than a lease: {seconds:.1f} s"

    def burst(self) -> str | None:
        """Each connection is closed as soon as it is made, some times in a row."""
        begin_ms = now_ms()
        left = self.chance.randint(6, 40)

        def cut() -> None:
            nonlocal left
            self.command("CLIENT", "KILL", "TYPE", "normal")
            left -= 1
            if left:
                self.later(self.chance.uniform(0.01, 0.06), cut)
            else:
                self.feel(begin_ms)

        if not self.server_up:
            return None
        cut()
        return f"burst of resets: {left + 1}"

    def refuse_writes(self) -> str | None:
        """As a primary that another has replaced, and that gets no word from it."""
        if not self.server_up or not self.writable:
            return None
        begin_ms = now_ms()
        if not self.command("REPLICAOF", "127.0.0.1", "1"):
            return None
        self.writable = False

        def allow() -> None:
            if not self.command("REPLICAOF", "NO", "ONE"):
                self.later(0.1, allow)
                return
            self.writable = True
            self.feel(begin_ms)
            self.note("server takes writes")

        self.later(self.chance.uniform(0.2, 4.0), allow)
        return "server read-only"

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


def run(options: argparse.Namespace) -> int:
    folder: Path = options.ledgers
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
        longest = longest_outage(options.seconds)
        url = partial(kind.url, server.socket)
        fleet = Fleet(folder, url, kind.commands, [kind.queues], rate, chance, longest)
        chaos = Chaos(server, fleet, kind, chance, folder / "faults.log", longest)
        try:
            for role, each in kind.each.items():
                fleet.start(role, each)
            if kind.steady:
                fleet.start_steady("feed", kind.steady, 1)
                fleet.start_steady("steady", kind.steady, 2)
            if kind.batches:
                fleet.start_batches(kind.batches)
            with ExitStack() as probes:
                hasty = f"{server.url}?timeout=1s"
                for probe, queue in ((GroupProbe, kind.groups), (LimitProbe, kind.limits)):
                    if queue:
                        probes.enter_context(probe(hasty, queue, folder, chance.getrandbits(31)))
                chaos.run(options.seconds, Progress(queues.progress))
            print("the rest is drained", flush=True)
            if options.seconds < SHORT_S:
                chaos.relay_proxy.nothing_late.set()
            queues.drain(fleet, server, options.seconds < SHORT_S)
        finally:
            fleet.kill()
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
    wrong = fleet.troubles + left
    broken = any(verdict.broken().values()) or bool(uncounted)
    for text in wrong + uncounted:
        print(f"wrong: {text}")
    print(verdict.line(sum(chaos.faults.values())))
    if options.fsync == "everysec":
        broken = False
    return int(broken or bool(wrong))


def main() -> None:
    parser = parser_of("chaos", __doc__)
    parser.add_argument(
        "--queues", choices=tuple(KINDS), default="own", help="whose they are; default: dueq's own"
    )
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always")
    main_of("chaos", parser, run)


if __name__ == "__main__":
    main()
