"""What failed, when, and who said so."""

import asyncio
import os
import socket
import time
from datetime import UTC, datetime, timedelta

import pytest

import dueq
from dueq import aio
from private_server import Server

FEW = timedelta(seconds=5)
OWN = (socket.gethostname(), os.getpid())


def fail(queue: dueq.Queue, error: str) -> dueq.Message:
    message = queue.reserve()
    assert message
    message.retry(delay=0, error=error)
    return message


def test_no_failures(queue: dueq.Queue) -> None:
    assert queue.failures() == queue.failures("x") == []


def test_failures_have_all_that_is_known(queue: dueq.Queue) -> None:
    begin = datetime.now(UTC)
    id = queue.push("a")
    message = fail(queue, "no such shop")
    again = queue.reserve()
    assert again
    again.bury("so")
    buried, failed = queue.failures()
    assert (failed.kind, buried.kind) == ("failed", "buried")
    assert (failed.id, failed.ticket, failed.delivery) == (id, message.ticket, 1)
    assert (buried.id, buried.ticket, buried.delivery) == (id, again.ticket, 2)
    assert (failed.host, failed.pid) == (buried.host, buried.pid) == OWN
    assert (failed.error, buried.error) == ("no such shop", "so")
    assert failed.created == message.created
    assert begin - FEW < failed.time <= buried.time < datetime.now(UTC) + FEW
    assert failed._asdict()["error"] == "no such shop"
    assert queue.failures(id) == [buried, failed]
    assert queue.failures("none") == []
    with pytest.raises(dueq.errors.InvalidError):
        queue.failures("\n")


def test_handler_that_raises_is_named(queue: dueq.Queue) -> None:
    queue.push("a", max_attempts=1)
    message = queue.reserve()
    assert message
    with pytest.raises(ValueError, match="bad address"), message:
        raise ValueError("bad address")
    [died] = queue.failures()
    assert (died.kind, died.host, died.pid) == ("died", *OWN)
    assert "bad address" in died.error


def test_failures_of_asyncio(queue: dueq.Queue) -> None:
    async def main() -> list[dueq.Failure]:
        async with aio.Queue(queue.name, queue.url) as own:
            await own.push("a", id="x")
            message = await own.reserve()
            assert message
            await message.retry(error="why")
            assert await own.failures("y") == []
            return await own.failures()

    found = asyncio.run(main())
    assert found == queue.failures("x")
    assert [(failure.id, failure.error, failure.pid) for failure in found] == [("x", "why", OWN[1])]


def test_failures_are_the_last_thousand(queue: dueq.Queue) -> None:
    queue.push("a", max_attempts=None)
    for number in range(1003):
        fail(queue, str(number))
    assert [failure.error for failure in queue.failures()] == [str(n) for n in range(1002, 2, -1)]


def test_failures_are_of_all_partitions(server: Server) -> None:
    server.command("FLUSHALL")
    with dueq.Queue("orders", server.url, partitions=4) as orders:
        orders.push_many(dueq.Draft("x", id=f"x{n}", key=f"k{n}") for n in range(20))
        for number in range(20):
            fail(orders, str(number))
            time.sleep(0.001)
        found = orders.failures()
        assert len(found) == 20
        assert found == sorted(found, key=lambda failure: failure.time, reverse=True)
        [one] = orders.failures("x7")
        assert (one.id, one.delivery) == ("x7", 1)
        assert orders.partition_for("k7").failures("x7") == [one]
