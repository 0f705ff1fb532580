"""Laravel's queues in event loops."""

import asyncio
import contextlib
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
import uvloop

import dueq
import dueq.laravel.aio
from dueq import errors
from private_server import Server

LOOPS = pytest.mark.parametrize(
    "factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)
JOB = "App\\Jobs\\Cancel@handle"


@LOOPS
def test_laravel_aio_verbs(server: Server, factory: Any) -> None:
    async def main() -> None:
        async with dueq.laravel.aio.Queue(url=server.url, prefix="shop_") as jobs:
            first = await jobs.push(JOB, {"order": 17}, max_tries=3)
            second = await jobs.later(0.1, JOB)
            assert await jobs.push_raw('{"uuid":"u","job":"X","attempts":0}') == "u"
            assert await jobs.push_object("X", "O:1:{}")
            assert len(await jobs.push_many(["A", dueq.laravel.JobDraft("B", delay=60)])) == 2
            job = await jobs.pop()
            assert job is not None
            assert (job.uuid, job.data, job.max_tries) == (first, {"order": 17}, 3)
            await job.release(timedelta(seconds=60))
            with pytest.raises(dueq.LeaseLost):
                await job.delete()
            taken = await jobs.pop_many(200)
            assert taken[0].name == "X"
            assert await jobs.delete_many([taken[0], taken[1].reserved]) == [True, True]
            async with jobs.migrating():
                async with asyncio.timeout(20):
                    while not (await jobs.size()).ready:
                        await asyncio.sleep(0.01)
            job = await jobs.pop(timeout=None)
            assert job.uuid == second
            await job.delete()
            assert (await jobs.migrate()).moved == 0
            sizes = await jobs.size()
            assert (sizes.ready, sizes.delayed, sizes.reserved) == (0, 2, 1)
            assert await jobs.clear() == 3
        with pytest.raises(errors.InvalidError, match="closed"):
            await jobs.push(JOB)

    server.command("FLUSHALL")
    with asyncio.Runner(debug=True, loop_factory=factory) as runner:
        runner.run(main())


@LOOPS
@pytest.mark.parametrize("seed", range(2))
def test_laravel_cancel_pops_at_any_moment(server: Server, factory: Any, seed: int) -> None:
    """All are worked on once, and none is held by a reservation that nobody knows of."""
    chance = random.Random(seed)
    count = 200
    done: Counter[int] = Counter()

    async def storm(jobs: dueq.laravel.aio.Queue) -> None:
        while done.total() < count:
            task = asyncio.create_task(jobs.pop_many(2, timeout=None))
            await asyncio.sleep(chance.choice((0, 0, chance.uniform(0, 0.003))))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                for job in await task:
                    done[job.data] += 1
                    assert job.attempts == 1
                    # It is not to be cancelled: its outcome would not be known.
                    await job.delete()

    async def push(jobs: dueq.laravel.aio.Queue) -> None:
        for n in range(count):
            await jobs.push(JOB, n)
            await asyncio.sleep(chance.uniform(0, 0.002))

    async def main() -> None:
        async with dueq.laravel.aio.Queue(url=server.url) as jobs, asyncio.timeout(300):
            await asyncio.gather(push(jobs), *[storm(jobs) for _ in range(4)])

    server.command("FLUSHALL")
    with asyncio.Runner(debug=True, loop_factory=factory) as runner:
        runner.run(main())
    assert done == Counter(range(count))
    with dueq.laravel.Queue(url=server.url) as jobs:
        sizes = jobs.size()
    assert (sizes.ready, sizes.delayed, sizes.reserved) == (0, 0, 0)


def test_laravel_loop_that_ends_during_pops(server: Server) -> None:
    """What a pop was given as its loop ended is for others."""

    async def main(others: dueq.laravel.Queue) -> None:
        jobs = dueq.laravel.aio.Queue(url=server.url)
        tasks = [asyncio.create_task(jobs.pop(timeout=None)) for _ in range(3)]
        while server.waiting() < 3:
            await asyncio.sleep(0.001)
        others.push(JOB)  # the loop stands still meanwhile
        for task in tasks:
            task.cancel()

    for _ in range(10):
        server.command("FLUSHALL")
        with dueq.laravel.Queue(url=server.url) as jobs:
            asyncio.run(main(jobs), debug=True)
            job = jobs.pop(timeout=10)
            assert job is not None
            assert job.attempts == 1
            job.delete()
