"""./dev bench, with few jobs, on dueq's own adapters and on adapters that break."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("dueq-c", "dueq-python", "dueq-php")


def bench(target: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "bench/run.py", "--tiny", "--no-plots", "--json", target, *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def printed(snippet: str, *words: str) -> str:
    """What Python code prints that uses the modules of bench/."""
    done = subprocess.run(
        [sys.executable, "-c", snippet, ROOT / "bench", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_tiny_run_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, *(word for key in OURS for word in ("--only", key)))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    assert sorted(report["peers"]) == sorted(OURS)
    for key in OURS:
        peer = report["peers"][key]
        assert (peer["failed"], peer["cannot"]) == ({}, {}), key
        assert peer["version"].startswith("dueq ")
        for setting in ("one", "best"):
            found = peer["throughput"][setting]
            assert len(found["rounds"]) == 1
            for verb in ("push", "work"):
                for name in ("rate", "server_us", "client_us", "calls", "reads"):
                    assert found["summary"][verb][name] > 0, (key, setting, verb, name)
        assert peer["stored"]["ready"] > 200
        assert peer["stored"]["delayed"] > 200
        check_delayed(peer["delayed"])
        assert peer["delayed"]["one"]["summary"]["work"]["p50_ms"] >= 0
        assert peer["delays"]["pressed"]["summary"]["early"] == 0
        late = peer["delays"]["idle"]
        assert late["summary"]["jobs"] == len(late["late_ms"][0]) == 10
        assert late["summary"]["early"] == 0
        assert late["summary"]["max_ms"] == max(late["late_ms"][0])
        for name in ("pushed", "delivered"):
            assert 0 < peer["waiting"][name]["sent"] < peer["waiting"][name]["calls"]
    assert report["targets"]
    for row in report["targets"]:
        assert row["better"] in ("lower", "higher")
        below, above = row["value"] <= row["limit"], row["value"] >= row["limit"]
        assert row["met"] == (below if row["better"] == "lower" else above), row
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    for title in ("Targets", "Jobs a second", "Lateness of delayed jobs", "Waiting and recovery"):
        assert f"### {title}" in page
    for key in OURS:
        assert f"**{report['peers'][key]['name']}**" in page


CURVE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import equal
peers = json.loads(sys.argv[2])
print(json.dumps([[point.key, point.setting] for point in equal.below(peers, "server_us")]))
"""


def test_points_below_the_curve_are_cheaper_and_no_later() -> None:
    def peer(server: str, *points: tuple[float, float]) -> dict[str, Any]:
        equal = {
            f"every-{late:g}": {"label": "", "p99_ms": late, "server_us": cost}
            for late, cost in points
        }
        return {"name": "", "server": server, "equal": equal}

    peers = {
        "dueq-c": peer("redis", (1, 100), (50, 40), (100, 20)),
        "punctual": peer("redis", (0.5, 110)),
        "both": peer("redis", (0.5, 99)),
        "between": peer("redis", (49, 90), (51, 39), (99, 41)),
        "idler": peer("redis", (5000, 21), (6000, 19)),
        "another": peer("beanstalkd", (1, 1)),
    }
    assert json.loads(printed(CURVE, json.dumps(peers))) == [
        ["both", "every-0.5"],
        ["between", "every-49"],
        ["between", "every-51"],
        ["idler", "every-6000"],
    ]


FAIR = """
import json, sys
sys.path.insert(0, sys.argv[1])
import fairness
found = {}
for name, plan in fairness.plans(200):
    order = fairness.ideal(plan)
    assert sorted(order) == list(range(len(plan.groups)))
    as_pushed = sorted(order, key=lambda index: (plan.pushed_at(order)[index], index))
    found[name] = [fairness.spread(plan.waits(each)) for each in (order, as_pushed)]
print(json.dumps(found))
"""


def test_ideal_turns_are_those_of_virtual_time() -> None:
    """Beside the order of the pushes. A message alone takes one unit."""
    found = json.loads(printed(FAIR))
    assert found["one heavy tenant"][0] == {"p50": 1, "p99": 1}
    assert found["ten keys of one tenant"][0]["p99"] <= 11
    assert found["a chain"][0]["p99"] <= 2
    assert found["a flood of new names"][0]["p99"] <= 100
    for ideal, as_pushed in found.values():
        assert ideal["p99"] < as_pushed["p50"]


TURNS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import fairness
plan = fairness.Plan()
plan.push("a", count=3)
plan.chain("b", 2)
plan.push("light", unit=2)
print(json.dumps([fairness.ideal(plan), plan.waits([0, 3, 1, 5, 4, 2])]))
"""


def test_one_that_ends_pushes_the_next_of_its_group() -> None:
    # a0, b0, and with its end b1 comes, at the time of a1 and behind it, and before that the light
    # tenant's, which came while b0 was under way.
    assert json.loads(printed(TURNS)) == [[0, 3, 5, 1, 4, 2], [2]]


@pytest.mark.slow
def test_results_alone(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "results", *(word for key in OURS for word in ("--only", key)))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    [(key, peer)] = report["peers"].items()
    assert (key, peer["failed"], peer["cannot"]) == ("dueq-python", {}, {})
    for kind, verbs in (("plain", {"push", "work"}), ("kept", {"push", "work", "ask"})):
        summary = peer["results"][kind]["summary"]
        assert summary.keys() == {"jobs", *verbs}
        for verb in verbs:
            for name in ("rate", "server_us", "client_us", "calls", "reads"):
                assert summary[verb][name] > 0, (kind, verb, name)
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### A task that keeps its result" in page
    for kind in ("without", "with"):
        assert f"| **dueq, Python**, {kind} results |" in page


@pytest.mark.slow
def test_fairness_alone(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "fairness", "--only", "dueq-python")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    [peer] = report["peers"].values()
    assert (peer["failed"], peer["cannot"]) == ({}, {})
    for found in peer["fairness"]["groups"].values():
        assert found["dispatches"] == found["messages"]
        assert found["p99"] <= 1.2 * found["ideal"]["p99"]
    for name, found in peer["fairness"]["plain"].items():
        assert found["p99"] > peer["fairness"]["groups"][name]["p99"], name
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### Fairness" in page
    assert "| ideal virtual time |" in page


def check_delayed(found: dict[str, Any]) -> None:
    for setting in ("one", "best"):
        summary = found[setting]["summary"]
        for verb in ("push", "work", "life"):
            assert summary[verb]["server_us"] > 0, (setting, verb)
        assert summary["life"]["calls"] == summary["push"]["calls"] + summary["work"]["calls"]
    assert found["cancel"]["summary"]["cancel"]["calls"] >= 2


@pytest.mark.slow
def test_tiny_run_of_delayed_messages_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "delayed", "--only", "dueq-c")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    rows = {row["name"]: row for row in report["instructions"]["rows"]}
    assert len(rows) == len(report["instructions"]["rows"])
    for name, row in rows.items():
        if row["dueq"] is None:
            # A machine that is busy elsewhere cannot count this one.
            assert "as it falls due" in name, name
            assert row["why"].startswith("refused: "), name
            continue
        assert 5 < row["dueq"] < 5000, name
        assert row["bare"] is None or 1 < row["bare"] < row["dueq"], name
    for name in ("push", "cancel"):
        assert report["commands"][name]["calls"] >= 3
    assert [row["rate"] for row in report["scripts"]["rows"]] == [50, 500, 2000]
    for row in report["scripts"]["rows"]:
        if "why" in row:
            assert row["rate"] == 50
            continue
        assert row["scripts"] < 4
        assert row["scripts"] >= (0.9 if row["rate"] == 50 else 0.01)
        assert row["calls"] > row["scripts"]
    for row in report["waking"]["rows"]:
        assert 3 <= row["push"]["calls"] < 100
        assert 3 <= row["delivery"]["calls"] < 100
    assert [row["batch"] for row in report["life"]["summary"]] == [1, 10, 100]
    assert sorted(report["peers"]) == ["dueq-c"]
    for peer in (report["bare"], report["peers"]["dueq-c"]):
        check_delayed(peer["delayed"])
    curve = report["peers"]["dueq-c"]["equal"]
    assert list(curve) == ["best", "slack-10", "slack-25", "slack-50", "slack-100"]
    for setting, found in curve.items():
        assert found["p99_ms"] > 0, setting
        assert found["server_us"] > 0, setting
        for verb in ("push", "work"):
            assert 5 < found[f"{verb}_instructions"] < 5000, (setting, verb)
    named = [row["name"] for row in report["targets"]]
    assert len(set(named)) == len(named)
    assert {f"thousand instructions: {name}" for name in rows} < set(named)
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    for title in ("A delayed message in instructions", "What a delayed job costs the server"):
        assert f"### {title}" in page
    assert "| bare commands | " in page


def test_tiny_run_of_durable_pushes_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "durable")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    summary = report["durable"]["summary"]
    assert [row["name"] for row in summary] == ["one by one", "a hundred in a call", "by a pusher"]
    for row in summary:
        for kind in ("plain", "replica"):
            assert row[kind]["rate"] > 0
            assert row[kind]["server_us"] > 0
        assert row["cpu_ratio"] > 0
    assert len(report["targets"]) == 3
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### Durable pushes" in page


@pytest.mark.slow
def test_tiny_run_of_the_client_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "client")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    rows = {row["way"]: row for row in report["client"]["rows"]}
    assert list(rows) == ["push", "delay", "own", "work"]
    for row in rows.values():
        assert 5 < row["C"] < row["Python"] < 500
        assert 5 < row["PHP"] < 500
    assert 1 < rows["push"]["phpredis"] < rows["push"]["PHP"]
    assert len(report["targets"]) == 3
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### A message in instructions of its client" in page


@pytest.mark.slow
def test_tiny_run_of_scale_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "scale")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    rows = {(row["way"], row["nodes"]): row for row in report["partitions"]["summary"]}
    assert len(rows) == 6
    for (_, nodes), row in rows.items():
        assert len(row["each"]) == nodes
        assert all(part > 1 for part in (*row["each"], row["us"]))
    for row in report["many"]["summary"]:
        assert row["late"]["early"] == 0
        assert row["work"]["scripts"] >= 2
        assert min(row["resident"], row["memory"]) > 0
    assert report["consumers"]["of_50000"]["memory"] > 0
    assert [row["body"] for row in report["sizing"]["memory"]] == [100, 1000, 10_000]
    assert all(row["kept"]["aof"] > row["plain"]["aof"] == 0 for row in report["sizing"]["lives"])
    connections = [row for row in report["targets"] if row["name"].startswith("connections")]
    assert len(connections) == 5
    assert all(row["met"] for row in connections)
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### Partitions on several nodes" in page
    assert "### Many queues or partitions" in page


def test_tiny_run_of_web_requests_has_every_figure(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = bench(target, "--only", "fpm")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(target.read_text(encoding="utf-8"))
    summary = report["fpm"]["summary"]
    ours, theirs = {"dueq", "dueq persistent"}, {"phpredis connect", "phpredis pconnect"}
    assert ours | theirs | {"nothing"} <= set(summary)
    assert all(us > 0 for us in summary.values())
    assert [row["limit"] for row in report["targets"]] == [1.5]
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "### One push a web request" in page


@pytest.mark.slow
def test_counted_instructions_are_those_of_the_step_alone() -> None:
    """Twice as many messages are twice as many instructions: nothing else is in them."""
    counted = """
import sys
sys.path.insert(0, sys.argv[1])
from callgrind import counted_server
from life import step
for count in (200, 400):
    with counted_server() as (socket, counter):
        before, after = step(socket, "dueq", "cancel", 1, count, counter.read)
        print(after - before)
"""
    once, twice = map(int, printed(counted).split())
    assert 1.95 < twice / once < 2.05


REFUSED = """
import sys
sys.path.insert(0, sys.argv[1])
import life
row, *_ = [row for row in life.ROWS if row.one_by_one]
for behind in (0.05, 0.06):
    life._counted_once = lambda *_: (260000.0, behind)
    print(life._counted("dueq", row, 1))
"""


def test_run_in_which_messages_waited_for_each_other_is_refused() -> None:
    assert printed(REFUSED).split() == ["260.0", "None"]


STOPPED = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
import life, machine
with machine.start_server() as server:
    # The messages fall due from 2 s after they were pushed on, for 2 s.
    numbers = {2.2: signal.SIGSTOP, 2.7: signal.SIGCONT}
    timers = [threading.Timer(after, os.kill, (server.pid, numbers[after])) for after in numbers]
    def read():
        while timers:
            timers.pop().start()
    *_, behind = life.watched_step(server.socket, "dueq", "falling-50", 1, 100, read)
    print(behind > life.MOST_BEHIND)
"""


def test_run_with_a_backlog_counts_its_messages() -> None:
    """The server stops for half a second, in which 25 of 100 messages fall due."""
    assert printed(STOPPED) == "True\n"


ALL_DUE = """
import sys, time
sys.path.insert(0, sys.argv[1])
from adapters import peers
from servers import serve
peer, setting, count = peers()[sys.argv[2]], sys.argv[3], 100
peer.install()
with serve(peer.server) as server:
    due = time.time() + 2
    peer.delay(server.environment(), count, 0, due * 1000)
    time.sleep(max(0.0, due + 0.1 - time.time()))
    before = server.usage()
    with peer.start(server.environment(), "listen", count, setting) as worker:
        worker.await_worker(setting)
        worker.expect("late_ms", 30)
        worker.finish()
    print((server.usage() - before).scripts)
"""


@pytest.mark.parametrize("key", OURS)
def test_one_at_a_time_asks_for_each_delayed_job(key: str) -> None:
    """The server sees how many jobs a worker takes at once, whatever the adapter says."""
    scripts = {setting: int(printed(ALL_DUE, key, setting)) for setting in ("one", "best")}
    assert scripts["one"] >= 100
    assert scripts["best"] < 20


def make_peer(folder: Path, install: str, adapter: str) -> None:
    folder.mkdir(parents=True)
    description = {
        "name": folder.name,
        "language": "shell",
        "server": "redis",
        "keeps_until_ack": True,
        "delays": True,
        "configuration": "none",
        "workers": {"one": {"jobs": 1}, "best": {"label": "none", "jobs": 100}},
    }
    (folder / "peer.json").write_text(json.dumps(description), encoding="utf-8")
    for name, text in (("install.sh", install), ("version", "echo 1"), ("adapter", adapter)):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)


# It enqueues nothing, and its worker has one setting, whichever is asked for.
HASTY = """
case $2 in
push | delay) echo '{"ready": true}'; read -r _; echo '{"count": 1, "seconds": 1}' ;;
*) echo '{"ready": true, "worker": {"jobs": 100}}' ;;
esac
"""


@pytest.mark.slow
def test_failing_adapters_are_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    peers = tmp_path / "peers"
    make_peer(peers / "gone", "echo 'it is not sold any more' >&2; exit 1", "exit 0")
    make_peer(peers / "broken", "exit 0", "echo 'it has no heart' >&2; exit 3")
    make_peer(peers / "mute", "exit 0", "exit 0")
    make_peer(peers / "hasty", "exit 0", HASTY)
    make_peer(peers / "unable", "exit 0", """echo '{"absent": "it never learned to"}'""")
    (peers / "dueq-python").symlink_to(ROOT / "bench/peers/dueq-python")
    target = tmp_path / "bench.json"
    try:
        measures = ("throughput", "stored", "delayed-jobs")
        words = (word for name in measures for word in ("--only", name))
        done = bench(target, "--peers", peers, *words)
    finally:
        for name in ("gone", "broken", "mute", "hasty", "unable"):
            shutil.rmtree(ROOT / "build/peers" / name, ignore_errors=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(target.read_text(encoding="utf-8"))["peers"]
    assert "it is not sold any more" in found["gone"]["absent"]
    assert "ended with 3" in found["broken"]["failed"]["throughput one"]
    assert "it has no heart" in found["broken"]["failed"]["throughput one"]
    assert "ended with 0 before" in found["mute"]["failed"]["stored ready"]
    assert "it has no heart" in found["broken"]["failed"]["delayed one"]
    assert "instead of {'jobs': 1} (one)" in found["hasty"]["failed"]["throughput one"]
    assert "instead of {'jobs': 1} (one)" in found["hasty"]["failed"]["delayed one"]
    assert found["unable"]["cannot"]["throughput one"] == "it never learned to"
    assert found["unable"]["cannot"]["delayed cancel"] == "it never learned to"
    for name in ("gone", "broken", "mute", "hasty", "unable"):
        assert "summary" not in found[name].get("throughput", {}).get("one", {})
    assert found["dueq-python"]["failed"] == {}
    assert found["dueq-python"]["throughput"]["best"]["summary"]["work"]["rate"] > 0
    page = target.with_suffix(".md").read_text(encoding="utf-8")
    assert "gone is absent: " in page
    assert "broken, throughput one: failed: " in page


def test_own_adapter_that_fails_fails_the_run(tmp_path: Path) -> None:
    peers = tmp_path / "peers"
    make_peer(peers / "dueq-none", "exit 0", "exit 3")
    try:
        done = bench(tmp_path / "bench.json", "--peers", peers, "--only", "stored")
    finally:
        shutil.rmtree(ROOT / "build/peers/dueq-none", ignore_errors=True)
    assert done.returncode == 1
    assert "dueq-none" in done.stderr


EVERY_TARGET = """
import dataclasses, json, sys
sys.path.insert(0, sys.argv[1])
from targets import of_peers
report = json.loads(sys.argv[2])
rows = of_peers(report, whole=sys.argv[3] == "whole")
print(json.dumps([dataclasses.asdict(row) | {"met": row.met} for row in rows]))
"""


def targets(report: dict[str, Any], extent: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(printed(EVERY_TARGET, json.dumps(report), extent))
    return rows


def test_target_whose_peer_is_absent_is_not_met() -> None:
    rows = targets({"peers": {"bullmq": {"absent": "no node"}}}, "whole")
    assert len(rows) > 15
    assert not any(row["met"] or row["value"] is not None for row in rows)
    assert all(row["why"] for row in rows)
    assert targets({"peers": {}}, "part") == []


@pytest.mark.parametrize(("rate", "met"), [(4000.0, True), (2999.0, False)])
def test_target_is_met_by_the_ratio_alone(rate: float, met: bool) -> None:
    def consumes(rate: float) -> dict[str, Any]:
        return {"throughput": {"best": {"summary": {"work": {"rate": rate}}}}}

    report = {"peers": {"dueq-python": consumes(rate), "bullmq": consumes(1000.0)}}
    [row] = targets(report, "part")
    assert row["name"] == "one worker, Python / BullMQ's best"
    assert (row["value"], row["limit"], row["met"]) == (rate / 1000, 3, met)
