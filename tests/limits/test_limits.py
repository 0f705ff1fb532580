"""./dev limits, with few messages."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_quick_limits_measure_everything(tmp_path: Path) -> None:
    target = tmp_path / "limits.json"
    done = subprocess.run(
        [sys.executable, ROOT / "bench/limits.py", "--quick", "--json", target],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    number = r"(\d+\.\d+)"
    assert re.fullmatch(
        rf"limits: push_ratio={number} cancel_ratio={number} promote_ratio={number} "
        rf"reserve_ratio={number} longest_script_ms={number} longest_pause_ms={number} in_order=1",
        done.stdout.splitlines()[-1],
    )
    report = json.loads(target.read_text(encoding="utf-8"))
    assert len(report["targets"]) == 7
    for target_met in report["targets"]:
        assert target_met["met"] == (target_met["value"] <= target_met["limit"])
    assert {row["misplaced"] + row["early"] for row in report["burst"]} == {0}
    assert all(row["rounds"][0]["busy"]["pings"] > 0 for row in report["burst"])
    assert min(report["depth"]["depths"]) >= 5000
