"""How long a light tenant waits beside heavy ones, and how many messages a worker gets until all is
done.

One worker handles one message at a time, and each takes the same time: the unit. Units are counted
and not timed, so the figures do not depend on the machine. A plan says at which unit each message
is pushed, or at the end of which message. The handler pushes what is due while it handles one."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters import START_SECONDS, Failed
from compare import Entry
from servers import serve
from size import Size

LIGHT = "light"
EVERY = 20
"""Units between two messages of the light tenant."""
UNIT_MS = 1
"""How long a handler sleeps."""


@dataclass
class Plan:
    """Messages, each with its group, and either the unit at which it is pushed, or the message at
    whose end it is pushed."""

    groups: list[str] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    after: dict[int, int] = field(default_factory=dict)
    """By message: that at whose end it is pushed."""

    def push(self, group: str, unit: int = 0, count: int = 1) -> None:
        self.groups += [group] * count
        self.units += [unit] * count

    def chain(self, group: str, count: int) -> None:
        """Each end pushes the next."""
        self.push(group)
        for _ in range(count - 1):
            self.after[len(self.groups)] = len(self.groups) - 1
            self.push(group, -1)

    def light(self, until: int) -> None:
        for unit in range(EVERY, until, EVERY):
            self.push(LIGHT, unit)

    def pushed_at(self, order: Sequence[int]) -> list[int]:
        """By message: the unit at which it was pushed, where messages began in this order."""
        begun = dict(zip(reversed(order), reversed(range(len(order))), strict=True))
        return [
            begun[self.after[index]] + 1 if index in self.after else unit
            for index, unit in enumerate(self.units)
        ]

    def waits(self, order: Sequence[int]) -> list[int]:
        """
        Of the light tenant's messages, in the order of their pushes: the units from a message's
        push to its end. The message itself takes one of them.
        """
        begun = dict(zip(reversed(order), reversed(range(len(order))), strict=True))
        pushed = self.pushed_at(order)
        return [
            begun[index] - pushed[index] + 1
            for index, group in enumerate(self.groups)
            if group == LIGHT
        ]


def plans(count: int) -> Iterator[tuple[str, Plan]]:
    """Of about so many messages each. The heavy tenants' messages come first of all."""
    plan = Plan()
    plan.push("heavy", count=count)
    plan.light(count)
    yield "one heavy tenant", plan

    plan = Plan()
    for number in range(count):
        plan.push(f"heavy-{number % 10}")
    plan.light(count)
    yield "ten keys of one tenant", plan

    plan = Plan()
    plan.push("heavy", count=count // 2)
    plan.chain("chain", count // 2)
    plan.light(count // 2)
    yield "a chain", plan

    plan = Plan()
    plan.push("heavy", count=count // 2)
    for number in range(count // 2):
        plan.push(f"name-{number}", unit=max(0, number - EVERY))
    plan.light(count // 2)
    yield "a flood of new names", plan


def ideal(plan: Plan) -> list[int]:
    """
    The order of start-time fair queueing, with the exact virtual time: a message begins when the
    group's message before it has ended by virtual time, but not before it came. Of equal ones the
    earlier push goes first.
    """
    heirs = {before: index for index, before in plan.after.items()}
    by_unit: dict[int, list[int]] = {}
    for index, unit in enumerate(plan.units):
        by_unit.setdefault(unit, []).append(index)
    ends: dict[str, int] = {}
    waiting: list[tuple[int, int, int]] = []  # virtual start, arrival, message
    order: list[int] = []
    now = arrivals = 0

    def come(index: int) -> None:
        nonlocal arrivals
        group = plan.groups[index]
        start = max(now, ends.get(group, 0))
        ends[group], arrivals = start + 1, arrivals + 1
        waiting.append((start, arrivals, index))

    for unit in range(len(plan.groups)):
        for index in by_unit.get(unit, ()):
            come(index)
        best = min(waiting)
        waiting.remove(best)
        now = max(now, best[0])
        order.append(best[2])
        if best[2] in heirs:
            come(heirs[best[2]])
    return order


def spread(waits: Sequence[int]) -> dict[str, Any]:
    ordered = sorted(waits)
    return {
        f"p{percent}": ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
        for percent in (50, 99)
    }


def fairness(entries: list[Entry], size: Size) -> None:
    """What the light tenant waits beside heavy ones, with each kind of queue that a peer has."""
    print(f"fairness: {size.fair} messages", flush=True)
    for name, plan in plans(size.fair):
        best = spread(plan.waits(ideal(plan)))
        print(f"  {name}: ideally p50 {best['p50']}, p99 {best['p99']} units", flush=True)
        for entry in entries:
            for kind in entry.peer.fair:
                entry.attempt(f"fairness {kind}, {name}", _run, entry, kind, name, plan)


def _run(entry: Entry, kind: str, name: str, plan: Plan) -> None:
    setting = entry.peer.fair[kind]
    with serve(entry.peer.server) as server, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        told = {"groups": plan.groups, "units": plan.units, "after": plan.after}
        path.write_text(json.dumps(told | {"unit_ms": UNIT_MS}))
        with entry.peer.start(server.environment(), "fair", str(path), kind, setting) as adapter:
            adapter.await_worker(setting, START_SECONDS)
            order = adapter.expect("order", 60 + len(plan.groups) * 0.05)["order"]
            adapter.finish()
    if set(order) != set(range(len(plan.groups))):
        raise Failed(f"{len(set(order))} of {len(plan.groups)} messages came")
    found = spread(plan.waits(order)) | {"dispatches": len(order), "messages": len(plan.groups)}
    found["ideal"] = spread(plan.waits(ideal(plan)))
    entry.figures.setdefault("fairness", {}).setdefault(kind, {})[name] = found
    print(
        f"    {entry.peer.key:<14}{kind}: p50 {found['p50']}, p99 {found['p99']},"
        f" {len(order)} dispatches",
        flush=True,
    )


IDEAL = "ideal virtual time"
KINDS = {"plain": "", "groups": ", groups"}
Rows = list[tuple[str, bool, dict[str, Any]]]


def rows(peers: dict[str, Any]) -> Rows:
    """Of each kind of queue of each peer: its name, whether it is dueq's, and figures by plan. The
    first row is the ideal."""
    found: Rows = [
        (peer["name"] + KINDS[kind], key.startswith("dueq-"), plans)
        for key, peer in peers.items()
        for kind, plans in peer.get("fairness", {}).items()
    ]
    best = {
        name: figures["ideal"] | {"dispatches": figures["messages"]}
        for _, _, plans in found
        for name, figures in plans.items()
    }
    return [(IDEAL, False, best), *found] if found else []
