import asyncio
import contextlib
import gc
import tracemalloc
from pathlib import Path

import dueq
import dueq.laravel
import dueq.redisson
from dueq import aio


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def peak() -> int:
    """The most that it held since the peak was last forgotten (proc(5), clear_refs)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def cycles(queue: dueq.Queue, count: int) -> None:
    for _ in range(count // 20):
        queue.push_many(
            dueq.Draft(b"x" * 500, headers={"name": "value"}, delay=0) for _ in range(19)
        )
        queue.push("one", id="one")
        with contextlib.suppress(dueq.Duplicate):
            queue.push("two", id="one")
        messages = queue.reserve_many(20, timeout=1)
        messages[0].extend(30)
        assert all(queue.ack_many(messages))
        assert queue.find("one") is None
        assert queue.stats().ready == 0


def test_memory_flat_over_20000_messages(queue: dueq.Queue) -> None:
    cycles(queue, 2000)
    gc.collect()
    tracemalloc.start()
    cycles(queue, 400)
    objects, held = tracemalloc.get_traced_memory()[0], resident()
    cycles(queue, 17_600)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    assert grown < 200_000
    assert resident() - held < 4_000_000


def test_push_needs_the_size_of_the_body_once_more(queue: dueq.Queue) -> None:
    queue.push("the first connects")
    body = b"b" * (64 << 20)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resident()
    queue.push(body)
    assert peak() - before < 1.2 * len(body)


def test_memory_of_the_other_verbs(queue: dueq.Queue) -> None:
    backoff = dueq.Backoff("list", delays=[0] * 30)
    drafts = [
        dueq.Draft("x", backoff=backoff, dead_letter="letters", ttl=60, headers={"name": "value"})
        for _ in range(10)
    ]

    def cycle(queues: dueq.Queues, count: int) -> None:
        for _ in range(count):
            queue.push_many(drafts)
            for message in queues.reserve_many(10):
                message.retry()
            assert len(list(queue.peek("ready", page=3))) == 10
            for message in queues.reserve_many(5):
                message.release()
            messages = queue.reserve_many(10)
            assert len(messages[0].ack(push=["one", "two"], to="letters")) == 2
            assert all(queue.ack_many(messages[1:]))
            with queue.lock("job", 60, timeout=None) as lock:
                assert queue.lock("job", 60) is None
                lock.extend(60)
            assert queue.kick_all(error="none") == 0
            assert queue.rates(1)
            assert "letters" in dueq.queues(queue.url)

    with (
        dueq.Queues([queue.name, "letters"], queue.url) as queues,
        dueq.Queue("letters", queue.url) as letters,
    ):
        cycle(queues, 200)
        gc.collect()
        tracemalloc.start()
        cycle(queues, 20)
        objects, held = tracemalloc.get_traced_memory()[0], resident()
        cycle(queues, 800)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - objects
        tracemalloc.stop()
        assert letters.purge("ready") == 2 * 1020
    assert grown < 200_000
    assert resident() - held < 4_000_000


def test_memory_of_failures_and_links(queue: dueq.Queue) -> None:
    def fail(count: int) -> None:
        for _ in range(count):
            with contextlib.suppress(dueq.Error):
                queue.push(bytes(10_000), id="x" * 256, headers={"name": "value" * 100})
            with contextlib.suppress(dueq.Error):
                queue.push_many(
                    [*[dueq.Draft("x", backoff=[1] * 32)] * 20, dueq.Draft("", id="\n")]
                )
            with contextlib.suppress(dueq.Error):
                dueq.Queues(["a", "b", "c{"], queue.url)
            dueq.Queue("other", queue.url).close()

    fail(500)
    held = resident()
    fail(5000)
    assert resident() - held < 4_000_000


def test_memory_of_consumers_and_pushers(queue: dueq.Queue) -> None:
    def blocking(count: int) -> None:
        for _ in range(count):
            with contextlib.suppress(ExceptionGroup), queue.pusher() as pusher:
                for n in range(50):
                    pusher.push(b"x" * 500, id=str(n % 45), headers={"name": "value"})
            for message in queue.consume(prefetch=20, timeout=0):
                with message:
                    if message.id == "7":
                        message.ack()
            assert queue.stats().leased == 0

    async def waiting(count: int) -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            for _ in range(count):
                async with opened.pusher() as pusher:
                    for _ in range(50):
                        await pusher.push(b"x" * 500)
                async for message in opened.consume(prefetch=20, timeout=0):
                    async with message:
                        pass
                task = asyncio.create_task(opened.reserve(timeout=None))
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def cycle(count: int) -> None:
        blocking(count)
        asyncio.run(waiting(count))

    cycle(20)
    gc.collect()
    tracemalloc.start()
    cycle(5)
    gc.collect()
    objects, held = tracemalloc.get_traced_memory()[0], resident()
    cycle(60)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    assert grown < 200_000
    assert resident() - held < 4_000_000


def test_memory_of_other_systems_queues(queue: dueq.Queue) -> None:
    deep = {"list": [1, 2.5, None, "x" * 100], "big": 2**70}

    def cycle(orders: dueq.redisson.DelayedQueue, jobs: dueq.laravel.Queue, count: int) -> None:
        for _ in range(count):
            orders.offer_many([deep, "text", 5, True, None, 1.5, dueq.redisson.Long(5)])
            assert len(orders.peek(9)) == 7
            assert orders.contains("text")
            assert orders.remove("text")
            assert orders.poll() == deep
            assert orders.transfer().moved == 5
            assert len(orders.take_many(9)) == 5
            with contextlib.suppress(dueq.errors.InvalidError):
                orders.offer(b"no form")
            jobs.push_many([dueq.laravel.JobDraft("A@b", deep, backoff=[1, 2]), "C"] * 3)
            jobs.push_object("X", "O:1:{}")
            taken = jobs.pop_many(9, timeout=1)
            taken[0].release()
            assert jobs.delete_many(taken[1:]) == [True] * 6
            with contextlib.suppress(dueq.LeaseLost):
                taken[0].delete()
            assert jobs.clear() == 1
            with contextlib.suppress(dueq.errors.InvalidError):
                jobs.push_raw("{}")

    with (
        dueq.redisson.DelayedQueue("orders", queue.url, codec="jackson") as orders,
        dueq.laravel.Queue(url=queue.url) as jobs,
    ):
        cycle(orders, jobs, 200)
        gc.collect()
        tracemalloc.start()
        cycle(orders, jobs, 20)
        objects, held = tracemalloc.get_traced_memory()[0], resident()
        cycle(orders, jobs, 800)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - objects
        tracemalloc.stop()
    assert grown < 100_000
    assert resident() - held < 4_000_000
