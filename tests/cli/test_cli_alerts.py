"""A Prometheus that scrapes `dueq metrics`: its alerts on stuck queues, and the dashboard.

A second stands for a minute in the rules; they are those of examples/monitoring else.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from private_server import Server

from .program import Program, said
from .prometheus import MONITORING, Prometheus, faster, prometheus
from .stuck import WAYS
from .test_cli_metrics import port_of
from .test_cli_workers import register

# The alert that says it, and what it says, with the name of the queue or of the server.
ALERTS = {
    "no workers": ("DueqNoWorkers", "No consumer is registered with the queue {}"),
    "a poison message": ("DueqDeadLettersGrow", "Messages of the queue {} die"),
    "a slow handler": (
        "DueqSlow",
        "A consumer of the queue {} works on one message for over five minutes",
    ),
    "a paused queue": ("DueqPaused", "The queue {} is paused"),
    "a lost dead-letter queue": (
        "DueqOutboxStuck",
        "Messages of the queue {} do not reach another queue, such as its dead-letter queue",
    ),
    "Redis full": ("DueqMemoryFull", "The memory of the server {} is full, or nearly"),
}


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


@pytest.fixture(scope="module")
def stuck() -> Iterator[tuple[Prometheus, Server]]:
    """Six queues that worked before, and are stuck, each in its way; they have its name."""
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path
    with Server() as server, ExitStack() as stack:
        dueq = Program(path, server.url)
        port = stack.enter_context(serving(dueq))
        seen = stack.enter_context(prometheus(f"127.0.0.1:{port}"))
        for way in WAYS:
            work_once(dueq, named(way))
        register(server, "gone", queue="no-workers", seen_ms=90_000)
        seen.until(f"count(dueq_acked_total == 1) == {len(WAYS)}")
        for way, stage in WAYS.items():
            stack.enter_context(stage(dueq, server, named(way)))
            if way == "a slow handler":
                seen.until("dueq_longest_run_seconds > 0")
        yield seen, server


@pytest.mark.parametrize("way", WAYS)
def test_alert_says_why_a_queue_is_stuck(stuck: tuple[Prometheus, Server], way: str) -> None:
    seen, server = stuck
    name, says = ALERTS[way]
    label = {"server": server.url} if way == "Redis full" else {"queue": named(way)}
    texts = seen.fires(name, **label)
    print(f"{way}: {name}: {texts['summary']}. {texts['description']}")
    assert texts["summary"] == says.format(*label.values())
    # Nothing is left of the template.
    assert "<no value>" not in texts["description"]
    assert "{{" not in texts["description"]


def test_rules_are_those_that_are_shipped() -> None:
    shipped = (MONITORING / "dueq.rules.yml").read_text()
    tried = faster(shipped)
    assert not re.search(r"for: \d+m|\[\d+m\]| > \d\d", tried)
    numbers = re.compile(r"[\d.]+[ms]?\b")
    assert numbers.sub("", tried) == numbers.sub("", shipped)


def expressions() -> list[str]:
    board = json.loads((MONITORING / "dueq.dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def test_dashboard_asks_for_what_there_is(stuck: tuple[Prometheus, Server]) -> None:
    seen, _ = stuck
    for expression in expressions():
        asked = expression.replace("$queue", ".*").replace("$__rate_interval", "10s")
        assert "$" not in asked
        found = seen.query(asked)
        print(f"{len(found)} series: {expression}")
        assert found, expression
