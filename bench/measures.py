"""The measures: each runs the driver, prints what it found and returns its figures and targets."""

import math
import shutil
import subprocess
from statistics import median
from typing import Any

from machine import Figures, drive, drives, many_files, one_cpu, server
from report import Target
from size import Size

VERBS = ("push", "reserve", "ack")
BATCHES = (1, 10, 100)
RATIO_LIMITS = {1: 1.6, 10: 1.35, 100: 1.2}
LATENESS_LIMIT_MS = 2.0
IDLE_LIMIT = 0.2
BODY = 200
MEMORY_LIMITS = {"ready": 125, "delayed": 230}
"""Bytes over the body."""
GROUP_LIMITS = {"ready": 30, "delayed": 30}
"""Bytes more of a message that has a group."""
LIVING_GROUP_LIMIT = 300
WOKEN = 20
"""How many messages fall due, each while all consumers wait."""
PUSH_LIMITS = {20: 12}
DELIVERY_LIMITS = {20: 20, 1000: 40}
"""Commands that the server runs, by the number of waiting consumers."""


Outcome = tuple[Figures, list[Target]]


def cost(size: Size) -> Outcome:
    """The server's CPU time a message: the scripts against the commands they stand for."""
    messages, count = size.cost, size.cost_rounds
    ways = ["bare", "scripts", *(["loop"] if drives("loop") else [])]
    rounds: list[dict[str, Any]] = []
    print(f"cost: {count} rounds of {messages} messages with a body of 200 bytes", flush=True)
    with one_cpu(), server() as socket:
        for index in range(count):
            print(f"  round {index + 1}", flush=True)
            round_trip = drive("ping", socket, messages)
            for batch in BATCHES:
                figures: dict[str, Any] = {"round": index + 1, "batch": batch, "ping": round_trip}
                for way in ways if index % 2 else reversed(ways):
                    figures[way] = drive(way, socket, batch, messages)
                rounds.append(figures)

    summary = [_summary([r for r in rounds if r["batch"] == batch], batch) for batch in BATCHES]
    print_cost(summary, median(r["ping"]["server_us"] for r in rounds))
    targets = [
        Target(
            f"server CPU of a whole life at batch {row['batch']}, {way} / bare",
            row[key]["ratio"],
            RATIO_LIMITS[row["batch"]],
        )
        for row in summary
        for way, key in [("one-round-trip loop", "loop") if "loop" in row else ("dueq", "all")]
    ]
    return {"messages": messages, "rounds": rounds, "summary": summary}, targets


def _summary(rounds: list[dict[str, Any]], batch: int) -> dict[str, Any]:
    """Medians over the rounds, for each verb and for all three; a ratio is that of one round."""
    row: dict[str, Any] = {"batch": batch}
    for name in (*VERBS, "all"):
        verbs = VERBS if name == "all" else (name,)
        bare, scripts = (
            [sum(r[way][verb]["server_us"] for verb in verbs) for r in rounds]
            for way in ("bare", "scripts")
        )
        ratios = [s / b for s, b in zip(scripts, bare, strict=True)]
        bare_wall, scripts_wall = (
            median(sum(r[way][verb]["wall_us"] for verb in verbs) for r in rounds)
            for way in ("bare", "scripts")
        )
        trips = [len(verbs) * r["ping"]["server_us"] / batch for r in rounds]
        row[name] = {
            "bare_us": median(bare),
            "scripts_us": median(scripts),
            "bare_wall_us": bare_wall,
            "scripts_wall_us": scripts_wall,
            "ratio": median(ratios),
            "ratio_lowest": min(ratios),
            "ratio_highest": max(ratios),
            "ratio_without_round_trip": median(
                (s - t) / (b - t) if b > t else math.nan
                for s, b, t in zip(scripts, bare, trips, strict=True)
            ),
        }
    if all("loop" in r for r in rounds):
        looped = [sum(verb["server_us"] for verb in r["loop"].values()) for r in rounds]
        bare = [sum(r["bare"][verb]["server_us"] for verb in VERBS) for r in rounds]
        row["loop"] = {
            "loop_us": median(looped),
            "ratio": median(us / floor for us, floor in zip(looped, bare, strict=True)),
        }
    return row


def print_cost(summary: list[dict[str, Any]], ping_us: float) -> None:
    print()
    print("server CPU, us a message       push          reserve       ack           all")
    for row in summary:
        for label, key, digits in (
            ("bare", "bare_us", 2),
            ("scripts", "scripts_us", 2),
            ("scripts / bare", "ratio", 2),
            ("  lowest round", "ratio_lowest", 2),
            ("  highest round", "ratio_highest", 2),
            ("  without round trip", "ratio_without_round_trip", 1),
        ):
            cells = "".join(f"{row[name][key]:<14.{digits}f}" for name in (*VERBS, "all"))
            head = f"batch {row['batch']}" if key == "bare_us" else ""
            print(f"{head:<10}{label:<21}{cells}".rstrip())
        if "loop" in row:
            print(
                f"{'':<10}{'one-round-trip loop':<21}{row['loop']['loop_us']:.2f} us in all,",
                end="",
            )
            print(f" {row['loop']['ratio']:.2f} of the bare commands")
    print(f"a round trip without work (PING) is {ping_us:.2f} us of it, once for each call\n")


def percentile(sorted_values: list[float], share: float) -> float:
    """The smallest value that at least that share of the values does not exceed."""
    return sorted_values[max(0, math.ceil(share * len(sorted_values)) - 1)]


def spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: percentile(ordered, share) for name, share in shares.items()}


def lateness(size: Size) -> Outcome:
    """How late delayed messages reach one consumer that waits for them; and how late plain timers
    of this machine come meanwhile, which no queue can beat."""
    messages, count = size.late, size.rounds
    rounds: list[dict[str, Any]] = []
    print(f"lateness: {count} x {messages} delayed messages to one waiting consumer", flush=True)
    with server() as socket:
        for _ in range(count):
            timers = drive("timers", messages)
            figures = drive("lateness", socket, messages)
            rounds.append(
                {
                    "messages": spread(figures["late_ms"]),
                    "timers": spread(timers["late_ms"]),
                    "early": figures["early"],
                    "messages_late_ms": figures["late_ms"],
                    "timers_late_ms": timers["late_ms"],
                }
            )
    early = sum(r["early"] for r in rounds)
    summary = {
        kind: {name: median(r[kind][name] for r in rounds) for name in rounds[0][kind]}
        for kind in ("messages", "timers")
    }
    print()
    print("late, ms                       p50           p95           p99           max")
    for label, kind in (("messages", "messages"), ("plain timers", "timers")):
        print(
            f"{'':<10}{label:<21}{''.join(f'{v:<14.2f}' for v in summary[kind].values())}".rstrip()
        )
    print(f"{'':<10}{'early messages':<21}{early}\n")
    targets = [
        Target("lateness p99, ms", summary["messages"]["p99_ms"], LATENESS_LIMIT_MS),
        Target("messages that came early", early, 0),
    ]
    return {"rounds": rounds, "summary": summary | {"early": early}}, targets


def idle(size: Size) -> Outcome:
    """The commands that the server runs while one consumer waits on an empty queue."""
    seconds = size.idle_seconds
    print(f"idle: one consumer waits for {seconds} s on an empty queue", flush=True)
    with server() as socket:
        figures = drive("idle", socket, seconds, 1)
    # Of a script, what it calls counts too: never fewer than the consumer sent.
    calls = {name: n for name, n in figures["calls"].items() if name != "config|resetstat"}
    total, seconds = sum(calls.values()), figures["seconds"]
    figures |= {"calls": calls, "commands_a_second": total / seconds}
    listed = ", ".join(f"{n} {name}" for name, n in sorted(calls.items())) or "none"
    print(f"\nidle      commands             {total} in {seconds:.0f} s: {listed}")
    print(f"{'':<10}consumer's CPU       {figures['client_us'] / seconds:.1f} us a second\n")
    value = figures["commands_a_second"]
    return figures, [Target("commands a second of an idle consumer", value, IDLE_LIMIT)]


def waking(size: Size) -> Outcome:
    """The commands of a delayed message while many consumers wait: those of its push, which may
    wake one, and those of its delivery and acknowledgement."""
    rows: list[Figures] = []
    print(f"waking: {WOKEN} messages, one after the other, each to many that wait", flush=True)
    print("\ncommands run                   push          delivery      due in turn")
    for consumers in size.crowds:
        with many_files(), server() as socket:
            found = drive("waking", socket, consumers, WOKEN)
        rows.append(found)
        calls = (found[name]["calls"] for name in ("push", "delivery"))
        cells = "".join(f"{n:<14.1f}" for n in (*calls, found["due"]["delivery"]["calls"]))
        print(f"{'':<10}{f'{consumers} waiting':<21}{cells}".rstrip(), flush=True)
    print()
    targets = [
        Target(
            f"commands run for {what} of a delayed message, {row['consumers']:,} waiting",
            row[name]["calls"],
            limits[row["consumers"]],
        )
        for row in rows
        for name, what, limits in (
            ("push", "the push", PUSH_LIMITS),
            ("delivery", "the delivery", DELIVERY_LIMITS),
        )
        if row["consumers"] in limits
    ]
    return {"rows": rows}, targets


def memory(size: Size) -> Outcome:
    """The server's bytes for a message, over those of its body, in queues of several lengths."""
    rows: list[Figures] = []
    print("memory: messages in each state, each number on a server of its own", flush=True)
    print("\nbytes over the body            ready         delayed       leased")
    for messages in (size.memory, *size.memories):
        with server() as socket:
            found = drive("memory", socket, messages, BODY)
        rows.append(found)
        cells = "".join(f"{found[state]:<14.0f}" for state in ("ready", "delayed", "leased"))
        print(f"{'':<10}{f'{messages:,} messages':<21}{cells}".rstrip(), flush=True)
    with server() as socket:
        grouped = drive("group-memory", socket, size.memory)
    more = {state: grouped[f"{state}_one"] - grouped[f"{state}_none"] for state in GROUP_LIMITS}
    living = grouped["ready_ones"] - grouped["ready_one"]
    told = "".join(f"{state} {bytes:+.0f}, " for state, bytes in more.items())
    print(f"\nof a message with a group: {told}of a living group: {living:+.0f}\n", flush=True)
    # Bytes depend on how full the server's hash tables are, so a limit is for one number.
    figures = rows[0] | {"rows": sorted(rows, key=lambda row: row["messages"]), "groups": grouped}
    targets = [
        Target(f"bytes of a {state} message over its body", figures[state], limit)
        for state, limit in MEMORY_LIMITS.items()
    ]
    targets += [
        Target(f"bytes more of a {state} message with a group", more[state], limit)
        for state, limit in GROUP_LIMITS.items()
    ]
    targets.append(Target("bytes of a living group", living, LIVING_GROUP_LIMIT))
    return figures, targets


def rpush(size: Size) -> Outcome:
    """What the server takes at most: redis-benchmark's RPUSH of a body's size, 100 in flight on one
    connection."""
    count, words = size.rounds, size.rpush
    print(f"rpush: {count} x {words} by redis-benchmark, one connection, 100 in flight", flush=True)
    program = shutil.which("redis-benchmark")
    if not program:
        raise SystemExit("there is no redis-benchmark: apt-get install redis-tools")
    rounds = []
    with server() as socket:
        for _ in range(count):
            options = ["-s", socket, "-t", "rpush", "-d", "200", "-P", "100", "-c", "1", "--csv"]
            done = subprocess.run(
                [program, *map(str, options), "-n", str(words)],
                capture_output=True,
                text=True,
                timeout=120,
                check=True,
            )
            line = next(row for row in done.stdout.splitlines() if row.startswith('"RPUSH"'))
            rounds.append(float(line.split(",")[1].strip('"')))
    figures: Figures = {"rounds": rounds, "summary": {"rate": median(rounds)}}
    print(f"{'':<10}{'RPUSH':<21}{median(rounds):,.0f} a second\n")
    return figures, []
