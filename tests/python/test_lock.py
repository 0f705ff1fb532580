import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import dueq
from dueq import errors
from private_server import Server


def lock(queue: dueq.Queue, ttl: float | timedelta = 60) -> dueq.Lock:
    got = queue.lock("job", ttl)
    assert got is not None
    return got


def test_lock_has_one_owner(queue: dueq.Queue) -> None:
    first = lock(queue, timedelta(minutes=1))
    assert queue.lock("job", 60) is None
    assert queue.lock("job", 60, timeout=0.05) is None
    assert queue.lock("another job", 60) is not None
    with dueq.Queue("another queue", queue.url) as other:
        assert other.lock("job", 60) is not None
    first.release()
    second = lock(queue)
    assert second.token != first.token
    assert (second.name, second.token != "") == ("job", True)
    assert "job" in repr(second)


def test_lock_stale_owner(queue: dueq.Queue) -> None:
    stale = lock(queue)
    stale.release()
    second = lock(queue)
    for call in (stale.release, lambda: stale.extend(60)):
        with pytest.raises(dueq.LeaseLost, match="job"):
            call()
    second.extend(60)


def test_lock_ends_by_itself(queue: dueq.Queue) -> None:
    first = lock(queue, 0.1)
    second = queue.lock("job", 60, timeout=10)
    assert second is not None
    with pytest.raises(dueq.LeaseLost):
        first.release()


def test_lock_extend_puts_the_end_off(queue: dueq.Queue) -> None:
    first = lock(queue, 0.5)
    first.extend(timedelta(seconds=60))
    assert queue.lock("job", 60, timeout=1) is None
    first.extend(0.05)
    with queue.lock("job", 60, timeout=None) as second:
        assert second.token != first.token


def test_lock_waits_for_its_turn(queue: dueq.Queue, server: Server) -> None:
    first = lock(queue)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.lock, "job", 60, None)
        server.wait_for_waiting(1)
        first.release()
        second = waiting.result(timeout=10)
    assert queue.lock("job", 60) is None
    second.release()


def test_lock_one_at_a_time_among_threads(queue: dueq.Queue) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with queue.lock("job", 60, timeout=None):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)  # lets the others run
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (inside, most) == (0, 1)
    assert queue.lock("job", 60) is not None


def test_lock_with_block_releases(queue: dueq.Queue) -> None:
    with lock(queue) as held:
        assert queue.lock("job", 60) is None
    with pytest.raises(dueq.LeaseLost):
        held.extend(60)
    with pytest.raises(KeyError), lock(queue):
        raise KeyError
    with lock(queue) as held:
        held.release()
    assert queue.lock("job", 60) is not None


def test_lock_with_block_lost(queue: dueq.Queue, caplog: pytest.LogCaptureFixture) -> None:
    def lose(held: dueq.Lock) -> None:
        held.extend(0.01)
        with queue.lock("job", 60, timeout=None):
            pass

    with pytest.raises(dueq.LeaseLost), lock(queue) as held:
        lose(held)
    caplog.set_level(logging.WARNING, "dueq")
    with pytest.raises(OSError, match="disk"), lock(queue) as held:
        lose(held)
        raise OSError("disk")
    assert "could not be released" in caplog.text


@pytest.mark.parametrize(
    ("name", "ttl", "timeout"),
    [
        ("", 60, 0),
        ("a\nb", 60, 0),
        ("job", 0, 0),
        ("job", -1, 0),
        ("job", float("inf"), 0),
        ("job", 60, -1),
        ("job", 60, float("nan")),
    ],
)
def test_lock_out_of_range(queue: dueq.Queue, name: str, ttl: float, timeout: float) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        queue.lock(name, ttl, timeout)
    assert str(caught.value)


def test_lock_name_too_long(queue: dueq.Queue) -> None:
    with pytest.raises((errors.TooLargeError, errors.InvalidError)):
        queue.lock("x" * 256, 60)


def test_lock_name_of_any_text(queue: dueq.Queue) -> None:
    with queue.lock("{naïve} job: 🚀", 60, timeout=None) as held:
        assert held.name == "{naïve} job: 🚀"


def test_lock_extend_out_of_range(queue: dueq.Queue) -> None:
    with lock(queue) as held, pytest.raises(errors.InvalidError):
        held.extend(0)
