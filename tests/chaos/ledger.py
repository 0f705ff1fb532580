"""Reads the ledgers of a chaos run. README.md says what their lines are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from batch_ledger import KeptFacts

FAR = 1 << 62
UNANSWERED_MS = 10_000  # a call of which nobody knows what came is over by then

VERBS = {
    "acking": "ack",
    "retrying": "retry",
    "releasing": "release",
    "burying": "bury",
    "extending": "extend",
}
DONE = {
    "acked": "ack",
    "retried": "retry",
    "released": "release",
    "buried": "bury",
    "extended": "extend",
}


@dataclass(slots=True)
class Delivery:
    number: int  # of all deliveries of the message
    now: int
    end: int
    queue: str
    attempt: int
    crashes: int
    worker: str = ""  # who keeps it by a heartbeat; empty: nobody does
    end_before: int = 0
    verb: str = ""  # the last that began
    pending: bool = False  # what came of it is not known
    begin: int = 0  # when it began
    done: int = 0  # when what came of it was known; 0: it never was
    again: int = 0  # not to be delivered before; extend: its lease does not end before
    by_backoff: bool = False
    successors: tuple[str, ...] = ()
    ended: str = ""  # acked, retried, released, buried: the word for it, where it is known
    robbed: bool = False  # LEASE_LOST before the lease's end
    closed: bool = False  # its loop was closed, which releases what is not settled
    begun: bool = False  # by a worker whose loop is never closed before its process ends
    lost: int = 0  # when LEASE_LOST was known

    @property
    def acking(self) -> bool:
        """An ack began, and what came of it is not known."""
        return self.pending and self.verb == "ack"


@dataclass(slots=True)
class Death:
    """Found dead in the end, and kicked."""

    number: int  # deliveries that it had
    queue: str
    failures: int
    crashes: int


@dataclass(slots=True)
class Push:
    """One push of one message, what the producer was told, and what came of it."""

    id: str = "-"
    due: int = FAR
    queue: str = ""
    max_attempts: int = 0
    max_crashes: int = 0
    dead_letter: str = "-"
    backoff: str = "default"
    group: str = ""  # where it was ready at once
    relayed: bool = False  # a successor for another queue
    kind: str = ""  # healthy: its handler never fails; poison: its handler kills its process
    outcome: str = ""
    time: int = 0
    deliveries: list[Delivery] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)

    def first(self) -> Delivery | None:
        """The first delivery, if it was noted, in the queue that it was pushed to."""
        found = [d for d in self.deliveries if d.number == 1 and d.queue == self.queue]
        return min(found, key=lambda delivery: delivery.now, default=None)

    def acked(self) -> bool:
        return any(d.ended == "acked" or d.acking for d in self.deliveries)

    def dropped(self) -> bool:
        """Nobody acknowledged it, and it was deleted at its end."""
        return self.dead_letter == "drop" and not self.acked()

    def finished(self) -> bool:
        """Poison is to die, or to be dropped; a healthy one that was is judged apart."""
        if self.kind == "poison":
            return bool(self.deaths or (self.dropped() and self.deliveries))
        return self.acked() or (self.kind == "healthy" and self.dropped())


@dataclass(slots=True)
class Work:
    """A delivery of a group with limits, while it is surely at work: until its end begins."""

    now: int
    stop: int


@dataclass(slots=True)
class GroupLimit:
    """Of one group: 0: none. Its holds are told from, to: no message comes in between."""

    concurrency: int
    rate: int  # in a second
    burst: int
    work: list[Work] = field(default_factory=list)
    holds: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Facts:
    """What all ledgers say."""

    pushes: dict[str, Push] = field(default_factory=dict)  # by mark
    errors: Counter[str] = field(default_factory=Counter)  # failures by status and verb
    odd: list[str] = field(default_factory=list)  # lines of no sense
    faults: list[tuple[int, int, str]] = field(default_factory=list)  # from, to, worker or -
    # Of each queue the times of which a failover may have lost what was done: from, to.
    forgotten: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    # And the times in which its primary was replaced by another one.
    replaced: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    alive: dict[str, int] = field(default_factory=dict)  # the last time of each worker
    killed: int = 0  # processes by poison

    # Messages that a consumer just waited for: its queue, when it was due, when it came.
    probes: list[tuple[str, int, int]] = field(default_factory=list)

    # When a group's messages waited although all consumers were idle: its queue, from, to.
    wedged: list[tuple[str, int, int]] = field(default_factory=list)

    limits: dict[tuple[str, str], GroupLimit] = field(default_factory=dict)  # by queue, group

    kept: KeptFacts = field(default_factory=KeptFacts)  # of messages with `keep`, and of batches

    def forgot(self, queue: str, begin: int, end: int) -> bool:
        """Whether a failover may have lost what was done to a queue between these times."""
        return _met(self.forgotten.get(queue, ()), begin, end)

    def waited(self, queue: str, begin: int, end: int) -> bool:
        """Whether a failover met a wait between these times."""
        return self.forgot(queue, begin, end) or _met(self.replaced.get(queue, ()), begin, end)

    def touched(self, delivery: Delivery) -> bool:
        """Whether a failover may have lost a delivery, or what was done with it last."""
        done = delivery.done or delivery.begin + UNANSWERED_MS
        return self.forgot(delivery.queue, delivery.now, delivery.now) or (
            bool(delivery.verb) and self.forgot(delivery.queue, delivery.begin, done)
        )


def _met(times: Iterable[tuple[int, int]], begin: int, end: int) -> bool:
    return any(first <= end and begin <= last for first, last in times)


def read(ledgers: Iterable[Iterable[str]]) -> Facts:
    """`ledgers`: the lines of each process, in its order. A line without its end is not a fact."""
    facts = Facts()
    for lines in ledgers:
        _read(facts, lines)
    return facts


def _read(facts: Facts, lines: Iterable[str]) -> None:
    held: dict[tuple[str, str], list[Delivery]] = {}
    at_work: dict[tuple[str, str], Work] = {}
    cancelled: dict[str, int] = {}
    pushes = facts.pushes
    for line in whole(lines):
        try:
            word, *rest = line.split(" ")
            if word in ("empty", ""):
                continue
            if word == "error":
                facts.errors[f"{int(rest[0])} {rest[1]}"] += 1
            elif word == "intend":
                _intend(pushes.setdefault(rest[0], Push()), rest[1:])
            elif word in ("accepted", "duplicate", "unknown", "refused"):
                pushes[rest[0]].outcome, pushes[rest[0]].time = word, int(rest[1])
            elif word == "fault":
                facts.faults.append((int(rest[0]), int(rest[1]), rest[2]))
            elif word == "probe":
                facts.probes.append((rest[0], int(rest[1]), int(rest[2])))
            elif word == "grouped":
                pushes[rest[0]].group = rest[1]
            elif word == "limits":
                concurrency, rate, burst = map(int, rest[2:])
                facts.limits[rest[0], rest[1]] = GroupLimit(concurrency, rate, burst)
            elif word == "at_work":
                work = Work(int(rest[4]), int(rest[5]))
                at_work[rest[2], rest[3]] = work
                facts.limits[rest[0], rest[1]].work.append(work)
            elif word == "cancelling":
                cancelled[rest[0]] = int(rest[1])
            elif word == "ending":
                work = at_work[rest[0], rest[1]]
                work.stop = min(work.stop, int(rest[2]))
            elif word == "holding":
                facts.limits[rest[0], rest[1]].holds.append((int(rest[2]), int(rest[3])))
            elif word == "wedged":
                facts.wedged.append((rest[0], int(rest[1]), int(rest[2])))
            elif word in ("forgotten", "replaced"):
                times = facts.forgotten if word == "forgotten" else facts.replaced
                for queue in rest[2].split(","):
                    times.setdefault(queue, []).append((int(rest[0]), int(rest[1])))
            elif word in ("healthy", "poison"):
                pushes[rest[0]].kind = word
            elif word == "alive":
                facts.alive[rest[0]] = int(rest[1])
            elif word == "dying":
                facts.killed += bool(held[rest[0], rest[1]])
            elif word in ("got", "kept", "begun"):
                worker = rest.pop() if word != "got" else ""
                mark, number, now, end, queue, attempt, crashes = rest
                delivery = Delivery(
                    int(number), int(now), int(end), queue, int(attempt), int(crashes), worker
                )
                delivery.begun = word == "begun"
                pushes.setdefault(mark, Push()).deliveries.append(delivery)
                held.setdefault((mark, number), []).append(delivery)
            elif word == "dead":
                mark, number, queue, failures, crashes = rest
                death = Death(int(number), queue, int(failures), int(crashes))
                pushes.setdefault(mark, Push()).deaths.append(death)
            elif not facts.kept.read(word, rest):
                delivery = _meant(held[rest[0], rest[1]], word)
                _settle(delivery, word, rest[2:])
                if word == "acking":
                    for mark in delivery.successors:
                        pushes[mark].relayed = pushes[mark].queue != delivery.queue
        except (KeyError, ValueError, IndexError):
            facts.odd.append(line)
    for (id, _), work in at_work.items():
        work.stop = min(work.stop, cancelled.get(id, FAR))


def _meant(deliveries: list[Delivery], word: str) -> Delivery:
    """After a failover that lost one, a worker may have two of the same number."""
    asked = DONE.get(word)
    return next((one for one in reversed(deliveries) if one.verb == asked), deliveries[-1])


def whole(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield line[:-1]


def _intend(push: Push, rest: list[str]) -> None:
    push.id, due, push.queue, attempts, crashes, push.dead_letter, push.backoff = rest
    push.due, push.max_attempts, push.max_crashes = int(due), int(attempts), int(crashes)


def _settle(delivery: Delivery, word: str, rest: list[str]) -> None:
    if word in VERBS:
        delivery.verb, delivery.pending, delivery.begin = VERBS[word], True, int(rest[0])
        asked = rest[1]
        if word == "acking":
            delivery.successors = tuple(asked.split(",")) if asked != "-" else ()
        elif word == "retrying" and asked == "backoff":
            delivery.by_backoff = True
        elif word != "burying":
            delivery.again = int(asked)
        if word == "extending":
            delivery.end_before = delivery.end
            delivery.end = min(delivery.end, delivery.again)
        return
    if word == "closed":
        delivery.closed, delivery.end = True, min(delivery.end, int(rest[0]))
        return
    delivery.done = int(rest[0]) if rest else delivery.begin
    if word == "extended":
        delivery.end = delivery.again
    elif word in DONE:
        delivery.ended = word
    elif word in ("lost", "undone"):
        if delivery.verb == "extend":
            delivery.end = delivery.end_before
        if word == "lost":
            delivery.lost = int(rest[0])
            delivery.robbed |= delivery.lost < delivery.end
    else:
        raise ValueError(word)
    delivery.pending = False
