"""Trio and gevent, which dueq has no form for: what docs/guide.md says of them."""

import subprocess
import sys

import pytest
import trio

import dueq
from dueq import aio
from private_server import Server

# A process of its own: gevent changes the modules of all that runs beside.
GREENLETS = """
from gevent import monkey

monkey.patch_all()

import sys

import gevent

import dueq

mails = dueq.Queue(sys.argv[1], sys.argv[2])
ticks = 0


def tick():
    global ticks
    while True:
        gevent.sleep(0.01)
        ticks += 1


gevent.spawn(tick)
pool = gevent.get_hub().threadpool
assert pool.apply(mails.reserve, (), {"timeout": 0.5}) is None
assert ticks > 1
pool.apply(mails.push, ("welcome",))
message = pool.apply(mails.reserve, (), {"timeout": 5})
print(message.body.decode())
pool.apply(message.ack)
"""


def test_gevent_goes_on_while_a_thread_waits(queue: dueq.Queue, server: Server) -> None:
    words = [sys.executable, "-c", GREENLETS, queue.name, server.url]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.returncode) == ("welcome\n", 0), ended.stderr


def test_trio_goes_on_while_a_thread_waits(queue: dueq.Queue) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await trio.sleep(0.01)
            ticks += 1

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tick)
            assert await trio.to_thread.run_sync(lambda: queue.reserve(timeout=0.5)) is None
            assert ticks > 1
            await trio.to_thread.run_sync(queue.push, "welcome")
            message = await trio.to_thread.run_sync(lambda: queue.reserve(timeout=5))
            assert message
            assert message.body == b"welcome"
            await trio.to_thread.run_sync(message.ack)
            nursery.cancel_scope.cancel()

    trio.run(main)


def test_aio_under_trio_says_what_to_do(queue: dueq.Queue, server: Server) -> None:
    async def push() -> None:
        async with aio.Queue(queue.name, server.url) as mails:
            await mails.push("welcome")

    async def consume() -> None:
        async with aio.Queue(queue.name, server.url) as mails:
            mails.consume()

    for main in (push, consume):
        with pytest.raises(RuntimeError, match="under Trio and gevent call dueq in a thread"):
            trio.run(main)
    assert queue.stats().pushed == 0
