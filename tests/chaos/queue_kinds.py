"""Whose queues a chaos run can be on: who works there, what is done to them, and who judges."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, TypeAlias

import foreign_verdict
from drain import PATIENCE_S, UNWANTED, count, drain, finish, hasten
from fleet import BATCH_ROLES, HERE, ROOT, Fleet, now_ms
from verdict import EXPECTED, READONLY, Verdict, judge

import dueq
import dueq.laravel
import dueq.redisson
from private_server import Server

CALM_EVERY_S = 0.3
NEAR_USER = "near"  # whose rights on the far queue are taken and given back

AnyVerdict: TypeAlias = Verdict | foreign_verdict.Verdict


class Kind(ABC):
    """
    each    roles, and how many workers of each language have it
    kills   roles, and how often one is killed, in relation to the other faults
    stops   the same of those that are stopped
    rate    messages a second that are pushed, at most
    timeout of the workers' calls
    far     the queue that is out of reach at times: the last
    steady  the queue of those whose handlers never fail, with poison in it
    groups  the queue in which no group may wait beside idle consumers
    limits  the queue whose groups have limits
    batches the two queues whose messages have kept ends, and are members of batches of both
    """

    queues: ClassVar[tuple[str, ...]] = ("chaos", "chaos-away")
    commands: ClassVar[dict[str, list[str | Path]]]
    each: ClassVar[dict[str, int]]
    kills: ClassVar[dict[str, int]]
    stops: ClassVar[dict[str, int]]
    rate: ClassVar[float] = 700.0
    timeout: ClassVar[str] = "3s"
    far: ClassVar[str] = ""
    steady: ClassVar[str] = ""
    groups: ClassVar[str] = ""
    limits: ClassVar[str] = ""
    batches: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def url(cls, socket: Path, role: str) -> str:
        return f"unix://{socket}?timeout={cls.timeout}"

    @abstractmethod
    def __init__(self, url: str, stack: ExitStack) -> None: ...

    @abstractmethod
    def progress(self) -> str: ...

    @abstractmethod
    def drain(self, fleet: Fleet, server: Server, short: bool) -> None:
        """Has the queues emptied, when there are no more faults. short: the run was."""

    @abstractmethod
    def judge(self, ledgers: Iterable[Iterable[str]]) -> AnyVerdict: ...

    @abstractmethod
    def left(self, verdict: AnyVerdict) -> tuple[list[str], list[str]]:
        """
        What the queues have in the end that they should not, and what they counted that the
        ledgers do not explain.
        """


class Own(Kind):
    """dueq's own."""

    commands: ClassVar[dict[str, list[str | Path]]] = {
        "python": [sys.executable, HERE / "worker.py"],
        "php": ["php", HERE / "worker.php"],
        "c": [ROOT / "build/cmake/tests/chaos-worker"],
    }
    queues: ClassVar[tuple[str, ...]] = ("chaos", "chaos-away", "chaos-far")
    far: ClassVar[str] = queues[2]
    steady: ClassVar[str] = "chaos-steady"
    groups: ClassVar[str] = "chaos-groups"
    limits: ClassVar[str] = "chaos-limits"
    batches: ClassVar[tuple[str, ...]] = ("chaos-batches", "chaos-guests")
    rate: ClassVar[float] = 250.0
    each: ClassVar[dict[str, int]] = {"produce": 1, "consume": 2, "reach": 1}
    kills: ClassVar[dict[str, int]] = {
        "consume": 16,
        "reach": 8,
        "produce": 10,
        "steady": 6,
        "open": 8,
        "member": 12,
        "ask": 2,
    }
    stops: ClassVar[dict[str, int]] = {
        "consume": 16,
        "reach": 8,
        "produce": 6,
        "steady": 6,
        "open": 3,
        "member": 6,
    }

    @classmethod
    def url(cls, socket: Path, role: str) -> str:
        if role in ("consume", "reach", *BATCH_ROLES):
            socket = socket.with_name("relay-proxy")
        user = f"{NEAR_USER}:-@" if role == "consume" else ""
        # As by default, shorter than a lease: a client sees each outage that ends leases.
        timeout = "1s" if role == "steady" else cls.timeout
        return f"unix://{user}{socket}?timeout={timeout}"

    def __init__(self, url: str, stack: ExitStack) -> None:
        names = (*self.queues, self.steady)
        self.handles = [stack.enter_context(dueq.Queue(name, url)) for name in names]
        self.kept = [stack.enter_context(dueq.Queue(name, url)) for name in self.batches]
        self.url_of_all = url
        self.stats: Counter[str] = Counter()

    def progress(self) -> str:
        stats = count(self.handles)
        return (
            f"{stats['acked']} acknowledged, {stats['ready']} ready, {stats['delayed']} delayed,"
            f" {stats['leased']} leased, {stats['outbox']} in outboxes, {stats['dead']} dead"
        )

    def drain(self, fleet: Fleet, server: Server, short: bool) -> None:
        fleet.end("produce", "consume", "reach", "feed", *BATCH_ROLES)
        if short:
            hasten([*self.handles, *self.kept], [server])
        self.stats = drain(self.handles, fleet, self.steady)
        finish(self.kept, fleet)

    def judge(self, ledgers: Iterable[Iterable[str]]) -> Verdict:
        return judge(ledgers, EXPECTED | {READONLY})

    def left(self, verdict: AnyVerdict) -> tuple[list[str], list[str]]:
        stats = self.stats
        left = unwanted(self.handles, self.url_of_all, stats)
        return left + unwanted(self.kept, self.url_of_all, quarantined(self.kept)), [
            f"{stats[name]} {name} were counted by the server, which the ledgers do not explain"
            for name, verb in (("acked", "ack"), ("retried", "retry"))
            if not 0 <= stats[name] - verdict.done[verb] <= verdict.unknown[verb]
        ]


def unwanted(queues: Sequence[dueq.Queue], url: str, stats: Counter[str]) -> list[str]:
    """What is left in dueq's queues, and what is wrong with them, when they have been emptied."""
    left = []
    if any(stats[name] for name in UNWANTED):
        left.append(f"not to be there: {dict(stats)}")
    for queue in queues:
        checked = subprocess.run(
            [ROOT / "build/bin/dueq", "check", queue.name],
            env=os.environ | {"DUEQ_URL": url},
            capture_output=True,
            text=True,
            check=False,
        )
        if checked.returncode:
            left.append(f"check {queue.name}: {checked.stdout}{checked.stderr}")
    return left


def quarantined(queues: Sequence[dueq.Queue]) -> Counter[str]:
    """All else that is unwanted may be in queues with kept ends: the dead stay, others expire."""
    return Counter(quarantined=sum(queue.stats().quarantined for queue in queues))


class Foreign(Kind):
    """Of another system."""

    handles: Sequence[dueq.redisson.DelayedQueue | dueq.laravel.Queue]
    # Few enough that those who take them often wait; and shorter than many a fault.
    rate: ClassVar[float] = 300.0
    timeout: ClassVar[str] = "1s"
    takers: ClassVar[tuple[str, ...]] = ("consume",)

    def progress(self) -> str:
        sizes = [queue.size() for queue in self.handles]
        names = ("ready", "delayed", "reserved")
        return ", ".join(f"{sum(getattr(size, name) for size in sizes)} {name}" for name in names)

    def existing(self) -> int:
        sizes = [queue.size() for queue in self.handles]
        return sum(size.ready + size.delayed + size.reserved for size in sizes)

    def await_empty(self, fleet: Fleet) -> None:
        least, moved = self.existing() + 1, time.monotonic()
        # Twice, because an item can move between two counts.
        while (existing := self.existing()) or self.existing():
            if existing < least:
                least, moved = existing, time.monotonic()
            if time.monotonic() > moved + PATIENCE_S:
                fleet.troubles.append(f"the queues do not get empty: {self.progress()}")
                break
            fleet.watch()
            time.sleep(0.1)

    def drain(self, fleet: Fleet, server: Server, short: bool) -> None:
        """Before, those that went through it all must be as awake as ever."""
        fleet.end("produce")
        self.await_empty(fleet)
        with (fleet.folder / "calm.ledger").open("w", encoding="utf-8", buffering=1) as ledger:
            for number in range(10):
                mark = f"{foreign_verdict.CALM}{number}"
                due = now_ms() // 1000 * 1000 + 2000
                ledger.write(f"intend {mark} {due} {self.queues[0]} {mark}\n")
                self.offer(server, mark, due)
                ledger.write(f"accepted {mark} {now_ms()}\n")
                fleet.watch()
                time.sleep(CALM_EVERY_S)
        self.await_empty(fleet)
        fleet.end(*self.takers)
        fleet.start("drain", 1)
        self.await_empty(fleet)
        fleet.end("drain", "move")

    @abstractmethod
    def offer(self, server: Server, mark: str, due: int) -> None:
        """Stores a message in the first queue. due: in ms, a whole second."""

    def left(self, verdict: AnyVerdict) -> tuple[list[str], list[str]]:
        quarantined = sum(queue.size().quarantined for queue in self.handles)
        left = [f"not to be there: {self.progress()}"] if self.existing() else []
        return left + ([f"{quarantined} quarantined"] if quarantined else []), []


class Laravel(Foreign):
    queues: ClassVar[tuple[str, ...]] = ("chaos",)
    rate: ClassVar[float] = 150.0
    commands: ClassVar[dict[str, list[str | Path]]] = {
        "python": [sys.executable, HERE / "worker_laravel.py"],
        "php": ["php", HERE / "worker_laravel.php"],
    }
    each: ClassVar[dict[str, int]] = {"produce": 1, "consume": 2, "move": 1}
    kills: ClassVar[dict[str, int]] = {"consume": 20, "produce": 10, "move": 6}
    stops: ClassVar[dict[str, int]] = {"consume": 20, "produce": 6, "move": 6}

    def __init__(self, url: str, stack: ExitStack) -> None:
        self.handles = [stack.enter_context(dueq.laravel.Queue(name, url)) for name in self.queues]

    def offer(self, server: Server, mark: str, due: int) -> None:
        # As Laravel's own, which tells nobody.
        payload = {"job": "App\\Jobs\\Chaos@handle", "data": {"mark": mark}, "attempts": 0}
        server.command("ZADD", f"queues:{self.queues[0]}:delayed", due // 1000, json.dumps(payload))

    def judge(self, ledgers: Iterable[Iterable[str]]) -> foreign_verdict.Verdict:
        return foreign_verdict.judge(ledgers)


class Redisson(Foreign):
    commands: ClassVar[dict[str, list[str | Path]]] = {
        "python": [sys.executable, HERE / "worker_redisson.py"],
        "php": ["php", HERE / "worker_redisson.php"],
    }
    # Who takes a value has it: only gamblers are killed.
    each: ClassVar[dict[str, int]] = {"produce": 1, "consume": 1, "gamble": 1, "move": 2}
    kills: ClassVar[dict[str, int]] = {"gamble": 12, "move": 14, "produce": 10}
    stops: ClassVar[dict[str, int]] = {"consume": 14, "gamble": 6, "move": 8, "produce": 4}
    takers: ClassVar[tuple[str, ...]] = ("consume", "gamble")

    def __init__(self, url: str, stack: ExitStack) -> None:
        handles = [
            stack.enter_context(dueq.redisson.DelayedQueue(name, url)) for name in self.queues
        ]
        self.handles = handles
        self.first = handles[0]

    def offer(self, server: Server, mark: str, due: int) -> None:
        self.first.offer(mark, at=due / 1000)

    def judge(self, ledgers: Iterable[Iterable[str]]) -> foreign_verdict.Verdict:
        return foreign_verdict.judge(ledgers, gambled=self.queues[1])


KINDS: dict[str, type[Kind]] = {"own": Own, "laravel": Laravel, "redisson": Redisson}
