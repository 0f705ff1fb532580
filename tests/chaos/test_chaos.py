"""A short run of ./dev chaos."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LINE = re.compile(
    r"chaos: faults=(\d+) messages=(\d+) lost=(\d+) acked_again=(\d+) two_holders=(\d+) early=(\d+)"
)


@pytest.mark.parametrize(
    "server",
    [name for name in ("redis-server", "valkey-server") if shutil.which(name)],
)
def test_chaos_breaks_no_promise(server: str, tmp_path: Path) -> None:
    worker = HERE.parents[1] / "build/cmake/tests/chaos-worker"
    assert os.access(worker, os.X_OK), f"{worker} is not built: ./dev chaos --seconds 1 builds it"
    command = [sys.executable, str(HERE / "chaos.py"), "--seconds", "15", "--server", server]
    done = subprocess.run(
        [*command, "--ledgers", str(tmp_path / "ledgers")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    line = LINE.fullmatch(done.stdout.splitlines()[-1])
    assert line, done.stdout
    faults, messages, *broken = map(int, line.groups())
    assert faults >= 5, done.stdout
    assert messages >= 500, done.stdout
    assert broken == [0, 0, 0, 0], done.stdout
    # What the workers do was done: a load without it would prove nothing.
    for what in (
        *["ack", "retry", "release", "bury", "lease"],
        *["moved when due", "moved at their end", "found dead", "successors"],
    ):
        number = re.search(rf"\b{what} (\d+)", done.stdout)
        assert number, what
        assert int(number.group(1)) > 0, f"no {what}: {done.stdout}"
