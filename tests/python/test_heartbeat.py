"""The heartbeat, with workers that are blocked, stopped and killed. Leases are scaled down."""

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import dueq
from dueq import aio

LEASE = 0.4  # seconds


def hold_the_gil(seconds: float) -> None:
    """Blocks in a C call, as an extension that computes does: no other Python thread runs."""
    end = time.monotonic() + seconds
    held = ctypes.PyDLL(None)
    while (left := end - time.monotonic()) > 0:
        held.usleep(int(min(left, 0.5) * 1_000_000))


WORKER = """
import sys, time
import dueq
name, url, lease, prefetch = sys.argv[1:]
options = {"lease": float(lease)} if float(lease) else {}
for message in dueq.Queue(name, url).consume(prefetch=int(prefetch), **options):
    print("took", flush=True)
    time.sleep(3600)
"""


@contextmanager
def worker(queue: dueq.Queue, lease: float, prefetch: int = 1) -> Iterator[subprocess.Popen[str]]:
    """A process that has taken a message, and works on it for an hour."""
    words = [sys.executable, "-c", WORKER, queue.name, queue.url, str(lease), str(prefetch)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "took\n"
            yield process
        finally:
            process.kill()


def test_heartbeat_of_a_handler_that_holds_the_gil(queue: dueq.Queue) -> None:
    queue.push("x")
    ran = []
    other = threading.Thread(target=lambda: ran.append(time.monotonic()))
    with queue.consume(lease=LEASE, timeout=0) as consumer:
        for message in consumer:
            with message:
                begin = time.monotonic()
                hold_the_gil(3 * LEASE)
                end = time.monotonic()
                other.start()
                assert queue.reserve() is None
        assert consumer.lost == 0
    other.join()
    assert end - begin >= 3 * LEASE
    assert ran[0] >= end
    stats = queue.stats()
    assert (stats.acked, stats.reserved, stats.leased) == (1, 1, 0)


def test_heartbeat_of_a_handler_that_runs_for_many_leases(queue: dueq.Queue) -> None:
    """A second consumer waits all the time, and gets nothing."""
    queue.push("x")
    with queue.consume(lease=LEASE, timeout=0) as consumer:
        for message in consumer:
            with message:
                assert queue.reserve(timeout=5 * LEASE) is None
    stats = queue.stats()
    assert (stats.acked, stats.reserved, stats.leased) == (1, 1, 0)


def test_heartbeat_keeps_what_is_in_hand(queue: dueq.Queue) -> None:
    """And a stop gives it back as if it had not been delivered."""
    queue.push_many([str(n) for n in range(10)])
    with queue.consume(prefetch=5, lease=LEASE) as consumer:
        for message in consumer:
            with message:
                time.sleep(3 * LEASE)
                assert queue.stats().leased == 5
                break
    left = queue.reserve_many(10)
    assert [message.body for message in left] == [b"%d" % n for n in range(1, 10)]
    assert {message.attempt for message in left} == {1}
    assert {message.crashes for message in left} == {0}
    assert [message.deliveries for message in left] == [2] * 4 + [1] * 5


def test_heartbeat_goes_on_after_the_loop(queue: dueq.Queue) -> None:
    queue.push_many(["a", "b"])
    kept = list(queue.consume(prefetch=2, lease=LEASE, timeout=0))
    assert queue.reserve(timeout=3 * LEASE) is None
    for message in kept:
        message.ack()
    stats = queue.stats()
    assert (stats.acked, stats.reserved) == (2, 2)


def test_heartbeat_ends_with_the_message(queue: dueq.Queue) -> None:
    """Nobody keeps what was settled by another verb; what nobody has any more is given back."""
    queue.push_many(["a", "b"])
    consumer = queue.consume(lease=LEASE, timeout=0)
    for message in consumer:
        if message.body == b"a":
            message.retry(delay=60)
    assert consumer.lost == 0
    del consumer, message
    again = queue.reserve(timeout=10)
    assert again is not None
    assert (again.body, again.crashes) == (b"b", 0)


def test_heartbeat_lets_go_after_max_run(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push("x")
    with queue.consume(lease=LEASE, max_run=3 * LEASE, timeout=0) as consumer:
        for message in consumer:
            with message:
                begin = time.monotonic()
                other = queue.reserve(timeout=None)
                assert 3 * LEASE * 0.9 <= time.monotonic() - begin < 3 * LEASE + 10 * LEASE
                assert (other.attempt, other.crashes) == (1, 1)
            break
        consumer.close()
        assert consumer.lost == 1
    assert f"lost: message {other.id}: " in caplog.text
    other.ack()


def test_heartbeat_is_absent_without_max_run(queue: dueq.Queue) -> None:
    threads = len(os.listdir("/proc/self/task"))
    queue.push("x")
    for message in queue.consume(lease=0.1, max_run=None):
        assert len(os.listdir("/proc/self/task")) == threads
        other = queue.reserve(timeout=30)
        assert other is not None
        with pytest.raises(dueq.LeaseLost):
            message.ack()
        other.ack()
        break


def test_heartbeat_of_a_stopped_process(queue: dueq.Queue) -> None:
    """Its message goes to another; when it goes on, it finds that it has lost it."""
    queue.push("x")
    with worker(queue, LEASE) as process:
        assert queue.reserve(timeout=3 * LEASE) is None
        process.send_signal(signal.SIGSTOP)
        message = queue.reserve(timeout=30, lease=60)
        assert message is not None
        assert (message.crashes, message.attempt) == (1, 1)
        process.send_signal(signal.SIGCONT)
        time.sleep(3 * LEASE)
        message.ack()


def test_heartbeat_of_a_killed_process(queue: dueq.Queue) -> None:
    """With the default settings its messages are with another within ten seconds."""
    queue.push_many(["delivered", "prefetched"])
    with worker(queue, 0, prefetch=2) as process:
        process.kill()
        process.wait()
        begin = time.monotonic()
        found: set[bytes] = set()
        while len(found) < 2:
            found |= {message.body for message in queue.reserve_many(2, timeout=30)}
        assert time.monotonic() - begin < 10


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_heartbeat_is_the_parents_after_fork(queue: dueq.Queue) -> None:
    """A child that outlives a killed parent does not keep the parent's messages."""
    queue.push("x")
    child = 0
    code = (
        "import dueq, os, signal, sys, time\n"
        "for message in dueq.Queue(*sys.argv[1:]).consume(lease=0.4):\n"
        "    if os.fork() == 0:\n"
        "        print(os.getpid(), flush=True)\n"
        "        time.sleep(3600)\n"
        "    time.sleep(3600)\n"
    )
    words = [sys.executable, "-W", "ignore", "-c", code, queue.name, queue.url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            child = int(process.stdout.readline())
            assert queue.reserve(timeout=3 * LEASE) is None
            process.kill()
            message = queue.reserve(timeout=30)
            assert message is not None
            assert message.crashes == 1
        finally:
            process.kill()
            if child:
                os.kill(child, signal.SIGKILL)


def test_heartbeat_while_the_loop_is_blocked(queue: dueq.Queue) -> None:
    """A coroutine that blocks its event loop keeps its message."""

    async def main() -> None:
        async with (
            aio.Queue(queue.name, queue.url) as opened,
            opened.consume(lease=LEASE, timeout=0) as consumer,
        ):
            await opened.push("x")
            async for message in consumer:
                async with message:
                    time.sleep(3 * LEASE)
            assert consumer.lost == 0

    asyncio.run(main())
    stats = queue.stats()
    assert (stats.acked, stats.reserved, stats.leased) == (1, 1, 0)
