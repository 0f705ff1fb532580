#!/usr/bin/env python3
"""Measures the limits of one server: what the verbs cost when millions of messages wait, how long
one script holds the server, and how messages that are due in the same millisecond come.

Starts private servers of its own. Prints tables, writes every figure as JSON, and ends with a line
for machines.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median

import machine
from machine import Figures, one_cpu, server
from report import Target, begin, conclude

RATIO_LIMIT = 1.5
SCRIPT_LIMIT_MS = 10.0
PAUSE_LIMIT_MS = 10.0
# Messages in the short and in the long queue, and due in the same millisecond.
FULL = (50_000, 5_000_000, 100_000)
QUICK = (5_000, 50_000, 5_000)
BURST_ROUNDS = 3
VERBS = ("push", "cancel", "promote", "reserve")
# The rows of the table of costs: label, and the name in the driver's figures.
COSTS = (
    ("push, any due time", "push_1"),
    ("push, due in order", "push_in_order_1"),
    ("cancel", "cancel_1"),
    ("promote, with its reserve", "promote_1"),
    ("reserve", "reserve_1"),
    ("push, any due time, by 100", "push_100"),
    ("push, due in order, by 100", "push_in_order_100"),
    ("cancel, by 100", "cancel_100"),
    ("promote, by many", "promote_many"),
    ("reserve, by 100", "reserve_100"),
    ("HSET, ZADD", "bare_push_1"),
    ("HDEL, ZREM", "bare_cancel_1"),
    ("HSET, ZADD, by 100", "bare_push_100"),
    ("HDEL, ZREM, by 100", "bare_cancel_100"),
)


def drive(*words: str | int | Path) -> Figures:
    """What one run of the driver measured; what it says on the way is shown."""
    done = subprocess.run([machine.DRIVER, *map(str, words)], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{machine.DRIVER} ended with {done.returncode}")
    figures: Figures = json.loads(done.stdout)
    return figures


def depth(shallow: int, deep: int) -> tuple[Figures, dict[str, float]]:
    """The costs in a short and a long queue, and how long the largest calls hold the server."""
    print(f"depth: {shallow} and {deep} delayed messages", flush=True)
    with one_cpu(), server() as short, server() as long:
        figures = drive("depth", short, long, shallow, deep)
    ratios: dict[str, float] = {}
    print(f"\nserver CPU, us a message       {shallow:<14}{deep:<14}ratio")
    for label, name in COSTS:
        costs = figures[name]
        at_short, at_long = median(costs["short"]), median(costs["long"])
        ratios[name] = at_long / at_short
        print(f"  {label:<29}{at_short:<14.2f}{at_long:<14.2f}{ratios[name]:.2f}")
    print("calls are of one message but where it says so; the last four are bare commands\n")

    print(f"one script with {figures['max_batch']} items, ms       median        longest")
    for name, took in figures["scripts"].items():
        print(f"  {name:<35}{median(took):<14.2f}{max(took):.2f}")
    for name in ("filling", "largest"):
        watched = figures[name]
        latency = ", ".join(f"{key} {value}" for key, value in watched["latency_ms"].items())
        print(
            f"{name}: {watched['scripts']} scripts, the longest {watched['longest_ms']:.1f} ms "
            f"of CPU; SLOWLOG {watched['slowlog_ms']:.1f} ms; LATENCY {latency or 'none'}"
        )
    print()
    return figures, ratios


def burst(messages: int, most: int) -> list[Figures]:
    """Messages that are due in the same millisecond, to consumers that take so many at a time.

    Each is done several times, and the median told: what holds the server does so each time, but
    other processes of the machine do not.
    """
    print(f"burst: {messages} messages that are due in the same millisecond", flush=True)
    ways = [(1, "made"), (10, "made"), (100, "made"), (most, "made"), (100, "own"), (most, "own")]
    rounds: list[list[Figures]] = [[] for _ in ways]
    with server() as socket:
        for index in range(BURST_ROUNDS):
            print(f"  round {index + 1} of {BURST_ROUNDS}", flush=True)
            for row, (batch, ids) in zip(rounds, ways, strict=True):
                row.append(drive("burst", socket, messages, batch, ids))
    print(
        "\n                                                      the longest answer to a PING, ms"
    )
    print("batch     ids       seconds   early     misplaced     before        meanwhile     wall")
    rows: list[Figures] = []
    for (batch, ids), row in zip(ways, rounds, strict=True):
        summary: Figures = {"batch": batch, "ids": ids, "rounds": row}
        for name in ("early", "misplaced"):
            summary[name] = sum(figures[name] for figures in row)
        summary["seconds"] = median(figures["seconds"] for figures in row)
        summary["quiet_ms"] = median(figures["quiet"]["longest_ms"] for figures in row)
        summary["pause_ms"] = median(figures["busy"]["longest_ms"] for figures in row)
        summary["wall_ms"] = median(figures["busy"]["wall_ms"] for figures in row)
        rows.append(summary)
        print(
            f"{batch:<10}{ids:<10}{summary['seconds']:<10.2f}{summary['early']:<10}"
            f"{summary['misplaced']:<14}{summary['quiet_ms']:<14.2f}{summary['pause_ms']:<14.2f}"
            f"{summary['wall_ms']:.2f}"
        )
    print()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer messages: says little")
    parser.add_argument("--json", type=Path, default=machine.ROOT / "build/limits.json")
    options = parser.parse_args()
    if not machine.DRIVER.exists():
        parser.error(f"{machine.DRIVER} is not built: run ./dev limits")
    shallow, deep, together = QUICK if options.quick else FULL

    # What runs beside it makes others wait for the processor, which is not what is measured.
    with suppress(PermissionError):
        os.nice(-10)
    report = begin(options.quick)
    report["depth"], ratios = depth(shallow, deep)
    report["ratios"] = ratios
    report["burst"] = burst(together, report["depth"]["max_batch"])
    report["machine"]["load_after"] = os.getloadavg()[0]

    script_ms = max(report["depth"][name]["longest_ms"] for name in ("filling", "largest"))
    pause_ms = max(row["pause_ms"] for row in report["burst"])
    wrong = sum(row["early"] + row["misplaced"] for row in report["burst"])
    targets = [
        Target(f"cost of {verb}, {deep} / {shallow} queued", ratios[f"{verb}_1"], RATIO_LIMIT)
        for verb in VERBS
    ]
    targets += [
        Target("the longest script, ms", script_ms, SCRIPT_LIMIT_MS),
        Target("the longest pause for other clients, ms", pause_ms, PAUSE_LIMIT_MS),
        Target("messages early or out of their order", wrong, 0),
    ]
    conclude(report, targets, options.json)
    costs = " ".join(f"{verb}_ratio={ratios[f'{verb}_1']:.2f}" for verb in VERBS)
    print(
        f"limits: {costs} longest_script_ms={script_ms:.1f} longest_pause_ms={pause_ms:.1f} "
        f"in_order={int(wrong == 0)}"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
