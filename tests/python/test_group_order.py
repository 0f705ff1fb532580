"""The order strict of groups: nothing overtakes, nothing is wedged, and who waits is woken."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

import dueq
from group_consumers import die, wait
from private_server import Server

GROUPS = ["a", "b", "c"]
EACH = 40


class Crowd:
    """
    Ends its messages in all ways. The bodies of a group are numbers that rise. A message overtakes
    another if its number is not that of the last one, which has not ended, or the next one.
    """

    def __init__(self, server: Server, queue: dueq.Queue) -> None:
        self.server, self.queue, self.lock = server, queue, Lock()
        self.begun: dict[str | None, int] = {}
        self.ended: dict[str | None, int] = dict.fromkeys(GROUPS, -1)
        self.wrong: list[str] = []

    def begin(self, message: dueq.Message) -> None:
        number, group = int(message.body), message.group
        with self.lock:
            if group in self.begun or number != self.ended[group] + 1:
                self.wrong.append(f"{group} {number} {self.begun} {self.ended}")
            self.begun[group] = number

    def run(self, seed: int) -> None:
        chance = random.Random(seed)
        with dueq.Queue(self.queue.name, self.server.url) as queue:
            while messages := queue.reserve_many(chance.randint(1, 4), timeout=3):
                for message in messages:
                    self.begin(message)
                for message in messages:
                    self.end(queue, message, chance)

    def end(self, queue: dueq.Queue, message: dueq.Message, chance: random.Random) -> None:
        number, group = int(message.body), message.group
        comes_back: list[Callable[[], object]] = [
            message.release,
            lambda: message.release(delay=0.02),
            lambda: message.retry(delay=0),
            lambda: message.retry(delay=0.02),
            lambda: message.hold_group(0.02),
        ]
        is_over: list[Callable[[], object]] = [
            message.ack,
            message.ack,
            message.bury,
            lambda: queue.cancel(message.id),
            lambda: (message.retry(delay=3600), queue.cancel(message.id)),
            lambda: message.ack(push=[dueq.Draft("next", delay=3600, group=group)]),
        ]
        ends = chance.random() < 0.6
        # Before the call: the next message may be begun when the server has run it.
        with self.lock:
            del self.begun[group]
            self.ended[group] += ends
            assert self.ended[group] == number - (not ends)
        chance.choice(is_over if ends else comes_back)()


def test_nothing_overtakes_in_the_order_strict(server: Server, queue: dueq.Queue) -> None:
    queue.limit(order="strict")
    for number in range(EACH):
        queue.push_many(dueq.Draft(str(number), group=group) for group in GROUPS)
    crowd = Crowd(server, queue)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(crowd.run, range(4)))
    assert crowd.wrong == []
    assert crowd.ended == dict.fromkeys(GROUPS, EACH - 1)
    assert (queue.stats().ready, queue.stats().leased) == (0, 0)
    assert list(queue.check()) == []


def test_consumer_settles_and_reserves_in_the_order_strict(queue: dueq.Queue) -> None:
    queue.limit(order="strict")
    queue.push_many(dueq.Draft(str(number), group="a", max_attempts=3) for number in range(4))
    seen: list[tuple[bytes, int]] = []
    for message in queue.consume(prefetch=10, timeout=2):
        with message:
            seen.append((message.body, message.attempt))
            if message.body == b"1" and message.attempt < 3:
                message.retry(delay=0.05)
            elif message.body == b"2":
                message.retry(delay=0)
    assert seen == [
        *[(b"0", 1), (b"1", 1), (b"1", 2), (b"1", 3)],
        *[(b"2", 1), (b"2", 2), (b"2", 3), (b"3", 1)],
    ]
    assert list(queue.check()) == []


def test_group_waits_for_the_message_of_a_killed_worker(server: Server, queue: dueq.Queue) -> None:
    queue.limit(order="strict")
    queue.push_many([dueq.Draft("1", group="a"), dueq.Draft("2", group="a")])
    die(server, queue)
    again = queue.reserve(timeout=30)
    assert again
    assert (again.body, again.crashes) == (b"1", 1)
    again.retry(delay=0.05)
    for body, crashes in ((b"1", 1), (b"2", 0)):
        message = queue.reserve(timeout=30)
        assert message
        assert (message.body, message.crashes) == (body, crashes)
        assert queue.reserve() is None
        message.ack()
    assert list(queue.check()) == []


@pytest.mark.parametrize("way", ["cancel", "purge", "purge_group", "replace", "reschedule", "fair"])
def test_waiting_consumer_wakes_when_a_group_waits_no_more(
    server: Server, queue: dueq.Queue, way: str
) -> None:
    queue.limit(order="strict")
    queue.push_many([dueq.Draft("1", id="1", group="a"), dueq.Draft("2", group="a")])
    message = queue.reserve()
    assert message
    message.retry(delay=3600)
    assert queue.reserve() is None
    ways: dict[str, Callable[[], object]] = {
        "cancel": lambda: queue.cancel("1"),
        "purge": lambda: queue.purge("delayed"),
        "purge_group": lambda: (queue.purge_group("a"), queue.push("2", group="a")),
        "replace": lambda: queue.push("3", id="1", group="a", replace=True),
        "reschedule": lambda: queue.reschedule("1", delay=0),
        "fair": lambda: queue.limit(order="fair"),
    }
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait, server, queue)
        queue.pause()
        queue.resume()
        began = time.monotonic()
        ways[way]()
        assert waiting.result().body == (b"1" if way == "reschedule" else b"2")
    assert time.monotonic() - began < 10


def test_thousands_that_were_begun_and_have_gone_stop_no_group(
    server: Server, queue: dueq.Queue
) -> None:
    """A script looks at 2,000 of them. The next call goes on."""
    queue.push_many(dueq.Draft("x", group="a") for _ in range(4500))
    for _ in range(23):
        assert queue.reserve_many(200)
    queue.limit(order="strict")
    assert server.command("ZCARD", f"dueq:{{{queue.name}}}:begun") == 4500
    queue.purge("leased")
    queue.push_many([dueq.Draft("1", group="a"), dueq.Draft("2", group="a")])
    message = queue.reserve(timeout=30)
    assert message
    assert message.body == b"1"
    assert queue.reserve() is None
    assert server.command("ZCARD", f"dueq:{{{queue.name}}}:begun") == 1
