import pytest

from .program import Program


def test_stats_of_a_queue(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\nd\n")
    dueq("push", "orders", "later", "--at", "2099-01-01T00:00:00Z")
    dueq("reserve", "orders", "--ack")
    dueq("bury", "orders", dueq.take())
    dueq("retry", "orders", dueq.take(), "--delay", "0")
    dueq.take()
    found = dueq.stats()
    next_ms, now_ms, oldest_ms = (
        found.pop(name) for name in ("next_event_ms", "now_ms", "oldest_ms")
    )
    assert 29_000 < next_ms - now_ms <= 30_000
    assert now_ms - 60_000 < oldest_ms <= now_ms
    assert found == {
        "queue": "orders",
        "ready": 1,
        "delayed": 1,
        "leased": 1,
        "dead": 1,
        "outbox": 0,
        "outbox_error": "",
        "pushed": 5,
        "reserved": 4,
        "acked": 1,
        "retried": 1,
        "expired": 0,
        "died": 1,
        "cancelled": 0,
        "purged": 0,
        "quarantined": 0,
        "paused": False,
        "at_limit": "",
        "evicting": False,
        "ends": 0,
        "ends_bytes": 0,
    }
    rows = dict(line.split(maxsplit=1) for line in dueq("stats", "orders").lines)
    assert (rows["queue"], rows["delayed"], rows["acked"]) == ("orders", "1", "1")
    assert (rows["pushed"], rows["reserved"], rows["died"]) == ("5", "4", "1")
    assert rows["oldest"].endswith("s ago)")


def test_stats_of_no_queue(dueq: Program) -> None:
    found = dueq.stats("nothing")
    assert (found["ready"], found["next_event_ms"], found["oldest_ms"]) == (0, None, None)
    ended = dueq.run("stats", "nothing")
    assert "oldest" not in ended.text
    assert "next" not in ended.text
    assert (ended.code, ended.err.splitlines()[0]) == (
        0,
        "dueq: warning: nothing was ever pushed to the queue nothing",
    )
    dueq("push", "orders", "x")
    assert dueq.run("stats", "orders").err == ""


def test_queues_by_name_with_counts(dueq: Program) -> None:
    assert dueq("queues").out == b""
    assert dueq("queues", "--json").out == b""
    dueq("push", "orders", "--lines", stdin=b"a\nb\n")
    dueq("push", "größte", "later", "--delay", "1h")
    dueq("pause", "größte")
    dueq("push", "old", "done")
    dueq("reserve", "old", "--ack")
    dueq("pause", "typo")
    listed = dueq("queues", "--json").objects
    assert [row["queue"] for row in listed] == ["größte", "old", "orders", "typo"]
    assert [row["ready"] for row in listed] == [0, 0, 2, 0]
    assert [row["pushed"] for row in listed] == [1, 1, 2, 0]
    assert listed[2].keys() == dueq.stats().keys()
    head, *rows = dueq("queues").lines
    assert head.split() == ["READY", "DELAYED", "LEASED", "DEAD", "OLDEST", "QUEUE"]
    assert rows[0].split() == ["0", "1", "0", "0", "-", "größte", "(paused)"]
    assert rows[1].split() == ["0", "0", "0", "0", "-", "old"]
    assert rows[2].split()[:4] == ["2", "0", "0", "0"]
    assert rows[3].endswith("  typo (paused) (never pushed to)")


def test_queues_more_than_a_page(dueq: Program) -> None:
    names = [f"queue {number:03}" for number in range(150)]
    for name in names:
        dueq("pause", name)
    assert [row["queue"] for row in dueq("queues", "--json").objects] == names


def test_rates_of_a_queue(dueq: Program) -> None:
    assert dueq("rates", "orders").out == b""
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\n")
    dueq("reserve", "orders", "--ack")
    dueq("bury", "orders", dueq.take())
    rates = dueq("rates", "orders", "--json").objects
    names = ["pushed", "reserved", "acked", "retried", "expired", "died", "cancelled"]
    times = ["late_p50_ms", "late_p99_ms", "run_p50_ms", "run_p99_ms"]
    assert list(rates[0]) == ["start_ms", "span_ms", *names, *times]
    assert [rates[0][name] for name in times] == [None] * 4
    sums = [sum(rate[name] for rate in rates) for name in names]
    assert sums == [3, 2, 1, 0, 0, 1, 0]
    head, *rows = dueq("rates", "orders", "--minutes", "5").lines
    heads = [name.removesuffix("_ms").replace("_", "-") for name in [*names, *times]]
    assert head.split() == ["START", "SPAN", *(name.upper() for name in heads)]
    assert sum(int(row.split()[2]) for row in rows) == 3
    assert dueq("rates", "nothing").out == b""


@pytest.mark.parametrize("minutes", ["0", "361", "all"])
def test_rates_of_wrong_minutes(dueq: Program, minutes: str) -> None:
    assert dueq.run("rates", "orders", "--minutes", minutes).code == 2
