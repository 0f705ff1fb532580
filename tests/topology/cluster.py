"""A private cluster of real servers on loopback, and what is done to it.

    python tests/topology/cluster.py [--primaries N] [--replicas N]

starts one, prints its URL, and stops it at Ctrl-C.
"""

from __future__ import annotations

import argparse
import math
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import count
from types import TracebackType

from certificates import Certificates
from node import HOST, SLOTS, Node, queue_slot, wait_until
from private_server import Refused
from proxy import Proxy

MEET_S = 60.0
MEET_AGAIN_S = 1.0


class Move:
    """A slot on its way from a node to another, key by key. The steps are the caller's."""

    def __init__(self, slot: int, source: Node, target: Node) -> None:
        """From here on the source sends who asks for a key that it has not to the target."""
        self.slot, self.source, self.target = slot, source, target
        self.target.command("CLUSTER", "SETSLOT", self.slot, "IMPORTING", self.source.id)
        self.source.command("CLUSTER", "SETSLOT", self.slot, "MIGRATING", self.target.id)

    def keys(self) -> list[bytes]:
        """Those that the source still has."""
        found = self.source.command("CLUSTER", "GETKEYSINSLOT", self.slot, 1 << 20)
        assert isinstance(found, list)
        return [key for key in found if isinstance(key, bytes)]

    def bring(self, *keys: bytes) -> None:
        """
        Moves these keys to the target; keys that no longer exist are left out. On a busy machine
        the nodes may take one of them for dead for a moment, and refuse every command meanwhile.
        """
        if keys:
            wait_until("the keys did not move", lambda: self._migrated(keys))

    def _migrated(self, keys: Sequence[bytes]) -> bool:
        try:
            self.source.command("MIGRATE", HOST, self.target.port, "", 0, 5000, "KEYS", *keys)
        except Refused as refused:
            if not str(refused).startswith("CLUSTERDOWN"):
                raise
            return False
        return True

    def bring_all(self) -> None:
        while keys := self.keys():
            self.bring(*keys)

    def name(self) -> None:
        """The slot is the target's: both know it, and the others hear of it."""
        for node in (self.target, self.source):
            node.command("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.id)


class Cluster:
    """
    Runs until the with block ends.

    primaries   they share the slots
    replicas    so many; one after the other gets the primaries in turn
    spare       primaries without slots
    timeout_ms  after so long without an answer a node is suspected
    proxied     each node is behind a proxy, for clients and for the others
    options     words of each server's command line
    tls         for clients and between the nodes; clients need a certificate, too
    under       a command that runs each server
    """

    def __init__(
        self,
        primaries: int = 3,
        replicas: int = 0,
        *options: str,
        spare: int = 0,
        timeout_ms: int = 2000,
        proxied: bool = False,
        tls: Certificates | None = None,
        under: Sequence[str] = (),
    ) -> None:
        words = ["--cluster-node-timeout", str(timeout_ms), "--cluster-replica-validity-factor"]
        self._options = [*words, "0", "--cluster-allow-replica-migration", "no", *options]
        self._sizes = primaries, spare, replicas
        self._timeout_ms, self._proxied, self._tls = timeout_ms, proxied, tls
        self._under = under
        self._elected: dict[str, float] = {}
        self.nodes: list[Node] = []
        self._home: dict[int, str] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Cluster:
        self.nodes = [
            Node(self._proxied, *self._options, tls=self._tls) for _ in range(sum(self._sizes))
        ]
        with ExitStack() as stack:
            if self._proxied:
                ports = {node.gate: node.port for node in self.nodes}
                ports |= {node.links: node.bus for node in self.nodes}
                self.proxy = stack.enter_context(Proxy(ports))
            for node in self.nodes:
                node.under = self._under
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
            node.command("CLUSTER", "ADDSLOTS", *range(begin, end))
        self._meet()
        for number, node in enumerate(self.nodes[primaries + spare :]):
            node.command("CLUSTER", "REPLICATE", self.nodes[number % primaries].id)
        self.await_agreement()
        wait_until("no replication", self._all_follow)
        self._home = first.owners()

    def _strangers(self) -> list[tuple[Node, Node]]:
        """Who does not know whom."""
        known = {node: node.known() for node in self.nodes}
        return [(one, two) for one in self.nodes for two in self.nodes if two.id not in known[one]]

    def _meet(self) -> None:
        """A server gives a long handshake up: who does not know another then meets it again."""
        deadline = time.monotonic() + MEET_S
        while strangers := self._strangers():
            assert time.monotonic() < deadline, "the nodes do not meet"
            for one, two in strangers:
                one.command("CLUSTER", "MEET", HOST, two.gate, two.links)
            again = time.monotonic() + MEET_AGAIN_S
            while self._strangers() and time.monotonic() < again:
                time.sleep(0.02)

    def _all_follow(self) -> bool:
        follow = [port for node in self.nodes for port in node.replica_ports()]
        return len(follow) == self._sizes[2]

    @property
    def url(self) -> str:
        scheme = "rediss" if self._tls else "redis"
        return f"{scheme}+cluster://" + ",".join(f"{HOST}:{node.gate}" for node in self.nodes)

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
        owners, followed = maps[0]
        sound = len(owners) == SLOTS and {followed[id] for id in owners.values()} == {"-"}
        return works and sound and all(one == maps[0] for one in maps)

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
        self.elected(replica)

    def elected(self, replica: Node) -> None:
        """Notes that it has just been."""
        self._elected[replica.id] = time.monotonic()

    def fit(self, replica: Node) -> bool:
        """Whether votes of its last election are void. Before, it is elected by those again."""
        age_s = time.monotonic() - self._elected.get(replica.id, -math.inf)
        return age_s > 4 * max(self._timeout_ms, 1000) / 1000

    def isolate(self, node: Node, *, from_clients: bool = False) -> None:
        """Cuts a node off from the others, and their replication from it. Needs the proxies."""
        self.proxy.cut(node.links)
        self.proxy.cut(node.gate, "*" if from_clients else "replica")
        for other in self.nodes:
            self.proxy.cut(other.links, node.id)

    def rejoin(self, node: Node) -> None:
        """Undoes isolate()."""
        self.proxy.open(node.links, "*")
        for who in ("*", "replica"):
            self.proxy.open(node.gate, who)
        for other in self.nodes:
            self.proxy.open(other.links, node.id)

    def heal(self) -> None:
        """Opens what the proxies keep shut."""
        for node in self.nodes:
            self.proxy.open(node.gate)
            self.proxy.open(node.links)

    @contextmanager
    def moving(self, slot: int, target: Node) -> Iterator[Move]:
        """The slot is marked as on its way; at the block's end it has come, with all its keys."""
        move = Move(slot, self.owner(slot), target)
        yield move
        move.bring_all()
        move.name()
        for node in self.primaries():
            node.command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        self.await_agreement()

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
        return self._at_once != ""

    @cached_property
    def _at_once(self) -> str:
        help = str(self.nodes[0].command("CLUSTER", "HELP"))
        return next((word for word in ("MIGRATESLOTS", "MIGRATION") if word in help), "")

    def move_at_once(self, slot: int, target: Node) -> None:
        """Moves a slot in one step of the server's."""
        source = self.node(target.owners()[slot])
        if self._at_once == "MIGRATESLOTS":
            words = ("MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id)
            source.command("CLUSTER", *words)
        else:
            target.command("CLUSTER", "MIGRATION", "IMPORT", slot, slot)
        wait_until("it does not move", lambda: source.owners().get(slot) == target.id)

    def clean(self) -> None:
        """As at the beginning. Where it cannot be made so, it is a new cluster."""
        if self._proxied:
            self.heal()
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
