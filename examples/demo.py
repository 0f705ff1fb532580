"""
The demo: an evening of a web shop in half a minute, in which a working worker is killed.

python demo.py [short]

Every order must be paid within half an hour; after that it is cancelled. A Python producer
schedules the deadlines, and takes back those of paid orders. Two PHP workers and a Python worker
cancel the other orders. They share a queue on an embedded server, and each writes a ledger of its
steps. At the end the ledgers are compared with the shop's export: nothing may be lost, doubled or
early.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from judge import Entry, Verdict, judge

import dueq

HERE = Path(__file__).resolve().parent
ORDERS = HERE / "orders.csv"
RUNS = HERE.parent / "build" / "demo"
CROWD_DUE = 9900.0  # shop seconds after opening: many deadlines at once
PATIENCE = 120.0  # seconds after which the demo ends, whatever is not done


class Player:
    """The producer or a worker: a process and its ledger, a file in `folder`."""

    def __init__(self, folder: Path, name: str, *command: str | Path) -> None:
        self.name = name
        self.path = folder / f"{name}.jsonl"
        self.path.touch()
        self.log = self.path.with_suffix(".log")
        self.entries: list[Entry] = []
        self._file = self.path.open("rb")
        self._rest = b""
        words = [str(word) if word != "LEDGER" else str(self.path) for word in command]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def read(self) -> None:
        """Adds the lines that were written since the last call to `entries`."""
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        self.entries += [json.loads(line) for line in lines]

    def in_work(self) -> list[Entry]:
        """The deliveries that were taken and are not settled yet."""
        open_: dict[tuple[str, int], Entry] = {}
        for entry in self.entries:
            key = entry["order"], entry["delivery"]
            if entry["what"] == "taken":
                open_[key] = entry
            else:
                open_.pop(key, None)
        return list(open_.values())

    def stopped(self) -> bool:
        status = Path(f"/proc/{self.process.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] in "TZ"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._file.close()


def shoot(victim: Player, queue: dueq.Queue, at_least: int) -> int:
    """
    Kills the worker with SIGKILL if at least `at_least` messages are leased to it. Returns how many
    were; 0: the worker was not killed.

    The worker is stopped first. Then the server says whether all messages that are open in the
    worker's ledger are still leased to it: a message that it acknowledged, but could not write
    down, would count as lost.
    """
    victim.read()
    if len(victim.in_work()) < at_least:
        return 0
    victim.process.send_signal(signal.SIGSTOP)
    while not victim.stopped():
        time.sleep(0.001)
    victim.read()
    queue.stats()  # when this is answered, the server has run all requests of the victim
    held = 0
    unanswered = victim.in_work()
    for entry in unanswered:
        message = queue.find(entry["order"])
        if message and message.state == "leased" and message.deliveries == entry["delivery"]:
            held += 1
    if held < max(at_least, len(unanswered)):
        victim.process.send_signal(signal.SIGCONT)
        return 0
    victim.kill()
    return held


def count(entries: list[Entry]) -> Counter[str]:
    return Counter(entry["what"] for entry in entries)


class Progress:
    """Shows one line: on a terminal it is updated in place, elsewhere it is printed every 4 s."""

    def __init__(self, begin: float, orders: int) -> None:
        self.begin, self.orders = begin, orders
        self.live = sys.stdout.isatty()
        self.next = begin

    def show(self, entries: list[Entry], stats: dueq.Stats) -> None:
        now = time.time()
        if now < self.next:
            return
        self.next = now + (0.2 if self.live else 4.0)
        c = count(entries)
        filled = round(20 * c["scheduled"] / self.orders)
        text = (
            f"{max(0.0, now - self.begin):5.1f} s  [{'#' * filled}{'.' * (20 - filled)}]"
            f"  scheduled {c['scheduled']:4}  paid {c['paid']:4}  cancelled {c['cancelled']:3}"
            f"  retried {c['retried']:2}  waiting {stats.delayed + stats.ready:3}"
        )
        print(f"\r{text}" if self.live else text, end="" if self.live else "\n", flush=True)

    def say(self, text: str) -> None:
        print(f"\r{text:<96}" if self.live else text, flush=True)


class Evening:
    """The evening: its processes, their ledgers, and the faults that are not in the ledgers."""

    def __init__(
        self, queue: dueq.Queue, cast: list[Player], start: float, speed: float, orders: int
    ) -> None:
        self.queue, self.cast, self.start = queue, cast, start
        self.producer, self.victim, *self.others = cast
        self.crowd_due = start + CROWD_DUE / speed
        self.shot = False
        self.faults: list[str] = []
        self.progress = Progress(start, orders)

    def run(self) -> None:
        while not self.over():
            hunting = not self.shot and time.time() > self.crowd_due - 2
            if hunting:
                self.hunt()
            time.sleep(0.002 if hunting else 0.05)
        for worker in self.others:
            worker.process.terminate()
            worker.process.wait(10)
        self.read()
        self.progress.say("")
        self.check()

    def over(self) -> bool:
        self.read()
        stats = self.queue.stats()
        self.progress.show(self.entries(), stats)
        for player in self.cast:
            if player.process.poll() and not (self.shot and player is self.victim):
                self.faults.append(f"{player.name} ended: {player.log.read_text().strip()[-500:]}")
        if time.time() > self.start + PATIENCE:
            self.faults.append(f"not finished in {PATIENCE:.0f} s: {stats}")
        done = self.producer.process.poll() == 0
        left = stats.ready + stats.delayed + stats.leased
        noted = not any(worker.in_work() for worker in self.others)
        return bool(self.faults) or (done and left == 0 and noted)

    def hunt(self) -> None:
        # While the crowd's deadlines pass, the worker has several messages at once. A second later
        # one message is enough.
        now = time.time()
        held = shoot(self.victim, self.queue, 2 if now < self.crowd_due + 1 else 1)
        if held:
            self.shot = True
            self.progress.say(
                f"{now - self.start:5.1f} s  kill -9 {self.victim.name}, which holds {held}"
            )

    def read(self) -> None:
        for player in self.cast:
            player.read()

    def entries(self) -> list[Entry]:
        return [entry for player in self.cast for entry in player.entries]

    def check(self) -> None:
        if not self.shot:
            self.faults.append("no worker was killed: none was met in mid-work")
        stats = self.queue.stats()
        told = count(self.entries())
        if (stats.acked, stats.dead) != (told["cancelled"], told["exhausted"]):
            self.faults.append(f"the server: {stats}; the ledgers: {told}")


def play(speed: float, orders: int, folder: Path) -> tuple[list[Entry], list[str]]:
    """Runs the evening with its ledgers in `folder`; returns all their entries and the faults."""
    queue = dueq.Queue("deadlines")
    queue.stats()
    start = time.time() + 0.5
    producing = (sys.executable, HERE / "producer.py", ORDERS, "LEDGER", str(speed), str(start))
    with (
        Player(folder, "producer", *producing) as producer,
        Player(folder, "php-1", "php", HERE / "worker.php", "LEDGER") as victim,
        Player(folder, "php-2", "php", HERE / "worker.php", "LEDGER") as php,
        Player(folder, "python-1", sys.executable, HERE / "worker.py", "LEDGER") as python,
    ):
        evening = Evening(queue, [producer, victim, php, python], start, speed, orders)
        evening.run()
        return evening.entries(), evening.faults


def table(verdict: Verdict) -> str:
    def row(name: str, value: object, meaning: str) -> str:
        return f"  {name:<14}{value!s:>8}   {meaning}"

    def fault(name: str, orders: list[str], meaning: str) -> str:
        return row(name, len(orders), " ".join(orders[:8]) if orders else meaning)

    return "\n".join(
        [
            row("scheduled", verdict.scheduled, "orders, each with its payment deadline"),
            row("paid in time", verdict.paid, "the payment took the deadline back"),
            row("cancelled", verdict.cancelled, "a worker cancelled the order"),
            row("retried", verdict.retried, "a handler failed and the message was tried again"),
            row("exhausted", verdict.exhausted, "failed at every attempt and is dead"),
            row("redelivered", verdict.redelivered, "came back from the killed worker"),
            row("late, p50", f"{verdict.late_ms(0.5)} ms", "from the deadline to a worker's hands"),
            row("late, p99", f"{verdict.late_ms(0.99)} ms", ""),
            row("late, max", f"{verdict.late_ms(1)} ms", ""),
            fault("lost", verdict.lost, "neither paid, nor cancelled, nor exhausted"),
            fault("doubled", verdict.doubled, "ended twice, or held by two workers at once"),
            fault("early", verdict.early, "taken before it was due, by the server's clock"),
        ]
    )


def main() -> int:
    speed = 1200.0 if sys.argv[1:] == ["short"] else 600.0
    with ORDERS.open(encoding="utf-8", newline="") as file:
        orders = list(csv.DictReader(file))
    RUNS.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=RUNS))
    with tempfile.TemporaryDirectory(prefix="dueq-demo-") as directory:
        os.environ["DUEQ_URL"] = f"embedded:{directory}"
        print(
            f"{len(orders)} orders of one evening, {speed:.0f} times as fast."
            f" 2 PHP workers, 1 Python worker. DUEQ_URL={os.environ['DUEQ_URL']}"
        )
        begin = time.monotonic()
        entries, faults = play(speed, len(orders), folder)
        print(f"  {'the evening':<28} {time.monotonic() - begin:5.1f} s")
    verdict = judge(orders, entries)
    print(table(verdict))
    for fault in faults:
        print(f"FAULT: {fault}")
    if not verdict.faultless() or faults:
        print(f"The ledgers are in {folder}")
    else:
        shutil.rmtree(folder)
    print(verdict.line())
    return int(bool(faults) or not verdict.faultless())


if __name__ == "__main__":
    sys.exit(main())
