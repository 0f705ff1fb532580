"""Fixtures for pytest, which loads this module itself where dueq is installed."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

import dueq


@pytest.fixture(scope="session")
def dueq_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """
    The URL of a private server. It starts when a test first uses it, and ends with the session.
    """
    url = f"embedded:{quote(str(tmp_path_factory.mktemp('dueq')))}"
    # Imported only here: pytest loads this module in every project.
    from dueq import testing

    with dueq.Queue("keeps the server", url) as keeper:
        keeper.stats()
        testing.own_server = url
        yield url
        testing.own_server = None


@pytest.fixture
def dueq_url(dueq_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """
    The URL of the private server, which has no queues yet. During the test $DUEQ_URL is this URL.
    """
    for name in dueq.queues(dueq_server):
        with dueq.Queue(name, dueq_server) as queue:
            queue.remove()
    monkeypatch.setenv("DUEQ_URL", dueq_server)
    return dueq_server


@pytest.fixture
def dueq_queue(dueq_url: str) -> Iterator[dueq.Queue]:
    """An empty queue on the private server."""
    with dueq.Queue("test", dueq_url) as queue:
        yield queue
