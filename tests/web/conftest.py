"""dueq web, on a server of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Server

from .browser import Browser
from .site import TOKEN, Site


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="session")
def running_site(server: Server) -> Iterator[Site]:
    with Site(server.url, token=TOKEN) as running:
        yield running


@pytest.fixture
def site(server: Server, running_site: Site) -> Site:
    """With a token, on an empty server."""
    server.command("FLUSHALL")
    return running_site


@pytest.fixture
def reader(server: Server) -> Iterator[Site]:
    """Without a token it can only be read."""
    server.command("FLUSHALL")
    with Site(server.url) as running:
        yield running


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def page(browser: Browser, site: Site) -> Browser:
    """The overview, with the token given."""
    browser.open("about:blank")
    browser.look(1280, 900)
    browser.open(site.url)
    browser.until("location.protocol === 'http:' && document.querySelector('main') !== null")
    browser.run(f"sessionStorage.setItem('dueq-token', {TOKEN!r})")
    browser.open(site.url + "?again")
    browser.until("document.querySelector('#live')?.className === 'good'")
    browser.said.clear()
    return browser
