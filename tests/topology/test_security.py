"""The users of docs/security.md in a cluster and behind sentinels, and a cluster by TLS."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dueq
from acl_users import TEXT, lines, permit
from certificates import Certificates
from cluster import Cluster
from dueq import errors
from node import queue_slot, wait_until
from sentinel import Watched

MORE = {
    topology: re.findall(r"`(\+.+?)`", sentence)[0].split()
    for topology, sentence in re.findall(r"(In a cluster|With sentinels),? .*?(`\+.+?`)", TEXT)
}


def url_as(user: str, url: str) -> str:
    return url.replace("://", f"://{user}:secret@")


def serve(producer: dueq.Queue, worker: dueq.Queue) -> None:
    producer.push("a", delay=0.05)
    message = worker.reserve(timeout=20)
    assert message
    assert message.body == b"a"
    message.ack()


def test_users_in_a_cluster() -> None:
    users = ["producer", "worker"]
    with Cluster(primaries=2) as cluster:
        for node in cluster.nodes:
            permit(node, [line for user in users for line in lines(user)])
        with (
            dueq.Queue("orders", url_as("producer", cluster.url)) as producer,
            dueq.Queue("orders", url_as("worker", cluster.url)) as worker,
        ):
            with pytest.raises(errors.DeniedError, match="cluster"):
                worker.reserve()
            for node in cluster.nodes:
                permit(node, [["ACL", "SETUSER", user, *MORE["In a cluster"]] for user in users])
                node.command("ACL", "LOG", "RESET")
            slot = queue_slot("orders")
            target = next(node for node in cluster.nodes if node is not cluster.owner(slot))
            with ThreadPoolExecutor() as pool:
                with cluster.moving(slot, target):
                    pushed = pool.submit(producer.push, "x", delay=3600)
                    wait_until("nobody is sent there", lambda: target.calls("asking") > 0)
                assert pushed.result(20)
            serve(producer, worker)
        for node in cluster.nodes:
            assert node.command("ACL", "LOG") == []


def test_users_with_sentinels() -> None:
    [watcher] = lines("watcher")
    users = ["producer", "worker"]
    with Watched() as watched:
        for member in watched.members:
            permit(member, [line for user in users for line in lines(user)])
        for sentinel in watched.sentinels:
            permit(sentinel, [watcher])
        parameters = "?sentinel_user=watcher&sentinel_password=secret"
        url = watched.url_of(*watched.sentinels, parameters=parameters)
        with (
            dueq.Queue("orders", url_as("producer", url)) as producer,
            dueq.Queue("orders", url_as("worker", url)) as worker,
        ):
            with pytest.raises(errors.DeniedError, match="role"):
                producer.push("x")
            more = [["ACL", "SETUSER", user, *MORE["With sentinels"]] for user in users]
            for member in watched.members:
                permit(member, [*more, ["ACL", "LOG", "RESET"]])
            serve(producer, worker)
        for server in [*watched.members, *watched.sentinels]:
            assert server.command("ACL", "LOG") == []


def test_cluster_by_tls_with_certificates_of_clients(tmp_path: Path) -> None:
    tls = Certificates(tmp_path, "shop.example.com")
    (tmp_path / "other").mkdir()
    other = Certificates(tmp_path / "other", "shop.example.com")
    with Cluster(primaries=2, tls=tls) as cluster:
        name = cluster.name_on(cluster.nodes[0])
        far = cluster.name_on(cluster.nodes[1])

        def queue(name: str, ca: Path, client: Certificates | None, tls_name: str) -> dueq.Queue:
            words = [f"ca={ca}", f"tls_name={tls_name}", "timeout=20s"]
            if client:
                words += [f"cert={client.cert}", f"key={client.key}"]
            return dueq.Queue(name, f"{cluster.url}?{'&'.join(words)}")

        for on in (name, far):
            with queue(on, tls.ca, tls, "shop.example.com") as made:
                serve(made, made)
        with queue(name, tls.ca, tls, "shop.example.com") as made:
            cluster.move(queue_slot(name), cluster.nodes[1])
            serve(made, made)
        for ca, client, tls_name in (
            (other.ca, tls, "shop.example.com"),
            (tls.ca, other, "shop.example.com"),
            (tls.ca, None, "shop.example.com"),
            (tls.ca, tls, "another.example.com"),
        ):
            with queue(name, ca, client, tls_name) as made, pytest.raises(errors.TlsError):
                made.push("x")
