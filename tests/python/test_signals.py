import contextlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

import dueq
from private_server import Server

Handler = Callable[[int, FrameType | None], object]


@pytest.fixture
def on_signal() -> Iterator[Callable[[Handler], object]]:
    """Sets the handler of SIGUSR1 for the test."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda handler: signal.signal(signal.SIGUSR1, handler)
    signal.signal(signal.SIGUSR1, before)


def send_when_waiting(server: Server, number: signal.Signals, count: int = 1) -> threading.Thread:
    def send() -> None:
        for _ in range(count):
            server.wait_for_waiting(1)
            signal.pthread_kill(threading.main_thread().ident or 0, number)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_reserve_interrupted_by_ctrl_c(queue: dueq.Queue, server: Server) -> None:
    thread = send_when_waiting(server, signal.SIGINT)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        queue.reserve(timeout=60)
    assert time.monotonic() - begin < 10
    thread.join()
    queue.push("after")
    message = queue.reserve(timeout=5)
    assert message is not None
    assert message.attempt == 1


def test_reserve_of_several_queues_interrupted_by_ctrl_c(queue: dueq.Queue, server: Server) -> None:
    with dueq.Queues([queue.name, "another"], server.url) as queues:
        thread = send_when_waiting(server, signal.SIGINT)
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            queues.reserve(timeout=60)
        assert time.monotonic() - begin < 10
        thread.join()
        queue.push("after")
        message = queues.reserve(timeout=5)
        assert message is not None
        assert (message.queue, message.attempt) == (queue.name, 1)


def test_lock_wait_interrupted_by_ctrl_c(queue: dueq.Queue, server: Server) -> None:
    held = queue.lock("job", 60)
    assert held is not None
    thread = send_when_waiting(server, signal.SIGINT)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        queue.lock("job", 60, timeout=60)
    assert time.monotonic() - begin < 10
    thread.join()
    held.extend(60)
    held.release()
    with queue.lock("job", 60, timeout=None):
        pass


def test_lock_wait_goes_on_after_a_handler(
    queue: dueq.Queue, server: Server, on_signal: Callable[[Handler], object]
) -> None:
    held = queue.lock("job", 60)
    assert held is not None
    on_signal(lambda *_: held.release())
    thread = send_when_waiting(server, signal.SIGUSR1)
    with queue.lock("job", 60, timeout=None) as second:
        assert second.token != held.token
    thread.join()


def test_with_block_ended_by_ctrl_c_gives_back(queue: dueq.Queue) -> None:
    queue.push("x", backoff=0)
    with pytest.raises(KeyboardInterrupt), queue.reserve(timeout=None):
        signal.raise_signal(signal.SIGINT)
    [message] = queue.peek("ready")
    assert (message.error, message.attempt) == ("", 0)


def test_reserve_goes_on_after_a_handler(
    queue: dueq.Queue, server: Server, on_signal: Callable[[Handler], object]
) -> None:
    ran = threading.Event()
    on_signal(lambda *_: ran.set())
    thread = send_when_waiting(server, signal.SIGUSR1)

    def push() -> None:
        ran.wait(10)
        queue.push("x")

    pusher = threading.Thread(target=push)
    pusher.start()
    message = queue.reserve(timeout=60)
    assert message is not None
    assert ran.is_set()
    thread.join()
    pusher.join()


def test_reserve_handler_uses_the_queue(
    queue: dueq.Queue, server: Server, on_signal: Callable[[Handler], object]
) -> None:
    on_signal(lambda *_: queue.push("from the handler"))
    thread = send_when_waiting(server, signal.SIGUSR1)
    message = queue.reserve(timeout=60)
    assert message is not None
    assert message.body == b"from the handler"
    thread.join()


def test_reserve_handler_closes_the_queue(
    queue: dueq.Queue, server: Server, on_signal: Callable[[Handler], object]
) -> None:
    on_signal(lambda *_: queue.close())
    thread = send_when_waiting(server, signal.SIGUSR1)
    assert list(queue) == []
    thread.join()


def test_calls_interrupted_at_any_moment(
    queue: dueq.Queue, on_signal: Callable[[Handler], object]
) -> None:
    """Whatever an exception of a handler hits, the queue stays usable and nothing gets lost."""

    class Stop(Exception):
        pass

    armed = False

    def stop(*_: object) -> None:
        nonlocal armed
        if armed:  # where it is caught, and once there
            armed = False
            raise Stop

    on_signal(stop)
    me, done = threading.get_ident(), threading.Event()
    stored, gone = set(), set()

    def shoot() -> None:
        chance = random.Random(1)
        while not done.wait(chance.uniform(0.0001, 0.003)):
            signal.pthread_kill(me, signal.SIGUSR1)

    gun = threading.Thread(target=shoot)
    gun.start()
    try:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            with contextlib.suppress(Stop):
                armed = True
                while time.monotonic() < end:
                    stored.add(queue.push("x", max_crashes=None))  # five lost leases are no end
                    for message in queue.reserve_many(2, timeout=0.1, lease=0.2):
                        gone.add(message.id)
                        message.ack()
                armed = False
    finally:
        done.set()
        gun.join()
        on_signal(lambda *_: None)
    # One that was interrupted again and again waits for its backoff.
    while (counts := queue.stats()).ready + counts.delayed + counts.leased:
        if left := queue.reserve(timeout=5):
            gone.add(left.id)
            left.ack()
    assert len(stored) > 20
    assert stored <= gone
    stats = queue.stats()
    assert (stats.ready, stats.leased, stats.dead) == (0, 0, 0)


def test_reserve_process_ended_by_ctrl_c(queue: dueq.Queue, server: Server) -> None:
    code = "import dueq, sys; dueq.Queue(*sys.argv[1:]).reserve(timeout=None)"
    words = [sys.executable, "-c", code, queue.name, server.url]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        server.wait_for_waiting(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in said
    assert process.returncode == -signal.SIGINT


def test_prints_of_a_process_without_standard_files(server: Server) -> None:
    """They never reach the server as commands."""
    script = (
        "import contextlib, os, sys, dueq\n"
        "os.closerange(0, 3)\n"
        "with dueq.Queue('orders', sys.argv[1]) as queue:\n"
        "    queue.push('x')\n"
        "    for file in range(3):\n"
        "        with contextlib.suppress(OSError):\n"
        "            os.write(file, b'SET pwned yes\\r\\n')\n"
        "    queue.push('y')\n"
    )
    subprocess.run([sys.executable, "-c", script, server.url], check=True, timeout=60)
    assert server.command("GET", "pwned") is None
    assert dueq.Queue("orders", server.url).stats().ready == 2
