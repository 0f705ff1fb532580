"""The contract, with a cluster's URL."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "contract"))

from situations import Situation, situations
from test_contract import Run, run_situation

from cluster import Cluster
from node import Node, slot_of
from private_server import Reply

# Some have keys of several slots: what they do beside dueq in one command, a queue of Laravel's
# whose name has no hash tag, and one of Redisson's whose name has braces.
APART = re.compile(r"test_(queues_finds_each|queues_leaves_keys|redisson_name_with_a_brace)")
SITUATIONS = [
    one
    for one in situations()
    if not APART.match(one.name) and not any(step["do"].startswith("laravel") for step in one.steps)
]
RECEIVED = re.compile(rb"(.*)\n(.*) was received and is no entry of an outbox", re.S)


class Whole:
    """A cluster, as the contract asks a server: each command goes to the node of its key."""

    def __init__(self, cluster: Cluster) -> None:
        self.url = cluster.url
        self._cluster = cluster
        self._owners = cluster.nodes[0].owners()

    def node(self, key: str | bytes) -> Node:
        return self._cluster.node(self._owners[slot_of(key)])

    def command(self, *words: str | bytes | int) -> Reply:
        name = words[0] if isinstance(words[0], str) else bytes(words[0]).decode()
        if name in ("TIME", "PING"):
            return self._cluster.nodes[0].command(*words)
        if name == "SCRIPT":
            return all(node.command(*words) for node in self._cluster.nodes)
        key = words[3 if name == "EVAL" else 1]
        assert not isinstance(key, int)
        return self.node(key).command(*words)


class ClusterRun(Run):
    def script(self, name: str, arguments: list[bytes]) -> Reply:
        """On one queue at a time: they are on several nodes."""
        if name not in ("consistent", "pass"):
            return self.script_on([self.name], name, arguments)
        replies = [self.script_on([queue], name, arguments) for queue in self.names]
        if name == "pass":
            return replies[0]
        found: list[Reply] = []
        for reply in replies:
            assert isinstance(reply, list)
            found += [line for line in reply if not self.is_on_its_way(line)]
        return found

    def is_on_its_way(self, complaint: Reply) -> bool:
        """Whether it is only that an entry is in the outbox of a queue on another node."""
        assert isinstance(complaint, bytes)
        if not (told := RECEIVED.fullmatch(complaint)):
            return False
        return self.server.command("ZSCORE", b"dueq:{%s}:outbox" % told[1], told[2]) is not None


@pytest.fixture(scope="module")
def whole(running_cluster: Cluster) -> Whole:
    running_cluster.clean()
    return Whole(running_cluster)


@pytest.mark.parametrize("situation", [pytest.param(one, id=one.name) for one in SITUATIONS])
def test_contract_in_a_cluster(whole: Whole, situation: Situation) -> None:
    run_situation(ClusterRun(whole, situation))
