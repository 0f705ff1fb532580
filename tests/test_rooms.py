"""
Calls go down through the rooms of the core: what the object files of the library refer to, by nm.
tests/test_repository_rules.py holds the includes to the same order.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OBJECTS = ROOT / "build/cmake/CMakeFiles/dueq.dir"

# Each room, and those that it calls. The scripts are data, made by core/scripts/embed.py.
BELOW = {
    "base": set[str](),
    "net": {"base"},
    "embedded": {"base"},
    "client": {"base", "net", "embedded", "scripts"},
    "verbs": {"base", "net", "client", "scripts"},
    "check": {"base", "net", "client", "verbs", "scripts"},
    "partition": {"base", "net", "client", "verbs", "scripts"},
    "schedule": {"base", "net", "client", "verbs", "scripts"},
    "consumer": {"base", "net", "client", "verbs", "partition", "scripts"},
    "interop": {"base", "net", "client", "verbs", "scripts"},
    "servers": {"base", "net", "client", "embedded"},
}
KERNEL = {"base", "net", "client", "verbs"}

# The headers of the kernel for the rooms above it. The others are the kernel's own.
PUBLIC = [
    "core/dueq.h",
    "core/dueq_verbs.h",
    "core/dueq_ends.h",
    "core/dueq_failures.h",
    "core/dueq_rates.h",
]
FOR_ALL = [
    "core/base/base.h",
    "core/net/net.h",
    "core/client/client.h",
    "core/client/keys.h",
    "core/client/op.h",
    "core/client/result.h",
    "core/verbs/verbs.h",
    "core/verbs/message.h",
    "core/verbs/result.h",
]
# A wait for another system's queue is one more kind of wait; a server is asked by a connection.
BESIDES = {
    "interop": ["core/client/wait.h", "core/client/node.h"],
    "servers": ["core/client/node.h"],
}
# The rooms above the kernel use of net.h how a reply is read and a request written: connections are
# the kernel's, and those of the houses beside the core.
OF_REPLIES = re.compile(r"dueq__(reply|resp)_")


def room_of(source: str) -> str:
    house, folder, *_ = Path(source).parts
    return folder if house == "core" else house


@cache
def symbols() -> tuple[dict[str, str], dict[str, set[str]]]:
    """The room that defines each symbol, and the symbols that each room refers to."""
    lists = [ROOT / f"{house}/sources.list" for house in ("core", "interop")]
    sources = " ".join(path.read_text(encoding="utf-8") for path in lists).split()
    sources.append("servers/server.c")
    missing = [source for source in sources if not (OBJECTS / f"{source}.o").exists()]
    assert not missing, f"not built (./dev test c builds it): {missing}"
    nm = ["nm", "-A", *(str(OBJECTS / f"{source}.o") for source in sources)]
    lines = subprocess.run(nm, capture_output=True, text=True, check=True).stdout.splitlines()
    defined, used = {}, defaultdict(set)
    for line in lines:
        place, rest = line.rsplit(".o:", 1)
        room = room_of(str(Path(place).relative_to(OBJECTS)))
        kind, symbol = rest.split()[-2:]
        if kind == "U":
            used[room].add(symbol)
        elif kind.isupper():
            defined[symbol] = "scripts" if symbol.startswith("dueq__script_") else room
    return defined, {room: used[room] & defined.keys() for room in used}


@cache
def declared(header: str) -> set[str]:
    """The names that a header has outside its comments."""
    code = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"\bdueq_\w+", code))


def test_every_room_has_its_place() -> None:
    defined, used = symbols()
    assert set(defined.values()) == {*BELOW, "scripts"}
    assert set(used) == set(BELOW)


@pytest.mark.parametrize("room", BELOW)
def test_calls_go_down(room: str) -> None:
    defined, used = symbols()
    up = {(defined[symbol], symbol) for symbol in used[room]}
    assert {(other, symbol) for other, symbol in up if other not in {room, *BELOW[room]}} == set()


@pytest.mark.parametrize("room", [room for room in BELOW if room not in KERNEL])
def test_rooms_above_use_the_headers_of_the_kernel_for_them(room: str) -> None:
    defined, used = symbols()
    headers = [*PUBLIC, *FOR_ALL, *BESIDES.get(room, [])]
    allowed = set[str]().union(*(declared(header) for header in headers))
    kernel = {symbol for symbol in used[room] if defined[symbol] in KERNEL}
    assert kernel - allowed == set()


@pytest.mark.parametrize("room", ["check", "partition", "schedule", "consumer"])
def test_rooms_above_have_no_connections(room: str) -> None:
    defined, used = symbols()
    net = {symbol for symbol in used[room] if defined[symbol] == "net"}
    assert {symbol for symbol in net if not OF_REPLIES.match(symbol)} == set()
