"""Judges kept ends and batches by the ledgers of a chaos run and the rules of README.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from batch_ledger import ABSENT, ALIVE, Ack, Asked, Batch, Call, Kept
from ledger import UNANSWERED_MS, Facts

CALLBACKS = ("then", "catch", "finally")
# A wait that lasted for longer than so after the ack was answered must have been told.
TOLD_MS = 1000


@dataclass
class KeptVerdict:
    """Counts, and for each broken promise the ids of the batches and messages."""

    broken: dict[str, list[str]] = field(default_factory=dict)
    forgotten: Counter[str] = field(default_factory=Counter)  # broken because of a failover
    counts: Counter[str] = field(default_factory=Counter)

    def blame(self, promise: str, id: str, taken_back: bool) -> None:
        """taken_back: a failover may explain it."""
        if taken_back:
            self.forgotten[promise] += 1
        else:
            self.broken.setdefault(promise, []).append(id)


def judge_kept(facts: Facts) -> KeptVerdict:
    verdict = KeptVerdict()
    members: dict[str, dict[str, Kept]] = {}
    for id, kept in facts.kept.messages.items():
        _message(verdict, id, kept, facts)
        members.setdefault(kept.batch, {})[id] = kept
    for id, batch in facts.kept.batches.items():
        verdict.counts["batches"] += 1
        if not batch.begin:
            verdict.blame("phantom", id, False)
            continue
        mine = members.get(id, {})
        for name in CALLBACKS:
            calls = sorted(batch.calls.get(name, ()), key=lambda call: (call.time, call.number))
            verdict.counts[name] += bool(calls)
            _doubled(verdict, id, batch, calls, mine, facts)
            _expected(verdict, id, batch, name, calls, mine, facts)
    return verdict


# ---- Results ----


def _message(verdict: KeptVerdict, id: str, kept: Kept, facts: Facts) -> None:
    results = {ack.result for ack in kept.acks}
    wrong = {one.result for one in kept.asked if one.outcome == "acked"} - results
    verdict.counts["asked"] += len(kept.asked) - bool(kept.final)
    if not kept.begin or (wrong and not (results and wrong == {"-"})):
        verdict.blame("phantom", id, False)
        return
    if wrong:
        verdict.blame("results lost", id, False)
        return
    if kept.stored and kept.final and kept.final.outcome in (ABSENT, ALIVE):
        verdict.blame("lost", id, False)
        return
    answered = [ack for ack in kept.acks if ack.done and ack.result != "-"]
    verdict.counts["results"] += len(answered)
    missing = [
        (ack, asked) for ack in answered for asked in kept.asked if _misses(kept, ack, asked, facts)
    ]
    if missing:
        taken_back = all(
            facts.forgot(kept.queue, ack.begin, ack.done)
            or facts.forgot(kept.queue, asked.begin, asked.end)
            for ack, asked in missing
        )
        verdict.blame("results lost", id, taken_back)


def _misses(kept: Kept, ack: Ack, asked: Asked, facts: Facts) -> bool:
    """Whether somebody was not told a result that was kept by then."""
    if asked.end >= ack.begin + kept.keep or (asked.outcome, asked.result) == ("acked", ack.result):
        return False
    if asked.begin >= ack.done:
        return True
    waited_for = asked.begin + asked.wait - ack.done
    if asked.outcome != ALIVE or waited_for < TOLD_MS:
        return False
    # Neither the server, nor its connections, nor the one who waits may have been away; and a slot
    # that moves may leave its wake tokens behind.
    met = any(
        begin <= asked.end and asked.begin <= end and worker in ("-", asked.worker)
        for begin, end, worker in facts.faults
    )
    moved = any(
        begin <= asked.end and asked.begin <= end
        for begin, end in facts.kept.moved.get(kept.queue, ())
    )
    return not (met or moved)


# ---- Callbacks ----


def _expected(
    verdict: KeptVerdict,
    id: str,
    batch: Batch,
    name: str,
    calls: list[Call],
    members: dict[str, Kept],
    facts: Facts,
) -> None:
    """Whether a callback came that had to come, and none that had not to, or before its time."""
    if any(kept.final is None for kept in members.values()):
        return
    outcomes = {kept.final.outcome for kept in members.values() if kept.final} - {ABSENT}
    due = {
        "then": outcomes <= {"acked"},
        "catch": "dead" in outcomes,
        "finally": ALIVE not in outcomes,
    }
    if calls and not due[name]:
        taken_back = all(_taken_back(batch, call, members, facts) for call in calls)
        verdict.blame("callbacks doubled", id, taken_back)
    if due[name] and not calls and (batch.opened or _has_stored(members)):
        verdict.blame("callbacks lost", id, _is_gone(batch, members, facts))
    if name != "catch":
        for call in calls:
            if call.time < _ended_at(members):
                verdict.blame("early", id, _taken_back(batch, call, members, facts))


def _doubled(
    verdict: KeptVerdict,
    id: str,
    batch: Batch,
    calls: list[Call],
    members: dict[str, Kept],
    facts: Facts,
) -> None:
    """
    Whether a callback was pushed twice. What is delivered again because nobody had acknowledged it
    is the same message, and its next delivery.
    """
    doubled = [
        before
        for before, after in pairwise(calls)
        if after.id != before.id or after.number <= before.number or before.answered
    ]
    if doubled:
        taken_back = all(_taken_back(batch, call, members, facts) for call in doubled)
        verdict.blame("callbacks doubled", id, taken_back)


def _has_stored(members: dict[str, Kept]) -> bool:
    return any(kept.stored for kept in members.values())


def _is_gone(batch: Batch, members: dict[str, Kept], facts: Facts) -> bool:
    """
    Whether a failover may have lost the batch itself. Its opening does not wait for a replica, but
    a push of a member does, and a replica has all that was written before.
    """
    return not _has_stored(members) and facts.forgot(batch.queue, batch.begin, batch.opened)


def _firsts(members: dict[str, Kept]) -> Iterator[int]:
    """When the first ack of each acknowledged member began."""
    for kept in members.values():
        if kept.final and kept.final.outcome == "acked" and kept.acks:
            yield min(ack.begin for ack in kept.acks)


def _ended_at(members: dict[str, Kept]) -> int:
    """All members have ended at this time at the earliest. 0: nothing is known."""
    return max(_firsts(members), default=0)


def _taken_back(batch: Batch, call: Call, members: dict[str, Kept], facts: Facts) -> bool:
    """
    Whether a failover may have lost the push of a callback, its delivery, or the ack of it. It was
    pushed when the last member had ended; if a member died, at any time.
    """
    died = any(kept.final and kept.final.outcome != "acked" for kept in members.values())
    begin = min(call.time, batch.begin if died else _ended_at(members) or batch.begin)
    end = call.answered or call.time + UNANSWERED_MS
    return any(facts.forgot(queue, begin, end) for queue in {batch.queue, call.queue})
