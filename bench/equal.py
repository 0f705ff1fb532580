"""At equal lateness: what a delayed job costs the server, next to how late it comes.

A queue that looks for due jobs less often costs its server less, and delivers them later. So each
peer is measured at the settings of its curve (peer.json), dueq at several values of `slack`."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from adapters import Failed
from callgrind import VALGRIND, counted_redis
from compare import Entry
from jobs import LEADS, TOO_LATE, Lived, live
from machine import Figures
from measures import spread
from servers import Usage, serve
from size import Size

RATE = 50
"""Jobs that fall due in a second: a server under callgrind keeps up with so many."""
AT_ONCE = 2
"""Servers under callgrind at a time: instructions need no quiet machine."""


def equal_lateness(entries: list[Entry], size: Size) -> None:
    """Server CPU and server instructions of a delayed job, with 50 due in a second, and how late it
    comes."""
    count = max(10, round(RATE * 4 * size.due_seconds))
    chosen = [
        (entry, setting) for entry in entries if entry.peer.delays for setting in entry.peer.curve
    ]
    print(f"equal-lateness: {count} jobs, {RATE} due in a second", flush=True)
    for entry, setting in chosen:
        entry.attempt(f"equal {setting}", _timed, entry, setting, count)
        _tell(entry, setting, "server_us", "us")
    counted = [(entry, setting) for entry, setting in chosen if entry.peer.server == "redis"]
    if not VALGRIND:
        print("  no instructions: there is no valgrind", flush=True)
        return
    print(f"equal-lateness: the same under callgrind, {AT_ONCE} at a time", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = [pool.submit(_attempt_counted, *pair, count) for pair in counted]
        for future in begun:
            future.result()


def _attempt_counted(entry: Entry, setting: str, count: int) -> None:
    entry.attempt(f"equal {setting}, instructions", _counted, entry, setting, count)
    _tell(entry, setting, "instructions", "thousand instructions")


def _timed(entry: Entry, setting: str, count: int) -> None:
    for lead in LEADS:
        with serve(entry.peer.server) as server:
            lived = live(entry.peer, server, server.usage, setting, count, RATE, lead)
        if lived:
            _keep(entry, setting, _used(lived) | spread(lived.late_ms))
            return
    raise Failed(TOO_LATE)


def _used(lived: Lived[Usage]) -> Figures:
    pushed, worked = (after - before for before, after in (lived.pushed, lived.worked))
    return {
        "server_us": 1e6 * (pushed.cpu / (lived.count - 1) + worked.cpu / lived.count),
        "scripts": worked.scripts / lived.count,
    }


def _counted(entry: Entry, setting: str, count: int) -> None:
    # The server is slower, so jobs are pushed for longer.
    for lead in (2 * seconds for seconds in LEADS):
        with counted_redis() as (redis, counter):
            # The first jobs bring scripts, which the server compiles once: they are not counted.
            if not live(entry.peer, redis, counter.read, setting, 2, RATE, lead):
                continue
            lived = live(entry.peer, redis, counter.read, setting, count, RATE, lead)
        if lived:
            pushed, worked = (after - before for before, after in (lived.pushed, lived.worked))
            thousands = {
                "push_instructions": pushed / (lived.count - 1) / 1000,
                "work_instructions": worked / lived.count / 1000,
            }
            _keep(entry, setting, thousands | {"instructions": sum(thousands.values())})
            return
    raise Failed(TOO_LATE)


def _keep(entry: Entry, setting: str, figures: Figures) -> None:
    found = entry.figures.setdefault("equal", {}).setdefault(setting, {})
    label = entry.peer.workers[setting].get("label", setting)
    found |= {"label": label} | figures


def _tell(entry: Entry, setting: str, key: str, unit: str) -> None:
    found = entry.figures.get("equal", {}).get(setting, {})
    if key in found:
        late = f", p99 {found['p99_ms']:.1f} ms" if "p99_ms" in found else ""
        print(f"  {entry.peer.key:<14}{setting}: {found[key]:.1f} {unit}{late}", flush=True)


# ---- The curve -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    key: str
    """Of the peer."""
    name: str
    setting: str
    label: str
    late_ms: float
    """p99."""
    cost: float


def points(peers: dict[str, Any], cost: str) -> list[Point]:
    """Of all peers, the settings that have both figures: how late jobs come, and what one costs."""
    return [
        Point(key, peer["name"], setting, found["label"], found["p99_ms"], found[cost])
        for key, peer in peers.items()
        for setting, found in peer.get("equal", {}).items()
        if "p99_ms" in found and cost in found
    ]


def cost_at(curve: Sequence[Point], late_ms: float) -> float:
    """What the curve costs at this lateness: its cheapest point that is no later. If all its points
    are later, the most punctual one."""
    if not curve:
        return math.inf
    punctual = [point for point in curve if point.late_ms <= late_ms]
    return min(point.cost for point in punctual or [min(curve, key=lambda point: point.late_ms)])


OWN_CURVE = "dueq-c"


def below(peers: dict[str, Any], cost: str) -> list[Point]:
    """The points of other peers on Redis that are cheaper than dueq's curve, and no later."""
    every = points(peers, cost)
    curve = [point for point in every if point.key == OWN_CURVE]
    return [
        point
        for point in every
        if not point.key.startswith("dueq-")
        and peers[point.key]["server"] == "redis"
        and point.cost < cost_at(curve, point.late_ms)
    ]
