"""A queue that a newer dueq has upgraded while clients of this one are at work on it."""

import asyncio
import threading

import pytest

import dueq
from dueq import aio, errors
from newer_version import REFUSAL, downgrade, upgrade
from private_server import Server

LEFT: list[bytes] = []
"""What a refused call has changed."""


def test_error_says_what_to_do(queue: dueq.Queue, server: Server) -> None:
    upgrade(server, queue.name)
    with pytest.raises(errors.LayoutError) as caught:
        queue.push("x")
    assert REFUSAL.format(queue.name) in str(caught.value)
    assert not caught.value.retriable
    assert downgrade(server, queue.name) == LEFT


def test_consumer_ends(queue: dueq.Queue, server: Server) -> None:
    """What it holds is neither acknowledged nor lost."""
    queue.push_many(str(n) for n in range(5))

    def handle(message: dueq.Message) -> None:
        if message.body == b"1":
            upgrade(server, queue.name)

    with pytest.raises(errors.LayoutError):
        queue.consume(prefetch=1, lease=60).work(handle)
    assert downgrade(server, queue.name) == LEFT
    stats = queue.stats()
    assert (stats.acked, stats.leased, stats.ready) == (1, 1, 3)


def test_consumer_that_is_woken_ends(queue: dueq.Queue, server: Server) -> None:
    ended: list[type[BaseException]] = []

    def wait() -> None:
        try:
            queue.reserve(timeout=60)
        except dueq.Error as error:
            ended.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    server.wait_for_waiting(1)
    upgrade(server, queue.name)
    server.command("ZADD", f"dueq:{{{queue.name}}}:wake", 0, "w")
    thread.join(30)
    assert ended == [errors.LayoutError]
    # The token that woke it is there again, for a consumer that knows the queue.
    assert downgrade(server, queue.name) == [*LEFT, f"dueq:{{{queue.name}}}:wake".encode()]


def test_pusher_fails(queue: dueq.Queue, server: Server) -> None:
    with queue.pusher() as pusher:
        before = [pusher.push(str(n)) for n in range(1000)]
        pusher.flush()
        upgrade(server, queue.name)
        after = [pusher.push(str(n), delay=n % 3) for n in range(1000)]
        with pytest.raises(ExceptionGroup):
            pusher.flush()
    assert all(push.error is None for push in before)
    assert {type(push.error) for push in after} == {errors.LayoutError}
    assert downgrade(server, queue.name) == LEFT
    assert queue.stats().ready == 1000


def test_event_loop(queue: dueq.Queue, server: Server) -> None:
    async def run() -> None:
        async with aio.Queue(queue.name, server.url) as another:
            await another.push("a")
            message = await another.reserve()
            assert message
            upgrade(server, queue.name)
            with pytest.raises(errors.LayoutError):
                await message.ack()
            with pytest.raises(errors.LayoutError):
                await another.reserve(timeout=60)

    asyncio.run(run())
    assert downgrade(server, queue.name) == LEFT
