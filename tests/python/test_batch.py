"""Batches in Python: the context manager, asyncio, tasks, and processes that are killed."""

import asyncio
import subprocess
import sys
import time
from random import Random

import pytest

import dueq
import dueq.aio
from dueq.errors import InvalidError
from private_server import Server


def work(queue: dueq.Queue) -> list[bytes]:
    """Acknowledges all that comes within half a second, and returns the bodies."""
    bodies = []
    while message := queue.reserve(timeout=0.5):
        bodies.append(message.body)
        message.ack()
    return bodies


def test_block_opens_and_closes_a_batch(queue: dueq.Queue) -> None:
    with queue.batch(then=b"then", catch=b"catch", finally_=b"finally") as batch:
        assert batch.is_new
        ids = batch.push_many([b"1", dueq.Draft(b"2", delay=0.05)])
        assert all(ids)
        batch.push(b"3", headers={"a": "b"})
        status = batch.status()
        assert status
        assert (status.state, status.pushed, status.left) == ("open", 3, 3)
        assert [each.id for each in queue.batches()] == [batch.id]
    assert sorted(work(queue)) == [b"1", b"2", b"3", b"finally", b"then"]
    status = batch.status()
    assert status
    assert (status.state, status.acked, status.left) == ("ended", 3, 0)
    assert status.ended
    assert status.opened <= status.closes <= status.ended
    assert queue.batches() == []
    with pytest.raises(InvalidError):
        batch.push(b"4")


def test_block_that_raises_leaves_the_batch_open(queue: dueq.Queue) -> None:
    with pytest.raises(ValueError, match="why"), queue.batch("b", finally_=b"finally") as batch:
        batch.push(b"1")
        raise ValueError("why")
    assert work(queue) == [b"1"]
    status = queue.find_batch("b")
    assert status
    assert (status.state, status.left) == ("open", 0)
    with queue.batch("b", finally_=b"other") as again:
        assert not again.is_new
        again.push(b"2")
    assert sorted(work(queue)) == [b"2", b"finally"]


def test_members_in_other_queues(queue: dueq.Queue, server: Server) -> None:
    with dueq.Queue(f"{queue.name}_o", server.url) as other:
        with queue.batch(finally_=b"finally") as batch:
            batch.push(b"1", queue=other.name)
            batch.push_many([b"2", b"3"], queue=other.name)
        message = other.reserve()
        assert message
        assert (message.batch, message.batch_queue) == (batch.id, queue.name)
        message.ack()
        assert batch.cancel() == 0
        assert batch.cancel(other.name) == 2
        other.reserve()
        assert work(queue) == [b"finally"]
        status = batch.status()
        assert status
        assert (status.acked, status.cancelled) == (1, 2)


def test_damaged_member_on_its_way_is_counted(queue: dueq.Queue, server: Server) -> None:
    with dueq.Queue("full", server.url) as full:
        full.limit(each_group_backlog=1)
        full.push("first", group="g")
        with queue.batch("b", catch=b"catch", finally_=b"finally") as batch:
            batch.push("1", queue="full", group="g", headers={"name": "value"})
    outbox, messages = (f"dueq:{{{queue.name}}}:{key}" for key in ("outbox", "msg"))
    entries = server.command("ZRANGE", outbox, "0", "-1")
    assert isinstance(entries, list)
    [entry] = entries
    assert isinstance(entry, bytes)
    stored = server.command("HGET", messages, entry)
    assert isinstance(stored, bytes)
    assert server.command("HSET", messages, entry, stored.replace(b"value", b"\xff" * 5)) == 0
    bodies = []
    for _ in range(2):
        message = queue.reserve(timeout=20)
        assert message
        bodies.append(message.body)
        message.ack()
    assert bodies == [b"catch", b"finally"]
    status = batch.status()
    assert status
    assert (status.state, status.dead) == ("ended", 1)


def test_member_adds_members(queue: dueq.Queue) -> None:
    with queue.batch("b", then=b"then") as batch:
        batch.push(b"1")
    message = queue.reserve()
    assert message
    assert message.batch == "b"
    queue.push(b"2", batch=message.batch)
    message.ack()
    assert sorted(work(queue)) == [b"2", b"then"]


def test_consumers_share_the_members_in_partitions(queue: dueq.Queue, server: Server) -> None:
    with dueq.Queue(f"{queue.name}_p", server.url, partitions=4) as parcels:
        customers = [f"customer {number}" for number in range(20)]
        with parcels.batch(then=b"then", finally_=b"finally") as batch:
            assert all(batch.push_many(dueq.Draft(each, key=each) for each in customers))
            assert [each.id for each in parcels.batches()] == [batch.id]
        bodies = []
        for message in parcels.consume(timeout=3):
            if message.body == b"customer 0":
                parcels.batch(message.batch).push(b"more", key="another")
            bodies.append(message.body.decode())
            message.ack()
        assert sorted(bodies) == sorted([*customers, "more", "then", "finally"])
        status = batch.status()
        assert status
        assert (status.state, status.acked) == ("ended", 21)
        assert parcels.stats().outbox == 0


async def _opens_in_partitions(url: str, name: str) -> None:
    async with dueq.aio.Queue(name, url, partitions=3) as queue:
        async with queue.batch("b", finally_=b"finally") as batch:
            await batch.push(b"1")
        again = queue.batch("b")
        await again.open()
        assert not again.is_new
        assert await batch.cancel() == 1
        message = await queue.reserve(timeout=5)
        assert message
        assert message.body == b"finally"
        await message.ack()


def test_batch_of_partitions_in_asyncio(queue: dueq.Queue, server: Server) -> None:
    asyncio.run(_opens_in_partitions(server.url, f"{queue.name}_p"))


def test_drafts_of_tasks(queue: dueq.Queue, server: Server) -> None:
    app = dueq.App(server.url)

    @app.task(queue=queue.name)
    def page(number: int) -> None:
        pass

    @app.task(queue=f"{queue.name}_reports")
    def report(title: str) -> None:
        pass

    with queue.batch(then=report.draft("all")) as batch:
        batch.push_many([page.draft(1), page.draft(2)])
    assert len(work(queue)) == 2
    with dueq.Queue(f"{queue.name}_reports", server.url) as reports:
        message = reports.reserve(timeout=5)
        assert message
        assert b"all" in message.body


def test_consumer_counts_members_that_it_acknowledges(queue: dueq.Queue) -> None:
    """A consumer's ack goes with its next reserve."""
    with queue.batch(then=b"then", finally_=b"finally") as batch:
        batch.push_many(f"{n}".encode() for n in range(50))
    bodies = []
    for message in queue.consume(prefetch=7, timeout=0.5):
        bodies.append(message.body)
        message.ack()
    assert len(bodies) == 52
    assert {*bodies[-2:]} == {b"then", b"finally"}
    status = batch.status()
    assert status
    assert (status.state, status.acked) == ("ended", 50)


def test_asyncio(server: Server) -> None:
    async def main() -> None:
        async with dueq.aio.Queue("batch_aio", server.url) as queue:
            async with queue.batch(finally_=b"finally") as batch:
                await batch.push(b"1")
                await batch.push_many([b"2"])
            bodies = []
            async for message in queue.consume(timeout=0.5):
                bodies.append(message.body)
                await message.ack()
            assert sorted(bodies) == [b"1", b"2", b"finally"]
            status = await batch.status()
            assert status
            assert status.state == "ended"
            assert await queue.batches() == []

    asyncio.run(main())


WORKER = """
import sys, dueq
url, home, other = sys.argv[1:]
queue = dueq.Queue(home, url)
members = dueq.Queue(other, url)
for message in members.consume(lease=0.3, prefetch=3):
    number = int(message.body)
    if number % 7 == 0:
        message.bury("no")
    elif number % 5 == 0 and message.attempt == 1:
        message.retry(delay=0)
    else:
        if number < 50:
            queue.batch(message.batch).push(str(number + 200), queue=other, id=f"m{number + 200}")
        message.ack()
"""


def test_killed_workers_lose_and_double_nothing(own_server: Server) -> None:
    """Members are in another queue, and add members. Workers are killed at any point."""
    random = Random(7)
    home, other = "home", "other"

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", WORKER, own_server.url, home, other])

    with dueq.Queue(home, own_server.url) as queue, dueq.Queue(other, own_server.url) as members:
        with queue.batch("b", catch=b"catch", finally_=b"finally") as batch:
            drafts = [dueq.Draft(f"{n}", id=f"m{n}", max_crashes=None) for n in range(200)]
            batch.push_many(drafts, queue=other)
        workers = [start() for _ in range(2)]
        end, kills, called = time.monotonic() + 60, 0, list[bytes]()
        while (status := batch.status()) and status.state != "ended" and time.monotonic() < end:
            time.sleep(random.uniform(0.2, 0.6))
            if kills < 15:
                place = random.randrange(2)
                workers[place].kill()
                workers[place].wait()
                workers[place] = start()
                kills += 1
            # A consumer of the home continues for workers that were killed while they relayed.
            if message := queue.reserve():
                called.append(message.body)
                message.ack()
        for worker in workers:
            worker.kill()
            worker.wait()
        assert status
        assert status.state == "ended"
        assert status.acked + status.dead + status.cancelled == status.pushed
        assert status.dead == members.stats().dead
        assert sorted(called + work(queue)) == [b"catch", b"finally"]
        assert queue.stats().outbox == 0
