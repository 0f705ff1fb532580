"""
A rolling upgrade: producers and workers of the version before and of this one on one server.

The version before is the newest tag `v...` behind the last commit, or, where there is none, the
commit in BEFORE. It is built from the history of this checkout, into build/before.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))

from private_server import Server  # noqa: E402

PATIENCE = 60.0


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@dataclass(frozen=True)
class Version:
    name: str
    python: str
    shell: str

    def run(self, *words: str, url: str) -> str:
        """A command of this version's shell."""
        done = subprocess.run(
            [self.shell, *words, "--url", url], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{self.name}: {words}: {done.stdout}{done.stderr}"
        return done.stdout


NOW = Version("now", sys.executable, str(ROOT / "build/bin/dueq"))


@pytest.fixture(scope="module")
def before() -> Version:
    setup = ". dev.d/setup.sh && steps before"
    environment = {**os.environ, "ROOT": str(ROOT)}
    subprocess.run(["bash", "-c", setup], cwd=ROOT, env=environment, check=True)
    built = ROOT / "build/before"
    return Version("before", str(built / "venv/bin/python"), str(built / "cmake/dueq"))


class Member:
    """A process, and its ledger."""

    def __init__(self, version: Version, role: str, number: int, server: Server) -> None:
        self.version, self.role = version, role
        self.name = f"{version.name} {role} {number}"
        self.ledger = server.directory / self.name
        self.ledger.touch()
        words = [version.python, str(HERE / "peer.py"), role, self.name, str(self.ledger)]
        if role == "shell":
            words = [version.shell, "work", "orders", "far", "--lease", "3s"]
            words += ["--", "sh", str(HERE / "handle.sh"), str(self.ledger)]
        with (server.directory / "errors").open("ab") as errors:
            environment = {**os.environ, "DUEQ_URL": server.url}
            self.process = subprocess.Popen(words, env=environment, stderr=errors)

    def lines(self) -> list[dict[str, Any]]:
        text = self.ledger.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def works(self) -> None:
        """Returns when it has done some work."""

        def does() -> bool:
            assert self.process.poll() is None, self.name
            return sum(line["what"] in ("done", "pushed") for line in self.lines()) >= 10

        until(does, f"{self.name} does nothing")

    def holds(self, id: str) -> bool:
        return any((line["what"], line["id"]) == ("start", id) for line in self.lines())

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0, self.name

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Deployment:
    """Three workers, which are replaced one at a time, and a producer or two."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.all: list[Member] = []
        self.workers: list[Member] = []

    def start(self, version: Version, role: str) -> Member:
        member = Member(version, role, len(self.all), self.server)
        self.all.append(member)
        return member

    def replace(self, place: int, version: Version) -> None:
        """The new one works before the old one ends."""
        old = self.workers[place]
        self.workers[place] = self.start(version, old.role)
        self.workers[place].works()
        old.stop()

    def crash(self, id: str, version: Version) -> None:
        """Kills the worker that holds a message, and starts one of a version in its place."""
        version.run("push", "orders", "hang", "--id", id, url=self.server.url)
        until(lambda: any(worker.holds(id) for worker in self.workers), f"nobody takes {id}")
        [place] = [n for n, worker in enumerate(self.workers) if worker.holds(id)]
        old = self.workers[place]
        old.kill()
        self.workers[place] = self.start(version, old.role)

    def counts(self, queue: str) -> dict[str, int]:
        stats = json.loads(NOW.run("stats", queue, "--json", url=self.server.url))
        return {name: stats[name] for name in ("ready", "delayed", "leased", "dead", "outbox")}

    def ticks(self) -> bool:
        """Have the workers of now done a job of the schedule?"""
        done = [line["id"] for worker in self.workers for line in worker.lines()]
        return any(id.startswith("tick:") for id in done)

    def end(self) -> None:
        for member in self.all:
            member.kill()

    def is_empty(self) -> bool:
        return not any(sum(self.counts(queue).values()) for queue in ("orders", "chains", "far"))


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with Server() as server:
        made = Deployment(server)
        with ExitStack() as stack:
            stack.callback(made.end)
            yield made


class Ledger:
    def __init__(self, members: list[Member]) -> None:
        self.due: dict[str, int] = {}
        self.pushed_by: dict[str, str] = {}
        self.refused: list[str] = []
        self.done_by = defaultdict[str, list[str]](list)
        self.started_by = defaultdict[str, list[str]](list)
        self.first = dict[str, int]()
        for member in members:
            for line in member.lines():
                self._note(member.version.name, line)

    def _note(self, version: str, line: dict[str, Any]) -> None:
        id = line["id"]
        if line["what"] == "pushed":
            # One that was made anew after a crash is the same.
            self.due[id], self.pushed_by[id] = line["due"], version
        elif line["what"] == "refused":
            self.refused.append(id)
        elif line["what"] == "start":
            self.started_by[id].append(version)
            self.first[id] = min(line["at"], self.first.get(id, line["at"]))
        else:
            self.done_by[id].append(version)

    @cached_property
    def ticks(self) -> list[int]:
        return sorted(int(id.split(":")[1]) for id in self.done_by if id.startswith("tick:"))

    @property
    def lost(self) -> list[str]:
        return [id for id in self.pushed_by if not self.done_by[id]]

    @property
    def doubled(self) -> list[str]:
        return [id for id, versions in self.done_by.items() if len(versions) > 1]

    @property
    def early(self) -> list[str]:
        due = {**self.due, **{f"tick:{time}": time for time in self.ticks}}
        return [id for id, time in due.items() if id in self.first and self.first[id] < time]

    @property
    def crossed(self) -> int:
        """Pushed by one version and done by the other."""
        return sum(set(self.done_by[id]) != {version} for id, version in self.pushed_by.items())

    @property
    def retried(self) -> int:
        """Failed with one version and done with the other."""
        return sum(len(set(versions)) > 1 for versions in self.started_by.values())


@pytest.mark.slow
def test_rolling_upgrade_and_downgrade(
    before: Version, deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    url = deployment.server.url
    producers = [deployment.start(before, "produce")]
    deployment.workers = [deployment.start(before, role) for role in ("work", "work", "shell")]
    for worker in deployment.workers:
        worker.works()
    for version, other in ((NOW, before), (before, NOW)):
        producers.append(deployment.start(version, "produce"))
        for place in range(3):
            deployment.replace(place, version)
            if place == 1:
                deployment.crash(f"hang {version.name}", version)
        other.run("kick", "orders", "--all", url=url)
        version.run("check", "orders", url=url)
        until(deployment.ticks, f"the schedule stands still in {version.name}")
    for producer in producers:
        producer.stop()
    NOW.run("schedule", "remove", "orders", "tick", url=url)

    def drained() -> bool:
        before.run("kick", "orders", "--all", url=url)
        return deployment.is_empty()

    until(drained, "messages are left")
    for version in (before, NOW):
        for queue in ("orders", "chains", "far"):
            version.run("check", queue, url=url)
    for worker in deployment.workers:
        worker.stop()

    ledger = Ledger(deployment.all)
    built = (ROOT / "build/before/version").read_text(encoding="utf-8").strip()
    with capsys.disabled():
        print(
            f"\nupgrade: before={built} messages={len(ledger.pushed_by)} ticks={len(ledger.ticks)}"
            f" crossed={ledger.crossed} retried={ledger.retried} refused={len(ledger.refused)}"
            f" lost={len(ledger.lost)} doubled={len(ledger.doubled)} early={len(ledger.early)}"
        )
    assert (ledger.lost, ledger.doubled, ledger.early) == ([], [], [])
    assert ledger.ticks == list(range(ledger.ticks[0], ledger.ticks[-1] + 1, 1000))
    assert ledger.crossed
    assert ledger.retried
    # Both versions push the same ids that are unique.
    assert ledger.refused
    for version in (before, NOW):
        assert len(ledger.done_by[f"hang {version.name}"]) == 1
