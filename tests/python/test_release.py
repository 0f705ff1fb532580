"""What is no failure gives the message back uncounted, and so does a consumer that ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

import dueq
from dueq import aio

NO_FAILURES = [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]
WAYS = ["reserve", "consume", "work", "older"]


def assert_released(queue: dueq.Queue, deliveries: int = 1) -> None:
    """It is ready, and no attempt, failure or crash is counted; the next delivery has it."""
    [message] = queue.peek("ready")
    assert (message.attempt, message.error, message.crashes) == (0, "", 0)
    assert message.deliveries == deliveries
    stats = queue.stats()
    assert (stats.retried, stats.leased, stats.dead) == (0, 0, 0)


@pytest.mark.parametrize("ends", NO_FAILURES)
@pytest.mark.parametrize("way", WAYS)
def test_block_that_is_ended_releases(
    queue: dueq.Queue, way: str, ends: type[BaseException]
) -> None:
    queue.push("x", max_attempts=1)

    def handle(message: dueq.Message) -> None:
        raise ends

    with pytest.raises(ends):
        if way == "reserve":
            with queue.reserve(timeout=None) as message:
                handle(message)
        elif way == "work":
            queue.consume(timeout=5).work(handle, lambda *_: pytest.fail("it is no failure"))
        elif way == "consume":
            for message in queue.consume(timeout=5):
                with message:
                    handle(message)
        else:
            [message] = queue.consume(timeout=0, concurrency=None)
            with message:
                handle(message)
    assert_released(queue)


@pytest.mark.parametrize("ends", [SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("way", WAYS)
def test_block_that_is_ended_releases_in_asyncio(
    queue: dueq.Queue, way: str, ends: type[BaseException]
) -> None:
    queue.push("x", max_attempts=1)

    async def handle(message: aio.Message) -> None:
        raise ends

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as own:
            if way == "reserve":
                async with await own.reserve(timeout=None) as message:
                    await handle(message)
            elif way == "work":
                await own.consume(timeout=5).work(handle)
            elif way == "consume":
                async for message in own.consume(timeout=5):
                    async with message:
                        await handle(message)
            else:
                [message] = [each async for each in own.consume(timeout=0, concurrency=None)]
                async with message:
                    await handle(message)

    with pytest.raises(ends):
        asyncio.run(main(), debug=True)
    assert_released(queue)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_cancelled_task_releases(queue: dueq.Queue, way: str, times: int) -> None:
    """Also where it is cancelled again while it releases."""
    queue.push("x", max_attempts=1)

    async def main() -> None:
        begun = asyncio.Event()

        async def handle(message: aio.Message) -> None:
            begun.set()
            await asyncio.sleep(60)

        async def work(own: aio.Queue) -> None:
            if way == "reserve":
                async with await own.reserve(timeout=None) as message:
                    await handle(message)
            elif way == "work":
                await own.consume().work(handle)
            elif way == "consume":
                async for message in own.consume():
                    async with message:
                        await handle(message)
            else:
                [message] = [each async for each in own.consume(timeout=0, concurrency=None)]
                async with message:
                    await handle(message)

        async with aio.Queue(queue.name, queue.url) as own:
            task = asyncio.create_task(work(own))
            await begun.wait()
            for _ in range(times):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main(), debug=True)
    assert_released(queue)


def test_generator_that_is_closed_releases(queue: dueq.Queue) -> None:
    queue.push("x", max_attempts=1)

    def bodies() -> Iterator[bytes]:
        for message in queue:
            with message:
                yield message.body

    generator = bodies()
    assert next(generator) == b"x"
    del generator
    assert_released(queue)


def test_generator_that_is_closed_releases_in_asyncio(queue: dueq.Queue) -> None:
    queue.push("x", max_attempts=1)

    async def main() -> None:
        own = aio.Queue(queue.name, queue.url)

        async def bodies() -> AsyncIterator[bytes]:
            async for message in own:
                async with message:
                    yield message.body

        async for body in bodies():
            assert body == b"x"
            break

    asyncio.run(main(), debug=True)
    assert_released(queue)


def test_failure_beside_a_cancellation_is_one(queue: dueq.Queue) -> None:
    """A deadline inside of the block is the handler's, and so it is a failure."""
    queue.push("x")

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as own:
            with pytest.raises(TimeoutError):
                async with await own.reserve(timeout=None) as message, asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            assert message.body == b"x"

    asyncio.run(main(), debug=True)
    assert queue.stats().retried == 1


def test_settlement_that_was_asked_for_before_counts(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push("x")
    with pytest.raises(SystemExit), queue.reserve(timeout=None) as message:
        message.ack()
        raise SystemExit
    assert queue.stats().acked == 1
    queue.push("y", id="y")
    with pytest.raises(SystemExit), queue.reserve(timeout=None) as message:
        with contextlib.suppress(dueq.Error):
            message.retry(delay=-1)
        raise SystemExit
    assert queue.stats().leased == 1
    assert "message y: " in caplog.text


def test_closed_consumer_gives_all_back(queue: dueq.Queue) -> None:
    """Also what it has delivered: first comes again what was first."""
    queue.push_many(["0", "1", "2", "3"])
    with queue.consume(prefetch=3, concurrency=None) as consumer:
        kept = list(islice(consumer, 2))
        assert queue.stats().leased == 2
    assert [message.body for message in queue.peek("ready")] == [b"0", b"1", b"2", b"3"]
    assert [message.crashes for message in queue.peek("ready")] == [0] * 4
    with pytest.raises(dueq.LeaseLost):
        kept[0].ack()


def test_closed_consumer_gives_all_back_in_asyncio(queue: dueq.Queue) -> None:
    queue.push_many(["0", "1", "2", "3"])

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as own:
            async with own.consume(prefetch=3, concurrency=None) as consumer:
                async for message in consumer:
                    if message.body == b"1":
                        break
            stats = await own.stats()
            assert (stats.ready, stats.leased) == (4, 0)

    asyncio.run(main(), debug=True)
    assert [message.body for message in queue.peek("ready")] == [b"0", b"1", b"2", b"3"]


def test_forgotten_consumer_gives_all_back(queue: dueq.Queue) -> None:
    queue.push("x")
    for message in queue.consume():
        assert message.body == b"x"
        break
    assert queue.stats().leased == 1
    del message
    gc.collect()
    assert_released(queue)


def test_forgotten_consumer_gives_all_back_in_asyncio(queue: dueq.Queue) -> None:
    queue.push("x")

    async def main() -> None:
        own = aio.Queue(queue.name, queue.url)
        async for message in own.consume():
            assert message.body == b"x"
            break
        del message
        gc.collect()
        async with asyncio.timeout(20):
            while (await own.stats()).leased:
                await asyncio.sleep(0.01)

    asyncio.run(main())
    assert_released(queue)


PROGRAMS = {
    "exit": """
import sys, dueq
queue = dueq.Queue({name!r}, {url!r})
for message in queue:
    sys.exit(0)
""",
    "kept": """
import dueq
queue = dueq.Queue({name!r}, {url!r})
consumer = queue.consume()
message = next(iter(consumer))
""",
    "asyncio": """
import asyncio, dueq.aio

async def main():
    global message
    queue = dueq.aio.Queue({name!r}, {url!r})
    async for message in queue.consume():
        break

asyncio.run(main())
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_ends_gives_all_back(queue: dueq.Queue, program: str) -> None:
    queue.push("x")
    text = PROGRAMS[program].format(name=queue.name, url=queue.url)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert_released(queue)


# What is delivered and not settled when the loop goes on


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records]
    return [line for line in lines if "nobody has settled" in line]


def test_unsettled_message_is_warned_of_once_a_consumer(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push_many(["0", "1", "2"])
    with caplog.at_level(logging.WARNING, "dueq"), queue.consume(timeout=0) as consumer:
        for message in consumer:
            assert message.body in (b"0", b"1", b"2")
    [line] = said(caplog)
    assert line.startswith(f"{queue.name}: a consumer")
    for word in ("ack", "retry", "release", "with block", "concurrency"):
        assert word in line
    with queue.consume(prefetch=2, timeout=0) as consumer:
        assert len(list(consumer)) == 3
    assert len(said(caplog)) == 2


def test_unsettled_message_is_warned_of_in_asyncio(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push_many(["0", "1", "2"])

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as own:
            async for message in own.consume(timeout=0):
                assert message.attempt == 1

    asyncio.run(main())
    assert len(said(caplog)) == 1


@pytest.mark.parametrize("prefetch", [1, 4])
def test_settled_messages_are_not_warned_of(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture, prefetch: int
) -> None:
    queue.push_many(str(number) for number in range(20))
    with queue.consume(prefetch=prefetch, timeout=0) as consumer:
        for message in consumer:
            match message.body:
                case b"1":
                    message.ack()
                case b"2":
                    message.retry(delay=60)
                case b"3":
                    message.release(60)
                case b"4":
                    message.bury()
                case b"5":
                    with contextlib.suppress(RuntimeError), message:
                        raise RuntimeError
                case b"6":
                    queue.cancel(message.id)
                    with pytest.raises(dueq.LeaseLost):
                        message.ack()
                case _:
                    with message:
                        pass
    assert said(caplog) == []


def test_messages_of_several_threads_are_not_warned_of(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push_many(["0", "1", "2"])
    for concurrency, lines in ((3, 0), (None, 0), (2, 1)):
        with (
            ThreadPoolExecutor(3) as pool,
            queue.consume(timeout=0, concurrency=concurrency) as consumer,
        ):
            kept = list(consumer)
            list(pool.map(dueq.Message.release, kept))
        assert len(said(caplog)) == lines
