"""
Producers and consumers in Python, PHP and C on queues of a primary with a replica, which three
sentinels watch. The primary is killed, stopped until it is replaced, or replaced as it is; workers
and sentinels are killed, too. Ledgers outside the queues prove what came of every message.

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
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "topology"))

from crew import Crew, now_ms
from faults import Choices, Faults, Progress, main_of, parser_of, report
from kinds import Own
from ledger import FAR, Push
from verdict import EXPECTED, Verdict, judge

from private_server import Refused
from sentinel import Peer, Sentinel, Watched

CALM_S = 4  # between two failovers, at most
RATE = 90.0  # messages a second: few enough that those who consume them wait
# Beside what cut connections explain: READONLY, UNAVAILABLE (a primary without its replica).
FAILURES = {*EXPECTED, -24, -33}
DURABILITIES = {"none": "", "replicas:1": "&replicas=1"}


class Failover(Faults):
    """Replaces the primary again and again, whenever all is well again."""

    def __init__(self, watched: Watched, crew: Crew, chance: random.Random, log: Path) -> None:
        super().__init__(crew, chance, log)
        self.watched = watched
        self.calm = True
        self.windows: list[tuple[int, int]] = []  # from the fault until all is well again, ms
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
        self.replaced(old, old.start)
        return f"primary killed: {old.port}"

    def freeze_primary(self) -> str | None:
        if not self.calm:
            return None
        old = self.watched.primary
        old.freeze()
        self.replaced(old, old.thaw)
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
        """Does something as soon as something is so."""

        def look() -> None:
            with contextlib.suppress(Refused, OSError):
                if met():
                    action()
                    return
            self.later(0.1, look)

        self.later(0.1, look)

    def replaced(self, old: Peer, come_back: Callable[[], None]) -> None:
        """The primary is about to be replaced, and comes back some time afterwards."""
        begin_ms = now_ms()
        self.calm = False

        def gone() -> None:
            self.took.append(now_ms() - begin_ms)
            self.note(f"another primary: {self.watched.primary.port}")
            self.later(self.chance.uniform(0, 2), back)

        def back() -> None:
            come_back()
            self.note(f"it comes back: {old.port}")
            self.when(self.watched.is_settled, settled)

        def settled() -> None:
            self.feel(begin_ms)
            self.windows.append((begin_ms, now_ms()))
            self.note("all is well again")
            self.later(self.chance.uniform(0, CALM_S), self.calm_down)

        self.when(lambda: self.watched.is_replaced(old), gone)


def met_failover(pushes: list[Push], windows: list[tuple[int, int]]) -> bool:
    """Whether what is known of these goes on over a failover."""
    times = [push.time or push.due for push in pushes]
    times += [time for push in pushes for d in push.deliveries for time in (d.now, d.begin) if time]
    first = min(times)
    last = max(times) if all(push.finished() for push in pushes) else FAR
    return any(begin <= last and end >= first for begin, end in windows)


def excuse(verdict: Verdict, windows: list[tuple[int, int]]) -> Counter[str]:
    """
    Takes out of the verdict, and counts, what failovers explain: all but loss. A message is known
    by all pushes of its id, and its successors.
    """
    same: dict[str, list[Push]] = {}
    for push in verdict.pushes.values():
        same.setdefault(push.id, []).append(push)
    excused: Counter[str] = Counter()
    for promise, marks in verdict.broken().items():
        if promise in ("lost", "odd"):
            continue
        left = []
        for mark in marks:
            push = verdict.pushes[mark]
            known = [push] if push.id == "-" else [*same[push.id]]
            for delivery in push.deliveries:
                known += [verdict.pushes[successor] for successor in delivery.successors]
            if not met_failover(known, windows):
                left.append(mark)
        excused[promise] += len(marks) - len(left)
        marks[:] = left
    return excused


def late(name: str, times: list[int]) -> str:
    times.sort()
    if not times:
        return f"late {name}: no messages"
    shares = {"50 %": 0.5, "90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999}
    parts = [f"{text} {times[int(share * len(times))]} ms" for text, share in shares.items()]
    return f"late {name} ({len(times)} messages): {', '.join(parts)}, all {times[-1]} ms"


def lateness(verdict: Verdict, windows: list[tuple[int, int]]) -> list[str]:
    """How long after they were due messages were delivered first: percentiles."""
    during: list[int] = []
    otherwise: list[int] = []
    for push in verdict.pushes.values():
        if push.deliveries and push.due != FAR:
            met = any(begin <= push.due <= end for begin, end in windows)
            time = min(delivery.now for delivery in push.deliveries) - push.due
            (during if met else otherwise).append(time)
    return [late("otherwise", otherwise), late("during failovers", during)]


def run(options: argparse.Namespace) -> int:
    folder: Path = options.ledgers
    chance = random.Random(options.seed)
    print(
        f"failovers for {options.seconds:g} s: {options.server}, durability"
        f" {options.durability}, seed {options.seed}, ledgers in {folder}",
        flush=True,
    )
    with Watched() as watched, ExitStack() as stack:
        url = f"{watched.url}?timeout=3s{DURABILITIES[options.durability]}"
        queues = Own(f"{watched.url}?timeout=15s", stack)
        rate = (options.rate or RATE) / len(Own.commands)
        crew = Crew(folder, lambda _: url, Own.commands, Own.queues, rate, chance)
        faults = Failover(watched, crew, chance, folder / "faults.log")
        try:
            for role, each in Own.each.items():
                crew.hire(role, each)
            faults.run(options.seconds, Progress(queues))
            print("the rest is drained", flush=True)
            queues.drain(crew, watched.primary)
        finally:
            crew.kill()
        verdict = judge(
            (
                path.open(encoding="utf-8", errors="replace")
                for path in sorted(folder.glob("*.ledger"))
            ),
            FAILURES,
        )
        # What is counted is taken back by failovers.
        left, _ = queues.left(verdict)
    excused = excuse(verdict, faults.windows)
    durable = options.durability != "none"
    lost = len(verdict.lost)
    if not durable:
        verdict.lost.clear()
    report(verdict, folder)
    print(f"faults: {', '.join(f'{n} x {name}' for name, n in faults.faults.most_common())}")
    print(f"taken back by failovers: {', '.join(f'{name} {n}' for name, n in excused.items())}")
    took = sorted(faults.took)
    if took:
        print(f"another primary after {took[len(took) // 2]} ms in the middle, {took[-1]} at most")
    print(*lateness(verdict, faults.windows), sep="\n")
    wrong = crew.troubles + left
    for text in wrong:
        print(f"wrong: {text}")
    print(
        f"failover: durability={options.durability} failovers={len(took)}"
        f" acknowledged={verdict.accepted} lost={lost} doubled_holders={len(verdict.two_holders)}"
    )
    return int(any(verdict.broken().values()) or bool(wrong))


def main() -> None:
    parser = parser_of("failover", __doc__)
    parser.add_argument("--durability", choices=tuple(DURABILITIES), default="none")
    main_of("failover", parser, run)


if __name__ == "__main__":
    main()
