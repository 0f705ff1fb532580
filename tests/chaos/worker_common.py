"""What every worker of a chaos run in Python has: its ledger, its chance, its pace."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from dueq import Error

T = TypeVar("T")

DUPLICATE = 2
LEASE_LOST = 4
CONNECT = -10
READONLY = -24
WRONG_TYPE = -27
UNKNOWN = (-11, -12, -34)  # CLOSED, TIMEOUT, NOT_DURABLE
CLOCK_NS = int(os.environ["CHAOS_CLOCK"])  # the run's time minus the monotonic one


def now_ms() -> int:
    """The run's time: it feels no jump of this process's clock."""
    return (time.monotonic_ns() + CLOCK_NS) // 1_000_000


def ms_of(moment: datetime | None) -> int:
    """Milliseconds since 1970; 0 for None."""
    return round(moment.timestamp() * 1000) if moment else 0


class WorkerBase:
    def __init__(self, ledger: str, number: str, seed: str, stop: str) -> None:
        self.ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.number = number
        self.chance = random.Random(int(seed))
        self.stop = stop

    def note(self, *lines: str) -> None:
        os.write(self.ledger, "".join(f"{line}\n" for line in lines).encode())

    def call(self, verb: str, action: Callable[[], T]) -> tuple[int, T | None]:
        """Runs a call. Returns its status, and its answer if that is 0."""
        try:
            return 0, action()
        except Error as error:
            if error.status < 0:
                self.note(f"error {error.status} {verb} {error}".replace("\n", " "))
            if error.status in (CONNECT, READONLY, WRONG_TYPE):
                time.sleep(0.05)
            return error.status, None

    def rare(self, share: float) -> bool:
        return self.chance.random() < share

    def padding(self) -> str:
        return "x" * self.chance.randint(0, 200)

    def stopped(self) -> bool:
        return os.path.exists(self.stop)

    def batches(self, rate: float) -> Iterator[int]:
        """How many to push next, each when its time has come; `rate`: of a second at most."""
        begin = time.monotonic()
        while not self.stopped():
            count = self.chance.choice((1, 1, 5, 20, 50, 100))
            yield count
            begin = max(begin + count / rate, time.monotonic() - 2)
            while (left := begin - time.monotonic()) > 0 and not self.stopped():
                time.sleep(min(left, 0.5))

    def outcomes(
        self, marks: Sequence[str], status: int, ids: Sequence[str | None] | None
    ) -> list[str]:
        """The lines that say what came of a push."""
        end = now_ms()
        if ids is None:
            word = "unknown" if status in UNKNOWN else "refused"
            return [f"{word} {mark} {end}" for mark in marks]
        words = ["accepted" if id else "duplicate" for id in ids]
        return [f"{word} {mark} {end}" for word, mark in zip(words, marks, strict=True)]

    def settled(self, past: str, status: int, key: str) -> list[str]:
        """The line that says what came of a verb. past: the word for having done it."""
        if status == 0:
            return [f"{past} {key} {now_ms()}"]
        if status == LEASE_LOST:
            return [f"lost {key} {now_ms()}"]
        return [] if status in UNKNOWN else [f"undone {key}"]
