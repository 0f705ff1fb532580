"""
Cancels orders whose payment deadline has passed.

python worker.py LEDGER

Writes a line for each step to the file LEDGER, by which the demo checks the worker.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from datetime import datetime
from pathlib import Path

import dueq

LEASE = 2.0  # seconds after which another worker gets the message of a killed worker


def cancel_order(order: dict[str, str], attempt: int) -> None:
    """A real shop would return the goods and release the card here. Two kinds of orders fail."""
    time.sleep(0.005)
    if float(order["amount"]) == 0:
        raise ValueError("nothing to release: paid by voucher")
    if attempt == 1 and int(order["number"][-2:]) % 20 == 7:
        raise ConnectionError("the stock service did not answer")


def main(path: Path) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    queue = dueq.Queue("deadlines")
    with path.open("a", encoding="utf-8", buffering=1) as ledger:

        def note(what: str, message: dueq.Message, **more: object) -> None:
            entry = {"what": what, "order": message.id, "delivery": message.deliveries, **more}
            print(json.dumps(entry, default=datetime.timestamp), file=ledger)

        while True:
            message = queue.reserve(timeout=5.0, lease=LEASE)
            if message is None:
                continue
            note("taken", message, until=message.time, lease=LEASE)
            try:
                try:
                    cancel_order(json.loads(message.body), message.attempt)
                except Exception as error:
                    now = time.time()
                    again = message.retry(delay=0.5, error=str(error))
                    note("retried" if again else "exhausted", message, at=now, delay=0.5)
                else:
                    message.ack()
                    note("cancelled", message)
            except dueq.LeaseLost:
                note("taken back", message)  # the payment came meanwhile


if __name__ == "__main__":
    main(Path(sys.argv[1]))
