"""Groups: turns, order, and the ways by which a message gets its group."""

from __future__ import annotations

import random
from collections import Counter, deque
from threading import Thread

import pytest

import dueq
from dueq import errors
from private_server import Server

UNIT, STEP = 16384, 16


class Turns:
    """The turns of protocol.md, written once more, for messages that are named by their bodies."""

    def __init__(self) -> None:
        self.floor = self.last = self.returned = self.moves = 0
        self.ready: list[tuple[str | None, bytes]] = []
        self.lines: dict[str | None, deque[bytes]] = {}
        self.turns: dict[str | None, int] = {}
        self.moved: dict[str | None, int] = {}
        """Since the call began: when a group got its turn."""

    def move(self, group: str | None, turn: int) -> None:
        self.moves += 1
        self.turns[group], self.moved[group] = turn, self.moves

    def sort(self, most: int) -> None:
        batch, self.ready = self.ready[:most], self.ready[most:]
        returned, self.returned, self.moved = self.returned, 0, {}
        for i in [*reversed(range(returned)), *range(returned, len(batch))]:
            group, body = batch[i]
            line = self.lines.setdefault(group, deque())
            if not line and self.turns.get(group, 0) <= self.floor:
                start = max(self.last, self.floor)
                self.last = start + (STEP if start < self.floor + UNIT else 1)
                self.move(group, self.last)
            (line.appendleft if i < returned else line.append)(body)

    def push(self, messages: list[tuple[str | None, bytes]]) -> None:
        self.ready += messages
        if not self.returned and any(group for group, _ in messages):
            self.sort(max(len(messages), 500))

    def take(self, count: int) -> list[bytes]:
        self.sort(max(250, self.returned))
        taken: list[bytes] = []
        while len(taken) < count and self.turns:
            group = min(self.turns, key=self.order)
            self.floor = max(self.floor, self.turns[group])
            if self.lines[group]:
                taken.append(self.lines[group].popleft())
                self.move(group, self.turns[group] + UNIT)
            else:
                del self.turns[group], self.lines[group]
        if not self.turns:
            self.floor = self.last = 0
        return taken

    def order(self, group: str | None) -> tuple[int, int, str]:
        return self.turns[group], self.moved.get(group, -1), (group or "").replace(" ", "%20")


@pytest.mark.parametrize("seed", range(12))
def test_turns_are_those_of_the_document(queue: dueq.Queue, seed: int) -> None:
    chance, turns, number = random.Random(seed), Turns(), 0
    held: dict[bytes, dueq.Message] = {}
    groups: list[str | None] = [f"group {i}" for i in range(chance.choice([2, 5, 40]))]
    # From the first message on, the queue is one with groups.
    queue.push("0", group=groups[0])
    turns.push([(groups[0], b"0")])
    groups.append(None)
    for _ in range(200):
        step = chance.random()
        if step < 0.4:
            pushed = []
            for _ in range(chance.choice([1, 2, 10, 60])):
                number += 1
                pushed.append((chance.choice(groups), b"%d" % number))
            own = chance.random() < 0.5
            queue.push_many(
                dueq.Draft(body, group=group, id=f"id {body.decode()}" if own else None)
                for group, body in pushed
            )
            turns.push(pushed)
        elif step < 0.75:
            count = chance.choice([1, 2, 7, 50])
            taken = queue.reserve_many(count, lease=600)
            assert [message.body for message in taken] == turns.take(count)
            held |= {message.body: message for message in taken}
        elif step < 0.85:
            for body in chance.sample(sorted(held), min(len(held), 3)):
                message = held.pop(body)
                message.release()
                turns.ready.insert(0, (message.group, body))
                turns.returned += 1
        elif held:
            body = chance.choice(sorted(held))
            message = held.pop(body)
            message.retry(delay=0)
            turns.ready.append((message.group, body))
    waiting = len(turns.ready) + sum(map(len, turns.lines.values()))
    assert queue.check() == []
    assert queue.stats().ready == waiting
    assert len(list(queue.peek("ready", page=33))) == waiting
    while taken := queue.reserve_many(200, lease=600):
        assert [message.body for message in taken] == turns.take(200)
    assert turns.take(1) == []


def scripts_run(server: Server) -> int:
    info = server.command("INFO", "commandstats")
    assert isinstance(info, bytes)
    return int(info.split(b"cmdstat_evalsha:calls=")[1].split(b",")[0])


def test_usual_calls_are_one_script_each(server: Server, queue: dueq.Queue) -> None:
    """The fast scripts pass no such call on."""
    queue.push_many(dueq.Draft(b"%d" % n, group=f"{n % 3}") for n in range(90))
    # The first time the client finds out that the queue has groups, and loads the scripts.
    for _ in range(2):
        before = scripts_run(server)
        for number in range(10):
            queue.push("x", group=f"{number % 5}")
            assert queue.ack_many(queue.reserve_many(2)) == [True, True]
            message = queue.reserve()
            assert message
            message.ack()
        # These come to `ready` and to `delayed`, and a reserve sorts them.
        queue.push("x")
        assert len(queue.reserve_many(1)) == 1
        queue.push("x", group="soon due", delay=0.001)
        assert len(queue.reserve_many(1)) == 1
    assert scripts_run(server) - before == 10 * 5 + 4


def test_consumers_take_turns_in_a_loop(server: Server, queue: dueq.Queue) -> None:
    """Each group's messages come once, while producers push and consumers wait."""
    done: Counter[bytes] = Counter()

    def consume() -> None:
        with dueq.Queue(queue.name, server.url) as own:
            for message in own.consume(prefetch=5, timeout=2):
                done[message.body] += 1
                message.ack()

    def produce(name: str) -> None:
        with dueq.Queue(queue.name, server.url) as own:
            for number in range(150):
                own.push(f"{name} {number}", group=name, delay=0.01 if number % 5 == 0 else None)

    threads = [Thread(target=consume) for _ in range(3)]
    threads += [Thread(target=produce, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == Counter(f"{name} {n}".encode() for name in "abc" for n in range(150))
    assert queue.check() == []


def test_one_consumer_gets_a_group_in_order(queue: dueq.Queue) -> None:
    for start in range(0, 400, 100):
        queue.push_many(dueq.Draft(b"%d" % n, group=f"{n % 3}") for n in range(start, start + 100))
    found: dict[str | None, list[int]] = {}
    for message in queue.consume(prefetch=10, timeout=0):
        found.setdefault(message.group, []).append(int(message.body))
        message.ack()
    assert found == {f"{i}": [n for n in range(400) if n % 3 == i] for i in range(3)}


def test_each_way_to_push_has_a_group(server: Server, queue: dueq.Queue) -> None:
    app = dueq.App(server.url)

    @app.task(queue=queue.name, group="of the task")
    def work() -> None: ...

    with queue.pusher() as pusher:
        pusher.push("pusher", group="of the pusher")
    queue.push("push", group="of the push")
    queue.push_many([dueq.Draft("draft", group="of the draft")])
    work.push()
    found = {message.group for message in queue.reserve_many(9)}
    assert found == {"of the pusher", "of the push", "of the draft", "of the task"}


def test_group_with_a_priority_is_refused(queue: dueq.Queue) -> None:
    with pytest.raises(errors.InvalidError, match="either a group or a priority"):
        queue.push("x", group="a", priority=1)
    with pytest.raises(errors.InvalidError, match="either a group or a key"):
        queue.push("x", group="a", key="b")
