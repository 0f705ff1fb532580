"""Workers whose server goes away for longer than a lease, and whose jobs are not to run twice.

    python tests/topology/outage.py [--way kill|stop|partition|failover] [--away SECONDS] [--jobs N]

holds so many jobs, by default 100 by leases of 8 s, takes the server away for so long, by default
60 s, and prints how many jobs ran twice. While it is away one worker dies. The exit code is 1 where
a job ran twice, and where those of the dead worker are not with another one 20 s after the return.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import dueq
from node import HOST, Member
from private_server import free_port
from proxy import Proxy
from sentinel import Peer, Watched

NAME = "jobs"
KEPT = ("--appendonly", "yes", "--appendfsync", "always")
TAKEN_OVER_S = 20  # after the return

# Each slot has a consumer of its own. What a job is to wait for is a file.
WORKER = """
import logging, os, sys, threading, time
import dueq
name, url, lease, slots, go = sys.argv[1:]
logging.disable()
def work():
    queue = dueq.Queue(name, url)
    while True:
        try:
            for message in queue.consume(lease=float(lease) or None):
                with message:
                    os.write(1, message.body + b"\\n")
                    while not os.path.exists(go):
                        time.sleep(0.02)
        except dueq.Error:
            time.sleep(0.1)
for _ in range(int(slots)):
    threading.Thread(target=work, daemon=True).start()
sys.stdin.read()
"""


class Fleet:
    """Worker processes, and which jobs they began, each time."""

    def __init__(self, url: str, lease: float, go: Path) -> None:
        self._words = [NAME, url, str(lease)]
        self._go = go
        self._stack = ExitStack()
        self.begun = Counter[str]()
        self._changed = threading.Condition()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, slots: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", WORKER, *self._words, str(slots), str(self._go)]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        reader = threading.Thread(target=self._read, args=(process,))
        self._stack.callback(reader.join)
        self._stack.callback(process.kill)
        reader.start()
        return process

    def _read(self, process: subprocess.Popen[str]) -> None:
        with process:
            assert process.stdout
            for line in process.stdout:
                with self._changed:
                    self.begun[line.strip()] += 1
                    self._changed.notify_all()

    def wait(self, met: Callable[[Counter[str]], bool], seconds: float) -> bool:
        """Until what was begun is so; False: it was not by then."""
        with self._changed:
            return self._changed.wait_for(lambda: met(self.begun), seconds)


class Away:
    """A server, how it goes away, and how it returns."""

    def __init__(self, url: str, go: Callable[[], None], come: Callable[[], None]) -> None:
        self.url, self.go, self.come = url, go, come


@contextmanager
def away(way: str, seconds: float) -> Iterator[Away]:
    """failover: sentinels take the primary for down when it was away for so long."""
    with ExitStack() as stack:
        if way == "failover":
            watched = stack.enter_context(Watched(*KEPT, down_ms=int(1000 * seconds)))
            old = watched.in_step_primary()
            yield Away(watched.url, old.stop, lambda: awaits(watched, old))
            return
        server = stack.enter_context(Peer(*KEPT))
        port = free_port() if way == "partition" else server.port
        if way == "partition":
            proxy = stack.enter_context(Proxy({port: server.port}))
            yield Away(f"redis://{HOST}:{port}", lambda: proxy.hang(port), lambda: proxy.open(port))
        else:
            go, come = (
                (server.stop, server.start) if way == "kill" else (server.freeze, server.thaw)
            )
            yield Away(f"redis://{HOST}:{port}", go, come)


def awaits(watched: Watched, old: Member) -> None:
    deadline = time.monotonic() + 60
    while not watched.is_replaced(old) and time.monotonic() < deadline:  # type: ignore[arg-type]
        time.sleep(0.05)


def outage(way: str, jobs: int, lease: float, seconds: float) -> tuple[list[str], float]:
    """
    Which jobs of living workers ran twice, and how long after the return another worker had that
    of the dead one. Half as many slots as jobs wait all the time.
    """
    with tempfile.TemporaryDirectory() as folder, away(way, seconds) as server:
        go = Path(folder) / "go"
        with dueq.Queue(NAME, server.url) as queue, Fleet(server.url, lease, go) as fleet:
            lost = queue.push("of the dead")
            dead = fleet.start(1)
            assert fleet.wait(lambda begun: begun.total() == 1, 20)
            queue.push_many([str(number) for number in range(jobs)])
            for _ in range(6):
                fleet.start((jobs + 3) // 4)
            assert fleet.wait(lambda begun: begun.total() == 1 + jobs, 60), fleet.begun
            server.go()
            time.sleep(seconds / 2)
            dead.kill()
            time.sleep(seconds / 2)
            server.come()
            returned = time.monotonic()
            fleet.wait(lambda begun: begun["of the dead"] == 2, 2 * TAKEN_OVER_S)
            after = time.monotonic() - returned
            go.touch()
            deadline = time.monotonic() + 60
            while queue.stats().acked < 1 + jobs and time.monotonic() < deadline:
                time.sleep(0.05)
            twice = [name for name, times in fleet.begun.items() if times > 1]
            assert queue.stats().acked == 1 + jobs, queue.stats()
            twice.remove("of the dead")
            crashes = [failure.id for failure in queue.failures() if failure.id != lost]
            assert len(crashes) == len(twice), (crashes, fleet.begun)
            return twice, after


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--way", choices=["kill", "stop", "partition", "failover"], default="kill")
    parser.add_argument("--away", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--lease", type=float, default=0.0, help="seconds; 0: the default")
    words = parser.parse_args()
    twice, after = outage(words.way, words.jobs, words.lease, words.away)
    print(f"{words.way}: away={words.away:g}s jobs={words.jobs} run_twice={len(twice)}", end=" ")
    print(f"of_the_dead_after={after:.1f}s")
    sys.exit(bool(twice) or after > TAKEN_OVER_S)


if __name__ == "__main__":
    main()
