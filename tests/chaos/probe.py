"""How late messages come to a consumer that waits for them and has nothing else to do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from fleet import now_ms

import dueq

EVERY_MS = 150
# So long that those which fall due during a failover were pushed before it.
DELAY_MS = 5000
LEASE_S = 5


class Probe:
    """
    Until the with block ends, a producer for each of these queues pushes a message every now and
    then, due some seconds later, and a consumer of all of them notes when it came.
    """

    def __init__(self, url: str, queues: Sequence[str], folder: Path) -> None:
        self._url, self._names = url, queues
        self._ledger = folder / "probe.ledger"
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._push, args=(name,)) for name in queues]

    def __enter__(self) -> Probe:
        ledger = self._ledger.open("w", encoding="utf-8", buffering=1)
        self._threads.append(threading.Thread(target=self._reserve, args=(ledger,)))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _push(self, name: str) -> None:
        due = now_ms() + DELAY_MS
        with dueq.Queue(name, self._url) as queue:
            while not self._over.wait(max(0, due - DELAY_MS - now_ms()) / 1000):
                with suppress(dueq.Error):
                    queue.push(str(due), at=due / 1000)
                due = max(due + EVERY_MS, now_ms())

    def _reserve(self, ledger: TextIO) -> None:
        seen = set()
        with ledger, dueq.Queues(self._names, self._url) as queues:
            while not self._over.is_set():
                with suppress(dueq.Error):
                    for message in queues.reserve_many(10, 1, LEASE_S):
                        if message.id not in seen:
                            seen.add(message.id)
                            due = message.body.decode()
                            ledger.write(f"probe {message.queue} {due} {now_ms()}\n")
                        message.ack()
