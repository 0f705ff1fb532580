"""What it costs that a push waits until a replica has the message."""

import socket
from statistics import median

from machine import Figures, drive, start_server
from measures import Outcome
from report import Target
from size import Size

WAYS = {"one": "one by one", "batch": "a hundred in a call", "pusher": "by a pusher"}
AT_ONCE = ("--repl-diskless-sync-delay", "0")
CPU_LIMITS = {"one": 2.0, "batch": 1.5, "pusher": 1.3}


def durable(size: Size) -> Outcome:
    """Pushes a second and the server's CPU time a message, with replicas=1 and without."""
    print(f"durable: {size.cost_rounds} rounds of each way, a server with one replica", flush=True)
    rounds: list[Figures] = []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    follows = ("--replicaof", "127.0.0.1", str(port))
    with (
        start_server(port, options=AT_ONCE) as server,
        start_server(options=(*AT_ONCE, *follows)),
    ):
        for number in range(size.cost_rounds):
            for way in WAYS:
                messages = size.cost // (20 if way == "one" else 1)
                figures: Figures = {"round": number + 1, "way": way}
                for kind in ("plain", "replica") if number % 2 else ("replica", "plain"):
                    figures[kind] = drive("durable", server.socket, way, kind, messages)
                rounds.append(figures)
    summary = [_row([r for r in rounds if r["way"] == way], name) for way, name in WAYS.items()]
    print(f"{'':<24}{'a second':>20}{'ratio':>8}{'server us':>20}{'ratio':>8}")
    for row in summary:
        plain, replica = row["plain"], row["replica"]
        print(
            f"{row['name']:<24}{plain['rate']:>10.0f}{replica['rate']:>10.0f}"
            f"{row['rate_ratio']:>8.2f}{plain['server_us']:>10.2f}{replica['server_us']:>10.2f}"
            f"{row['cpu_ratio']:>8.2f}"
        )
    print()
    targets = [
        Target(f"server CPU of a push {row['name']}, durable / not", row["cpu_ratio"], limit)
        for row, limit in zip(summary, CPU_LIMITS.values(), strict=True)
    ]
    return {"rounds": rounds, "summary": summary}, targets


def _row(rounds: list[Figures], name: str) -> Figures:
    """Medians over the rounds; a ratio is that of one round."""
    row: Figures = {"name": name}
    for kind in ("plain", "replica"):
        row[kind] = {
            "rate": 1e6 / median(r[kind]["wall_us"] for r in rounds),
            "server_us": median(r[kind]["server_us"] for r in rounds),
        }
    row["rate_ratio"] = median(r["plain"]["wall_us"] / r["replica"]["wall_us"] for r in rounds)
    row["cpu_ratio"] = median(r["replica"]["server_us"] / r["plain"]["server_us"] for r in rounds)
    return row
