"""What all chaos runs have: their options, the folder of their ledgers, what they print."""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crew import ROOT
from kinds import AnyVerdict

import dueq
import private_server


class Progress:
    """A line every few seconds."""

    def __init__(self, text: Callable[[], str]) -> None:
        self.text = text
        self.begin = time.monotonic()
        self.next = self.begin + 2

    def show(self, faults: int) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + 5
        try:
            text = self.text()
        except dueq.Error:
            return
        print(f"{now - self.begin:5.0f} s  {faults} faults  {text}", flush=True)


def report(verdict: AnyVerdict, folder: Path) -> None:
    print("", *verdict.summary(), sep="\n")
    failures = ", ".join(f"{name} {count}" for name, count in sorted(verdict.errors.items()))
    print(f"failed calls by status and verb: {failures or 'none'}")
    for name, marks in verdict.broken().items():
        if marks:
            print(f"\n{name}: {len(marks)}")
        for mark in marks[:5]:
            print(f"  {mark}")
            for line in story(folder, mark) if name != "odd" else []:
                print(f"    {line}")


def story(folder: Path, mark: str) -> list[str]:
    """All that the ledgers say of a mark."""
    lines = []
    for path in sorted(folder.glob("*.ledger")):
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.split(" ")[1:2] == [mark]:
                lines.append(f"{path.stem}: {line}")
    return lines


def options_of(program: str, about: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program, description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the faults go on")
    parser.add_argument("--seed", type=int, help="of the faults and the workers; default: any")
    parser.add_argument(
        "--server", default=private_server.PROGRAM, help="redis-server, valkey-server"
    )
    parser.add_argument("--rate", type=float, help="messages a second at most")
    parser.add_argument(
        "--ledgers",
        type=Path,
        metavar="FOLDER",
        help="default: a new one in build, removed when the exit status is 0",
    )
    return parser


def main_of(
    parser: argparse.ArgumentParser, name: str, run: Callable[[argparse.Namespace], int]
) -> None:
    """Runs it with its options, and ends with its status."""
    options = parser.parse_args()
    private_server.PROGRAM = options.server
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(31)
    for ending in (signal.SIGTERM, signal.SIGHUP):  # what was started gets ended, too
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    own = not options.ledgers
    if own:
        runs = ROOT / "build" / name
        runs.mkdir(parents=True, exist_ok=True)
        options.ledgers = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=runs))
    shutil.rmtree(options.ledgers, ignore_errors=True)
    options.ledgers.mkdir(parents=True)
    status = run(options)
    if own and status == 0:
        shutil.rmtree(options.ledgers)
    sys.exit(status)
