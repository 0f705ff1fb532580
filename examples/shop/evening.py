"""
An evening in the shop: customers order, and look at the pages of their orders, while workers are
deployed and killed.

python evening.py [--seconds N]

Starts the front, the workers and the customers. In turn, replaces front and workers by a new
release (SIGTERM), kills the PHP worker, and kills the Python worker (kill -9, in the middle of a
job). At the end audit.py compares the order book with the queues.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from itertools import count, cycle
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import book
from audit import SLOTS, Book, Verdict, audit

import dueq

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/shop"
QUEUES = ("payments", "parcels", "orders", "reports")
ORDERS_A_SECOND = 15
ACT_S = 4.0  # from one deploy or kill to the next
PATIENCE_S = 90.0

OPTIONS = ["--concurrency", str(SLOTS), "--log", "json"]
COMMANDS = {
    "python": ["dueq-worker", "tasks:app", *OPTIONS],
    "php": [str(BUILD / "vendor/bin/dueq-worker"), "worker.php", *OPTIONS],
}


class Process:
    """A process of the shop, with all that it starts. Its output goes to a file in `folder`."""

    def __init__(
        self, name: str, folder: Path, command: list[str], descriptors: tuple[int, ...] = ()
    ) -> None:
        self.name = name
        with (folder / f"{name}.log").open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=HERE,
                env={**os.environ, "SHOP_WORKER": name},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=descriptors,
                start_new_session=True,
            )

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self) -> int:
        return self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Shop:
    """The processes of the shop, and its order book."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.book = Book()
        self.release = 0
        self.front: Process
        self.workers: dict[str, Process] = {}
        self.processes: list[Process] = []
        self.queues = {name: dueq.Queue(name) for name in QUEUES}
        self.closing = threading.Event()
        self.closed = threading.Event()
        # All fronts share this socket: a customer who connects while the front is replaced has to
        # wait, but is served.
        self.door = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.address: tuple[str, int] = self.door.getsockname()
        self._numbers = count(1)
        self._begin = time.monotonic()
        self._read = 0
        self._customers = threading.Thread(target=self.order)
        self._ordered: SimpleQueue[str | None] = SimpleQueue()
        self._readers = threading.Thread(target=self.read_pages)

    def open(self) -> None:
        self.front = self.new_front()
        for language in COMMANDS:
            self.start(language)
        self._customers.start()
        self._readers.start()

    def __enter__(self) -> Shop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self.closed.set()
        self._ordered.put(None)
        for process in self.processes:
            process.kill()
        for thread in (self._customers, self._readers):
            if thread.is_alive():
                thread.join()
        self.door.close()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._begin:5.1f} s  {text}", flush=True)

    def read(self) -> Book:
        """The order book as it is now."""
        with open(os.environ["SHOP_BOOK"], "rb") as file:
            file.seek(self._read)
            written = file.read()
        lines = written[: written.rfind(b"\n") + 1]
        self._read += len(lines)
        for line in lines.splitlines():
            self.book.add(json.loads(line))
        return self.book

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Waits until `holds` returns true. what: the text of the error after PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}, for {PATIENCE_S:g} s; {self.stats()}")
            time.sleep(0.002)

    def stats(self) -> list[dueq.Stats]:
        return [queue.stats() for queue in self.queues.values()]

    def new_front(self) -> Process:
        door = self.door.fileno()
        command = [sys.executable, "-m", "uvicorn", "front:shop", "--fd", str(door)]
        command += ["--log-level", "warning"]
        return self.process("front", command, door)

    def start(self, language: str) -> None:
        """Starts a new worker, which replaces that of the same language."""
        worker = self.process(language, COMMANDS[language])
        book.write("starts", worker=worker.name, release=self.release)
        self.workers[language] = worker

    def process(self, kind: str, command: list[str], *descriptors: int) -> Process:
        name = f"{kind}-{next(self._numbers)}"
        self.processes.append(Process(name, self.folder, command, descriptors))
        return self.processes[-1]

    def stop(self, worker: Process) -> None:
        code = worker.wait()
        book.write("stopped", worker=worker.name, code=code)
        if code != 0:
            raise RuntimeError(f"{worker.name} ended with {code}")

    def order(self) -> None:
        """The customers: they order, and repeat an order that got no answer."""
        for number in count(1):
            order = {"number": f"order-{number}", "cents": 1000 + number, "parcels": number % 3 + 1}
            while not self.closing.wait(1 / ORDERS_A_SECOND):
                status, _ = self.ask("POST", "/orders", json.dumps(order))
                if status == 202:
                    self._ordered.put(f"order-{number}")
                    break
            else:
                return

    def read_pages(self) -> None:
        """They look at the page of each order until it has the receipt, or no order."""
        for order in iter(self._ordered.get, None):
            while not self.closed.is_set():
                status, page = self.ask("GET", f"/orders/{order}")
                if status == 404:
                    break
                if status == 200 and page["receipt"]:
                    book.write("receipt", id=order, receipt=page["receipt"])
                    break
                self.closed.wait(1 / ORDERS_A_SECOND)

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, Any]:
        """The status, and of a success the JSON, that the front answers. 0: it does not answer."""
        connection = HTTPConnection(*self.address, timeout=10)
        with closing(connection), suppress(OSError, HTTPException):
            connection.request(method, path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.load(answer) if answer.status < 300 else None
        return 0, None

    def wait_for_work(self) -> None:
        """Returns when each worker has done a job."""
        names = {worker.name for worker in self.workers.values()}
        self.until(
            lambda: names <= {run.begin["worker"] for run in self.read().runs if run.how == "done"},
            f"not all of {', '.join(names)} work",
        )

    def deploy(self) -> None:
        """Starts a new release of front and workers, then stops the old one."""
        old, front = list(self.workers.values()), self.front
        self.release += 1
        self.front = self.new_front()
        for language in COMMANDS:
            self.start(language)
        for process in (front, *old):
            process.terminate()
        front.wait()
        for worker in old:
            self.stop(worker)
        names = " and ".join(worker.name for worker in old)
        self.say(f"deploy {self.release}: SIGTERM to {names}, which ended with 0")

    def kill(self, language: str) -> None:
        """Kills a worker in the middle of a job (kill -9), and starts another one."""
        victim = self.workers[language]
        self.until(lambda: self.cut(victim), f"{victim.name} has nothing to do")
        victim.kill()
        book.write("killed", worker=victim.name)
        cut = self.cut(victim)
        self.start(language)
        self.say(f"kill -9 {victim.name}, in the middle of {' and '.join(cut) or 'nothing'}")
        if not cut:
            self.wait_for_work()
            self.kill(language)

    def cut(self, worker: Process) -> list[str]:
        """The jobs that a worker has begun and not ended."""
        runs = self.read().last_runs(worker.name)
        return [f"{run.begin['task']} {run.begin['id']}" for run in runs if not run.end]

    def close(self) -> None:
        """Ends orders and reports, and waits until all work is done."""
        self.closing.set()
        self._customers.join()
        reports = self.queues["reports"]

        def next_report() -> float:
            schedule = reports.find("schedule:report")
            return float(schedule.headers["time"]) if schedule else 0.0

        self.until(lambda: next_report() > time.time() * 1000, "the schedule is behind")
        book.write("closed", next=int(next_report()))
        reports.cancel("schedule:report")
        self.say("no more orders; what is left is done")
        self.until(
            lambda: not any(s.ready + s.delayed + s.leased + s.outbox for s in self.stats()),
            "not all is done",
        )
        self._ordered.put(None)
        self.until(lambda: not self._readers.is_alive(), "not all orders have a receipt")
        self.front.terminate()
        for worker in self.workers.values():
            worker.terminate()
        for worker in self.workers.values():
            self.stop(worker)
        self.read()


def run(folder: Path, seconds: float) -> Verdict:
    """Runs the evening, with its order book and its logs in `folder`."""
    with Shop(folder) as shop:
        shop.open()
        print("The shop is at http://{}:{}/docs for {:g} s".format(*shop.address, seconds))
        begin = time.monotonic()
        acts: list[Callable[[], None]] = [
            shop.deploy,
            lambda: shop.kill("php"),
            lambda: shop.kill("python"),
        ]
        for number, act in enumerate(cycle(acts), 1):
            shop.wait_for_work()
            if number * ACT_S >= seconds and number > 3:
                break
            time.sleep(max(0.0, begin + number * ACT_S - time.monotonic()))
            act()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        shop.close()
        stats = shop.stats()
        return audit(shop.book, sum(s.retried for s in stats), sum(s.died for s in stats))


def main() -> int:
    arguments = argparse.ArgumentParser(prog="./dev shop")
    arguments.add_argument("--seconds", type=float, default=20, help="how long customers order")
    seconds = arguments.parse_args().seconds
    (BUILD / "runs").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=BUILD / "runs"))
    (folder / "book.jsonl").touch()
    os.environ["SHOP_BOOK"] = str(folder / "book.jsonl")
    print(f"The order book and the logs are in {folder}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("SIGTERM"))
    with tempfile.TemporaryDirectory(prefix="dueq-shop-") as directory:
        os.environ["DUEQ_URL"] = f"embedded:{directory}"
        verdict = run(folder, seconds)
    faults = verdict.faults()
    for fault in faults[:20]:
        print(f"FAULT: {fault}")
    if not faults:
        shutil.rmtree(folder)
    print(
        f"{verdict.failures} times the bank did not answer;"
        f" {verdict.again} jobs of killed workers came again"
    )
    print(verdict.line())
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
