"""Limits of a queue: how many are leased at once, and how many are delivered in a time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from threading import Event, Lock, Thread

import pytest

import dueq
from dueq import errors
from moments import ms_of
from private_server import Server

MANY = 300
NEW_MS = 65000
"""For so long after a queue's first limit a consumer that waits for a place looks now and then."""


def opened(server: Server, queue: dueq.Queue) -> dueq.Queue:
    return dueq.Queue(queue.name, server.url)


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message
    return message


def command(server: Server, queue: dueq.Queue, name: str, field: str, value: str | int) -> None:
    """Runs a command on the key of the limits."""
    server.command(name, f"dueq:{{{queue.name}}}:limits", field, value)


def is_old(server: Server, queue: dueq.Queue) -> None:
    """The queue has had its limits for long."""
    command(server, queue, "HINCRBY", "since", -NEW_MS)


@contextlib.contextmanager
def running(*targets: Callable[[], object]) -> Iterator[None]:
    threads = [Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)


class Crowd:
    """Consumers in threads, until all messages are done. Counts how many run at once."""

    def __init__(self, server: Server, queue: dueq.Queue, count: int, prefetch: int) -> None:
        self.server, self.queue, self.prefetch = server, queue, prefetch
        self.now = self.most = self.most_leased = 0
        self.done: list[str] = []
        self.lock = Lock()
        started = time.monotonic()
        with running(*[self.work] * count):
            pass
        self.took = time.monotonic() - started

    def work(self) -> None:
        with opened(self.server, self.queue) as own:
            for message in own.consume(prefetch=self.prefetch, timeout=1):
                with message:
                    self.handle(own, message)

    def handle(self, own: dueq.Queue, message: dueq.Message) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.005)
        leased = own.stats().leased
        with self.lock:
            self.most_leased = max(self.most_leased, leased)
            self.now -= 1
            self.done.append(message.id)


@pytest.mark.parametrize("prefetch", [1, 4])
@pytest.mark.parametrize("grouped", [False, True])
def test_never_over_the_concurrency(
    server: Server, queue: dueq.Queue, prefetch: int, grouped: bool
) -> None:
    queue.limit(concurrency=3)
    is_old(server, queue)
    ids = queue.push_many(
        dueq.Draft("x", group=str(n % 7) if grouped else None) for n in range(MANY)
    )
    crowd = Crowd(server, queue, 8, prefetch)
    assert len(crowd.done) == MANY
    assert set(crowd.done) == set(ids)
    assert crowd.most <= 3
    assert crowd.most_leased <= 3


def test_places_are_used(server: Server, queue: dueq.Queue) -> None:
    """Four of eight consumers with a limit are not half as fast as four without one."""
    queue.push_many("x" for _ in range(MANY))
    free = Crowd(server, queue, 4, 1).took
    queue.limit(concurrency=4)
    is_old(server, queue)
    queue.push_many("x" for _ in range(MANY))
    limited = Crowd(server, queue, 8, 1)
    assert len(limited.done) == MANY
    assert limited.took < 2 * free


WAYS: dict[str, Callable[[dueq.Queue, dueq.Message], object]] = {
    "ack": lambda queue, held: held.ack(),
    "ack many": lambda queue, held: queue.ack_many([held]),
    "ack with a successor": lambda queue, held: held.ack(push=[dueq.Draft("z", delay=60)]),
    "ack with a successor elsewhere": lambda queue, held: held.ack(push=["z"], to="elsewhere"),
    "retry": lambda queue, held: held.retry(delay=60),
    "release": lambda queue, held: held.release(delay=60),
    "bury": lambda queue, held: held.bury(),
    "cancel": lambda queue, held: queue.cancel(held.id),
    "purge": lambda queue, held: queue.purge("leased"),
    "replace": lambda queue, held: queue.push("z", id=held.id, replace=True),
    "raise of the limit": lambda queue, held: queue.limit(concurrency=2),
    "removal of the limit": lambda queue, held: queue.limit(concurrency=0),
}


def waited_s(server: Server, queue: dueq.Queue, free: Callable[[], object]) -> float:
    """How long after free() a consumer that waited before gets a message."""
    came: list[float] = []

    def wait() -> None:
        with opened(server, queue) as own:
            assert own.reserve(timeout=30)
            came.append(time.monotonic())

    with running(wait):
        server.wait_for_waiting(1)
        freed = time.monotonic()
        free()
    return came[0] - freed


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("grouped", [False, True])
def test_consumer_wakes_when_a_place_is_free(
    server: Server, queue: dueq.Queue, name: str, grouped: bool
) -> None:
    queue.limit(concurrency=1)
    is_old(server, queue)
    group = "a" if grouped else None
    queue.push_many(dueq.Draft("x", id=str(n), group=group) for n in range(3))
    held = take(queue)
    assert waited_s(server, queue, lambda: WAYS[name](queue, held)) < 2
    assert queue.stats().leased == (2 if "of the limit" in name else 1)


def test_client_that_does_not_know_of_the_limit_yet(server: Server, queue: dueq.Queue) -> None:
    """It acknowledges by the fast script, which wakes nobody. So the consumer looks itself."""
    queue.push_many(["a", "b", "c"])
    with opened(server, queue) as unaware:
        unaware.ack_many([take(unaware)])
        held = take(unaware)
        queue.limit(concurrency=1)
        assert waited_s(server, queue, held.ack) < 3


def test_place_of_a_lease_that_ends(server: Server, queue: dueq.Queue) -> None:
    queue.limit(concurrency=1)
    is_old(server, queue)
    queue.push_many(["x", "y"])
    held = queue.reserve(lease=0.3)
    assert held
    again = queue.reserve(timeout=30)
    assert again
    assert (again.id, again.crashes) == (held.id, 1)


def scripts_run(server: Server) -> int:
    info = server.command("INFO", "commandstats")
    assert isinstance(info, bytes)
    lines = [line for line in info.decode().splitlines() if line.startswith("cmdstat_evalsha:")]
    return int(lines[0].split("calls=")[1].split(",")[0]) if lines else 0


@pytest.mark.parametrize("group", [None, "a"])
def test_waiting_for_a_place_costs_nothing(own_server: Server, group: str | None) -> None:
    """No consumer asks while others push and the queue is at its limit."""
    with dueq.Queue("orders", own_server.url) as queue:
        queue.limit(concurrency=1)
        is_old(own_server, queue)
        queue.push("x", group=group)
        held = queue.reserve(lease=3600)
        assert held
        end = Event()

        def wait() -> None:
            with opened(own_server, queue) as own:
                while not end.is_set() and not own.reserve(timeout=2):
                    pass

        queue.push("y", group=group)
        with running(wait, wait, wait):
            own_server.wait_for_waiting(3)
            before, pushed = scripts_run(own_server), 100
            for n in range(pushed):
                queue.push("z", delay=3600 - n if n % 2 else 0, group=group)
            asked = scripts_run(own_server) - before - pushed
            end.set()
            queue.limit(concurrency=0)
        assert asked <= 6


def test_rate_holds_over_many_messages(server: Server, queue: dueq.Queue) -> None:
    """Each message tells by the end of its lease when the server delivered it."""
    rate, burst, lease = 200, 10, 60
    queue.limit(rate=f"{rate}/s", burst=burst)
    queue.push_many("x" for _ in range(MANY))
    times: list[int] = []
    lock = Lock()

    def work() -> None:
        with opened(server, queue) as own:
            while message := own.reserve(timeout=1, lease=lease):
                with lock:
                    times.append(ms_of(message.time))
                message.ack()

    with running(work, work, work):
        pass
    times.sort()
    assert len(times) == MANY
    for i, start in enumerate(times):
        for k in range(i, MANY):
            assert k - i + 1 <= burst + rate * (times[k] - start + 1) / 1000
    ideal = (MANY - burst) / rate
    assert ideal - 0.01 <= (times[-1] - times[0]) / 1000 < 3 * ideal


def test_consumer_waits_for_the_rate(server: Server, queue: dueq.Queue) -> None:
    """One consumer wakes at the time, and not because of a push or a probe."""
    queue.limit(rate="2/s")
    queue.push_many(["a", "b", "c"])
    found = [queue.reserve(timeout=30, lease=60) for _ in range(3)]
    first, second, third = (ms_of(message.time) for message in found if message)
    assert 500 <= second - first < 1500
    assert 500 <= third - second < 1500


@pytest.mark.parametrize(
    ("field", "value"), [("concurrency", "many"), ("rate", "fast"), ("burst", "0")]
)
def test_unreadable_limit_is_an_error_that_names_the_key(
    server: Server, queue: dueq.Queue, field: str, value: str
) -> None:
    queue.limit(concurrency=1, rate="1000/s")
    queue.push_many(["x", "y"])
    held = take(queue)
    command(server, queue, "HSET", field, value)
    for ask in (queue.limits, queue.reserve, lambda: next(iter(queue.consume(timeout=5)))):
        with pytest.raises(errors.CorruptError, match=rf"dueq:.*:limits has its {field} damaged"):
            ask()
    held.ack()
    assert queue.stats().at_limit == "unreadable"
    queue.limit(concurrency=0, rate="none")
    assert take(queue).body == b"y"


def test_consumer_settles_before_it_fails_at_an_unreadable_limit(
    server: Server, queue: dueq.Queue
) -> None:
    queue.limit(concurrency=1)
    queue.push_many(["x", "y"])
    with pytest.raises(errors.CorruptError):
        for message in queue.consume(timeout=5):
            with message:
                command(server, queue, "HSET", "concurrency", "many")
    assert queue.stats().acked == 1


def test_full_server(own_server: Server) -> None:
    with dueq.Queue("orders", own_server.url) as queue:
        queue.limit(concurrency=1, rate="1000/s")
        queue.push_many(["x", "y", "z"])
        own_server.command("CONFIG", "SET", "maxmemory", "1")
        take(queue).ack()
        take(queue).ack()
        queue.limit(concurrency=0, rate="none")
        assert queue.limits() == dueq.Limits(None, "", None, None, "", None, None, "", ())
        assert take(queue).body == b"z"
