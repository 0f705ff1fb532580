"""The Markdown tables of a run's figures."""

from collections.abc import Callable, Sequence
from typing import Any

import equal
import fairness
import results

EQUAL = (("server_us", 1), ("instructions", 1))
WAKING = (("push",), ("delivery",), ("due", "delivery"), ("ready",))
Report = dict[str, Any]
Peer = dict[str, Any]
Column = tuple[str, Callable[[Peer], str]]


def look(found: Any, *path: str) -> Any:
    """What is at the end of a path of keys, or None."""
    for name in path:
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def measured(peers: dict[str, Peer]) -> dict[str, Peer]:
    return {key: peer for key, peer in peers.items() if "absent" not in peer}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(digits: int, measure: str, *path: str, scale: float = 1) -> Callable[[Peer], str]:
    """A figure; where there is none it says so, so that no hole passes for an oversight."""

    def cell(peer: Peer) -> str:
        value = look(peer, *path)
        if value is None and measure in peer.get("failed", {}):
            return "failed"
        if value is None and measure in peer.get("cannot", {}):
            return "cannot"
        return number(None if value is None else value * scale, digits)

    return cell


def _throughput(setting: str, verb: str, key: str, digits: int = 0) -> Callable[[Peer], str]:
    path = ("throughput", setting, "summary", verb, key)
    return _cell(digits, f"throughput {setting}", *path)


def _late(kind: str, key: str) -> Callable[[Peer], str]:
    return _cell(1, f"delays {kind}", "delays", kind, "summary", key)


def _waiting(name: str, key: str, digits: int) -> Callable[[Peer], str]:
    return _cell(digits, "waiting", "waiting", name, key)


def _recovery(peer: Peer) -> str:
    found = peer.get("recovery")
    if found and found["seconds"] is None:
        return f"> {found['cap']:.0f}"
    return _cell(1, "recovery", "recovery", "seconds")(peer)


def _early(peer: Peer) -> str:
    earliest = [look(peer, "delays", kind, "summary", "earliest_ms") for kind in ("idle", "load")]
    early = [-value for value in earliest if value is not None and value < 0]
    return f"{max(early):,.0f}" if early else "–" if not look(peer, "delays") else "never"


def _delayed(setting: str, verb: str, key: str) -> Callable[[Peer], str]:
    path = ("delayed", setting, "summary", verb, key)
    return _cell(1, f"delayed {setting}", *path)


TABLES: dict[str, tuple[str, Sequence[Column]]] = {
    "What a delayed job costs the server": (
        "CPU in microseconds, and commands, those that scripts call among them: for its push, to"
        " take it back, and for its delivery and acknowledgement with 500 due in a second. Life:"
        " push, delivery and acknowledgement. Best: at the peer's best documented setting. p99: how"
        " late it comes then, in ms. With slack: at its best, but up to 50 ms late. The bare"
        " commands come from a client that knows when to send them, at its best 100 a push and 10"
        " a delivery.",
        (
            ("push, us", _delayed("one", "push", "server_us")),
            ("cancel, us", _delayed("cancel", "cancel", "server_us")),
            ("deliver and ack, us", _delayed("one", "work", "server_us")),
            ("life, us", _delayed("one", "life", "server_us")),
            ("life at its best, us", _delayed("best", "life", "server_us")),
            ("life with slack, us", _delayed("slack-50", "life", "server_us")),
            ("push, commands", _delayed("one", "push", "calls")),
            ("cancel, commands", _delayed("cancel", "cancel", "calls")),
            ("deliver and ack, commands", _delayed("one", "work", "calls")),
            ("at its best", _delayed("best", "work", "calls")),
            ("p99, ms", _delayed("one", "work", "p99_ms")),
            ("at its best, p99", _delayed("best", "work", "p99_ms")),
            ("with slack, p99", _delayed("slack-50", "work", "p99_ms")),
        ),
    ),
    "Jobs a second": (
        "One producer, one worker, a handler that does nothing, bodies of 200 bytes. Best: the"
        " peer's best documented setting, listed below.",
        (
            ("enqueue, one at a time", _throughput("one", "push", "rate")),
            ("enqueue, bulk", _throughput("best", "push", "rate")),
            ("consume, one at a time", _throughput("one", "work", "rate")),
            ("consume, best", _throughput("best", "work", "rate")),
        ),
    ),
    "What a job costs the server": (
        "CPU in microseconds. Commands: those that scripts call are among them. Reads: how often"
        " the server reads from a client, about its round trips. Bytes: of a job with a body of"
        " 200.",
        (
            ("enqueue, us", _throughput("one", "push", "server_us", 1)),
            ("consume one at a time, us", _throughput("one", "work", "server_us", 1)),
            ("consume best, us", _throughput("best", "work", "server_us", 1)),
            ("enqueue, commands", _throughput("one", "push", "calls", 1)),
            ("consume, commands", _throughput("one", "work", "calls", 1)),
            ("consume, reads", _throughput("one", "work", "reads", 1)),
            ("ready, bytes", _cell(0, "stored ready", "stored", "ready")),
            ("delayed, bytes", _cell(0, "stored delayed", "stored", "delayed")),
        ),
    ),
    "Lateness of delayed jobs, ms": (
        "Of all rounds' jobs, on an idle queue, and with 2,000 due in a second. Early: by how much"
        " the earliest came before its time.",
        (
            ("idle p50", _late("idle", "p50_ms")),
            ("p95", _late("idle", "p95_ms")),
            ("p99", _late("idle", "p99_ms")),
            ("max", _late("idle", "max_ms")),
            ("load p50", _late("load", "p50_ms")),
            ("p95", _late("load", "p95_ms")),
            ("p99", _late("load", "p99_ms")),
            ("max", _late("load", "max_ms")),
            ("early", _early),
        ),
    ),
    "Waiting and recovery": (
        "Commands a second that waiting workers send; commands for one delayed job, for its push"
        " and after it, while 20 workers wait, beyond those. Run: with what scripts call. Seconds"
        " until the job of a worker that was killed (kill -9) is handled by another.",
        (
            ("1 waiting, sent/s", _waiting("one", "sent", 2)),
            ("20 waiting, sent/s", _waiting("many", "sent", 2)),
            ("20 waiting, run/s", _waiting("many", "calls", 2)),
            ("a push while 20 wait, sent", _waiting("pushed", "sent", 1)),
            ("a push while 20 wait, run", _waiting("pushed", "calls", 1)),
            ("a job to one of 20, sent", _waiting("delivered", "sent", 1)),
            ("a job to one of 20, run", _waiting("delivered", "calls", 1)),
            ("killed worker's job, s", _recovery),
        ),
    ),
}


def _of_peers(peers: dict[str, Peer], bare: Peer | None) -> list[str]:
    parts = []
    for title, (explained, columns) in TABLES.items():
        shown = peers | ({"bare": bare} if bare and "delayed" in title else {})
        rows = [
            [_name(key, peer), *(cell(peer) for _, cell in columns)] for key, peer in shown.items()
        ]
        if all(cell == "–" for row in rows for cell in row[1:]):
            continue
        head = ["", *(name for name, _ in columns)]
        parts += [f"### {title}", explained, table(head, rows)]
    return parts


def _name(key: str, peer: Peer) -> str:
    return f"**{peer['name']}**" if key.startswith("dueq-") else str(peer["name"])


def _client(report: Report) -> list[str]:
    languages = ("C", "Python", "PHP", "phpredis")
    rows = [
        [row["name"], *(number(row[language], 1) for language in languages)]
        for row in look(report, "client", "rows") or []
    ]
    if not rows:
        return []
    return [
        "### A message in instructions of its client",
        "Thousands a message with a body of 200 bytes, without the kernel's, counted by callgrind:"
        " the same within a hundredth in each run. phpredis: an EVALSHA of as many words.",
        table(["", *languages], rows),
    ]


def _instructions(report: Report) -> list[str]:
    """A delayed message step by step, in what is the same on every machine."""
    rows = [
        [row["name"], number(row["bare"], 1), _or_refused(row, "dueq", 1), number(row["limit"])]
        for row in look(report, "instructions", "rows") or []
    ]
    parts = []
    if rows:
        parts += [
            "### A delayed message in instructions of the server",
            "Thousands a message with a body of 200 bytes, without the kernel's, counted by"
            " callgrind: the same within a hundredth in each run, within a fifth where messages"
            " fall due one by one.",
            table(["", "bare", "dueq", "target"], rows),
        ]
    rows = [
        [f"{row['batch']}", *(number(row[key], 2) for key in ("bare_us", "dueq_us", "ratio"))]
        for row in look(report, "life", "summary") or []
    ]
    if rows:
        parts += [
            "Server CPU of a delayed message's whole life in microseconds (push with a delay; when"
            " all are due, delivery and acknowledgement), at several sizes of batch:",
            table(["batch", "bare", "dueq", "dueq / bare"], rows),
        ]
    return parts


def _or_refused(row: dict[str, Any], key: str, digits: int) -> str:
    return "refused" if "why" in row else number(row[key], digits)


def _at_rates(report: Report) -> list[str]:
    """What a delayed message costs by how many fall due, how many wait, how many are stored."""
    parts = []
    rows = [
        [
            f"{row['rate']:,}",
            *(_or_refused(row, key, 2) for key in ("scripts", "calls", "server_us")),
        ]
        for row in look(report, "scripts", "rows") or []
    ]
    if rows:
        parts += [
            "### Scripts of a delayed message",
            "That one waiting consumer in C, one at a time, sends to take and acknowledge a"
            " message, by how many fall due in a second: the scripts, the commands with those that"
            " they call, and the server's CPU in microseconds. A run at 50 is refused where the"
            " consumer was behind: more than one message in twenty came to it when the next one"
            " was due already.",
            table(["due in a second", "scripts", "commands", "us"], rows),
        ]
    rows = [
        [
            f"{row['consumers']:,}",
            *(number(look(row, *path, "calls"), 1) for path in WAKING),
        ]
        for row in look(report, "waking", "rows") or []
    ]
    if rows:
        parts += [
            "### A delayed message while many consumers wait",
            "Commands that the server runs, with those that scripts call: for the push of a message"
            " that is due before all others; for its delivery and acknowledgement; for those of one"
            " of many that were pushed before; and for a ready one, with its push.",
            table(["consumers", "push", "deliver and ack", "one of many", "ready"], rows),
        ]
    rows = [
        [f"{row['messages']:,}", *(number(row[state]) for state in ("ready", "delayed", "leased"))]
        for row in look(report, "memory", "rows") or []
    ]
    if rows:
        parts += [
            "### Bytes of a message",
            "The server's bytes for a message, over the 200 of its body, by how many are stored.",
            table(["messages", "ready", "delayed", "leased"], rows),
        ]
    grouped = look(report, "memory", "groups")
    if grouped:
        kinds = {"none": "none", "one": "one of all messages", "tens": "of ten", "ones": "of one"}
        parts += [
            f"The same of {grouped['messages']:,} messages with groups, whose names have 16 bytes,"
            " over bodies of 150 to 249 bytes.",
            table(
                ["groups", "ready", "delayed"],
                [
                    [name, number(grouped[f"ready_{kind}"]), number(grouped[f"delayed_{kind}"])]
                    for kind, name in kinds.items()
                ],
            ),
        ]
    return parts


def _equal(peers: dict[str, Peer]) -> list[str]:
    """Each peer at each setting of its curve, next to what dueq's curve costs so late."""
    curves = {
        cost: [point for point in equal.points(peers, cost) if point.key == equal.OWN_CURVE]
        for cost, _ in EQUAL
    }
    rows = []
    for key, peer in peers.items():
        for setting, found in peer.get("equal", {}).items():
            cells = [f"{_name(key, peer)}, {found['label']}", number(found.get("p99_ms"), 1)]
            for cost, digits in EQUAL:
                cells.append(_cell(digits, f"equal {setting}", "equal", setting, cost)(peer))
                own = equal.cost_at(curves[cost], found.get("p99_ms", 0.0))
                known = cost in found and "p99_ms" in found and curves[cost]
                cells.append(number(own, digits) if known else "–")
            rows.append(cells)
    if not rows:
        return []
    head = ["", "p99, ms", "us", "dueq so late", "thousand instructions", "dueq so late"]
    return [
        "### At equal lateness",
        "Of a delayed job, 50 due in a second: how late it comes, the server's CPU for its push,"
        " its delivery and its acknowledgement, and the server's instructions, counted by callgrind"
        " in a run of their own. Dueq so late: the least that dueq in C costs at a value of slack"
        " by which it is no later, or without slack where the peer is more punctual.",
        table(head, rows),
    ]


def _fairness(peers: dict[str, Peer]) -> list[str]:
    found = fairness.rows(peers)
    if not found:
        return []
    names = list(found[0][2])
    lines = [
        [
            f"**{name}**" if ours else name,
            *(f"{look(plans, plan, 'p50')} / {look(plans, plan, 'p99')}" for plan in names),
            number(sum(figures["dispatches"] for figures in plans.values())),
        ]
        for name, ours, plans in found
    ]
    return [
        "### Fairness",
        "What a light tenant waits that pushes a message every 20 units, beside heavy tenants: the"
        " units from a message's push to its end, p50 / p99. One worker handles one message at a"
        " time, and a message takes one unit. How many messages the worker got in all, until all"
        " were done.",
        table(["", *names, "dispatches"], lines),
    ]


def _results(peers: dict[str, Peer]) -> list[str]:
    lines = [
        [
            f"{_name(key, peer)}, {results.TITLES[kind]}",
            *(
                _cell(digits, f"results {kind}", "results", kind, "summary", verb, figure)(peer)
                for verb in results.VERBS
                for figure, digits in (("rate", 0), ("server_us", 1), ("calls", 1))
            ),
        ]
        for key, peer in peers.items()
        for kind in peer.get("results", {})
    ]
    if not lines:
        return []
    head = [
        "",
        *(f"{verb}, {what}" for verb in results.VERBS for what in ("a second", "us", "commands")),
    ]
    return [
        "### A task that keeps its result",
        "One producer, and one worker that handles one task at a time; then the producer asks for"
        " the results, one after the other, all of which are there. Tasks a second, the server's"
        " CPU in microseconds, and its commands with those that scripts call.",
        table(head, lines),
    ]


def _cost(report: Report) -> list[str]:
    """The floor: the bare commands that dueq's scripts stand for."""
    rows = []
    for row in look(report, "cost", "summary") or []:
        total = row["all"]
        cells = [number(total[key], 2) for key in ("bare_us", "scripts_us", "ratio")]
        looped = look(row, "loop", "ratio")
        rows.append([f"{row['batch']}", *cells, number(looped, 2)])
    if not rows:
        return []
    return [
        "### The floor",
        "Server CPU of a message's whole life (push, reserve, ack) in microseconds, next to the"
        " same commands sent bare, at several sizes of batch.",
        table(["batch", "bare", "dueq", "dueq / bare", "one round trip / bare"], rows),
    ]


def _web(report: Report) -> list[str]:
    summary = look(report, "fpm", "summary")
    if not summary:
        return []
    return [
        "### One push a web request",
        "php-fpm with one worker, a request after the other, in microseconds. phpredis: RPUSH;"
        " unchecked: its pconnect without the ECHO that it sends first. Laravel: its redis driver"
        " on a persistent connection.",
        table(["", "a request"], [[way, number(us)] for way, us in summary.items()]),
    ]


def _durable(report: Report) -> list[str]:
    summary = look(report, "durable", "summary")
    if not summary:
        return []
    rows = [
        [
            row["name"],
            number(row["plain"]["rate"]),
            number(row["replica"]["rate"]),
            number(row["rate_ratio"], 2),
            number(row["plain"]["server_us"], 2),
            number(row["replica"]["server_us"], 2),
            number(row["cpu_ratio"], 2),
        ]
        for row in summary
    ]
    return [
        "### Durable pushes",
        "Pushes a second, and the server's CPU time a message in microseconds, at a server with one"
        " replica on the same machine: without `replicas`, and with `replicas=1`.",
        table(
            ["", "a second", "durable", "ratio", "server us", "durable", "ratio"],
            rows,
        ),
    ]


def _scale(report: Report) -> list[str]:
    parts = []
    if summary := look(report, "partitions", "summary"):
        rows = [
            [
                f"{row['way']}, {row['nodes']} nodes",
                " + ".join(number(part, 1) for part in row["each"]),
                number(row["ratio"], 2),
                number(row["allows"], 2),
                number(row["us"], 1),
            ]
            for row in summary
        ]
        parts += [
            "### Partitions on several nodes",
            "From push to ack: thousands of the servers' instructions a message, of each node; as"
            " a ratio to one node; how many messages the busiest node allows, as the same ratio;"
            " and CPU time in microseconds, of all nodes and the client on one CPU.",
            table(["", "thousands", "ratio", "allows", "CPU us"], rows),
        ]
    if summary := look(report, "many", "summary"):
        rows = [
            [
                f"{row['count']} {row['kind']}, {row['nodes']} nodes",
                number(row["connections"]),
                number(row["idle"]["scripts"] + row["idle"]["blocks"], 1),
                number(row["work"]["scripts"], 1),
                number(row["work"]["server_us"]),
                number(row["work"]["client_us"]),
                number(row["late"]["p50_ms"], 1),
                number(row["resident"] / 1e6, 1),
            ]
            for row in summary
        ]
        parts += [
            "### Many queues or partitions on one process",
            "Connections; scripts and waits a second when idle; scripts, and microseconds of the"
            " servers and the client, of a message, of which one each falls due every 5 ms.",
            table(
                ["", "connections", "idle", "scripts", "server us", "client us", "p50 ms", "MB"],
                rows,
            ),
        ]
    return parts


def _targets(report: Report) -> list[str]:
    rows = []
    for target in report.get("targets", []):
        value = number(target["value"], 2) if target["value"] is not None else target["why"]
        bound = "at most" if target["better"] == "lower" else "at least"
        verdict = "met" if target["met"] else "**missed**"
        rows.append([target["name"], value, f"{bound} {target['limit']:.4g}", verdict])
    return ["### Targets", table(["", "this run", "target", ""], rows)] if rows else []


def _behind(peers: dict[str, Peer]) -> list[str]:
    """Where a peer is ahead of the best of dueq's three, in any column."""
    lines = []
    for title, (_, columns) in TABLES.items():
        for name, cell in columns:
            values = {key: _value(cell(peer)) for key, peer in peers.items()}
            ours = [v for key, v in values.items() if key.startswith("dueq-") and v is not None]
            if not ours:
                continue
            more_is_better = title == "Jobs a second"
            best = max(ours) if more_is_better else min(ours)
            ahead = [
                f"{peers[key]['name']} ({value:,g})"
                for key, value in values.items()
                if value is not None and (value > best if more_is_better else value < best)
            ]
            if ahead:
                lines.append(f"- {title}, {name} (dueq {best:,g}): {', '.join(ahead)}")
    return ["### Where dueq is not ahead", "\n".join(lines)] if lines else []


def _value(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _missing(peers: dict[str, Peer]) -> list[str]:
    lines = []
    for peer in peers.values():
        if "absent" in peer:
            lines.append(f"- {peer['name']} is absent: {peer['absent']}")
        for word in ("failed", "cannot"):
            for measure, reason in peer.get(word, {}).items():
                lines.append(f"- {peer['name']}, {measure}: {word}: {reason}")
    return ["### What has no figure", "\n".join(lines)] if lines else []


def _setting(report: Report, peers: dict[str, Peer]) -> list[str]:
    told = report["machine"]
    machine = (
        f"{told['cpus']} x {told['cpu']}, {told['memory_bytes'] / 2**30:.0f} GiB, "
        f"{told['system']}; "
        f"load before {told['load_before']:.2f}, after {told['load_after']:.2f}; "
        f"begun {report['begun']}{', quick' if report['quick'] else ''}."
    )
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    rows = [
        [peer["name"], peer["version"], peer["best"], peer["configuration"]]
        for peer in measured(peers).values()
    ]
    head = ["", "version", "best setting", "configuration"]
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * 4, *rows)]
    parts = ["### Machine, versions and configurations", machine, versions + "."]
    return parts + (["\n".join(lines)] if rows else [])


def markdown(report: Report) -> str:
    """All tables of a run, whatever it measured."""
    peers = report.get("peers", {})
    had = measured(peers)
    parts = [*_targets(report), *_instructions(report), *_at_rates(report), *_client(report)]
    parts += [
        *_of_peers(had, report.get("bare")),
        *_equal(had),
        *_fairness(had),
        *_results(had),
        *_cost(report),
        *_web(report),
        *_durable(report),
    ]
    parts += _scale(report)
    parts += [*_behind(had), *_missing(peers), *_setting(report, peers)]
    return "\n\n".join(parts) + "\n"
