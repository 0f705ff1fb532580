"""The page says why a queue is stuck, staged in eight ways."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from cli import stuck_queues
from cli.program import Program

from private_server import Server

from .browser import Browser
from .site import TOKEN, Site

SAID = {
    "no workers": ["no workers: none is registered; the oldest waits for "],
    "a poison message": ["poison: 3 died and 3 failed in 30 min; 3 with: ValueError: row #"],
    "a slow handler": ["hung: works on m0 for ", " process ", "); others wait for "],
    "a paused queue": ["paused: it delivers nothing until it is resumed"],
    "a queue at its limit": ["at its limit of the concurrency: leased 1; the oldest waits for "],
    "groups at their limits": ["all groups that wait are held or at a limit, such as acme (hold)"],
    "a lost dead-letter queue": ["outbox: 1 cannot move to lost: "],
    "Redis full": ["the server is full: ", " of 1.0M bytes (maxmemory): it refuses pushes"],
}


def test_each_way_is_here() -> None:
    assert SAID.keys() == stuck_queues.WAYS.keys()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A queue for each way, which has its name, all on one server."""
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path
    with ExitStack() as stack:
        server = stack.enter_context(Server())
        made = stack.enter_context(Site(server.url, token=TOKEN))
        for name, way in stuck_queues.WAYS.items():
            stack.enter_context(way(Program(path, server.url), server, name))
        yield made


def show(browser: Browser, site: Site, place: str = "") -> None:
    """Opens a place of the page, with the token given."""
    browser.look(1280, 900)
    browser.open(site.url)
    browser.run(f"sessionStorage.setItem('dueq-token', {TOKEN!r})")
    browser.open(f"{site.url}?again{place}")
    browser.said.clear()


@pytest.mark.parametrize("way", SAID)
def test_the_page_says_why(browser: Browser, site: Site, way: str) -> None:
    show(browser, site)
    for part in SAID[way]:
        browser.sees(part)
    browser.press(way)
    browser.until("document.querySelector('.tabs') !== null")
    for part in SAID[way]:
        browser.sees(part)
    whys = [one["why"] for one in site.get(way, "why").objects]
    assert any(all(part in why for part in SAID[way]) for why in whys), whys
    assert browser.said == []


def test_the_page_says_what_to_do_about_a_limit(browser: Browser, site: Site) -> None:
    """No button sets limits: the commands do."""
    show(browser, site, "#/q/a%20queue%20at%20its%20limit/ready")
    browser.sees(": dueq limits QUEUE shows the limits, dueq limit QUEUE sets others")


ROWS = """
[...document.querySelectorAll("tbody tr.reason")].map((row) =>
  [row.previousElementSibling.querySelector("a").textContent, row.className.split(" ").pop(),
   getComputedStyle(row.firstElementChild).color])
"""


def test_what_needs_a_person_is_red_and_first(
    browser: Browser, reader: Site, server: Server
) -> None:
    """One death is amber, a pause is grey, and what is well comes last."""
    server.command("FLUSHALL")
    for queue, deaths in (("c-poison", 3), ("b-once", 1)):
        for _ in range(deaths):
            reader.shell("push", queue, "x", "--max-attempts", "1")
            (line,) = reader.shell("reserve", queue, "--json").splitlines()
            reader.shell("bury", queue, json.loads(line)["ticket"])
    reader.shell("push", "a-paused", "x")
    reader.shell("pause", "a-paused")
    reader.shell("push", "a-well", "x", "--delay", "1h")
    browser.look(1280, 900)
    browser.open(reader.url)
    browser.until("document.querySelectorAll('tbody tr.reason').length === 3")
    names, levels, colours = zip(*browser.run(ROWS), strict=True)
    assert names == ("c-poison", "b-once", "a-paused")
    assert levels == ("act", "look", "meant")
    assert len(set(colours)) == 3
    red, green, blue = map(int, re.findall(r"\d+", colours[0])[:3])
    assert red > 2 * max(green, blue)
    all_names = "[...document.querySelectorAll('tbody a[href*=\"/q/\"]')].map(a => a.textContent)"
    assert browser.run(all_names)[-1] == "a-well"
