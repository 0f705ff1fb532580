"""The end of a chaos run, when there are no more faults: the queues are emptied and counted."""

from __future__ import annotations

import time
from collections import Counter
from typing import TextIO

from crew import Crew

import dueq

LIVING = ("ready", "delayed", "leased", "dead", "outbox")
UNWANTED = (*LIVING, "quarantined", "expired", "cancelled", "purged")  # in the end
COUNTED = ("acked", "retried", *UNWANTED)
PATIENCE_S = 60.0  # it may go on for so long without an ack


def count(queues: list[dueq.Queue]) -> Counter[str]:
    """The stats of all queues together."""
    total: Counter[str] = Counter()
    for queue in queues:
        stats = queue.stats()
        total.update({name: getattr(stats, name) for name in COUNTED})
    return total


def living(queues: list[dueq.Queue]) -> int:
    stats = count(queues)
    return sum(stats[name] for name in LIVING)


def drain(queues: list[dueq.Queue], crew: Crew) -> Counter[str]:
    """Fresh consumers empty the queues, the dead kicked. Returns what they counted in the end."""
    crew.hire("drain", 1)
    acked, moved = -1, time.monotonic()
    with (crew.folder / "dead.ledger").open("w", encoding="utf-8", buffering=1) as ledger:
        # Twice, because a message can move from a queue not yet counted to one that is counted.
        while living(queues) or living(queues):
            stats = count(queues)
            if stats["acked"] != acked:
                acked, moved = stats["acked"], time.monotonic()
            if time.monotonic() > moved + PATIENCE_S:
                crew.troubles.append(f"the queues do not get empty: {dict(stats)}")
                break
            for queue in queues:
                kick_dead(queue, ledger)
            crew.watch()
            time.sleep(0.1)
    crew.dismiss("drain")
    return count(queues)


def kick_dead(queue: dueq.Queue, ledger: TextIO) -> None:
    """Notes what is dead, and gives it back."""
    dead = list(queue.peek("dead"))
    for message in dead:
        mark = message.body.split(b" ", 1)[0].decode()
        ledger.write(
            f"dead {mark} {message.deliveries} {queue.name} {message.attempt} {message.crashes}\n"
        )
    if dead:
        queue.kick_many([message.id for message in dead])
