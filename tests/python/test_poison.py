"""A message that ends its process again and again dies, and no other message does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dueq
from private_server import Server

SOURCE = Path(__file__).with_name("poison_worker.py")
# The tests wait for the ends of the leases of those that died.
LEASE = 0.4


def start_worker(
    queue: dueq.Queue, server: Server, face: str, *args: str
) -> subprocess.Popen[bytes]:
    """A process that consumes the queue until it dies of it."""
    parts = str(queue.partitions or 0)
    return subprocess.Popen(
        [sys.executable, SOURCE, face, server.url, queue.name, parts, str(LEASE), *args],
        env={**os.environ, "PYTHONFAULTHANDLER": ""},
        stderr=subprocess.DEVNULL,
    )


def ended(queue: dueq.Queue) -> bool:
    counts = queue.stats()
    return counts.acked + counts.died == counts.pushed


def consume(
    queue: dueq.Queue,
    server: Server,
    *,
    face: str = "blocking",
    processes: int = 1,
    prefetch: int = 20,
    threads: int = 1,
    pause: float = 0,
) -> None:
    """Starts processes anew as they die, until every message has come to its end."""
    args = (face, str(prefetch), str(threads), str(pause))
    running = [start_worker(queue, server, *args) for _ in range(processes)]
    until = time.monotonic() + 60
    try:
        while not ended(queue) and time.monotonic() < until:
            running = [
                each if each.poll() is None else start_worker(queue, server, *args)
                for each in running
            ]
            time.sleep(0.02)
    finally:
        for each in running:
            each.kill()
            each.wait()


def push(
    queue: dueq.Queue, healthy: int, how: str, max_crashes: int = 3, drop: bool = False
) -> None:
    """A poison in the midst of healthy messages; each waits a moment after its second crash."""
    pause = dueq.Backoff("fixed", base=0.05)

    def draft(body: str, id: str | None = None) -> dueq.Draft:
        return dueq.Draft(body, id=id, backoff=pause, max_crashes=max_crashes, drop=drop)

    drafts = [draft("healthy") for _ in range(healthy)]
    drafts.insert(healthy // 3, draft(how, id="poison"))
    queue.push_many(drafts)


def crashes(queue: dueq.Queue) -> int:
    """The most that a message has but for the poison."""
    seen: dict[str, int] = {}
    for failure in queue.failures():
        if failure.kind == "crashed" and failure.id != "poison":
            seen[failure.id] = seen.get(failure.id, 0) + 1
    return max(seen.values(), default=0)


@pytest.mark.parametrize(
    ("face", "prefetch", "how", "max_crashes"),
    [
        ("blocking", 1, "kill", 3),
        ("blocking", 5, "memory", 3),
        ("blocking", 20, "segfault", 5),
        ("blocking", 100, "kill", 3),
        ("aio", 20, "segfault", 3),
    ],
)
def test_one_poison_kills_no_other(
    queue: dueq.Queue, server: Server, face: str, prefetch: int, how: str, max_crashes: int
) -> None:
    push(queue, 30, how, max_crashes)
    consume(queue, server, face=face, prefetch=prefetch)
    counts = queue.stats()
    assert (counts.dead, counts.acked) == (1, 30)
    poison = queue.find("poison")
    assert poison
    assert (poison.state, poison.crashes) == ("dead", max_crashes)
    assert crashes(queue) <= 1


def test_one_poison_drops_no_other(queue: dueq.Queue, server: Server) -> None:
    push(queue, 30, "kill", drop=True)
    consume(queue, server)
    counts = queue.stats()
    assert (counts.died, counts.dead, counts.acked) == (1, 0, 30)


def test_one_poison_kills_none_in_other_processes(queue: dueq.Queue, server: Server) -> None:
    push(queue, 30, "kill")
    consume(queue, server, processes=3, pause=0.02)
    counts = queue.stats()
    assert (counts.dead, counts.acked) == (1, 30)
    assert crashes(queue) <= 1


def test_one_poison_kills_none_in_other_threads(queue: dueq.Queue, server: Server) -> None:
    """They run longer than the poison, so that its crashes meet all that run beside it."""
    push(queue, 8, "segfault")
    consume(queue, server, threads=4, prefetch=3, pause=0.4)
    counts = queue.stats()
    assert (counts.dead, counts.acked) == (1, 8)


def test_one_poison_kills_none_in_partitions(server: Server) -> None:
    """Each death of a consumer costs its partitions their leases, so two are enough here."""
    with dueq.Queue("poisoned", server.url, partitions=2) as queue:
        for number, key in enumerate("abcdefgh"):
            poison = number == 1
            queue.push(
                "kill" if poison else "healthy",
                id="poison" if poison else f"healthy-{number}",
                key=key,
                max_crashes=2,
            )
        consume(queue, server, prefetch=5)
        counts = queue.stats()
        assert (counts.dead, counts.acked) == (1, 7)
        assert crashes(queue) <= 1


def test_crashed_message_of_a_partition_waits_for_no_backoff(server: Server) -> None:
    """Those behind it wait for it, so that the order stays."""
    with dueq.Queue("line", server.url, partitions=1) as queue:
        queue.push("a", backoff=3600)
        queue.push("b")
        for crashes in range(4):
            # A lease that nobody extends ends as that of a dead process does.
            loop = iter(queue.consume(5, lease=0.2, max_run=None))
            message = next(loop)
            assert (message.body, message.crashes) == (b"a", crashes)
        message.ack()
        assert next(loop).body == b"b"
