"""What a message's queue, attempt and crashes must be after all that was done with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ledger import Death, Delivery, Push


class State(NamedTuple):
    queue: str
    failures: int = 0
    crashes: int = 0
    dead: bool = False


def follows(push: Push) -> bool:
    """
    Does each delivery and death follow from those before? Deliveries that nobody noted (their
    consumer was killed, or lost the answer) have crashed, or a loop's end gave them back uncounted.
    """
    states = {State(push.queue)}
    ended = 0
    facts: list[Delivery | Death] = [*push.deliveries, *push.deaths]
    facts.sort(key=lambda fact: (fact.number, isinstance(fact, Death)))
    for fact in facts:
        for _ in range(fact.number - isinstance(fact, Delivery) - ended):
            states = _all(_crash(push, state) | _back(state) for state in states)
        if isinstance(fact, Delivery):
            seen = State(fact.queue, fact.attempt - 1, fact.crashes)
            after = _ends(push, fact, seen)
        else:
            seen = State(fact.queue, fact.failures, fact.crashes, dead=True)
            after = {State(fact.queue)}
        if seen not in states:
            return False
        states, ended = after, fact.number
    return True


def _all(sets: Iterable[set[State]]) -> set[State]:
    return {state for states in sets for state in states}


def _ends(push: Push, delivery: Delivery, held: State) -> set[State]:
    """The states after a delivery: two where it is not known what came of it."""
    failed = held._replace(failures=held.failures + 1)
    spent = 0 < push.max_attempts <= failed.failures
    crashed = _crash(push, held) | ({held} if delivery.closed else set())
    match delivery.ended or (delivery.pending and delivery.verb):
        case "retried":
            return set() if spent else {failed}
        case "buried":
            return _end(push, failed) if spent or delivery.verb == "bury" else set()
        case "released":
            return {held}
        case "acked":
            return set()
        case "retry":
            return crashed | (_end(push, failed) if spent else {failed})
        case "bury":
            return crashed | _end(push, failed)
        case "release":
            return crashed | {held}
        case _:
            return crashed


def _crash(push: Push, held: State) -> set[State]:
    if held.dead:
        return set()
    crashed = held._replace(crashes=held.crashes + 1)
    return _end(push, crashed) if 0 < push.max_crashes <= crashed.crashes else {crashed}


def _back(held: State) -> set[State]:
    return set() if held.dead else {held}


def _end(push: Push, state: State) -> set[State]:
    if push.dead_letter == "drop":
        return set()
    if push.dead_letter in ("-", state.queue):
        return {state._replace(dead=True)}
    return {State(push.dead_letter)}


def least_delay(backoff: str, failures: int) -> int:
    """The least ms after so many failures by a backoff as the workers write it."""
    if backoff == "default":
        backoff = "exponential:1000,3600000:equal"
    kind, text, jitter = backoff.split(":")
    delays = [int(delay) for delay in text.split(",")]
    match kind:
        case "fixed":
            delay = delays[0]
        case "linear":
            delay = min(delays[0] * failures, delays[1])
        case "exponential":
            delay = min(delays[0] << failures - 1, delays[1])
        case "list":
            delay = delays[min(failures, len(delays)) - 1]
        case _:
            raise ValueError(backoff)
    return {"none": delay, "equal": delay // 2, "full": 0}[jitter]
