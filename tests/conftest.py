"""What the tests work on: a cluster; and those of protocol.md: queues seen from inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inside import Inside

from cluster import Cluster
from private_server import Server


@pytest.fixture(scope="session")
def running_cluster() -> Iterator[Cluster]:
    with Cluster(primaries=3) as running:
        yield running


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    """Three primaries, as if they had just been started."""
    running_cluster.clean()
    return running_cluster


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def inside(server: Server) -> Iterator[Inside]:
    server.command("FLUSHALL")
    made = Inside(server, "orders")
    with made.queue:
        yield made


@pytest.fixture
def mails(inside: Inside) -> Iterator[Inside]:
    made = Inside(inside.server, "mails")
    with made.queue:
        yield made
