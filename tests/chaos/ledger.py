"""Reads the ledgers of a chaos run, and judges the queue by the rules of README.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

# What killed, stopped and cut-off connections explain: CONNECT, CLOSED, TIMEOUT, LOADING.
EXPECTED = {-10, -11, -12, -23}
FAR = 1 << 62


@dataclass(slots=True)
class Delivery:
    attempt: int
    now: int
    end: int
    end_before: int = 0
    pending: str = ""  # the verb whose outcome is not known
    begin: int = 0  # when it began
    again: int = 0  # retry: not to be delivered before
    acked: int = 0
    retried: bool = False


@dataclass(slots=True)
class Push:
    """One push of one message, its deliveries, and what the producer was told."""

    id: str = "-"
    due: int = FAR
    outcome: str = ""
    time: int = 0
    deliveries: list[Delivery] = field(default_factory=list)

    def finished(self) -> bool:
        return any(d.acked or d.pending == "ack" for d in self.deliveries)


@dataclass
class Verdict:
    """Counts, and for each broken promise the marks of the messages."""

    accepted: int = 0
    deliveries: int = 0
    acked: int = 0
    acks_unknown: int = 0
    retried: int = 0
    ended: int = 0  # deliveries that followed the end of a lease
    late_ms: int = 0  # the latest first delivery
    errors: Counter[str] = field(default_factory=Counter)  # failures by status and verb
    lost: list[str] = field(default_factory=list)
    lost_at: list[int] = field(default_factory=list)  # when each of `lost` was accepted, ms
    acked_again: list[str] = field(default_factory=list)
    two_holders: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)  # never stored, as the producer was told
    robbed: list[str] = field(default_factory=list)  # LEASE_LOST before the lease's end
    odd: list[str] = field(default_factory=list)  # errors that no fault explains, lines of no sense

    def line(self, faults: int) -> str:
        """The run's last line, for machines."""
        return (
            f"chaos: faults={faults} messages={self.accepted} lost={len(self.lost)}"
            f" acked_again={len(self.acked_again)} two_holders={len(self.two_holders)}"
            f" early={len(self.early)}"
        )

    def broken(self) -> dict[str, list[str]]:
        """What must be empty, by name."""
        return {
            "lost": self.lost,
            "acked again": self.acked_again,
            "two holders": self.two_holders,
            "early": self.early,
            "phantom": self.phantom,
            "robbed": self.robbed,
            "odd": self.odd,
        }


def judge(ledgers: Iterable[Iterable[str]]) -> Verdict:
    """`ledgers`: the lines of each process, in its order. A line without its end is not a fact."""
    verdict = Verdict()
    pushes: dict[str, Push] = {}
    for lines in ledgers:
        _read(verdict, pushes, lines)
    groups: dict[str, list[str]] = {}
    for mark, push in pushes.items():
        if push.id != "-":
            groups.setdefault(push.id, []).append(mark)
        _judge(verdict, mark, push)
    for mark, push in pushes.items():
        if push.outcome == "duplicate":
            others = [pushes[other] for other in groups[push.id] if other != mark]
            if not others or push.id == "-":
                verdict.phantom.append(mark)
            elif not any(other.finished() for other in others):
                verdict.lost.append(mark)
                verdict.lost_at.append(push.time)
    return verdict


def _read(verdict: Verdict, pushes: dict[str, Push], lines: Iterable[str]) -> None:
    held: dict[tuple[str, str], Delivery] = {}
    for line in _whole(lines):
        try:
            word, *rest = line.split(" ")
            if word in ("empty", ""):
                continue
            if word == "error":
                verdict.errors[f"{rest[0]} {rest[1]}"] += 1
                if int(rest[0]) not in EXPECTED:
                    verdict.odd.append(line)
            elif word == "intend":
                push = pushes.setdefault(rest[0], Push())
                push.id, push.due = rest[1], int(rest[2])
            elif word in ("accepted", "duplicate", "unknown", "refused"):
                pushes[rest[0]].outcome, pushes[rest[0]].time = word, int(rest[1])
            elif word == "got":
                mark, attempt, now, end = rest
                delivery = Delivery(int(attempt), int(now), int(end))
                pushes.setdefault(mark, Push()).deliveries.append(delivery)
                held[mark, attempt] = delivery
            else:
                _settle(verdict, held[rest[0], rest[1]], word, rest)
        except (KeyError, ValueError, IndexError):
            verdict.odd.append(line)


def _whole(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield line[:-1]


def _settle(verdict: Verdict, delivery: Delivery, word: str, rest: list[str]) -> None:
    match word:
        case "acking" | "retrying" | "extending":
            delivery.pending, delivery.begin = word[:-3], int(rest[2])
            if word == "retrying":
                delivery.again = int(rest[3])
            elif word == "extending":
                delivery.end_before = delivery.end
                delivery.end = min(delivery.end, int(rest[3]))
                delivery.again = int(rest[3])
            return
        case "acked":
            delivery.acked = int(rest[2])
        case "retried":
            delivery.retried = True
        case "extended":
            delivery.end = delivery.again
        case "lost" | "undone":
            if delivery.pending == "extend":
                delivery.end = delivery.end_before
            if word == "lost" and int(rest[2]) < delivery.end:
                verdict.robbed.append(rest[0])
        case _:
            raise ValueError(word)
    delivery.pending = ""


def _judge(verdict: Verdict, mark: str, push: Push) -> None:
    deliveries = sorted(push.deliveries, key=lambda d: (d.now, d.attempt))
    verdict.accepted += push.outcome == "accepted"
    verdict.deliveries += len(deliveries)
    verdict.acked += sum(d.acked > 0 for d in deliveries)
    verdict.acks_unknown += sum(d.pending == "ack" for d in deliveries)
    verdict.retried += sum(d.retried for d in deliveries)
    if push.outcome == "accepted" and not push.finished():
        verdict.lost.append(mark)
        verdict.lost_at.append(push.time)
    if not deliveries:
        return
    if push.due == FAR or push.outcome in ("duplicate", "refused"):
        verdict.phantom.append(mark)
    else:
        verdict.late_ms = max(verdict.late_ms, deliveries[0].now - push.due)
        if deliveries[0].now < push.due:
            verdict.early.append(mark)
    broken = set()
    for before, after in pairwise(deliveries):
        if before.acked:
            broken.add("two holders" if after.now < before.begin else "acked again")
        elif after.attempt <= before.attempt:
            broken.add("two holders")
        elif before.retried or before.pending == "retry":
            if after.now < min(before.begin, before.end):
                broken.add("two holders")
            elif before.retried and after.now < before.again:
                broken.add("early")
        else:
            verdict.ended += 1
            if after.now < before.end:
                broken.add("two holders")
    for promise in broken:
        verdict.broken()[promise].append(mark)
