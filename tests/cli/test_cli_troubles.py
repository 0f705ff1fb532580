"""A drill: each trouble is staged on a server of its own, and every screen is asked until it says
the true cause. What each said, and after how many seconds, is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from web.site import Site

from private_server import Refused, Server, free_port

from . import stuck_queues
from .program import Gate, Program
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


def by(way: stuck_queues.Way) -> Stage:
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


def limited(words: list[str]) -> Stage:
    """A consumer works on one message, and the queue's limit keeps the other one waiting."""

    def stage(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
        dueq, server = started(stack)
        dueq("limit", "orders", *words)
        dueq("push", "orders", "x")
        dueq("push", "orders", "x")
        dueq("reserve", "orders", "--lease", "1h")
        register(server, "busy")
        return dueq, server

    return stage


def killed(stack: ExitStack, dueq: Program, folder: Path, wait: Callable[[], bool]) -> None:
    """A worker whose handler does not end is killed when that holds."""
    gate = folder / "gate"
    stack.callback(Gate(gate).close)
    words = ["work", "orders", "--", "sh", "-c", stuck_queues.HELD_AT_A_GATE, "sh", str(gate)]
    with dueq.start(*words) as process:
        dueq.until(wait)
        process.kill()
        process.communicate()


def died_idle(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """Its worker died, and nobody takes what comes then."""
    dueq, server = started(stack)
    killed(stack, dueq, folder, lambda: bool(dueq("workers", "orders", "--json").objects))
    dueq("push", "orders", "x")
    return dueq, server


def died_at_work(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """The only worker died with the only message."""
    dueq, server = started(stack)
    dueq("push", "orders", "x")

    def working() -> bool:
        rows = dueq("workers", "orders", "--json").objects
        return any(one["queues"][0]["running"] for one in rows)

    killed(stack, dueq, folder, working)
    return dueq, server


def died_at_once(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """It died before it was known that it was there."""
    dueq, server = started(stack)
    dueq("push", "orders", "x")
    dueq("reserve", "orders", "--lease", "5s")
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


# No file of its grows beyond 1 MiB: it is told that such a write fails.
SMALL_FILES = ("sh", "-c", "trap '' XFSZ; ulimit -f 2048; exec \"$@\"", "sh")


def append_only_file(stack: ExitStack, folder: Path) -> tuple[Program, Server]:
    """What is written cannot be appended: the server refuses all writes (MISCONF)."""
    dueq, server = started(stack, "--appendonly", "yes", under=SMALL_FILES)
    dueq("push", "orders", "x")

    def refused() -> bool:
        try:
            server.command("SET", "other", "x" * 100_000)
        except Refused as refusal:
            return str(refusal).startswith("MISCONF")
        return False

    dueq.until(refused)
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
    """While it runs, a day back."""
    library, ahead = folder / "shifted_clock.so", folder / "ahead"
    words = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(CLOCK)]
    subprocess.run(words, check=True)
    ahead.write_bytes(bytes(8))
    under = ("env", f"LD_PRELOAD={library}", f"CLOCK_FILE={ahead}")
    dueq, server = started(stack, under=under)
    dueq("push", "orders", "x", "--delay", "1h")
    assert dueq.run("doctor", "--only", "clock").code == 0
    with ahead.open("r+b") as file:
        file.write((-86400).to_bytes(8, sys.byteorder, signed=True))
    return dueq, server


class Way(NamedTuple):
    stage: Stage
    cause: str
    says: str


WAYS = {
    "nobody takes what is ready": Way(by(stuck_queues.no_workers), "nobody", "no workers: "),
    "nobody takes what is overdue": Way(overdue, "nobody", "no workers: "),
    "the worker died": Way(died_idle, "nobody", "no workers: the last, "),
    "the worker died with the message": Way(died_at_work, "nobody", "no workers: the last, "),
    "a worker died at once": Way(died_at_once, "nobody", "no workers: none is registered"),
    "a consumer hangs": Way(by(stuck_queues.slow), "hung", "hung: works on m0 "),
    "paused": Way(by(stuck_queues.paused), "paused", "paused: "),
    "poison": Way(by(stuck_queues.poison), "poison", "poison: 3 died"),
    "behind": Way(behind, "behind", "behind: the oldest waits "),
    "at its concurrency": Way(
        limited(["--concurrency", "1"]), "limit", "at its limit of the concurrency: leased 1;"
    ),
    "at its rate": Way(limited(["--rate", "1/h"]), "limit", "at its limit of the rate: "),
    "its groups are held or at limits": Way(
        by(stuck_queues.held),
        "groups",
        "all groups that wait are held or at a limit, such as acme .hold.",
    ),
    "the outbox is refused": Way(
        by(stuck_queues.lost_dead_letters), "outbox", "outbox: 1 cannot move"
    ),
    "memory is full": Way(by(stuck_queues.full), "full", "is full: "),
    "keys were evicted": Way(evicted, "evicted", "has deleted [0-9]+ keys"),
    "the disk fails": Way(disk, "disk", "refuses all writes: it cannot save a snapshot"),
    "the append-only file fails": Way(
        append_only_file, "disk", "refuses all writes: it cannot write its append-only file"
    ),
    "read-only": Way(read_only, "read_only", "is a replica: "),
    "too few replicas": Way(replicas, "replicas", "0 of the 1 replicas that min-replicas"),
    "the clock jumped": Way(clock, "clock", "clock (of the server )?is .* behind"),
}


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
        stack.callback(server.thaw)
        for screen in ("doctor", "top --once", "metrics", "web"):
            begun = time.monotonic()
            if screen == "web":
                answer = site.ask("GET", "/api/why")
                assert answer.code in (503, 504)
                said = answer.object["text"]
            else:
                ended = dueq.run(*screen.split())
                assert ended.code == 3
                said = ended.text if screen == "metrics" else ended.text + ended.err
            seconds = time.monotonic() - begun
            found = re.search("^.*(does not answer|did not answer|^dueq_up 0$).*$", said, re.M)
            assert found, said
            print(f"the server is away: {screen} after {seconds:.0f} s: {found[0]}")
            assert seconds < SECONDS
