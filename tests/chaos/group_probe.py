"""Looks whether a group with messages that wait is left alone while consumers are idle."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from pathlib import Path

from fleet import now_ms

import dueq

GROUPS = [f"group-{number}" for number in range(20)]
CONSUMERS = 2
PUSH_EVERY_S = 0.04
WAIT_S, LEASE_S = 5, 2
# Messages that wait while all consumers are idle at so many looks in a row are wedged.
LOOK_EVERY_S, LOOKS = 0.1, 11
DRAIN_S = 15.0


class GroupProbe:
    """
    Until the with block ends, a producer pushes messages of groups to a queue of their own, and
    cancels some. Consumers, which no fault kills, acknowledge most of them at once, and release,
    retry or forget others. Another thread looks at the queue. In the end the queue is emptied.
    """

    def __init__(self, url: str, queue: str, folder: Path, seed: int) -> None:
        self._url, self.queue, self._chance = url, queue, random.Random(seed)
        self._ledger = folder / "groups.ledger"
        self._over, self._drained = threading.Event(), threading.Event()
        self._idle = [False] * CONSUMERS
        self._threads = [
            threading.Thread(target=self._push),
            threading.Thread(target=self._look),
            *(threading.Thread(target=self._work, args=(place,)) for place in range(CONSUMERS)),
        ]

    def __enter__(self) -> GroupProbe:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        deadline = time.monotonic() + DRAIN_S
        with dueq.Queue(self.queue, self._url) as queue:
            while time.monotonic() < deadline:
                with suppress(dueq.Error):
                    stats = queue.stats()
                    if not stats.ready + stats.leased:
                        break
                time.sleep(0.1)
        self._drained.set()
        for thread in self._threads:
            thread.join()

    def _push(self) -> None:
        with dueq.Queue(self.queue, self._url) as queue:
            while not self._over.wait(PUSH_EVERY_S):
                count = self._chance.choice((1, 1, 2, 5))
                drafts = [dueq.Draft("", group=self._chance.choice(GROUPS)) for _ in range(count)]
                with suppress(dueq.Error):
                    ids = queue.push_many(drafts)
                    if self._chance.random() < 0.1:
                        queue.cancel_many([id for id in ids if id])

    def _work(self, place: int) -> None:
        with dueq.Queue(self.queue, self._url) as queue:
            while not self._drained.is_set():
                wait = 0.2 if self._over.is_set() else WAIT_S
                try:
                    messages = queue.reserve_many(4, wait, LEASE_S)
                except dueq.Error:
                    # Until a call succeeds, it may have no connection.
                    self._idle[place] = False
                    time.sleep(0.05)
                    continue
                self._idle[place] = False
                for message in messages:
                    with suppress(dueq.Error):
                        self._settle(message)
                self._idle[place] = True

    def _settle(self, message: dueq.Message) -> None:
        kind = self._chance.random() if not self._over.is_set() else 1
        if kind < 0.05:
            message.release()
        elif kind < 0.1:
            message.retry(0, "?")
        elif kind > 0.11:
            message.ack()

    def _look(self) -> None:
        looks, since_ms = 0, 0
        with (
            self._ledger.open("w", encoding="utf-8", buffering=1) as ledger,
            dueq.Queue(self.queue, self._url) as queue,
        ):
            while not self._over.wait(LOOK_EVERY_S):
                waits = 0
                with suppress(dueq.Error):
                    waits = queue.stats().ready
                looks = looks + 1 if waits and all(self._idle) else 0
                since_ms = now_ms() if looks == 1 else since_ms
                if looks == LOOKS:
                    ledger.write(f"wedged {self.queue} {since_ms} {now_ms()}\n")
