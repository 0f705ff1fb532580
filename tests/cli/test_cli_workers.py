"""dueq workers, inspect and running: who consumes, and what each holds."""

import json
import re
import socket

import pytest

from dueq import Queue
from private_server import Server

from .program import AT_THE_GATE, Gate, Program, runs

# What a terminal would obey, as far as a name may have it.
EVIL = "x\u202ey\u2028"


def now_ms(server: Server) -> int:
    reply = server.command("TIME")
    assert isinstance(reply, list)
    seconds, micros = (int(part) for part in reply if isinstance(part, bytes))
    return seconds * 1000 + micros // 1000


def register(
    server: Server,
    session: str,
    *leases: str,
    queue: str = "orders",
    host: str = "shop-3",
    seen_ms: int = 0,
    tasks: str = "",
) -> None:
    """As a consumer does that was seen so long ago. tasks: their names, each in a line."""
    seen = now_ms(server) - seen_ms
    held = "".join(f"{lease}\n" for lease in leases)
    numbers = f"{seen} 60000 17 2 5000 {len(leases)} {len(leases)}"
    says = f"{numbers}\n{host}\npython 3.12.4\n0.1.0\n{held}"
    if tasks:
        says += f"\n{tasks}\n"
    server.command("HSET", f"dueq:{{{queue}}}:described", session, says)
    server.command("ZADD", f"dueq:{{{queue}}}:consumers", str(seen), session)


def test_workers_who_and_slow_of_a_worker_that_works(
    dueq: Program, server: Server, gate: Gate
) -> None:
    assert dueq("workers").out == b""
    assert dueq("running", "--json").out == b""
    dueq("push", "orders", "a", "--id", "a")
    dueq("push", "orders", "b", "--id", "b")
    with dueq.start("work", "orders", "mails", "--concurrency", "2", "--", *AT_THE_GATE) as worker:
        runs(worker)
        runs(worker)
        dueq.until(lambda: dueq("workers").out != b"")
        [seen] = dueq("workers", "--json").objects
        assert (seen["host"], seen["pid"]) == (socket.gethostname(), worker.pid)
        assert (seen["program"], seen["slots"], seen["offline"]) == ("dueq work", 2, False)
        assert seen["tasks"] == ""
        assert seen["since_ms"] < seen["seen_ms"] <= seen["now_ms"] < seen["until_ms"]
        mails, orders = seen["queues"]
        assert mails == {"queue": "mails", "leased": 0, "running": 0, "leases": []}
        assert (orders["queue"], orders["leased"], orders["running"]) == ("orders", 2, 2)
        assert [(row["id"], row["running"]) for row in orders["leases"]] == [
            ("a", True),
            ("b", True),
        ]
        _, row = dueq("workers").lines
        assert row.split()[:5] == ["works", str(worker.pid), "2", "2", "2"]
        assert row.endswith("  dueq work  0.1.0  mails, orders")
        # A queue that is waited for is one.
        assert "mails" in [row["queue"] for row in dueq("queues", "--json").objects]
        assert dueq("workers", "others").out == b""

        found = dueq("inspect", "b", "--json").object
        assert (found["queue"], found["state"], found["failures"]) == ("orders", "leased", 0)
        assert (found["holder"]["pid"], found["holder"]["running"]) == (worker.pid, True)
        assert found["pushed_ms"] < found["holder"]["leased_since_ms"] < found["now_ms"]
        text = dueq("inspect", "orders", "b").text
        assert f"leased by   {seen['host']} process {worker.pid}, dueq work with dueq" in text

        running = dueq("running", "--json").objects
        assert [(row["queue"], row["id"], row["deliveries"]) for row in running] == [
            ("orders", "a", 1),
            ("orders", "b", 1),
        ]
        assert len(dueq("running", "orders", "--count", "1").lines) == 2
        gate.let(2)
        worker.terminate()
        worker.communicate(timeout=60)
    assert dueq("workers").out == b""
    assert dueq("running").out == b""


def test_how_far_a_job_says_it_is(dueq: Program, server: Server) -> None:
    with Queue("orders", server.url) as queue:
        id = queue.push("x")
        message = queue.reserve()
        assert message
        assert "progress" not in dueq("inspect", id, "--json").object
        message.checkpoint("dueq 0.4567 page\u202e 12\n")
        lines = dueq("inspect", "orders", id).lines
        assert "progress    45.67%, page\u202e 12" in lines
        assert "progress    45.67%, page\u202e 12" in dueq("find", "orders", id).lines
        for command in (("inspect", id), ("find", "orders", id)):
            found = dueq(*command, "--json").object
            assert (found["progress"], found["progress_note"]) == (0.4567, "page\u202e 12")
        message.checkpoint("dueq 1\n")
        assert "progress    100%" in dueq("inspect", "orders", id).lines
        found = dueq("inspect", id, "--json").object
        assert (found["progress"], found.get("progress_note")) == (1, None)


def test_who_of_a_message_that_failed(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "x", "--max-attempts", "2")
    dueq("retry", "orders", dueq.take(), "--delay", "0", "--error", "no such shop")
    ticket = dueq.take()
    assert "leased by   none that says so" in dueq("inspect", "x").text
    dueq("bury", "orders", ticket, "--reason", "still\x1b none")
    lines = dueq("inspect", "orders", "x").lines
    assert lines[1].startswith("state       dead since ")
    assert lines[-2:] == ["delivered   2 (2 failed, 0 crashed)", "error       still\x1b none"]
    own = re.escape(socket.gethostname())
    when = r"2\S+Z \([\d.]+m?s ago\)"
    assert re.fullmatch(
        rf"failed      {when}, delivery 1, by {own} process \d+: no such shop", lines[3]
    )
    assert re.fullmatch(
        rf"buried      {when}, delivery 2, by {own} process \d+: still\x1b none", lines[4]
    )
    found = dueq("inspect", "x", "--json").object
    assert [(row["kind"], row["delivery"], row["error"]) for row in found["history"]] == [
        ("failed", 1, "no such shop"),
        ("buried", 2, "still\x1b none"),
    ]
    assert found["pushed_ms"] <= found["history"][0]["time_ms"] <= found["now_ms"]
    assert (found["holder"], found["failures"], found["error"]) == (None, 2, "still\x1b none")


def test_inspect_by_a_user_that_may_not_ask_for_ends(dueq: Program) -> None:
    with Server() as own:
        dueq.environment["DUEQ_URL"] = own.url
        dueq("push", "orders", "x", "--id", "x")
        keys = ["msg", "delayed", "leased", "dead", "outbox", "attempts", "meta", "failures"]
        words = ["resetkeys", "resetchannels", *(f"~dueq:{{orders}}:{key}" for key in keys)]
        own.command("ACL", "SETUSER", "finder", "on", ">secret", *words, "+@all")
        dueq.environment["DUEQ_URL"] = own.url.replace("unix://", "unix://finder:secret@")
        assert dueq("inspect", "orders", "x", "--json").object["state"] == "ready"
        ended = dueq.run("inspect", "orders", "y")
        assert ended.code == 1
        assert ended.err == "dueq: NOT_FOUND: y: no message has this id\n"
        ended = dueq.run("inspect", "orders", "y", "--json")
        assert (ended.code, ended.object) == (1, {"id": "y", "status": "NOT_FOUND"})


def test_history_is_of_this_message_alone(dueq: Program) -> None:
    """An earlier one of its id is another."""
    for body in ("first", "second"):
        dueq("push", "orders", body, "--id", "x", "--drop")
        dueq("bury", "orders", dueq.take(), "--reason", body)
    dueq("push", "orders", "third", "--id", "x")
    dueq("push", "orders", "other", "--id", "xx")
    assert dueq("inspect", "x", "--json").object["history"] == []
    dueq("retry", "orders", dueq.take(), "--delay", "0", "--error", "third")
    [failed] = dueq("inspect", "x", "--json").object["history"]
    assert failed["error"] == "third"
    listed = dueq("failures", "orders", "--id", "x", "--json").objects
    assert [row["error"] for row in listed] == ["third", "second", "first"]
    assert listed[0] == failed
    header, *rows = dueq("failures", "orders").lines
    assert header.split() == ["TIME", "KIND", "DELIVERY", "HOST", "PID", "ID", "ERROR"]
    assert rows[0].endswith(f"failed          1  {failed['host']} {failed['pid']}  x  third")
    assert len(rows) == 3
    assert len(dueq("failures", "orders", "--count", "2").lines) == 3
    assert dueq("failures", "orders", "--id", "xx").out == dueq("failures", "others").out == b""


def test_crash_is_whose_consumer_said_that_it_held_the_message(
    dueq: Program, server: Server
) -> None:
    dueq("push", "orders", "x", "--id", "x")
    shortly = ("reserve", "orders", "--lease", "1ms", "--wait", "20s", "--json")
    ticket = dueq(*shortly).object["ticket"]
    register(server, "dead", f"5000 1 0 {ticket}", seen_ms=61_000)
    again = dueq(*shortly).object["ticket"]
    dueq.take()
    first, second = dueq("inspect", "x", "--json").object["history"]
    assert (first["kind"], first["ticket"], first["host"], first["pid"]) == (
        *("crashed", ticket, "shop-3"),
        17,
    )
    assert (second["kind"], second["ticket"], second["host"], second["pid"]) == (
        *("crashed", again, None),
        None,
    )
    lines = dueq("inspect", "x").lines
    assert lines[-3].endswith(", delivery 1, by shop-3 process 17")
    assert lines[-2].endswith(", delivery 2, by a consumer that is not known")
    later, earlier = dueq("failures", "orders", "--json").objects
    assert (earlier, later) == (first, second)
    assert [row.split()[3:5] for row in dueq("failures", "orders").lines[1:]] == [
        ["-", "x"],
        ["shop-3", "17"],
    ]


def test_worker_that_is_killed_is_named(dueq: Program, server: Server, gate: Gate) -> None:
    dueq("push", "orders", "a", "--id", "a")
    with dueq.start("work", "orders", "--lease", "3s", "--", *AT_THE_GATE) as worker:
        runs(worker)
        dueq.until(lambda: dueq("inspect", "a", "--json").object["holder"] is not None)
        worker.kill()
        worker.communicate(timeout=60)
    dueq("reserve", "orders", "--wait", "20s")
    [crashed] = dueq("inspect", "a", "--json").object["history"]
    assert (crashed["kind"], crashed["host"], crashed["pid"]) == (
        *("crashed", socket.gethostname()),
        worker.pid,
    )


def test_who_of_no_message(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "x")
    assert dueq.run("inspect", "nothing").code == 1
    assert dueq.run("inspect", "others", "x").code == 1
    assert dueq.run("inspect").code == 2
    assert dueq.run("inspect", "a", "b", "c").code == 2


def test_who_of_a_message_of_a_partition(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--partitions", "4", "--key", "k", "--id", "x")
    taken = json.loads(dueq("reserve", "orders", "--partitions", "4", "--json").out)
    number = int(taken["queue"].split("#")[1])
    register(server, "session", f"9000 1 {number + 1} {taken['ticket']}")
    whole = ["orders", "--partitions", "4"]
    dueq("retry", *whole, taken["ticket"], "--delay", "0", "--error", "why")
    taken = json.loads(dueq("reserve", "orders", "--partitions", "4", "--json").out)
    register(server, "session", f"9000 1 {number + 1} {taken['ticket']}")
    for words in (["x"], ["orders", "x", "--partitions", "4"], [taken["queue"], "x"]):
        found = dueq("inspect", *words, "--json").object
        assert (found["queue"], found["holder"]["host"]) == (taken["queue"], "shop-3")
        assert [row["error"] for row in found["history"]] == ["why"]
    for words in (whole, [taken["queue"]]):
        assert [row["id"] for row in dueq("failures", *words, "--json").objects] == ["x"]
    assert dueq("running", "--json").object["queue"] == taken["queue"]
    assert len(dueq("workers").lines) == 2


def test_workers_that_are_offline(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--id", "x")
    ticket = dueq.take()
    register(server, "dead", f"5000 1 0 {ticket}", "4000 0 0 0:gone", seen_ms=61_000)
    register(server, "alive", host="shop-4")
    assert [row["offline"] for row in dueq("workers", "--json").objects] == [True, False]
    assert [line.split()[0] for line in dueq("workers").lines[1:]] == ["offline", "waits"]
    assert "python 3.12.4 with dueq 0.1.0, which is offline" in dueq("inspect", "x").text
    [row] = dueq("running").lines[1:]
    assert row.split()[1] == "offline"


def test_worker_that_is_killed_while_it_stops_has_not_crashed(
    dueq: Program, server: Server, gate: Gate
) -> None:
    def states() -> list[str]:
        return [line.split()[0] for line in dueq("workers").lines[1:]]

    def offline() -> float:
        (line,) = [
            line for line in dueq("metrics").lines if line.startswith("dueq_offline_workers{")
        ]
        return float(line.split()[-1])

    for number, stops in enumerate([False, True]):
        dueq("push", "orders", "a", "--id", f"a{number}")
        with dueq.start("work", "orders", "--grace", "60s", "--", *AT_THE_GATE) as worker:
            runs(worker)
            dueq.until(lambda: "works" in states())
            if stops:
                worker.terminate()
                dueq.until(lambda: "stops" in states())
            worker.kill()
            worker.communicate(timeout=60)
        for row in dueq("workers", "--json").objects:
            server.command("ZINCRBY", "dueq:{orders}:consumers", "-60000", row["session"])
        assert sorted(states()) == ["offline", "stopped"][: number + 1]
        assert offline() == 1
        text = dueq("inspect", f"a{number}").text
        assert ("which was stopped" if stops else "which is offline") in text
    assert "offline 1\n" in dueq("top", "--once").text


def test_holder_of_an_earlier_delivery_is_none(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--id", "x")
    ticket = dueq.take()
    register(server, "session", f"5000 1 0 {ticket}")
    dueq("retry", "orders", ticket, "--delay", "0")
    dueq.take()
    assert dueq("inspect", "x", "--json").object["holder"] is None
    assert dueq("running", "--json").out == b""


@pytest.mark.parametrize(
    "words", [["workers"], ["running"], ["inspect", EVIL], ["failures", EVIL, "--id", EVIL]]
)
def test_workers_at_a_terminal(dueq: Program, server: Server, words: list[str]) -> None:
    dueq("push", EVIL, "x", "--id", EVIL)
    ticket = dueq.take(EVIL)
    register(server, "session", f"5000 1 0 {ticket}", queue=EVIL, host=EVIL)
    register(server, "forged", queue=EVIL, host="a\x1b[2Jb")
    dueq("retry", EVIL, ticket, "--delay", "0", "--error", f"{EVIL}\x1b[2J")
    ticket = dueq.take(EVIL)
    register(server, "session", f"5000 1 0 {ticket}", queue=EVIL, host=EVIL)
    register(server, "\xff\n", queue=EVIL)
    screen = dueq.screen(*words).decode()
    assert "x\\u202ey\\u2028" in screen
    assert not re.search(r"[\u202e\u2028\x1b]", screen)
    assert "shop-3" not in screen


def test_workers_are_more_than_a_page(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x")
    for number in range(450):
        register(server, f"session-{number}", host=f"shop-{number % 7}")
    listed = dueq("workers", "--json").objects
    assert len({row["session"] for row in listed}) == len(listed) == 450
    assert [row["host"] for row in listed] == sorted(row["host"] for row in listed)
