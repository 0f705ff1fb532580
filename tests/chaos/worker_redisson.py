"""
The worker of the chaos run on delayed queues of Redisson's, in Python:
python worker_redisson.py ROLE LEDGER URL QUEUE AWAY NUMBER SEED RATE STOP

ROLE is produce (to both queues), consume (take from QUEUE), gamble (take from AWAY, one at a
time: it may be killed), move (transfer what is due in both), or drain (take what is left in both).
It ends when the file STOP exists. README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from worker_common import UNKNOWN, WorkerBase, now_ms

from dueq.redisson import DelayedQueue


class Worker(WorkerBase):
    def __init__(
        self, ledger: str, url: str, names: tuple[str, str], number: str, seed: str, stop: str
    ) -> None:
        super().__init__(ledger, number, seed, stop)
        self.queues = [DelayedQueue(name, url) for name in names]
        self.pushes = 0

    # ---- The producer ----

    def produce(self, rate: float) -> None:
        for count in self.batches(rate):
            queue = self.queues[self.rare(0.05)]
            if (marked := self.offer(queue, count)) and self.rare(0.1):
                self.remove(queue, *self.chance.choice(marked))

    def offer(self, queue: DelayedQueue, count: int) -> list[tuple[str, str]]:
        """Returns the marks and values, where they are known to be stored."""
        begin, later = now_ms(), self.chance.randint(0, 3000)
        kind = self.chance.random()
        delay = later / 1000 if kind < 0.6 else None
        at = (begin + later) / 1000 if 0.6 <= kind < 0.8 else None
        marked = []
        for _ in range(count):
            self.pushes += 1
            mark = f"{self.number}.{self.pushes}"
            marked.append((mark, f"{mark} {self.padding()}"))
        marks, values = zip(*marked, strict=True)
        due = begin + (later if kind < 0.8 else 0)
        self.note(*(f"intend {mark} {due} {queue.destination} {marks[0]}" for mark in marks))
        status, _ = self.call("offer", partial(queue.offer_many, values, delay=delay, at=at))
        self.note(*self.outcomes(marks, status, None if status else marks))
        return marked if status == 0 else []

    def remove(self, queue: DelayedQueue, mark: str, value: str) -> None:
        self.note(f"removing {mark}")
        status, found = self.call("remove", partial(queue.remove, value))
        if status == 0:
            self.note(f"{'removed' if found else 'absent'} {mark}")

    # ---- The consumer ----

    def consume(self, queue: DelayedQueue, most: int) -> None:
        doubt = False
        # Whatever the server may have given is asked for before the end.
        while not self.stopped() or doubt:
            wait = self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 5.0))
            doubt = self.take(queue, self.chance.choice((1, min(most, 5), most)), wait, doubt)
            if self.rare(0.3 if doubt else 0.01) and not self.stopped():
                self.offer(queue, 1)

    def take(self, queue: DelayedQueue, count: int, wait: float, doubt: bool) -> bool:
        """`doubt`, and True: nobody knows what came of this, or of one before."""
        self.note(f"asking {count} {queue.destination}")
        status, values = self.call("take", partial(queue.take_many, count, wait))
        end = now_ms()
        if values:
            marks = [value.split(" ")[0] for value in values]
            self.note(*(f"took {mark} {end} {queue.destination}" for mark in marks))
        elif status == 0:
            self.note("empty")
        if self.rare(0.05):
            time.sleep(self.chance.uniform(0, 0.5))
        return status != 0 and (doubt or status in UNKNOWN)

    def drain(self) -> None:
        doubts = [False, False]
        while not self.stopped() or any(doubts):
            for i, queue in enumerate(self.queues):
                doubts[i] = self.take(queue, 200, 0.3, doubts[i])

    # ---- The agent ----

    def move(self) -> None:
        while not self.stopped():
            queue = self.chance.choice(self.queues)
            end = time.monotonic() + self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 3.0))
            if self.rare(0.5):
                wait = max(0.0, end - time.monotonic())
                most = self.chance.randint(1, 200)
                self.call("transfer", partial(queue.transfer, wait, most))
            else:
                self.call("transfer", partial(queue.run_transfer, partial(self.over, end)))
            self.note("empty")

    def over(self, end: float) -> bool:
        return self.stopped() or time.monotonic() > end


def main() -> None:
    role, ledger, url, queue, away, number, seed, rate, stop = sys.argv[1:]
    worker = Worker(ledger, url, (queue, away), number, seed, stop)
    match role:
        case "produce":
            worker.produce(float(rate))
        case "consume":
            worker.consume(worker.queues[0], 50)
        case "gamble":
            worker.consume(worker.queues[1], 1)
        case "move":
            worker.move()
        case "drain":
            worker.drain()


if __name__ == "__main__":
    main()
