#!/usr/bin/env python3
"""Measures dueq against the bare commands, and against other queues: one run, private servers.

  ./dev bench                      all peers, the targets, tables, plots: more than an hour
  ./dev bench --quick              fewer rounds and jobs
  ./dev bench --only delayed       what a delayed message costs, all of it, with its targets
  ./dev bench --only scale         what docs/scale.md is computed from
  ./dev bench --only instructions  one measure; of dueq alone: {own}
                                   of all peers: {compared}
  ./dev bench --only rq            one peer in all measures of peers: {peers}
  ./dev bench --only delays --only dueq-c --only bullmq
                                   these peers in this measure
  ./dev bench --write              also puts tables and plots into docs/
  ./dev bench --from FILE --write  the same from the figures of an earlier run

Every figure of every round goes to build/bench.json. Peers are installed into build/peers; one that
cannot be had, or that fails, is named with the reason.
"""

import argparse
import json
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adapters
import client
import compare
import durable
import equal
import fairness
import fpm
import idle_and_recovery
import jobs
import life
import machine
import measures
import results
import scale
import size
import tables
import update_docs
from report import Target, begin, conclude, save
from targets import of_peers

MEASURES = {
    "instructions": life.instructions,
    "client": client.client,
    "commands": life.commands,
    "scripts": life.scripts,
    "life": life.life,
    "bare": jobs.bare,
    "cost": measures.cost,
    "lateness": measures.lateness,
    "idle": measures.idle,
    "waking": measures.waking,
    "memory": measures.memory,
    "rpush": measures.rpush,
    "durable": durable.durable,
    "fpm": fpm.fpm,
    "partitions": scale.partitions,
    "many": scale.many,
    "consumers": scale.consumers,
    "sizing": scale.sizing,
}
COMPARED = {
    "delayed-jobs": jobs.delayed_jobs,
    "throughput": compare.throughput,
    "stored": compare.stored,
    "delays": compare.delays,
    "pressed": compare.pressed,
    "equal-lateness": equal.equal_lateness,
    "waiting": idle_and_recovery.waiting,
    "recovery": idle_and_recovery.recovery,
    "fairness": fairness.fairness,
    "results": results.results,
}
TOGETHER = {
    "delayed": {
        "instructions",
        "commands",
        "scripts",
        "waking",
        "life",
        "bare",
        "delayed-jobs",
        "pressed",
        "waiting",
        "equal-lateness",
    },
    "scale": {"partitions", "many", "consumers", "sizing"},
}
"""Names of several measures: the delayed message's, and those of docs/scale.md."""


def main() -> None:
    options, peers = _options()
    if options.packages:
        for peer in _chosen(options, peers)[0]:
            packages = peer.folder / "packages"
            if packages.exists():
                print(" ".join(packages.read_text().split()))
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)

    if options.source:
        report = json.loads(options.source.read_text())
    else:
        report, targets = measure(options, peers)
        conclude(report, targets, options.json)
    path = options.json.with_suffix(".md")
    path.write_text(tables.markdown(report))
    print(f"tables: {path}")
    if options.plots:
        import plots

        for path in plots.draw(report, options.json.parent / "bench"):
            print(f"plot: {path}")
    if options.write:
        update_docs.write(report, plots.draw(report, update_docs.PLOTS))
        print(f"written: {update_docs.PAGE}")
    wrong = [key for key, peer in report.get("peers", {}).items() if _broke(key, peer)]
    if wrong:
        sys.exit(f"dueq's own measures failed: {', '.join(wrong)}")


def _options() -> tuple[argparse.Namespace, dict[str, adapters.Peer]]:
    peers = adapters.peers()
    names = [*TOGETHER, *MEASURES, *COMPARED, *peers]
    assert __doc__
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description=__doc__.format(
            own=" ".join(MEASURES), compared=" ".join(COMPARED), peers=" ".join(peers)
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller queues")
    parser.add_argument("--tiny", action="store_true", help="only to see that all of it runs")
    parser.add_argument(
        "--only",
        choices=names,
        action="append",
        metavar="NAME",
        help="a measure or a peer; repeatable",
    )
    parser.add_argument("--packages", action="store_true", help="only name what peers need")
    parser.add_argument("--peers", type=Path, help="a folder of other peers' adapters")
    parser.add_argument("--json", type=Path, default=machine.ROOT / "build/bench.json")
    parser.add_argument("--from", type=Path, dest="source", help="figures of an earlier run")
    parser.add_argument("--write", action="store_true", help="tables and plots into docs/")
    parser.add_argument("--no-plots", action="store_false", dest="plots", help="tables alone")
    options = parser.parse_args()
    if not machine.DRIVER.exists():
        parser.error(f"{machine.DRIVER} is not built: run ./dev bench")
    if options.peers:
        peers = adapters.peers(options.peers)
    if options.plots and not options.packages and not find_spec("matplotlib"):
        parser.error("there is no matplotlib: run ./dev bench, or with --no-plots")
    if options.write and not options.plots:
        parser.error("--write needs the plots")
    if options.write and options.only:
        parser.error("--write is of a whole run, not with --only")
    return options, peers


def _end(number: int, _: object) -> None:
    """Leaves no adapter and no server behind."""
    signal.signal(number, signal.SIG_DFL)
    adapters.end_all()
    sys.exit(128 + number)


def _broke(key: str, peer: dict[str, Any]) -> bool:
    return key.startswith("dueq-") and bool(peer.get("failed") or "absent" in peer)


def _chosen(
    options: argparse.Namespace, peers: dict[str, adapters.Peer]
) -> tuple[list[adapters.Peer], list[str], list[str]]:
    """The peers, if any is to be compared, the measures of peers, and those of the driver."""
    only = set(options.only or ())
    for name in only & TOGETHER.keys():
        only |= TOGETHER[name]
    chosen = [peers[name] for name in peers if name in only or not only & peers.keys()]
    compared = [name for name in COMPARED if name in only]
    own = [name for name in MEASURES if name in only]
    if not compared and not own:
        compared = list(COMPARED)
        own = [] if only else list(MEASURES)
    if compared and {*compared} <= {"fairness", "results"}:
        fair, keeps = "fairness" in compared, "results" in compared
        chosen = [each for each in chosen if (fair and each.fair) or (keeps and each.results)]
    return chosen if compared else [], compared, own


def measure(
    options: argparse.Namespace, peers: dict[str, adapters.Peer]
) -> tuple[dict[str, Any], list[Target]]:
    chosen, compared, own = _chosen(options, peers)
    extent = size.TINY if options.tiny else size.QUICK if options.quick else size.FULL

    report = begin(options.quick)
    print(
        f"{report['machine']['cpus']} x {report['machine']['cpu']}, load {os.getloadavg()[0]:.2f}\n"
    )
    targets: list[Target] = []
    for name in own:
        report[name], more = MEASURES[name](extent)
        targets += more
        save(report, options.json)
    if compared:
        entries = install(chosen, report)
        for name in compared:
            COMPARED[name](entries, extent)
            for entry in entries:
                told = report["peers"][entry.peer.key]
                told |= {**entry.figures, "failed": entry.failed, "cannot": entry.cannot}
            save(report, options.json)
        targets += of_peers(
            report,
            whole=not options.only and not options.quick,
            delayed=set(options.only or ()) == {"delayed"},
        )
    return report, targets


def install(chosen: list[adapters.Peer], report: dict[str, Any]) -> list[compare.Entry]:
    """The peers that can be had; the report names all of them."""
    entries: list[compare.Entry] = []
    report["peers"] = {}
    print("peers", flush=True)
    for peer in chosen:
        told = {"name": peer.name, "language": peer.language, "server": peer.server}
        told |= {"configuration": peer.configuration, "best": peer.best}
        report["peers"][peer.key] = told | {"keeps_until_ack": peer.keeps_until_ack}
        try:
            version = peer.install()
        except adapters.Absent as error:
            report["peers"][peer.key]["absent"] = str(error)
            print(f"  {peer.key:<14}absent: {error}", flush=True)
            continue
        report["peers"][peer.key]["version"] = version
        entries.append(compare.Entry(peer))
        print(f"  {peer.key:<14}{version}", flush=True)
    return entries


if __name__ == "__main__":
    main()
