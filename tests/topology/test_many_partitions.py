"""What one consumer of many partitions asks of a cluster."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import dueq
from cluster import Cluster
from node import queue_slot, wait_until

PARTITIONS = 200


def connections(cluster: Cluster) -> int:
    """Of dueq's clients."""
    listed = "".join(node.text("CLIENT", "LIST") for node in cluster.nodes)
    return listed.count(" name=dueq-")


def blocked(cluster: Cluster) -> int:
    return sum(node.waiting() for node in cluster.nodes)


def scripts(cluster: Cluster) -> int:
    return sum(node.calls("evalsha") for node in cluster.nodes)


def unblocks(cluster: Cluster) -> int:
    return sum(node.calls("client|unblock") for node in cluster.nodes)


def test_partitions_cost_a_connection_for_each_slot(cluster: Cluster) -> None:
    name = cluster.name_on(cluster.nodes[0])
    slots = {queue_slot(f"{name}#{n}") for n in range(PARTITIONS)}
    with (
        dueq.Queue(name, cluster.url, partitions=PARTITIONS) as orders,
        dueq.Queue(name, cluster.url, partitions=PARTITIONS) as producer,
        ThreadPoolExecutor() as pool,
        orders.consume(timeout=20) as consumer,
    ):
        messages = iter(consumer)
        first = pool.submit(next, messages)
        wait_until("it does not wait", lambda: blocked(cluster) == len(slots))
        # Its requests', and on a slow machine its heartbeat's.
        assert connections(cluster) <= len(slots) + 3 * 2
        producer.push("now", key="k")
        with first.result(10) as message:
            assert message.body == b"now"
        # The heartbeat's and the producer's.
        assert connections(cluster) <= len(slots) + 3 * 3
        before, ended, begin = scripts(cluster), unblocks(cluster), time.monotonic()
        for number in range(20):
            producer.push(str(number), key=f"k{number}", delay=0.05)
            with next(messages) as message:
                assert message.body == str(number).encode()
        # A push, a reserve, an ack, its own partition again, another in turn; the leases at times.
        assert scripts(cluster) - before <= 20 * 10
        # A message ends the blocks of its own partition and of the one in turn. All blocks end when
        # the leases on the partitions are renewed, each second.
        renewals = time.monotonic() - begin + 2
        assert unblocks(cluster) - ended <= 20 * 3 + renewals * PARTITIONS
