"""A handler asked for a settlement, and the call failed: the end of its block does not ack."""

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

import dueq
from dueq import aio, errors
from private_server import Server

WAYS = [
    *[("consume", verb) for verb in ("retry", "release", "bury", "ack_push")],
    ("reserve", "retry"),
    ("work", "retry"),
]
TIMEOUT = "?timeout=3s"


@pytest.fixture
def sure_server() -> Iterator[Server]:
    """What it has answered outlives it."""
    with Server("--appendonly", "yes", "--appendfsync", "always") as running:
        yield running


def crash(server: Server) -> None:
    """The server dies with what it has not read yet, and comes back."""
    server.stop()
    server.start()


def ask(message: dueq.Message, verb: str) -> None:
    if verb == "ack_push":
        message.ack(push=["next"])
    else:
        getattr(message, verb)()


async def ask_aio(message: aio.Message, verb: str) -> None:
    if verb == "ack_push":
        await message.ack(push=["next"])
    else:
        await getattr(message, verb)()


def assert_comes_back(server: Server, name: str) -> None:
    with dueq.Queue(name, server.url) as queue:
        assert queue.stats().acked == 0
        message = queue.reserve(timeout=20)
        assert message, "the message is lost"
        assert (message.body, message.deliveries) == (b"x", 2)
        message.ack()
        assert queue.reserve() is None


@pytest.mark.parametrize(("face", "verb"), WAYS)
def test_unknown_outcome_is_left_to_the_lease(
    sure_server: Server, face: str, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    queue = dueq.Queue("q", sure_server.url + TIMEOUT)
    queue.push("x", id="x")

    def handle(message: dueq.Message) -> None:
        sure_server.freeze()
        with pytest.raises(errors.ServerTimeoutError):
            ask(message, verb)
        crash(sure_server)

    if face == "reserve":
        message = queue.reserve(lease=1)
        assert message
        with message:
            handle(message)
        assert_comes_back(sure_server, "q")
    else:
        consumer = queue.consume(lease=1)

        def once(message: dueq.Message) -> None:
            handle(message)
            consumer.stop()

        if face == "work":
            consumer.work(once)
        else:
            for message in consumer:
                with message:
                    once(message)
        # The consumer lives on, and its heartbeat keeps the message no longer.
        assert_comes_back(sure_server, "q")
        assert not consumer.lost
    assert "message x: " in caplog.text
    assert "so it is not acknowledged" in caplog.text


@pytest.mark.parametrize(("face", "verb"), WAYS)
def test_unknown_outcome_is_left_to_the_lease_in_asyncio(
    sure_server: Server, face: str, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def handle(message: aio.Message) -> None:
        sure_server.freeze()
        with pytest.raises(errors.ServerTimeoutError):
            await ask_aio(message, verb)
        crash(sure_server)

    async def main() -> None:
        async with aio.Queue("q", sure_server.url + TIMEOUT) as queue:
            await queue.push("x", id="x")
            if face == "reserve":
                reserved = await queue.reserve(lease=1)
                assert reserved
                async with reserved:
                    await handle(reserved)
                return
            consumer = queue.consume(lease=1)

            async def once(message: aio.Message) -> None:
                await handle(message)
                consumer.stop()

            if face == "work":
                await consumer.work(once)
            else:
                async for message in consumer:
                    async with message:
                        await once(message)
            await asyncio.to_thread(assert_comes_back, sure_server, "q")
            assert not consumer.lost

    asyncio.run(main())
    if face == "reserve":
        assert_comes_back(sure_server, "q")
    assert "so it is not acknowledged" in caplog.text


def test_refused_settlement_is_left_to_the_lease(queue: dueq.Queue, server: Server) -> None:
    queue.push("x")
    server.command("SET", f"dueq:{{{queue.name}}}:dead", "foreign")
    for message in queue.consume(lease=1, timeout=0):
        with message, contextlib.suppress(errors.WrongTypeError):
            message.bury()
    server.command("DEL", f"dueq:{{{queue.name}}}:dead")
    assert_comes_back(server, queue.name)


def test_settlement_with_wrong_arguments_is_left_to_the_lease(
    queue: dueq.Queue, server: Server
) -> None:
    queue.push("x")
    for message in queue.consume(lease=1, timeout=0):
        with message, contextlib.suppress(errors.InvalidError):
            message.retry(delay=-1)
    assert_comes_back(server, queue.name)


def test_settlement_that_is_made_again_counts(queue: dueq.Queue, server: Server) -> None:
    queue.push("x")
    server.command("SET", f"dueq:{{{queue.name}}}:dead", "foreign")
    for message in queue.consume(timeout=0):
        with message:
            with pytest.raises(errors.WrongTypeError):
                message.bury()
            message.ack()
    server.command("DEL", f"dueq:{{{queue.name}}}:dead")
    assert queue.stats().acked == 1


def test_block_that_raises_after_a_failed_settlement_gives_back(
    queue: dueq.Queue, server: Server
) -> None:
    id = queue.push("x", backoff=0)
    server.command("SET", f"dueq:{{{queue.name}}}:dead", "foreign")
    with pytest.raises(RuntimeError):
        for message in queue.consume(timeout=0):
            with message:
                with pytest.raises(errors.WrongTypeError):
                    message.bury()
                server.command("DEL", f"dueq:{{{queue.name}}}:dead")
                raise RuntimeError("why")
    found = queue.find(id)
    assert found
    assert (found.state, found.error) == (dueq.State.READY, "RuntimeError: why")


def test_failed_end_of_a_block_ends_the_heartbeat(sure_server: Server) -> None:
    """Of a message that is not the loop's last: its settlement is a call of its own."""
    with dueq.Queue("q", sure_server.url + TIMEOUT) as queue:
        queue.push("x")
        with queue.consume(lease=1, timeout=0) as consumer:
            (kept,) = list(consumer)
            with pytest.raises(RuntimeError), kept:
                sure_server.freeze()
                raise RuntimeError("it is retried, in vain")
            crash(sure_server)
            assert_comes_back(sure_server, "q")
