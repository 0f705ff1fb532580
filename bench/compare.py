"""What every peer is measured by, dueq in C, Python and PHP like the others: throughput, bytes and
lateness."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, ParamSpec, TypeVar

from adapters import START_SECONDS, Absent, Failed, Peer
from machine import Figures
from measures import spread
from servers import Server, Usage, serve
from size import Size

P = ParamSpec("P")
T = TypeVar("T")

HOUR_MS = 3_600_000
LOAD = 2000
"""Jobs due in a second, of the lateness under load."""


@dataclass
class Entry:
    """A peer, and what was found out about it."""

    peer: Peer
    figures: dict[str, Any] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """By measure: what went wrong."""
    cannot: dict[str, str] = field(default_factory=dict)
    """By measure: why the peer has no such thing."""

    def attempt(
        self, measure: str, take: Callable[P, None], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Takes a measure, unless it has failed before; a failure is kept, and others go on."""
        if measure in self.failed or measure in self.cannot:
            return
        try:
            take(*args, **kwargs)
        except Absent as error:
            self.cannot[measure] = str(error)
            print(f"  {self.peer.key:<14}{measure}: cannot: {error}", flush=True)
        except (Failed, RuntimeError, OSError) as error:
            self.failed[measure] = str(error)
            print(f"  {self.peer.key:<14}{measure}: FAILED: {error}", flush=True)


# ---- Enqueue and consume -----------------------------------------------------------------------


def throughput(entries: list[Entry], size: Size) -> None:
    """Enqueues and consumes: one at a time, and by the best documented ways."""
    for number in range(size.rounds + 1):
        print(f"throughput: {f'round {number}' if number else 'trial'}", flush=True)
        for entry in entries:
            with serve(entry.peer.server) as server:
                for ways in (("one", "one"), ("bulk", "best")):
                    name = f"throughput {ways[1]}"
                    entry.attempt(name, _pass, entry, server, ways, number, size)
            if number:
                _tell(entry)
    for entry in entries:
        for found in entry.figures.get("throughput", {}).values():
            found["summary"] = medians(found["rounds"])


def _pass(entry: Entry, server: Server, ways: tuple[str, str], number: int, size: Size) -> None:
    found = entry.figures.setdefault("throughput", {})
    count = least = entry.peer.trial(ways[1], size.trial)
    if number:
        trial = found[ways[1]]["latest"]
        slower = min(trial[verb]["rate"] for verb in ("push", "work") if verb in trial)
        count = round(min(max(slower * size.seconds, least), size.most))
    figures: Figures = {"jobs": count}
    deadline = START_SECONDS + 20 * size.seconds
    server.flush()
    try:
        figures["push"] = _push(entry.peer, server, count, ways[0], deadline)
    except Absent as error:
        figures["no_bulk"] = str(error)
        _push(entry.peer, server, count, "one", deadline)
    figures["work"] = worked(entry.peer, server, deadline, "work", count, ways[1])
    kept = found.setdefault(ways[1], {"rounds": []})
    kept["latest"] = figures
    if number:
        kept["rounds"].append(figures)


def _push(peer: Peer, server: Server, count: int, way: str, deadline: float) -> Figures:
    return timed(peer, server, deadline, "push", count, way)


def timed(peer: Peer, server: Server, deadline: float, *words: str | int) -> Figures:
    """What a command of an adapter costs that waits until it is told to go."""
    told, before, after = timed_by(peer, server, server.usage, deadline, *words)
    return figures_of(told, told["count"], told["seconds"], after - before)


def timed_by(
    peer: Peer, server: Server, read: Callable[[], T], deadline: float, *words: str | int
) -> tuple[dict[str, Any], T, T]:
    """What the adapter says, and what `read` tells before and after its command."""
    with peer.start(server.environment(), *words) as adapter:
        adapter.expect("ready", START_SECONDS)
        before = read()
        adapter.go()
        told = adapter.expect("count", deadline)
        adapter.finish()
        return told, before, read()


def worked(
    peer: Peer, server: Server, deadline: float, verb: str, count: int, setting: str, *words: str
) -> Figures:
    """What it costs that a worker consumes so many jobs. verb: the command of the adapter."""
    before = server.usage()
    with peer.start(server.environment(), verb, count, setting, *words) as adapter:
        adapter.await_worker(setting)
        told = adapter.expect("last", deadline)
        adapter.finish()
        if told["count"] != count:
            raise Failed(f"{verb}: {told['count']} jobs instead of {count}")
        return figures_of(told, count - 1, told["last"] - told["first"], server.usage() - before)


def figures_of(told: dict[str, Any], count: int, seconds: float, usage: Usage) -> Figures:
    figures = {
        "rate": count / seconds,
        "server_us": usage.cpu * 1e6 / count,
        "calls": usage.calls / count,
        "reads": usage.reads / count,
    }
    if "cpu" in told:
        figures["client_us"] = told["cpu"] * 1e6 / count
    return figures


def medians(rounds: list[Figures]) -> Figures:
    """The medians of the rounds, for each verb that was measured."""
    summary: Figures = {"jobs": median(figures["jobs"] for figures in rounds)}
    for verb in ("push", "work", "ask", "cancel"):
        told = [figures[verb] for figures in rounds if verb in figures]
        if told:
            summary[verb] = {key: median(one[key] for one in told) for key in told[0]}
    for figures in rounds:
        if "no_bulk" in figures:
            summary["no_bulk"] = figures["no_bulk"]
    return summary


def _tell(entry: Entry) -> None:
    cells = [
        f"{verb} {way} {found['latest'][verb]['rate']:,.0f}"
        for verb in ("push", "work")
        for way, found in entry.figures.get("throughput", {}).items()
        if verb in found["latest"]
    ]
    if cells:
        print(f"  {entry.peer.key:<14}{', '.join(cells)} a second", flush=True)


# ---- Bytes -------------------------------------------------------------------------------------


def stored(entries: list[Entry], size: Size) -> None:
    """The server's bytes for a job of 200 bytes, ready and delayed."""
    print(f"stored: {size.stored} jobs", flush=True)
    for entry in entries:
        with serve(entry.peer.server) as server:
            for state in ("ready", "delayed"):
                entry.attempt(f"stored {state}", _stored, entry, server, state, size)
        print(f"  {entry.peer.key:<14}{entry.figures.get('stored', {})}", flush=True)


def _stored(entry: Entry, server: Server, state: str, size: Size) -> None:
    # Resident memory, which is all that some servers tell, is counted in pages.
    count = size.stored * (1 if entry.peer.server == "redis" else 8)
    server.flush()
    environment = server.environment()

    def fill(count: int) -> None:
        if state == "ready":
            entry.peer.fill(environment, count)
        else:
            entry.peer.delay(environment, count, 1000.0, time.time() * 1000 + HOUR_MS)

    fill(1)  # with the first come scripts and keys, which are no job's
    before = server.memory()
    fill(count)
    bytes_a_job = (server.memory() - before) / count
    entry.figures.setdefault("stored", {})[state] = round(bytes_a_job, 1)


# ---- Lateness ----------------------------------------------------------------------------------


def delays(entries: list[Entry], size: Size) -> None:
    """How late delayed jobs come: on an idle queue, and when 2,000 are due in a second."""
    kinds = {"idle": (size.late, size.late * 21.7)}
    if size.load_seconds:
        kinds["load"] = (round(LOAD * size.load_seconds), size.load_seconds * 1000)
    for number in range(1, size.rounds + 1):
        for kind, (count, spread_ms) in kinds.items():
            print(
                f"delays: round {number}, {kind}: {count} in {spread_ms / 1000:.1f} s", flush=True
            )
            for entry in entries:
                entry.attempt(f"delays {kind}", _late, entry, kind, count, spread_ms)
    _pool(entries)


def pressed(entries: list[Entry], size: Size) -> None:
    """The lateness of dueq's three when 2,000 are due in a second and busy loops want every CPU."""
    count, spread_ms = round(LOAD * size.load_seconds), size.load_seconds * 1000
    with _busy():
        for number in range(1, size.rounds + 1):
            print(f"pressed: round {number}: {count} in {spread_ms / 1000:.1f} s", flush=True)
            for entry in entries:
                if entry.peer.ours:
                    entry.attempt("delays pressed", _late, entry, "pressed", count, spread_ms)
    _pool(entries)


@contextmanager
def _busy() -> Iterator[None]:
    loop = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in loops:
            process.kill()
            process.wait()


def _pool(entries: list[Entry]) -> None:
    """Percentiles of all rounds' jobs together."""
    for entry in entries:
        for found in entry.figures.get("delays", {}).values():
            pooled = [value for values in found["late_ms"] for value in values]
            found["summary"] = spread(pooled) | {
                "jobs": len(pooled),
                "early": sum(value < 0 for value in pooled),
                "earliest_ms": min(pooled),
            }


def _late(entry: Entry, kind: str, count: int, spread_ms: float) -> None:
    known = [found["latest"] for found in entry.figures.get("throughput", {}).values()]
    consumed = max((figures["work"]["rate"] for figures in known), default=None)
    if kind == "load" and consumed and consumed < LOAD:
        raise Absent(f"one worker consumes {consumed:,.0f} a second")
    enqueued = min(
        (figures["push"]["rate"] for figures in known if "push" in figures), default=1000
    )
    late_ms: list[float] = []
    for lead in (1.5 + 1.5 * count / enqueued, 5.0 + count / 500, 15.0 + count / 100):
        with serve(entry.peer.server) as server:
            late_ms = _listen(entry.peer, server, count, spread_ms, lead)
        if late_ms:
            break
    else:
        raise Failed("delay: the jobs were not enqueued before they were due")
    found = entry.figures.setdefault("delays", {}).setdefault(kind, {"late_ms": []})
    found["late_ms"].append(late_ms)
    told = " ".join(f"{name} {value:.1f}" for name, value in spread(late_ms).items())
    print(f"  {entry.peer.key:<14}{told}", flush=True)


def _listen(peer: Peer, server: Server, count: int, spread_ms: float, lead: float) -> list[float]:
    """Nothing when the jobs could not be enqueued within `lead` seconds."""
    with peer.start(server.environment(), "listen", count, "one") as worker:
        worker.await_worker("one")
        time.sleep(1.0)
        base = time.time() + lead
        peer.delay(server.environment(), count, spread_ms, base * 1000)
        if time.time() > base:
            return []
        left = base + spread_ms / 1000 - time.time()
        late_ms: list[float] = worker.expect("late_ms", left + 15)["late_ms"]
        return late_ms
