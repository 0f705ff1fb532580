"""
Compares the shop's export with the ledgers of the producer and the workers.

Each order must end in one of these ways, whatever process is killed:

- its payment took the deadline back (the producer's `cancel` said True): **paid**; or
- a worker finished its cancellation (its `ack` was accepted), once: **cancelled**; or
- its handler failed at every attempt: **exhausted**.

A payment may arrive at the moment of its deadline. If `cancel` said False, a worker had finished
the order, which counts as cancelled. If `cancel` said True, the worker's `ack` was refused, and the
order counts as paid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# A line of a ledger: what, order, and by `what`: delivery, at, due, delay, until, lease.
Entry = Mapping[str, Any]


@dataclass
class Verdict:
    """Counts, and the numbers of the orders with a fault."""

    scheduled: int = 0
    paid: int = 0
    cancelled: int = 0
    retried: int = 0  # failed attempts that were given back
    exhausted: int = 0
    redelivered: int = 0  # deliveries that followed the end of a dead worker's lease
    lateness_ms: list[int] = field(default_factory=list)  # first deliveries, ascending
    lost: list[str] = field(default_factory=list)  # ended in none of the three ways
    doubled: list[str] = field(default_factory=list)  # ended in two, or was held by two at once
    early: list[str] = field(default_factory=list)  # taken before it was due

    def late_ms(self, share: float) -> int:
        """The lateness that this share (0 to 1) of the first deliveries did not exceed."""
        if not self.lateness_ms:
            return 0
        return self.lateness_ms[max(0, math.ceil(share * len(self.lateness_ms)) - 1)]

    def faultless(self) -> bool:
        return not (self.lost or self.doubled or self.early)

    def line(self) -> str:
        """The demo's last line, for machines."""
        return (
            f"demo: scheduled={self.scheduled} paid={self.paid} cancelled={self.cancelled}"
            f" retried={self.retried} exhausted={self.exhausted} redelivered={self.redelivered}"
            f" late_p50_ms={self.late_ms(0.5)} late_p99_ms={self.late_ms(0.99)}"
            f" late_max_ms={self.late_ms(1)}"
            f" lost={len(self.lost)} doubled={len(self.doubled)} early={len(self.early)}"
        )


def judge(orders: Sequence[Mapping[str, str]], entries: Iterable[Entry]) -> Verdict:
    """`orders`: the lines of the export. `entries`: all lines of all ledgers, in any order."""
    verdict = Verdict()
    by_order: dict[str, list[Entry]] = {order["number"]: [] for order in orders}
    for entry in entries:
        by_order.setdefault(entry["order"], []).append(entry)
    paying = {order["number"] for order in orders if order["paid_at"]}
    for number, story in by_order.items():
        _judge_order(verdict, number, number in paying, story)
    verdict.lateness_ms.sort()
    return verdict


def _judge_order(verdict: Verdict, number: str, pays: bool, story: list[Entry]) -> None:
    def told(what: str) -> list[Entry]:
        return [entry for entry in story if entry["what"] == what]

    scheduled, paid, too_late = told("scheduled"), told("paid"), told("too late")
    cancelled, exhausted = told("cancelled"), told("exhausted")
    verdict.scheduled += len(scheduled)
    verdict.paid += len(paid)
    verdict.cancelled += len(cancelled)
    verdict.exhausted += len(exhausted)

    endings = len(paid) + len(cancelled) + len(exhausted)
    payments = len(paid) + len(too_late)
    if not scheduled or endings == 0 or payments != int(pays):
        verdict.lost.append(number)
    if endings > 1 or len(scheduled) > 1:
        verdict.doubled.append(number)
    if not scheduled:
        return
    due, taken = scheduled[0]["due"], told("taken")
    _judge_deliveries(verdict, number, due, taken, told("retried"))
    if paid and not taken and paid[0]["at"] > due:
        verdict.lateness_ms.append(_ms(paid[0]["at"]) - _ms(due))  # still waiting for a worker


def _judge_deliveries(
    verdict: Verdict, number: str, due: float, taken: list[Entry], retried: list[Entry]
) -> None:
    verdict.retried += len(retried)
    given_back = {entry["delivery"]: _ms(entry["at"]) + _ms(entry["delay"]) for entry in retried}
    leases = {entry["delivery"]: _ms(entry["until"]) for entry in taken}
    if len(leases) < len(taken):
        verdict.doubled.append(number)
    for entry in taken:
        delivery, at = entry["delivery"], _ms(entry["until"]) - _ms(entry["lease"])
        if delivery == 1:
            not_before = _ms(due)
            verdict.lateness_ms.append(max(0, at - not_before))
        elif delivery - 1 in given_back:
            not_before = given_back[delivery - 1]
        else:
            not_before = leases.get(delivery - 1, _ms(due))
            verdict.redelivered += 1
        if at < not_before:
            verdict.early.append(number)


def _ms(seconds: float) -> int:
    # The server counts whole milliseconds. Seconds as a float may be slightly below one.
    return math.floor(seconds * 1000 + 0.01)
