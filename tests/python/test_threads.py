import multiprocessing
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import dueq
from dueq import errors
from forked import in_child
from private_server import Server


def work(queue: dueq.Queue) -> list[bytes]:
    """Takes and acknowledges until nothing is left."""
    bodies = []
    while message := queue.reserve(timeout=0.2):
        with message:
            bodies.append(message.body)
    return bodies


def test_threads_share_a_queue(queue: dueq.Queue) -> None:
    sent = [str(n).encode() for n in range(800)]
    with ThreadPoolExecutor(8) as pool:
        pushes = [pool.submit(queue.push_many, sent[n::4]) for n in range(4)]
        takes = [pool.submit(work, queue) for _ in range(4)]
        for push in pushes:
            push.result()
        taken = Counter(body for take in takes for body in take.result())
    taken.update(work(queue))
    assert taken == Counter(sent)
    assert queue.stats().acked == 800


def test_threads_settle_what_another_took(queue: dueq.Queue) -> None:
    queue.push_many(["x"] * 20)
    messages = queue.reserve_many(20)
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda message: message.ack(), messages))
    assert queue.stats().acked == 20


def test_threads_go_on_during_a_wait(queue: dueq.Queue, server: Server) -> None:
    waiter = threading.Thread(target=queue.reserve, kwargs={"timeout": 30})
    waiter.start()
    server.wait_for_waiting(1)
    begin = time.monotonic()
    count = 0
    while count < 100_000:
        count += 1
    assert time.monotonic() - begin < 5
    assert waiter.is_alive()
    queue.push("end")
    waiter.join()


def test_threads_keep_connections_of_calls_at_once_only(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url) as queue:
        for _ in range(20):
            thread = threading.Thread(target=queue.push, args=("x",))
            thread.start()
            thread.join()
        clients = own_server.command("CLIENT", "LIST")
        assert isinstance(clients, bytes)
        assert clients.count(b"\n") <= 3


def test_threads_close_ends_a_wait(queue: dueq.Queue, server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.reserve, timeout=30)
        server.wait_for_waiting(1)
        queue.close()
        with pytest.raises(errors.InvalidError, match="closed"):
            waiting.result(timeout=10)


def test_fork_both_go_on(queue: dueq.Queue) -> None:
    def work() -> None:
        queue.push("child")
        message = queue.reserve()
        assert message is not None
        assert message.body == b"parent"
        message.ack()

    queue.push("parent")
    in_child(work)
    message = queue.reserve(timeout=5)
    assert message is not None
    assert message.body == b"child"
    message.ack()
    assert queue.stats().acked == 2


def test_fork_with_a_message_and_a_lock(queue: dueq.Queue) -> None:
    """The child settles what the parent holds."""
    queue.push("x")
    held = queue.lock("job", 60)
    with dueq.Queues(["another", queue.name], queue.url) as queues:
        message = queues.reserve()
        assert held is not None
        assert message is not None

        def work(message: dueq.Message, held: dueq.Lock) -> None:
            message.ack()
            held.release()
            assert queues.reserve() is None

        in_child(partial(work, message, held))
        with pytest.raises(dueq.LeaseLost):
            message.ack()
        with pytest.raises(dueq.LeaseLost):
            held.release()
        queue.push("y")
        assert queues.reserve(timeout=5) is not None


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_share_a_queue(queue: dueq.Queue, method: str) -> None:
    sent = [str(n).encode() for n in range(200)]
    queue.push_many(sent)
    with multiprocessing.get_context(method).Pool(2) as pool:
        taken = Counter(body for bodies in pool.map(work, [queue] * 2) for body in bodies)
    assert taken == Counter(sent)
