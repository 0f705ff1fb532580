"""Results of tasks: kept ends, those who wait for them, and what a worker keeps."""

from __future__ import annotations

import asyncio
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dueq
import dueq.aio
from private_server import Server
from worker_process import WorkerProcess, until

pools = pytest.mark.parametrize("pool", ["threads", "processes", "asyncio"])


@pytest.fixture
def queue(url: str) -> Iterator[dueq.Queue]:
    with dueq.Queue("orders", url) as made:
        yield made


def far(url: str) -> dueq.App:
    """An app of another program: it knows the tasks by their names alone."""
    return dueq.App(url)


# ---- Tasks ----


@pools
def test_results_of_tasks(url: str, tmp_path: Path, pool: str) -> None:
    app = far(url)
    with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2") as worker:
        total = app.push("total", [1, 2, 3], keep=60)
        later = app.push("async_total", [4], keep=60)
        nothing = app.push("no_result", keep=60)
        failed = app.push("fail_for_good", ["no luck"], keep=60, max_attempts=1)
        assert total.result(timeout=20) == 6
        assert total.result() == 6
        assert later.result(timeout=20) == {"total": 4, "when": "2026-11-28"}
        assert nothing.result(timeout=20) is None
        with pytest.raises(dueq.TaskFailed, match="no luck") as caught:
            failed.result(timeout=20)
        assert caught.value.error == "ValueError: no luck"
        assert caught.value.end.outcome == "dead"
        assert app.result(str(total), queue="default") == 6
        end = app.queue("default").outcome(total)
        assert end
        assert end.host
        assert end.pid == worker.process.pid or pool == "processes"
        assert end.ran is not None
        assert end.waited is not None
        assert worker.stop() == 0


@pools
def test_a_result_that_cannot_be_kept_fails_the_job(url: str, tmp_path: Path, pool: str) -> None:
    app = far(url)
    with WorkerProcess(tmp_path, url, "--pool", pool) as worker:
        for what, text in (
            ("object", "not JSON serializable"),
            ("nan", "JSON"),
            ("large", "1048576 are allowed"),
        ):
            handle = app.push("give", [what, 1048576], keep=60)
            with pytest.raises(dueq.TaskFailed, match="the result cannot be kept") as caught:
                handle.result(timeout=20)
            assert text in caught.value.error
        assert app.push("give", ["large", 1000], keep=60).result(timeout=20) == "x" * 1000
        assert worker.stop() == 0
    assert app.queue("default").stats().dead == 3


def test_results_for_asyncio(url: str, tmp_path: Path) -> None:
    app = far(url)

    async def ask() -> None:
        handles = [await app.apush("total", [n, 1], keep=60) for n in range(5)]
        assert await asyncio.gather(*(each.aresult(timeout=20) for each in handles)) == [
            *range(1, 6)
        ]
        assert await app.aresult(handles[0], queue="default") == 1

    with WorkerProcess(tmp_path, url) as worker:
        asyncio.run(ask())
        assert worker.stop() == 0


def test_a_task_without_keep_has_no_result(url: str, tmp_path: Path) -> None:
    app = far(url)
    with WorkerProcess(tmp_path, url) as worker:
        handle = app.push("total", [1])
        until(lambda: app.queue("default").stats().acked, "the ack")
        with pytest.raises(dueq.NotFound):
            handle.result()
        assert worker.stop() == 0


def test_a_handle_is_the_id(url: str) -> None:
    app = dueq.App(url)

    @app.task(queue="mail", keep=60)
    def send(order: int) -> int:
        return order

    handle = send.push(17)
    message = app.queue("mail").find(handle)
    assert message
    assert message.id == handle
    assert message.keep == 60
    assert pickle.loads(pickle.dumps(handle)) == handle
    with pytest.raises(TimeoutError):
        handle.result(timeout=0.05)
    assert app.queue("mail").cancel(handle)
    with pytest.raises(dueq.TaskFailed, match="cancelled"):
        handle.result()
    with pytest.raises(dueq.TaskFailed, match="cancelled"):
        app.result(handle)
    with pytest.raises(dueq.NotFound):
        app.result("nobody")


@pytest.mark.parametrize("queue", ["mail", None])
def test_a_result_that_is_there_is_one_round_trip(
    url: str, server: Server, queue: str | None
) -> None:
    app = dueq.App(url)

    @app.task(queue="mail", keep=60)
    def send(order: int) -> int:
        return order

    async def ask(id: str) -> object:
        return await app.aresult(id, queue=queue)

    handle = send.push(17)
    message = app.queue("mail").reserve()
    assert message
    message.ack(result=b"17")
    assert app.result(str(handle), queue=queue) == 17
    server.command("CONFIG", "RESETSTAT")
    assert app.result(str(handle), queue=queue) == 17
    assert asyncio.run(ask(str(handle))) == 17
    info = server.command("INFO", "commandstats")
    assert isinstance(info, bytes)
    assert b"cmdstat_evalsha:calls=2," in info


# ---- Those who wait ----


def ack_soon(queue: dueq.Queue, result: str | None = "done") -> threading.Thread:
    def ack() -> None:
        message = queue.reserve(timeout=20)
        assert message
        message.ack(result=result)

    thread = threading.Thread(target=ack)
    thread.start()
    return thread


def waiting(server: Server, number: int) -> None:
    """Until so many clients block."""

    def blocked() -> bool:
        info = server.command("INFO", "clients")
        assert isinstance(info, bytes)
        return f"blocked_clients:{number}\r\n".encode() in info

    until(blocked, f"{number} who block")


def test_each_of_many_who_wait_is_told(url: str, server: Server, queue: dueq.Queue) -> None:
    id = queue.push("x", keep=60)
    ends: list[dueq.End | None] = []

    def wait() -> None:
        ends.append(queue.outcome(id, timeout=20))

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    waiting(server, 8)
    began = time.monotonic()
    ack_soon(queue).join()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 10  # the probe of one comes after 12 s
    assert [end and end.result for end in ends] == [b"done"] * 8


@pytest.mark.parametrize("verb", ["cancel", "bury", "kill", "purge", "last retry"])
def test_who_waits_is_told_of_every_end(
    url: str, server: Server, queue: dueq.Queue, verb: str
) -> None:
    id = queue.push("x", keep=60, max_attempts=1, delay=3600 if verb == "kill" else None)
    ends: list[dueq.End | None] = []
    thread = threading.Thread(target=lambda: ends.append(queue.outcome(id, timeout=20)))
    held = queue.reserve() if verb in ("bury", "last retry") else None
    thread.start()
    waiting(server, 1)
    began = time.monotonic()
    if verb == "cancel":
        queue.cancel(id)
    elif verb == "kill":
        queue.kill(id)
    elif verb == "purge":
        queue.purge("ready")
    elif held and verb == "bury":
        held.bury("no")
    elif held:
        held.retry(error="no")
    thread.join()
    assert time.monotonic() - began < 10
    outcomes = {"cancel": "cancelled", "purge": "purged"}
    assert ends[0]
    assert ends[0].outcome == outcomes.get(verb, "dead")


def test_who_waits_sends_nothing_meanwhile(url: str, server: Server, queue: dueq.Queue) -> None:
    id = queue.push("x", keep=60)
    ends: list[dueq.End | None] = []
    thread = threading.Thread(target=lambda: ends.append(queue.outcome(id, timeout=3)))
    thread.start()
    waiting(server, 1)
    server.command("CONFIG", "RESETSTAT")
    time.sleep(1)
    info = server.command("INFO", "commandstats")
    assert isinstance(info, bytes)
    assert b"cmdstat_evalsha" not in info
    thread.join()
    assert ends == [None]


def test_who_waits_goes_on_after_a_lost_connection(
    url: str, server: Server, queue: dueq.Queue
) -> None:
    id = queue.push("x", keep=60)
    ends: list[dueq.End | None] = []
    thread = threading.Thread(target=lambda: ends.append(queue.outcome(id, timeout=30)))
    thread.start()
    waiting(server, 1)
    server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    waiting(server, 1)
    ack_soon(queue).join()
    thread.join()
    assert ends[0]
    assert ends[0].result == b"done"


def test_a_cancelled_wait_leaves_the_others_waiting(
    url: str, server: Server, queue: dueq.Queue
) -> None:
    id = queue.push("x", keep=60)

    async def wait_and_leave() -> dueq.End | None:
        async with dueq.aio.Queue("orders", url) as other:
            leaves = asyncio.create_task(other.outcome(id, timeout=20))
            stays = asyncio.create_task(other.outcome(id, timeout=20))
            await asyncio.to_thread(waiting, server, 2)
            leaves.cancel()
            await asyncio.to_thread(waiting, server, 1)
            await asyncio.to_thread(ack_soon(queue).join)
            return await stays

    end = asyncio.run(wait_and_leave())
    assert end
    assert end.result == b"done"


def test_a_queue_of_partitions_waits_where_the_message_is(url: str, server: Server) -> None:
    with dueq.Queue("parts", url, partitions=3) as parts:
        id = parts.push("x", id="x", keep=60)
        ends: list[dueq.End | None] = []
        thread = threading.Thread(target=lambda: ends.append(parts.outcome(id, timeout=20)))
        thread.start()
        waiting(server, 1)
        ack_soon(parts).join()
        thread.join()
        assert ends[0]
        assert ends[0].result == b"done"


# ---- Consumers ----


def test_a_consumer_acks_kept_messages_with_its_next_request(queue: dueq.Queue) -> None:
    ids = [queue.push(str(n), keep=60) for n in range(5)]
    for message in queue.consume(timeout=0.2):
        with message:
            assert message.keep == 60
    for id in ids:
        end = queue.outcome(id)
        assert end
        assert end.outcome == "acked"
        assert end.host
        assert end.ran is not None


def test_a_consumer_with_prefetch_and_results(queue: dueq.Queue) -> None:
    ids = [queue.push(str(n), keep=60) for n in range(20)]
    for message in queue.consume(prefetch=5, timeout=0.2):
        message.ack(result=message.body)
    results = []
    for id in ids:
        end = queue.outcome(id)
        assert end
        results.append(end.result)
    assert results == [str(n).encode() for n in range(20)]


def test_a_queue_has_a_keep_of_its_own(url: str) -> None:
    with dueq.Queue("orders", url, keep=60) as kept:
        id = kept.push("x")
        message = kept.reserve()
        assert message
        assert message.id == id
        assert message.keep == 60
        message.ack(result="r")
        end = kept.outcome(id)
        assert end
        assert end.result == b"r"
        own = pickle.loads(pickle.dumps(kept))
        own.push("y", id="y", keep=5)
        found = own.find("y")
        assert found
        assert found.keep == 5


@pytest.mark.parametrize("to", [None, "other"])
def test_an_ack_with_successors_keeps_a_result(queue: dueq.Queue, to: str | None) -> None:
    id = queue.push("x", keep=60)
    message = queue.reserve()
    assert message
    [successor] = message.ack(push=["y"], to=to, result=b"r\0")
    end = queue.outcome(id)
    assert end
    assert (end.outcome, end.result, end.host) == ("acked", b"r\0", socket.gethostname())
    assert successor
    if to is None:
        assert queue.find(successor)


def test_an_ack_with_a_result_is_not_kept_for_later(url: str, queue: dueq.Queue) -> None:
    queue.push("x", keep=60)
    message = queue.reserve()
    assert message
    with pytest.raises(dueq.errors.InvalidError):
        message.ack(result="r", wait=False)
    with pytest.raises(dueq.errors.TooLargeError):
        message.ack(push=["y"], result=b"x" * 1048577)
    with pytest.raises(dueq.errors.TooLargeError):
        message.ack(result=b"x" * 1048577)
    message.ack(result=memoryview(b"r"))
