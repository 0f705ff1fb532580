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
SERVERS = [name for name in ("redis-server", "valkey-server") if shutil.which(name)]
FIRST, *OTHERS = SERVERS

PROMISES = (
    *("lost", "acked_again", "two_holders", "early", "healthy_dead", "run_twice"),
    *("out_of_order", "over_limit", "wedged"),
    *("callbacks_lost", "callbacks_doubled", "results_lost"),
)
# Of so many batches, one has a member that died.
MANY_BATCHES = 100


def output(program: str, tmp_path: Path, *options: str) -> str:
    """What a run printed, whose exit status was 0."""
    command = [sys.executable, str(HERE / program), *options]
    done = subprocess.run(
        [*command, "--ledgers", str(tmp_path / "ledgers")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run(tmp_path: Path, *options: str, program: str = "chaos.py") -> tuple[str, dict[str, int]]:
    """What a run printed, and the numbers of its last line."""
    text = output(program, tmp_path, *options)
    last = text.splitlines()[-1]
    assert re.fullmatch(r"chaos:( \w+=\d+)+", last), text
    return text, {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", last)}


def assert_done(text: str, *words: str) -> None:
    """What the workers do was done: a load without it would prove nothing."""
    for what in words:
        number = re.search(rf"\b{what} (\d+)", text)
        assert number, what
        assert int(number.group(1)) > 0, f"no {what}: {text}"


def assert_batches(text: str) -> None:
    """Batches ended, called back, and kept results. A busy machine does few in the time."""
    assert_done(text, "batches", "then", "finally", "results", "asked")
    number = re.search(r"\bbatches (\d+)", text)
    if number and int(number.group(1)) >= MANY_BATCHES:
        assert_done(text, "catch")


@pytest.mark.parametrize(
    "server", [FIRST, *(pytest.param(other, marks=pytest.mark.slow) for other in OTHERS)]
)
def test_chaos_breaks_no_promise(server: str, tmp_path: Path) -> None:
    worker = HERE.parents[1] / "build/cmake/tests/chaos-worker"
    assert os.access(worker, os.X_OK), f"{worker} is not built: ./dev chaos --seconds 1 builds it"
    text, line = run(tmp_path, "--seconds", "15", "--server", server)
    assert line.pop("faults") >= 5, text
    assert line.pop("messages") >= 500, text
    assert line == dict.fromkeys(PROMISES, 0), text
    assert_done(text, "killed processes", "dead or dropped", "outlived an outage")
    for fault in ("for longer than a lease", "burst of resets", "server read-only"):
        assert fault in text, text
    assert_done(text, "ack", "retry", "release", "bury", "lease")
    assert_done(text, "moved at their end", "found dead", "successors", "dead letters")
    assert_done(text, "relays interrupted", "of groups in order", "within limits")
    assert_batches(text)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("queues", "words"),
    [("laravel", ("deleted", "released")), ("redisson", ("took", "removed"))],
)
def test_chaos_on_queues_of_other_systems(
    queues: str, words: tuple[str, ...], server: str, tmp_path: Path
) -> None:
    text, line = run(tmp_path, "--queues", queues, "--seconds", "8", "--server", server)
    assert line.pop("faults") >= 3, text
    assert line.pop("messages") >= 200, text
    assert line == {"lost": 0, "doubled": 0, "early": 0}, text
    assert_done(text, *words)
