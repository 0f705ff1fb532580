"""Queues of partitions, in both faces."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dueq
import dueq.aio
from dueq import _core, errors
from private_server import Server

GOLDEN = Path(__file__).parents[1] / "golden/partitions.tsv"


@pytest.fixture
def orders(server: Server) -> Iterator[dueq.Queue]:
    server.command("FLUSHALL")
    with dueq.Queue("orders", server.url, partitions=8) as made:
        yield made


def test_hash_is_the_one_of_all_languages() -> None:
    lines = [line for line in GOLDEN.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    for line in lines:
        key, count, partition = line.split("\t")
        assert _core.partition_for(key, int(count)) == int(partition)


def test_messages_of_a_key_are_in_one_partition_in_order(orders: dueq.Queue) -> None:
    for number in range(5):
        orders.push(str(number), key="customer-17")
    found = [(message.queue, message.body) for message in settled(orders)]
    assert found == [("orders#7", b"%d" % number) for number in range(5)]
    with dueq.Queue("orders#7", orders.url) as one:
        assert one.stats().acked == 5


def test_groups_of_a_partition_take_turns(orders: dueq.Queue) -> None:
    orders.push_many([dueq.Draft(f"a{number}", group="a") for number in range(3)])
    orders.push_many([dueq.Draft(f"x{number}", group="x") for number in range(2)])
    orders.push("c", group="customer-17")
    assert {group.name: group.waiting for group in orders.groups()} == {
        "a": 3,
        "x": 2,
        "customer-17": 1,
    }
    assert orders.partition_for("a").stats().ready == 5
    found = [(message.queue, message.body) for message in settled(orders)]
    assert ("orders#7", b"c") in found
    bodies = [body for queue, body in found if queue == "orders#3"]
    assert bodies == [b"a0", b"x0", b"a1", b"x1", b"a2"]


def test_a_queue_takes_keys_or_groups(orders: dueq.Queue, server: Server) -> None:
    orders.push("1", group="a")
    with pytest.raises(errors.InvalidError, match="'orders' have groups: give this message a gr"):
        orders.push("2", key="a")
    with pytest.raises(errors.InvalidError, match="by a handle of all partitions"):
        orders.partition_for("a").push("3", group="a")
    with pytest.raises(errors.InvalidError, match="have groups"):
        orders.partition_for("a").push("4")
    with dueq.Queue("keyed", server.url, partitions=8) as keyed:
        keyed.partition_for("a").push("1")
        with pytest.raises(errors.InvalidError, match="'keyed' have keys: give this message a key"):
            keyed.push("2", group="a")
        with pytest.raises(errors.InvalidError, match="takes keys or groups"):
            keyed.push_many([dueq.Draft("3", key="a"), dueq.Draft("4", group="b")])
    assert orders.stats().ready == 1


def test_successors_go_by_their_group(orders: dueq.Queue) -> None:
    orders.push("1", group="a")
    for message in orders.consume(timeout=0.2):
        number = int(message.body)
        with message:
            message.ack(
                push=[dueq.Draft(str(number + 1), group="customer-17")] if number < 3 else []
            )
            assert message.queue == ("orders#3" if number == 1 else "orders#7")
    assert orders.stats().acked == 3


def test_asyncio_works_on_several_messages_of_a_partition(orders: dueq.Queue) -> None:
    async def both() -> list[bytes]:
        async with dueq.aio.Queue("orders", orders.url, partitions=8) as queue:
            await queue.push_many([dueq.Draft("1", group="a"), dueq.Draft("2", group="a")])
            held: list[dueq.aio.Message] = []
            async for message in queue.consume(timeout=10):
                held.append(message)
                if len(held) == 2:
                    break
            bodies = [message.body for message in held]
            for message in held:
                await message.ack()
            return bodies

    assert asyncio.run(both()) == [b"1", b"2"]


def settled(queue: dueq.Queue) -> Iterator[dueq.Message]:
    for message in queue.consume(timeout=0.2):
        with message:
            yield message


NAME_ALONE: dict[str, Callable[[dueq.Queue], object]] = {
    "push": lambda queue: queue.push("x"),
    "push later": lambda queue: queue.push("x", delay=1),
    "push urgent": lambda queue: queue.push("x", priority=1),
    "push by an id": lambda queue: queue.push("x", id="a"),
    "replace": lambda queue: queue.push("x", id="a", replace=True),
    "schedule": lambda queue: queue.schedule("s", "every 1s", "x"),
    "cancel": lambda queue: queue.cancel("a"),
    "find": lambda queue: queue.find("a"),
    "reserve": lambda queue: queue.reserve(),
    "consume": lambda queue: next(iter(queue.consume(timeout=1))),
    "stats": lambda queue: queue.stats(),
    "peek": lambda queue: list(queue.peek("ready")),
    "purge": lambda queue: queue.purge("ready"),
    "pause": lambda queue: queue.pause(),
    "check": lambda queue: queue.check(repair=True),
    "remove": lambda queue: queue.remove(),
}


def keys(server: Server) -> set[bytes]:
    """Of the name alone, but for what a session is told again."""
    found = server.command("KEYS", "dueq:{orders}:*")
    assert isinstance(found, list)
    return {key for key in found if isinstance(key, bytes) and b":reply:" not in key}


@pytest.mark.parametrize("verb", NAME_ALONE)
def test_name_alone_is_refused(orders: dueq.Queue, server: Server, verb: str) -> None:
    """Nobody would get what is pushed there: consumers look into the partitions."""
    with dueq.Queue("orders", orders.url) as alone:
        assert alone.stats().ready == 0
        orders.push("x")
        before = keys(server)
        with pytest.raises(errors.LayoutError, match="the queue 'orders' has partitions"):
            NAME_ALONE[verb](alone)
        assert keys(server) == before
    assert orders.stats().ready == 1


def test_queue_that_was_used_gets_partitions(server: Server) -> None:
    """What it was is over: it is listed no more, and who waits for messages of its own is told."""
    server.command("FLUSHALL")
    with (
        dueq.Queue("orders", server.url) as alone,
        dueq.Queue("orders", server.url, partitions=8) as parts,
        ThreadPoolExecutor() as pool,
    ):
        alone.push("x", delay=60)
        alone.purge("delayed")
        waits = pool.submit(alone.reserve, 60)
        server.wait_for_waiting(1)
        parts.push("x")
        assert [name for name in dueq.queues(server.url) if "#" not in name] == []
        server.command("ZADD", "dueq:{orders}:wake", 0, "w")
        with pytest.raises(errors.LayoutError, match="has partitions"):
            waits.result(30)


def test_successor_to_the_name_alone_stays(orders: dueq.Queue) -> None:
    orders.push("x")
    with dueq.Queue("mails", orders.url) as mails:
        mails.push("first")
        message = mails.reserve() or pytest.fail("nothing")
        message.ack(push=["next"], to="orders")
        until = time.monotonic() + 10
        while not (problem := mails.stats().outbox_error):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert mails.stats().outbox == 1
    assert "the queue 'orders' has partitions" in problem


def test_push_many_and_pusher_are_split(orders: dueq.Queue) -> None:
    drafts = [dueq.Draft(f"{n}", key=f"k{n}", id=f"id-{n % 30}-{n % 10}") for n in range(40)]
    ids = orders.push_many(drafts)
    assert [id is None for id in ids] == [n >= 30 for n in range(40)]
    with orders.pusher() as pusher:
        pushes = [pusher.push("x", key=f"k{n}") for n in range(100)]
    assert all(push.done and not push.error for push in pushes)
    assert orders.stats().ready == 130
    assert len(dueq.queues(orders.url)) == 8


def test_verbs_cover_all_partitions(orders: dueq.Queue) -> None:
    orders.push_many(dueq.Draft("x", key=f"k{n}", id=f"id-{n}") for n in range(20))
    assert {message.id for message in orders.peek("ready", page=3)} == {
        f"id-{n}" for n in range(20)
    }
    assert orders.cancel_many(["id-3", "none", "id-4"]) == ["ready", None, "ready"]
    found = orders.find("id-5")
    assert found
    assert found.queue == _core.partition_name("orders", _core.partition_for("k5", 8))
    assert orders.find("id-3") is None
    messages = [orders.reserve(), orders.reserve()]
    assert messages[0]
    assert messages[1]
    messages[0].ack()
    messages[1].retry(delay=60)
    held = [message for message in [orders.reserve(), orders.reserve()] if message]
    assert orders.ack_many(held) == [True, True]
    assert orders.reschedule(messages[1].id)
    assert orders.purge("ready") == 15
    assert orders.remove() == 0


def test_of_a_key_is_one_partition(orders: dueq.Queue) -> None:
    orders.push("x", key="a", id="one")
    assert orders.partition_for("a").find("one")
    assert orders.partition_for("b").cancel("one") is None
    orders.partition_for("a").push("y", id="two")
    assert orders.partition_for("a").stats().ready == 2
    message = orders.partition_for("a").reserve()
    assert message
    assert message.queue == "orders#3"
    message.ack()
    assert orders.partition_for("a").cancel("two") == "ready"
    for key in ("", "a\nb"):
        with pytest.raises(errors.InvalidError):
            orders.partition_for(key)
    with pytest.raises(errors.InvalidError):
        orders.partition_for("a").consume()


def test_what_is_not_for_partitions_is_refused(orders: dueq.Queue, server: Server) -> None:
    for number in (0, 1025):
        with pytest.raises(errors.InvalidError):
            dueq.Queue("orders", server.url, partitions=number)
    with dueq.Queue("plain", server.url) as plain:
        with pytest.raises(errors.InvalidError, match="a key chooses a partition"):
            plain.push("x", key="a")
        with pytest.raises(errors.InvalidError):
            plain.partition_for("a")


def test_rates_and_check_cover_all_partitions(orders: dueq.Queue, server: Server) -> None:
    orders.push_many(dueq.Draft("x", key=f"k{n}") for n in range(20))
    assert sum(rate.pushed for rate in orders.rates()) == 20
    for number in (3, 7):
        assert server.command("DEL", f"dueq:{{orders#{number}}}:ready") == 1
    with dueq.Queue("orders", server.url, partitions=8) as queue:
        left = queue.stats().ready
        [finding] = queue.check(repair=True)
        assert (finding.kind, finding.count) == ("lost", finding.repaired)
        assert queue.stats().ready == left == 20
        assert queue.check() == []


def test_successors_go_by_their_key_and_stay_without(orders: dueq.Queue) -> None:
    orders.push("1", key="a")
    for message in orders.consume(timeout=0.5):
        if message.body == b"1":
            message.ack(
                push=[dueq.Draft("2", key="customer-17"), dueq.Draft("3", key="customer-17")]
            )
        elif message.body == b"2":
            message.ack(push=[dueq.Draft("4")])
        else:
            assert message.queue == "orders#7"
            with pytest.raises(errors.InvalidError, match="give them all one key"):
                message.ack(push=[dueq.Draft("5", key="a"), dueq.Draft("6")])
            message.ack()
    assert orders.stats().acked == 4


def test_a_schedule_is_in_one_partition(orders: dueq.Queue) -> None:
    assert orders.schedule("often", "every 1s", dueq.Draft("x", key="a"))
    assert not orders.schedule("often", "every 1s", dueq.Draft("x", key="a"))
    found = set()
    for message in orders.consume(timeout=3):
        with message:
            assert message.queue == "orders#3"
            if message.is_schedule:
                message.fire()
            found.add(message.id.rpartition(":")[0])
            if len(found) == 2:
                break
    assert found == {"schedule", "often"}
    assert orders.schedule("often", "every 1s", dueq.Draft("x", key="customer-17"))
    assert orders.find("schedule:often").queue == "orders#7"  # type: ignore[union-attr]
    assert orders.cancel("schedule:often")
    assert orders.find("schedule:often") is None


def test_a_copy_has_the_partitions(orders: dueq.Queue) -> None:
    orders.push("x", key="a")
    with pickle.loads(pickle.dumps(orders)) as copy:
        assert copy.partition_for("a").stats().ready == 1


def test_asyncio_shares_with_threads(orders: dueq.Queue) -> None:
    """A consumer of each face: between them they have all, and each key in its order."""
    for number in range(40):
        orders.push_many(dueq.Draft(str(number), key=f"k{key}") for key in range(5))
    seen: dict[str, list[int]] = {}

    async def work() -> None:
        async with dueq.aio.Queue("orders", orders.url, partitions=8) as queue:
            assert (await queue.stats()).ready == 200
            loop = asyncio.get_running_loop()
            blocking = loop.run_in_executor(None, note, settled(orders))
            async for message in queue.consume(timeout=1):
                async with message:
                    seen.setdefault(message.queue, []).append(int(message.body))
            await blocking

    def note(messages: Iterator[dueq.Message]) -> None:
        for message in messages:
            seen.setdefault(message.queue, []).append(int(message.body))

    asyncio.run(work())
    assert sum(map(len, seen.values())) == 200
    assert all(numbers == sorted(numbers) for numbers in seen.values())
    assert orders.stats().acked == 200


def test_a_partition_is_asked_again_when_its_message_is_done(orders: dueq.Queue) -> None:
    """In a task of its own, while the consumer waits for the other partitions."""

    async def work() -> list[int]:
        done: list[int] = []
        async with dueq.aio.Queue("orders", orders.url, partitions=8) as queue:
            tasks = []
            consumer = queue.consume(timeout=10, concurrency=2)
            async for message in consumer:
                tasks.append(asyncio.create_task(settle(message, done)))
                if len(tasks) == 20:
                    consumer.stop()
            await asyncio.gather(*tasks)
        return done

    async def settle(message: dueq.aio.Message, done: list[int]) -> None:
        async with message:
            await asyncio.sleep(0.02)
            done.append(int(message.body))

    orders.push_many(dueq.Draft(str(number), key="a") for number in range(20))
    begin = time.monotonic()
    assert asyncio.run(work()) == list(range(20))
    assert time.monotonic() - begin < 7
