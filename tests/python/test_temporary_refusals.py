"""What a server refuses for a while, as programs see it: nothing ends, and one line says why."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import dueq
import dueq.aio
from private_server import Server, free_port


def said(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    """The lines of the logger dueq that have a word."""
    return [r.getMessage() for r in caplog.records if r.name == "dueq" and word in r.getMessage()]


def await_said(caplog: pytest.LogCaptureFixture, word: str) -> None:
    deadline = time.monotonic() + 20
    while not said(caplog, word):
        assert time.monotonic() < deadline, f"nothing is said of {word}"
        time.sleep(0.01)


def replica(server: Server) -> None:
    server.command("REPLICAOF", "127.0.0.1", "1")


def primary(server: Server) -> None:
    server.command("REPLICAOF", "NO", "ONE")


def test_consumer_outlives_a_planned_failover(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """It acknowledges what it has finished meanwhile; the deadline of a request is over twice."""
    seen: list[bytes] = []
    with dueq.Queue("q", own_server.url + "?timeout=1s") as queue:
        consumer = queue.consume(prefetch=2)

        def work() -> None:
            for message in consumer:
                with message:
                    seen.append(message.body)
                    if message.body == b"first":
                        replica(own_server)

        queue.push("first")
        thread = threading.Thread(target=work)
        thread.start()
        await_said(caplog, "READONLY")
        time.sleep(2)
        assert thread.is_alive()
        primary(own_server)
        with dueq.Queue("q", own_server.url) as other:
            other.push("second")
            deadline = time.monotonic() + 20
            while other.stats().acked < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert other.stats().acked == 2
        consumer.stop()
        thread.join()
        assert seen == [b"first", b"second"]
        assert consumer.lost == 0
        consumer.close()
    assert len(said(caplog, "READONLY")) == 1


def test_settlements_of_two_queues_outlive_a_lack_of_replicas(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Such a loop settles by requests of their own, which wait for no message."""
    with (
        dueq.Queue("a", own_server.url) as a,
        dueq.Queues(["a", "b"], own_server.url + "?timeout=1s") as both,
    ):
        a.push("first")
        consumer = both.consume()
        loop = iter(consumer)
        with next(loop) as message:
            assert message.body == b"first"
            own_server.command("CONFIG", "SET", "min-replicas-to-write", "1")
        back = threading.Timer(
            3, own_server.command, ("CONFIG", "SET", "min-replicas-to-write", "0")
        )
        pushed = threading.Timer(4, lambda: dueq.Queue("b", own_server.url).push("second"))
        back.start()
        pushed.start()
        with next(loop) as message:
            assert message.body == b"second"
        back.join()
        pushed.join()
        consumer.close()
        assert consumer.lost == 0
        assert a.stats().acked == 1
    assert said(caplog, "NOREPLICAS")


def test_reserve_of_asyncio_outlives_a_planned_failover(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with dueq.aio.Queue("q", own_server.url + "?timeout=1s") as queue:
            await queue.push("first", delay=60)
            waiting = asyncio.create_task(queue.reserve(timeout=60))
            await asyncio.to_thread(own_server.wait_for_waiting, 1)
            replica(own_server)
            await asyncio.to_thread(await_said, caplog, "READONLY")
            await asyncio.sleep(1)
            assert not waiting.done()
            primary(own_server)
            await queue.push("second")
            message = await asyncio.wait_for(waiting, 20)
            assert message is not None
            assert message.body == b"second"
            await message.ack()

    asyncio.run(main())


def node() -> tuple[Server, str, str]:
    """A server that is to be in a cluster, its port and that for other nodes."""
    port, bus = str(free_port()), str(free_port())
    words = ("--port", port, "--cluster-enabled", "yes", "--cluster-port", bus)
    return Server(*words), port, bus


def text(server: Server, *words: str) -> bytes:
    reply = server.command(*words)
    assert isinstance(reply, bytes)
    return reply


def await_state(server: Server, state: bytes) -> None:
    deadline = time.monotonic() + 20
    while b"cluster_state:" + state not in text(server, "CLUSTER", "INFO"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_reserve_outlives_what_a_cluster_goes_through(caplog: pytest.LogCaptureFixture) -> None:
    """A slot that nobody serves, and one that another node has for a while."""
    (one, _, _), (two, port, bus) = node(), node()
    with one, two:
        slot = str(one.command("CLUSTER", "KEYSLOT", "dueq:{q}:msg"))
        ids = [text(server, "CLUSTER", "MYID") for server in (one, two)]
        with dueq.Queue("q", one.url + "?timeout=1s") as queue:
            with pytest.raises(dueq.errors.UnavailableError, match="CLUSTERDOWN"):
                queue.push("nobody serves its slot")
            one.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            await_state(one, b"ok")
            queue.push("first", delay=60)
            got: list[dueq.Message | None] = []
            thread = threading.Thread(target=lambda: got.append(queue.reserve(timeout=60)))
            thread.start()
            one.wait_for_waiting(1)
            one.command("CLUSTER", "MEET", "127.0.0.1", port, bus)
            deadline = time.monotonic() + 20
            while b"handshake" in (nodes := text(one, "CLUSTER", "NODES")) or ids[1] not in nodes:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            # Its keys go first: a node gives up no slot that has any.
            one.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
            one.command("FLUSHALL")
            one.command("CLUSTER", "SETSLOT", slot, "NODE", ids[1])
            await_said(caplog, "MOVED")
            assert thread.is_alive()
            with (
                dueq.Queue("q", one.url) as fresh,
                pytest.raises(dueq.errors.UnavailableError, match="MOVED"),
            ):
                fresh.push("at once")
            one.command("CLUSTER", "SETSLOT", slot, "NODE", ids[0])
            queue.push("second")
            thread.join()
            assert got[0] is not None
            assert got[0].body == b"second"


def test_evicting_server_is_logged_once(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    own_server.command("CONFIG", "SET", "maxmemory", "500mb")
    own_server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    for _ in range(2):
        with dueq.Queue("q", own_server.url) as queue:
            queue.push("x")
            assert queue.stats().evicting is True
    assert len(said(caplog, "allkeys-lru")) == 1
    with dueq.Queue("q", own_server.url + "?evicting=accept") as queue:
        assert queue.stats().evicting is False
    assert len(said(caplog, "allkeys-lru")) == 1


def test_many_evicting_servers_are_each_logged(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    own_server.command("CONFIG", "SET", "maxmemory", "500mb")
    own_server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    for number in range(40):
        way = own_server.directory / str(number)
        way.symlink_to(own_server.socket)
        with dueq.Queue("q", f"unix://{way}") as queue:
            queue.push("x")
    assert len(said(caplog, "allkeys-lru")) == 40
