"""What a task costs whose result is kept and asked for, beside the same task without a result."""

from adapters import START_SECONDS, Adapter
from compare import Entry, figures_of, medians, worked
from machine import Figures
from servers import Server, serve
from size import Size

KINDS = ("plain", "kept")
VERBS = ("push", "work", "ask")
TITLES = {"plain": "without results", "kept": "with results"}


def results(entries: list[Entry], size: Size) -> None:
    """One producer, and one worker that handles one task at a time. The producer then asks for the
    results, one after the other: all are there."""
    for number in range(1, size.rounds + 1):
        print(f"results: round {number}: {size.results} tasks", flush=True)
        for entry in entries:
            if entry.peer.results:
                for kind in KINDS:
                    entry.attempt(f"results {kind}", _round, entry, kind, size.results)
                _tell(entry)
    for entry in entries:
        for found in entry.figures.get("results", {}).values():
            found["summary"] = medians(found["rounds"])


def _round(entry: Entry, kind: str, count: int) -> None:
    peer, setting = entry.peer, entry.peer.results
    deadline = START_SECONDS + count * 0.05
    with (
        serve(peer.server) as server,
        peer.start(server.environment(), "tasks", count, kind) as producer,
    ):
        figures: Figures = {"jobs": count, "push": _step(producer, server, deadline)}
        figures["work"] = worked(peer, server, deadline, "run", count, setting, kind)
        if kind == "kept":
            figures["ask"] = _step(producer, server, deadline)
        producer.finish()
    found = entry.figures.setdefault("results", {})
    found.setdefault(kind, {"rounds": []})["rounds"].append(figures)


def _step(producer: Adapter, server: Server, deadline: float) -> Figures:
    """What the producer's next step costs."""
    producer.expect("ready", START_SECONDS)
    before = server.usage()
    producer.go()
    told = producer.expect("count", deadline)
    return figures_of(told, told["count"], told["seconds"], server.usage() - before)


def _tell(entry: Entry) -> None:
    for kind, found in entry.figures.get("results", {}).items():
        latest = found["rounds"][-1]
        cells = [
            f"{verb} {latest[verb]['rate']:,.0f} a second, {latest[verb]['server_us']:.1f} us"
            for verb in VERBS
            if verb in latest
        ]
        print(f"  {entry.peer.key:<14}{kind}: {', '.join(cells)}", flush=True)
