"""Who waits needs no processor, by any way of waiting, on new connections and on used ones."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

import dueq
import dueq.aio
import dueq.laravel.aio
import dueq.redisson.aio
from private_server import Server

SECONDS = 1.0


@contextmanager
def idle() -> Iterator[None]:
    begin, used = time.monotonic(), time.process_time()
    yield
    assert time.monotonic() - begin >= SECONDS * 0.9
    assert time.process_time() - used < SECONDS / 2


def reserve(url: str) -> Callable[[], object]:
    queue = dueq.Queue("jobs", url)
    return lambda: queue.reserve(timeout=SECONDS)


def reserve_of_several(url: str) -> Callable[[], object]:
    queues = dueq.Queues(["jobs", "mails"], url)
    return lambda: queues.reserve(timeout=SECONDS)


def lock(url: str) -> Callable[[], object]:
    queue, other = dueq.Queue("jobs", url), dueq.Queue("jobs", url)
    held = other.lock("nightly", 60)
    return lambda: queue.lock("nightly", 60, timeout=SECONDS) or held


def transfer(url: str) -> Callable[[], object]:
    queue = dueq.redisson.DelayedQueue("reminders", url)
    return lambda: queue.transfer(timeout=SECONDS)


def take(url: str) -> Callable[[], object]:
    queue = dueq.redisson.DelayedQueue("reminders", url)
    return lambda: queue.take(timeout=SECONDS)


def pop(url: str) -> Callable[[], object]:
    queue = dueq.laravel.Queue("default", url)
    return lambda: queue.pop(timeout=SECONDS)


def migrate(url: str) -> Callable[[], object]:
    queue = dueq.laravel.Queue("default", url)
    return lambda: queue.migrate(timeout=SECONDS)


def one_client_for_two_ways(url: str) -> Callable[[], object]:
    queue = dueq.laravel.Queue("default", url)
    queue.pop(timeout=0.1)
    return lambda: queue.migrate(timeout=SECONDS)


@pytest.mark.parametrize(
    "way",
    [reserve, reserve_of_several, lock, transfer, take, pop, migrate, one_client_for_two_ways],
)
def test_waiting(way: Callable[[str], Callable[[], object]], own_server: Server) -> None:
    wait = way(own_server.url)
    with idle():
        wait()
    own_server.command("CLIENT", "KILL", "TYPE", "normal")
    own_server.command("CLIENT", "KILL", "TYPE", "pubsub")
    with idle():
        wait()


@pytest.mark.parametrize(
    "way",
    [
        lambda url: dueq.aio.Queue("jobs", url).reserve(timeout=SECONDS),
        lambda url: dueq.redisson.aio.DelayedQueue("reminders", url).transfer(timeout=SECONDS),
        lambda url: dueq.redisson.aio.DelayedQueue("reminders", url).take(timeout=SECONDS),
        lambda url: dueq.laravel.aio.Queue("default", url).pop(timeout=SECONDS),
        lambda url: dueq.laravel.aio.Queue("default", url).migrate(timeout=SECONDS),
    ],
    ids=["reserve", "transfer", "take", "pop", "migrate"],
)
def test_waiting_in_an_event_loop(way: Callable[[str], Awaitable[object]], server: Server) -> None:
    async def wait() -> None:
        await way(server.url)

    with idle():
        asyncio.run(wait())
