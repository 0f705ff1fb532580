"""Limits of groups: places do not leak, no limit is exceeded, and a free place wakes a consumer."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

import dueq
from group_consumers import die, wait
from private_server import Server

GROUPS = ["a", "b", "c"]


def at_work(server: Server, queue: dueq.Queue) -> object:
    return server.command("HGETALL", f"dueq:{{{queue.name}}}:working")


class Crowd:
    """Ends its messages in all ways, and counts how many of a group are leased at once."""

    def __init__(self, server: Server, queue: dueq.Queue, most: int) -> None:
        self.server, self.queue, self.most = server, queue, most
        self.lock, self.running, self.done = Lock(), Counter[str | None](), 0
        self.exceeded = 0

    def run(self, seed: int) -> None:
        chance = random.Random(seed)
        with dueq.Queue(self.queue.name, self.server.url) as queue:
            while messages := queue.reserve_many(chance.randint(1, 4), timeout=3):
                with self.lock:
                    self.running.update(message.group for message in messages)
                    self.exceeded += any(self.running[group] > self.most for group in GROUPS)
                for message in messages:
                    # Before the call: the place is free when the server has run it.
                    with self.lock:
                        self.running[message.group] -= 1
                    self.end(message, chance)

    def end(self, message: dueq.Message, chance: random.Random) -> None:
        ways: list[Callable[[], object]] = [
            message.ack,
            message.ack,
            message.release,
            lambda: message.retry(delay=0),
            message.bury,
            lambda: message.ack(push=[dueq.Draft("next", delay=3600, group=message.group)]),
        ]
        chance.choice(ways)()


@pytest.mark.parametrize("most", [1, 2])
def test_no_limit_of_groups_is_exceeded(server: Server, queue: dueq.Queue, most: int) -> None:
    queue.limit(each_group_concurrency=most)
    queue.push_many(dueq.Draft("x", group=group) for _ in range(100) for group in GROUPS)
    crowd = Crowd(server, queue, most)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(crowd.run, range(4)))
    assert crowd.exceeded == 0
    stats = queue.stats()
    assert (stats.ready, stats.leased) == (0, 0)
    assert at_work(server, queue) == []
    assert list(queue.check()) == []


def test_waiting_consumer_wakes_when_a_place_of_a_group_is_free(
    server: Server, queue: dueq.Queue
) -> None:
    queue.limit(each_group_concurrency=1)
    queue.push_many([dueq.Draft("1", group="a"), dueq.Draft("2", group="a")])
    message = queue.reserve()
    assert message
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait, server, queue)
        queue.pause()
        queue.resume()
        began = time.monotonic()
        message.ack()
        assert waiting.result().body == b"2"
    assert time.monotonic() - began < 10


def test_waiting_consumer_wakes_when_a_hold_is_ended(server: Server, queue: dueq.Queue) -> None:
    queue.hold("a", 3600)
    queue.push("1", group="a")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait, server, queue)
        began = time.monotonic()
        queue.hold("a", 0)
        assert waiting.result().body == b"1"
    assert time.monotonic() - began < 10


def test_killed_worker_s_place_is_free_again(server: Server, queue: dueq.Queue) -> None:
    queue.limit(each_group_concurrency=1)
    queue.push_many([dueq.Draft("1", group="a"), dueq.Draft("2", group="a")])
    die(server, queue)
    again = queue.reserve(timeout=30)
    assert again
    assert (again.body, again.crashes) == (b"1", 1)
    assert queue.reserve() is None
    again.ack()
    last = queue.reserve(timeout=30)
    assert last
    assert last.body == b"2"
    last.ack()
    assert at_work(server, queue) == []
