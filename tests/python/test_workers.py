"""Who consumes a queue, and what each holds."""

import asyncio
import os
import platform
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

import dueq
from dueq import aio
from moments import seconds_between
from private_server import Server

TEXT = "17 2 5000 1 1\nhöst\npython 3.12.4\n0.1.0\n"


def register(server: Server, queue: str, session: str | bytes, says: str | bytes) -> None:
    server.command("ZADD", f"dueq:{{{queue}}}:consumers", "5", session)
    server.command("HSET", f"dueq:{{{queue}}}:described", session, says)


def awaited(queue: dueq.Queue) -> list[dueq.WorkerInfo]:
    until = time.monotonic() + 30
    while not (workers := queue.workers()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return workers


def test_workers_of_no_queue(queue: dueq.Queue) -> None:
    assert queue.workers() == []


def test_worker_that_works(queue: dueq.Queue, server: Server) -> None:
    begin = datetime.now(UTC) - timedelta(seconds=5)
    queue.push_many(["a", "b", "c"])
    consumer = queue.consume(prefetch=2, concurrency=3, timeout=0, tasks="charge\nship")
    for message in consumer:
        with message:
            [worker] = awaited(queue)
            assert (worker.host, worker.pid) == (socket.gethostname(), os.getpid())
            assert worker.program == f"python {platform.python_version()}"
            assert (worker.version, worker.slots) == (dueq.__version__, 3)
            assert worker.tasks == "charge\nship"
            assert (worker.leased, worker.running, worker.offline) == (2, 1, False)
            assert begin < worker.since < worker.seen <= worker.now < worker.until
            first, second = worker.leases
            assert (first.id, first.ticket) == (message.id, message.ticket)
            assert (first.running, second.running) == (True, False)
            assert (first.partition, second.partition) == (None, None)
            assert worker.since <= second.since <= first.since
            assert seconds_between(first.since, worker.seen) >= 1
            assert worker._asdict()["leases"][0]["id"] == message.id
        break
    consumer.close()
    assert queue.workers() == []


def test_worker_that_waits(queue: dueq.Queue) -> None:
    async def main() -> list[dueq.WorkerInfo]:
        async with aio.Queue(queue.name, queue.url) as own:
            async with own.consume() as consumer:
                waiting = asyncio.ensure_future(anext(aiter(consumer)))
                while not (workers := await own.workers()):
                    await asyncio.sleep(0.05)
                waiting.cancel()
            assert await own.workers() == []
            return workers

    [worker] = asyncio.run(asyncio.wait_for(main(), 30))
    assert (worker.leased, worker.running, worker.leases, worker.tasks) == (0, 0, (), "")


WORKER = """
import sys
import dueq
for _ in dueq.Queue(*sys.argv[1:]).consume():
    pass
"""


def test_worker_that_is_killed_is_offline(queue: dueq.Queue, server: Server) -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER, queue.name, server.url]) as process:
        try:
            [worker] = awaited(queue)
        finally:
            process.kill()
    assert (worker.pid, worker.offline) == (process.pid, False)
    server.command("ZINCRBY", f"dueq:{{{queue.name}}}:consumers", "-60000", worker.session)
    [worker] = queue.workers()
    assert worker.offline


@pytest.mark.parametrize(
    "says",
    ["", "x", "5 60000 17", b"5 60000 17 2 5 1 1\nh\xff\nc\n0\n", f"5 60000 {TEXT}1 1 0 none\n"],
)
def test_worker_that_cannot_be_read(queue: dueq.Queue, server: Server, says: str | bytes) -> None:
    register(server, queue.name, "bad", says)
    register(server, queue.name, b"\xff", f"5 60000 {TEXT}")
    register(server, queue.name, "good", f"5 60000 {TEXT}9 1 8 0:x\n")
    [worker] = queue.workers()
    assert (worker.session, worker.host, worker.leases[0].partition) == ("good", "höst", 7)


def test_workers_of_several_pages(queue: dueq.Queue, server: Server) -> None:
    for number in range(401):
        register(server, queue.name, f"session-{number}", f"5 60000 {TEXT}")
    assert len({worker.session for worker in queue.workers()}) == 401
