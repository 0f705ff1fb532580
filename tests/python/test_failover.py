"""What goes on when a replica takes over from the server, at the same address."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dueq
import dueq.laravel
import dueq.redisson
from private_server import Server, free_port


def await_true(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Pair:
    """Two servers and the address of the primary, a link to its socket."""

    def __init__(self) -> None:
        self.ports = [free_port(), free_port()]
        # A primary waits for further replicas otherwise before it sends what it has.
        at_once = ("--repl-diskless-sync-delay", "0")
        self.servers = [Server("--port", str(port), *at_once) for port in self.ports]
        self.at = 0
        for server in self.servers:
            server.start()
        self.address = Path(self.servers[0].directory, "primary")
        self.address.symlink_to(self.servers[0].socket)
        self._follow(1)

    @property
    def url(self) -> str:
        return f"unix://{self.address}?timeout=20s"

    def _follow(self, replica: int) -> None:
        self.servers[replica].command("REPLICAOF", "127.0.0.1", self.ports[1 - replica])

    def told(self, server: int, name: str) -> str:
        """What INFO of a server tells about its replication; empty when it tells nothing."""
        text = self.servers[server].command("INFO", "replication")
        assert isinstance(text, bytes)
        found = re.search(rf"^{name}:(\S+)", text.decode(), re.M)
        return found[1] if found else ""

    def in_step(self, offset: int) -> bool:
        replica = 1 - self.at
        return (
            self.told(replica, "master_link_status") == "up"
            and int(self.told(replica, "slave_repl_offset")) >= offset
        )

    def fail_over(self) -> None:
        """The replica is the primary, the primary its replica; old connections are cut."""
        # WAIT on a connection that wrote nothing would wait for nothing.
        offset = int(self.told(self.at, "master_repl_offset"))
        await_true(lambda: self.in_step(offset))
        old, self.at = self.at, 1 - self.at
        self.servers[self.at].command("REPLICAOF", "NO", "ONE")
        self._follow(old)
        link = self.address.with_suffix(".new")
        link.symlink_to(self.servers[self.at].socket)
        os.replace(link, self.address)
        for kind in ("normal", "pubsub"):
            self.servers[old].command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    def close(self) -> None:
        for server in self.servers:
            server.__exit__(None, None, None)


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


def test_transfer_and_take_go_on_after_a_failover(pair: Pair) -> None:
    with dueq.redisson.DelayedQueue("reminders", pair.url) as queue, queue.transferring():
        for number in range(2):
            queue.offer(f"before {number}", delay=1)
            pair.fail_over()
            queue.offer(f"after {number}", delay=0.1)
            came = {queue.take(timeout=20), queue.take(timeout=20)}
            assert came == {f"before {number}", f"after {number}"}
        assert queue.size().delayed == queue.size().ready == 0


def test_pop_and_migrate_go_on_after_a_failover(pair: Pair) -> None:
    with dueq.laravel.Queue("default", pair.url) as queue, queue.migrating():
        for number in range(2):
            queue.later(2, "Job@run", {"number": number})
            pair.fail_over()
            job = queue.pop(timeout=20)
            assert job
            assert job.data == {"number": number}
            job.delete()
        assert queue.size().reserved == 0
