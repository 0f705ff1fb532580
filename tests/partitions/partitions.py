"""
Consumers of one queue of partitions are killed, end and join at random, while the number of
partitions is doubled. Each message says its key, or its group, and its number; a ledger says what
was begun when.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import dueq
from private_server import Server

KEYS = 200
LEASE = 2.0


def consume(url: str, partitions: int, ledger: str) -> None:
    """A consumer in a process of its own, which writes a line before each message's work."""
    file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with dueq.Queue("orders", url, partitions=partitions) as queue:
        consumer = queue.consume(lease=LEASE)
        signal.signal(signal.SIGTERM, lambda *_: consumer.stop())
        for message in consumer:
            with message:
                line = f"{message.body.decode()} {time.monotonic()} {message.deliveries}\n"
                os.write(file, line.encode())
                time.sleep(random.random() / 500)


class Run:
    """What goes on, and how often what was done."""

    def __init__(self, server: Server, options: argparse.Namespace, ledger: str) -> None:
        self.url = server.url
        self.partitions: int = options.partitions
        self.most: int = options.consumers
        self.groups: bool = options.groups
        self.ledger = ledger
        self.consumers: list[subprocess.Popen[bytes]] = []
        self.grown = False
        self.counts = {"killed": 0, "left": 0, "joined": 0}
        self.pushed: dict[int, list[float]] = defaultdict(list)

    def join(self) -> None:
        command = [sys.executable, __file__, "--consume", self.url]
        command += ["--partitions", str(self.partitions), "--ledger", self.ledger]
        self.consumers.append(subprocess.Popen(command))
        self.counts["joined"] += 1

    def lose(self) -> None:
        """One is killed, or told to end."""
        killed = random.random() < 0.6
        chosen = self.consumers.pop(random.randrange(len(self.consumers)))
        chosen.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
        chosen.wait()
        self.counts["killed" if killed else "left"] += 1

    def change(self) -> None:
        if len(self.consumers) > 1 and (len(self.consumers) >= self.most or random.random() < 0.5):
            self.lose()
        else:
            self.join()

    def push(self, queue: dueq.Queue) -> None:
        """A message each of some keys, or groups, in one call."""
        drafts = []
        for key in random.sample(range(KEYS), 10):
            draft = dueq.Draft(f"{key} {len(self.pushed[key])}")
            name = f"customer-{key}"
            drafts.append(replace(draft, group=name) if self.groups else replace(draft, key=name))
            self.pushed[key].append(time.monotonic())
        queue.push_many(drafts)

    def messages(self) -> int:
        return sum(map(len, self.pushed.values()))

    def end(self) -> None:
        for each in self.consumers:
            each.send_signal(signal.SIGTERM)
        for each in self.consumers:
            each.wait()


def judge(run: Run) -> dict[str, float]:
    """
    What the ledger says. Of a key none is begun before all that were pushed before it. Of a group
    none is delivered for the first time behind one that was pushed after it.
    """
    last: dict[int, int] = defaultdict(lambda: -1)
    first: dict[tuple[int, int], float] = {}
    doubled = wrong = 0
    for line in Path(run.ledger).read_text(encoding="ascii").splitlines():
        key, number, at, deliveries = line.split()
        place = (int(key), int(number))
        if place in first:
            doubled += 1
        first.setdefault(place, float(at))
        before = last[place[0]]
        late = run.groups and place[1] < before and deliveries == "1"
        if late or (not run.groups and place[1] not in (before, before + 1)):
            wrong += 1
            print(f"{key}: {number} was begun after {before}")
        last[place[0]] = max(place[1], before) if run.groups else place[1]
    pushed = {(key, i): at for key, times in run.pushed.items() for i, at in enumerate(times)}
    lost = len(pushed.keys() - first.keys())
    gap = max((at - pushed[place] for place, at in first.items()), default=0.0)
    return {"lost": lost, "doubled": doubled, "out_of_order": wrong, "longest_gap_s": round(gap, 1)}


def drained(queue: dueq.Queue) -> bool:
    stats = queue.stats()
    return not stats.ready + stats.leased


def storm(run: Run, seconds: float, server: Server) -> None:
    """Consumers come and go for a time; then what is left is worked off."""
    begin = time.monotonic()
    change = begin + 1
    grower: subprocess.Popen[bytes] | None = None
    for _ in range(run.most // 2 or 1):
        run.join()
    with dueq.Queue("orders", run.url, partitions=run.partitions) as queue:
        while (now := time.monotonic()) < begin + seconds:
            run.push(queue)
            if now > change:
                run.change()
                change = now + random.uniform(0.2, 1.5)
            if grower is None and now > begin + seconds / 3:
                command = ["dueq", "repartition", "orders", "--to", str(2 * run.partitions)]
                command += ["--url", f"{run.url}?timeout=1s"]
                grower = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(0.02)
        limit = time.monotonic() + 30
        while time.monotonic() < limit and not (drained(queue) and grower and grower.poll() == 0):
            time.sleep(0.2)
        run.grown = grower is not None and grower.poll() == 0
        if grower and grower.poll() is None:
            grower.kill()
    run.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev partitions", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--partitions", type=int, default=64, help="at first (default: 64)")
    parser.add_argument("--consumers", type=int, default=6, help="at most at a time (default: 6)")
    parser.add_argument("--groups", action="store_true", help="messages have groups, not keys")
    parser.add_argument("--consume", help=argparse.SUPPRESS)
    parser.add_argument("--ledger", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.consume:
        consume(options.consume, options.partitions, options.ledger)
        return 0
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        run = Run(server, options, f"{folder}/ledger")
        storm(run, options.seconds, server)
        found = judge(run)
    numbers = {"consumers": options.consumers, **run.counts, "messages": run.messages(), **found}
    words = " ".join(f"{name}={number}" for name, number in numbers.items())
    print(f"partitions={options.partitions * (1 + run.grown)} {words}")
    return int(bool(found["lost"] or found["out_of_order"] or not run.grown))


if __name__ == "__main__":
    sys.exit(main())
