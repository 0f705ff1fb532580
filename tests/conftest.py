"""What the tests of docs/protocol.md work on: a server, and queues of it seen from inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inside import Inside

from private_server import Server


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
