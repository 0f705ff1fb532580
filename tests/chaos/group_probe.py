"""
Looks whether a group with messages that wait is left alone while consumers are idle, and notes what
is at work of groups with limits.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Self

from fleet import now_ms

import dueq

GROUPS = [f"group-{number}" for number in range(20)]
WAIT_S, LEASE_S = 5, 2
# Messages that wait while all consumers are idle at so many looks in a row are wedged.
LOOK_EVERY_S, LOOKS = 0.1, 11
DRAIN_S = 15.0
# Of each group, of the first, and of the second: how many may be at work, and come in a second.
EACH, FIRST_CONCURRENCY, SECOND_RATE, SECOND_BURST = 2, 1, 12, 2
# All holds last as long, so that a later one of a group never ends an earlier one.
HOLD_S = 0.4


class GroupProbe:
    """
    Until the with block ends, a producer pushes messages of groups to a queue of their own, and
    cancels some. Consumers, which no fault kills, acknowledge most of them at once, and release,
    retry or forget others. Another thread looks at the queue. In the end the queue is emptied.
    """

    consumers, groups, push_every_s = 2, GROUPS, 0.04

    def __init__(self, url: str, queue: str, folder: Path, seed: int) -> None:
        self._url, self.queue, self._chance = url, queue, random.Random(seed)
        self._ledger = folder / f"{queue}.ledger"
        self._over, self._drained = threading.Event(), threading.Event()
        self._idle = [False] * self.consumers
        self._threads = [
            threading.Thread(target=self._push),
            threading.Thread(target=self._look),
            *(
                threading.Thread(target=self._work, args=(place,))
                for place in range(self.consumers)
            ),
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        deadline, begin_ms, left = time.monotonic() + DRAIN_S, now_ms(), True
        with dueq.Queue(self.queue, self._url) as queue:
            while left and time.monotonic() < deadline:
                with suppress(dueq.Error):
                    stats = queue.stats()
                    left = stats.ready + stats.leased > 0
                time.sleep(0.1)
        self._drained.set()
        for thread in self._threads:
            thread.join()
        if left:
            with self._ledger.open("a", encoding="utf-8") as ledger:
                ledger.write(f"wedged {self.queue} {begin_ms} {now_ms()}\n")

    def _push(self) -> None:
        with dueq.Queue(self.queue, self._url) as queue:
            while not self._over.wait(self.push_every_s):
                count = self._chance.choice((1, 1, 2, 5))
                drafts = [
                    dueq.Draft("", group=self._chance.choice(self.groups)) for _ in range(count)
                ]
                with suppress(dueq.Error):
                    ids = queue.push_many(drafts)
                    if self._chance.random() < 0.1:
                        self._cancel(queue, [id for id in ids if id])

    def _cancel(self, queue: dueq.Queue, ids: list[str]) -> None:
        queue.cancel_many(ids)

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
                self._took(messages)
                for message in messages:
                    with suppress(dueq.Error):
                        self._settle(message)
                self._idle[place] = True

    def _took(self, messages: list[dueq.Message]) -> None:
        """Nothing is noted of groups without limits."""

    def _settle(self, message: dueq.Message) -> None:
        kind = self._chance.random() if not self._over.is_set() else 1
        if kind < 0.05:
            message.release()
        elif kind < 0.1:
            message.retry(0, "?")
        elif kind > 0.11:
            message.ack()

    def _waiting(self, queue: dueq.Queue) -> set[str]:
        """What waits, and could be had."""
        return {"messages"} if queue.stats().ready else set()

    def _look(self) -> None:
        looks, since_ms = Counter[str](), dict[str, int]()
        with (
            self._ledger.open("w", encoding="utf-8", buffering=1) as ledger,
            dueq.Queue(self.queue, self._url) as queue,
        ):
            while not self._over.wait(LOOK_EVERY_S):
                waiting = set[str]()
                with suppress(dueq.Error):
                    waiting = self._waiting(queue)
                looks = Counter({name: looks[name] + 1 for name in waiting if all(self._idle)})
                since_ms |= {name: now_ms() for name, count in looks.items() if count == 1}
                for name in [name for name, count in looks.items() if count == LOOKS]:
                    ledger.write(f"wedged {self.queue} {since_ms[name]} {now_ms()}\n")


class LimitProbe(GroupProbe):
    """
    Its groups have limits. The consumers work on the messages for a while, note what they have, and
    hold groups now and then.
    """

    consumers, groups, push_every_s = 6, GROUPS[:8], 0.04

    def __init__(self, url: str, queue: str, folder: Path, seed: int) -> None:
        super().__init__(url, queue, folder, seed)
        path = folder / f"{queue}-work.ledger"
        self._work_ledger = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        first, second, *others = self.groups
        self._served = Counter[str]()  # by group
        self._limits = {first: FIRST_CONCURRENCY} | dict.fromkeys([second, *others], EACH)

    def __enter__(self) -> Self:
        """The limits are there before the first fault."""
        second = self.groups[1]
        deadline = time.monotonic() + DRAIN_S
        # Beside all that begins now, a server may take its time.
        while not self._are_limits_set():
            assert time.monotonic() < deadline, "the limits cannot be set"
        for group, concurrency in self._limits.items():
            rate, burst = (SECOND_RATE, SECOND_BURST) if group == second else (0, 0)
            self._note(f"limits {self.queue} {group} {concurrency} {rate} {burst}")
        return super().__enter__()

    def _are_limits_set(self) -> bool:
        first, second = self.groups[:2]
        with suppress(dueq.Error), dueq.Queue(self.queue, self._url) as queue:
            queue.limit(each_group_concurrency=EACH)
            queue.limit(group=first, concurrency=FIRST_CONCURRENCY, weight=3)
            queue.limit(group=second, rate=f"{SECOND_RATE}/s", burst=SECOND_BURST)
            return True
        return False

    def __exit__(self, *what: object) -> None:
        super().__exit__(*what)
        os.close(self._work_ledger)

    def _note(self, *lines: str) -> None:
        os.write(self._work_ledger, "".join(f"{line}\n" for line in lines).encode())

    def _cancel(self, queue: dueq.Queue, ids: list[str]) -> None:
        self._note(*(f"cancelling {id} {now_ms()}" for id in ids))
        super()._cancel(queue, ids)

    def _took(self, messages: list[dueq.Message]) -> None:
        """The end of a lease is told by the server's clock."""
        lines = []
        for message in messages:
            self._served[message.group or ""] += 1
            end_ms = round(message.time.timestamp() * 1000) if message.time else 0
            lines.append(
                f"at_work {self.queue} {message.group} {message.id} {message.deliveries}"
                f" {end_ms - LEASE_S * 1000} {end_ms}"
            )
        self._note(*lines)

    def _settle(self, message: dueq.Message) -> None:
        time.sleep(self._chance.uniform(0, 0.05))
        kind = self._chance.random() if not self._over.is_set() else 1
        if 0.1 <= kind < 0.11:
            return
        begin_ms = now_ms()
        self._note(f"ending {message.id} {message.deliveries} {begin_ms}")
        if kind > 0.06:
            super()._settle(message)
            return
        message.hold_group(HOLD_S)
        until_ms = begin_ms + round(HOLD_S * 1000)
        self._note(f"holding {self.queue} {message.group} {now_ms()} {until_ms}")

    def _waiting(self, queue: dueq.Queue) -> set[str]:
        """Groups that are not held, and of which more might be at work; each as it was served."""
        return {
            f"{group.name} {self._served[group.name]}"
            for group in queue.groups()
            if group.name
            and group.waiting
            and not group.held_until
            and (group.leased or 0) < self._limits[group.name]
        }
