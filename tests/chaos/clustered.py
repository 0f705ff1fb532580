"""
Producers and consumers in Python, PHP, C and the shell on queues all over a cluster of six nodes,
under fire: slots move to and fro, primaries are killed, stopped and cut off, their replicas take
over, connections and workers are cut and killed. Ledgers outside the cluster prove what came of
every message.
Two of the queues, on two nodes, keep the ends of their messages, and have batches with members in
both: each callback must come once, and each result must be kept.

The last line is for machines. With a durability of replicas:1 the exit status is 0 when nothing
was lost, acknowledged and seen again, held by two at a time, or early, and nothing else was met
that should not be. With none, what a failover lost is counted and said, and is no failure.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "topology"))

from drain import SHORT_S, drain, finish, hasten
from faults import Choices, Faults, Progress, keep_logs, main_of, parser_of, report
from fleet import BATCH_ROLES, HERE, Fleet, now_ms
from group_probe import GroupProbe, LimitProbe
from probe import Probe
from queue_kinds import Own, quarantined, unwanted
from replicated import Replicated
from verdict import EXPECTED, FAILED_OVER, NOT_DURABLE, judge

import dueq
from cluster import Cluster, Move
from node import Node, queue_slot
from private_server import Refused

GROUPS = 4  # of three queues, one on each primary
NODE_TIMEOUT_MS = 1000
FIRST_S = 6.0  # until the first primary is killed: the first probes are due
PATIENCE_S = 30.0
REPLICATED_S = 0.5  # a primary is killed only when its replica had all that it wrote so lately
COMMANDS: dict[str, list[str | Path]] = {**Own.commands, "shell": ["bash", HERE / "worker.sh"]}


@dataclass
class Shard:
    """A primary and its replica; which is which changes."""

    number: int
    nodes: tuple[Node, Node]
    # Whoever has it may move slots from and to it, or have it fail over.
    lock: threading.Lock = field(default_factory=threading.Lock)

    def primary(self) -> Node | None:
        """None: while neither or both say that they are."""
        with suppress(OSError, Refused, EOFError):
            found = [node for node in self.nodes if node.up and node.is_primary()]
            return found[0] if len(found) == 1 else None
        return None


class Storm(Faults):
    every_s = 1.2

    def __init__(
        self,
        cluster: Cluster,
        fleet: Fleet,
        others: tuple[str, ...],
        replicated: Replicated,
        chance: random.Random,
        log: Path,
    ) -> None:
        super().__init__(fleet, chance, log)
        self.cluster, self.replicated = cluster, replicated
        self.queues = [name for group in fleet.queues for name in group] + [*others]
        nodes = cluster.nodes
        self.shards = [Shard(number, (nodes[number], nodes[number + 3])) for number in range(3)]
        self.failing = False  # a primary; with two at a time the others are no majority
        self.failovers = 0
        self.moved = 0
        self.troubles: list[str] = []
        self._over = threading.Event()
        self._mover = threading.Thread(target=self._move_slots, args=(chance.getrandbits(31),))

    def __enter__(self) -> Storm:
        self._mover.start()
        self.later(FIRST_S, self.kill_first)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._mover.join()

    def kill_first(self) -> None:
        """However short the run, there is one failover."""
        if not self.make(self.kill_primary):
            self.later(0.1, self.kill_first)

    def end(self) -> None:
        self._over.set()
        self._mover.join()
        super().end()

    def is_calm(self) -> bool:
        return True

    def kinds(self) -> Choices:
        return {
            **self.of_workers(Own),
            self.kill_primary: 14,
            self.stop_primary: 8,
            self.isolate_primary: 8,
            self.hand_over: 6,
            self.kill_replica: 4,
            self.cut_clients: 10,
            self.delay_clients: 6,
        }

    def progress(self) -> str:
        return f"{self.failovers} failovers, {self.moved} slots moved"

    # ---- Moving slots ----

    def _move_slots(self, seed: int) -> None:
        chance = random.Random(seed)
        at_once = self.cluster.can_move_at_once()
        while not self._over.wait(chance.uniform(0, 0.3)):
            name = chance.choice(self.queues)
            slot = queue_slot(name)
            with self.held(chance.sample(self.shards, 2)) as shards:
                if not shards:
                    continue
                source, target = (shard.primary() for shard in shards)
                if not source or not target or source.owners().get(slot) != source.id:
                    continue
                begin_ms = now_ms()
                try:
                    if at_once and chance.random() < 0.5:
                        self.cluster.move_at_once(slot, target)
                    else:
                        self._move(slot, source, target, chance)
                except (OSError, Refused, EOFError) as error:
                    self.troubles.append(f"slot {slot} does not move: {error!r}")
                    return
                self.moved += 1
                self.felt.write(f"moved {begin_ms} {now_ms()} {name}\n")
                self.note(f"slot {slot} of {name} moved: {source.port} to {target.port}")
                self._await_known(slot, target, shards)

    @contextmanager
    def held(self, shards: list[Shard]) -> Iterator[list[Shard]]:
        """These for oneself; none where somebody has one of them."""
        with ExitStack() as stack:
            for shard in shards:
                if not shard.lock.acquire(blocking=False):
                    yield []
                    return
                stack.callback(shard.lock.release)
            yield shards

    def _move(self, slot: int, source: Node, target: Node, chance: random.Random) -> None:
        move = Move(slot, source, target)
        deadline = time.monotonic() + PATIENCE_S
        while keys := move.keys():
            time.sleep(chance.choice((0.0, chance.uniform(0, 0.15))))
            try:
                move.bring(*keys[: max(1, len(keys) // 2)])
            except Refused as error:
                # While a primary is down, the others move nothing.
                if "CLUSTERDOWN" not in str(error) or time.monotonic() > deadline:
                    raise
        time.sleep(chance.choice((0.0, chance.uniform(0, 0.15))))
        move.name()

    def _await_known(self, slot: int, target: Node, shards: list[Shard]) -> None:
        """
        Returns when it survives a failover. MIGRATE does not wait for replicas, and a replica that
        takes over has the slots of which it has heard.
        """
        begin = now_ms()
        nodes = [node for shard in shards for node in shard.nodes if node.up]
        while not self._over.wait(0.02):
            known = all(node.owners().get(slot) == target.id for node in nodes)
            if known and self.replicated.at(target) >= begin:
                return
            if now_ms() > begin + PATIENCE_S * 1000:
                self.troubles.append(f"slot {slot} is not on the replica of {target.port}")
                return

    # ---- Failovers ----

    def take_shard(self) -> tuple[Shard, Node, Node] | None:
        """One that may fail over now: its primary and its replica. give_back() is the caller's."""
        if self.failing:
            return None
        for shard in self.chance.sample(self.shards, 3):
            if not shard.lock.acquire(blocking=False):
                continue
            if primary := shard.primary():
                [replica] = (node for node in shard.nodes if node is not primary)
                lately = now_ms() - self.replicated.at(primary) < REPLICATED_S * 1000
                if lately and replica.up and self.cluster.fit(replica):
                    self.failing = True
                    return shard, primary, replica
            shard.lock.release()
        return None

    def give_back(self, shard: Shard) -> None:
        self.failing = False
        shard.lock.release()

    def owned(self, node: Node) -> list[str]:
        owners = node.owners()
        return [name for name in self.queues if owners.get(queue_slot(name)) == node.id]

    def fail(
        self,
        what: str,
        act: Callable[[Node], None],
        mend: Callable[[Node], None],
        goes_on: bool = False,
    ) -> str | None:
        """
        A primary fails by `act`, its replica takes over, and it comes back by `mend`. goes_on: for
        its clients it works for a while.
        """
        if not (taken := self.take_shard()):
            return None
        shard, primary, replica = taken
        queues = self.owned(primary)
        begin_ms, limit = now_ms(), time.monotonic() + PATIENCE_S
        act(primary)
        # What was done until then is on the replica.
        replicated_ms, failed_ms = self.replicated.at(primary), now_ms()

        def await_promotion() -> None:
            if not self.promoted(primary, replica):
                if time.monotonic() > limit:
                    self.troubles.append(f"no failover: {primary.port} to {replica.port}")
                    limit_over()
                else:
                    self.later(0.02, await_promotion)
                return
            self.failovers += 1
            self.cluster.elected(replica)
            # One that is killed or stopped does nothing more that could be lost.
            self.forgotten(replicated_ms, now_ms() if goes_on else failed_ms, queues)
            self.replaced_by(failed_ms, queues)
            self.feel(begin_ms)
            self.note(f"failed over: {primary.port} to {replica.port}")
            self.later(self.chance.uniform(0, 2), come_back)

        def limit_over() -> None:
            mend(primary)
            self.give_back(shard)

        def come_back() -> None:
            back_ms = now_ms()
            mend(primary)

            def await_return() -> None:
                if not self.follows(primary, replica) and time.monotonic() < limit + PATIENCE_S:
                    self.later(0.02, await_return)
                    return
                # Until it knows that it was replaced it may do what the other will not know.
                self.forgotten(back_ms, now_ms(), queues)
                self.feel(back_ms)
                self.note(f"came back: {primary.port}")
                self.give_back(shard)

            await_return()

        await_promotion()
        return f"{what}: {primary.port}"

    @staticmethod
    def promoted(primary: Node, replica: Node) -> bool:
        """And the old one takes no writes: it is down, or knows that it is alone."""
        with suppress(OSError, Refused, EOFError):
            alone = not primary.up or "state:fail" in primary.text("CLUSTER", "INFO")
            return alone and replica.is_primary()
        return False

    @staticmethod
    def follows(node: Node, primary: Node) -> bool:
        with suppress(OSError, Refused, EOFError):
            return not node.is_primary() and primary.feeds(node)
        return False

    def kill_primary(self) -> str | None:
        return self.fail("primary killed", Node.stop, Node.start)

    def stop_primary(self) -> str | None:
        return self.fail("primary stopped", Node.freeze, Node.thaw)

    def isolate_primary(self) -> str | None:
        """From the other nodes; half of the time its clients stay, and see it go on for a while."""
        alone = self.chance.random() < 0.5
        return self.fail(
            "primary isolated",
            lambda node: self.cluster.isolate(node, from_clients=alone),
            self.cluster.rejoin,
            goes_on=not alone,
        )

    def hand_over(self) -> str | None:
        """The replica has all before it takes over: nothing may be lost."""
        if not (taken := self.take_shard()):
            return None
        shard, primary, replica = taken
        begin_ms, limit = now_ms(), time.monotonic() + PATIENCE_S
        try:
            replica.command("CLUSTER", "FAILOVER")
        except Refused:
            self.give_back(shard)
            return None

        def await_end() -> None:
            if not self.follows(primary, replica) and time.monotonic() < limit:
                self.later(0.02, await_end)
                return
            if time.monotonic() >= limit:
                self.troubles.append(f"{primary.port} does not follow {replica.port}")
            if replica.is_primary():
                self.failovers += 1
                self.cluster.elected(replica)
            self.feel(begin_ms)
            self.give_back(shard)

        await_end()
        return f"primary handed over: {primary.port}"

    def kill_replica(self) -> str | None:
        if not (taken := self.take_shard()):
            return None
        shard, primary, replica = taken
        replica.stop()

        def start() -> None:
            replica.start()
            await_return()

        def await_return() -> None:
            if self.follows(replica, primary):
                self.give_back(shard)
            else:
                self.later(0.05, await_return)

        self.later(self.chance.uniform(0, 2), start)
        return f"replica killed: {replica.port}"

    # ---- Connections ----

    def cut_clients(self) -> str | None:
        """From a node that stays in the cluster: nobody takes over."""
        node = self.chance.choice(self.cluster.up())
        cut = self.chance.choice((self.cluster.proxy.cut, self.cluster.proxy.hang))
        begin_ms = now_ms()
        cut(node.gate, "client")

        def mend() -> None:
            self.cluster.proxy.open(node.gate, "client")
            self.feel(begin_ms)

        self.later(self.chance.choice((0.0, self.chance.uniform(0.1, 2.5))), mend)
        return f"clients {cut.__name__}: {node.port}"

    def delay_clients(self) -> str | None:
        node = self.chance.choice(self.cluster.up())
        self.cluster.proxy.delay(node.gate, self.chance.randint(5, 100))
        self.later(self.chance.uniform(0.5, 3), lambda: self.cluster.proxy.delay(node.gate, 0))
        return f"clients delayed: {node.port}"


def triples(cluster: Cluster, prefix: str) -> Iterator[tuple[str, ...]]:
    """Names of queues, three at a time: one on each primary."""
    return zip(*(cluster.names_on(node, prefix) for node in cluster.nodes[:3]), strict=True)


def run(options: argparse.Namespace) -> int:
    folder: Path = options.ledgers
    chance = random.Random(options.seed)
    durable = options.durability != "none"
    print(
        f"a cluster for {options.seconds:g} s: {options.server}, durability {options.durability},"
        f" seed {options.seed}, ledgers in {folder}",
        flush=True,
    )
    with ExitStack() as stack:
        # A node that is down takes nobody with it: whoever is late then, is late by the client.
        alone = ("--cluster-require-full-coverage", "no")
        cluster = stack.enter_context(
            Cluster(3, 3, *alone, timeout_ms=NODE_TIMEOUT_MS, proxied=True)
        )
        url = f"{cluster.url}?timeout=3s"
        patient = f"{cluster.url}?timeout=15s"
        hasty = f"{cluster.url}?timeout=1s"  # shorter than a lease, as by default
        if durable:
            durability = f"&replicas={options.durability.partition(':')[2]}&durable_timeout=1s"
            url, hasty = url + durability, hasty + durability
        names = list(islice(triples(cluster, "storm"), GROUPS))
        probed = next(triples(cluster, "probe"))
        steady = next(cluster.names_on(cluster.nodes[0], "steady"))
        turns = next(cluster.names_on(cluster.nodes[1], "groups"))
        limited = next(cluster.names_on(cluster.nodes[2], "limits"))
        guests = next(cluster.names_on(cluster.nodes[1], "guests"))
        batches = (next(cluster.names_on(cluster.nodes[0], "batches")), guests)
        queues = [
            stack.enter_context(dueq.Queue(name, patient))
            for name in (*(name for group in names for name in group), steady)
        ]
        kept = [stack.enter_context(dueq.Queue(name, patient)) for name in batches]
        rate = (options.rate or 200) / len(COMMANDS)
        fleet = Fleet(
            folder,
            lambda role: hasty if role == "steady" else url,
            COMMANDS,
            names,
            rate,
            chance,
            4,
        )
        replicated = stack.enter_context(Replicated(cluster.nodes))
        storm = Storm(
            cluster,
            fleet,
            (*probed, steady, turns, limited, *batches),
            replicated,
            chance,
            folder / "faults.log",
        )
        with ExitStack() as working:
            working.callback(keep_logs, folder, cluster.nodes)
            working.callback(fleet.kill)
            for role, each in Own.each.items():
                fleet.start(role, each)
            fleet.start_steady("feed", steady, 1)
            fleet.start_steady("steady", steady, 1)
            fleet.start_batches(batches)
            groups = GroupProbe(hasty, turns, folder, chance.getrandbits(31))
            limits = LimitProbe(hasty, limited, folder, chance.getrandbits(31))
            with Probe(url, probed, folder), groups, limits, storm:
                storm.run(options.seconds, Progress(storm.progress))
            print("the rest is drained", flush=True)
            cluster.heal()
            cluster.await_agreement()
            fleet.end("produce", "consume", "reach", "feed", *BATCH_ROLES)
            if options.seconds < SHORT_S:
                hasten([*queues, *kept], cluster.nodes)
            stats = drain(queues, fleet, steady)
            finish(kept, fleet)
        verdict = judge(
            (
                path.open(encoding="utf-8", errors="replace")
                for path in sorted(folder.glob("*.ledger"))
            ),
            EXPECTED | FAILED_OVER,
        )
        left = unwanted(queues, patient, stats) + unwanted(kept, patient, quarantined(kept))
    report(verdict, folder)
    print(*verdict.lateness(), sep="\n")
    faults = ", ".join(f"{number} x {name}" for name, number in storm.faults.most_common())
    print(f"faults: {faults}")
    print(verdict.taken_back())
    for text in (wrong := fleet.troubles + storm.troubles + left):
        print(f"wrong: {text}")
    broken = {name for name, marks in verdict.broken().items() if marks}
    if not durable and broken & NOT_DURABLE:
        print(f"lost by failovers, as nobody asked for durability: {verdict.not_durable()}")
        broken -= NOT_DURABLE
    print(f"nodes {len(cluster.nodes)}, moved slots {storm.moved}, failovers {storm.failovers}")
    print(verdict.line(sum(storm.faults.values())))
    return int(bool(broken or wrong))


def main() -> None:
    parser = parser_of("cluster", __doc__)
    parser.add_argument("--durability", choices=("none", "replicas:1"), default="replicas:1")
    main_of("cluster", parser, run)


if __name__ == "__main__":
    main()
