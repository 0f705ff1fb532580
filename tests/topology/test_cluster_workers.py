"""Who consumes, what each holds and what was measured, where the queues are on several nodes."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest

import dueq
from cluster import Cluster
from node import wait_until


def shell(url: str, *words: str) -> list[Any]:
    done = subprocess.run(
        ["dueq", *words, "--url", url, "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_workers_who_slow_and_timings_of_all_nodes(cluster: Cluster) -> None:
    one, two, whole = (cluster.name_on(node) for node in cluster.nodes)
    url = cluster.url
    with (
        dueq.Queue(one, url) as first,
        dueq.Queue(two, url) as second,
        dueq.Queue(whole, url, partitions=8) as parts,
    ):
        first.push("", id="a")
        second.push("", id="b")
        parts.push("", id="c", key="customer-17")
        with (
            dueq.Queues([one, two], url) as queues,
            queues.consume(concurrency=2, timeout=20) as both,
            parts.consume(timeout=20) as shared,
        ):
            messages = iter(both)
            held = [next(messages), next(messages), next(iter(shared))]
            wait_until("they are not listed", lambda: len(shell(url, "running")) == 3)
            listed = {
                row["queue"]: [(of["id"], of["partition"]) for of in row["leases"]]
                for worker in shell(url, "workers")
                for row in worker["queues"]
            }
            assert listed == {one: [("a", None)], two: [("b", None)], whole: [("c", 7)]}
            running = {row["id"]: row["queue"] for row in shell(url, "running")}
            assert running == {"a": one, "b": two, "c": f"{whole}#7"}
            for name, id in ((one, "a"), (two, "b"), (f"{whole}#7", "c")):
                [found] = shell(url, "inspect", id)
                assert found["queue"] == name
                assert f'"pid":{os.getpid()}' in json.dumps(found, separators=(",", ":"))
            [worker] = parts.workers()
            assert [(of.id, of.partition) for of in worker.leases] == [("c", 7)]
            for message in held:
                message.ack()
        for queue in (first, second, parts):
            assert queue.workers() == []
            rates = queue.rates()
            assert sum(rate.acked for rate in rates) == 1
            assert [rate for rate in rates if rate.run_p50 is not None]


def test_worker_is_listed_again_after_a_failover() -> None:
    with Cluster(3, 3, timeout_ms=1000) as cluster:
        primary = cluster.nodes[0]
        [replica] = cluster.replicas_of(primary)
        name, other = cluster.name_on(primary), cluster.name_on(cluster.nodes[1])
        url = f"{cluster.url}?timeout=30s"
        with (
            dueq.Queue(name, url) as queue,
            dueq.Queue(other, url) as second,
            dueq.Queues([name, other], url) as queues,
            queues.consume(timeout=20) as consumer,
        ):
            second.push("held")
            held = next(iter(consumer))
            wait_until("it is not listed", lambda: bool(queue.workers() and second.workers()))
            wait_until("no replication", lambda: primary.feeds(replica))
            primary.stop()
            cluster.await_promotion(replica)
            begin = datetime.now(UTC)
            wait_until(
                "it is not listed again",
                lambda: any(worker.seen > begin for worker in queue.workers()),
            )
            [worker] = second.workers()
            assert [of.id for of in worker.leases] == [held.id]
            held.ack()


@pytest.mark.parametrize("verb", ["workers", "running"])
def test_node_that_is_away_is_named_and_the_others_are_listed(verb: str) -> None:
    with Cluster(3, timeout_ms=60000) as cluster:
        on = [cluster.name_on(node) for node in cluster.nodes]
        with (
            dueq.Queues(on, cluster.url) as queues,
            queues.consume(timeout=20) as consumer,
            dueq.Queue(on[1], cluster.url) as second,
        ):
            second.push("held")
            held = next(iter(consumer))
            wait_until("it is not listed", lambda: bool(shell(cluster.url, "running")))
            cluster.nodes[0].freeze()
            words = ["dueq", verb, *on, "--url", f"{cluster.url}?timeout=2s"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            cluster.nodes[0].thaw()
            assert done.returncode != 0
            assert on[1] in done.stdout
            assert f"{on[0]}: " in done.stderr
            held.ack()
