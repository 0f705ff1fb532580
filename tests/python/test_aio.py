"""The verbs on an event loop: asyncio's own, and uvloop."""

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

import dueq
import dueq.laravel.aio
import dueq.redisson.aio
from dueq import aio, errors
from private_server import Server

Runs = Callable[[Callable[[aio.Queue], Coroutine[Any, Any, None]]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest, queue: dueq.Queue) -> Runs:
    """Runs a coroutine function with the test's queue, and in debug mode."""
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}

    def runs(test: Callable[[aio.Queue], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            async with aio.Queue(queue.name, queue.url) as opened:
                await test(opened)

        with asyncio.Runner(debug=True, loop_factory=loops[request.param]) as runner:
            runner.run(main())

    return runs


def test_aio_has_every_verb() -> None:
    """The same names with the same arguments, and coroutines where the other face blocks."""
    plain = {"new_id", "partition_for", "url", "json", "pusher", "consume", "batch"}
    plain |= {"transferring", "migrating"}
    pairs: list[tuple[type, type]] = [(dueq.Queue, aio.Queue), (dueq.Queues, aio.Queues)]
    pairs += [
        (dueq.redisson.DelayedQueue, dueq.redisson.aio.DelayedQueue),
        (dueq.laravel.Queue, dueq.laravel.aio.Queue),
    ]
    pairs += [(dueq.laravel.Job, dueq.laravel.aio.Job)]
    pairs += [(dueq.Message, aio.Message), (dueq.Lock, aio.Lock), (dueq.Pusher, aio.Pusher)]
    for blocking, waiting in pairs:
        names = {name for name in dir(blocking) if not name.startswith("_")}
        assert names == {name for name in dir(waiting) if not name.startswith("_")}
        for name in names:
            first, second = getattr(blocking, name), getattr(waiting, name)
            if callable(first):
                assert inspect.iscoroutinefunction(second) != (
                    name in plain or second is aio.Queue.peek
                ), name
                if name in ("run_transfer", "run_migrate"):  # a coroutine ends by being cancelled
                    continue
                assert (
                    str(inspect.signature(first)).split(" -> ")[0]
                    == (str(inspect.signature(second)).split(" -> ")[0])
                )
                assert second.__doc__, name


def test_aio_life_of_a_message(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        assert await queue.reserve() is None
        id = await queue.push("one", headers={"a": "b"}, delay=0.05)
        assert await queue.push_many(["two", dueq.Draft("x", id=id)]) == [
            (found := await queue.reserve(timeout=None)).id,
            None,
        ]
        assert found.body == b"two"
        message = await queue.reserve(timeout=None)
        assert (message.id, message.body, message.headers) == (id, b"one", {"a": "b"})
        await message.extend(60)
        assert await message.retry(0, error="again")
        message = await queue.reserve(timeout=None)
        assert (message.attempt, message.error) == (2, "again")
        await message.release()
        message = await queue.reserve(timeout=None)
        assert message.attempt == 2
        await message.bury("enough")
        assert [dead.error async for dead in queue.peek("dead", page=1)] == ["enough"]
        assert await queue.kick(id)
        message = await queue.reserve(timeout=None)
        assert await message.ack(push=["three", "four"]) == [
            ready.id async for ready in queue.peek("ready", page=1)
        ]
        assert await queue.ack_many([found, message]) == [True, False]
        with pytest.raises(dueq.LeaseLost):
            await message.ack()
        stats = await queue.stats()
        assert (stats.ready, stats.leased, stats.acked) == (2, 0, 2)
        assert await queue.purge("ready") == 2
        assert await queue.find(id) is None

    run(test)


def test_aio_with_block(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        await queue.push_many(["good", dueq.Draft("bad", backoff=0)])
        async with await queue.reserve(timeout=None) as message:
            assert message.body == b"good"
        with pytest.raises(RuntimeError):
            async with await queue.reserve(timeout=None) as message:
                raise RuntimeError("why")
        [left] = [message async for message in queue.peek("ready")]
        assert (left.body, left.error) == (b"bad", "RuntimeError: why")

    run(test)


def test_aio_lock(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        order = []

        async def work(name: str) -> None:
            async with await queue.lock("one", ttl=60, timeout=None) as lock:
                await lock.extend(60)
                order.append(name)
                await asyncio.sleep(0.01)
                order.append(name)

        await asyncio.gather(work("a"), work("b"), work("c"))
        assert order[0::2] == order[1::2]
        assert sorted(order[0::2]) == ["a", "b", "c"]

    run(test)


def test_aio_locks_wait_cancelled(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        held = await queue.lock("one", ttl=60)
        assert held is not None
        waits = [asyncio.create_task(queue.lock("one", 60, timeout=None)) for _ in range(5)]
        await asyncio.sleep(0.1)
        await held.release()
        for wait in waits:
            wait.cancel()
        for lock in await asyncio.gather(*waits, return_exceptions=True):
            if isinstance(lock, aio.Lock):  # it had it before it was cancelled
                await lock.release()
        assert await queue.lock("one", ttl=60, timeout=5) is not None

    run(test)


def test_aio_queues(run: Runs, server: Server) -> None:
    async def test(queue: aio.Queue) -> None:
        async with aio.Queues(["a", queue.name], server.url, order="round robin") as queues:
            waiting = asyncio.create_task(queues.reserve(timeout=None))
            await asyncio.sleep(0)
            await queue.push("x")
            message = await waiting
            assert message.queue == queue.name
            await message.ack()
        assert queue.name in await aio.queues(server.url)

    run(test)


def test_aio_hundred_reserves(run: Runs, server: Server) -> None:
    async def test(queue: aio.Queue) -> None:
        waits = [asyncio.create_task(queue.reserve(timeout=30)) for _ in range(100)]
        while server.waiting() < 100:
            await asyncio.sleep(0.01)
        ids = await asyncio.gather(*[queue.push(str(n)) for n in range(100)])
        messages = await asyncio.gather(*waits)
        assert Counter(message.id for message in messages if message) == Counter(ids)
        await asyncio.gather(*[message.ack() for message in messages if message])
        assert (await queue.stats()).acked == 100

    run(test)


def test_aio_thousand_pushes_share_some_links(run: Runs, server: Server) -> None:
    async def test(queue: aio.Queue) -> None:
        await asyncio.gather(*[queue.push(str(n)) for n in range(1000)])
        clients = server.command("CLIENT", "LIST")
        assert isinstance(clients, bytes)
        assert clients.count(b"\n") < 50
        assert (await queue.stats()).ready == 1000

    run(test)


def test_aio_waits_without_work(run: Runs, server: Server) -> None:
    """The loop sleeps: no CPU, and next to no rounds."""

    async def test(queue: aio.Queue) -> None:
        wait = asyncio.create_task(queue.reserve(timeout=60))
        while not server.waiting():
            await asyncio.sleep(0.01)
        begin, used = time.monotonic(), time.process_time()
        await asyncio.sleep(1)
        assert time.process_time() - used < 0.1
        assert time.monotonic() - begin < 10
        wait.cancel()

    run(test)


def test_aio_timeouts_end_in_time(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        begin = time.monotonic()
        assert await queue.reserve(timeout=0.05) is None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await queue.reserve(timeout=None)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(queue.reserve(timeout=None), 0.05)
        assert time.monotonic() - begin < 5
        await queue.push("x")
        assert (await queue.reserve(timeout=5)) is not None

    run(test)


def test_aio_wrong_arguments_use_up_nothing(run: Runs) -> None:
    async def test(queue: aio.Queue) -> None:
        for _ in range(3):
            with pytest.raises(errors.InvalidError):
                await queue.push("x", id="\n")
            with pytest.raises(errors.InvalidError):
                await queue.reserve_many(0)
            with pytest.raises(errors.InvalidError):
                queue.peek("none")  # type: ignore[arg-type]
            with pytest.raises(dueq.Duplicate):
                await queue.push("x", id="one") and await queue.push("x", id="one")
            assert await queue.cancel("one") is dueq.State.READY
            assert await queue.cancel_many(["one"]) == [None]
            await queue.push("y")
            assert await queue.remove() == 1
            assert queue.name not in await aio.queues(queue.url)

    run(test)


def test_aio_close_ends_a_wait(run: Runs, server: Server) -> None:
    async def test(queue: aio.Queue) -> None:
        wait = asyncio.create_task(queue.reserve(timeout=None))
        while not server.waiting():
            await asyncio.sleep(0.01)
        await queue.close()
        with pytest.raises(errors.InvalidError, match="closed"):
            await wait
        with pytest.raises(errors.InvalidError, match="closed"):
            await queue.stats()
        assert [message async for message in queue] == []
        await queue.close()

    run(test)


def test_aio_loop_ends_without_close(queue: dueq.Queue, server: Server) -> None:
    """What a cancelled reserve took is given back before asyncio.run() returns."""

    async def main() -> None:
        left = aio.Queue(queue.name, queue.url)
        wait = asyncio.create_task(left.reserve(timeout=None))
        while not server.waiting():
            await asyncio.sleep(0.01)
        queue.push("x")
        wait.cancel()

    asyncio.run(main(), debug=True)
    message = queue.reserve()
    assert message is not None
    assert message.attempt == 1


async def bodies(queue: aio.Queue) -> AsyncIterator[bytes]:
    while message := await queue.reserve(timeout=5):
        async with message:
            yield message.body


def test_aio_server_killed_during_a_wait(own_server: Server) -> None:
    async def main() -> None:
        async with aio.Queue("q", own_server.url) as queue:
            await queue.push("before")
            wait = asyncio.create_task(queue.reserve_many(2, timeout=30))
            assert [message.body for message in await wait] == [b"before"]
            wait = asyncio.create_task(queue.reserve_many(2, timeout=30))
            while not own_server.waiting():
                await asyncio.sleep(0.01)
            own_server.stop()
            own_server.start()
            await queue.push("after")
            assert [message.body for message in await wait] == [b"after"]

    asyncio.run(main(), debug=True)


@pytest.mark.parametrize("kind", ["reserve", "consume"])
def test_aio_connection_lost_during_a_wait(own_server: Server, kind: str) -> None:
    async def main() -> None:
        async with aio.Queue("q", own_server.url) as queue:
            taken: list[bytes] = []

            async def take() -> None:
                if kind == "reserve":
                    async with await queue.reserve(timeout=None) as message:
                        taken.append(message.body)
                    return
                async for message in queue.consume(timeout=30):
                    async with message:
                        taken.append(message.body)
                        return

            tasks = [asyncio.create_task(take()) for _ in range(5)]
            for _ in range(3):
                while own_server.waiting() < 5:
                    await asyncio.sleep(0.01)
                own_server.command("CLIENT", "KILL", "TYPE", "normal")
            await queue.push_many([str(n) for n in range(5)])
            async with asyncio.timeout(60):
                await asyncio.gather(*tasks)
                # Python closes a loop that is left by return, and so sends its ack, a moment later.
                while (await queue.stats()).acked < 5:
                    await asyncio.sleep(0.01)
            assert sorted(taken) == [b"0", b"1", b"2", b"3", b"4"]

    asyncio.run(main(), debug=True)


def test_aio_timeout_while_the_server_is_frozen(own_server: Server) -> None:
    """The timeout comes in time; close() waits for the call's own deadline."""

    async def main() -> None:
        async with aio.Queue("q", own_server.url) as queue:
            await queue.push("x")
            own_server.freeze()
            begin = time.monotonic()
            for call in (queue.reserve(timeout=60), queue.push("y"), queue.stats()):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await call
            assert time.monotonic() - begin < 5
            own_server.thaw()

    asyncio.run(main(), debug=True)
    with dueq.Queue("q", own_server.url) as queue:
        assert queue.stats().leased == 0


def test_aio_server_gone(own_server: Server) -> None:
    async def main() -> None:
        async with aio.Queue("q", own_server.url + "?timeout=300ms") as queue:
            await queue.push("x")
            own_server.freeze()
            waits = [queue.stats(), queue.push("y"), queue.reserve(timeout=0.1)]
            for outcome in await asyncio.gather(*waits, return_exceptions=True):
                assert isinstance(outcome, (errors.ServerTimeoutError, errors.ClosedError)), outcome
            own_server.thaw()
            assert (await queue.stats()).delayed == 0
            own_server.stop()
            with pytest.raises(ConnectionError):
                await queue.push("z")

    asyncio.run(main(), debug=True)


def test_aio_descriptors_are_closed(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            waits = [asyncio.create_task(opened.reserve(timeout=0.1)) for _ in range(10)]
            await asyncio.gather(*waits)

    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    asyncio.run(main())
    before = count()
    for _ in range(5):
        asyncio.run(main())
    assert count() <= before
