"""
Workers in Python whose handlers never fail:
python worker_steady.py ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP

ROLE is feed (push to QUEUE), steady (consume from it until SIGTERM comes, whatever happens to the
server: only a poison message kills it), or drain (acknowledge whatever is there, poison too).
README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial

from worker_common import LEASE_LOST, WorkerBase, ms_of, now_ms

from dueq import Backoff, Consumer, Draft, Error, Message, Queue, aio

RATE = 12.0  # messages a second
POISONED_S = 3.0
# What a crash is followed by, from the second one on: soon, so that poison dies in a short run.
BACKOFF = Backoff("fixed", 0.15)


def key(message: Message | aio.Message) -> str:
    return f"{message.body.split(b' ', 1)[0].decode()} {message.deliveries}"


class Steady(WorkerBase):
    def __init__(
        self, ledger: str, url: str, queue: str, number: str, seed: str, stop: str
    ) -> None:
        super().__init__(ledger, number, seed, stop)
        self.url, self.queue = url, Queue(queue, url)
        self.longest = float(os.environ["CHAOS_LONGEST"])
        self.pushes = 0
        self.ended = self.begun = False
        self.consumers: list[Consumer | aio.Consumer] = []

    # ---- The producer ----

    def feed(self) -> None:
        """Healthy messages, and at times a poisoned one in the midst of 19 of them."""
        poison_at = time.monotonic() + 0.5
        while not self.stopped():
            kinds = ["healthy"] * self.chance.choice((1, 1, 3))
            if time.monotonic() > poison_at:
                kinds = ["healthy"] * 19
                kinds.insert(self.chance.randint(0, 19), "poison")
                poison_at = time.monotonic() + self.chance.uniform(0.5, 2) * POISONED_S
            self.push(kinds)
            time.sleep(len(kinds) / RATE)

    def push(self, kinds: list[str]) -> None:
        marks, drafts = [], []
        few = self.chance.choice((2, 3) if self.longest < 5 else (3, 5))
        for kind in kinds:
            self.pushes += 1
            mark = f"{self.number}.{self.pushes}"
            drop, duration = self.rare(0.3), self.duration_ms()
            # Faults kill and stop workers, too. A short message may meet that after a poisoned one
            # was beside it, a long one often.
            crashes = few
            if kind == "healthy":
                crashes = 16 if duration > 1000 else few + 1
            ends = "drop" if drop else "-"
            self.note(
                f"intend {mark} - {now_ms()} {self.queue.name} 16 {crashes} {ends} fixed:150:none",
                f"{kind} {mark}",
            )
            marks.append(mark)
            text = f"{mark} {kind} {duration}"
            drafts.append(
                Draft(text, backoff=BACKOFF, max_crashes=crashes, max_attempts=16, drop=drop)
            )
        status, ids = self.call("push", partial(self.queue.push_many, drafts))
        self.note(*self.outcomes(marks, status, ids))

    def duration_ms(self) -> int:
        """Most are short; some take longer than a lease, few longer than the longest outage."""
        if self.pushes < 6:  # at work when the first outage comes
            return 4000
        kind = self.chance.random()
        most = 20.0 if kind < 0.9 else 4000.0 if kind < 0.99 else 1200 * self.longest
        return round(self.chance.uniform(0, most))

    # ---- The consumer ----

    def consume(self) -> None:
        """A loop is never over before SIGTERM: whatever ends it ends the process."""
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        options = (self.chance.choice((1, 5, 20, 100)), self.chance.randint(1500, 2500) / 1000)
        way = self.chance.choice((self.by_block, self.by_verb, self.as_task))
        while not self.ended:
            try:
                way(*options)
            except Error as error:
                # A server that it never reached ends a loop at once.
                if self.begun:
                    raise
                self.note(f"error {error.status} loop {error}".replace("\n", " "))
                time.sleep(0.1)

    def by_block(self, prefetch: int, lease: float) -> None:
        with self.queue.consume(prefetch, lease) as consumer:
            self.ends_with(consumer)
            for message in consumer:
                with message:
                    for pause in self.work(message, lease):
                        time.sleep(pause)

    def by_verb(self, prefetch: int, lease: float) -> None:
        with self.queue.consume(prefetch, lease) as consumer:
            self.ends_with(consumer)
            for message in consumer:
                for pause in self.work(message, lease):
                    time.sleep(pause)
                status, _ = self.call("ack", message.ack)
                self.note(*self.acked(status, message))

    def as_task(self, prefetch: int, lease: float) -> None:
        async def consume() -> None:
            async with (
                aio.Queue(self.queue.name, self.url) as queue,
                queue.consume(prefetch, lease) as consumer,
            ):
                self.ends_with(consumer)
                async for message in consumer:
                    async with message:
                        for pause in self.work(message, lease):
                            await asyncio.sleep(pause)

        asyncio.run(consume())

    def ends_with(self, consumer: Consumer | aio.Consumer) -> None:
        self.consumers.append(consumer)
        if self.ended:
            consumer.stop()

    def end(self) -> None:
        self.ended = True
        for consumer in self.consumers:
            consumer.stop()

    def work(self, message: Message | aio.Message, lease: float) -> Iterator[float]:
        """Pauses as long as the message asks for; the process dies of a poisoned one."""
        self.begun = True
        end, ms = ms_of(message.time), round(lease * 1000)
        self.note(
            f"alive {self.number} {now_ms()}",
            f"begun {key(message)} {end - ms} {end} {message.queue}"
            f" {message.attempt} {message.crashes} {self.number}",
        )
        _, kind, duration = message.body.decode().split(" ")
        if kind == "poison":
            self.note(f"dying {key(message)} {now_ms()}")
            os.kill(os.getpid(), self.chance.choice((signal.SIGKILL, signal.SIGSEGV)))
        until = time.monotonic() + int(duration) / 1000
        while (left := until - time.monotonic()) > 0 and not self.ended:
            yield min(left, 0.5)
            self.note(f"alive {self.number} {now_ms()}")
        self.note(f"acking {key(message)} {now_ms()} -")

    def acked(self, status: int, message: Message) -> list[str]:
        """An outcome that is not known, or not yet, is no line."""
        return self.settled("acked", status, key(message)) if status in (0, LEASE_LOST) else []

    # ---- The end ----

    def drain(self) -> None:
        while not self.stopped():
            for message in self.queue.reserve_many(100, 1, 30):
                end = ms_of(message.time)
                self.note(
                    f"got {key(message)} {end - 30000} {end} {message.queue}"
                    f" {message.attempt} {message.crashes}",
                    f"acking {key(message)} {now_ms()} -",
                )
                status, _ = self.call("ack", message.ack)
                self.note(*self.acked(status, message))
            self.note("empty")


def main() -> None:
    role, ledger, url, queue, number, seed, _, stop = sys.argv[1:]
    steady = Steady(ledger, url, queue, number, seed, stop)
    if role == "feed":
        steady.feed()
    elif role == "steady":
        steady.consume()
    else:
        steady.drain()


if __name__ == "__main__":
    main()
