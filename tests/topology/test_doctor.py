"""dueq doctor on clusters and behind sentinels."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dueq
from certificates import Certificates
from cluster import Cluster
from node import HOST, wait_until
from private_server import Server
from sentinel import NAME, Watched

SOUND = ["--maxmemory", "256mb", "--appendonly", "yes"]


def look(url: str, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and the findings."""
    program = shutil.which("dueq")
    assert program
    ended = subprocess.run(
        [program, "doctor", url, "--json", *words], capture_output=True, text=True, check=False
    )
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()]


def bad(url: str, code: str) -> list[tuple[str, str]]:
    """The level and text of what is more than ok."""
    _, found = look(url, "--only", code)
    return [(one["level"], one["text"]) for one in found if one["level"] != "ok"]


def test_doctor_looks_at_every_node_of_a_cluster() -> None:
    with Cluster(3, 3, *SOUND, "--min-replicas-to-write", "1") as cluster:
        with dueq.Queue("orders", cluster.url) as queue:
            queue.push("x")
        code, found = look(cluster.url)
        assert (code, [one for one in found if one["level"] not in {"ok", "note"}]) == (0, [])
        for check in ("reach", "eviction", "persistence", "clock", "cluster", "replicas"):
            servers = {one["server"] for one in found if one["code"] == check}
            assert servers == {f"{HOST}:{node.port}" for node in cluster.nodes}, check
        one = cluster.nodes[0]
        one.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        _, found = look(cluster.url, "--only", "eviction")
        problems = [found["server"] for found in found if found["level"] == "problem"]
        assert problems == [f"{HOST}:{one.port}"]
        # One node by a plain URL is not the cluster.
        ((level, text),) = bad(one.url, "cluster")
        assert level == "problem"
        assert text.startswith("it is a node of a cluster")
        one.command("CLUSTER", "DELSLOTS", 0)
        assert ("problem", "1 slots belong to no node, and queues in them do not work") in bad(
            cluster.url, "cluster"
        )


def test_doctor_finds_nodes_that_are_gone() -> None:
    with Cluster(3, 0, *SOUND) as cluster:
        gone = cluster.nodes[2]
        gone.stop()
        wait_until("nobody misses it", lambda: "fail" in cluster.nodes[0].view()[gone.id][2])
        code, found = look(cluster.url + "?timeout=2s")
        assert code == 1
        away = [
            one["server"] for one in found if (one["code"], one["level"]) == ("reach", "problem")
        ]
        assert away == [f"{HOST}:{gone.port}"]
        said = [
            one["text"] for one in found if (one["code"], one["level"]) == ("cluster", "problem")
        ]
        assert "are on nodes that do not answer" in said[0]
        gone.start()


def test_doctor_finds_small_clusters_and_lumps() -> None:
    with Cluster(2, 0, *SOUND) as cluster:
        assert (
            "warning",
            "2 primaries have slots: when one is gone there is no majority that replaces it",
        ) in bad(cluster.url, "cluster")
        alone = bad(cluster.url, "replicas")
        assert [level for level, _ in alone] == ["warning", "warning"]
        assert alone[0][1].startswith("it has no replica: when it is gone, so are its queues")
        with dueq.Queue("orders", cluster.url, partitions=8) as queue:
            queue.push_many([dueq.Draft("x", key=str(number)) for number in range(100)])
        assert bad(cluster.url, "slots") == []
        names = (
            name
            for name in cluster.names_on(cluster.nodes[0], "lump")
            if {cluster.home(f"{name}#{part}").id for part in range(2)} == {cluster.nodes[0].id}
        )
        name = next(names)
        with dueq.Queue(name, cluster.url, partitions=2) as queue:
            queue.push_many([dueq.Draft("x", key=str(number)) for number in range(50)])
        assert bad(cluster.url, "slots") == [
            ("warning", "2 of its 2 partitions are on one of 2 primaries")
        ]
        for node in cluster.nodes:
            node.command("CONFIG", "SET", "cluster-node-timeout", 15000)
        levels = [text for level, text in bad(cluster.url, "cluster") if level == "note"]
        assert levels[0].startswith("cluster-node-timeout is 15.0s, and calls give up after 10.0s")


# ---- Replicas and sentinels ----


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with Watched(*SOUND) as servers:
        yield servers


def test_doctor_looks_at_sentinels_and_servers(watched: Watched) -> None:
    watched.primary.command("CONFIG", "SET", "min-replicas-to-write", 1)
    code, found = look(watched.url)
    assert (code, [one for one in found if one["level"] not in {"ok", "note"}]) == (0, [])
    members = {f"{HOST}:{server.port}" for server in watched.members}
    sentinels = {f"{HOST}:{server.port}" for server in watched.sentinels}
    assert {one["server"] for one in found if one["code"] == "reach"} == members | sentinels
    assert {one["server"] for one in found if one["code"] == "sentinel"} == sentinels
    assert {one["server"] for one in found if one["code"] == "eviction"} == members


def test_doctor_finds_what_is_wrong_with_sentinels(watched: Watched) -> None:
    one, other, third = watched.sentinels
    one.command("SENTINEL", "SET", NAME, "quorum", 7)
    other.command("SENTINEL", "SET", NAME, "down-after-milliseconds", 60000)
    third.stop()
    _, found = look(watched.url, "--only", "sentinel", "--only", "reach")
    one.command("SENTINEL", "SET", NAME, "quorum", 2)
    other.command("SENTINEL", "SET", NAME, "down-after-milliseconds", 500)
    third.start()
    texts: dict[str, list[tuple[str, str]]] = {
        f"{HOST}:{server.port}": [] for server in watched.sentinels
    }
    for finding in found:
        if finding["level"] != "ok":
            texts[finding["server"]].append((finding["level"], finding["text"]))
    assert texts[f"{HOST}:{one.port}"] == [
        ("problem", "the quorum is 7, and there are 3 sentinels: nobody is replaced")
    ]
    ((level, text),) = texts[f"{HOST}:{other.port}"]
    assert level == "note"
    assert text.startswith("down-after-milliseconds is 1m0s")
    ((level, text),) = texts[f"{HOST}:{third.port}"]
    assert level == "problem"
    assert text.startswith("it does not answer")


def test_doctor_finds_too_few_sentinels_and_replicas() -> None:
    with Watched(*SOUND, sentinels=1, replicas=0) as watched:
        levels = bad(watched.url, "sentinel")
        assert levels == [
            (
                "warning",
                "it knows of 1 sentinels: when one is gone, nobody may replace the primary",
            ),
            ("warning", "the primary has no replica that could take over"),
        ]


def test_doctor_finds_what_is_wrong_with_replicas(watched: Watched) -> None:
    primary = watched.in_step_primary()
    (replica,) = (server for server in watched.members if server is not primary)
    alone = f"redis://{HOST}:{replica.port}"
    assert bad(alone, "replicas") == [
        ("problem", "the server is a replica: it refuses pushes and reserves")
    ]
    by_itself = f"redis://{HOST}:{primary.port}"
    primary.command("CONFIG", "SET", "min-replicas-to-write", 0)
    ((level, text),) = bad(by_itself, "replicas")
    assert level == "note"
    assert "min-replicas-to-write 0" in text
    primary.command("CONFIG", "SET", "min-replicas-to-write", 2)
    ((level, text),) = bad(by_itself, "replicas")
    assert level == "problem"
    assert text.endswith("it has 1 of the 2 replicas that min-replicas-to-write wants")
    primary.command("CONFIG", "SET", "min-replicas-to-write", 1)


def test_doctor_finds_a_replica_that_gets_nothing() -> None:
    with Server(*SOUND) as server:
        server.command("REPLICAOF", HOST, 1)
        found = bad(server.url, "replicas")
        assert (
            "problem",
            "this replica does not get what its primary stores (master_link_status down)",
        ) in found


def test_doctor_has_the_logins_and_certificates_of_the_url(tmp_path: Path) -> None:
    tls = Certificates(tmp_path, "shop.example.com")
    with Watched(*SOUND, password="inner", sentinel_password="outer", tls=tls) as watched:
        files = f"&ca={tls.ca}&cert={tls.cert}&key={tls.key}&tls_name=shop.example.com"
        parameters = f"?timeout=20s&sentinel_password=outer{files}"
        url = watched.url_of(*watched.sentinels, login=":inner@", parameters=parameters)
        code, found = look(url)
        assert (code, [one for one in found if one["level"] not in {"ok", "note"}]) == (0, [])
        assert sum(one["code"] == "reach" for one in found) == 5
        wrong = url.replace("=outer", "=wrong")
        code, found = look(wrong)
        assert code == 4
        assert {one["level"] for one in found} == {"problem"}
        assert "WRONGPASS" in found[0]["text"]
