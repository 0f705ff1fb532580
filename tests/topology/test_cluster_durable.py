"""Durable pushes in a cluster: the replicas of each node count, and those of a relay's target."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

import dueq
from cluster import Cluster
from node import Node, wait_until


@pytest.fixture(scope="module")
def replicated() -> Iterator[Cluster]:
    with Cluster(3, 3) as made:
        yield made


def thaw_all(cluster: Cluster) -> None:
    for node in cluster.nodes:
        if node.frozen:
            node.thaw()


def await_replica(node: Node) -> None:
    wait_until("no replication", lambda: node.command("WAIT", 1, 1000) == 1)


@pytest.fixture
def whole(replicated: Cluster) -> Iterator[Cluster]:
    thaw_all(replicated)
    replicated.await_agreement()
    for node in replicated.primaries():
        await_replica(node)
    yield replicated
    thaw_all(replicated)


def replica_of(cluster: Cluster, node: Node) -> Node:
    return cluster.replicas_of(node)[0]


@contextmanager
def frozen(replica: Node) -> Iterator[None]:
    replica.freeze()
    try:
        yield
    finally:
        replica.thaw()


def test_push_waits_for_the_replica_of_its_node(whole: Cluster) -> None:
    first, second, _ = whole.primaries()
    url = f"{whole.url}?replicas=1&durable_timeout=300ms"
    with dueq.Queue(whole.name_on(first), url) as queue:
        with frozen(replica_of(whole, first)):
            with dueq.Queue(whole.name_on(second), url) as other:
                other.push("a", durable_timeout=20)
            with pytest.raises(dueq.NotDurable, match="on 0 of 1 replicas within 300 ms") as caught:
                queue.push("a")
        with pytest.raises(dueq.Duplicate):
            queue.push("a", id=caught.value.id, durable_timeout=20)


def test_successor_stays_in_the_outbox_until_its_own_node_has_it_twice(whole: Cluster) -> None:
    first, second, _ = whole.primaries()
    names = [whole.name_on(node, "relayed") for node in (first, second)]
    draft = dueq.Draft("parcel", replicas=1, durable_timeout=1)
    with dueq.Queue(names[0], whole.url) as source, dueq.Queue(names[1], whole.url) as target:
        source.push_many(["1", "2"])
        with frozen(replica_of(whole, second)), source.reserve(timeout=None) as message:
            # The first node has it twice.
            message.ack(push=[draft], to=target.name)
            assert target.stats().ready == source.stats().outbox == 1
        await_replica(second)
        with source.reserve(timeout=None) as message:
            message.ack(push=[draft], to=target.name)
        assert (target.stats().ready, source.stats().outbox) == (2, 1)


def test_acknowledged_pushes_survive_a_failover(whole: Cluster) -> None:
    """A primary is killed amid pushes, and its replica takes over."""
    url = f"{whole.url}?replicas=1&durable_timeout=1s&timeout=20s"
    primary = whole.primaries()[0]
    replica = replica_of(whole, primary)
    name = whole.name_on(primary, "survivor")
    acknowledged: list[str] = []
    over = threading.Event()

    def push() -> None:
        with dueq.Queue(name, url) as queue:
            while not over.is_set():
                # While the new primary has no replica, it is stored and not durable.
                with suppress(dueq.NotDurable):
                    acknowledged.append(queue.push("x"))

    with ThreadPoolExecutor() as pool:
        pushing = [pool.submit(push) for _ in range(4)]
        try:
            wait_until("no pushes", lambda: len(acknowledged) > 200)
            primary.stop()
            whole.await_promotion(replica)
            primary.start()
            wait_until("no replication", lambda: replica.feeds(primary))
            count = len(acknowledged)
            wait_until("no pushes", lambda: len(acknowledged) > count + 100)
        finally:
            over.set()
        for each in pushing:
            each.result()
    with dueq.Queue(name, whole.url) as queue:
        assert set(acknowledged) <= {message.id for message in queue.peek("ready", 200)}
