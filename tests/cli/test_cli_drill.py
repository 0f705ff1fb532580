"""A drill: each trouble is staged on a server of its own, and every screen is asked until it says
the true cause. What each said, and after how many seconds, is printed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from web.site import Site

from private_server import Server, free_port

from . import stuck
from .program import Program
from .test_cli_workers import register

SECONDS = 60
CLOCK = Path(__file__).parents[1] / "shifted_clock.c"
Stage = Callable[[ExitStack, Path], tuple[Program, Server]]


def started(stack: ExitStack, *options: str, under: tuple[str, ...] = ()) -> tuple[Program, Server]:
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path
    server = Server(*options)
    server.under = under
    stack.enter_context(server)
    return Program(path, server.url), server


def by(way: stuck.Way) -> Stage:
    def stage(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
        dueq, server = started(stack)
        stack.enter_context(way(dueq, server, "orders"))
        return dueq, server

    return stage


def overdue(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """Delayed messages alone, which are due, and no consumer that looks."""
    dueq, server = started(stack)
    dueq("push", "orders", "x", "--delay", "1")
    return dueq, server


def behind(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    dueq, server = started(stack)
    dueq("push", "orders", "x")
    register(server, "busy")
    return dueq, server


def evicted(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """The server has deleted keys, none of dueq's, before its policy was set right."""
    dueq, server = started(stack, "--maxmemory", "5mb", "--maxmemory-policy", "volatile-lru")
    for number in range(60):
        server.command("SET", f"other-{number}", "x" * 100_000, "EX", "1000")
    server.command("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
    dueq("push", "orders", "x")
    return dueq, server


def disk(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """A snapshot could not be saved: the server refuses all writes."""
    gone = folder / "gone"
    gone.mkdir()
    dueq, server = started(stack, "--dir", str(gone))
    dueq("push", "orders", "x")
    server.command("CONFIG", "SET", "save", "3600 1")
    gone.rmdir()
    server.command("BGSAVE")
    dueq.until(lambda: "rdb_last_bgsave_status:err" in info(server))
    return dueq, server


def info(server: Server) -> str:
    text = server.command("INFO")
    assert isinstance(text, bytes)
    return text.decode()


def read_only(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    dueq, server = started(stack)
    dueq("push", "orders", "x")
    server.command("REPLICAOF", "127.0.0.1", free_port())
    return dueq, server


def replicas(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    dueq, server = started(stack)
    dueq("push", "orders", "x")
    server.command("CONFIG", "SET", "min-replicas-to-write", "1")
    return dueq, server


def clock(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    library = folder / "shifted_clock.so"
    words = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(CLOCK)]
    subprocess.run(words, check=True)
    under = ("env", f"LD_PRELOAD={library}", "CLOCK_AHEAD=86400")
    dueq, server = started(stack, under=under)
    dueq("push", "orders", "x", "--delay", "1h")
    return dueq, server


class Way(NamedTuple):
    stage: Stage
    cause: str
    says: str


WAYS = {
    "nobody takes what is ready": Way(by(stuck.no_workers), "nobody", "no workers: "),
    "nobody takes what is overdue": Way(overdue, "nobody", "no workers: "),
    "a consumer hangs": Way(by(stuck.slow), "hung", "hung: works on m0 "),
    "paused": Way(by(stuck.paused), "paused", "paused: "),
    "poison": Way(by(stuck.poison), "poison", "poison: 3 died"),
    "behind": Way(behind, "behind", "behind: the oldest waits "),
    "the outbox is refused": Way(by(stuck.lost_dead_letters), "outbox", "outbox: 1 cannot move"),
    "memory is full": Way(by(stuck.full), "full", "is full: "),
    "keys were evicted": Way(evicted, "evicted", "has deleted [0-9]+ keys"),
    "the disk fails": Way(disk, "disk", "refuses all writes: it cannot save a snapshot"),
    "read-only": Way(read_only, "read_only", "is a replica: "),
    "too few replicas": Way(replicas, "replicas", "0 of the 1 replicas that min-replicas"),
    "the clock jumped": Way(clock, "clock", "clock (of the server )?is "),
}
AWAY = "the server is away"


def doctor(dueq: Program, site: Site, way: Way) -> str | None:
    for one in dueq.run("doctor", "--json").objects:
        if one["level"] != "ok" and re.search(way.says, one["text"]):
            return f"{one['level']} {one['code']}: {one['text']}"
    return None


def top(dueq: Program, site: Site, way: Way) -> str | None:
    flat = " ".join(dueq.run("top", "--once").text.split())
    found = re.search(f".{{0,12}}{way.says}.{{0,60}}", flat)
    return found[0] if found else None


def metrics(dueq: Program, site: Site, way: Way) -> str | None:
    for line in dueq.run("metrics").lines:
        if line.startswith("dueq_trouble{") and f'cause="{way.cause}"' in line:
            return line
    return None


def web(dueq: Program, site: Site, way: Way) -> str | None:
    for one in site.ask("GET", "/api/why").objects:
        if one.get("cause") == way.cause and re.search(way.says, one["why"]):
            return f"{one['level']}: {one['why']}"
    return None


SCREENS = (doctor, top, metrics, web)
Seen = dict[tuple[str, str], tuple[float, str]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """What each screen said of each way, and after how many seconds."""
    found: Seen = {}
    with ExitStack() as stack:
        staged = []
        for name, way in WAYS.items():
            dueq, server = way.stage(stack, tmp_path_factory.mktemp("drill"))
            site = stack.enter_context(Site(server.url))
            staged.append((name, way, dueq, site, time.monotonic()))
        end = time.monotonic() + SECONDS
        while len(found) < len(WAYS) * len(SCREENS) and time.monotonic() < end:
            for name, way, dueq, site, begun in staged:
                for screen in SCREENS:
                    key = name, screen.__name__
                    said = None if key in found else screen(dueq, site, way)
                    if said:
                        found[key] = time.monotonic() - begun, said
            time.sleep(0.2)
        yield found


@pytest.mark.parametrize("screen", [screen.__name__ for screen in SCREENS])
@pytest.mark.parametrize("name", WAYS)
def test_every_screen_says_the_true_cause(seen: Seen, name: str, screen: str) -> None:
    assert (name, screen) in seen
    seconds, said = seen[name, screen]
    print(f"{name}: {screen} after {seconds:.0f} s: {said}")
    assert seconds < SECONDS


def test_every_screen_says_that_the_server_is_away() -> None:
    with ExitStack() as stack:
        dueq, server = started(stack)
        dueq("push", "orders", "x")
        dueq.environment["DUEQ_URL"] = server.url + "?timeout=1s"
        site = stack.enter_context(Site(server.url + "?timeout=1s"))
        server.freeze()
        with contextlib.closing(stack):
            examined = dueq.run("doctor")
            assert examined.code == 3
            assert "does not answer" in examined.text + examined.err
            assert "TIMEOUT" in dueq.run("top", "--once").err
            assert "TIMEOUT" in dueq.run("metrics").err
            assert site.ask("GET", "/api/why").code in (503, 504)
            server.thaw()
