"""dueq metrics: what Prometheus gets."""

import contextlib
import http.client
import math
import os
import re
import signal
import socket
import subprocess

import pytest

from private_server import Server

from .program import Program, said

Samples = dict[str, float]


def samples(text: str) -> Samples:
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


def ask(
    port: int, path: str = "/metrics", method: str = "GET", host: str = "127.0.0.1"
) -> tuple[int, str, str]:
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    ) as connection:
        body = b"x" * 5000 if method == "POST" else None
        connection.request(method, path, body, {"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def port_of(line: bytes) -> int:
    found = re.search(rb"listening on http://127\.0\.0\.1:(\d+)/", line)
    assert found, line
    return int(found[1])


def check(text: str) -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, text=True, capture_output=True
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_metrics_of_a_queue(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\n")
    dueq("push", "orders", "later", "--delay", "1h")
    dueq("reserve", "orders", "--ack")
    dueq("bury", "orders", dueq.take())
    dueq("pause", "orders")
    dueq("push", "bills", "x")
    text = dueq("metrics").text
    check(text)
    found = samples(text)
    states = {"ready": 1, "delayed": 1, "leased": 0, "dead": 1, "outbox": 0}
    for state, number in states.items():
        assert found[f'dueq_messages{{queue="orders",state="{state}"}}'] == number
    counters = {"pushed": 4, "reserved": 2, "acked": 1, "retried": 0, "died": 1, "expired": 0}
    for event, number in counters.items():
        assert found[f'dueq_{event}_total{{queue="orders"}}'] == number
    assert found['dueq_paused{queue="orders"}'] == 1
    assert found['dueq_paused{queue="bills"}'] == 0
    assert 0 < found['dueq_oldest_ready_age_seconds{queue="orders"}'] < 60
    assert found["dueq_up"] == 1
    assert found['dueq_workers{queue="orders"}'] == 0
    assert samples(dueq("metrics", "bills").text).keys() == {
        name for name in found if 'queue="orders"' not in name
    }


def test_metrics_of_no_queue(dueq: Program, server: Server) -> None:
    text = dueq("metrics").text
    check(text)
    found = samples(text)
    assert found.pop("dueq_up") == 1
    assert found.keys() == {
        f'dueq_{name}{{server="{server.url}"}}'
        for name in (
            "server_writable",
            "memory_bytes",
            "memory_limit_bytes",
            "evicting",
            "evicted_keys_total",
        )
    }


def test_metrics_of_memory(dueq: Program) -> None:
    """As it is now, also where the policy was changed after the first look."""
    with Server("--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lru") as own:
        dueq.environment["DUEQ_URL"] = own.url
        with dueq.start("metrics", "--listen", "0") as server:
            port = port_of(said(server))
            label = f'{{server="{own.url}"}}'
            found = samples(ask(port)[2])
            assert 100_000 < found[f"dueq_memory_bytes{label}"] < 10_000_000
            assert found[f"dueq_memory_limit_bytes{label}"] == 10 << 20
            assert found[f"dueq_evicting{label}"] == 1
            own.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
            own.command("CONFIG", "SET", "maxmemory", "20mb")
            own.command("SET", "x", "x" * 1_000_000)
            now = samples(ask(port)[2])
            before = found[f"dueq_memory_bytes{label}"]
            assert now[f"dueq_memory_bytes{label}"] > before + 900_000
            assert now[f"dueq_memory_limit_bytes{label}"] == 20 << 20
            assert now[f"dueq_evicting{label}"] == 0
            own.command("ACL", "SETUSER", "default", "-info")
            assert label not in ask(port)[2]
            server.send_signal(signal.SIGTERM)
        dueq.environment["DUEQ_URL"] = own.url + "?evicting=accept"
        own.command("ACL", "SETUSER", "default", "+info")
        own.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        accepted = f'dueq_evicting{{server="{own.url}?evicting=accept"}}'
        assert samples(dueq("metrics").text)[accepted] == 0


def test_metrics_of_a_queue_of_any_name(dueq: Program) -> None:
    dueq("push", 'a "b" \\c größte', "x")
    text = dueq("metrics").text
    check(text)
    assert samples(text)['dueq_pushed_total{queue="a \\"b\\" \\\\c größte"}'] == 1


def test_metrics_of_a_queue_of_partitions(dueq: Program) -> None:
    dueq("push", "orders", "--partitions", "2", "--lines", stdin=b"a\nb\nc\nd\n")
    text = dueq("metrics").text
    check(text)
    found = samples(text)
    pushed = [name for name in found if 'dueq_pushed_total{queue="orders",partition="' in name]
    assert sum(found[name] for name in pushed) == 4
    assert 'dueq_pushed_total{queue="orders"}' not in found
    assert found['dueq_workers{queue="orders"}'] == 0
    assert not [name for name in found if name.startswith("dueq_workers") and "partition" in name]


def test_metrics_of_a_queue_of_partitions_that_is_named_without_one(dueq: Program) -> None:
    dueq("push", "orders", "--partitions", "2", "--lines", stdin=b"a\nb\nc\nd\n")
    dueq("push", "other", "x")
    found = samples(dueq("metrics", "orders").text)
    pushed = {name: found[name] for name in found if name.startswith("dueq_pushed_total")}
    assert sum(pushed.values()) == 4
    assert all(name.startswith('dueq_pushed_total{queue="orders",partition="') for name in pushed)
    assert found['dueq_workers{queue="orders"}'] == 0


def test_metrics_of_what_is_overdue_and_nobody_takes(dueq: Program) -> None:
    dueq("push", "orders", "x", "--at", "2020-01-01T00:00:00Z")
    dueq("push", "late", "x", "--delay", "1ms")
    found = samples(dueq("metrics").text)
    assert found['dueq_overdue_seconds{queue="orders"}'] == 0
    assert found['dueq_overdue_seconds{queue="late"}'] > 0


def test_metrics_of_what_a_worker_measured(dueq: Program) -> None:
    """It says so when it has worked for two seconds, then every ten, and when it ends."""
    dueq("push", "orders", "first")
    dueq("push", "orders", "--lines", "--delay", "1s", stdin=b"a\nb\n")
    worker = ["work", "orders", "--", "sh", "-c", "cat > /dev/null; sleep 0.3"]
    with dueq.start(*worker) as process:
        dueq.until(lambda: samples(dueq("metrics").text).get('dueq_workers{queue="orders"}') == 1)
        dueq.until(lambda: dueq.stats()["acked"] == 3)
        process.send_signal(signal.SIGTERM)
        process.wait()
    text = dueq("metrics").text
    check(text)
    found = samples(text)
    assert found['dueq_run_seconds_count{queue="orders"}'] == 3
    assert found['dueq_run_seconds_bucket{queue="orders",le="0.2"}'] == 0
    assert found['dueq_run_seconds_bucket{queue="orders",le="+Inf"}'] == 3
    assert found['dueq_run_seconds_sum{queue="orders"}'] >= 0.9
    bounds = [
        float(bound)
        for name in found
        for bound in re.findall(r'dueq_run_seconds_bucket.*le="([^"]+)"', name)
    ]
    thousandths = [lead * 10**power for power in range(8) for lead in (1, 2, 5)] + [10**8]
    assert bounds == [ms / 1000 for ms in thousandths] + [math.inf]
    assert 1 <= found['dueq_lateness_seconds_count{queue="orders"}'] <= 3
    rates = dueq("rates", "orders", "--json").objects
    assert max(rate["run_p50_ms"] or 0 for rate in rates) >= 200
    assert max(rate["late_p99_ms"] or 0 for rate in rates) > 0
    runs = [line.split()[-1] for line in dueq("rates", "orders").lines[1:]]
    assert any(re.fullmatch(r"\d+ms|\d+\.\ds", run) for run in runs)


def test_metrics_are_served(dueq: Program) -> None:
    dueq("push", "orders", "x")
    with dueq.start("metrics", "--listen", "0") as server:
        port = port_of(said(server))
        status, kind, text = ask(port)
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        check(text)
        assert samples(text)['dueq_messages{queue="orders",state="ready"}'] == 1
        dueq("push", "orders", "y")
        assert samples(ask(port)[2])['dueq_messages{queue="orders",state="ready"}'] == 2
        assert ask(port, method="HEAD")[::2] == (200, "")
        assert ask(port, "/")[0] == 404
        assert ask(port, method="POST")[0] == 405
        # One that says nothing holds nobody up.
        with socket.create_connection(("127.0.0.1", port)):
            assert ask(port)[0] == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 128 + signal.SIGTERM


@pytest.mark.parametrize("address", ["127.0.0.1:0", "0.0.0.0:0"])
def test_metrics_are_served_to_no_page_of_another_site(dueq: Program, address: str) -> None:
    """Such a page may give its own name this address."""
    with dueq.start("metrics", "--listen", address, "--host", "jobs.example") as server:
        found = re.search(rb":(\d+)/", said(server))
        assert found
        port = int(found[1])
        for own in ["127.0.0.1:9", "[::1]", "10.1.2.3", "localhost:1", "jobs.example:9123"]:
            assert ask(port, host=own)[0] == 200
        assert ask(port, host=socket.gethostname())[0] == 200
        for evil in ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "[::1"]:
            code, _, text = ask(port, host=evil)
            assert (code, "start dueq with --host NAME" in text) == (421, True)
        server.send_signal(signal.SIGTERM)
        server.wait()


def test_metrics_are_served_while_the_server_is_away(dueq: Program) -> None:
    with Server() as gone:
        url = gone.url
        words = ["metrics", "--url", url, "--listen", "127.0.0.1:0"]
        with dueq.start(*words) as server:
            port = port_of(said(server))
            assert samples(ask(port)[2])["dueq_up"] == 1
            gone.stop()
            assert samples(ask(port)[2]) == {"dueq_up": 0}
            server.send_signal(signal.SIGTERM)
            server.wait()


def test_metrics_printed_once_say_that_the_server_is_away(dueq: Program) -> None:
    printed = dueq.run("metrics", "--url", "redis://127.0.0.1:1")
    check(printed.text)
    assert (printed.code, samples(printed.text)) == (3, {"dueq_up": 0})
    assert "CONNECT" in printed.err
    wrong = dueq.run("metrics", "a{b")
    assert (wrong.code, wrong.text) == (2, "")


@pytest.mark.parametrize("address", ["", "x", "127.0.0.1:", "127.0.0.1:http", "a:b:c"])
def test_metrics_at_no_address(dueq: Program, address: str) -> None:
    done = dueq.run("metrics", "--listen", address)
    assert (done.code, "is not an address" in done.err) == (2, True)


def test_metrics_at_an_address_that_is_taken(dueq: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = dueq.run("metrics", "--listen", str(taken.getsockname()[1]))
    assert (done.code, os.strerror(98) in done.err) == (4, True)
