"""Many pushes in flight, blocking and on an event loop."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

import dueq
from dueq import aio, errors
from forked import in_child
from private_server import Server


def bodies(queue: dueq.Queue) -> list[bytes]:
    return [message.body for message in queue.peek("ready")]


def numbers(count: int) -> Iterable[bytes]:
    return (str(n).encode() for n in range(count))


def test_pusher_keeps_the_order(queue: dueq.Queue) -> None:
    with queue.pusher() as pusher:
        pushes = [pusher.push(body) for body in numbers(3000)]
    assert all(push.done and push.error is None for push in pushes)
    assert bodies(queue) == list(numbers(3000))
    assert [push.id for push in pushes] == [message.id for message in queue.peek("ready")]


def test_pusher_takes_the_arguments_of_push(queue: dueq.Queue) -> None:
    with queue.pusher() as pusher:
        pusher.push("x", id="one", priority=1, headers={"a": "b"}, delay=60, backoff=[1, 2])
        with pytest.raises(TypeError):
            pusher.push("x", no=1)  # type: ignore[call-arg]
        with pytest.raises(errors.InvalidError):
            pusher.push("x", id="\n")
        with pytest.raises(errors.InvalidError):
            pusher.push("x", delay=-1)
    [message] = queue.peek("delayed")
    assert (message.id, message.priority, message.headers) == ("one", 1, {"a": "b"})


def test_pusher_duplicates_fail_alone(queue: dueq.Queue) -> None:
    queue.push("existing", id="7")
    queue.push("existing", id="300")
    with pytest.raises(ExceptionGroup) as raised, queue.pusher() as pusher:
        pushes = [pusher.push(body, id=body.decode()) for body in numbers(500)]
    assert [push.id for push in pushes if push.error] == ["7", "300"]
    assert raised.value.exceptions == (pushes[7].error, pushes[300].error)
    assert isinstance(pushes[7].error, dueq.Duplicate)
    assert pushes[7].error.__notes__ == ["of the push of 7"]
    assert queue.stats().ready == 500


def test_pusher_is_bounded(own_server: Server) -> None:
    """When `most` are under way, push() waits for the server."""
    with dueq.Queue("q", own_server.url) as queue, queue.pusher(most=10) as pusher:
        pusher.push("first")
        pusher.flush()
        own_server.freeze()
        thawing = threading.Timer(0.3, own_server.thaw)
        thawing.start()
        pushes = [pusher.push(body) for body in numbers(10)]
        assert not any(push.done for push in pushes)
        pusher.push("one more")
        thawing.join()
        assert pushes[0].done
    with pytest.raises(errors.InvalidError):
        queue.pusher(most=0)
    with pytest.raises(errors.InvalidError):
        queue.pusher(most=10_001)


def test_pusher_flush(queue: dueq.Queue) -> None:
    with queue.pusher() as pusher:
        push = pusher.push("x", id="one")
        pusher.flush()
        assert push.done
        again = pusher.push("x", id="one")
        with pytest.raises(ExceptionGroup):
            pusher.flush()
        assert again.error
        pusher.flush()
    with pytest.raises(errors.InvalidError, match="closed"):
        pusher.push("x")
    pusher.close()


def test_pusher_block_that_raises(queue: dueq.Queue, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "dueq"),
        pytest.raises(RuntimeError),
        queue.pusher() as pusher,
    ):
        pusher.push("x", id="one")
        pusher.push("x", id="one")
        raise RuntimeError
    assert queue.stats().ready == 1
    [record] = caplog.records
    assert "of the push of one" in record.getMessage()


def test_pusher_server_killed_and_back(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url) as queue, queue.pusher() as pusher:
        pushes = [pusher.push(body) for body in numbers(2000)]
        own_server.stop()
        own_server.start()
        pushes += [pusher.push(body) for body in numbers(2000)]
        pusher.flush()
        assert all(push.done for push in pushes)
        stored = bodies(queue)
        assert stored[-2000:] == list(numbers(2000))


def test_pusher_server_gone(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url + "?timeout=200ms") as queue:
        with pytest.raises(ExceptionGroup) as raised, queue.pusher() as pusher:
            pusher.push("x")
            pusher.flush()
            own_server.stop()
            pushes = [pusher.push(body) for body in numbers(300)]
        assert len(raised.value.exceptions) == 300
        assert raised.group_contains(ConnectionError) or raised.group_contains(TimeoutError)
        assert all(push.error for push in pushes)
        own_server.start()
        queue.push("the link goes on")


def test_pusher_threads(queue: dueq.Queue) -> None:
    with queue.pusher(most=100) as pusher, ThreadPoolExecutor(4) as pool:
        for body in numbers(2000):
            pool.submit(pusher.push, body)
    assert sorted(bodies(queue)) == sorted(numbers(2000))


def test_pusher_fork(queue: dueq.Queue) -> None:
    """What was taken over is the parent's; the child goes on with its own."""
    with queue.pusher() as pusher:

        def work() -> None:
            push = pusher.push("child")
            pusher.flush()
            assert push.done

        for body in numbers(1000):
            pusher.push(body)
        in_child(work)
    assert sorted(bodies(queue)) == sorted([*numbers(1000), b"child"])


def test_aio_pusher(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            async with opened.pusher(most=500) as pusher:
                pushes = [await pusher.push(body) for body in numbers(3000)]
                await pusher.flush()
                assert all(push.done for push in pushes)
                await asyncio.gather(*[pusher.push(body, id="one") for body in numbers(1)])
            with pytest.raises(ExceptionGroup) as raised:
                async with opened.pusher() as pusher:
                    push = await pusher.push("x", id="one")
            assert raised.value.exceptions == (push.error,)
            with pytest.raises(errors.InvalidError, match="closed"):
                await pusher.push("x")

    asyncio.run(main(), debug=True)
    assert bodies(queue) == [*numbers(3000), b"0"]


def test_aio_pusher_moves_while_others_run(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened, opened.pusher() as pusher:
            pushes = [await pusher.push(body) for body in numbers(1000)]
            async with asyncio.timeout(10):
                while not pushes[-1].done:
                    await asyncio.sleep(0.01)

    asyncio.run(main(), debug=True)


def test_aio_pusher_cancelled(own_server: Server) -> None:
    """What was taken over is pushed before the queue is closed."""

    async def produce(queue: aio.Queue) -> None:
        async with queue.pusher(most=300) as pusher:
            for body in numbers(300):
                await pusher.push(body)
            own_server.freeze()
            await pusher.push("never")

    async def main() -> None:
        async with aio.Queue("q", own_server.url) as queue:
            await queue.push("x")
            task = asyncio.create_task(produce(queue))
            await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.sleep(0.1)
            own_server.thaw()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main(), debug=True)
    with dueq.Queue("q", own_server.url) as queue:
        assert queue.stats().ready >= 301


def test_aio_pusher_ends_with_its_queue(queue: dueq.Queue) -> None:
    async def main() -> None:
        opened = aio.Queue(queue.name, queue.url)
        pusher = opened.pusher()
        for body in numbers(1000):
            await pusher.push(body)
        await opened.close()
        with pytest.raises(errors.InvalidError, match="closed"):
            await pusher.push("x")

    asyncio.run(main(), debug=True)
    assert queue.stats().ready == 1000


# Forgotten: nobody has closed it


def test_forgotten_pusher_flushes_and_warns(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    pusher = queue.pusher()
    for body in numbers(1000):
        pusher.push(body, id=body.decode())
    pusher.push("x", id="7")
    with pytest.warns(ResourceWarning, match="a pusher of .* was not closed"):
        del pusher
    assert bodies(queue) == list(numbers(1000))
    assert "of the push of 7" in caplog.text
    closed = queue.pusher()
    closed.close()
    del closed  # without a warning, which would be an error here


def test_forgotten_pusher_of_a_closed_queue_flushes(queue: dueq.Queue, server: Server) -> None:
    with dueq.Queue(queue.name, server.url) as own:
        pusher = own.pusher()
        for body in numbers(1000):
            pusher.push(body)
    with pytest.warns(ResourceWarning):
        del pusher
    assert bodies(queue) == list(numbers(1000))


PROGRAMS = {
    "global": """
pusher = queue.pusher()
for number in range(1000):
    pusher.push(str(number))
""",
    "function": """
def produce():
    pusher = queue.pusher()
    for number in range(1000):
        pusher.push(str(number))

produce()
""",
    "cycle": """
pusher = queue.pusher()
pusher.itself = pusher
for number in range(1000):
    pusher.push(str(number))
del pusher
""",
    "exit": """
import sys
pusher = queue.pusher()
for number in range(1000):
    pusher.push(str(number))
sys.exit(0)
""",
    "asyncio global": """
async def main():
    global own, pusher
    own = dueq.aio.Queue(queue.name, queue.url)
    pusher = own.pusher()
    for number in range(1000):
        await pusher.push(str(number))

asyncio.run(main())
""",
    "asyncio function": """
async def main():
    pusher = dueq.aio.Queue(queue.name, queue.url).pusher()
    for number in range(1000):
        await pusher.push(str(number))

asyncio.run(main())
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_forgets_its_pusher_pushes_all(queue: dueq.Queue, program: str) -> None:
    text = f"import asyncio, dueq, dueq.aio\nqueue = dueq.Queue({queue.name!r}, {queue.url!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", text + PROGRAMS[program]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("ResourceWarning: a pusher of") == 1, done.stderr
    assert bodies(queue) == list(numbers(1000))


def test_aio_forgotten_pusher_flushes_while_the_loop_runs(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            pusher = opened.pusher()
            pushes = [await pusher.push(body, id=body.decode()) for body in numbers(1000)]
            pushes.append(await pusher.push("x", id="7"))
            with pytest.warns(ResourceWarning, match="a pusher of .* was not closed"):
                del pusher
            async with asyncio.timeout(20):
                while not all(push.done for push in pushes):
                    await asyncio.sleep(0.01)

    asyncio.run(main(), debug=True)
    assert bodies(queue) == list(numbers(1000))
    assert "of the push of 7" in caplog.text


def test_child_does_not_push_what_its_parent_has_forgotten(queue: dueq.Queue) -> None:
    with queue.pusher() as pusher:
        for body in numbers(1000):
            pusher.push(body)
        in_child(pusher._forgotten)  # warns of nothing
    assert bodies(queue) == list(numbers(1000))
