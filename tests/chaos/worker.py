"""
The worker of the chaos run in Python: python worker.py ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP

ROLE is produce, consume, or drain (consume without mischief). It ends when the file STOP exists.
README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from dueq import Draft, Error, Message, Queue

T = TypeVar("T")

LEASE_LOST = 4
CONNECT = -10
UNKNOWN = (-11, -12)  # CLOSED, TIMEOUT


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Worker:
    def __init__(
        self, ledger: str, url: str, queue: str, number: str, seed: str, stop: str
    ) -> None:
        self.ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.queue = Queue(queue, url)
        self.number = number
        self.stop = stop
        self.chance = random.Random(int(seed))
        self.pushes = 0

    def note(self, *lines: str) -> None:
        os.write(self.ledger, "".join(f"{line}\n" for line in lines).encode())

    def call(self, verb: str, action: Callable[[], T]) -> tuple[int, T | None]:
        """Runs a call. Returns its status, and its answer if that is 0."""
        try:
            return 0, action()
        except Error as error:
            if error.status < 0:
                self.note(f"error {error.status} {verb} {error}".replace("\n", " "))
            if error.status == CONNECT:
                time.sleep(0.05)
            return error.status, None

    # ---- The producer ----

    def produce(self, rate: float) -> None:
        begin = time.monotonic()
        while not os.path.exists(self.stop):
            count = self.chance.choice((1, 1, 5, 20, 50, 100))
            plain = self.chance.random() < 0.4
            again = [self.draft(plain) for _ in range(count)]
            tries = 0
            while again and tries < 4 and not os.path.exists(self.stop):
                again = self.push(again)
                tries += 1
            begin = max(begin + count / rate, time.monotonic() - 2)
            while (left := begin - time.monotonic()) > 0 and not os.path.exists(self.stop):
                time.sleep(min(left, 0.5))

    def draft(self, plain: bool) -> Draft:
        kind = 1.0 if plain else self.chance.random()
        later = self.chance.randint(20, 2000)
        self.pushes += 1
        return Draft(
            "x" * self.chance.randint(0, 200),
            delay=later / 1000 if kind < 0.3 else None,
            at=(now_ms() + later) / 1000 if 0.3 <= kind < 0.4 else None,
            id=None if plain or kind > 0.8 else f"own-{self.number}-{self.pushes}",
            max_attempts=None,
            lease=1.5 if 0.6 < kind < 0.7 else None,
        )

    def push(self, drafts: list[Draft]) -> list[Draft]:
        """Returns those to push again: of an id of their own, and an outcome that is not known."""
        marks, marked, lines = [], [], []
        for draft in drafts:
            self.pushes += 1
            mark = f"{self.number}.{self.pushes}"
            body = f"{mark} {str(draft.body).rpartition(' ')[2]}"
            marks.append(mark)
            marked.append(
                Draft(
                    body,
                    delay=draft.delay,
                    at=draft.at,
                    id=draft.id,
                    max_attempts=draft.max_attempts,
                    lease=draft.lease,
                )
            )
            due = now_ms()
            if isinstance(draft.delay, float):
                due += int(draft.delay * 1000)
            elif isinstance(draft.at, float):
                due = int(draft.at * 1000)
            lines.append(f"intend {mark} {draft.id or '-'} {due}")
        self.note(*lines)
        status, ids = self.call("push", partial(self.queue.push_many, marked))
        if ids is not None:
            outcomes = ["accepted" if id else "duplicate" for id in ids]
        else:
            outcomes = ["unknown" if status in UNKNOWN else "refused"] * len(marks)
        end = now_ms()
        self.note(*(f"{word} {mark} {end}" for word, mark in zip(outcomes, marks, strict=True)))
        return [draft for draft in marked if draft.id] if status in UNKNOWN else []

    # ---- The consumer ----

    def consume(self, calm: bool) -> None:
        while not os.path.exists(self.stop):
            lease = self.chance.randint(1000, 2000)
            count = self.chance.choice((1, 10, 50, 100, 200))
            wait = self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 5.0))
            _, messages = self.call(
                "reserve",
                partial(self.queue.reserve_many, count, wait, lease / 1000),
            )
            if not messages:
                self.note("empty")
                continue
            lines = []
            for message in messages:
                end = round((message.time or 0) * 1000)
                lines.append(f"got {key(message)} {end - lease} {end}")
            self.note(*lines)
            self.ack(messages if calm else self.mischief(messages))

    def mischief(self, messages: list[Message]) -> list[Message]:
        """Dawdles, retries, extends and forgets some. Returns those to acknowledge."""
        dawdle = self.chance.random()
        if dawdle < 0.1:
            time.sleep(self.chance.uniform(0, 2.2 if dawdle < 0.02 else 0.2))
        rest = []
        for message in messages:
            what = self.chance.random()
            if what < 0.02:
                delay = self.chance.choice((0, self.chance.randint(1, 1000)))
                action = partial(message.retry, delay / 1000, "?")
                self.settle("retry", message, delay, action)
            elif what < 0.025:
                continue
            else:
                if what < 0.035:
                    lease = self.chance.randint(1000, 2000)
                    self.settle("extend", message, lease, partial(message.extend, lease / 1000))
                rest.append(message)
        return rest

    def settle(self, verb: str, message: Message, later: int, action: Callable[[], object]) -> None:
        begin = now_ms()
        self.note(f"{verb}ing {key(message)} {begin} {begin + later}")
        status, _ = self.call(verb, action)
        if status == 0:
            past = "retried" if verb == "retry" else f"{verb}ed"
            self.note(f"{past} {key(message)} {now_ms()}")
        elif status == LEASE_LOST:
            self.note(f"lost {key(message)} {now_ms()}")
        elif status not in UNKNOWN:
            self.note(f"undone {key(message)}")

    def ack(self, messages: list[Message]) -> None:
        if not messages:
            return
        if len(messages) == 1:
            self.settle("ack", messages[0], 0, messages[0].ack)
            return
        begin = now_ms()
        self.note(*(f"acking {key(message)} {begin} 0" for message in messages))
        status, done = self.call("ack", partial(self.queue.ack_many, messages))
        if done is not None:
            words = ["acked" if ok else "lost" for ok in done]
            end = now_ms()
            self.note(*(f"{w} {key(m)} {end}" for w, m in zip(words, messages, strict=True)))
        elif status not in UNKNOWN:
            self.note(*(f"undone {key(message)}" for message in messages))


def key(message: Message) -> str:
    return f"{message.body.split(b' ', 1)[0].decode()} {message.attempt}"


def main() -> None:
    role, ledger, url, queue, number, seed, rate, stop = sys.argv[1:]
    worker = Worker(ledger, url, queue, number, seed, stop)
    if role == "produce":
        worker.produce(float(rate))
    else:
        worker.consume(role == "drain")


if __name__ == "__main__":
    main()
