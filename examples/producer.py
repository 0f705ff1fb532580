"""
Plays the shop: schedules the payment deadline of each order, and takes it back when the order is
paid.

python producer.py ORDERS.CSV LEDGER SPEED START

SPEED: seconds in the shop for each real second. START: when the shop opens, in seconds since 1970.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import dueq

WINDOW = timedelta(minutes=30)


def events(export: Path) -> list[tuple[datetime, str, dict[str, str]]]:
    """The orders and payments of the export, in the order of their times."""
    happened = []
    with export.open(encoding="utf-8", newline="") as file:
        for order in csv.DictReader(file):
            happened.append((datetime.fromisoformat(order["created"][:-1]), "order", order))
            if order["paid_at"]:
                happened.append((datetime.fromisoformat(order["paid_at"][:-1]), "payment", order))
    return sorted(happened, key=lambda event: event[:2])


def main(export: Path, path: Path, speed: float, start: float) -> None:
    queue = dueq.Queue("deadlines")
    happened = events(export)
    opening = happened[0][0]

    def moment(when: datetime) -> float:
        return round(start + (when - opening).total_seconds() / speed, 3)

    with path.open("a", encoding="utf-8", buffering=1) as ledger:
        for when, what, order in happened:
            time.sleep(max(0.0, moment(when) - time.time()))
            entry: dict[str, object] = {"order": order["number"], "at": time.time()}
            if what == "order":
                due = moment(when + WINDOW)
                body = json.dumps(order, ensure_ascii=False).encode()
                queue.push(body, id=order["number"], at=due, max_attempts=4)
                entry |= {"what": "scheduled", "due": due}
            else:
                # None: a worker was faster. The deadline has passed, and the order is cancelled.
                entry["what"] = "paid" if queue.cancel(order["number"]) else "too late"
            print(json.dumps(entry), file=ledger)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
