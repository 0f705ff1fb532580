"""A short run of ./dev partitions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("partitions.py")


@pytest.mark.parametrize("options", [[], ["--groups"]], ids=["keys", "groups"])
def test_consumers_come_and_go_and_the_order_stays(options: list[str]) -> None:
    command = [sys.executable, str(PROGRAM), "--seconds", "12", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    numbers = {name: float(text) for name, text in re.findall(r"(\w+)=([\d.]+)", last)}
    assert numbers["partitions"] == 128, done.stdout
    assert numbers["killed"] + numbers["left"] >= 3, last
    assert numbers["joined"] >= 4, last
    assert numbers["messages"] >= 500, last
    assert (numbers["lost"], numbers["out_of_order"]) == (0, 0), done.stdout
    # A killed consumer held one message, and perhaps one more whose ack it had not sent yet.
    assert numbers["doubled"] <= 2 * numbers["killed"], last
