"""The shop of examples/shop/: an evening of it, and an audit that finds what is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples/shop"
sys.path.insert(0, str(SHOP))

from audit import AWAY, Book, Verdict, audit  # noqa: E402

START = 1_793_575_800_000


@pytest.mark.slow
def test_an_evening_with_deploys_and_kills_is_without_fault() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        [sys.executable, SHOP / "evening.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": path},
    ) as evening:
        try:
            printed, _ = evening.communicate(timeout=240)
        finally:
            evening.send_signal(signal.SIGTERM)
    assert evening.returncode == 0, printed
    last = printed.splitlines()[-1]
    assert re.fullmatch(
        r"shop: orders=\d+ parcels=\d+ callbacks=\d+ results=\d+ python=\d+ php=\d+ scheduled=\d+"
        r" deploys=\d+ killed=\d+"
        r" lost=0 doubled=0 early=0 false_failures=0",
        last,
    )
    figures = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", last)}
    assert figures["callbacks"] == figures["orders"] > 20, last
    assert figures["parcels"] > figures["orders"], last
    assert figures["results"] == figures["orders"] + figures["parcels"], last
    assert figures["php"] >= 2 * figures["orders"], last
    assert figures["python"] >= figures["parcels"] + figures["scheduled"], last
    assert figures["scheduled"] >= 15, last
    assert figures["deploys"] >= 1, last
    assert figures["killed"] >= 2, last


class Day:
    """An order book: lines, each a millisecond after the one before."""

    def __init__(self) -> None:
        self.book = Book()
        self.at = START
        for worker in ["python-1", "php-1"]:
            self.note("starts", worker=worker, release=0)
        self.note("opened")
        self.note("accepted", id="order-1", parcels=1)

    def note(self, what: str, **more: Any) -> None:
        self.at += 1
        self.book.add({"at": self.at, "what": what, **more})

    def run(self, task: str, *ends: str, worker: str = "", **more: Any) -> None:
        """A job begins, and ends like that."""
        worker = worker or ("php-1" if task in ("charge", "shipped") else "python-1")
        id = "order-1/1" if task == "ship" else "order-1"
        run = {"task": task, "id": id, "worker": worker, "slot": "1", "error": AWAY}
        counts = {"attempt": 1, "crashes": 0}
        for what in ["begins", *ends]:
            self.note(what, **{**run, **counts, **more})

    def charge(self, **more: Any) -> None:
        self.run("charge", "charged", "done", **more)
        self.note("receipt", id="order-1", receipt="receipt of order-1")

    def ship(self, **more: Any) -> None:
        self.at = max(self.at, START + 2000)
        self.run("ship", "done", **more)
        self.shipped()

    def shipped(self) -> None:
        """The callback of the batch, once."""
        if not self.book.done("shipped"):
            self.note("labels", labels=["label of order-1/1"])
            self.run("shipped", "done")

    def audit(self, retried: int = 0, died: int = 0, reports: int = 0) -> Verdict:
        self.note("closed", next=START + 1000 * (reports + 1))
        return audit(self.book, retried, died)


def faults(verdict: Verdict) -> dict[str, int]:
    kinds = ["lost", "doubled", "early", "false_failures"]
    return {kind: len(getattr(verdict, kind)) for kind in kinds if getattr(verdict, kind)}


def test_audit_counts_a_day_without_fault() -> None:
    day = Day()
    day.charge()
    day.at = START + 1000
    day.run("report", "done", id=f"report:{START + 1000}")
    day.ship()
    verdict = day.audit(reports=1)
    assert verdict.faults() == []
    assert verdict.line() == (
        "shop: orders=1 parcels=1 callbacks=1 results=2 python=2 php=2 scheduled=1"
        " deploys=0 killed=0 lost=0 doubled=0 early=0 false_failures=0"
    )


def test_audit_knows_failures_and_stops_that_are_none() -> None:
    day = Day()
    day.run("charge", "failed")
    day.at += 500
    day.run("charge", "released", attempt=2)
    day.charge(attempt=2)
    day.ship()
    verdict = day.audit(retried=1)
    assert verdict.faults() == []
    assert verdict.failures == 1


@pytest.mark.parametrize("ends", [(), ("done",)])
def test_audit_lets_the_last_job_of_a_killed_worker_come_again(ends: tuple[str, ...]) -> None:
    day = Day()
    day.charge()
    day.at = START + 2000
    day.run("ship", *ends)
    day.note("killed", worker="python-1")
    day.note("starts", worker="python-2", release=0)
    day.ship(worker="python-2", crashes=1)
    verdict = day.audit()
    assert verdict.faults() == []
    assert (verdict.killed, verdict.again) == (not ends, 1)


@pytest.mark.parametrize("runs", [[], [()], [("failed",)], [("failed",), ("released",)]])
def test_audit_finds_an_order_that_was_not_shipped(runs: list[tuple[str, ...]]) -> None:
    day = Day()
    day.charge()
    for attempt, ends in enumerate(runs, 1):
        day.at += 2000
        day.run("ship", *ends, attempt=attempt)
    assert day.audit().lost == ["order order-1", "parcel order-1/1", "label of order-1/1"]


def test_audit_finds_a_lost_callback_and_a_doubled_one() -> None:
    day = Day()
    day.charge()
    day.at = START + 2000
    day.run("ship", "done")
    assert day.audit().lost == ["order order-1", "label of order-1/1"]
    day = Day()
    day.charge()
    day.ship()
    day.run("shipped", "done")
    assert day.audit().doubled == ["shipped order-1 is doubled"]


@pytest.mark.parametrize("lost", ["receipt", "label"])
def test_audit_finds_a_lost_result(lost: str) -> None:
    day = Day()
    day.run("charge", "charged", "done")
    day.at = START + 2000
    day.run("ship", "done")
    day.run("shipped", "done")
    if lost == "label":
        day.note("receipt", id="order-1", receipt="receipt of order-1")
    day.note("labels", labels=["label of order-1/1" if lost == "receipt" else None])
    names = {"receipt": "receipt of order-1", "label": "label of order-1/1"}
    assert day.audit().lost == [names[lost]]


def test_audit_finds_a_callback_before_the_last_parcel() -> None:
    day = Day()
    day.note("accepted", id="order-1", parcels=2)
    day.charge()
    day.ship()
    day.run("ship", "done", id="order-1/2")
    day.note("labels", labels=["label of order-1/2"])
    assert faults(day.audit()) == {"early": 1}


def test_audit_finds_a_failure_that_is_not_that_of_the_bank() -> None:
    day = Day()
    day.charge()
    day.at = START + 2000
    day.run("ship", "failed", error="out of tape")
    day.at += 500
    day.ship(attempt=2)
    assert day.audit(retried=1).false_failures == ["ship order-1/1: out of tape"]


def test_audit_finds_a_second_without_report() -> None:
    day = Day()
    day.charge()
    day.at = START + 1000
    day.run("report", "done", id=f"report:{START + 1000}")
    day.ship()
    assert faults(day.audit(reports=3)) == {"lost": 2}


def test_audit_finds_a_job_that_was_done_twice() -> None:
    day = Day()
    day.charge()
    day.ship()
    day.ship()
    assert faults(day.audit()) == {"doubled": 1}


def test_audit_finds_a_job_that_two_run_at_once() -> None:
    day = Day()
    day.charge()
    day.at = START + 2000
    day.run("ship")
    day.ship(worker="python-2")
    assert faults(day.audit()) == {"doubled": 1}


def test_audit_finds_a_job_of_a_killed_worker_that_was_acknowledged() -> None:
    day = Day()
    day.charge()
    day.ship()
    day.run("report", id=f"report:{START + 1000}")
    day.note("killed", worker="python-1")
    day.ship(worker="python-2")
    assert faults(day.audit()) == {"doubled": 1}


def test_audit_finds_what_is_early() -> None:
    day = Day()
    day.run("charge", "failed")
    day.charge(attempt=2)
    day.run("report", "done", id=f"report:{START + 1000}")
    day.run("ship", "done")
    day.shipped()
    assert faults(day.audit(retried=1)) == {"early": 3}


@pytest.mark.parametrize("fault", ["attempt", "crash", "retry", "death"])
def test_audit_finds_a_false_failure(fault: str) -> None:
    day = Day()
    day.run("charge", "released")
    day.charge(attempt=1 + (fault == "attempt"), crashes=int(fault == "crash"))
    day.ship()
    verdict = day.audit(retried=int(fault == "retry"), died=int(fault == "death"))
    assert faults(verdict) == {"false_failures": 1}


@pytest.mark.parametrize(
    ("codes", "languages", "expected"),
    [
        ((0, 0), ("python", "php"), 1),
        ((0, 1), ("python", "php"), 0),
        ((0,), ("python", "php"), 0),
        ((0, 0), ("php",), 0),
    ],
)
def test_audit_counts_deploys_that_took_over(
    codes: tuple[int, ...], languages: tuple[str, ...], expected: int
) -> None:
    day = Day()
    for language in ["python", "php"]:
        day.note("starts", worker=f"{language}-2", release=1)
    for worker, code in zip(["python-1", "php-1"], codes, strict=False):
        day.note("stopped", worker=worker, code=code)
    day.charge(worker="php-2")
    day.ship(worker=f"{languages[0]}-2")
    assert day.audit().deploys == expected
