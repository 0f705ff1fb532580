"""Judges queues of Redisson and Laravel by a chaos run's ledgers and the rules of README.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ledger import FAR, whole
from verdict import EXPECTED

CALM = "calm."  # what marks begin with that were pushed after the last fault
LATE_MS = 5000  # and may be so late at most

VERBS = {"deleting": "delete", "releasing": "release"}


@dataclass(slots=True)
class Delivery:
    attempts: int
    time: int  # when the worker had it
    latest: int  # it was delivered by then
    until: int  # when it comes back
    verb: str = ""  # the last that began
    pending: bool = False  # what came of it is not known
    begin: int = 0  # when it began
    again: int = 0  # released: not to be delivered before
    ended: str = ""  # deleted, released, took: where it is known
    robbed: bool = False  # LEASE_LOST before its time was over


@dataclass(slots=True)
class Push:
    due: int = FAR
    queue: str = ""
    first: str = ""  # the mark of the first of its call
    outcome: str = ""
    time: int = 0  # of the outcome
    removed: str = ""  # removing: it is not known
    deliveries: list[Delivery] = field(default_factory=list)

    def finished(self) -> bool:
        return bool(self.removed) or any(
            one.ended in ("deleted", "took") or (one.pending and one.verb == "delete")
            for one in self.deliveries
        )


@dataclass
class Facts:
    pushes: dict[str, Push] = field(default_factory=dict)  # by mark
    errors: Counter[str] = field(default_factory=Counter)  # failures by status and verb
    odd: list[str] = field(default_factory=list)  # lines of no sense
    asked: Counter[str] = field(default_factory=Counter)  # by queue: items of requests in doubt
    asked_last: Counter[str] = field(default_factory=Counter)  # the same, of a process's last


@dataclass
class Verdict:
    """Counts, and for each broken promise the marks of the messages."""

    accepted: int = 0
    deliveries: int = 0
    removed: int = 0
    late_ms: int = 0  # the latest first delivery
    done: Counter[str] = field(default_factory=Counter)  # what ended deliveries
    unknown: Counter[str] = field(default_factory=Counter)  # verbs of which nobody was told
    stale: int = 0  # verbs that came too late, and changed nothing
    unseen: int = 0  # deliveries that nobody noted, or values that went with their taker
    explained: int = 0  # how many there may be
    errors: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    lost_at: list[int] = field(default_factory=list)  # when each of them was accepted, ms
    doubled: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)  # of one call, of which others were stored
    phantom: list[str] = field(default_factory=list)  # never stored, as the producer was told
    robbed: list[str] = field(default_factory=list)  # LEASE_LOST before its time was over
    late: list[str] = field(default_factory=list)  # of those that were pushed after the last fault
    odd: list[str] = field(default_factory=list)

    def line(self, faults: int) -> str:
        """The run's last line, for machines."""
        return (
            f"chaos: faults={faults} messages={self.accepted} lost={len(self.lost)}"
            f" doubled={len(self.doubled)} early={len(self.early)}"
        )

    def broken(self) -> dict[str, list[str]]:
        """What must be empty, by name."""
        names = ("lost", "doubled", "early", "torn", "phantom", "robbed", "late", "odd")
        return {name: getattr(self, name) for name in names}

    def summary(self) -> list[str]:
        done = ", ".join(f"{word} {number}" for word, number in sorted(self.done.items()))
        unknown = ", ".join(f"{verb} {number}" for verb, number in sorted(self.unknown.items()))
        return [
            f"{self.accepted} accepted, {self.deliveries} deliveries; the latest {self.late_ms} ms"
            " after it was due",
            f"ended by: {done}, removed {self.removed}; too late {self.stale}; calls not known to"
            f" be run: {unknown or 'none'}",
            f"delivered, and noted by nobody: {self.unseen} of {self.explained} at most",
        ]


def judge(ledgers: Iterable[Iterable[str]], gambled: str = "") -> Verdict:
    """
    `ledgers`: the lines of each process, in its order. gambled: the queue whose takers may be
    killed with what they took; empty: of Laravel's, whose jobs come again.
    """
    facts = Facts()
    for lines in ledgers:
        _read(facts, lines)
    verdict = Verdict(errors=facts.errors, odd=facts.odd)
    verdict.odd += [
        f"error {text}" for text in facts.errors if int(text.split(" ")[0]) not in EXPECTED
    ]
    gone = []
    for mark, push in facts.pushes.items():
        push.deliveries.sort(key=lambda delivery: delivery.attempts)
        _count(verdict, push)
        broken = _storing(verdict, mark, push) | _between(push)
        if "lost" in broken and gambled and push.queue == gambled:
            broken.remove("lost")
            gone.append(mark)
        for promise in broken:
            verdict.broken()[promise].append(mark)
    _calls(verdict, facts, gambled)
    verdict.unseen += len(gone)
    verdict.explained = (
        facts.asked_last[gambled] if gambled else sum((facts.asked + facts.asked_last).values())
    )
    if verdict.unseen > verdict.explained:
        verdict.lost += gone
        if not gone:
            verdict.odd.append(f"{verdict.unseen} deliveries that no request explains")
    verdict.lost_at = [facts.pushes[mark].time for mark in verdict.lost]
    return verdict


def _count(verdict: Verdict, push: Push) -> None:
    verdict.accepted += push.outcome == "accepted"
    verdict.deliveries += len(push.deliveries)
    verdict.removed += push.removed == "removed"
    for delivery in push.deliveries:
        if delivery.ended:
            verdict.done[delivery.ended] += 1
        elif delivery.pending:
            verdict.unknown[delivery.verb] += 1
        elif delivery.verb:
            verdict.stale += 1
    attempts = [0, *(delivery.attempts for delivery in push.deliveries)]
    verdict.unseen += sum(max(0, after - before - 1) for before, after in pairwise(attempts))


def _storing(verdict: Verdict, mark: str, push: Push) -> set[str]:
    """What is broken of what the producer was told."""
    broken = set()
    if push.outcome == "accepted" and not push.finished():
        broken.add("lost")
    if not push.deliveries:
        return broken
    first = push.deliveries[0]
    verdict.late_ms = max(verdict.late_ms, first.time - push.due)
    if push.due == FAR or push.outcome == "refused":
        broken.add("phantom")
    elif first.latest < push.due:
        broken.add("early")
    elif mark.startswith(CALM) and first.time > push.due + LATE_MS:
        broken.add("late")
    if push.removed == "removed":
        broken.add("doubled")
    return broken


def _between(push: Push) -> set[str]:
    """What is broken between the deliveries of a message."""
    broken = set()
    if any(delivery.robbed for delivery in push.deliveries):
        broken.add("robbed")
    for before, after in pairwise(push.deliveries):
        over = before.until
        if before.ended == "released" or (before.pending and before.verb == "release"):
            over = min(over, before.begin)
        if after.attempts == before.attempts or before.ended == "deleted" or after.latest < over:
            broken.add("doubled")
        elif before.ended == "released" and after.latest < before.again:
            broken.add("early")
    return broken


def _calls(verdict: Verdict, facts: Facts, gambled: str) -> None:
    """A push stores all of a call or nothing. That of which nobody was told, too."""
    stored: dict[str, set[bool]] = {}
    for push in facts.pushes.values():
        if push.outcome in ("unknown", "") and not push.removed and push.queue != gambled:
            stored.setdefault(push.first, set()).add(bool(push.deliveries))
    verdict.torn += [first for first, seen in stored.items() if len(seen) > 1]


def _read(facts: Facts, lines: Iterable[str]) -> None:
    held: dict[tuple[str, str], Delivery] = {}
    pushes = facts.pushes
    open_count, open_queue = 0, ""
    for line in whole(lines):
        try:
            word, *rest = line.split(" ")
            if word == "asking":
                facts.asked[open_queue] += open_count
                open_count, open_queue = int(rest[0]), rest[1]
            elif word == "error":
                facts.errors[f"{int(rest[0])} {rest[1]}"] += 1
            elif word == "intend":
                push = pushes.setdefault(rest[0], Push())
                push.due, push.queue, push.first = int(rest[1]), rest[2], rest[3]
            elif word in ("accepted", "unknown", "refused"):
                pushes[rest[0]].outcome, pushes[rest[0]].time = word, int(rest[1])
            elif word in ("removing", "removed"):
                pushes[rest[0]].removed = word
            elif word == "absent":
                pushes[rest[0]].removed = ""
            elif word in ("empty", "got", "took"):
                open_count = 0
                if rest:
                    delivery = _delivery(word, *rest[1:])
                    pushes.setdefault(rest[0], Push()).deliveries.append(delivery)
                    held[rest[0], rest[1]] = delivery
            elif word != "fault":
                _settle(held[rest[0], rest[1]], word, rest[2:])
        except (KeyError, ValueError, IndexError, TypeError):
            facts.odd.append(line)
    facts.asked_last[open_queue] += open_count


def _delivery(word: str, first: str, second: str, third: str = "0", until: str = "0") -> Delivery:
    if word == "took":
        return Delivery(1, int(first), int(first), 0, ended="took")
    time, end = int(second), int(until)
    return Delivery(int(first), time, min(time, end - int(third)), end)


def _settle(delivery: Delivery, word: str, rest: list[str]) -> None:
    if word in VERBS:
        delivery.verb, delivery.pending, delivery.begin = VERBS[word], True, int(rest[0])
        delivery.again = 0 if rest[1] == "-" else int(rest[1])
        return
    if word in ("deleted", "released"):
        delivery.ended = word
    elif word in ("lost", "undone"):
        delivery.robbed |= word == "lost" and int(rest[0]) < delivery.until
    else:
        raise ValueError(word)
    delivery.pending = False
