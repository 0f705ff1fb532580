"""The measures that every peer takes: dueq in C, Python and PHP are peers like the others."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, ParamSpec

from adapters import Absent, Adapter, Failed, Peer
from machine import Figures
from measures import spread
from servers import Server, Traffic, Usage, serve

P = ParamSpec("P")

HOUR_MS = 3_600_000
START_SECONDS = 30
"""How long an adapter may take until it is ready."""
LOAD = 2000
"""Jobs due in a second, of the lateness under load."""
WAITING = 20
AT_ONCE = 4
"""Peers whose waiting workers are counted at the same time: the figures are counts, not times."""


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    rounds: int
    seconds: float
    """How long each push and each work should take, about."""
    trial: int
    """Jobs of the first, uncounted round, which finds how many the others need."""
    most: int
    """Jobs of a push or work at most."""
    stored: int
    """Jobs whose bytes are counted."""
    late: int
    """Delayed jobs of a round, on an idle queue."""
    load_seconds: float
    quiet_seconds: float
    waiting: int
    recovery_seconds: float
    """How long a killed worker's job is waited for; 0: not at all."""


FULL = Size(3, 1.2, 300, 100_000, 5000, 167, 3.0, 20.0, WAITING, 120.0)
QUICK = Size(1, 0.6, 300, 30_000, 2000, 100, 1.5, 6.0, WAITING, 0.0)
TINY = Size(1, 0.05, 20, 300, 200, 10, 0.0, 1.0, 2, 0.0)


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
            found["summary"] = _medians(found["rounds"])


def _pass(entry: Entry, server: Server, ways: tuple[str, str], number: int, size: Size) -> None:
    found = entry.figures.setdefault("throughput", {})
    count = least = min(size.trial, entry.peer.trials.get(ways[1], size.trial))
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
    figures["work"] = _work(entry.peer, server, count, ways[1], deadline)
    kept = found.setdefault(ways[1], {"rounds": []})
    kept["latest"] = figures
    if number:
        kept["rounds"].append(figures)


def _push(peer: Peer, server: Server, count: int, way: str, deadline: float) -> Figures:
    with peer.start(server.environment(), "push", count, way) as adapter:
        adapter.expect("ready", START_SECONDS)
        before = server.usage()
        adapter.go()
        told = adapter.expect("count", deadline)
        adapter.finish()
        return _figures(told, told["count"], told["seconds"], server.usage() - before)


def _work(peer: Peer, server: Server, count: int, setting: str, deadline: float) -> Figures:
    before = server.usage()
    with peer.start(server.environment(), "work", count, setting) as adapter:
        adapter.expect("ready", START_SECONDS)
        told = adapter.expect("last", deadline)
        adapter.finish()
        if told["count"] != count:
            raise Failed(f"work: {told['count']} jobs instead of {count}")
        return _figures(told, count - 1, told["last"] - told["first"], server.usage() - before)


def _figures(told: dict[str, Any], count: int, seconds: float, usage: Usage) -> Figures:
    figures = {
        "rate": count / seconds,
        "server_us": usage.cpu * 1e6 / count,
        "calls": usage.calls / count,
        "reads": usage.reads / count,
    }
    if "cpu" in told:
        figures["client_us"] = told["cpu"] * 1e6 / count
    return figures


def _medians(rounds: list[Figures]) -> Figures:
    summary: Figures = {"jobs": median(figures["jobs"] for figures in rounds)}
    for verb in ("push", "work"):
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
    fill = _fill_ready if state == "ready" else _fill_delayed
    fill(entry.peer, server, 1)
    before = server.memory()
    fill(entry.peer, server, count)
    bytes_a_job = (server.memory() - before) / count
    entry.figures.setdefault("stored", {})[state] = round(bytes_a_job, 1)


def _fill_ready(peer: Peer, server: Server, count: int) -> None:
    try:
        _fill(peer, server, count, "bulk")
    except Absent:
        _fill(peer, server, count, "one")


def _fill(peer: Peer, server: Server, count: int, way: str) -> None:
    with peer.start(server.environment(), "push", count, way) as adapter:
        adapter.expect("ready", START_SECONDS)
        adapter.go()
        adapter.expect("count", 120)
        adapter.finish()


def _fill_delayed(peer: Peer, server: Server, count: int) -> None:
    _delay(peer, server, count, 1000.0, time.time() * 1000 + HOUR_MS)


def _delay(peer: Peer, server: Server, count: int, spread_ms: float, base_ms: float) -> None:
    words = ("delay", count, round(spread_ms), round(base_ms))
    with peer.start(server.environment(), *words) as adapter:
        adapter.expect("pushed", 120)
        adapter.finish()


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
    for entry in entries:
        for found in entry.figures.get("delays", {}).values():
            pooled = [value for values in found["late_ms"] for value in values]
            found["summary"] = spread(pooled) | {
                "jobs": len(pooled),
                "early": sum(value < 0 for value in pooled),
                "earliest_ms": min(pooled),
            }


def _late(entry: Entry, kind: str, count: int, spread_ms: float) -> None:
    rates = [
        found["latest"]["work"]["rate"] for found in entry.figures.get("throughput", {}).values()
    ]
    if kind == "load" and rates and max(rates) < LOAD:
        raise Absent(f"one worker consumes {max(rates):,.0f} a second")
    late_ms: list[float] = []
    for lead in (2.0 + count / 1500, 4.0 + count / 200):
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
    with peer.start(server.environment(), "listen", count) as worker:
        worker.expect("ready", START_SECONDS)
        time.sleep(1.0)
        base = time.time() + lead
        _delay(peer, server, count, spread_ms, base * 1000)
        if time.time() > base:
            return []
        left = base + spread_ms / 1000 - time.time()
        late_ms: list[float] = worker.expect("late_ms", left + 15)["late_ms"]
        return late_ms


# ---- Waiting and recovery ----------------------------------------------------------------------


def waiting(entries: list[Entry], size: Size) -> None:
    """What waiting workers ask of the server, and what a job costs that comes to many of them."""
    print(f"waiting: 1 and {size.waiting} workers, {size.quiet_seconds:.0f} s each", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda entry: entry.attempt("waiting", _waiting, entry, size), entries))


def _waiting(entry: Entry, size: Size) -> None:
    found: dict[str, Any] = {"workers": size.waiting}
    for count in (1, size.waiting):
        with serve(entry.peer.server) as server, ExitStack() as stack:
            workers = _start_waiting(entry.peer, server, stack, count)
            rate = _idle(server, size.quiet_seconds)
            found["one" if count == 1 else "many"] = asdict(rate)
            if count > 1 and entry.peer.delays:
                found["delivered"] = asdict(_delivered(entry.peer, server, workers, rate))
    entry.figures["waiting"] = found
    told = ", ".join(
        f"{name} {found[name]['sent']:.2f} ({found[name]['calls']:.2f})"
        for name in ("one", "many", "delivered")
        if name in found
    )
    print(f"  {entry.peer.key:<14}commands sent (run): {told}", flush=True)


def _start_waiting(peer: Peer, server: Server, stack: ExitStack, count: int) -> list[Adapter]:
    workers = [stack.enter_context(peer.start(server.environment(), "idle")) for _ in range(count)]
    for worker in workers:
        worker.expect("ready", START_SECONDS + 3 * count)
    # What it does to get going has to be over: some begin after they say that they are ready.
    deadline = time.monotonic() + 30
    calm = 0
    while calm < 3 and time.monotonic() < deadline:
        before = server.usage()
        time.sleep(1.0)
        calm = calm + 1 if (server.usage() - before).calls < 5 * count else 0
    return workers


def _idle(server: Server, seconds: float) -> Traffic:
    """Commands a second."""
    watch, begin = server.watch(), time.monotonic()
    time.sleep(seconds)
    traffic, passed = watch.close(), time.monotonic() - begin
    return Traffic(traffic.sent / passed, traffic.calls / passed)


def _delivered(peer: Peer, server: Server, workers: list[Adapter], idle: Traffic) -> Traffic:
    """Commands for one delayed job after its push, beyond what the waiting workers ask anyway."""
    count = 5
    due = time.time() + 5
    _delay(peer, server, count, count * 500.0, due * 1000)
    if time.time() > due:
        raise Failed("waiting: the jobs were not enqueued before they were due")
    watch, begin = server.watch(), time.monotonic()
    handled = 0
    while handled < count:
        if time.monotonic() > begin + 35:
            raise Failed(f"waiting: {handled} of {count} delayed jobs came within 35 s")
        time.sleep(0.05)
        handled += sum(worker.heard("handled") for worker in workers)
    time.sleep(0.5)
    traffic, passed = watch.close(), time.monotonic() - begin
    return Traffic(
        max(0.0, (traffic.sent - idle.sent * passed) / count),
        max(0.0, (traffic.calls - idle.calls * passed) / count),
    )


def recovery(entries: list[Entry], size: Size) -> None:
    """Seconds until a message of a worker that is killed by kill -9 is delivered again."""
    if not size.recovery_seconds:
        print("recovery: not in a quick run, which would take minutes", flush=True)
        return
    print(f"recovery: all at once, {size.recovery_seconds:.0f} s at most", flush=True)
    with ThreadPoolExecutor(len(entries) or 1) as pool:
        list(pool.map(lambda entry: entry.attempt("recovery", _recovery, entry, size), entries))


def _recovery(entry: Entry, size: Size) -> None:
    with serve(entry.peer.server) as server, ExitStack() as stack:
        _fill(entry.peer, server, 1, "one")
        holder = stack.enter_context(entry.peer.start(server.environment(), "hold", 600))
        holder.expect("took", 2 * START_SECONDS)
        rescuer = stack.enter_context(entry.peer.start(server.environment(), "rescue"))
        rescuer.expect("ready", 2 * START_SECONDS)
        # A worker that is at work for some time has told the server that it lives.
        time.sleep(2.0)
        if rescuer.heard("handled"):
            raise Failed("recovery: two workers had the job at once")
        killed = holder.kill()
        seconds: float | None
        try:
            seconds = rescuer.expect("handled", size.recovery_seconds)["at"] - killed
        except Failed as error:
            if "no 'handled'" not in str(error):
                raise
            seconds = None
    entry.figures["recovery"] = {"seconds": seconds, "cap": size.recovery_seconds}
    told = f"{seconds:.1f} s" if seconds is not None else f"> {size.recovery_seconds:.0f} s"
    print(f"  {entry.peer.key:<14}{told}", flush=True)


COMPARED = {
    "throughput": throughput,
    "stored": stored,
    "delays": delays,
    "waiting": waiting,
    "recovery": recovery,
}
