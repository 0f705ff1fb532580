"""
The end of a chaos run, when there are no more faults: the queues are emptied and counted, and those
with kept ends are asked how each message ended.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from batch_ledger import ABSENT, ALIVE, LONG_MS
from fleet import Fleet, now_ms
from ledger import read

import dueq
from private_server import Refused, Server

EXISTING = ("ready", "delayed", "leased", "dead", "outbox")
UNWANTED = (*EXISTING, "quarantined", "expired", "cancelled", "purged")  # in the end
COUNTED = ("acked", "retried", *UNWANTED)
ENDING = ("ready", "delayed", "leased", "outbox")  # in queues whose dead messages stay
PATIENCE_S = 60.0  # it may go on for so long without an ack
SHORT_S = 60.0  # a run that is shorter does not wait 30 s for the leases of relays that were killed
HASTEN = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, ticket in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    redis.call('ZADD', KEYS[1], 'XX', now, ticket)
    redis.call('HSET', KEYS[2], 'next_event', now, 'outbox_event', now)
end
return 1
"""


def count(queues: list[dueq.Queue]) -> Counter[str]:
    """The stats of all queues together."""
    total: Counter[str] = Counter()
    for queue in queues:
        stats = queue.stats()
        total.update({name: getattr(stats, name) for name in COUNTED})
    return total


def existing(queues: list[dueq.Queue]) -> int:
    stats = count(queues)
    return sum(stats[name] for name in EXISTING)


def hasten(queues: Sequence[dueq.Queue], servers: Sequence[Server]) -> None:
    """Ends the leases of relays. servers: a queue is on one of them, and the others refuse."""
    for queue in queues:
        keys = [f"dueq:{{{queue.name}}}:{key}" for key in ("outbox", "meta")]
        for server in servers:
            with suppress(Refused):
                server.command("EVAL", HASTEN, 2, *keys)


def drain(queues: list[dueq.Queue], fleet: Fleet, steady: str) -> Counter[str]:
    """
    Fresh consumers empty the queues, the dead kicked. Returns what they counted in the end.
    steady: the name of the one with poison, which its own workers empty: what is dead in the end
    is kicked and acknowledged.
    """
    fleet.start("drain", 1)
    [with_poison] = (queue for queue in queues if queue.name == steady)
    await_deaths(with_poison, fleet)
    fleet.end("steady")
    fleet.start_steady("drain", steady, 1)
    acked, moved = -1, time.monotonic()
    with (fleet.folder / "dead.ledger").open("w", encoding="utf-8", buffering=1) as ledger:
        # Twice, because a message can move from a queue not yet counted to one that is counted.
        while existing(queues) or existing(queues):
            stats = count(queues)
            if stats["acked"] != acked:
                acked, moved = stats["acked"], time.monotonic()
            if time.monotonic() > moved + PATIENCE_S:
                fleet.troubles.append(f"the queues do not get empty: {dict(stats)}")
                break
            for queue in queues:
                kick_dead(queue, ledger)
            fleet.watch()
            time.sleep(0.1)
    fleet.end("drain")
    return count(queues)


def await_deaths(queue: dueq.Queue, fleet: Fleet) -> None:
    """
    Returns when there is nothing in a queue that is not dead. A few of its messages take longer
    than the longest outage, and those that wait behind them go one by one.
    """
    patience = PATIENCE_S + 2 * fleet.longest
    acked, moved = -1, time.monotonic()
    while existing([queue]) > queue.stats().dead:
        stats = queue.stats()
        if stats.acked != acked:
            acked, moved = stats.acked, time.monotonic()
        if time.monotonic() > moved + patience:
            fleet.troubles.append(f"{queue.name} does not get empty: {queue.stats()}")
            return
        fleet.watch(idle=True)
        time.sleep(0.1)


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


def finish(queues: Sequence[dueq.Queue], fleet: Fleet) -> None:
    """Ends what is left of kept ends and batches, except for what is dead."""
    fleet.start_finish(tuple(queue.name for queue in queues))
    least, moved = -1, time.monotonic()
    # Twice, because a message can move from a queue not yet counted to one that is counted.
    while (left := unfinished(queues)) or unfinished(queues):
        if left != least:
            least, moved = left, time.monotonic()
        if time.monotonic() > moved + PATIENCE_S:
            batches = [batch for queue in queues for batch in queue.batches()]
            fleet.troubles.append(f"{left} messages and batches do not end: {batches[:5]}")
            break
        fleet.watch()
        time.sleep(0.1)
    fleet.end("finish")
    ask_all({queue.name: queue for queue in queues}, fleet.folder)


def unfinished(queues: Sequence[dueq.Queue]) -> int:
    stats = [queue.stats() for queue in queues]
    numbers = [getattr(each, name) for each in stats for name in ENDING]
    return sum(map(int, numbers)) + sum(len(queue.batches()) for queue in queues)


def ask_all(queues: dict[str, dueq.Queue], folder: Path) -> None:
    """Notes how each message ended of which the end is kept for long."""
    paths = sorted(folder.glob("*.ledger"))
    messages = read(path.open(encoding="utf-8", errors="replace") for path in paths).kept.messages
    with (folder / "final.ledger").open("w", encoding="utf-8") as ledger:
        for id, message in messages.items():
            if message.keep < LONG_MS:
                continue
            begin, outcome, result = now_ms(), ABSENT, "-"
            end: dueq.End | None = None
            with suppress(dueq.NotFound):
                end = queues[message.queue].outcome(id)
                outcome = end.outcome if end else ALIVE
            if end and end.has_result:
                result = end.result.split(b" ")[0].decode()
            ledger.write(f"final {id} {begin} {now_ms()} 0 {outcome} {result} -\n")
