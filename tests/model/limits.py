"""
The limits of groups: how many messages of each may be leased, come in a time, or wait; and the
orders, which say when the next message of a group begins.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from message import Message

# A number, or an order: fair, fifo, strict, or none.
Changes: TypeAlias = "dict[str, int | str]"
HOUR_MS = 3_600_000
# A turn costs UNIT, divided by the weight of the group.
UNIT = 16384
# So many reserves at most look at limits of groups after the last one: the first brings back what
# a hold kept waiting, and the next finds that nothing has a limit.
LOOKS = 2
# What opens so soon is open: the milliseconds of a run decide nothing.
SOON_MS = 50


@dataclass
class Limit:
    """Of each group, or of one. 0, or no text: none."""

    concurrency: int = 0
    rate: int = 0  # messages in an hour
    burst: int = 0  # how many the rate allows at once after a pause
    backlog: int = 0
    weight: int = 0
    order: str = ""  # fifo or strict; of one group also fair

    @property
    def is_of_reserve(self) -> bool:
        return bool(self.concurrency or self.rate or self.weight or self.order)


@dataclass(eq=False)
class Limits:
    """A limit of one group counts instead of that of each group."""

    each: Limit = field(default_factory=Limit)
    own: dict[str, Limit] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)  # until when a group is held
    next_ms: dict[str, float] = field(default_factory=dict)  # its next delivery's time, by the rate
    hold: bool = False  # reserves look at them
    looks: int = 0  # of reserves since the last limit or hold was over

    def set(self, group: str, changes: Changes, clear: bool) -> bool:
        """
        group: '': of each group. Without its rate a limit has no burst. Returns whether the orders
        may have changed.
        """
        had_order = any(limit.order for limit in [self.each, *self.own.values()])
        if clear and not group:
            self.each, self.own = Limit(), {}
        elif clear:
            self.own.pop(group, None)
        limit = self.own.setdefault(group, Limit()) if group else self.each
        for name, value in changes.items():
            is_none = value == "none" or (value == "fair" and not group)
            setattr(limit, name, "" if is_none else value)
        if changes.get("rate") == 0:
            limit.burst = 0
        self.own = {name: each for name, each in self.own.items() if each != Limit()}
        if self._any_limit():
            self.hold, self.looks = True, 0
        elif not self.held:
            self.forget()
        return "order" in changes or (clear and had_order)

    def hold_group(self, group: str, ms: int, now: int) -> None:
        """0: the hold ends."""
        if ms:
            self.held[group] = now + ms
            self.hold, self.looks = True, 0
        elif group in self.held:
            self.held[group] = 0

    def must_hold(self, now: int) -> bool:
        return self._any_limit() or any(until > now for until in self.held.values())

    def forget(self) -> None:
        """The queue has no limits of groups, and no group is held."""
        self.hold, self.looks = False, 0
        self.held.clear()
        self.next_ms.clear()

    def pass_time(self, ms: int) -> None:
        self.held = {group: until - ms for group, until in self.held.items()}
        self.next_ms = {group: time_ms - ms for group, time_ms in self.next_ms.items()}

    def _any_limit(self) -> bool:
        return any(limit.is_of_reserve for limit in [self.each, *self.own.values()])

    def _of(self, group: str, name: str) -> int:
        number: int = getattr(self.own.get(group, Limit()), name) or getattr(self.each, name)
        return number

    def order(self, group: str) -> str:
        """Messages without a group have none."""
        own = self.own.get(group, Limit()).order
        return (own or self.each.order or "fair") if group else "fair"

    def concurrency(self, group: str) -> float:
        """In the orders fifo and strict one, whatever the limit says."""
        if self.order(group) != "fair":
            return 1
        return self._of(group, "concurrency") or math.inf

    def backlog(self, group: str) -> float:
        return self._of(group, "backlog") or math.inf

    @property
    def have_backlogs(self) -> bool:
        return any(limit.backlog for limit in [self.each, *self.own.values()])

    def turn_costs(self, group: str) -> int:
        return UNIT // (self._of(group, "weight") or 1)

    def _rate(self, group: str) -> tuple[float, float] | None:
        """Between two deliveries; and how much a delivery may come before its time."""
        rate = self._of(group, "rate")
        if not rate:
            return None
        interval = HOUR_MS / rate
        return interval, ((self._of(group, "burst") or 1) - 1) * interval

    def latest_ms(self, group: str, now: int) -> float:
        """The next time of a group is later only if its rate was changed."""
        rate = self._rate(group)
        return now + sum(rate) if rate else math.inf

    def opens_ms(self, group: str, now: int, taken: int = 0) -> float:
        """
        From when on the hold and the rate allow its next message; 0: now. taken: how many are given
        out now.
        """
        until, rate = self.held.get(group, 0), self._rate(group)
        opens = until if until > now else 0.0
        if rate:
            interval, tolerance = rate
            next_ms = min(self.next_ms.get(group, 0), self.latest_ms(group, now))
            early = max(next_ms, now) + taken * interval - tolerance
            opens = max(opens, early) if early > now + SOON_MS else opens
        return opens

    def took(self, group: str, count: int, now: int) -> None:
        """Each delivery counts against the rate."""
        rate = self._rate(group)
        if rate:
            next_ms = min(self.next_ms.get(group, 0), self.latest_ms(group, now))
            self.next_ms[group] = max(next_ms, now) + count * rate[0]


@dataclass(eq=False)
class Gate:
    """What the limits let one reserve take."""

    limits: Limits
    leased: Callable[[str], int]  # how many messages of a group are
    # Whether a message, the first of its line, must wait until another of its group has ended.
    waits: Callable[[Message], bool]
    now: int
    taken: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)  # of these, what is leased by now

    def is_open(self, group: str, first: Message) -> bool:
        """first: the first message of the group's line."""
        if not (self.limits.hold and group):
            return True
        at_work = self.leased(group) + self.taken[group] - self.judged[group]
        opens_ms = self.limits.opens_ms(group, self.now, self.taken[group])
        has_place = at_work < self.limits.concurrency(group) and not opens_ms
        return has_place and not self.waits(first)

    def next_turn(self, group: str, turn: int, floor: int) -> int:
        """Of a group that takes its turn. One that waited gains nothing by an old time."""
        self.taken[group] += 1
        return (floor if self.limits.hold else turn) + self.turn_costs(group)

    def gave_back(self, group: str) -> None:
        self.taken[group] -= 1

    def turn_costs(self, group: str) -> int:
        return self.limits.turn_costs(group) if self.limits.hold and group else UNIT

    def end(self) -> None:
        for group, count in self.taken.items():
            if count and self.limits.hold and group:
                self.limits.took(group, count, self.now)
