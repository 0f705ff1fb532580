"""Producers, transferers and takers of both sides on one queue, killed at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from crowd import Crowd, Line, Member
from peers import Peer, ours
from wire import Wire, is_old

QUEUE = {"queue": "{pool}", "codec": "kryo5"}
LONGEST_DELAY_MS = 3000
Start = Callable[[], Peer]


class Ledger:
    """What producers said they offered, and what takers said they took."""

    def __init__(self) -> None:
        self.offered: set[str] = set()
        self.took: Counter[str] = Counter()
        self.shares: Counter[str] = Counter()

    def tell(self, member: Member, line: Line) -> None:
        if "offered" in line:
            self.offered.add(line["offered"])
        elif "took" in line:
            self.took[line["took"]["value"]] += 1
            self.shares[member.name] += 1
        else:
            assert "ok" in line, f"{member.name}: {line}"

    def offered_by(self, side: str) -> int:
        return sum(value.startswith(side) for value in self.offered)

    def lost(self) -> set[str]:
        return self.offered - self.took.keys()


def producer(start: Start, ledger: Ledger, side: str, count: int) -> Callable[[int], Peer]:
    """Who follows a killed one offers the rest, under names of its own."""

    def spawn(generation: int) -> Peer:
        peer = start()
        rest = count - ledger.offered_by(side)
        each = {"say": True, "low": 0, "high": LONGEST_DELAY_MS, "seed": generation}
        peer.send("produce", **QUEUE, prefix=f"{side}-{generation}-", count=rest, **each)
        return peer

    return spawn


def taker(start: Start) -> Callable[[int], Peer]:
    def spawn(generation: int) -> Peer:
        peer = start()
        peer.send("consume", **QUEUE, say=True, count=10**9, quiet=3600)
        return peer

    return spawn


@pytest.fixture
def java(redisson_name: str, started: Callable[[str], Peer], wire: Wire) -> Start:
    """Starts a JVM that transfers, and can do one thing besides."""

    def start() -> Peer:
        peer = started(redisson_name)
        peer.ask("connect", port=wire.port)
        peer.ask("hold", **QUEUE)
        return peer

    return start


@pytest.fixture
def own(redisson_name: str, logs: Path, wire: Wire) -> Start:
    """Starts a process of dueq that does the same."""

    def start() -> Peer:
        peer = ours(logs / "ours.log")
        peer.ask("redisson", queue=QUEUE["queue"], url=wire.url, old=is_old(redisson_name))
        return peer

    return start


def test_pool(java: Start, own: Start, wire: Wire, pytestconfig: pytest.Config) -> None:
    """
    Nothing is lost or doubled, but for what a killed taker had taken: Redisson's destination has no
    acknowledgement.
    """
    jobs: int = pytestconfig.getoption("--jobs")
    kills = {"java": 1, "dueq": 3} if jobs < 5000 else {"java": 3, "dueq": 15}
    ledger = Ledger()
    sides = {"java": java, "dueq": own}
    with Crowd(ledger.tell, seed=jobs) as crowd:
        for side, start in sides.items():
            part = jobs // len(sides)
            crowd.add(f"{side} offers", producer(start, ledger, side, part), kills[side])
        takers = [
            crowd.add(f"{side} takes", taker(start), kills[side]) for side, start in sides.items()
        ]

        def done() -> bool:
            return len(ledger.offered) >= jobs and not wire.theirs()

        crowd.run(done, seconds=60 + jobs / 50)
        crowd.settle(1)
    assert len(ledger.lost()) <= sum(member.killed for member in takers), ledger.lost()
    assert [value for value, times in ledger.took.items() if times > 1] == []
    assert all(ledger.shares[member.name] for member in takers)
