"""
The worker of the chaos run on a queue of Laravel's, in Python:
python worker_laravel.py ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP

ROLE is produce, consume, move (migrate what is due), or drain (consume without mischief). It ends
when the file STOP exists. README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from functools import partial

from worker_common import LEASE_LOST, WorkerBase, ms_of, now_ms

from dueq.laravel import Job, JobDraft, Queue

JOB = "App\\Jobs\\Chaos@handle"
PUSH = "redis.call('rpush', KEYS[1], ARGV[1]) redis.call('rpush', KEYS[2], 1)"


def second(ms: int) -> int:
    """The first whole second that is not before, in ms."""
    return -(-ms // 1000) * 1000


class Stock:
    """A producer as Laravel's own is: what it delays it tells nobody."""

    def __init__(self, url: str, queue: str) -> None:
        self.path = url.removeprefix("unix://").partition("?")[0]
        self.queue = f"queues:{queue}"
        self.connection: socket.socket | None = None

    def push(self, payload: str, score: int) -> bool:
        """score: when it is due, in seconds; 0: now. False: nobody knows whether it is stored."""
        words = ["EVAL", PUSH, "2", self.queue, f"{self.queue}:notify", payload]
        if score:
            words = ["ZADD", f"{self.queue}:delayed", str(score), payload]
        request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        try:
            if not self.connection:
                self.connection = socket.socket(socket.AF_UNIX)
                self.connection.settimeout(3)
                self.connection.connect(self.path)
            self.connection.sendall(request.encode())
            if self.connection.recv(1024)[:1] in (b":", b"$"):
                return True
        except OSError:
            pass
        if self.connection:
            self.connection.close()
        self.connection = None
        return False


class Worker(WorkerBase):
    def __init__(
        self, ledger: str, url: str, queue: str, number: str, seed: str, stop: str
    ) -> None:
        super().__init__(ledger, number, seed, stop)
        self.queue = Queue(queue, url)
        self.stock = Stock(url, queue)
        self.pushes = 0

    def data(self) -> dict[str, object]:
        """A job's argument, with a mark of its own."""
        self.pushes += 1
        return {"mark": f"{self.number}.{self.pushes}", "padding": self.padding(), "odd": [1.0, {}]}

    # ---- The producer ----

    def produce(self, rate: float) -> None:
        for count in self.batches(rate):
            if self.rare(0.2):
                for _ in range(min(count, 5)):
                    self.push_as_stock()
            else:
                self.push(count)

    def push_as_stock(self) -> None:
        data = self.data()
        score = now_ms() // 1000 + self.chance.randint(1, 3) if self.rare(0.5) else 0
        payload = {"uuid": data["mark"], "job": JOB, "data": data, "attempts": 0}
        mark = str(data["mark"])
        self.note(f"intend {mark} {score * 1000 or now_ms()} {self.queue.name} {mark}")
        stored = self.stock.push(json.dumps(payload), score)
        self.note(f"{'accepted' if stored else 'unknown'} {mark} {now_ms()}")
        if not stored:
            time.sleep(0.05)

    def push(self, count: int) -> None:
        drafts, marks, lines = [], [], []
        for _ in range(count):
            data, begin, later = self.data(), now_ms(), self.chance.randint(1, 3000)
            kind = self.chance.random()
            delay = later / 1000 if kind < 0.4 else None
            at = (begin + later) / 1000 if 0.4 <= kind < 0.5 else None
            # A time that has passed when the push comes to the server is not rounded.
            due = second(begin + later) if delay else begin + later if at else begin
            drafts.append(JobDraft(JOB, data, delay=delay, at=at))
            marks.append(str(data["mark"]))
            lines.append(f"intend {marks[-1]} {due} {self.queue.name} {marks[0]}")
        self.note(*lines)
        status, ids = self.call("push", partial(self.queue.push_many, drafts))
        self.note(*self.outcomes(marks, status, ids))

    # ---- The consumer ----

    def consume(self, calm: bool) -> None:
        while not self.stopped():
            retry_after = self.chance.randint(1, 3)
            count = self.chance.choice((1, 1, 5, 20))
            wait = self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 5.0))
            self.note(f"asking {count} {self.queue.name}")
            wait = min(wait, 1.0) if calm else wait
            status, jobs = self.call("pop", partial(self.queue.pop_many, count, wait, retry_after))
            end = now_ms()
            if not jobs:
                self.note(*(["empty"] if status == 0 else []))
                continue
            times = f"{end} {1000 * retry_after}"
            self.note(*(f"got {key(job)} {times} {ms_of(job.until)}" for job in jobs))
            self.delete(jobs if calm else self.mischief(jobs, retry_after))

    def mischief(self, jobs: list[Job], retry_after: int) -> list[Job]:
        """Dawdles, releases some and forgets some. Returns those to delete."""
        dawdle = self.chance.random()
        if dawdle < 0.15:
            time.sleep(self.chance.uniform(0, retry_after + 1.2 if dawdle < 0.04 else 0.2))
        rest = []
        for job in jobs:
            if self.rare(0.04):
                delay = self.chance.choice((0, self.chance.randint(1, 1500)))
                begin = now_ms()
                again = second(begin + delay) if delay else begin
                self.note(f"releasing {key(job)} {begin} {again}")
                status, _ = self.call("release", partial(job.release, delay / 1000))
                self.note(*self.settled("released", status, key(job)))
            elif not self.rare(0.01):
                rest.append(job)
        return rest

    def delete(self, jobs: list[Job]) -> None:
        begin = now_ms()
        self.note(*(f"deleting {key(job)} {begin} -" for job in jobs))
        if self.rare(0.8):
            status, done = self.call("delete", partial(self.queue.delete_many, jobs))
            for job, ok in zip(jobs, done or [True] * len(jobs), strict=True):
                self.note(*self.settled("deleted", status if ok else LEASE_LOST, key(job)))
            return
        for job in jobs:
            status, _ = self.call("delete", job.delete)
            self.note(*self.settled("deleted", status, key(job)))

    # ---- The agent ----

    def move(self) -> None:
        while not self.stopped():
            end = time.monotonic() + self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 5.0))
            if self.rare(0.5):
                wait = max(0.0, end - time.monotonic())
                self.call("migrate", partial(self.queue.migrate, wait, self.chance.randint(1, 200)))
            else:
                self.call("migrate", partial(self.queue.run_migrate, partial(self.over, end)))
            self.note("empty")

    def over(self, end: float) -> bool:
        return self.stopped() or time.monotonic() > end


def key(job: Job) -> str:
    return f"{job.data['mark']} {job.attempts}"


def main() -> None:
    role, ledger, url, queue, number, seed, rate, stop = sys.argv[1:]
    worker = Worker(ledger, url, queue, number, seed, stop)
    if role == "produce":
        worker.produce(float(rate))
    elif role == "move":
        worker.move()
    else:
        worker.consume(role == "drain")


if __name__ == "__main__":
    main()
