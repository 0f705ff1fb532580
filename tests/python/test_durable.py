"""Pushes that are to be on a replica: what they say otherwise, and what a failover leaves."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import dueq
import dueq.aio
from dueq import errors
from private_server import Server, free_port

AT_MOST = 0.3


class Replicated:
    """A primary with one replica."""

    def __init__(self) -> None:
        self.port = free_port()
        self.primary = Server("--port", str(self.port), "--repl-diskless-sync-delay", "0")
        self.replica = Server("--replicaof", "127.0.0.1", str(self.port))

    def follow(self) -> None:
        """Waits until the replica has all that there is."""
        self.replica.thaw()
        deadline = time.monotonic() + 20
        while self.primary.command("WAIT", 1, 1000) != 1:
            assert time.monotonic() < deadline

    def waits(self) -> int:
        """How often the primary was asked to wait for replicas."""
        info = self.primary.command("INFO", "commandstats")
        assert isinstance(info, bytes)
        found = info.partition(b"cmdstat_wait:calls=")[2]
        return int(found.split(b",")[0] or 0)


@pytest.fixture(scope="module")
def pair() -> Iterator[Replicated]:
    made = Replicated()
    with made.primary, made.replica:
        made.follow()
        yield made
        made.replica.thaw()


@pytest.fixture
def servers(pair: Replicated) -> Replicated:
    pair.follow()
    pair.primary.command("FLUSHALL")
    return pair


@pytest.fixture
def queue(servers: Replicated) -> Iterator[dueq.Queue]:
    with dueq.Queue("q", servers.primary.url, replicas=1, durable_timeout=AT_MOST) as made:
        yield made


def existing(server: Server) -> object:
    return server.command("HLEN", "dueq:{q}:msg")


def test_durable_push_by_queue_push_and_url(servers: Replicated) -> None:
    url = servers.primary.url
    with dueq.Queue("q", url, replicas=1, durable_timeout=20) as by_queue:
        by_queue.push("a")
    with dueq.Queue("q", url) as plain:
        plain.push("b", replicas=1, durable_timeout=20)
    with dueq.Queue("q", f"{url}?replicas=1&durable_timeout=20s") as by_url:
        by_url.push("c")
        assert existing(servers.replica) == 3
        servers.replica.freeze()
        # The most of all counts, and the time of the push.
        with pytest.raises(dueq.NotDurable, match=r"on 0 of 1 replicas within 100 ms"):
            by_url.push("d", replicas=0, durable_timeout=0.1)


def test_durable_failure_has_the_id_and_is_repeated(servers: Replicated, queue: dueq.Queue) -> None:
    servers.replica.freeze()
    with pytest.raises(dueq.NotDurable) as caught:
        queue.push("a")
    error = caught.value
    assert str(error) == f"stored as {error.id}; on 0 of 1 replicas within 300 ms"
    assert error.ids == (error.id,)
    assert (error.replicas, error.disk, error.retriable) == (0, False, True)
    assert pickle.loads(pickle.dumps(error)).ids == error.ids
    with pytest.raises(dueq.NotDurable):
        queue.push("a", id=error.id)
    servers.follow()
    with pytest.raises(dueq.Duplicate):
        queue.push("a", id=error.id, durable_timeout=20)
    assert existing(servers.replica) == 1
    found = queue.find(error.id)
    assert found
    assert found.body == b"a"


def test_durable_push_many_waits_once_for_a_batch(servers: Replicated, queue: dueq.Queue) -> None:
    queue.push("first", durable_timeout=20)
    before = servers.waits()
    assert len(queue.push_many(dueq.Draft(str(n), durable_timeout=20) for n in range(400))) == 400
    # Not one for each message. A slow replica may need more than one for a batch.
    assert servers.waits() < before + 10
    assert existing(servers.replica) == 401
    servers.replica.freeze()
    with pytest.raises(dueq.NotDurable, match=r" and 199 more; ") as caught:
        queue.push_many(map(str, range(400)))
    assert len(set(caught.value.ids)) == 200
    assert caught.value.__notes__ == ["0 messages were pushed before the batch that failed"]


def test_durable_pusher_waits_few_times(servers: Replicated) -> None:
    with dueq.Queue("q", servers.primary.url, replicas=1, durable_timeout=20) as queue:
        before = servers.waits()
        with queue.pusher() as pusher:
            pushes = [pusher.push(str(n)) for n in range(1000)]
        assert all(push.done and not push.error for push in pushes)
        assert servers.waits() - before <= 40
        assert existing(servers.replica) == 1000


def test_durable_pusher_tells_each_push(servers: Replicated, queue: dueq.Queue) -> None:
    servers.replica.freeze()
    pusher = queue.pusher()
    pushes = [pusher.push(str(n)) for n in range(300)]
    with pytest.raises(ExceptionGroup) as caught:
        pusher.close()
    assert len(caught.value.exceptions) == 300
    for push in pushes:
        assert isinstance(push.error, dueq.NotDurable)
        assert push.error.ids == (push.id,)
    assert existing(servers.primary) == 300


def test_durable_ack_with_successors_settles_the_message(
    servers: Replicated, queue: dueq.Queue
) -> None:
    queue.push("a", durable_timeout=20)
    servers.replica.freeze()
    with pytest.raises(dueq.NotDurable) as caught, queue.reserve(timeout=None) as message:
        message.ack(push=["b", dueq.Draft("c", id="c")])
    assert caught.value.ids[1] == "c"
    stats = queue.stats()
    assert (stats.ready, stats.leased, stats.acked, stats.retried) == (2, 0, 1, 0)


def test_durable_pushes_to_partitions(servers: Replicated) -> None:
    url = servers.primary.url
    with dueq.Queue("q", url, replicas=1, durable_timeout=AT_MOST, partitions=4) as queue:
        queue.push("first", durable_timeout=20)
        drafts = [dueq.Draft(str(n), key=str(n), durable_timeout=20) for n in range(40)]
        before = servers.waits()
        assert len(queue.push_many(drafts)) == 40
        assert servers.waits() == before + 4
        message = queue.reserve() or pytest.fail("nothing")
        servers.replica.freeze()
        with pytest.raises(dueq.NotDurable) as caught:
            queue.push_many(dueq.Draft(str(n), key=str(n)) for n in range(40))
        assert len(set(caught.value.ids)) == 40
        with pytest.raises(dueq.NotDurable):
            queue.partition_for("0").push("one")
        with pytest.raises(dueq.NotDurable):
            message.ack(push=["a successor"])
        stats = queue.stats()
        assert (stats.pushed, stats.acked, stats.ready) == (83, 1, 82)


def test_durable_what_is_wrong_is_said(servers: Replicated, queue: dueq.Queue) -> None:
    with pytest.raises(errors.InvalidError, match=r"number of replicas is 101"):
        dueq.Queue("q", servers.primary.url, replicas=101)
    with pytest.raises(errors.InvalidError, match=r"durable_timeout: must be above 0"):
        queue.push("a", durable_timeout=0)
    with pytest.raises(TypeError, match=r"replicas: '1' is not int"):
        queue.push("a", replicas="1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"disk: 1 is not bool"):
        queue.push("a", disk=1)  # type: ignore[arg-type]


def test_durable_queue_is_so_when_unpickled(servers: Replicated, queue: dueq.Queue) -> None:
    servers.replica.freeze()
    with pickle.loads(pickle.dumps(queue)) as copy, pytest.raises(dueq.NotDurable):
        copy.push("a")


def test_durable_pushes_in_an_event_loop(servers: Replicated) -> None:
    async def main() -> None:
        url = servers.primary.url
        async with dueq.aio.Queue("q", url, replicas=1, durable_timeout=20) as queue:
            await asyncio.gather(*(queue.push(str(n)) for n in range(100)))
            async with queue.pusher() as pusher:
                for n in range(100):
                    await pusher.push(str(n))
            assert existing(servers.replica) == 200
            servers.replica.freeze()
            begun = time.monotonic()
            failed = await asyncio.gather(
                *(queue.push(str(n), id=str(n), durable_timeout=1) for n in range(10)),
                return_exceptions=True,
            )
            # They wait beside each other.
            assert time.monotonic() - begun < 8
            for n, error in enumerate(failed):
                assert isinstance(error, dueq.NotDurable)
                assert error.id == str(n)

    asyncio.run(main())


def test_durable_pushes_survive_a_failover() -> None:
    """What was acknowledged is on the replica when the primary is killed amid pushes."""
    servers = Replicated()
    with servers.primary, servers.replica:
        servers.follow()
        url = f"{servers.primary.url}?replicas=1&durable_timeout=1s&timeout=500ms"
        acknowledged: list[str] = []

        def push() -> None:
            with dueq.Queue("q", url) as queue:
                try:
                    while True:
                        acknowledged.append(queue.push("x"))
                except dueq.Error:
                    return

        with ThreadPoolExecutor(4) as pool:
            pushing = [pool.submit(push) for _ in range(4)]
            deadline = time.monotonic() + 20
            while len(acknowledged) < 200:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            servers.primary.stop()
            for each in pushing:
                each.result()
        servers.replica.command("REPLICAOF", "NO", "ONE")
        with dueq.Queue("q", servers.replica.url) as queue:
            assert set(acknowledged) <= {message.id for message in queue.peek("ready")}
