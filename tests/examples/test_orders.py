"""The export that the demo runs on."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
ORDERS = EXAMPLES / "orders.csv"
WINDOW = timedelta(minutes=30)
DECIMALS = {"JPY": 0, "KRW": 0, "ISK": 0, "KWD": 3, "TND": 3}


def orders() -> list[dict[str, str]]:
    with ORDERS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_orders_made_again_are_the_same_bytes() -> None:
    made = subprocess.run(
        [sys.executable, EXAMPLES / "make_orders.py"], stdout=subprocess.PIPE, check=True
    ).stdout
    assert made == ORDERS.read_bytes()


def test_orders_look_like_an_export() -> None:
    lines = orders()
    assert len(lines) >= 2000
    assert len({line["number"] for line in lines}) == len(lines)
    assert any("," in line["customer"] for line in lines)
    assert any(ord(char) > 0xFFFF for line in lines for char in line["customer"])
    for line in lines:
        decimals = DECIMALS.get(line["currency"], 2)
        assert re.fullmatch(r"\d+" + (rf"\.\d{{{decimals}}}" if decimals else ""), line["amount"])
        assert not line["paid_at"] or line["paid_at"] >= line["created"]


def test_orders_are_paid_in_time_late_and_never() -> None:
    def late(line: dict[str, str]) -> bool:
        paid, created = (datetime.fromisoformat(line[key][:-1]) for key in ("paid_at", "created"))
        return paid - created > WINDOW

    lines = orders()
    never = sum(not line["paid_at"] for line in lines)
    too_late = sum(late(line) for line in lines if line["paid_at"])
    assert never > 100
    assert too_late > 50
    assert len(lines) - never - too_late > len(lines) / 2
