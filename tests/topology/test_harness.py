"""The cluster that the tests work on does what they say of it."""

from __future__ import annotations

import socket

import pytest

from cluster import Cluster
from node import HOST, queue_slot, slot_of, wait_until
from private_server import Refused, free_port
from proxy import Proxy


def test_slots() -> None:
    # CLUSTER KEYSLOT of the same.
    assert slot_of("foo") == 12182
    assert queue_slot("foo") == slot_of("{foo}bar") == 12182
    assert slot_of("{}foo") == slot_of(b"{}foo") == 9500
    assert slot_of("foo{}{bar}") == 8363
    assert slot_of("foo{{bar}}zap") == slot_of("{bar") == 4015


def test_slot_moves_key_by_key(cluster: Cluster) -> None:
    source, target = cluster.nodes[:2]
    slot = slot_of(f"{{{cluster.name_on(source)}}}")
    tag = cluster.name_on(source)
    for number in range(4):
        source.command("SET", f"{{{tag}}}{number}", number)
    seen = {}
    for stage in cluster.stages(slot, target):
        there = [node.command("CLUSTER", "COUNTKEYSINSLOT", slot) for node in (source, target)]
        seen[stage] = (*there, cluster.owner(slot) is target)
    assert seen == {
        "before keys": (4, 0, False),
        "between keys": (2, 2, False),
        "after keys": (0, 4, False),
        "moved": (0, 4, True),
    }
    assert target.command("GET", f"{{{tag}}}3") == b"3"
    cluster.clean()
    assert cluster.owner(slot) is source
    assert target.command("DBSIZE") == 0


def test_killed_primary_is_down_and_comes_back(cluster: Cluster) -> None:
    gone, other = cluster.nodes[:2]
    gone.stop()
    cluster.await_down()
    with pytest.raises(Refused, match="CLUSTERDOWN"):
        other.command("GET", cluster.name_on(other))
    gone.start()
    cluster.await_agreement()


def test_replica_takes_over() -> None:
    with Cluster(3, 1) as cluster:
        primary, replica = cluster.nodes[0], cluster.nodes[3]
        primary.command("SET", "bar", 1)
        assert cluster.failover(primary) is replica
        assert replica.command("GET", "bar") == b"1"
        wait_until("no replication", lambda: replica.feeds(primary))
        replica.stop()
        cluster.await_promotion(primary)
        assert cluster.owner(0) is primary
        assert primary.command("GET", "bar") == b"1"


def test_proxy_cuts_nodes_off() -> None:
    with Cluster(3, 1, proxied=True, timeout_ms=1000) as cluster:
        primary, replica = cluster.nodes[0], cluster.nodes[3]
        with socket.create_connection((HOST, primary.gate)) as client:
            cluster.isolate(primary)
            # Its clients stay, until it knows that it is alone.
            client.sendall(b"SET bar 1\r\n")
            assert client.recv(100) == b"+OK\r\n"
            wait_until("no failover", replica.is_primary)
            wait_until("it goes on", lambda: "fail" in primary.text("CLUSTER", "INFO"))
            client.sendall(b"SET bar 2\r\n")
            assert client.recv(100).startswith(b"-CLUSTERDOWN")
            cluster.heal()
            cluster.await_agreement()
            assert not primary.is_primary()
            cluster.proxy.hang(primary.gate)
            client.sendall(b"PING\r\n")
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(100)
            cluster.heal()
            client.settimeout(10)
            assert client.recv(100) == b"+PONG\r\n"
            cluster.proxy.cut(primary.gate)
            assert client.recv(100) == b""


def test_proxy_keeps_the_order_when_a_delay_ends() -> None:
    gate = free_port()
    with (
        socket.create_server((HOST, 0)) as listener,
        Proxy({gate: listener.getsockname()[1]}) as proxy,
        socket.create_connection((HOST, gate)) as client,
        listener.accept()[0] as server,
    ):
        server.settimeout(10)
        client.sendall(b"0")
        assert server.recv(1) == b"0"
        proxy.delay(gate, 300)
        client.sendall(b"1")
        proxy.delay(gate, 0)
        client.sendall(b"2")
        assert server.recv(1) + server.recv(1) == b"12"
