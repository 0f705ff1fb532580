"""A private primary, its replicas and sentinels, real ones on loopback, and what is done to them.

    python tests/topology/sentinel.py [--replicas N]

starts them, prints the URL, and stops them at Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from certificates import Certificates
from node import HOST, Member, wait_until
from private_server import Refused, Reply, free_port

NAME = "shop"
ELECTION_MS = 3000  # a vote is over after so long, and the next one begins after twice that


class Peer(Member):
    """A primary, a replica or a sentinel."""

    def __init__(self, *options: str, password: str = "", tls: Certificates | None = None) -> None:
        self.port = free_port()
        self.password = password
        port = ["--tls-port", str(self.port), *tls.options()] if tls else ["--port", str(self.port)]
        words = [*port, "--bind", HOST]
        words += ["--requirepass", password] if password else []
        super().__init__(*words, *options)
        self.scheme = "rediss" if tls else "redis"

    def connect(self) -> socket.socket:
        connection = super().connect()
        if self.password:
            connection.sendall(b"AUTH %s\r\n" % self.password.encode())
            connection.recv(len(b"+OK\r\n"))
        return connection


def pairs(reply: Reply) -> dict[str, str]:
    assert isinstance(reply, list)
    texts = [word.decode() for word in reply if isinstance(word, bytes)]
    return dict(zip(texts[::2], texts[1::2], strict=True))


class Sentinel(Peer):
    def __init__(
        self,
        primary: Peer,
        quorum: int,
        down_ms: int,
        user: str = "default",
        password: str = "",
        tls: Certificates | None = None,
    ) -> None:
        """user: which it is for the primary, with that one's password. password: its own."""
        super().__init__("--sentinel", password=password, tls=tls)
        lines = [
            f"sentinel monitor {NAME} {HOST} {primary.port} {quorum}",
            f"sentinel down-after-milliseconds {NAME} {down_ms}",
            f"sentinel failover-timeout {NAME} {ELECTION_MS}",
        ]
        if user != "default":
            lines.append(f"sentinel auth-user {NAME} {user}")
        if user != "default" or primary.password:
            lines.append(f"sentinel auth-pass {NAME} {primary.password or user}")
        if password:
            lines.append(f"sentinel sentinel-pass {password}")
        self.config = self.directory / "sentinel.conf"
        self.config.write_text("".join(f"{line}\n" for line in lines))

    def start(self) -> None:
        super().start()
        self._hasten("info-period", 200)

    def _hasten(self, what: str, every_ms: int) -> None:
        # Not in Redis 6.2: there a test takes longer.
        with contextlib.suppress(Refused):
            self.command("SENTINEL", "DEBUG", what, every_ms)

    def publish(self, every_ms: int) -> None:
        """
        Says so often who the primary is. One that claims to be it for four times as long, and of
        whose failover it has not heard by then, becomes a replica again, and its writes are lost:
        the sentinel that promotes it hears of that, and says so, after more than a second.
        """
        self._hasten("publish-period", every_ms)

    def told(self) -> int:
        """The port of the primary that it names."""
        answer = self.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
        assert isinstance(answer, list)
        assert isinstance(answer[1], bytes)
        return int(answer[1])

    def state(self) -> dict[str, str]:
        """What it says of the primary."""
        return pairs(self.command("SENTINEL", "MASTER", NAME))

    def followers(self) -> list[str]:
        """The ports of the replicas that are up and follow the primary that it names."""
        replicas = self.command("SENTINEL", "SLAVES", NAME)
        assert isinstance(replicas, list)
        port = str(self.told())
        return [
            state["port"]
            for state in map(pairs, replicas)
            if state["flags"] == "slave"
            and state["master-port"] == port
            and state["master-link-status"] == "ok"
        ]


class Watched:
    """
    A primary with replicas, and sentinels that watch them, until the with block ends.

    replicas, sentinels   so many
    down_ms               a server that does not answer for so long is down for a sentinel
    options               words of each server's command line
    """

    def __init__(
        self,
        *options: str,
        replicas: int = 1,
        sentinels: int = 3,
        down_ms: int = 500,
        password: str = "",
        sentinel_password: str = "",
        tls: Certificates | None = None,
    ) -> None:
        words = ["--repl-diskless-sync-delay", "0", *options]
        words += ["--masterauth", password] if password else []
        self.members = [Peer(*words, password=password, tls=tls) for _ in range(1 + replicas)]
        self.sentinels = [
            Sentinel(
                self.members[0],
                sentinels // 2 + 1,
                down_ms,
                password=sentinel_password,
                tls=tls,
            )
            for _ in range(sentinels)
        ]
        self.password = password
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for member in self.members:
                stack.enter_context(member)
            for replica in self.members[1:]:
                replica.command("REPLICAOF", HOST, self.members[0].port)
            wait_until("no replication", lambda: self.in_step(self.members[0]))
            for sentinel in self.sentinels:
                stack.enter_context(sentinel)
                sentinel.publish(200)
            wait_until("the sentinels do not meet", self._have_met)
            for sentinel in self.sentinels:
                sentinel.publish(750)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _have_met(self) -> bool:
        """Do the sentinels know each other, and see what each server is for?"""
        up = sorted(str(member.port) for member in self.members if member.up)
        return all(
            int(sentinel.state()["num-other-sentinels"]) == len(self.sentinels) - 1
            and sentinel.state()["flags"] == "master"
            and sorted([str(sentinel.told()), *sentinel.followers()]) == up
            for sentinel in self.sentinels
            if sentinel.up
        )

    @property
    def url(self) -> str:
        return self.url_of(*self.sentinels)

    def url_of(self, *sentinels: Sentinel, login: str = "", parameters: str = "") -> str:
        """With these sentinels, "user:password@" and "?..."."""
        hosts = ",".join(f"{HOST}:{sentinel.port}" for sentinel in sentinels)
        return f"{sentinels[0].scheme}+sentinel://{login}{hosts}/{NAME}{parameters}"

    @property
    def primary(self) -> Peer:
        """The one that the sentinels that are up name, as soon as they name one."""

        def named() -> set[int]:
            return {sentinel.told() for sentinel in self.sentinels if sentinel.up}

        wait_until("the sentinels do not agree", lambda: len(named()) == 1)
        return next(member for member in self.members if member.port in named())

    def in_step(self, primary: Peer) -> bool:
        """Do all others that are up follow it, and have what it has?"""
        offset = int(primary.info("replication", "master_repl_offset"))
        others = [member for member in self.members if member.up and member is not primary]
        return all(
            member.info("replication", "master_port") == str(primary.port)
            and member.info("replication", "master_link_status") == "up"
            and int(member.info("replication", "slave_repl_offset")) >= offset
            for member in others
        )

    def is_settled(self) -> bool:
        """Do the sentinels agree on a primary that is up, and do all others follow it?"""
        ports = {sentinel.told() for sentinel in self.sentinels if sentinel.up}
        up = [member for member in self.members if member.up and member.port in ports]
        return (
            len(ports) == len(up) == 1
            and up[0].is_primary()
            and self._have_met()
            and self.in_step(up[0])
        )

    def settle(self) -> None:
        wait_until("the sentinels do not settle", self.is_settled)

    def in_step_primary(self) -> Peer:
        """The primary, once all others have what it has."""
        primary = self.primary
        wait_until("no replication", lambda: self.in_step(primary))
        return primary

    def await_failover(self, old: Peer) -> Peer:
        """Returns the new primary, once all sentinels name it."""
        wait_until("no failover", lambda: self.is_replaced(old))
        return self.primary

    def is_replaced(self, old: Peer) -> bool:
        """Do all sentinels name another primary?"""
        return all(one.told() != old.port for one in self.sentinels if one.up)

    def begin_failover(self) -> bool:
        """By SENTINEL FAILOVER. False: it does not know yet that a replica is in step."""
        with contextlib.suppress(Refused):
            return self.sentinels[0].command("SENTINEL", "FAILOVER", NAME) == b"OK"
        return False

    def failover(self) -> Peer:
        """
        By SENTINEL FAILOVER; the old primary is up. Returns the new one, once the old one knows:
        until then that takes writes, which are lost.
        """
        self.settle()
        old = self.primary
        wait_until("the sentinel begins no failover", self.begin_failover)
        new = self.await_failover(old)
        self.settle()
        return new


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--replicas", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with Watched(replicas=options.replicas) as watched:
        print(watched.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
