"""Loops and waits live through an outage that lasts longer than a call may."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import dueq
import dueq.laravel
import dueq.redisson
from dueq import aio, errors
from private_server import Server

CALL = "?timeout=150ms"
OUTAGE_S = 0.7
JOB = '{"job":"A","attempts":0}'


@contextmanager
def outage(server: Server, frozen: bool, push: Callable[[], object]) -> Iterator[None]:
    """One after which something comes. It freezes at once; it is killed when somebody waits."""

    def runs() -> None:
        if not frozen:
            server.wait_for_waiting(1)
            server.stop()
        time.sleep(OUTAGE_S)
        if frozen:
            server.thaw()
        else:
            server.start()
        push()

    if frozen:
        server.freeze()
    thread = threading.Thread(target=runs)
    thread.start()
    yield
    thread.join()


def push(server: Server) -> None:
    with dueq.Queue("q", server.url) as queue:
        queue.push(b"back")


def push_job(server: Server) -> None:
    with dueq.laravel.Queue("q", server.url) as jobs:
        jobs.push_raw(JOB)


@pytest.mark.parametrize("frozen", [False, True])
def test_loop_outlives_its_server(own_server: Server, frozen: bool) -> None:
    with dueq.Queue("q", own_server.url + CALL) as queue:
        queue.stats()
        with outage(own_server, frozen, lambda: push(own_server)):
            for message in queue.consume():
                with message:
                    assert message.body == b"back"
                break
        assert queue.stats().acked == 1


@pytest.mark.parametrize("frozen", [False, True])
def test_loop_of_asyncio_outlives_its_server(own_server: Server, frozen: bool) -> None:
    async def main() -> None:
        async with aio.Queue("q", own_server.url + CALL) as queue:
            await queue.stats()
            with outage(own_server, frozen, lambda: push(own_server)):
                async for message in queue.consume():
                    async with message:
                        assert message.body == b"back"
                    break

    asyncio.run(main())


def test_waits_without_a_timeout_outlive_their_server(own_server: Server) -> None:
    url = own_server.url + CALL
    with dueq.Queue("q", url) as queue, outage(own_server, False, lambda: push(own_server)):
        message = queue.reserve(timeout=None)
        assert message.body == b"back"
        message.ack()
    with dueq.laravel.Queue("q", url) as jobs:
        with outage(own_server, False, lambda: push_job(own_server)):
            job = jobs.pop(timeout=None)
        job.delete()
    with dueq.redisson.DelayedQueue("q", url, "string") as values:
        with outage(own_server, False, lambda: own_server.command("RPUSH", "q", "x")):
            value = values.take(timeout=None)
        assert value == "x"


def test_waits_end_at_their_timeout_and_say_that_the_server_is_away(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url + CALL) as queue:
        queue.stats()
        own_server.stop()
        for waits in (
            lambda: queue.reserve(timeout=1.5),
            lambda: list(queue.consume(timeout=1.5)),
            lambda: queue.lock("name", 30, timeout=1.5),
        ):
            begun = time.monotonic()
            with pytest.raises(errors.Error) as caught:
                waits()
            assert caught.value.retriable
            assert 1.4 < time.monotonic() - begun < 10
