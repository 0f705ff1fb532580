"""The demo, twice at once: each run has ledgers of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "build/demo"


def ledgers() -> set[Path]:
    return set(RUNS.rglob("producer.jsonl"))


def test_two_runs_at_once_report_nothing_lost() -> None:
    before = ledgers()
    command: list[str | Path] = [sys.executable, ROOT / "examples/demo.py", "short"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    deadline = time.monotonic() + 30
    while len(own := ledgers() - before) < 2 and time.monotonic() < deadline:
        assert [run.poll() for run in runs] == [None, None]
        time.sleep(0.01)
    for run in runs:
        printed, _ = run.communicate(timeout=150)
        assert run.returncode == 0, printed
        assert re.search(r"^demo: scheduled=2400 .* lost=0 doubled=0 early=0$", printed, flags=re.M)
    assert len(own) == 2
    assert not own & ledgers(), "the ledgers of a faultless run are removed"
