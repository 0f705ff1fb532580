"""Who is warned of a server that may evict, where there are several."""

from __future__ import annotations

import pytest

import dueq
from cluster import Cluster
from sentinel import Watched


def warned(caplog: pytest.LogCaptureFixture) -> int:
    return sum("the server evicts" in record.getMessage() for record in caplog.records)


def test_any_node_of_a_cluster_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """Of one client, whose first call is to another node."""
    with Cluster(3, 0, "--maxmemory", "256mb") as cluster:
        first, *_, last = cluster.nodes
        last.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        name = next(n for n in cluster.names_on(first) if cluster.home(f"{n}#0") is first)
        with dueq.Queue(name, cluster.url, partitions=32) as queue:
            for _ in range(2):
                queue.push_many(dueq.Draft("x", key=str(number)) for number in range(100))
                assert queue.stats().evicting is True
            assert warned(caplog) == 1


def test_new_primary_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with (
        Watched("--maxmemory", "256mb") as watched,
        dueq.Queue("jobs", watched.url + "?timeout=20s") as queue,
    ):
        queue.push("x")
        old = watched.in_step_primary()
        (other,) = (member for member in watched.members if member is not old)
        other.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        assert queue.stats().evicting is False
        assert watched.failover() is other
        assert queue.stats().evicting is True
        assert warned(caplog) == 1
