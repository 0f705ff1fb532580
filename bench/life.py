"""A delayed message's life step by step, dueq next to the bare commands: the server's instructions,
its commands, its CPU time. Each measure returns its figures and targets."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

import machine
from callgrind import counted_server
from machine import Figures, one_cpu
from measures import BATCHES, Outcome
from report import Target
from servers import Redis, cpu_seconds
from size import Size

T = TypeVar("T")

RATES = (50, 500, 2000)
"""Messages that fall due in a second."""
MOST_BEHIND = 0.05
"""Of the messages that fall due one by one, the share for which the consumer may be behind: it gets
the message when the next one is due already. It then takes the next one without a wait, which costs
the server less."""
REFUSAL = "refused: the consumer was behind, so messages waited for each other"
TRIES = 3
RATIO_LIMITS = {1: 1.5, 10: 1.7, 100: 1.8}


def step(
    socket: Path, way: str, name: str, batch: int, count: int, read: Callable[[], T]
) -> tuple[T, T]:
    """What `read` tells before and after a step of `count` messages, by way of "dueq" or "bare"."""
    return watched_step(socket, way, name, batch, count, read)[:2]


def watched_step(
    socket: Path, way: str, name: str, batch: int, count: int, read: Callable[[], T]
) -> tuple[T, T, float]:
    """The same, and the share of the messages for which dueq's consumer was behind."""
    words = [machine.DRIVER, "life", socket, way, name, batch, count]
    with subprocess.Popen(
        [str(word) for word in words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        try:
            ready = process.stdout.readline()
            before = read()
            if ready:
                process.stdin.write("go\n")
                process.stdin.flush()
            done = json.loads(process.stdout.readline() or "{}")
            after = read()
            if done.get("count") != count:
                raise SystemExit(f"{way} {name}: {process.stderr.read().strip() or 'no answer'}")
            return before, after, done["behind"] / count
        finally:
            process.stdin.close()


# ---- Instructions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A step, and how many thousand instructions of the server a message of it may take."""

    name: str
    step: str
    batch: int
    limit: float
    bare: bool = True
    """Whether the bare commands have such a step."""
    one_by_one: bool = False
    """A message takes its time, however fast the server is. A run is refused in which the consumer
    was behind: messages had waited for it."""

    def messages(self, size: Size) -> int:
        return size.counted // 10 if self.one_by_one else size.counted


ROWS: Sequence[Row] = (
    Row("push with a delay, one", "push", 1, 85),
    Row("deliver and ack, all due, one at a time", "due", 1, 160),
    Row("all due, one at a time, by reserve and ack", "due-calls", 1, 195, bare=False),
    Row("deliver and ack, all due, prefetch 100", "due", 100, 50),
    Row("all due, by reserve of 100 and ack of one", "due-calls", 100, 100, bare=False),
    Row("deliver and ack as it falls due, 50 a second", "falling-50", 1, 260, one_by_one=True),
    Row("cancel by own id", "cancel", 1, 60),
    Row("reschedule", "reschedule", 1, 75),
    Row("push ready, one", "push-ready", 1, 60),
    Row("push with an own id and a delay", "push-own", 1, 95, bare=False),
    Row("push with an own id, ready", "push-own-ready", 1, 68, bare=False),
    Row("push with a delay and unique", "push-unique", 1, 130, bare=False),
    Row("push that replaces a delayed one", "push-replace", 1, 130, bare=False),
    Row("consume ready, one at a time, heartbeat on", "ready", 1, 160),
    Row("ready, one at a time, by reserve and ack", "ready-calls", 1, 195, bare=False),
    Row("ready, by reserve of 100 and ack of one", "ready-calls", 100, 100, bare=False),
    Row("ready, by reserve of 100 and retry of one", "ready-retry", 100, 380, bare=False),
    Row("push ready to 1,000 groups, one", "push-groups", 1, 97, bare=False),
    Row("push ready to 1,000 groups, 100", "push-groups", 100, 36, bare=False),
    Row("push ready to a new group, one", "push-new-groups", 1, 97, bare=False),
    Row("push with a delay to 1,000 groups, one", "push-groups-delayed", 1, 136, bare=False),
    Row("push with a delay to 1,000 groups, 100", "push-groups-delayed", 100, 47, bare=False),
    Row("1,000 groups, one at a time, by reserve and ack", "groups-calls", 1, 255, bare=False),
    Row("consume 1,000 groups, one at a time, heartbeat on", "groups", 1, 225, bare=False),
    Row("consume 1,000 groups, prefetch 100", "groups", 100, 110, bare=False),
    Row("1,000 groups, all due, one at a time", "groups-due", 1, 219, bare=False),
    Row("1,000 groups, all due, prefetch 100", "groups-due", 100, 127, bare=False),
    Row(
        "1,000 groups, as it falls due, 50 a second",
        "groups-falling-50",
        1,
        357,
        bare=False,
        one_by_one=True,
    ),
    Row("1,000 groups in fifo, one, by reserve and ack", "fifo-calls", 1, 1400, bare=False),
    Row("consume 1,000 groups in fifo, one at a time", "fifo", 1, 1340, bare=False),
    Row("consume 1,000 groups in fifo, prefetch 100", "fifo", 100, 430, bare=False),
    Row("1,000 groups in strict, one, by reserve and ack", "strict-calls", 1, 1460, bare=False),
    Row("consume 1,000 groups in strict, one at a time", "strict", 1, 1440, bare=False),
    Row("consume 1,000 groups in strict, prefetch 100", "strict", 100, 475, bare=False),
)


def instructions(size: Size) -> Outcome:
    """Instructions of the server a message, by callgrind: the same on every machine, within a
    hundredth; within a fifth where messages fall due one by one."""
    print(f"instructions: {size.counted} messages a step, 200 bytes, callgrind", flush=True)
    rows: list[Figures] = []
    counted = _counts(size)
    print(f"\n{'thousands a message':<50}{'bare':>8}{'dueq':>8}{'target':>8}")
    for row in ROWS:
        found = {"name": row.name, "batch": row.batch, "messages": row.messages(size)}
        found |= {way: counted.get((row.name, way)) for way in ("bare", "dueq")}
        found |= {"limit": row.limit}
        if found["dueq"] is None:
            found["why"] = REFUSAL
        rows.append(found)
        cells = "".join(
            f"{'' if found[way] is None else format(found[way], '.1f'):>8}"
            for way in ("bare", "dueq")
        )
        print(f"{row.name:<50}{cells}{row.limit:>8g}  {found.get('why', '')}".rstrip(), flush=True)
    print()
    targets = [
        Target(
            f"thousand instructions: {row['name']}",
            row["dueq"],
            row["limit"],
            why=row.get("why", ""),
        )
        for row in rows
    ]
    return {"rows": rows}, targets


def _counts(size: Size) -> dict[tuple[str, str], float | None]:
    """By row and way: thousands a message, or None for a run that is refused."""
    counts: dict[tuple[str, str], float | None] = {}
    # Where nothing depends on time, as many at once as there are CPUs.
    for one_by_one, workers in ((False, os.cpu_count()), (True, 1)):
        with ThreadPoolExecutor(workers) as pool:
            begun = {
                (row.name, way): pool.submit(_counted, way, row, row.messages(size))
                for row in ROWS
                for way in (("bare", "dueq") if row.bare else ("dueq",))
                if row.one_by_one == one_by_one
            }
            counts |= {key: future.result() for key, future in begun.items()}
    return counts


def _counted(way: str, row: Row, count: int) -> float | None:
    """Thousands of instructions a message; None: the consumer was behind each time."""
    for _ in range(TRIES):
        instructions, behind = _counted_once(way, row, count)
        if behind <= MOST_BEHIND:
            return instructions / 1000
    return None


def _counted_once(way: str, row: Row, count: int) -> tuple[float, float]:
    """Instructions a message, on a server of its own, where no other step left anything; and the
    share of messages for which the consumer was behind."""
    with counted_server() as (socket, counter):
        before, after, behind = watched_step(socket, way, row.step, row.batch, count, counter.read)
    return (after - before) / count, behind


# ---- Scripts -----------------------------------------------------------------------------------


def scripts(size: Size) -> Outcome:
    """Scripts that one waiting consumer sends for a delayed message, and what they cost the server,
    at several rates: the more fall due in a second, the fewer scripts a message."""
    print("scripts: messages fall due one by one for one waiting consumer", flush=True)
    print("\na message                      scripts       commands      server us")
    rows: list[Figures] = []
    for rate in RATES:
        count = max(20, round(rate * 4 * size.due_seconds))
        row: Figures = {"rate": rate, "messages": count}
        rows.append(row)
        for _ in range(TRIES):
            with machine.server() as socket:
                redis = Redis(socket, 0)
                name = f"falling-{rate}"
                before, after, behind = watched_step(socket, "dueq", name, 1, count, redis.usage)
                redis.close()
            used = after - before
            if rate > RATES[0] or behind <= MOST_BEHIND:
                row |= {
                    "scripts": used.scripts / count,
                    "calls": used.calls / count,
                    "server_us": used.cpu * 1e6 / count,
                }
                break
        else:
            row["why"] = REFUSAL
        keys = ("scripts", "calls", "server_us")
        told = row.get("why") or "".join(f"{row[key]:<14.2f}" for key in keys).rstrip()
        print(f"{'':<10}{f'{rate} a second':<21}{told}", flush=True)
    print()
    return {"rows": rows}, []


# ---- Commands ----------------------------------------------------------------------------------


def commands(size: Size) -> Outcome:
    """Commands that the server runs for a message, those that scripts call among them."""
    count = size.counted // 10
    print(f"commands: {count} messages", flush=True)
    with machine.server() as socket:
        redis = Redis(socket, 0)
        found: Figures = {}
        for name in ("push", "cancel"):
            calls = [usage.calls for usage in step(socket, "dueq", name, 1, count, redis.usage)]
            found[name] = {"calls": (calls[1] - calls[0]) / count}
        redis.close()
    targets = [
        Target("commands for a delayed push, with its call", found["push"]["calls"], 8),
        Target("commands for a cancel, with its call", found["cancel"]["calls"], 9),
    ]
    for target in targets:
        print(f"{'':<10}{target.name:<58}{target.value:>6.1f}")
    print()
    return found, targets


# ---- CPU time ----------------------------------------------------------------------------------


def life(size: Size) -> Outcome:
    """The server's CPU time for the whole life of a delayed message, as a ratio to the bare
    commands': pushed with a delay, delivered when all are due, acknowledged."""
    messages, ways = size.cost // 5, ("bare", "dueq")
    print(f"life: {size.cost_rounds} rounds of {messages} delayed messages", flush=True)
    rounds: list[Figures] = []
    with one_cpu(), machine.start_server() as server:
        for number in range(size.cost_rounds):
            for batch in BATCHES:
                figures: Figures = {"round": number + 1, "batch": batch}
                for way in ways if number % 2 else reversed(ways):
                    figures[way] = {
                        name: _cpu_us(server, way, name, batch, messages)
                        for name in ("push", "due")
                    }
                rounds.append(figures)
    summary = []
    for batch in BATCHES:
        mine = [figures for figures in rounds if figures["batch"] == batch]
        row: Figures = {"batch": batch}
        for way in ways:
            row[f"{way}_us"] = median(sum(figures[way].values()) for figures in mine)
        row["ratio"] = median(
            sum(figures["dueq"].values()) / sum(figures["bare"].values()) for figures in mine
        )
        summary.append(row)
        print(
            f"{'':<10}batch {batch:<6}bare {row['bare_us']:.2f}, dueq {row['dueq_us']:.2f} us,"
            f" {row['ratio']:.2f}"
        )
    print()
    targets = [
        Target(
            f"server CPU of a delayed message's life at batch {row['batch']}, dueq / bare",
            row["ratio"],
            RATIO_LIMITS[row["batch"]],
        )
        for row in summary
    ]
    return {"messages": messages, "rounds": rounds, "summary": summary}, targets


def _cpu_us(server: machine.Server, way: str, name: str, batch: int, count: int) -> float:
    before, after = step(server.socket, way, name, batch, count, lambda: cpu_seconds(server.pid))
    return (after - before) * 1e6 / count
