"""Redisson's delayed queues in event loops; calls that are given up lose nothing."""

import asyncio
import contextlib
import logging
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from types import FrameType
from typing import Any

import pytest
import uvloop

import dueq
import dueq.redisson.aio
from dueq import errors
from private_server import Server

LOOPS = pytest.mark.parametrize(
    "factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def left(server: Server) -> int:
    """How many values are due and taken by nobody."""
    ready = server.command("LLEN", "orders")
    parked = server.command("LLEN", "dueq:{orders}:parked")
    assert isinstance(ready, int)
    assert isinstance(parked, int)
    return ready + parked


@LOOPS
def test_redisson_aio_verbs(server: Server, factory: Any) -> None:
    async def main() -> None:
        async with dueq.redisson.aio.DelayedQueue("orders", server.url) as orders:
            await orders.offer("a", delay=0.05)
            await orders.offer_many(["b", "c", "d"])
            assert await orders.peek(4) == ["a", "b", "c", "d"]
            assert await orders.contains("b")
            assert await orders.remove("b")
            assert not await orders.remove("b")
            assert await orders.poll() == "a"
            assert (await orders.transfer()).moved == 2
            assert (await orders.size()).ready == 2
            assert sorted(await orders.take_many(5)) == ["c", "d"]
            assert await orders.take(timeout=0.01) is None
            await orders.offer("e", delay=60)
            assert await orders.clear() == 1
            await orders.offer("f", delay=0.1)
            async with orders.transferring():
                assert await orders.take() == "f"
            assert repr(orders) == "<redisson.DelayedQueue orders>"
        with pytest.raises(errors.InvalidError, match="closed"):
            await orders.size()

    server.command("FLUSHALL")
    with asyncio.Runner(debug=True, loop_factory=factory) as runner:
        runner.run(main())


@LOOPS
@pytest.mark.parametrize("seed", range(3))
def test_redisson_cancel_takes_at_any_moment(server: Server, factory: Any, seed: int) -> None:
    """Every value is taken once: none is lost or doubled."""
    chance = random.Random(seed)
    count = 300
    taken: Counter[int] = Counter()

    async def storm(orders: dueq.redisson.aio.DelayedQueue) -> None:
        while taken.total() < count:
            task = asyncio.create_task(orders.take_many(2, timeout=None))
            await asyncio.sleep(chance.choice((0, 0, chance.uniform(0, 0.003))))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                taken.update(await task)

    async def offer(orders: dueq.redisson.aio.DelayedQueue) -> None:
        for n in range(count):
            await orders.offer(n, delay=chance.choice((0, 0.002)))
            await asyncio.sleep(chance.uniform(0, 0.002))

    async def main() -> None:
        orders = dueq.redisson.aio.DelayedQueue("orders", server.url)
        async with asyncio.timeout(300), orders, orders.transferring():
            await asyncio.gather(offer(orders), *[storm(orders) for _ in range(4)])

    server.command("FLUSHALL")
    with asyncio.Runner(debug=True, loop_factory=factory) as runner:
        runner.run(main())
    assert taken == Counter(range(count))
    assert left(server) == 0


@LOOPS
def test_redisson_cancel_when_the_value_is_on_its_way(server: Server, factory: Any) -> None:
    """It goes back to the front, whatever moment the take is cancelled at."""

    async def main() -> None:
        async with dueq.redisson.aio.DelayedQueue("orders", server.url) as orders:
            for turns in range(50):
                await orders.offer_many(["first"])
                await orders.transfer()
                await orders.offer_many(["second"])
                await orders.transfer()
                task = asyncio.create_task(orders.take())
                for _ in range(turns % 7):
                    await asyncio.sleep(0)
                task.cancel()
                outcome: Any = (await asyncio.gather(task, return_exceptions=True))[0]
                expected = ["second"] if outcome == "first" else ["first", "second"]
                while left(server) != len(expected):
                    await asyncio.sleep(0.001)
                assert await orders.take_many(2) == expected

    server.command("FLUSHALL")
    with asyncio.Runner(debug=True, loop_factory=factory) as runner:
        runner.run(main())


def test_redisson_cancel_after_the_answer_has_come(server: Server) -> None:
    """The answer is there, and the task is cancelled before it runs again."""

    async def main() -> None:
        async with dueq.redisson.aio.DelayedQueue("orders", server.url) as orders:
            task = asyncio.create_task(orders.take())
            while not server.waiting():
                await asyncio.sleep(0.001)
            server.command("RPUSH", "orders", b"\x03hell\xef")
            loop = asyncio.get_running_loop()
            cancelled = loop.create_future()

            def strike() -> None:
                task.cancel()
                cancelled.set_result(None)

            # The value's answer is read in the same turn of the loop as this runs.
            server.wait_for_waiting(0)
            loop.call_soon(strike)
            await cancelled
            await asyncio.gather(task, return_exceptions=True)
            if task.cancelled():
                assert await orders.take(timeout=10) == "hello"
            else:
                assert task.result() == "hello"

    for _ in range(20):
        server.command("FLUSHALL")
        asyncio.run(main(), debug=False)
        assert left(server) == 0


def test_redisson_cancelled_polls_are_the_next_polls(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "dueq")
    chance = random.Random(1)

    async def main() -> None:
        polled: Counter[int] = Counter()
        async with dueq.redisson.aio.DelayedQueue("orders", server.url) as orders:
            await orders.offer_many(range(200), delay=60)
            while (await orders.size()).delayed:
                task = asyncio.create_task(orders.poll_many(2))
                await asyncio.sleep(chance.choice((0, 0.0003)))
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    polled.update(await task)
            while values := await orders.poll_many(3):
                polled.update(values)
            await asyncio.sleep(0.05)
            while values := await orders.poll_many(3):
                polled.update(values)
            assert polled == Counter(range(200))
            # Beside the event loop's own, which says on a busy machine that a task was slow.
            assert not [record for record in caplog.records if record.name == "dueq"]
            await orders.offer("last")
            task = asyncio.create_task(orders.poll())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            assert "1 values of cancelled polls are lost" in caplog.text

    server.command("FLUSHALL")
    asyncio.run(main(), debug=True)


def test_redisson_loop_that_ends_during_takes(server: Server) -> None:
    """What a take was given as its loop ended is for others."""

    async def main() -> None:
        orders = dueq.redisson.aio.DelayedQueue("orders", server.url)
        tasks = [asyncio.create_task(orders.take()) for _ in range(3)]
        while server.waiting() < 3:
            await asyncio.sleep(0.001)
        server.command("RPUSH", "orders", b"\x03hell\xef")
        for task in tasks:
            task.cancel()

    for _ in range(20):
        server.command("FLUSHALL")
        asyncio.run(main(), debug=True)
        with dueq.redisson.DelayedQueue("orders", server.url) as orders:
            assert orders.take(timeout=10) == "hello"


def test_redisson_close_waits_for_takes(server: Server) -> None:
    async def main() -> None:
        orders = dueq.redisson.aio.DelayedQueue("orders", server.url)
        task = asyncio.create_task(orders.take())
        while not server.waiting():
            await asyncio.sleep(0.001)
        server.command("RPUSH", "orders", b"\x03hell\xef")
        await orders.close()
        outcome: Any = (await asyncio.gather(task, return_exceptions=True))[0]
        assert outcome == "hello" or isinstance(outcome, errors.InvalidError)
        assert left(server) == (outcome != "hello")

    for _ in range(10):
        server.command("FLUSHALL")
        asyncio.run(main(), debug=True)


def test_redisson_aio_agent(
    own_server: Server, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes on after the server was away, and ends by what does not pass."""
    caplog.set_level(logging.WARNING, "dueq")

    async def away() -> None:
        url = own_server.url + "?timeout=200ms"
        async with dueq.redisson.aio.DelayedQueue("orders", url) as orders, orders.transferring():
            await orders.offer("x")
            assert await orders.take() == "x"
            own_server.stop()
            async with asyncio.timeout(20):
                while "is tried again" not in caplog.text:
                    await asyncio.sleep(0.01)
            own_server.start()
            await orders.offer("y")
            async with asyncio.timeout(30):
                assert await orders.take() == "y"

    async def broken() -> None:
        server.command("SET", "redisson_delay_queue:{orders}", "something else")
        async with dueq.redisson.aio.DelayedQueue("orders", server.url) as orders:
            with pytest.raises(errors.WrongTypeError):
                await orders.run_transfer()
            with pytest.raises(errors.WrongTypeError):
                async with orders.transferring():
                    while "moving due items has ended" not in caplog.text:
                        await asyncio.sleep(0.001)

    asyncio.run(away(), debug=True)
    server.command("FLUSHALL")
    asyncio.run(broken(), debug=True)


class Stop(Exception):
    pass


def test_redisson_takes_interrupted_at_any_moment(server: Server) -> None:
    """Whatever an exception of a signal handler hits, what nobody was given is there."""
    armed = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise Stop

    def shoot(me: int, done: threading.Event) -> None:
        chance = random.Random(1)
        while not done.wait(chance.uniform(0.0001, 0.003)):
            signal.pthread_kill(me, signal.SIGUSR1)

    server.command("FLUSHALL")
    given, lost = 0, 0
    done = threading.Event()
    before = signal.signal(signal.SIGUSR1, stop)
    gun = threading.Thread(target=shoot, args=(threading.get_ident(), done))
    gun.start()
    try:
        with dueq.redisson.DelayedQueue("orders", server.url) as orders:
            for _ in range(300):
                # Between the core's answer and the caller Python itself may be interrupted.
                orders.offer("x")
                orders.transfer()
                try:
                    armed = True
                    value = orders.take(timeout=None)
                    armed = False
                    assert value == "x"
                    given += 1
                except Stop:
                    lost += orders.take(timeout=0.5) is None
            armed = False
    finally:
        done.set()
        gun.join()
        signal.signal(signal.SIGUSR1, before)
    assert left(server) == 0
    assert 0 < given < 300
    # A handler that runs after the answer was handed to Python, before the caller has it.
    assert lost <= 5


def test_redisson_ctrl_c_during_a_take(server: Server) -> None:
    code = "import dueq.redisson, sys; dueq.redisson.DelayedQueue('orders', sys.argv[1]).take()"
    server.command("FLUSHALL")
    words = [sys.executable, "-c", code, server.url]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        server.wait_for_waiting(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in said
    with dueq.redisson.DelayedQueue("orders", server.url) as orders:
        orders.offer("x")
        orders.transfer()
        assert orders.take(timeout=10) == "x"
