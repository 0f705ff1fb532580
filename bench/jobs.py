"""What a delayed job costs the server in its whole life: its push, its cancel, its delivery when it
falls due, and its acknowledgement; of each peer, and of the bare commands."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import machine
from adapters import Absent, Failed, Peer
from compare import Entry, figures_of, medians, timed, timed_by
from life import step
from machine import Figures
from measures import Outcome, spread
from servers import Redis, Server, Usage, serve
from size import Size

T = TypeVar("T")

RATE = 500
"""Jobs that fall due in a second."""
SETTINGS = ("one", "best", "slack-50")
"""The settings in the table of delayed jobs. A peer may have no `slack-50`."""
LEADS = (5.0, 12.0, 30.0)
"""Seconds from before the push until the first job is due, each tried when the one before was too
short."""


def delayed_jobs(entries: list[Entry], size: Size) -> None:
    """The server's CPU time and commands, with 500 jobs due in a second."""
    count = max(2, round(RATE * size.due_seconds))
    for number in range(1, size.rounds + 1):
        print(f"delayed-jobs: round {number}: {count} jobs, {RATE} due in a second", flush=True)
        for entry in entries:
            if not entry.peer.delays:
                continue
            for setting in (name for name in SETTINGS if name in entry.peer.workers):
                some = entry.peer.trial(setting, count)
                entry.attempt(f"delayed {setting}", _live, entry, setting, some)
            entry.attempt("delayed cancel", _cancel, entry, count)
            _tell(entry)
    for entry in entries:
        summarise(entry.figures.get("delayed", {}))


def summarise(found: Figures) -> None:
    """Medians; a life is a push and what comes of it."""
    for kept in found.values():
        kept["summary"] = medians(kept["rounds"])
        summary = kept["summary"]
        pushed = summary.get("push") or found.get("one", {}).get("summary", {}).get("push")
        if pushed and "work" in summary:
            summary["life"] = {
                key: pushed[key] + summary["work"][key] for key in ("server_us", "calls")
            }


def _keep(entry: Entry, setting: str, figures: Figures) -> None:
    found = entry.figures.setdefault("delayed", {})
    found.setdefault(setting, {"rounds": []})["rounds"].append(figures)


def _live(entry: Entry, setting: str, count: int) -> None:
    rounds = entry.figures.get("delayed", {}).get(setting, {}).get("rounds", [])
    known = [figures["lead"] for figures in rounds]
    for lead in (*known[-1:], *LEADS):
        with serve(entry.peer.server) as server:
            lived = live(entry.peer, server, server.usage, setting, count, RATE, lead)
        if lived:
            _keep(entry, setting, _figures(lived))
            return
    raise Failed(TOO_LATE)


TOO_LATE = "the jobs were due before they were enqueued and a worker was there"


@dataclass(frozen=True)
class Lived(Generic[T]):
    """Jobs that were pushed, fell due and were handled, and what `read` told before and after."""

    count: int
    no_bulk: str | None
    """Why they were pushed one by one."""
    pushed: tuple[T, T]
    """Around the pushes of all jobs but the first."""
    told: dict[str, Any]
    """What the pushing adapter said."""
    worked: tuple[T, T]
    """From before the worker started until it had ended."""
    late_ms: list[float]
    seconds: float
    """From the first due time until the last job was handled."""
    lead: float
    """How long a next round may wait until the first job is due."""


def live(
    peer: Peer,
    server: Server,
    read: Callable[[], T],
    setting: str,
    count: int,
    rate: int,
    lead: float,
) -> Lived[T] | None:
    """The life of delayed jobs, of which `rate` fall due in a second. None: a worker was ready for
    them only after `lead` seconds, when the first was due."""
    spread_ms = count * 1000 / rate
    begin = time.time()
    base = begin + lead
    words = ("delay", count, round(spread_ms), round(base * 1000))
    no_bulk = None
    way = "one" if setting == "one" else "bulk"
    try:
        told, begun, ended = timed_by(peer, server, read, lead + 30, *words, way)
    except Absent as error:
        no_bulk = str(error)
        told, begun, ended = timed_by(peer, server, read, lead + 30, *words, "one")
    if time.time() > base:
        return None
    # What a worker does before jobs are due belongs to their life: some take them already.
    before = read()
    with peer.start(server.environment(), "listen", count, setting) as worker:
        worker.await_worker(setting)
        # Some workers say that they are ready before they wait.
        if time.time() + 1.5 > base:
            return None
        # The next round waits no longer than it must.
        next_lead = 2.0 + 1.5 * (time.time() - begin)
        left = base + spread_ms / 1000 - time.time()
        late_ms: list[float] = worker.expect("late_ms", left + 30)["late_ms"]
        worker.finish()
    return Lived(
        count=count,
        no_bulk=no_bulk,
        pushed=(begun, ended),
        told=told,
        worked=(before, read()),
        late_ms=late_ms,
        seconds=(spread_ms + max(late_ms)) / 1000,
        lead=next_lead,
    )


def _figures(lived: Lived[Usage]) -> Figures:
    """A peer without a way for many pushes one by one: the setting `one` has those figures."""
    figures: Figures = {"jobs": lived.count, "lead": lived.lead}
    if lived.no_bulk is None:
        used = lived.pushed[1] - lived.pushed[0]
        figures["push"] = figures_of(lived.told, lived.told["count"], lived.told["seconds"], used)
    else:
        figures["no_bulk"] = lived.no_bulk
    used = lived.worked[1] - lived.worked[0]
    worked = figures_of({}, lived.count, lived.seconds, used)
    return figures | {"work": worked | spread(lived.late_ms)}


def _cancel(entry: Entry, count: int) -> None:
    with serve(entry.peer.server) as server:
        figures = {"jobs": count, "cancel": timed(entry.peer, server, 60, "cancel", count)}
    _keep(entry, "cancel", figures)


def _tell(entry: Entry) -> None:
    cells = []
    for setting, kept in entry.figures.get("delayed", {}).items():
        latest = kept["rounds"][-1]
        for verb in ("push", "work", "cancel"):
            if verb in latest:
                us, calls = latest[verb]["server_us"], latest[verb]["calls"]
                name = verb if verb == setting else f"{verb} {setting}"
                cells.append(f"{name} {us:.1f} us {calls:.1f} commands")
    if cells:
        print(f"  {entry.peer.key:<14}{', '.join(cells)}", flush=True)


# ---- The bare commands -------------------------------------------------------------------------


def bare(size: Size) -> Outcome:
    """The same of the commands that dueq's scripts stand for, sent by a client that knows when to:
    one by one, and at its best 100 a push and what fell due in 20 ms a delivery."""
    count = max(10, round(RATE * size.due_seconds))
    print(f"bare: {size.rounds} rounds of {count} delayed messages by bare commands", flush=True)
    found: Figures = {"one": {"rounds": []}, "best": {"rounds": []}, "cancel": {"rounds": []}}
    with machine.server() as socket:
        redis = Redis(socket, 0)
        for _ in range(size.rounds):

            def cost(name: str, batch: int) -> Figures:
                before, after = step(socket, "bare", name, batch, count, redis.usage)
                used = after - before
                return {"server_us": used.cpu * 1e6 / count, "calls": used.calls / count}

            for setting, push, due in (("one", 1, 1), ("best", 100, 10)):
                figures = {"push": cost("push", push), "work": cost(f"falling-{RATE}", due)}
                found[setting]["rounds"].append({"jobs": count} | figures)
            found["cancel"]["rounds"].append({"jobs": count, "cancel": cost("cancel", 1)})
        redis.close()
    summarise(found)
    for setting in ("one", "best"):
        lived = found[setting]["summary"]["life"]
        print(f"{'':<10}{setting:<21}{lived['server_us']:.1f} us, {lived['calls']:.1f} commands")
    print()
    return {"name": "bare commands", "delayed": found}, []
