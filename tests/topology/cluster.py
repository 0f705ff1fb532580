"""A private cluster of real servers on loopback, and what is done to it.

    python tests/topology/cluster.py [--primaries N] [--replicas N]

starts one, prints its URL, and stops it at Ctrl-C.
"""

from __future__ import annotations

import argparse
import binascii
import math
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from private_server import Refused, Reply, Server, free_port

SLOTS = 16384
HOST = "127.0.0.1"
PATIENCE_S = 30.0


def slot_of(key: str | bytes) -> int:
    raw = key.encode() if isinstance(key, str) else key
    tag = re.search(rb"\{([^}]+)\}", raw)
    return binascii.crc_hqx(tag[1] if tag else raw, 0) % SLOTS


def queue_slot(name: str) -> int:
    """The slot of a queue of dueq's."""
    return slot_of(f"dueq:{{{name}}}:msg")


def wait_until(what: str, met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class Node(Server):
    """One server of a cluster. What the tests ask it goes by its Unix socket."""

    def __init__(self, *options: str) -> None:
        self.port, self.bus = free_port(), free_port()
        words = ["--bind", HOST, "--port", str(self.port), "--cluster-enabled", "yes"]
        words += ["--cluster-port", str(self.bus), "--repl-diskless-sync-delay", "0"]
        words += ["--enable-debug-command", "yes"]
        super().__init__(*words, *options)
        self.url = f"redis://{HOST}:{self.port}"
        self.id = ""
        self.frozen = False

    def start(self) -> None:
        super().start()
        self.frozen = False
        wait_until("it loads", lambda: self.asks("PING") == b"PONG")
        self.id = self.text("CLUSTER", "MYID")

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

    def text(self, *words: str | bytes | int) -> str:
        answer = self.command(*words)
        assert isinstance(answer, bytes), answer
        return answer.decode()

    def info(self, section: str, name: str) -> str:
        """A field of INFO; '' where there is none."""
        found = re.search(rf"^{name}:(.*?)\r?$", self.text("INFO", section), re.M)
        return found[1] if found else ""

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

    def replica_ports(self) -> list[int]:
        """Of the replicas that this one sends all that it writes."""
        found = re.findall(r"port=(\d+),state=online", self.text("INFO", "replication"))
        return [int(port) for port in found]

    def feeds(self, other: Node) -> bool:
        """Whether the other one is its replica, and both know it."""
        known = self.followed().get(other.id) == self.id
        return known and other.port in self.replica_ports()

    def is_primary(self) -> bool:
        return self.info("replication", "role") == "master"


class Move:
    """A slot on its way from a node to another, key by key. The steps are the caller's."""

    def __init__(self, cluster: Cluster, slot: int, source: Node, target: Node) -> None:
        self.cluster, self.slot, self.source, self.target = cluster, slot, source, target
        self.over = False

    def mark(self) -> None:
        """From here on the source sends who asks for a key that it has not to the target."""
        self.target.command("CLUSTER", "SETSLOT", self.slot, "IMPORTING", self.source.id)
        self.source.command("CLUSTER", "SETSLOT", self.slot, "MIGRATING", self.target.id)

    def keys(self) -> list[bytes]:
        """Those that the source still has."""
        found = self.source.command("CLUSTER", "GETKEYSINSLOT", self.slot, 1 << 20)
        assert isinstance(found, list)
        return [key for key in found if isinstance(key, bytes)]

    def bring(self, *keys: bytes) -> None:
        """Brings these keys over; one that is gone is none."""
        if keys:
            self.source.command("MIGRATE", HOST, self.target.port, "", 0, 5000, "KEYS", *keys)

    def bring_all(self) -> None:
        while keys := self.keys():
            self.bring(*keys)

    def close(self) -> None:
        """The slot is the target's, all nodes know it."""
        for node in (self.target, self.source, *self.cluster.primaries()):
            node.command("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.id)
        self.over = True
        self.cluster.await_agreement()

    def finish(self) -> None:
        if not self.over:
            self.bring_all()
            self.close()


class Cluster:
    """
    Runs until the with block ends.

    primaries   they share the slots
    replicas    so many; one after the other gets the primaries in turn
    spare       primaries without slots
    timeout_ms  after so long without an answer a node is suspected
    options     words of each server's command line
    """

    def __init__(
        self,
        primaries: int = 3,
        replicas: int = 0,
        *options: str,
        spare: int = 0,
        timeout_ms: int = 2000,
    ) -> None:
        words = ["--cluster-node-timeout", str(timeout_ms), "--cluster-replica-validity-factor"]
        self._options = [*words, "0", "--cluster-allow-replica-migration", "no", *options]
        self._sizes = primaries, spare, replicas
        self._timeout_ms = timeout_ms
        self._elected: dict[str, float] = {}
        self.nodes: list[Node] = []
        self._home: dict[int, str] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Cluster:
        self.nodes = [Node(*self._options) for _ in range(sum(self._sizes))]
        with ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node)
            self._form()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _form(self) -> None:
        primaries, spare, _ = self._sizes
        first = self.nodes[0]
        for epoch, node in enumerate(self.nodes, 1):
            node.command("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        for number, node in enumerate(self.nodes[:primaries]):
            begin, end = (SLOTS * one // primaries for one in (number, number + 1))
            node.command("CLUSTER", "ADDSLOTSRANGE", begin, end - 1)
        for node in self.nodes:
            for other in self.nodes:
                if node is not other:
                    node.command("CLUSTER", "MEET", HOST, other.port, other.bus)
        wait_until("the nodes do not meet", self._have_met)
        for number, node in enumerate(self.nodes[primaries + spare :]):
            node.command("CLUSTER", "REPLICATE", self.nodes[number % primaries].id)
        self.await_agreement()
        wait_until("no replication", self._all_follow)
        self._home = first.owners()

    def _have_met(self) -> bool:
        views = [node.view() for node in self.nodes]
        met = [words for view in views for words in view.values() if "handshake" not in words[2]]
        return len(met) == len(self.nodes) ** 2

    def _all_follow(self) -> bool:
        follow = [port for node in self.nodes for port in node.replica_ports()]
        return len(follow) == self._sizes[2]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"{HOST}:{node.port}" for node in self.nodes)

    # ---- Who is who ----

    def up(self) -> list[Node]:
        """Those that run and are not frozen."""
        return [node for node in self.nodes if node.up]

    def primaries(self) -> list[Node]:
        return [node for node in self.up() if node.is_primary()]

    def node(self, id: str) -> Node:
        return next(node for node in self.nodes if node.id == id)

    def owner(self, slot: int) -> Node:
        """The node that has a slot, as the first that is up sees it."""
        return self.node(self.up()[0].owners()[slot])

    def home(self, queue: str) -> Node:
        """The node that has a queue of dueq's."""
        return self.owner(queue_slot(queue))

    def replicas_of(self, primary: Node) -> list[Node]:
        """Those of them that are up."""
        followed = self.up()[0].followed()
        return [node for node in self.up() if followed.get(node.id) == primary.id]

    def names_on(self, node: Node, prefix: str = "jobs") -> Iterator[str]:
        """Names of queues that this node has, without an end."""
        owners = self.up()[0].owners()
        names = (f"{prefix}-{number}" for number in count(1))
        return (name for name in names if owners[queue_slot(name)] == node.id)

    def name_on(self, node: Node, prefix: str = "jobs") -> str:
        return next(self.names_on(node, prefix))

    def await_agreement(self) -> None:
        """Returns when all nodes that are up have the same map, and the cluster works."""
        wait_until("the nodes do not agree", self.agree)

    def await_down(self) -> None:
        """Returns when all nodes that are up say that the cluster is down."""
        wait_until(
            "the cluster does not go down",
            lambda: all("state:fail" in node.text("CLUSTER", "INFO") for node in self.up()),
        )

    def agree(self) -> bool:
        up = self.up()
        works = all("cluster_state:ok" in node.text("CLUSTER", "INFO") for node in up)
        maps = [(node.owners(), node.followed()) for node in up]
        return works and len(maps[0][0]) == SLOTS and all(one == maps[0] for one in maps)

    # ---- What is done to it ----

    def failover(self, primary: Node, how: str = "") -> Node:
        """
        A replica of it gets its slots; returns it. how: FORCE and TAKEOVER need no answer of the
        primary, which may be dead.
        """
        replica = self.replicas_of(primary)[0]
        wait_until("it is not fit for an election", lambda: self.fit(replica))
        if not how:
            # Before, the primary does not listen to it.
            wait_until("no replication", lambda: primary.feeds(replica))
        replica.command("CLUSTER", "FAILOVER", *how.split())
        self.await_promotion(replica)
        return replica

    def await_promotion(self, replica: Node) -> None:
        """Returns when that replica is a primary for all that are up."""
        wait_until(
            "no failover",
            lambda: (
                replica.is_primary()
                and self.agree()
                and replica.id in set(self.up()[0].owners().values())
            ),
        )
        self._elected[replica.id] = time.monotonic()

    def fit(self, replica: Node) -> bool:
        """Whether votes of its last election are void. Before, it is elected by those again."""
        age_s = time.monotonic() - self._elected.get(replica.id, -math.inf)
        return age_s > 4 * max(self._timeout_ms, 1000) / 1000

    @contextmanager
    def moving(self, slot: int, target: Node) -> Iterator[Move]:
        """The slot is marked as on its way; at the block's end it has come, with all its keys."""
        move = Move(self, slot, self.owner(slot), target)
        move.mark()
        yield move
        move.finish()

    def stages(self, slot: int, target: Node) -> Iterator[str]:
        """Moves a slot, and gives the caller a turn at each stage of it."""
        with self.moving(slot, target) as move:
            yield "before keys"
            keys = move.keys()
            move.bring(*keys[: (len(keys) + 1) // 2])
            yield "between keys"
            move.bring_all()
            yield "after keys"
        yield "moved"

    def move(self, slot: int, target: Node) -> None:
        with self.moving(slot, target):
            pass

    def can_move_at_once(self) -> bool:
        """Whether the server moves a slot as a whole."""
        return self._at_once() != ""

    def _at_once(self) -> str:
        help = str(self.nodes[0].command("CLUSTER", "HELP"))
        return next((word for word in ("MIGRATESLOTS", "MIGRATION") if word in help), "")

    def move_at_once(self, slot: int, target: Node) -> None:
        """As move(), in one step of the server's."""
        if self._at_once() == "MIGRATESLOTS":
            words = ("MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id)
            self.owner(slot).command("CLUSTER", *words)
        else:
            target.command("CLUSTER", "MIGRATION", "IMPORT", slot, slot)
        wait_until("it does not move", lambda: self.owner(slot) is target and self.agree())

    def clean(self) -> None:
        """As at the beginning. Where it cannot be made so, it is a new cluster."""
        whole = len(self.up()) == len(self.nodes) and self.agree()
        if not whole or self.primaries() != self.nodes[: sum(self._sizes[:2])]:
            self._stack.close()
            self.__enter__()
        for node in self.primaries():
            node.command("FLUSHALL")
            node.command("SCRIPT", "FLUSH")
            for words in node.view()[node.id][8:]:
                if found := re.match(r"\[(\d+)-", words):
                    node.command("CLUSTER", "SETSLOT", found[1], "STABLE")
        for slot, id in self.nodes[0].owners().items():
            if id != self._home[slot]:
                self.move(slot, self.node(self._home[slot]))
        for node in self.nodes:
            node.command("CONFIG", "RESETSTAT")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--primaries", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with Cluster(options.primaries, options.replicas) as cluster:
        print(cluster.url, flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
