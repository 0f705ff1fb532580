"""dueq metrics of a cluster and behind sentinels: the memory of the servers that have queues."""

from __future__ import annotations

import re
import shutil
import subprocess

import dueq
from cluster import Cluster
from node import HOST
from sentinel import Watched


def memory(url: str) -> dict[str, int]:
    """What each server uses."""
    program = shutil.which("dueq")
    assert program
    ended = subprocess.run(
        [program, "metrics", "--url", url], capture_output=True, text=True, check=True
    )
    found = re.findall(r'^dueq_memory_bytes{server="(.*)"} (\d+)$', ended.stdout, re.MULTILINE)
    return {server: int(used) for server, used in found}


def test_metrics_of_every_primary_of_a_cluster(cluster: Cluster) -> None:
    with dueq.Queue("orders", cluster.url) as queue:
        queue.push("x")
    found = memory(cluster.url)
    assert found.keys() == {f"{HOST}:{node.port}" for node in cluster.nodes}
    assert min(found.values()) > 100_000


def test_metrics_of_the_primary_that_sentinels_name() -> None:
    with Watched("--maxmemory", "256mb") as watched:
        watched.primary.command("SET", "x", "x" * 5_000_000)
        (used,) = memory(watched.url).values()
        assert used > 5_000_000
