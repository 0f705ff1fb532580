"""The demo must not report what did not happen, whatever else the machine does."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from demo import Player, shoot

import dueq
from private_server import Server

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "build/demo"
# Takes three orders, acknowledges `acked` of them, and dies before it can note that.
WORKER = """
import json, signal, sys, dueq
with open(sys.argv[1], "a", buffering=1) as ledger:
    messages = dueq.Queue("deadlines", sys.argv[2]).reserve_many(3)
    for message in messages[:int(sys.argv[3])]:
        message.ack()
    for message in messages:
        entry = {"what": "taken", "order": message.id, "delivery": message.deliveries}
        print(json.dumps(entry), file=ledger)
    signal.pause()
"""


def ledgers() -> set[Path]:
    return set(RUNS.rglob("producer.jsonl"))


@pytest.mark.slow
def test_two_runs_at_once_report_nothing_lost() -> None:
    before = ledgers()
    command: list[str | Path] = [sys.executable, ROOT / "examples/demo.py", "short"]
    with ExitStack() as stack:
        runs = []
        for _ in range(2):
            run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            runs.append(stack.enter_context(run))
            stack.callback(run.kill)
        deadline = time.monotonic() + 30
        while len(own := ledgers() - before) < 2 and time.monotonic() < deadline:
            assert [run.poll() for run in runs] == [None, None]
            time.sleep(0.01)
        for run in runs:
            printed, _ = run.communicate(timeout=150)
            assert run.returncode == 0, printed
            assert re.search(
                r"^demo: scheduled=2400 .* lost=0 doubled=0 early=0$", printed, flags=re.M
            )
    assert len(own) == 2
    assert not own & ledgers(), "the ledgers of a faultless run are removed"


def test_worker_is_killed_only_if_it_noted_what_it_acknowledged(tmp_path: Path) -> None:
    with Server() as server, dueq.Queue("deadlines", server.url) as queue:
        for acked, held in [(1, 0), (0, 3)]:
            queue.push_many([b"order"] * 3)
            command = [sys.executable, "-c", WORKER, "LEDGER", server.url, str(acked)]
            with Player(tmp_path, f"worker-{acked}", *command) as victim:
                deadline = time.monotonic() + 30
                while len(victim.in_work()) < 3:
                    assert time.monotonic() < deadline, victim.log.read_text()
                    time.sleep(0.01)
                    victim.read()
                assert shoot(victim, queue, 2) == held
                assert (victim.process.poll() is None) == (held == 0)
