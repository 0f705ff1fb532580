"""The order book: a file to which all processes of the shop append. Each line is a JSON object."""

from __future__ import annotations

import json
import os
import time


def write(what: str, **more: object) -> None:
    """
    Appends a line, with the time in milliseconds since 1970. Each line is one write, so that the
    lines of several processes do not mix.
    """
    line = json.dumps({"at": time.time_ns() // 1_000_000, "what": what, **more}) + "\n"
    with open(os.environ.get("SHOP_BOOK", "book.jsonl"), "ab", buffering=0) as book:
        book.write(line.encode())
