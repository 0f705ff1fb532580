import signal
from collections.abc import Iterator

import pytest

import dueq
from private_server import Server


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> None:
    """Ctrl-C as Python sets it up, also where the tests run in a background that ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    with Server() as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server for one test, which may do to it what it likes."""
    with Server() as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    """The URL of the server, which is empty."""
    server.command("FLUSHALL")
    return server.url


@pytest.fixture
def app(url: str) -> dueq.App:
    """An app without tasks, on the empty server."""
    return dueq.App(url)


@pytest.fixture
def queue(server: Server, request: pytest.FixtureRequest) -> Iterator[dueq.Queue]:
    """An empty queue, named as the test."""
    server.command("FLUSHALL")
    with dueq.Queue(
        request.node.name.translate({ord("{"): "(", ord("}"): ")"}), server.url
    ) as made:
        yield made
