"""Producers and workers of both sides on one queue, killed at random."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crowd import Crowd, Line, Member
from peers import Peer, ours
from wire import Wire

RETRY_AFTER = 3
LONGEST_DELAY = 3
QUEUE, DELAYED, RESERVED = (f"queues:default{part}" for part in ("", ":delayed", ":reserved"))
Start = Callable[[], Peer]


class Ledger:
    """What producers said they pushed, and each run of a job."""

    def __init__(self) -> None:
        self.pushed: set[str] = set()
        self.runs: dict[str, list[Line]] = defaultdict(list)
        self.workers: set[str] = set()

    def tell(self, member: Member, line: Line) -> None:
        if "pushed" in line:
            self.pushed.add(line["pushed"])
        elif "ran" in line:
            self.runs[line["data"]["number"]].append(line)
            self.workers.add(member.name)
        else:
            assert "ok" in line or "working" in line, f"{member.name}: {line}"

    def pushed_by(self, side: str) -> int:
        return sum(value.startswith(side) for value in self.pushed)

    def repeated(self) -> dict[str, list[Line]]:
        return {number: runs for number, runs in self.runs.items() if len(runs) > 1}


def producer(start: Start, ledger: Ledger, side: str, count: int) -> Callable[[int], Peer]:
    """Who follows a killed one pushes the rest, under names of its own."""

    def spawn(generation: int) -> Peer:
        peer = start()
        rest = count - ledger.pushed_by(side)
        what: dict[str, Any] = {"high": LONGEST_DELAY, "seed": generation}
        peer.send("produce", prefix=f"{side}-{generation}-", count=rest, **what)
        return peer

    return spawn


def worker(start: Start) -> Callable[[int], Peer]:
    def spawn(generation: int) -> Peer:
        peer = start()
        peer.send("work", tries=0, sleep=0)
        return peer

    return spawn


@pytest.fixture
def php(another: Callable[..., Peer]) -> Start:
    return lambda: another(retry_after=RETRY_AFTER, block_for=1)


@pytest.fixture
def own(logs: Path, wire: Wire) -> Start:
    """Starts a process of dueq."""

    def start() -> Peer:
        peer = ours(logs / "ours.log")
        peer.ask("laravel", url=wire.url, retry_after=RETRY_AFTER)
        return peer

    return start


def test_pool(php: Start, own: Start, wire: Wire, pytestconfig: pytest.Config) -> None:
    """Nothing is lost, and only what a killed worker had runs again, when its time is over."""
    jobs: int = pytestconfig.getoption("--jobs")
    kills = 3 if jobs < 5000 else 15
    ledger = Ledger()
    sides = {"php": php, "dueq": own}
    with Crowd(ledger.tell, seed=jobs) as crowd:
        for side, start in sides.items():
            part = jobs // len(sides)
            crowd.add(f"{side} pushes", producer(start, ledger, side, part), kills)
        workers = [
            crowd.add(f"{side} works {number}", worker(start), kills)
            for side, start in sides.items()
            for number in (1, 2)
        ]

        def done() -> bool:
            keys = wire.theirs() & {QUEUE, DELAYED, RESERVED}
            return len(ledger.pushed) >= jobs and not keys

        crowd.run(done, seconds=60 + jobs / 50)
        crowd.settle(RETRY_AFTER + 1)
    assert ledger.pushed - ledger.runs.keys() == set()
    repeated = ledger.repeated()
    assert sum(len(runs) - 1 for runs in repeated.values()) <= sum(one.killed for one in workers)
    for runs in repeated.values():
        assert [run["attempts"] for run in runs] == list(range(1, len(runs) + 1))
        assert runs[1]["at"] - runs[0]["at"] >= RETRY_AFTER - 1
    assert ledger.workers == {one.name for one in workers}
