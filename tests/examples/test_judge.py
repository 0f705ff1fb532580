"""The demo's judge: a check that could not find a fault would prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from judge import Verdict, judge

UNPAID = {"number": "A-1", "paid_at": ""}
PAYING = {"number": "A-1", "paid_at": "2026-11-20T18:00:00Z"}
DUE = 1000.0


def entry(what: str, delivery: int = 1, **more: Any) -> dict[str, Any]:
    return {"what": what, "order": "A-1", "delivery": delivery, **more}


SCHEDULED = entry("scheduled", at=DUE - 3, due=DUE)
CANCELLED = entry("cancelled")


def taken(at: float, delivery: int = 1) -> dict[str, Any]:
    return entry("taken", delivery, until=at + 2.0, lease=2.0)


def faults(verdict: Verdict) -> dict[str, list[str]]:
    every = {"lost": verdict.lost, "doubled": verdict.doubled, "early": verdict.early}
    return {name: orders for name, orders in every.items() if orders}


def test_judge_counts_an_evening_without_fault() -> None:
    verdict = judge([UNPAID], [SCHEDULED, taken(DUE + 0.004), CANCELLED])
    assert faults(verdict) == {}
    assert (verdict.scheduled, verdict.cancelled, verdict.late_ms(0.5)) == (1, 1, 4)
    verdict = judge([PAYING], [SCHEDULED, entry("paid", at=DUE - 1)])
    assert faults(verdict) == {}
    assert verdict.line() == (
        "demo: scheduled=1 paid=1 cancelled=0 retried=0 exhausted=0 redelivered=0"
        " late_p50_ms=0 late_p99_ms=0 late_max_ms=0 lost=0 doubled=0 early=0"
    )


def test_judge_counts_retries_and_redeliveries_apart() -> None:
    verdict = judge(
        [UNPAID],
        [
            SCHEDULED,
            taken(DUE),
            entry("retried", at=DUE + 0.1, delay=0.5),
            taken(DUE + 0.6, 2),
            taken(DUE + 2.6, 3),
            entry("cancelled", 3),
        ],
    )
    assert faults(verdict) == {}
    assert (verdict.retried, verdict.redelivered) == (1, 1)


@pytest.mark.parametrize(
    ("order", "entries", "expected"),
    [
        (UNPAID, [], "lost"),
        (UNPAID, [SCHEDULED], "lost"),
        (UNPAID, [SCHEDULED, taken(DUE)], "lost"),
        (PAYING, [SCHEDULED, entry("too late", at=DUE)], "lost"),
        (UNPAID, [SCHEDULED, taken(DUE), CANCELLED, CANCELLED], "doubled"),
        (UNPAID, [SCHEDULED, taken(DUE), taken(DUE), CANCELLED], "doubled"),
        (PAYING, [SCHEDULED, entry("paid", at=DUE), taken(DUE), CANCELLED], "doubled"),
        (UNPAID, [SCHEDULED, taken(DUE - 0.001), CANCELLED], "early"),
        (UNPAID, [SCHEDULED, taken(DUE), taken(DUE + 1.9, 2), CANCELLED], "early"),
    ],
)
def test_judge_finds_a_fault(
    order: dict[str, str], entries: list[dict[str, Any]], expected: str
) -> None:
    assert faults(judge([order], entries)) == {expected: ["A-1"]}


def test_judge_finds_a_retry_before_its_delay() -> None:
    entries = [
        SCHEDULED,
        taken(DUE),
        entry("retried", at=DUE + 0.1, delay=0.5),
        taken(DUE + 0.3, 2),
        entry("cancelled", 2),
    ]
    assert faults(judge([UNPAID], entries)) == {"early": ["A-1"]}


def test_judge_counts_a_deadline_that_waited_for_a_worker() -> None:
    verdict = judge([PAYING], [SCHEDULED, entry("paid", at=DUE + 5)])
    assert faults(verdict) == {}
    assert verdict.late_ms(1) == 5000
