"""A Prometheus that scrapes `dueq metrics`: its alerts on stuck queues, and the dashboard."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest

from private_server import Server

from .program import Program, said
from .prometheus import MONITORING, PATIENCE, Prometheus, prometheus
from .stuck_queues import WAYS
from .test_cli_metrics import port_of
from .test_cli_workers import register

# The alert that says it, and what it says, with the name of the queue or of the server.
ALERTS = {
    "no workers": ("DueqActNow", "The queue {} needs a person now: nobody"),
    "a poison message": ("DueqActNow", "The queue {} needs a person now: poison"),
    "a slow handler": ("DueqActNow", "The queue {} needs a person now: hung"),
    "a paused queue": ("DueqPaused", "The queue {} is paused"),
    "a lost dead-letter queue": ("DueqActNow", "The queue {} needs a person now: outbox"),
    "Redis full": ("DueqMemoryFull", "The memory of the server {} is full, or nearly"),
}
# A queue or a group at its limit is as somebody wanted it: no alert.
STUCK = {way: WAYS[way] for way in ALERTS}


def named(way: str) -> str:
    return way.replace(" ", "-")


@contextmanager
def serving(dueq: Program) -> Iterator[int]:
    """`dueq metrics --listen`, and the port of it."""
    words = ["setpriv", "--pdeathsig", "KILL", dueq.path, "metrics", "--listen", "0"]
    with subprocess.Popen(words, env=dueq.environment, stderr=subprocess.PIPE) as process:
        yield port_of(said(process))
        process.terminate()


def work_once(dueq: Program, queue: str) -> None:
    """A worker that has done a message of it, and ended."""
    dueq("push", queue, "x")
    with dueq.start("work", queue, "--", "true") as process:
        dueq.until(lambda: dueq.stats(queue)["acked"] == 1)
        process.terminate()
        process.communicate(timeout=60)


class Stuck(NamedTuple):
    seen: Prometheus
    server: Server
    fired: dict[str, tuple[float, dict[str, str]]]
    """Of each way: after how many seconds its alert fired, and what that says."""

    def labels(self, way: str) -> dict[str, str]:
        return {"server": self.server.url} if way == "Redis full" else {"queue": named(way)}

    def look(self, since: float) -> None:
        """Waits for the alerts of all ways."""
        while len(self.fired) < len(STUCK) and time.monotonic() < since + PATIENCE:
            for alert in self.seen.alerts():
                for way, (name, _) in ALERTS.items():
                    wanted = {"alertname": name, **self.labels(way)}.items()
                    if way not in self.fired and wanted <= alert["labels"].items():
                        self.fired[way] = time.monotonic() - since, alert["annotations"]
            time.sleep(0.2)


@pytest.fixture(scope="module")
def stuck() -> Iterator[Stuck]:
    """Six queues that worked before, and are stuck, each in its way; they have its name."""
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path
    with Server() as server, ExitStack() as stack:
        dueq = Program(path, server.url)
        port = stack.enter_context(serving(dueq))
        seen = stack.enter_context(prometheus(f"127.0.0.1:{port}"))
        for way in STUCK:
            work_once(dueq, named(way))
        register(server, "gone", queue="no-workers", seen_ms=90_000)
        seen.until(f"count(dueq_acked_total == 1) == {len(STUCK)}")
        since = time.monotonic()
        for way, stage in STUCK.items():
            stack.enter_context(stage(dueq, server, named(way)))
        found = Stuck(seen, server, {})
        found.look(since)
        yield found


@pytest.mark.parametrize("way", STUCK)
def test_alert_says_within_a_minute_why_a_queue_is_stuck(stuck: Stuck, way: str) -> None:
    assert way in stuck.fired, stuck.seen.alerts()
    name, says = ALERTS[way]
    seconds, texts = stuck.fired[way]
    print(f"{way}: {name} after {seconds:.0f} s: {texts['summary']}. {texts['description']}")
    assert seconds < 60
    assert texts["summary"] == says.format(*stuck.labels(way).values())
    # Nothing is left of the template.
    assert "<no value>" not in texts["description"]
    assert "{{" not in texts["description"]


def expressions() -> list[str]:
    board = json.loads((MONITORING / "dueq.dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def test_dashboard_asks_for_what_there_is(stuck: Stuck) -> None:
    for expression in expressions():
        asked = expression.replace("$queue", ".*").replace("$__rate_interval", "1m")
        assert "$" not in asked
        found = stuck.seen.query(asked)
        print(f"{len(found)} series: {expression}")
        assert found, expression
