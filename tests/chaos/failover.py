"""
Producers and consumers in Python, PHP and C on queues of a primary with a replica, which three
sentinels watch. The primary is killed, stopped until it is replaced, or replaced as it is; workers
and sentinels are killed, too. Ledgers outside the queues prove what came of every message.
Two of the queues keep the ends of their messages, and have batches with members in both: each
callback must come once, and each result must be kept.

Replication is asynchronous: a failover takes back what the replica has not got. --durability
replicas:1 has every push wait for the replica, and then no message is lost; without it the loss is
counted. What else a failover takes back (who holds a message, what was acknowledged) is counted by
the promise that looks broken by it.

The last line is for machines. The exit status is 0 when nothing was lost that was to be durable,
and nothing is broken of a message that met no failover.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "topology"))

from drain import SHORT_S
from faults import Choices, Faults, Progress, keep_logs, main_of, parser_of, report
from fleet import Fleet, now_ms
from group_probe import GroupProbe, LimitProbe
from probe import Probe
from queue_kinds import Own
from replicated import Replicated
from verdict import EXPECTED, FAILED_OVER, NOT_DURABLE, judge

from private_server import Refused
from sentinel import Peer, Sentinel, Watched

PATIENCE_S = 60  # with a set of sentinels that finds no new primary, or is not whole again
CALM_S = 4  # between two failovers, at most
# Sentinels connect to a server at most once a second. Where the first time fails, a shorter span
# makes the new primary seem down, too, and they may promote the old one, which has just come back
# with what it had stored long before.
DOWN_MS = 2500
RATE = 90.0  # messages a second: few enough that those who consume them wait
PROBED = ("probe-1", "probe-2")
DURABILITIES = {"none": "", "replicas:1": "&replicas=1"}


class Failover(Faults):
    """Replaces the primary again and again, whenever all is well again."""

    def __init__(
        self,
        watched: Watched,
        replicated: Replicated,
        fleet: Fleet,
        chance: random.Random,
        log: Path,
    ) -> None:
        super().__init__(fleet, chance, log)
        self.watched, self.replicated = watched, replicated
        self.calm = True
        self.took: list[int] = []  # until the sentinels named another one, ms

    def is_calm(self) -> bool:
        return self.calm

    def kinds(self) -> Choices:
        return {
            self.kill_primary: 40,
            self.freeze_primary: 25,
            self.switch: 25,
            self.kill_sentinel: 10,
            **self.of_workers(Own),
        }

    def kill_primary(self) -> str | None:
        if not self.calm:
            return None
        old = self.watched.primary
        old.stop()
        self.replaced(old, old.start, down=True)
        return f"primary killed: {old.port}"

    def freeze_primary(self) -> str | None:
        if not self.calm:
            return None
        old = self.watched.primary
        old.freeze()
        self.replaced(old, old.thaw, down=True)
        return f"primary stopped: {old.port}"

    def switch(self) -> str | None:
        if not self.calm:
            return None
        old = self.watched.primary
        if not self.watched.begin_failover():
            return None
        self.replaced(old, lambda: None)
        return f"primary switched: {old.port}"

    def kill_sentinel(self) -> str | None:
        if not self.calm:
            return None
        sentinel = self.chance.choice(self.watched.sentinels)
        sentinel.stop()
        self.calm = False
        self.later(self.chance.uniform(0, 2), partial(self.bring_back, sentinel, now_ms()))
        return f"sentinel killed: {sentinel.port}"

    def bring_back(self, sentinel: Sentinel, begin_ms: int) -> None:
        sentinel.start()
        self.when(self.watched.is_settled, self.calm_down)

    def calm_down(self) -> None:
        self.calm = True

    def when(self, met: Callable[[], bool], action: Callable[[], None]) -> None:
        """Does something as soon as something is so. The run ends where it does not become so."""
        deadline = time.monotonic() + PATIENCE_S

        def look() -> None:
            assert time.monotonic() < deadline, f"the sentinels do nothing: {met.__name__}"
            with contextlib.suppress(Refused, OSError):
                if met():
                    action()
                    return
            self.later(0.1, look)

        self.later(0.1, look)

    def replaced(self, old: Peer, come_back: Callable[[], None], down: bool = False) -> None:
        """
        The primary is about to be replaced, and comes back some time afterwards. down: it does
        nothing meanwhile that could be lost.
        """
        begin_ms = now_ms()
        replicated_ms = self.replicated.at(old)
        self.calm = False

        def gone() -> None:
            self.took.append(now_ms() - begin_ms)
            self.note(f"another primary: {self.watched.primary.port}")
            self.later(self.chance.uniform(0, 2), back)

        def back() -> None:
            back_ms = now_ms()
            come_back()
            self.note(f"it comes back: {old.port}")
            self.when(self.watched.is_settled, partial(settled, back_ms))

        def settled(back_ms: int) -> None:
            self.feel(begin_ms)
            queues = [*Own.queues, Own.steady, Own.groups, Own.limits, *Own.batches, *PROBED]
            self.replaced_by(begin_ms, queues)
            if down:
                self.forgotten(replicated_ms, begin_ms, queues)
                self.forgotten(back_ms, now_ms(), queues)
            else:
                self.forgotten(replicated_ms, now_ms(), queues)
            self.note("all is well again")
            self.later(self.chance.uniform(0, CALM_S), self.calm_down)

        def is_replaced() -> bool:
            return self.watched.is_replaced(old)

        self.when(is_replaced, gone)


def run(options: argparse.Namespace) -> int:
    folder: Path = options.ledgers
    chance = random.Random(options.seed)
    print(
        f"failovers for {options.seconds:g} s: {options.server}, durability"
        f" {options.durability}, seed {options.seed}, ledgers in {folder}",
        flush=True,
    )
    with Watched(down_ms=DOWN_MS) as watched, ExitStack() as stack:
        durability = DURABILITIES[options.durability]
        url = f"{watched.url}?timeout=3s{durability}"
        hasty = f"{watched.url}?timeout=1s{durability}"  # shorter than a lease, as by default
        queues = Own(f"{watched.url}?timeout=15s", stack)
        rate = (options.rate or RATE) / len(Own.commands)
        fleet = Fleet(
            folder,
            lambda role: hasty if role == "steady" else url,
            Own.commands,
            [Own.queues],
            rate,
            chance,
            2 * DOWN_MS / 1000,
        )
        replicated = stack.enter_context(Replicated(watched.members))
        faults = Failover(watched, replicated, fleet, chance, folder / "faults.log")
        try:
            for role, each in Own.each.items():
                fleet.start(role, each)
            fleet.start_steady("feed", Own.steady, 1)
            fleet.start_steady("steady", Own.steady, 1)
            fleet.start_batches(Own.batches)
            groups = GroupProbe(hasty, Own.groups, folder, chance.getrandbits(31))
            limits = LimitProbe(hasty, Own.limits, folder, chance.getrandbits(31))
            with Probe(url, PROBED, folder), groups, limits:
                faults.run(options.seconds, Progress(queues.progress))
            print("the rest is drained", flush=True)
            queues.drain(fleet, watched.primary, options.seconds < SHORT_S)
        finally:
            fleet.kill()
            keep_logs(folder, [*watched.members, *watched.sentinels])
        verdict = judge(
            (
                path.open(encoding="utf-8", errors="replace")
                for path in sorted(folder.glob("*.ledger"))
            ),
            EXPECTED | FAILED_OVER,
        )
        # What is counted is taken back by failovers.
        left, _ = queues.left(verdict)
    report(verdict, folder)
    print(f"faults: {', '.join(f'{n} x {name}' for name, n in faults.faults.most_common())}")
    print(verdict.taken_back())
    took = sorted(faults.took)
    if took:
        print(f"another primary after {took[len(took) // 2]} ms in the middle, {took[-1]} at most")
    print(*verdict.lateness(), sep="\n")
    wrong = fleet.troubles + left
    for text in wrong:
        print(f"wrong: {text}")
    broken = {name for name, marks in verdict.broken().items() if marks}
    if options.durability == "none" and broken & NOT_DURABLE:
        print(f"lost by failovers, as nobody asked for durability: {verdict.not_durable()}")
        broken -= NOT_DURABLE
    print(f"failovers {len(took)}")
    print(verdict.line(sum(faults.faults.values())))
    return int(bool(broken or wrong))


def main() -> None:
    parser = parser_of("failover", __doc__)
    parser.add_argument("--durability", choices=tuple(DURABILITIES), default="replicas:1")
    main_of("failover", parser, run)


if __name__ == "__main__":
    main()
