"""The page says "live" while what it shows is true, and soon says so when it is not."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator

import pytest

from private_server import Server

from .browser import Browser
from .site import Site

# The page takes 3 s at most; a busy machine takes longer.
SOON = 8.0
LIVE = "document.querySelector('#live')?.textContent === 'live'"
NOT_LIVE = "document.querySelector('#live')?.textContent.startsWith('not live')"

# What the page says from its beginning on.
RECORD = """
window.heard = [];
new MutationObserver(() => {
  const text = document.querySelector("#live")?.textContent;
  if (text && window.heard.at(-1) !== text) window.heard.push(text);
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


@pytest.fixture
def own() -> Iterator[tuple[Server, Site]]:
    with Server() as server, Site(server.url) as site:
        site.shell("push", "orders", "x")
        yield server, site
        server.thaw()


def took(page: Browser, what: str, seen: str, act: Callable[[], object]) -> None:
    begin = time.monotonic()
    act()
    page.until(seen, SOON)
    print(f"{what}: {time.monotonic() - begin:.1f} s")


def outage(
    page: Browser, what: str, stop: Callable[[], object], back: Callable[[], object]
) -> None:
    took(page, f"{what}, not live after", NOT_LIVE, stop)
    # Longer than all limits of a call.
    time.sleep(3)
    assert page.run(NOT_LIVE)
    took(page, f"{what} is over, live after", LIVE, back)


def test_the_server_hangs_and_goes_away(browser: Browser, own: tuple[Server, Site]) -> None:
    server, site = own
    browser.open(site.url)
    browser.until(LIVE)
    outage(browser, "the server hangs", server.freeze, server.thaw)
    outage(browser, "the server is away", server.stop, server.start)


def test_dueq_web_hangs(browser: Browser, own: tuple[Server, Site]) -> None:
    _, site = own
    browser.open(site.url)
    browser.until(LIVE)
    outage(
        browser,
        "dueq web hangs",
        lambda: site.process.send_signal(signal.SIGSTOP),
        lambda: site.process.send_signal(signal.SIGCONT),
    )


def test_dueq_web_goes_away(browser: Browser, own: tuple[Server, Site]) -> None:
    server, _ = own
    with Site(server.url) as site:
        browser.open(site.url)
        browser.until(LIVE)
        begin = time.monotonic()
    browser.until(NOT_LIVE, SOON)
    print(f"dueq web is away, not live after: {time.monotonic() - begin:.1f} s")
    again: list[Site] = []
    took(
        browser,
        "dueq web is there again, live after",
        LIVE,
        lambda: again.append(Site(server.url, options=["--listen", f"127.0.0.1:{site.port}"])),
    )
    with again[0]:
        pass


def test_it_is_not_live_before_it_was_told_something(
    browser: Browser, own: tuple[Server, Site]
) -> None:
    server, site = own
    recorder = browser.call("Page.addScriptToEvaluateOnNewDocument", source=RECORD)["identifier"]
    server.freeze()
    browser.open(site.url)
    browser.until("window.heard.some(text => text.startsWith('not live: '))", SOON)
    assert browser.run("window.heard.every(text => text.startsWith('not live'))")
    took(browser, "the server answers, live after", LIVE, server.thaw)
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=recorder)
