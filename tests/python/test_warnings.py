"""Who holds a message is told: of a server that is away, of a lost lease; and an ack is kept."""

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

import dueq
import dueq.errors
from dueq import aio
from private_server import Server


@pytest.fixture
def durable_server() -> Iterator[Server]:
    with Server("--appendonly", "yes", "--appendfsync", "always") as running:
        yield running


def until(holds: Callable[[], object]) -> None:
    """It computes meanwhile: no call of dueq is made."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end


def test_handler_that_computes_is_told_of_an_outage(
    durable_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    queue = dueq.Queue("q", durable_server.url)
    queue.push("x")
    with queue.consume(lease=1.5, timeout=5) as consumer:
        message = next(iter(consumer))
        time.sleep(1)  # the heartbeat is connected
        durable_server.stop()
        until(lambda: "it is tried again" in caplog.text)
        durable_server.start()
        until(lambda: "it answers again" in caplog.text)
        assert not message.lost
        message.ack()
    assert queue.stats().acked == 1


def test_handler_can_ask_whether_its_message_is_lost(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push("x")
    with queue.consume(lease=0.5, timeout=5) as consumer:
        message = next(iter(consumer))
        assert not message.lost
        queue.cancel(message.id)
        until(lambda: message.lost)
        until(lambda: f"lost: message {message.id}: " in caplog.text)
        with pytest.raises(dueq.LeaseLost):
            message.checkpoint("half")
        assert message.lost


def test_ack_in_an_outage_waits_and_is_kept(durable_server: Server) -> None:
    patient = dueq.Queue("q", durable_server.url)
    queue = dueq.Queue("q", f"{durable_server.url}?timeout=1s")
    queue.push("x")
    with queue.consume(lease=3, timeout=5) as consumer:
        for message in consumer:
            durable_server.stop()
            begin = time.monotonic()
            with pytest.raises(dueq.errors.ClosedError), message:
                message.ack()
            assert time.monotonic() - begin > 0.9
            durable_server.start()
            until(lambda: patient.stats().acked == 1)
            break
        assert consumer.lost == 0


def test_ack_of_a_plain_reserve_waits_in_an_outage(durable_server: Server) -> None:
    queue = dueq.Queue("q", f"{durable_server.url}?timeout=1s")
    queue.push("x")
    message = queue.reserve(timeout=5)
    assert message
    durable_server.stop()
    begin = time.monotonic()
    with pytest.raises(dueq.errors.ClosedError):
        message.ack()
    assert time.monotonic() - begin > 0.9


def test_ack_in_an_event_loop_is_kept(durable_server: Server) -> None:
    async def test() -> None:
        impatient = aio.Queue("q", f"{durable_server.url}?timeout=1s")
        async with aio.Queue("q", durable_server.url) as patient, impatient as queue:
            await queue.push("x")
            async with queue.consume(lease=3, timeout=5) as consumer:
                async for message in consumer:
                    await asyncio.to_thread(durable_server.stop)
                    with pytest.raises(dueq.errors.ClosedError):
                        async with message:
                            await message.ack()
                    await asyncio.to_thread(durable_server.start)
                    end = time.monotonic() + 30
                    while (await patient.stats()).acked == 0:
                        assert time.monotonic() < end
                    break
                assert consumer.lost == 0

    asyncio.run(test())


def test_task_in_an_event_loop_is_cancelled_by_a_lost_lease(server: Server) -> None:
    async def test() -> None:
        async with aio.Queue("told", server.url) as queue:
            await queue.push("x")
            async with queue.consume(lease=0.5, timeout=5) as consumer:
                async for message in consumer:
                    await queue.cancel(message.id)
                    with pytest.raises(dueq.LeaseLost):
                        async with asyncio.timeout(30), message:
                            with consumer.cancel_on_lost(message):
                                await asyncio.sleep(60)
                    task = asyncio.current_task()
                    assert task
                    assert task.cancelling() == 0
                    break

    asyncio.run(test())


def test_block_that_ends_before_its_message_is_lost_is_not_cancelled(server: Server) -> None:
    async def test() -> None:
        async with aio.Queue("told", server.url) as queue:
            await queue.push("x")
            async with queue.consume(lease=0.5, timeout=5) as consumer:
                async for message in consumer:
                    async with message:
                        with consumer.cancel_on_lost(message):
                            pass
                    break
            assert (await queue.stats()).acked == 1

    asyncio.run(test())
