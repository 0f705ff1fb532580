"""One server of several, and one of a cluster, as the tests ask it."""

from __future__ import annotations

import binascii
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from certificates import Certificates
from private_server import IS_OLD, Refused, Reply, Server, free_port, packed, read_reply

SLOTS = 16384
HOST = "127.0.0.1"
PATIENCE_S = 30.0


def slot_of(key: str | bytes) -> int:
    raw = key.encode() if isinstance(key, str) else key
    # What is between the first { and the first } behind it, where there is anything.
    tag = raw.partition(b"{")[2].partition(b"}")
    return binascii.crc_hqx(tag[0] if tag[0] and tag[1] else raw, 0) % SLOTS


def queue_slot(name: str) -> int:
    """The slot of a queue of dueq's."""
    return slot_of(f"dueq:{{{name}}}:msg")


def wait_until(what: str, met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class Member(Server):
    """One of several servers. What the tests ask it goes by its Unix socket."""

    frozen = False

    def start(self) -> None:
        super().start()
        self.frozen = False

    def freeze(self) -> None:
        super().freeze()
        self.frozen = True

    def thaw(self) -> None:
        super().thaw()
        self.frozen = False

    @property
    def up(self) -> bool:
        return self.running and not self.frozen

    def asks(self, *words: str | bytes | int) -> Reply:
        """The answer, or None where it was an error."""
        try:
            return self.command(*words)
        except Refused:
            return None

    def together(
        self, *commands: tuple[str | bytes | int, ...], timeout: float | None = None
    ) -> list[Reply]:
        """The answers to commands that are sent at once, on one connection."""
        with self.connect() as connection, connection.makefile("rb") as file:
            connection.settimeout(timeout)
            connection.sendall(b"".join(map(packed, commands)))
            return [read_reply(file) for _ in commands]

    def text(self, *words: str | bytes | int) -> str:
        answer = self.command(*words)
        assert isinstance(answer, bytes), answer
        return answer.decode()

    def info(self, section: str, name: str) -> str:
        """A field of INFO; '' where there is none."""
        found = re.search(rf"^{name}:(.*?)\r?$", self.text("INFO", section), re.M)
        return found[1] if found else ""

    def is_primary(self) -> bool:
        return self.info("replication", "role") == "master"


class Node(Member):
    """
    One server of a cluster.

    port, bus    which it listens on
    gate, links  which it announces for clients and for the bus: the same, or a proxy's
    """

    def __init__(self, proxied: bool, *options: str, tls: Certificates | None = None) -> None:
        self.port, self.bus = free_port(), free_port()
        self.gate, self.links = self.port, self.bus
        port = ["--port", str(self.port)]
        if tls:
            port = ["--tls-port", str(self.port), "--tls-cluster", "yes", *tls.options()]
        words = [*port, "--bind", HOST, "--cluster-enabled", "yes"]
        words += ["--repl-diskless-sync-delay", "0"]
        if IS_OLD:
            self.bus = self.links = self.port + 10000
        else:
            words += ["--cluster-port", str(self.bus), "--enable-debug-command", "yes"]
        if proxied:
            self.gate, self.links = free_port(), free_port()
            words += ["--cluster-announce-ip", HOST, "--cluster-announce-port", str(self.gate)]
            words += ["--cluster-announce-bus-port", str(self.links)]
        super().__init__(*words, *options)
        self.url = f"{'rediss' if tls else 'redis'}://{HOST}:{self.gate}"
        self.id = ""

    def start(self) -> None:
        super().start()
        wait_until("it loads", lambda: self.asks("PING") == b"PONG")
        self.id = self.text("CLUSTER", "MYID")

    def calls(self, command: str) -> int:
        """How often clients ran a command ("cluster|slots") since the statistics were reset."""
        found = re.search(
            r"calls=(\d+)", self.info("commandstats", re.escape(f"cmdstat_{command}"))
        )
        return int(found[1]) if found else 0

    def view(self) -> dict[str, list[str]]:
        """CLUSTER NODES as this one sees it: each line's words by the node's id."""
        lines = self.text("CLUSTER", "NODES").splitlines()
        return {line.split(" ")[0]: line.split(" ") for line in lines}

    def owners(self) -> dict[int, str]:
        """Which node has each slot, as this one sees it, by their ids."""
        owners: dict[int, str] = {}
        for id, words in self.view().items():
            for span in words[8:]:
                if "[" not in span:
                    first, _, last = span.partition("-")
                    owners |= dict.fromkeys(range(int(first), int(last or first) + 1), id)
        return owners

    def followed(self) -> dict[str, str]:
        """Whose replica each node is, as this one sees it, by their ids; '-': a primary."""
        return {id: words[3] for id, words in self.view().items()}

    def known(self) -> set[str]:
        """The ids of those that this one has met, and of itself."""
        return {id for id, words in self.view().items() if "handshake" not in words[2]}

    def knows_names(self, name: str) -> bool:
        """Whether every node has announced this host name to it; '': none."""
        hosts = [words[1].partition(",")[2] for words in self.view().values()]
        return all(host == name for host in hosts)

    def replica_ports(self) -> list[int]:
        """Of the replicas that this one sends all that it writes."""
        found = re.findall(r"port=(\d+),state=online", self.text("INFO", "replication"))
        return [int(port) for port in found]

    def feeds(self, other: Node) -> bool:
        """Whether the other one is its replica, and both know it."""
        known = self.followed().get(other.id) == self.id
        return known and other.port in self.replica_ports()
