"""The contract, with a cluster's URL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "contract"))

from situations import Situation, situations
from test_contract import Run, run_situation

from cluster import Cluster
from node import Node, slot_of
from private_server import Reply

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "tests/contract"

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


# ---- In C and PHP ----

# What is done beside dueq, and looked at, is the Python runs' above: these are the verbs alone.
ALONE = [
    one.name
    for one in SITUATIONS
    if not any(
        step["do"] == "redis" or (CONTRACT / f"{step['do']}.lua").exists() for step in one.steps
    )
]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([str(ROOT / "build/cmake/tests/contract"), str(CONTRACT)], id="c"),
        pytest.param(["phpunit", "--no-configuration", str(CONTRACT)], id="php"),
    ],
)
def test_contract_of_another_language_in_a_cluster(cluster: Cluster, command: list[str]) -> None:
    only = "".join(f"{name} " for name in ALONE)
    environment = {"DUEQ_CONTRACT_URL": cluster.url, "DUEQ_CONTRACT_ONLY": only}
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [ran] = re.findall(r"\[  PASSED  \] (\d+) test|OK \((\d+) tests", done.stdout + done.stderr)
    assert int("".join(ran)) == len(ALONE) > 300
    assert all(node.command("DBSIZE") for node in cluster.nodes)
