"""Calls whose tasks are cancelled at any moment lose nothing."""

import asyncio
import contextlib
import random
import subprocess
import sys
from collections import Counter

import pytest
import uvloop

import dueq
from dueq import aio
from private_server import Server

LOOPS = pytest.mark.parametrize(
    "factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


@LOOPS
@pytest.mark.parametrize("seed", range(3))
def test_cancel_reserves_at_any_moment(queue: dueq.Queue, factory: object, seed: int) -> None:
    """All are delivered once: none is lost, doubled, or held by a lease that nobody knows of."""
    chance = random.Random(seed)
    count = 300

    async def take(opened: aio.Queue, taken: Counter[bytes]) -> None:
        for message in await opened.reserve_many(chance.randint(1, 3), timeout=None, lease=600):
            taken[message.body] += 1
            assert message.attempt == 1
            await message.ack()

    async def storm(opened: aio.Queue, taken: Counter[bytes]) -> None:
        while taken.total() < count:
            # The ack is not to be cancelled: its outcome would not be known.
            task = asyncio.create_task(opened.reserve_many(2, timeout=None, lease=600))
            await asyncio.sleep(chance.choice((0, 0, chance.uniform(0, 0.003))))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                for message in await task:
                    taken[message.body] += 1
                    assert message.attempt == 1
                    await message.ack()

    async def push(opened: aio.Queue) -> None:
        for n in range(count):
            await opened.push(str(n), delay=chance.choice((0, 0.002)))
            await asyncio.sleep(chance.uniform(0, 0.002))

    async def main() -> None:
        taken: Counter[bytes] = Counter()
        async with aio.Queue(queue.name, queue.url) as opened, asyncio.timeout(300):
            await asyncio.gather(push(opened), *[storm(opened, taken) for _ in range(4)])
        assert taken == Counter(str(n).encode() for n in range(count))

    with asyncio.Runner(debug=True, loop_factory=factory) as runner:  # type: ignore[arg-type]
        runner.run(main())
    stats = queue.stats()
    assert (stats.ready, stats.delayed, stats.leased, stats.dead) == (0, 0, 0, 0)


@LOOPS
def test_cancel_when_the_message_is_on_its_way(queue: dueq.Queue, factory: object) -> None:
    """It comes back at the front of the line, uncounted."""

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            for _ in range(50):
                async with aio.Queue(queue.name, queue.url) as other:
                    await other.push_many(["first", "second"])  # connects
                    task = asyncio.create_task(other.reserve(timeout=None, lease=600))
                    await asyncio.sleep(0)  # it has been sent
                    task.cancel()
                    outcome, *_ = await asyncio.gather(task, return_exceptions=True)
                    if isinstance(outcome, aio.Message):  # its answer came at once
                        await outcome.release()
                # The cancelled call has ended at the server.
                messages = await opened.reserve_many(2)
                assert [message.body for message in messages] == [b"first", b"second"]
                assert [message.attempt for message in messages] == [1, 1]
                await opened.ack_many(messages)

    with asyncio.Runner(debug=True, loop_factory=factory) as runner:  # type: ignore[arg-type]
        runner.run(main())


def test_cancel_by_timeout_in_a_loop(queue: dueq.Queue) -> None:
    """The usual way to poll something else meanwhile, with messages that come at that moment."""

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            got: list[str] = []
            ids = [await opened.push("x", delay=0.01 * n) for n in range(100)]
            while len(got) < 100:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.01):
                        message = await opened.reserve(timeout=None, lease=600)
                        got.append(message.id)
            assert sorted(got) == sorted(ids)

    asyncio.run(main(), debug=True)


def test_cancel_pushes_and_acks_leave_the_links_usable(queue: dueq.Queue) -> None:
    async def main() -> None:
        chance = random.Random(7)
        async with aio.Queue(queue.name, queue.url) as opened:
            for _ in range(100):
                tasks = [asyncio.create_task(opened.push("x")) for _ in range(5)]
                await asyncio.sleep(chance.choice((0, 0.0005)))
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                while message := await opened.reserve():
                    task = asyncio.create_task(message.ack())  # type: ignore[arg-type]
                    await asyncio.sleep(chance.choice((0, 0.0005)))
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
        # close() has waited for all of them.
        stats = queue.stats()
        assert stats.leased == 0
        assert stats.pushed == stats.acked + stats.ready

    asyncio.run(main(), debug=True)


def test_cancel_in_one_loop_after_another(queue: dueq.Queue, server: Server) -> None:
    opened = aio.Queue(queue.name, queue.url)

    async def main() -> None:
        task = asyncio.create_task(opened.reserve(timeout=None, lease=600))
        while not server.waiting():
            await asyncio.sleep(0.001)
        queue.push("x")
        task.cancel()

    for _ in range(3):
        asyncio.run(main(), debug=True)
        message = queue.reserve()
        assert message is not None
        message.ack()
    asyncio.run(asyncio.wait_for(opened.close(), 10))


def test_cancel_leaves_the_connections_to_others(queue: dueq.Queue, server: Server) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            for _ in range(50):
                task = asyncio.create_task(opened.reserve(timeout=None))
                while not server.waiting():
                    await asyncio.sleep(0.001)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                while server.waiting():
                    await asyncio.sleep(0.001)
            clients = server.command("CLIENT", "LIST")
            assert isinstance(clients, bytes)
            assert clients.count(b"\n") <= 6

    asyncio.run(main(), debug=True)


DEVELOPED = """
import asyncio, sys
from dueq import aio

async def take(queue):
    message = await queue.reserve(timeout=None)
    await message.ack()

async def main():
    async with aio.Queue(*sys.argv[1:3]) as queue:
        await queue.push_many(["x"] * 20)
        tasks = [asyncio.create_task(take(queue)) for _ in range(30)]
        await asyncio.sleep(0.02)
        for task in tasks:
            task.cancel()
    left = aio.Queue(*sys.argv[1:3])

    async def loop():
        async for message in left.consume(prefetch=3):
            async with message:
                pass

    tasks = [asyncio.create_task(loop()), asyncio.create_task(left.lock("job", 9, timeout=None))]
    tasks.append(asyncio.create_task(take(left)))
    async with left.pusher() as pusher:
        await pusher.push("x")
    await asyncio.sleep(0.05)
    other = aio.Queue("another", sys.argv[2])
    await other.push_many(["x"] * 5)
    async for message in other:
        break

run = asyncio.run
if sys.argv[3] == "uvloop":
    import uvloop
    run = uvloop.run
run(main())
run(main())
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_cancel_in_development_mode_says_nothing(
    queue: dueq.Queue, server: Server, loop: str
) -> None:
    words = [sys.executable, "-X", "dev", "-W", "error", "-c", DEVELOPED]
    words += [queue.name, server.url, loop]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert queue.stats().leased == 0


def test_ctrl_c_during_a_wait(queue: dueq.Queue, server: Server) -> None:
    code = (
        "import asyncio, sys; from dueq import aio;"
        "asyncio.run(aio.Queue(*sys.argv[1:]).reserve(timeout=None))"
    )
    words = [sys.executable, "-X", "dev", "-c", code, queue.name, server.url]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        server.wait_for_waiting(1)
        process.send_signal(2)
        _, said = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in said
    assert "Warning" not in said
