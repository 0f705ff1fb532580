"""Past one server: a queue of partitions over nodes of a cluster, many queues on one process, and
what the sizes in docs/scale.md are computed from."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import machine
from callgrind import Counter, valgrind
from machine import Figures, drive, many_files, one_cpu
from measures import Outcome, spread
from report import Target
from servers import cpu_seconds
from size import Size

sys.path.insert(0, str(machine.ROOT / "tests/python"))
sys.path.insert(0, str(machine.ROOT / "tests/topology"))

from cluster import Cluster
from node import HOST, Member, wait_until
from private_server import free_port

PARTITIONS = 128
NODES = (1, 2, 3)
WAYS = {1: "one in a call", 100: "a hundred in a call"}
FEW = 64
COST_LIMIT = 1.05
ALLOWS_LIMITS = {2: 1.7, 3: 2.4}


# ---- Partitions over 1, 2 and 3 nodes --------------------------------------------------------


def _pid(node: Member) -> int:
    return int(node.info("server", "process_id"))


def partitions(size: Size) -> Outcome:
    """What a message costs the servers, each node and all of them, in instructions and in CPU time,
    and how many messages that allows: the busiest node is the limit. By the clock three servers
    are no faster than one on a machine with two CPUs."""
    print(
        f"partitions: {PARTITIONS} of them on 1, 2 and 3 nodes, {size.cost_rounds} rounds",
        flush=True,
    )
    counted = [figures for nodes in NODES for figures in _counted(nodes, size)]
    timed: list[Figures] = []
    with one_cpu(), ExitStack() as stack:
        clusters = {n: stack.enter_context(Cluster(primaries=n)) for n in NODES}
        for cluster in clusters.values():
            _life(cluster, 1, PARTITIONS, ())
        for number in range(size.cost_rounds):
            for nodes in NODES if number % 2 else reversed(NODES):
                clocks = [partial(_us, _pid(node)) for node in clusters[nodes].nodes]
                for batch in WAYS:
                    messages = _whole(size.cost // (10 if batch == 1 else 2), batch)
                    each_us = _life(clusters[nodes], batch, messages, clocks)
                    timed.append({"nodes": nodes, "batch": batch, "each": each_us})
    summary = [_row(counted, timed, nodes, batch) for batch in WAYS for nodes in NODES]
    print(f"\n{'':<22}{'nodes':>6}   {'thousand instructions a message':<36}{'ratio':>6}", end="")
    print(f"{'it allows':>11}{'CPU us':>9}")
    for row in summary:
        each = f"{row['all']:.1f} = " + " + ".join(f"{part:.1f}" for part in row["each"])
        print(
            f"{row['way']:<22}{row['nodes']:>6}   {each:<36}{row['ratio']:>6.2f}"
            f"{row['allows']:>11.2f}{row['us']:>9.1f}"
        )
    print()
    targets = []
    for row in summary:
        if row["nodes"] > 1:
            named = f"{row['way']}, {row['nodes']} nodes / 1"
            limit = ALLOWS_LIMITS[row["nodes"]]
            targets += [
                Target(f"instructions a message, {named}", row["ratio"], COST_LIMIT),
                Target(f"messages that they allow, {named}", row["allows"], limit, "higher"),
            ]
    return {"partitions": PARTITIONS, "timed": timed, "summary": summary}, targets


def _whole(messages: int, batch: int) -> int:
    return max(messages // batch, 1) * batch


def _us(pid: int) -> float:
    return 1e6 * cpu_seconds(pid)


def _life(
    cluster: Cluster, batch: int, messages: int, clocks: Sequence[Callable[[], float]]
) -> list[float]:
    """What each node uses, by its clock, for a message from push to ack."""
    before = [clock() for clock in clocks]
    for step in ("push", "work"):
        drive(f"partitions-{step}", cluster.url, PARTITIONS, messages, batch)
    return [(clock() - was) / messages for clock, was in zip(clocks, before, strict=True)]


def _counted(nodes: int, size: Size) -> Iterator[Figures]:
    """Thousands of instructions."""
    with (
        valgrind() as (words, dumps),
        Cluster(primaries=nodes, timeout_ms=60_000, under=words) as cluster,
    ):
        _life(cluster, 1, PARTITIONS, ())
        counters = [Counter(_pid(node), dumps) for node in cluster.nodes]
        for batch in WAYS:
            messages = _whole(size.counted * (1 if batch == 1 else 5), batch)
            each = _life(cluster, batch, messages, [counter.read for counter in counters])
            yield {"nodes": nodes, "batch": batch, "each": [count / 1000 for count in each]}


def _row(counted: list[Figures], timed: list[Figures], nodes: int, batch: int) -> Figures:
    def of(found: list[Figures], count: int) -> list[list[float]]:
        return [r["each"] for r in found if (r["nodes"], r["batch"]) == (count, batch)]

    [each], [one] = of(counted, nodes), of(counted, 1)
    return {
        "way": WAYS[batch],
        "nodes": nodes,
        "each": each,
        "all": sum(each),
        "ratio": sum(each) / sum(one),
        "allows": max(one) / max(each),
        "us": median(sum(part) for part in of(timed, nodes)),
    }


# ---- Many queues, or partitions, on one process ----------------------------------------------


@contextmanager
def _servers(nodes: int) -> Iterator[tuple[Sequence[Member], str]]:
    with ExitStack() as stack:
        if nodes > 1:
            cluster = stack.enter_context(Cluster(primaries=nodes))
            yield cluster.nodes, cluster.url
        else:
            server = stack.enter_context(Member())
            yield [server], server.url


class Account:
    """What servers and a process have used, to be read twice."""

    def __init__(self, nodes: Sequence[Member], pid: int) -> None:
        stats = [node.text("INFO", "commandstats") for node in nodes]
        # What scripts call is not sent; INFO is the measure's own.
        names = ("evalsha", "bzpopmin", "client\\|unblock", "exists", "hget")
        self.calls = {
            name.replace("\\", ""): sum(
                int(found[1])
                for text in stats
                if (found := re.search(rf"cmdstat_{name}:calls=(\d+)", text))
            )
            for name in names
        }
        self.at = time.monotonic()
        self.server = sum(cpu_seconds(_pid(node)) for node in nodes)
        self.client = cpu_seconds(pid)

    def since(self, before: "Account", per: float) -> Figures:
        """Scripts run, blocks begun and ended, and microseconds; for each of so many."""
        calls = {name: (n - before.calls[name]) / per for name, n in self.calls.items()}
        return {
            "scripts": calls["evalsha"],
            "blocks": calls["bzpopmin"] + calls["client|unblock"],
            "server_us": 1e6 * (self.server - before.server) / per,
            "client_us": 1e6 * (self.client - before.client) / per,
        }


def _memory(nodes: Sequence[Member]) -> int:
    return sum(int(node.info("memory", "used_memory")) for node in nodes)


def _clients(nodes: Sequence[Member], field: str = "connected_clients") -> int:
    return sum(int(node.info("clients", field)) for node in nodes)


def _resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return 1024 * int(found[1])


def many(size: Size) -> Outcome:
    """One process that consumes many queues, and one that consumes many partitions."""
    count = size.many
    print(f"many: one process that consumes {count} queues, and one {count} partitions", flush=True)
    ways = [(kind, count, nodes) for kind in ("queues", "partitions") for nodes in (1, 3)]
    ways += [("partitions", min(count, FEW), 3)]
    rows = [_many(*way, size.quiet_seconds) for way in ways]
    for words in (
        ("", "nodes", "connec-", "idle", "each s", "message", "server", "client", "late", "ms"),
        ("", "", "tions", "scripts", "blocks", "scripts", "us", "us", "p50", "p99"),
    ):
        heads = "".join(f"{word:>9}" for word in words[1:])
        print(f"{words[0]:<12}{heads}  MB client, server")
    for row in rows:
        print(
            f"{row['count']:>5} {row['kind']:<12}{row['nodes']:>3}{row['connections']:>9}"
            f"{row['idle']['scripts']:>9.1f}{row['idle']['blocks']:>9.1f}"
            f"{row['work']['scripts']:>9.1f}{row['work']['server_us']:>9.0f}"
            f"{row['work']['client_us']:>9.0f}{row['late']['p50_ms']:>9.1f}"
            f"{row['late']['p99_ms']:>9.1f}"
            f"{row['resident'] / 1e6:>12.1f}{row['memory'] / 1e6:>8.1f}"
        )
    print()
    targets = []
    for row in rows:
        # One connection to wait on for each slot, or for each consumer's server.
        waiting = row["count"] if row["nodes"] > 1 else row["consumers"]
        targets.append(
            Target(
                f"connections of {row['count']} {row['kind']} on {row['nodes']} nodes",
                row["connections"],
                waiting + 2 * row["consumers"] * row["nodes"],
            )
        )
    return {"count": count, "summary": rows}, targets


def _many(kind: str, count: int, nodes: int, seconds: float) -> Figures:
    with _servers(nodes) as (servers, url):
        before, others = _memory(servers), _clients(servers)
        words = [str(machine.DRIVER), "many", url, kind, str(count)]
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            _await_calm(servers)
            row: Figures = {"kind": kind, "count": count, "nodes": nodes, "consumers": 1}
            row["connections"] = _clients(servers) - others
            row["memory"], row["resident"] = _memory(servers) - before, _resident(process.pid)
            account = Account(servers, process.pid)
            time.sleep(seconds)
            now = Account(servers, process.pid)
            row["idle"] = now.since(account, now.at - account.at)
            process.stdin.write("go\n")
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
            row["work"] = Account(servers, process.pid).since(now, count)
            row["late"] = spread(told["late_ms"]) | {"early": told["early"]}
            process.stdin.write("end\n")
            process.stdin.flush()
        if process.returncode:
            raise SystemExit(f"{kind}: the driver ended with {process.returncode}")
    return row


def _await_calm(servers: Sequence[Member]) -> None:
    """Until no more of them wait than a second ago."""
    waiting = -1
    while waiting != (waiting := _clients(servers, "blocked_clients")) or not waiting:
        time.sleep(2.5)


# ---- Idle consumers --------------------------------------------------------------------------


def consumers(size: Size) -> Outcome:
    """Idle consumers: what one asks and costs, by some; and what its connections cost the server,
    by many bare ones, of which each other one blocks. Fifty thousand are computed from these."""
    count, bare = size.waiting * 25, size.bare
    print(f"consumers: {count} idle ones, and {bare} bare connections", flush=True)
    with many_files(), Member("--maxclients", str(bare + 2 * count + 100)) as server:
        own = _busy(_pid(server), size.idle_seconds)
        found = drive("idle", server.socket, size.idle_seconds, count)
        connections = _bare(server, bare, size.idle_seconds)
    per = found["seconds"] * count
    one = {
        "commands": sum(found["calls"].get(name, 0) for name in ("exists", "hget")) / per,
        "server_us": (found["server_us"] / found["seconds"] - own) / count,
        "client_us": found["client_us"] / per,
    }
    all_of_them = 50_000
    # Its own figure has the server's care for its two connections in it already.
    told = {
        "commands": one["commands"] * all_of_them,
        "server_percent": one["server_us"] * all_of_them / 1e4,
        "memory": 2 * connections["bytes"] * all_of_them,
    }
    print(
        f"\n  a consumer: {one['commands']:.3f} commands a second, "
        f"{one['server_us']:.2f} us a second of the server, {one['client_us']:.2f} of its own"
        f"\n  a connection: {connections['bytes']:.0f} bytes, {connections['resident']:.0f} of"
        f" resident memory, {connections['server_us']:.2f} us a second of the server"
        f"\n  {all_of_them} consumers: {told['commands']:.0f} commands a second, "
        f"{told['server_percent']:.1f} % of a CPU, {told['memory'] / 1e6:.0f} MB\n"
    )
    return {"one": one, "connection": connections, "of_50000": told}, []


def _bare(server: Member, count: int, seconds: float) -> Figures:
    # The connections of what was measured before are gone.
    time.sleep(1)
    pid, empty = _pid(server), _memory([server])
    resident, quiet = _resident(pid), _busy(pid, seconds)
    with ExitStack() as stack:
        for number in range(count):
            made = stack.enter_context(server.connect())
            made.sendall(b"BZPOPMIN dueq:{idle}:wake 300\r\n" if number % 2 else b"PING\r\n")
        # Their buffers shrink after some seconds.
        time.sleep(5)
        return {
            "count": count,
            "bytes": (_memory([server]) - empty) / count,
            "resident": (_resident(pid) - resident) / count,
            "server_us": (_busy(pid, seconds) - quiet) / count,
        }


def _busy(pid: int, seconds: float) -> float:
    """Microseconds a second."""
    begin, at = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return 1e6 * (cpu_seconds(pid) - begin) / (time.monotonic() - at)


# ---- Bytes and microseconds of a message -----------------------------------------------------


def sizing(size: Size) -> Outcome:
    """Of a message, by the size of its body: memory in each state, and what its life writes to the
    append-only file, sends over the network and to a replica, and costs the server's CPU."""
    messages = size.memory // 5
    print(f"sizing: {messages} messages of each size", flush=True)
    memory = []
    for body in (100, 1000, 10_000):
        with machine.server() as path:
            memory.append(drive("memory", path, messages, body))
    lives: list[dict[str, Any]] = []
    for batch in (1, 100):
        with one_cpu(), Member() as server:
            plain = _writes(server, batch, messages)
        with one_cpu(), _follower() as server:
            lives.append({"batch": batch, "plain": plain, "kept": _writes(server, batch, messages)})
    print("\nbytes over the body           ready       delayed     leased")
    for row in memory:
        cells = "".join(f"{row[state]:<12.0f}" for state in ("ready", "delayed", "leased"))
        print(f"  body of {row['body']:<20}{cells}".rstrip())
    print("\na life of 200 bytes, push to ack, by calls of          1           100")
    names = ("server_us", "in", "out", "aof", "replica")
    for kind, told in (("plain", "no persistence"), ("kept", "append-only file, a replica")):
        for name in names[: None if kind == "kept" else 3]:
            cells = "".join(f"{row[kind][name]:<12.1f}" for row in lives)
            print(f"  {told:<28}{name:<25}{cells}".rstrip())
    print()
    return {"memory": memory, "lives": lives}, []


@contextmanager
def _follower() -> Iterator[Member]:
    """A server that writes an append-only file each second, and has a replica."""
    kept = ("--appendonly", "yes", "--auto-aof-rewrite-percentage", "0")
    at_once = ("--repl-diskless-sync-delay", "0")
    port = free_port()
    with (
        Member("--port", str(port), *kept, *at_once) as server,
        Member(*at_once, "--replicaof", HOST, str(port)),
    ):
        wait_until("no replica", lambda: "state=online" in server.text("INFO", "replication"))
        yield server


def _written(server: Member) -> dict[str, float]:
    return {
        "server_us": 1e6 * cpu_seconds(_pid(server)),
        "in": float(server.info("stats", "total_net_input_bytes")),
        "out": float(server.info("stats", "total_net_output_bytes")),
        "aof": float(server.info("persistence", "aof_current_size") or 0),
        "replica": float(server.info("replication", "master_repl_offset")),
    }


def _writes(server: Member, batch: int, messages: int) -> dict[str, float]:
    """Of a message."""
    drive("scripts", server.socket, batch, max(100, batch))
    before = _written(server)
    drive("scripts", server.socket, batch, messages)
    # The replica's part of what is sent is under way.
    time.sleep(1.5)
    after = _written(server)
    return {name: (number - before[name]) / messages for name, number in after.items()}
