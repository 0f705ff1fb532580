"""Judges the queue by the ledgers of a chaos run and the rules of README.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise

from batch_verdict import CALLBACKS, judge_kept
from expected_state import follows, least_delay
from group_limits import over_limit
from ledger import FAR, UNANSWERED_MS, Delivery, Facts, Push, read

# What killed, stopped and cut-off connections explain: CONNECT, CLOSED, TIMEOUT, LOADING; and what
# keys explain that were replaced: WRONG_TYPE.
EXPECTED = frozenset({-10, -11, -12, -23, -27})
READONLY = -24
# What a failover explains besides: UNAVAILABLE, NOT_DURABLE.
FAILED_OVER = frozenset({READONLY, -33, -34})
# What failovers may break of messages and batches for which nobody asked for durability.
NOT_DURABLE = frozenset({"lost", "callbacks lost", "callbacks doubled"})
SETTLED_MS = 500  # after a fault, until all are connected again
OUTAGE_MS = 60_000  # for so long at most holders keep their messages while the server is away
SENT_MS = 1000  # so long after its ack began the server had it, unless it was away
RECONNECTED_MS = 3000  # after a fault, until the last waiting consumer has a connection again
AHEAD_MS = 10_000  # a loop of the workers has nothing for so long that it had fetched ahead


@dataclass
class Verdict:
    """Counts, and for each broken promise the marks of the messages."""

    accepted: int = 0
    deliveries: int = 0
    done: Counter[str] = field(default_factory=Counter)  # what ended deliveries, by verb
    unknown: Counter[str] = field(default_factory=Counter)  # the same where nobody was told
    crashed: int = 0  # deliveries that followed the end of a lease
    succeeded: int = 0  # successors that were delivered
    moved: int = 0  # messages that came to their dead-letter queue
    relayed: Counter[str] = field(default_factory=Counter)  # what came from another queue
    died: int = 0
    poisoned: Counter[str] = field(default_factory=Counter)  # how poison fared
    late_ms: int = 0  # the latest first delivery
    errors: Counter[str] = field(default_factory=Counter)  # failures by status and verb
    lost: list[str] = field(default_factory=list)
    lost_at: list[int] = field(default_factory=list)  # when each of `lost` was accepted, ms
    acked_again: list[str] = field(default_factory=list)
    two_holders: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    healthy_dead: list[str] = field(default_factory=list)
    run_twice: list[str] = field(default_factory=list)  # begun again while its holder lived
    out_of_order: list[str] = field(
        default_factory=list
    )  # delivered after a later one of its group
    over_limit: list[str] = field(default_factory=list)  # a group had more than its limits allow
    wedged: list[str] = field(default_factory=list)  # a group waited beside idle consumers
    callbacks_lost: list[str] = field(default_factory=list)  # of batches, that never came
    # Of batches, that were pushed twice, or that should not have been pushed.
    callbacks_doubled: list[str] = field(default_factory=list)
    results_lost: list[str] = field(default_factory=list)  # of messages, that nobody was told
    kept: Counter[str] = field(default_factory=Counter)  # batches, their callbacks, and results
    limited: int = 0  # deliveries of groups with limits
    grouped: int = 0  # messages of groups whose order was looked at
    torn: list[str] = field(
        default_factory=list
    )  # acknowledged without successors, or they without it
    miscounted: list[str] = field(
        default_factory=list
    )  # queue, attempt or crashes without a reason
    phantom: list[str] = field(default_factory=list)  # never stored, as the producer was told
    robbed: list[str] = field(default_factory=list)  # LEASE_LOST before the lease's end
    odd: list[str] = field(default_factory=list)  # errors that no fault explains, lines of no sense
    forgotten: Counter[str] = field(default_factory=Counter)  # broken because of a failover
    # How late the probes came, ms: those whose wait a failover met, and the others.
    late_failover: list[int] = field(default_factory=list)
    late_calm: list[int] = field(default_factory=list)

    def line(self, faults: int) -> str:
        """The run's last line, for machines."""
        return (
            f"chaos: faults={faults} messages={self.accepted} lost={len(self.lost)}"
            f" acked_again={len(self.acked_again)} two_holders={len(self.two_holders)}"
            f" early={len(self.early)} healthy_dead={len(self.healthy_dead)}"
            f" run_twice={len(self.run_twice)} out_of_order={len(self.out_of_order)}"
            f" over_limit={len(self.over_limit)} wedged={len(self.wedged)}"
            f" callbacks_lost={len(self.callbacks_lost)}"
            f" callbacks_doubled={len(self.callbacks_doubled)}"
            f" results_lost={len(self.results_lost)}"
        )

    def taken_back(self) -> str:
        counts = (f"{name} {number}" for name, number in sorted(self.forgotten.items()))
        return (
            f"taken back by failovers, and so no broken promise: {', '.join(counts) or 'nothing'}"
        )

    def not_durable(self) -> str:
        counts = (
            f"{name} {len(marks)}"
            for name, marks in self.broken().items()
            if marks and name in NOT_DURABLE
        )
        return ", ".join(counts)

    def lateness(self) -> list[str]:
        """How late messages came to a consumer that just waited for them."""
        return [
            f"late, as a rule: {_percentiles(self.late_calm)}",
            f"late, where a failover met the wait: {_percentiles(self.late_failover)}",
        ]

    def summary(self) -> list[str]:
        done = ", ".join(f"{verb} {number}" for verb, number in sorted(self.done.items()))
        unknown = ", ".join(f"{verb} {number}" for verb, number in sorted(self.unknown.items()))
        poison, kept = self.poisoned, self.kept
        callbacks = ", ".join(f"{name} {kept[name]}" for name in CALLBACKS)
        return [
            f"{self.accepted} accepted, {self.deliveries} deliveries; the latest {self.late_ms} ms"
            " after it was due",
            f"ended by: {done}, lease {self.crashed}; calls not known to be run:"
            f" {unknown or 'none'}",
            f"moved at their end {self.moved}, found dead {self.died}, successors {self.succeeded}",
            f"relayed {self.relayed.total()}: dead letters {self.relayed['dead letter']},"
            f" successors {self.relayed['successor']}",
            f"of groups in order {self.grouped}, within limits {self.limited}",
            f"batches {kept['batches']}: {callbacks}; results {kept['results']}, asked"
            f" {kept['asked']}",
            f"poison {poison['pushed']}, killed processes {poison['killed']}, dead or dropped"
            f" {poison['ended']}; steady messages {poison['healthy']}, outlived an outage"
            f" {poison['outlived']}",
        ]

    def broken(self) -> dict[str, list[str]]:
        """What must be empty, by name."""
        return {
            "lost": self.lost,
            "acked again": self.acked_again,
            "two holders": self.two_holders,
            "early": self.early,
            "healthy dead": self.healthy_dead,
            "run twice": self.run_twice,
            "out of order": self.out_of_order,
            "over limit": self.over_limit,
            "wedged": self.wedged,
            "callbacks lost": self.callbacks_lost,
            "callbacks doubled": self.callbacks_doubled,
            "results lost": self.results_lost,
            "torn": self.torn,
            "miscounted": self.miscounted,
            "phantom": self.phantom,
            "robbed": self.robbed,
            "odd": self.odd,
        }


def _percentiles(times: list[int]) -> str:
    if not times:
        return "no messages"
    times = sorted(times)
    shares = {"50 %": 0.5, "90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999}
    parts = [f"{text} {times[int(share * len(times))]} ms" for text, share in shares.items()]
    return f"{', '.join(parts)}, all {times[-1]} ms ({len(times)} messages)"


def judge(ledgers: Iterable[Iterable[str]], expected: Set[int] = EXPECTED) -> Verdict:
    """`ledgers`: the lines of each process, in its order. expected: the statuses of failures."""
    facts = read(ledgers)
    verdict = Verdict(errors=facts.errors, odd=facts.odd)
    verdict.poisoned["killed"] = facts.killed
    verdict.odd += [
        f"error {text}" for text in facts.errors if int(text.split(" ")[0]) not in expected
    ]
    groups: dict[str, list[Push]] = {}
    for push in facts.pushes.values():
        if push.id != "-":
            groups.setdefault(push.id, []).append(push)
    for queue, due, came in facts.probes:
        met = facts.waited(queue, due, came)
        (verdict.late_failover if met else verdict.late_calm).append(came - due)
    for mark, push in facts.pushes.items():
        _count(verdict, push, facts)
        others = [other for other in groups.get(push.id, ()) if other is not push]
        taken_back = verdict.forgotten.total()
        broken = _storing(verdict, push, others, facts)
        # Stored, and the answer lost with it: asked again, the new primary refused it.
        if "phantom" in broken and push.outcome == "refused" and push.deliveries:
            broken -= {"phantom"}
            broken |= _blame(verdict, facts, "phantom", push, push.deliveries, each=True)
        broken |= _holders(verdict, push, facts)
        broken |= _successors(verdict, push, facts, groups)
        taken_back = verdict.forgotten.total() - taken_back
        # Where an id was pushed more than once, its messages may be in each other's way.
        if not broken and not taken_back and not others and not follows(push):
            if any(map(facts.touched, push.deliveries)) or _unseen(push, facts):
                verdict.forgotten["miscounted"] += 1
            else:
                broken.add("miscounted")
        for promise in broken:
            verdict.broken()[promise].append(mark)
        if "lost" in broken:
            verdict.lost_at.append(push.time)
    _turns(verdict, facts)
    for (queue, group), limit in facts.limits.items():
        verdict.limited += len(limit.work)
        for begin, end in over_limit(limit):
            if facts.forgot(queue, begin, end):
                verdict.forgotten["over limit"] += 1
            else:
                verdict.over_limit.append(f"{queue} {group} {end}")
    kept = judge_kept(facts)
    for promise, ids in kept.broken.items():
        verdict.broken()[promise].extend(ids)
    verdict.forgotten.update(kept.forgotten)
    verdict.kept = kept.counts
    return verdict


def _turns(verdict: Verdict, facts: Facts) -> None:
    """What is broken of groups: the order within each, and that none waits for nothing."""
    lines: dict[tuple[str, str], list[tuple[Push, Delivery, str]]] = {}
    for mark, push in facts.pushes.items():
        if push.group and push.outcome == "accepted" and (first := push.first()):
            lines.setdefault((push.queue, push.group), []).append((push, first, mark))
    for (queue, _), line in lines.items():
        verdict.grouped += len(line)
        stored = sorted(line, key=lambda one: one[0].time)
        latest, before = 0, 0
        last: tuple[Push, Delivery, str] | None = None  # of those stored before, the last to come
        for push, first, _ in sorted(line, key=lambda one: one[0].due):
            while before < len(stored) and stored[before][0].time < push.due:
                if stored[before][1].now > latest:
                    last = stored[before]
                    latest = last[1].now
                before += 1
            if last and first.now < latest:
                if facts.forgot(queue, min(last[0].time, first.now) - AHEAD_MS, latest):
                    verdict.forgotten["out of order"] += 1
                else:
                    verdict.out_of_order.append(last[2])
    for queue, begin, end in facts.wedged:
        met = any(
            first <= end and begin <= last + RECONNECTED_MS
            for first, last, worker in facts.faults
            if worker == "-"
        )
        if met or facts.waited(queue, begin - RECONNECTED_MS, end):
            verdict.forgotten["wedged"] += 1
        else:
            verdict.wedged.append(f"{queue} {begin} {end}")


def _count(verdict: Verdict, push: Push, facts: Facts) -> None:
    verdict.accepted += push.outcome == "accepted"
    verdict.deliveries += len(push.deliveries)
    verdict.died += len(push.deaths)
    verdict.poisoned["pushed"] += push.kind == "poison"
    verdict.poisoned["ended"] += push.kind == "poison" and push.finished()
    verdict.poisoned["healthy"] += push.kind == "healthy"
    verdict.poisoned["outlived"] += any(_outlived(delivery, facts) for delivery in push.deliveries)
    verdict.moved += len({delivery.queue for delivery in push.deliveries}) > 1
    queues = [push.queue, *(d.queue for d in sorted(push.deliveries, key=lambda d: d.number))]
    verdict.relayed["dead letter"] += sum(before != after for before, after in pairwise(queues))
    for delivery in push.deliveries:
        if delivery.ended:
            verdict.done[delivery.verb] += 1
        elif delivery.pending:
            verdict.unknown[delivery.verb] += 1


def _storing(verdict: Verdict, push: Push, others: list[Push], facts: Facts) -> set[str]:
    """What is broken of what the producer was told. `others`: those of the same id."""
    broken = set()
    if push.outcome == "duplicate" and not others:
        broken.add("phantom")
    elif push.outcome in ("accepted", "duplicate"):
        stored = [push, *others]
        if push.outcome == "accepted" and not push.relayed:
            stored = [push]
        elif push.outcome == "duplicate":
            stored = others
        if not any(one.finished() for one in stored):
            broken.add("lost")
    if push.kind == "healthy" and (push.deaths or (push.outcome == "accepted" and push.dropped())):
        taken_back = not push.deaths and facts.forgot(push.queue, push.time, push.time)
        broken.add("lost" if taken_back else "healthy dead")
    if not push.deliveries and not push.deaths:
        return broken
    if push.due == FAR or push.outcome in ("duplicate", "refused"):
        broken.add("phantom")
    elif push.deliveries:
        first = min(delivery.now for delivery in push.deliveries)
        verdict.late_ms = max(verdict.late_ms, first - push.due)
        if first < push.due:
            broken.add("early")
    return broken


def _holders(verdict: Verdict, push: Push, facts: Facts) -> set[str]:
    """What is broken between the deliveries of a message."""
    deliveries = sorted(push.deliveries, key=lambda delivery: (delivery.now, delivery.number))
    robbed = [delivery for delivery in deliveries if delivery.robbed]
    robbed += [one for one, after in pairwise(deliveries) if _refused(push, one, after)]
    broken = _blame(verdict, facts, "robbed", push, robbed) if robbed else set()
    for pair in pairwise(deliveries):
        if promise := _between(verdict, push, pair, facts):
            broken |= _blame(verdict, facts, promise, push, pair)
        elif _run_twice(*pair, facts):
            if _unheld(*pair, facts):
                verdict.forgotten["run twice"] += 1
            else:
                broken.add("run twice")
    return broken


def _blame(
    verdict: Verdict,
    facts: Facts,
    promise: str,
    push: Push,
    deliveries: Sequence[Delivery],
    each: bool = False,
) -> set[str]:
    """The promise that these deliveries break, unless a failover may have lost one (each)."""
    # Or one that no ledger has, which a loop had fetched ahead: it and a later one have the same
    # ticket then, and what is done with the one is done to the other, as long as the loop has it.
    ahead = promise in ("two holders", "robbed", "early") and any(
        facts.forgot(delivery.queue, max(push.due, delivery.now - AHEAD_MS), delivery.now)
        for delivery in deliveries
    )
    if ahead or (all if each else any)(map(facts.touched, deliveries)):
        verdict.forgotten[promise] += 1
        return set()
    return {promise}


def _between(verdict: Verdict, push: Push, pair: tuple[Delivery, Delivery], facts: Facts) -> str:
    """The promise that a delivery and the next one break."""
    before, after = pair
    if before.ended == "acked":
        return "two holders" if after.now < before.begin else "acked again"
    if after.number <= before.number:
        return "two holders"
    if before.ended or (before.pending and before.verb in ("retry", "release", "bury")):
        # One that was done late counted as well; one of which nobody knows may have come too late.
        if after.now < (before.begin if before.ended else min(before.begin, before.end)):
            return "two holders"
        if after.now < _not_before(push, before):
            return "early"
    else:
        verdict.crashed += 1
        if after.now < before.end:
            return "two holders"
    if before.worker and after.now < before.begin and not _excused(before, after.now, facts):
        return "two holders"
    return ""


def _refused(push: Push, before: Delivery, after: Delivery) -> bool:
    """Whether a late verb was refused although nobody had taken the message until then."""
    died = any(death.number == before.number for death in push.deaths)
    next_one = after.number == before.number + 1 and after.queue == before.queue and not died
    return next_one and 0 < before.lost < after.now


def _run_twice(before: Delivery, after: Delivery, facts: Facts) -> bool:
    """Whether a message was begun again while the process that had begun it lived."""
    if not before.begun or before.ended or facts.alive.get(before.worker, 0) < after.now:
        return False
    return not any(
        begin <= after.now and before.now <= end + SETTLED_MS
        for begin, end, worker in facts.faults
        if worker == before.worker or (worker == "-" and end - begin > OUTAGE_MS)
    )


def _unheld(before: Delivery, after: Delivery, facts: Facts) -> bool:
    """Whether a failover may have lost one of two deliveries, or the ack of the first."""
    acked = bool(before.verb) and facts.forgot(before.queue, before.begin, before.begin + SENT_MS)
    return acked or any(facts.forgot(one.queue, one.now, one.now) for one in (before, after))


def _outlived(delivery: Delivery, facts: Facts) -> bool:
    """Whether its holder was at work when a fault began, longer than its lease, and lived on."""
    return delivery.begun and any(
        delivery.now < begin < delivery.begin and end - begin > delivery.end - delivery.now
        for begin, end, worker in facts.faults
        if worker == "-" and end < facts.alive.get(delivery.worker, 0)
    )


def _unseen(push: Push, facts: Facts) -> bool:
    """Whether a failover may have lost a delivery of which no ledger knows."""
    times = [push.time, *(delivery.now for delivery in push.deliveries)]
    queues = {push.queue, push.dead_letter, *(delivery.queue for delivery in push.deliveries)}
    begin = min(filter(None, times), default=0)
    return any(facts.forgot(queue, begin, max(times) + UNANSWERED_MS) for queue in queues)


def _excused(kept: Delivery, time: int, facts: Facts) -> bool:
    """Whether a fault that its heartbeat may have felt met a delivery before `time`."""
    return any(
        begin <= time and kept.now <= end + SETTLED_MS and worker in ("-", kept.worker)
        for begin, end, worker in facts.faults
    )


def _not_before(push: Push, delivery: Delivery) -> int:
    if delivery.ended not in ("retried", "released"):
        return 0
    if delivery.by_backoff:
        return delivery.begin + least_delay(push.backoff, delivery.attempt)
    return delivery.again


def _successors(
    verdict: Verdict, push: Push, facts: Facts, groups: dict[str, list[Push]]
) -> set[str]:
    last = max((delivery.number for delivery in push.deliveries), default=0)
    broken: set[str] = set()
    for delivery in push.deliveries:
        # An ack of which nothing is known was done where the message did not come again.
        done = delivery.ended == "acked" or (delivery.acking and delivery.number == last)
        for mark in delivery.successors:
            successor = facts.pushes[mark]
            stored = bool(successor.deliveries)
            verdict.succeeded += stored
            verdict.relayed["successor"] += stored and successor.relayed
            # One for another queue is dropped where a message of its id exists there.
            dropped = successor.relayed and len(groups.get(successor.id, ())) > 1
            if stored != done and not (done and dropped):
                broken |= _blame(verdict, facts, "torn", push, [delivery])
    return broken
