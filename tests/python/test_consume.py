"""The loop over messages: settlement by notes, prefetch, stop, and how it may be left."""

import asyncio
import contextlib
import copy
import gc
import logging
import os
import pickle
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import dueq
from dueq import aio, errors
from forked import in_child
from moments import seconds_between
from private_server import Server


def numbers(count: int) -> list[bytes]:
    return [str(n).encode() for n in range(count)]


def settled(queue: dueq.Queue) -> tuple[int, int, int, int]:
    stats = queue.stats()
    return stats.ready + stats.delayed, stats.leased, stats.dead, stats.acked


def scripts_run(server: Server) -> int:
    """Since the last CONFIG RESETSTAT."""
    info = server.command("INFO", "commandstats")
    assert isinstance(info, bytes)
    return int(info.split(b"cmdstat_evalsha:calls=")[1].split(b",")[0])


@pytest.mark.parametrize("prefetch", [1, 7, 200])
def test_consume_takes_all_in_order(queue: dueq.Queue, prefetch: int) -> None:
    queue.push_many(numbers(300))
    taken = []
    for message in queue.consume(prefetch=prefetch, timeout=0):
        with message:
            assert message.attempt == 1
            taken.append(message.body)
    assert taken == numbers(300)
    assert settled(queue) == (0, 0, 0, 300)


def test_consume_costs_one_request_for_each_batch(queue: dueq.Queue, server: Server) -> None:
    queue.push_many(numbers(1000))
    taken = 0
    with queue.consume(prefetch=100) as consumer:
        server.command("CONFIG", "RESETSTAT")
        for message in consumer:
            with message:
                taken += 1
            if taken == 1000:
                break
    assert scripts_run(server) <= 12
    assert settled(queue) == (0, 0, 0, 1000)


def test_consume_ack_that_does_not_wait_goes_with_the_next_request(
    queue: dueq.Queue, server: Server
) -> None:
    queue.push_many(numbers(1000))
    taken = 0
    with queue.consume(prefetch=100) as consumer:
        server.command("CONFIG", "RESETSTAT")
        for message in consumer:
            message.ack(wait=False)
            taken += 1
            if taken == 1000:
                break
    assert scripts_run(server) <= 12
    assert settled(queue) == (0, 0, 0, 1000)
    assert consumer.lost == 0


def test_consume_is_the_loop_over_a_queue(queue: dueq.Queue) -> None:
    queue.push_many(numbers(3))
    for message in queue:
        # A short lease, that a heartbeat keeps.
        assert seconds_between(queue.stats().now, message.time) == pytest.approx(8, abs=4)
        with message:
            if message.body == b"2":
                break
    assert settled(queue) == (0, 0, 0, 3)


@pytest.mark.parametrize("way", ["break", "raise", "return", "stop", "close", "generator"])
def test_consume_left_in_any_way(queue: dueq.Queue, server: Server, way: str) -> None:
    """What was noted is settled, and what was in hand comes back uncounted, in its order."""
    queue.push_many(dueq.Draft(body, backoff=0) for body in numbers(20))
    consumer = queue.consume(prefetch=10)

    def loop() -> None:
        for message in consumer:
            with message:
                if message.body == b"4":
                    if way == "raise":
                        raise RuntimeError("why")
                    if way == "stop":
                        consumer.stop()
                    if way == "close":
                        queue.close()
                    if way == "return":
                        return
                    if way == "break":
                        break

    if way == "generator":
        generator = iter(consumer)
        for _ in range(5):
            with next(generator):
                pass
        del generator
    else:
        with pytest.raises(RuntimeError) if way == "raise" else contextlib.nullcontext():
            loop()
    with dueq.Queue(queue.name, server.url) as other:
        left = list(other.peek("ready"))
        failed = [b"4"] if way == "raise" else []
        assert [message.body for message in left] == numbers(20)[5:] + failed
        assert [message.error for message in left] == [""] * 15 + ["RuntimeError: why"] * len(
            failed
        )
        assert settled(other) == (15 + len(failed), 0, 0, 5 - len(failed))
        assert [message.attempt for message in other.reserve_many(15)] == [1] * 15


def test_consume_goes_on_after_a_failure(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push_many([dueq.Draft("bad", max_attempts=2, backoff=0), "good"])
    seen: list[bytes] = []

    def handle(message: dueq.Message) -> None:
        seen.append(message.body)
        if message.body == b"bad":
            raise RuntimeError(f"attempt {message.attempt}")

    failures: list[str] = []
    with caplog.at_level(logging.WARNING, "dueq"):
        queue.consume(prefetch=5, timeout=0.1).work(
            handle, lambda message, error: failures.append(f"{message.body!r} {error}")
        )
    assert sorted(seen) == [b"bad", b"bad", b"good"]
    assert failures == ["b'bad' attempt 1", "b'bad' attempt 2"]
    assert [record.getMessage().split(": ", 1)[1] for record in caplog.records] == [
        "its attempts are exhausted by attempt 2: RuntimeError: attempt 2"
    ]
    [dead] = queue.peek("dead")
    assert dead.error == "RuntimeError: attempt 2"
    assert settled(queue) == (0, 0, 1, 1)


def test_consume_failures_may_be_settled_otherwise(queue: dueq.Queue) -> None:
    queue.push_many(["bad", "bad", "good"])

    def handle(message: dueq.Message) -> None:
        if message.body == b"bad":
            raise RuntimeError

    def settle(message: dueq.Message, error: Exception) -> None:
        message.bury("enough")

    consumer = queue.consume(prefetch=3, timeout=0)
    consumer.work(handle, settle)
    assert consumer.lost == 0
    assert [message.error for message in queue.peek("dead")] == ["enough"] * 2
    assert settled(queue) == (0, 0, 2, 1)
    queue.push("bad", backoff=0)

    def fail(message: dueq.Message, error: Exception) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        queue.consume(timeout=0).work(handle, fail)
    assert [message.error for message in queue.peek("ready")] == ["LookupError"]


def test_consume_knows_what_ack_many_has_settled(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not warn of it, nor does it release it, and the end of its block does nothing."""
    queue.push_many(numbers(6))
    taken = []
    with queue.consume(prefetch=6, timeout=0, concurrency=2) as consumer:
        for message in consumer:
            taken.append(message)
            if len(taken) == 2:
                with message:
                    assert queue.ack_many(taken) == [True, True]
                taken.clear()
    assert (consumer.lost, settled(queue)) == (0, (0, 0, 0, 6))
    assert caplog.messages == []


def test_consume_work_ends_by_a_failure(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("bad", backoff=0), "good"])
    with pytest.raises(ZeroDivisionError):
        queue.consume(timeout=5).work(lambda message: 1 / 0)
    assert [message.error for message in queue.peek("ready")] == [
        "",
        "ZeroDivisionError: division by zero",
    ]


def test_consume_other_verbs_are_done_at_once(queue: dueq.Queue) -> None:
    queue.push_many(numbers(6))
    with queue.consume(prefetch=6, timeout=0) as consumer:
        for message in consumer:
            with message:
                match message.body:
                    case b"0":
                        message.ack()
                        assert queue.stats().acked == 1
                    case b"1":
                        message.bury("why")
                        assert queue.stats().dead == 1
                    case b"2":
                        message.retry(delay=60)
                        assert queue.stats().delayed == 1
                    case b"3":
                        message.release(delay=60)
                        assert queue.stats().delayed == 2
                    case b"4":
                        assert message.ack(push=["next"], to="other") is not None
                        assert queue.stats().acked == 2
                    case _:
                        message.extend(60)
        assert consumer.lost == 0
    assert settled(queue) == (2, 0, 1, 3)


def test_consume_ack_that_does_not_wait_and_is_too_late(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push_many(numbers(2))
    with queue.consume(prefetch=2, timeout=0) as consumer:
        for message in consumer:
            if message.body == b"0":
                assert queue.cancel(message.id) == "leased"
                message.ack(wait=False)
            else:
                with pytest.raises(errors.InvalidError):
                    message.ack(push=["next"], wait=False)  # type: ignore[call-overload]
                message.ack()
    assert consumer.lost == 1
    assert "lost" in caplog.text
    assert settled(queue) == (0, 0, 0, 1)


def test_consume_ack_without_a_consumer_never_waits_for_another_request(queue: dueq.Queue) -> None:
    queue.push("a")
    message = queue.reserve()
    assert message
    message.ack(wait=False)
    assert settled(queue) == (0, 0, 0, 1)
    with pytest.raises(errors.LeaseLost):
        message.ack(wait=False)


def test_consume_older_messages_and_other_threads(queue: dueq.Queue) -> None:
    queue.push_many(numbers(200))
    taken: Counter[bytes] = Counter()

    def handle(message: dueq.Message) -> None:
        with message:
            time.sleep(0.001)
            taken[message.body] += 1

    with ThreadPoolExecutor(4) as pool, queue.consume(prefetch=20, timeout=0.1) as consumer:
        for message in consumer:
            pool.submit(handle, message)
        pool.shutdown()
        assert consumer.lost == 0
    assert taken == Counter(numbers(200))
    assert settled(queue) == (0, 0, 0, 200)


@pytest.mark.parametrize("face", ["threads", "event loop"])
def test_consume_with_slack_takes_all_that_falls_due_in_it(
    queue: dueq.Queue, server: Server, face: str
) -> None:
    """100 messages in 50 ms; the body of each is when it is due."""
    base = time.time() + 0.7
    due = [round(base + n / 2000, 3) for n in range(100)]
    queue.push_many(dueq.Draft(str(at), at=at) for at in due)
    early = []

    def handle(message: dueq.Message | aio.Message) -> None:
        if time.time() < float(message.body):
            early.append(message.body)

    async def loop() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            async for message in opened.consume(prefetch=100, timeout=1, slack=0.1):
                async with message:
                    handle(message)

    server.command("CONFIG", "RESETSTAT")
    if face == "threads":
        queue.consume(prefetch=100, timeout=1, slack=0.1).work(handle)
    else:
        asyncio.run(loop())
    # A first that finds none, one with all, one that settles; more where the machine stalls.
    assert scripts_run(server) <= 12
    assert early == []
    assert settled(queue) == (0, 0, 0, 100)


def test_consume_by_threads_and_processes_at_once(queue: dueq.Queue) -> None:
    queue.push_many(numbers(1000))
    taken: list[bytes] = []

    def loop(prefetch: int) -> None:
        for message in queue.consume(prefetch=prefetch, timeout=0.3):
            with message:
                taken.append(message.body)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(loop, prefetch) for prefetch in (1, 3, 20, 100)]:
            done.result()
    assert Counter(taken) == Counter(numbers(1000))
    assert settled(queue) == (0, 0, 0, 1000)


def test_consume_several_queues(server: Server) -> None:
    server.command("FLUSHALL")
    with dueq.Queue("a", server.url) as first, dueq.Queue("b", server.url) as second:
        first.push_many(numbers(30))
        second.push_many(numbers(30))
        taken: Counter[str] = Counter()
        with dueq.Queues(["a", "b"], server.url, order="round robin") as queues:
            for message in queues.consume(prefetch=4, timeout=0):
                with message:
                    taken[message.queue] += 1
        assert taken == {"a": 30, "b": 30}
        assert settled(first) == settled(second) == (0, 0, 0, 30)


def test_consume_timeout_ends_the_loop(queue: dueq.Queue) -> None:
    begin = time.monotonic()
    assert list(queue.consume(timeout=0.1)) == []
    assert time.monotonic() - begin < 5


def test_consume_wrong_arguments(queue: dueq.Queue) -> None:
    for options in (
        {"prefetch": 0},
        {"prefetch": 201},
        {"lease": -1},
        {"lease": 0.01},
        {"max_run": -1},
        {"timeout": -1},
        {"slack": -0.01},
        {"slack": 0.101},
    ):
        with pytest.raises(errors.InvalidError):
            queue.consume(**options)
    consumer = queue.consume(timeout=0)
    generator = iter(consumer)
    queue.push("x")
    next(generator)
    with pytest.raises(errors.InvalidError, match="a loop already"):
        next(iter(consumer))
    consumer.close()
    assert list(generator) == []
    consumer.close()


@pytest.mark.parametrize("verb", ["stop", "close"])
def test_consume_stop_by_another_thread(queue: dueq.Queue, server: Server, verb: str) -> None:
    consumer = queue.consume()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(list, consumer)
        server.wait_for_waiting(1)
        getattr(consumer, verb)()
        assert waiting.result(timeout=5) == []


@pytest.mark.parametrize("verb", ["stop", "close"])
def test_consume_stop_by_a_signal_handler(queue: dueq.Queue, server: Server, verb: str) -> None:
    consumer = queue.consume()
    before = signal.signal(signal.SIGUSR1, lambda *_: getattr(consumer, verb)())

    def send() -> None:
        server.wait_for_waiting(1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    thread = threading.Thread(target=send)
    thread.start()
    assert list(consumer) == []
    thread.join()
    signal.signal(signal.SIGUSR1, before)


def test_consume_ctrl_c_loses_nothing(queue: dueq.Queue, server: Server) -> None:
    def send() -> None:
        server.wait_for_waiting(1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(queue.consume(prefetch=10))
    thread.join()
    queue.push("x")
    message = queue.reserve(timeout=5)
    assert message is not None
    assert message.deliveries == 1


def test_consume_closed_queue_in_another_thread(queue: dueq.Queue, server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(list, queue)
        server.wait_for_waiting(1)
        queue.close()
        assert waiting.result(timeout=5) == []


def test_consume_server_killed_and_back(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url) as queue:
        queue.push("before")
        taken = []
        for message in queue.consume(timeout=30):
            with message:
                taken.append(message.body)
                if message.body == b"before":
                    own_server.stop()
                    own_server.start()
                    queue.push("after")
                else:
                    break
        assert taken == [b"before", b"after"]


def test_consume_fork_in_a_loop(queue: dueq.Queue) -> None:
    """The child settles at once what its parent took, and goes on with messages of its own."""
    queue.push_many(numbers(3))
    consumer = queue.consume(prefetch=2, timeout=0.2)

    def work(taken: dueq.Message) -> None:
        rest = []
        with taken:
            pass
        for own in queue.consume(timeout=0.2):
            with own:
                rest.append(own.body)
        assert rest == [b"2"]

    for message in consumer:
        with message:
            if message.body == b"0":
                in_child(partial(work, message))
    assert consumer.lost <= 1  # both have acknowledged the first
    assert settled(queue) == (0, 0, 0, 3)


def test_consume_ack_in_a_forked_child_is_sent_at_once(queue: dueq.Queue) -> None:
    queue.push_many(numbers(2))
    consumer = queue.consume(prefetch=2, timeout=0)

    def work(taken: dueq.Message) -> None:
        taken.ack(wait=False)
        assert queue.stats().acked == 1

    for message in consumer:
        if message.body == b"0":
            in_child(partial(work, message))
        message.ack(wait=False)
    assert consumer.lost <= 1  # both have acknowledged the first
    assert settled(queue) == (0, 0, 0, 2)


def test_consume_leaves_no_connection_behind(queue: dueq.Queue, server: Server) -> None:
    queue.push_many(numbers(30))
    for _ in range(30):
        for message in queue.consume(timeout=0):
            with message:
                break
    gc.collect()
    clients = server.command("CLIENT", "LIST")
    assert isinstance(clients, bytes)
    assert clients.count(b"\n") <= 5
    assert settled(queue) == (0, 0, 0, 30)


def test_consume_is_freed_with_its_last_message(queue: dueq.Queue) -> None:
    queue.push_many(numbers(2))
    threads = len(os.listdir("/proc/self/task"))
    kept = list(queue.consume(timeout=0))
    assert len(os.listdir("/proc/self/task")) == threads + 1
    del kept
    gc.collect()
    assert len(os.listdir("/proc/self/task")) == threads


# ---- On an event loop ----


def test_aio_consume(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            await opened.push_many(numbers(300))
            taken = []
            async with opened.consume(prefetch=20, timeout=0.1) as consumer:
                async for message in consumer:
                    async with message:
                        taken.append(message.body)
                assert consumer.lost == 0
            assert taken == numbers(300)
            assert settled(queue) == (0, 0, 0, 300)
            await opened.push_many([dueq.Draft("bad", backoff=0), "good"])
            with pytest.raises(RuntimeError):
                async for message in opened:
                    async with message:
                        raise RuntimeError("why")

    asyncio.run(main(), debug=True)
    assert [message.error for message in queue.peek("ready")] == ["", "RuntimeError: why"]
    assert settled(queue) == (2, 0, 0, 300)


def test_aio_consume_work(queue: dueq.Queue) -> None:
    async def handle(message: aio.Message) -> None:
        await asyncio.sleep(0.001)
        if message.body == b"3":
            raise RuntimeError("why")

    async def main() -> None:
        failed: list[bytes] = []
        async with aio.Queue(queue.name, queue.url) as opened:
            await opened.push_many([dueq.Draft(body, max_attempts=1) for body in numbers(10)])
            consumer = opened.consume(prefetch=3, timeout=0.1)
            await consumer.work(handle, lambda message, error: failed.append(message.body))
            assert failed == [b"3"]
            await opened.push("3")
            await opened.consume(timeout=0).work(handle, lambda message, error: message.bury("why"))
            await opened.push("3", backoff=0)
            with pytest.raises(RuntimeError):
                await opened.consume().work(handle)

    asyncio.run(main(), debug=True)
    assert settled(queue) == (1, 0, 2, 9)


def test_aio_consume_with_a_task_for_each(queue: dueq.Queue) -> None:
    async def handle(message: aio.Message) -> None:
        async with message:
            await asyncio.sleep(0.002)

    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            await opened.push_many(numbers(100))
            consumer = opened.consume(prefetch=10, timeout=0.2)
            async with asyncio.TaskGroup() as tasks:
                async for message in consumer:
                    tasks.create_task(handle(message))
            assert consumer.lost == 0

    asyncio.run(main(), debug=True)
    assert settled(queue) == (0, 0, 0, 100)


@pytest.mark.parametrize("way", ["cancel", "stop", "close", "queue", "timeout", "abandon"])
def test_aio_consume_left_while_it_waits(queue: dueq.Queue, server: Server, way: str) -> None:
    async def loop(consumer: aio.Consumer) -> None:
        async for message in consumer:
            async with message:
                pass

    async def main() -> None:
        opened = aio.Queue(queue.name, queue.url)
        await opened.push_many(numbers(5))
        consumer = opened.consume(prefetch=3)
        task = asyncio.create_task(loop(consumer))
        while not server.waiting():
            await asyncio.sleep(0.005)
        match way:
            case "cancel":
                task.cancel()
            case "stop":
                threading.Thread(target=consumer.stop).start()
            case "close":
                await consumer.close()
            case "queue":
                await opened.close()
            case "timeout":
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(task, 0.01)
            case _:
                return
        async with asyncio.timeout(10):
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await opened.close()

    asyncio.run(main(), debug=True)
    queue.push("x")
    message = queue.reserve(timeout=5)
    assert message is not None
    assert message.deliveries == 1
    message.ack()
    assert settled(queue) == (0, 0, 0, 6)


def test_aio_consume_cancelled_in_hand(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as opened:
            await opened.push_many(dueq.Draft(body, backoff=0) for body in numbers(10))

            async def loop() -> None:
                async for message in opened.consume(prefetch=10):
                    async with message:
                        if message.body == b"3":
                            await asyncio.sleep(60)

            task = asyncio.create_task(loop())
            await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main(), debug=True)
    left = list(queue.peek("ready"))
    assert [message.body for message in left] == [*numbers(10)[4:], b"3"]
    assert left[-1].error == ""
    assert settled(queue) == (7, 0, 0, 3)


@pytest.mark.parametrize("seed", range(2))
def test_aio_consume_cancelled_at_any_moment(queue: dueq.Queue, seed: int) -> None:
    chance = random.Random(seed)
    count = 200

    async def main() -> None:
        taken: Counter[bytes] = Counter()
        async with aio.Queue(queue.name, queue.url) as opened:

            async def loop() -> None:
                async for message in opened.consume(prefetch=chance.randint(1, 5)):
                    async with message:
                        taken[message.body] += 1

            async def storm() -> None:
                while taken.total() < count:
                    task = asyncio.create_task(loop())
                    await asyncio.sleep(chance.uniform(0, 0.01))
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await task

            async def push() -> None:
                for body in numbers(count):
                    await opened.push(body)
                    await asyncio.sleep(chance.uniform(0, 0.002))

            async with asyncio.timeout(60):
                await asyncio.gather(storm(), storm(), push())
        assert taken == Counter(numbers(count))

    asyncio.run(main(), debug=True)
    assert settled(queue) == (0, 0, 0, count)


# What is cancelled after it was prefetched


def test_consume_closed_in_its_own_block(queue: dueq.Queue) -> None:
    queue.push_many(numbers(3))
    consumer = queue.consume(prefetch=2, timeout=1)
    for message in consumer:
        with message:
            consumer.close()
    assert settled(queue) == (2, 0, 0, 1)


def test_aio_consume_closed_in_its_own_block(queue: dueq.Queue, server: Server) -> None:
    queue.push_many(numbers(3))

    async def work() -> None:
        async with aio.Queue(queue.name, server.url) as mine:
            consumer = mine.consume(prefetch=2, timeout=1)
            async for message in consumer:
                async with message:
                    await consumer.close()

    asyncio.run(work())
    assert settled(queue) == (2, 0, 0, 1)


@pytest.mark.parametrize("make", [dueq.Queue.consume, dueq.Queue.pusher])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_a_connection_is_not_copied(
    queue: dueq.Queue,
    make: Callable[[dueq.Queue], dueq.Consumer | dueq.Pusher],
    copied: Callable[[object], object],
) -> None:
    with make(queue) as held, pytest.raises(TypeError, match="cannot be copied"):
        copied(held)


def test_consume_does_not_begin_what_was_cancelled(queue: dueq.Queue) -> None:
    ids = [queue.push(number) for number in numbers(5)]
    taken = []
    with queue.consume(prefetch=5, timeout=0) as consumer:
        for message in consumer:
            with message:
                taken.append(message.body)
                if message.body == b"0":
                    assert queue.cancel_many(ids[1:4]) == [dueq.State.LEASED] * 3
                    time.sleep(0.5)
        assert consumer.lost == 3
    assert taken == [b"0", b"4"]
    assert settled(queue) == (0, 0, 0, 2)


def test_consume_goes_on_where_all_in_hand_was_cancelled(queue: dueq.Queue) -> None:
    async def main() -> list[bytes]:
        taken = []
        async with aio.Queue(queue.name, queue.url) as own:
            ids = [await own.push(number) for number in numbers(3)]
            async with own.consume(prefetch=3, timeout=10) as consumer:
                async for message in consumer:
                    async with message:
                        taken.append(message.body)
                        if len(taken) == 2:
                            break
                        await own.cancel_many(ids[1:])
                        await asyncio.sleep(0.5)
                        await own.push("later", delay=0.5)
        return taken

    assert asyncio.run(main()) == [b"0", b"later"]
    assert settled(queue) == (0, 0, 0, 2)
