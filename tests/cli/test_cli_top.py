"""dueq top, on the screen of a terminal."""

import contextlib
import os
import pty
import re
import select
import termios
import time
from contextlib import AbstractContextManager
from typing import Any

import pytest

from dueq import Queue
from private_server import Server

from . import stuck_queues
from .program import Program
from .test_cli_escapes import EVIL, NAME, NAME_SHOWN, UNSEEN
from .test_cli_workers import register
from .tmux import Screen, screen


def top(dueq: Program, *words: str, **more: Any) -> AbstractContextManager[Screen]:
    given = {"DUEQ_URL": dueq.environment["DUEQ_URL"], "LC_ALL": "C.UTF-8"}
    given |= more.pop("environment", {})
    return screen(dueq.path, "top", "--every", "200ms", *words, environment=given, **more)


def bury(dueq: Program, *ids: str, queue: str = "orders", why: str = "broken") -> None:
    for id in ids:
        dueq("push", queue, f"body of {id}", "--id", id)
        dueq("bury", queue, dueq.take(queue), "--reason", why)


# ---- Where it runs ----


def test_not_at_a_terminal(dueq: Program) -> None:
    ended = dueq.run("top")
    assert ended.code == 2
    assert "dueq stats --json" in ended.err
    assert "dueq metrics" in ended.err


@pytest.mark.parametrize("kind", ["dumb", "no-such-terminal"])
def test_terminal_that_cannot_be_drawn_on(dueq: Program, kind: str) -> None:
    with top(dueq, environment={"TERM": kind}) as shown:
        text = shown.ends().replace("\n", "")
    assert f'the terminal "{kind}" ($TERM) is not known, or cannot be drawn on' in text
    assert "exit code 2" in text


def test_once(dueq: Program) -> None:
    bury(dueq, "a", "b", why="ValueError: row 17 of 20")
    dueq("push", "bills", "x")
    dueq("pause", "bills")
    lines = dueq("top", "--once").lines
    assert lines[1] == "ready 1  delayed 0  leased 0  dead 2  outbox 0  workers 0"
    (bills,) = [line for line in lines if line.startswith("bills ")]
    assert bills.split()[1:5] == ["1", "0", "0", "0"]
    assert "  ! paused: it delivers nothing until it is resumed (key r)" in lines
    assert any(re.fullmatch(r"orders +2 dead .* ValueError: row # of #", line) for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert "bills" not in dueq("top", "--once", "orders").text


def test_once_reads_the_start_of_large_bodies(dueq: Program, server: Server) -> None:
    with Queue("orders", server.url) as orders:
        for _ in range(16):
            orders.push(b"x" * 1_000_000)
        taken = orders.reserve()
        assert taken
        taken.retry(delay=0, error="ValueError: row 17")

    def sent() -> int:
        text = server.command("INFO", "stats")
        assert isinstance(text, bytes)
        (number,) = re.findall(rb"total_net_output_bytes:(\d+)", text)
        return int(number)

    before = sent()
    lines = dueq("top", "--once").lines
    assert sent() - before < 100_000
    assert any("orders" in line and "ValueError: row #" in line for line in lines)
    (last,) = dueq("peek", "orders", "ready", "--count", "1").lines[1:]
    assert "1000000" in last
    assert sent() - before < 200_000
    whole = dueq("peek", "orders", "ready", "--count", "1", "--json").object
    assert len(whole["body"]) == 1_000_000


def test_once_of_a_queue_of_partitions(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--partitions", "2", "--id", "x")
    register(server, "session", queue="orders")
    lines = dueq("top", "--once").lines
    assert lines[1] == "ready 1  delayed 0  leased 0  dead 0  outbox 0  workers 1"
    rows = [line.split() for line in lines if line.startswith("orders#")]
    assert [row[0] for row in rows] in (["orders#0"], ["orders#1"])
    assert sum(int(row[1]) for row in rows) == 1
    assert all(row[7] == "1" for row in rows)
    (sums,) = [line for line in lines if line.startswith("orders (1)")]
    assert sums.split()[2:6] == ["1", "0", "0", "0"]
    # One that is named stands for itself.
    (named,) = [row[0] for row in rows]
    assert "orders (" not in dueq("top", "--once", named).text


def test_once_of_the_bare_name_of_a_queue_of_partitions(dueq: Program) -> None:
    dueq("push", "orders", "--partitions", "2", "--lines", stdin=b"x\n" * 40)
    dueq("push", "bills", "x")
    lines = dueq("top", "--once", "orders").lines
    assert lines[1] == "ready 40  delayed 0  leased 0  dead 0  outbox 0  workers 0"
    (sums,) = [line for line in lines if line.startswith("orders (")]
    assert sums.split()[2:6] == ["40", "0", "0", "0"]
    assert sum(int(line.split()[1]) for line in lines if line.startswith("orders#")) == 40
    assert "bills" not in "".join(lines)


def test_once_for_a_viewer(dueq: Program) -> None:
    """Whose permissions are those of docs/security.md, and +scan for the names of queues."""
    rights = "+evalsha +script|load +select +client|setname +client|id +info +time +type +hget"
    rights += " +hmget +hlen +hexists +hscan +llen +lrange +lpos +zcard +zcount +zmscore +zrange"
    rights += " +zrank +zscore +zscan +scan"
    with Server() as own:
        dueq.environment["DUEQ_URL"] = own.url
        bury(dueq, "a", why="broken")
        words = ["resetkeys", "resetchannels", "-@all", "~dueq:*", *rights.split()]
        own.command("ACL", "SETUSER", "viewer", "on", ">secret", *words)
        url = own.url.replace("unix://", "unix://viewer:secret@")
        text = dueq("top", "--once", "--url", url).text
    assert "! poison: 1 died and 0 failed in 30 min; 1 with: broken" in " ".join(text.split())


def test_once_of_a_server_that_is_away(dueq: Program) -> None:
    ended = dueq.run("top", "--once", "--url", "unix:///nowhere/s?timeout=1s")
    assert ended.code == 3
    assert "CONNECT" in ended.err


@pytest.mark.parametrize("words", [["--every", "1ms"], ["--json"], ["--partitions", "2"]])
def test_wrong_words(dueq: Program, words: list[str]) -> None:
    assert dueq.run("top", *words).code == 2


# ---- Views ----


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_views(dueq: Program, columns: int, rows: int) -> None:
    with stuck_queues.working(dueq, "orders"), top(dueq, columns=columns, rows=rows) as shown:
        dueq("push", "orders", "held", "--id", "m1", "--header", "a=b")
        dueq("push", "orders", "later", "--delay", "1h", "--id", "m2")
        bury(dueq, "x1", "x2", queue="bills", why="TypeError: no 7")
        shown.until("orders ", "bills ", "delayed 1  leased 1  dead 2  outbox 0")
        shown.keys("Space")
        text = shown.until("workers 1")
        assert ("IN/S  OUT/S" in text) == (columns > 100)
        shown.keys("Tab")
        shown.until("dueq top  workers", "works", "1/1")
        shown.keys("Tab")
        shown.until("dueq top  errors", "TypeError: no #")
        shown.keys("1", "Down", "Enter")
        shown.until("dueq top  queue", "[ready 0]", "There is none.")
        shown.keys("Right", "Right")
        shown.until("[leased 1]", "m1")
        shown.keys("Enter")
        shown.until("leased by", "header      a=b", "Body: 4 bytes, as text")
        shown.keys("Escape", "Left")
        shown.until("[delayed 1]", "m2")
        shown.keys("?")
        shown.until("dueq top  help", "kick a dead message")
        shown.keys("Escape", "3", "Enter")
        shown.until("bills", "[dead 2]", "x1", "x2")
        assert all(len(line) <= columns for line in shown.lines)
        shown.keys("q")
        assert "exit code 0" in shown.ends()


def group_rows(shown: Screen) -> list[list[str]]:
    """The cells of the groups on the screen; the name is the last one."""
    lines = shown.lines
    head = next(i for i, line in enumerate(lines) if "LEASED/OF" in line)
    rows = [line.split(maxsplit=7) for line in lines[head + 1 : -1]]
    return [cells for cells in rows if len(cells) == 8]


def open_groups(shown: Screen, *parts: str) -> None:
    """Looks into the first queue, and at its groups."""
    shown.until("▁▁▁")
    shown.keys("Enter")
    shown.until("dueq top  queue", "ERROR OR BODY")
    shown.keys("g")
    shown.until("dueq top  groups", *parts)


def test_groups_of_a_queue(dueq: Program) -> None:
    for group in ["acme", "acme", "acme", "b2", "b3", "b4", "b5"]:
        dueq("push", "orders", "x", "--group", group)
    dueq("push", "bills", "x")
    dueq("reserve", "orders")
    with top(dueq, "orders", columns=80, rows=24) as shown:
        shown.until("orders ")
        shown.keys("Enter")
        text = shown.until("WAITING/OF LEASED/OF", "GROUP (g: all)", "b5", "[ready 6]")
        rows = [line.split() for line in text.splitlines() if line.split()[-1:] == ["b2"]]
        assert [row[:2] for row in rows] == [["1", "0"]]
        assert "acme" not in text
        for _ in range(4):
            dueq("reserve", "orders")
        shown.until("         2         1 ", "acme")
    with top(dueq, "bills", columns=80, rows=24) as shown:
        shown.until("bills ")
        shown.keys("Enter")
        assert "GROUP" not in shown.until("[ready 1]", "ERROR OR BODY")
        shown.keys("g")
        shown.until("dueq top  groups", "No message with a group waits or is leased.")
        assert "GROUP" not in shown.text
        shown.keys("h", "P", "n", "Escape")
        shown.until("dueq top  queue", "[ready 1]", "Enter look")


def test_groups_have_their_limits(dueq: Program, server: Server) -> None:
    for group in ("acme", "globex", "acme", "acme"):
        dueq("push", "orders", "x", "--group", group)
    dueq("push", "orders", "x")
    dueq("limit", "orders", "--concurrency", "50", "--rate", "1000/s", "--burst", "20")
    dueq("limit", "orders", "--each-group-concurrency", "5", "--each-group-backlog", "10000")
    dueq("limit", "orders", "--each-group-rate", "100/m", "--each-group-burst", "9")
    dueq("limit", "orders", "--group", "acme", "--concurrency", "1", "--weight", "4")
    dueq("reserve", "orders", "--count", "9")
    server.command("HSET", "dueq:{orders}:meta", "served_from", 0)
    with top(dueq, "orders") as shown:
        open_groups(
            shown,
            "Limits of the queue: concurrency 50, rate 1000/s, burst 20",
            "Limits of each group: concurrency 5, rate 100/m, burst 9, backlog 10000",
            "Groups with limits of their own: 1 (dueq limits shows them)",
        )
        acme, *others = group_rows(shown)
        assert acme[:2] + acme[3:] == ["2/10000", "1/1", "1", "100/m", "4", "concurrency", "acme"]
        assert others == [
            ["0/10000", "1/5", "-", "1", "100/m", "-", "-", "globex"],
            ["0", "1", "-", "1", "-", "-", "-", "(no group)"],
        ]
        assert all(len(line) <= 80 for line in shown.lines)


def test_group_tells_for_which_message_it_waits(dueq: Program) -> None:
    dueq("limit", "orders", "--order", "strict", "--each-group-backlog", "100")
    for id in ("first", "second"):
        dueq("push", "orders", "x", "--id", id, "--group", "acme")
    dueq("retry", "orders", dueq.take(), "--delay", "1h")
    dueq.run("reserve", "orders")  # it finds that acme must wait
    with top(dueq, "orders", columns=120, rows=24) as shown:
        open_groups(
            shown,
            "Limits of each group: backlog 100, order strict",
            "orders group acme waits for first",
        )
        assert [cells[6:] for cells in group_rows(shown)] == [["order", "acme  waits for first"]]


def test_limits_that_cannot_be_read(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--group", "acme")
    dueq("limit", "orders", "--each-group-concurrency", "5")
    server.command("HSET", "dueq:{orders}:limits", "each.concurrency", "many")
    with top(dueq, "orders") as shown:
        open_groups(shown, "The limits cannot be read: ", "acme")
        assert group_rows(shown)[0][:2] == ["1", "0"]
        dueq("limit", "orders", "--clear", "--each-group-concurrency", "6")
        shown.until("0/6", without="cannot be read")


def test_queue_of_partitions_is_one_row_that_opens(dueq: Program) -> None:
    for i in range(12):
        dueq("push", f"orders#{i}", "--lines", "--delay", "1h", stdin=b"x\n" * (i + 1))
    dueq("push", "orders!", "x", "--delay", "1h")  # in the alphabet it is between
    dueq("pause", "orders#2")
    with top(dueq) as shown:
        shown.until(
            "delayed 79 ", "orders! ", "! 1 of 12 partitions; #2 paused: ", without="orders#"
        )
        (sums,) = [line for line in shown.lines if line.startswith("orders (12)")]
        assert sums.split()[2:4] == ["0", "78"]
        shown.keys("Enter")
        text = shown.until("orders#0 ", "orders#11 ")
        rows = [line.split() for line in text.splitlines() if line.startswith("orders#")]
        assert [(row[0], row[2]) for row in rows] == [
            (f"orders#{i}", str(i + 1)) for i in range(12)
        ]
        shown.keys("Down", "Enter")
        shown.until("dueq top  queue", "orders#0", "delayed 1 ")
        shown.keys("Escape", "Escape")
        shown.until("orders (12)", without="orders#")
        shown.keys("p")
        shown.until("! 12 of 12 partitions; #0 paused: ", "(key r)")
        assert dueq.stats("orders#11")["paused"] is True
        shown.keys("r")
        shown.until("orders: resumed", without="partitions; ")
        assert dueq.stats("orders#2")["paused"] is False
        assert dueq.stats("orders#11")["paused"] is False


def test_body_of_a_message(dueq: Program) -> None:
    dueq("push", "orders", '{"name":{"first":"A"},"list":[1]}', "--id", "m")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("Enter")
        shown.until("[ready 1]", '"first":"A"')
        shown.keys("Enter")
        shown.until("as JSON", '    "first":"A"')
        shown.keys("b")
        shown.until("as text", '{"name":{"first":"A"},"list":[1]}')
        shown.keys("b", "b")
        shown.until("as hex", "7b 22 6e 61 6d 65", '{"name":{"first"')


def test_history_of_a_message(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "x", "--id", "x")
    dueq("retry", "orders", dueq.take(), "--delay", "0", "--error", "\x1b[2J\u202e no such shop")
    ticket = dueq("reserve", "orders", "--lease", "1ms", "--json").object["ticket"]
    register(server, "session", f"5000 1 0 {ticket}", seen_ms=61_000)
    dueq("bury", "orders", dueq.take(), "--reason", "so")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("Enter", "Right", "Right", "Right")
        shown.until("[dead 1]")
        shown.keys("Enter")
        shown.until("pushed ", "failed ", "ago, delivery 1, ", "ago, delivery 2, shop-3 process 17")
        text = shown.until(
            "crashed ", "buried ", "ago, delivery 3, ", "delivered   3: 2 of 16 failed"
        )
        assert text.index("failed ") < text.index("crashed ") < text.index("buried ")
        assert "\\u202e no such shop" in text


def test_pages_of_messages(dueq: Program) -> None:
    lines = "".join(f"message {i}\n" for i in range(150))
    dueq("push", "orders", "--lines", stdin=lines.encode())
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("Enter")
        shown.until("message 0")
        shown.keys("End")
        shown.until("message 99", "There are more: n")
        shown.keys("n")
        shown.until("message 100", without="message 99")
        shown.keys("N")
        shown.until("message 0", without="message 100")


def test_pages_of_groups(dueq: Program, server: Server) -> None:
    with Queue("orders", server.url) as orders:
        for i in range(2000):
            orders.push(b"x", group=f"customer-{i}")
    with top(dueq, "orders") as shown:
        open_groups(shown, "orders group customer-0", "customer-17")
        shown.keys("End")
        shown.until("orders group customer-99", "There are more: n")
        shown.keys("n")
        shown.until("orders group customer-100", "customer-117", without="customer-99")
        shown.keys("N")
        shown.until("orders group customer-0", without="customer-100")


def test_page_of_groups_comes_behind_an_empty_one(dueq: Program) -> None:
    """A reserve has put the tickets into the lines of their groups."""
    for body in ("x", "first", "second"):
        dueq("push", "orders", body, "--group", "acme")
    dueq("reserve", "orders", "--ack")
    with top(dueq, "orders", columns=80, rows=24) as shown:
        shown.until("orders ")
        shown.keys("Enter")
        shown.until("[ready 2]", "first", "second", without="There ")


# ---- Keys that change something ----


def test_pause_and_resume(dueq: Program) -> None:
    dueq("push", "orders", "x")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("p")
        shown.until("orders: paused", "! paused: it delivers nothing until it is resumed (key r)")
        assert dueq.stats()["paused"] is True
        shown.keys("r")
        shown.until("orders: resumed", without="! paused")
        assert dueq.stats()["paused"] is False


def test_kick_and_cancel_ask(dueq: Program) -> None:
    bury(dueq, "m1", "m2")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("3", "Enter")
        shown.until("[dead 2]", "m1", "m2")
        shown.keys("k")
        shown.until("Kick (deliver again, with all attempts) m1 of orders? y: yes")
        shown.keys("n")
        shown.until("Enter look")
        assert dueq.stats()["dead"] == 2
        shown.keys("k", "y")
        shown.until("m1: kicked", "[dead 1]")
        assert dueq.find("m1")["state"] == "ready"
        shown.keys("c")
        shown.until("Cancel (delete, in any state) m2 of orders? y: yes, other keys: no")
        shown.keys("y")
        shown.until("m2: cancelled", "[dead 0]")
        assert dueq.run("find", "orders", "m2").code == 1
        dueq.take()
        shown.keys("Left")
        shown.until("[leased 1]", "1/16", " m1 ")
        shown.keys("c")
        shown.until("m1 of orders?")
        shown.keys("y")
        shown.until("m1: cancelled, but a consumer had it")


def test_a_group_is_held_and_purged(dueq: Program) -> None:
    for group in ("acme", "globex", "acme"):
        dueq("push", "orders", "x", "--group", group)
    dueq("push", "orders", "x", "--group", "acme", "--delay", "1h")
    dueq("push", "orders", "x")
    with top(dueq, "orders") as shown:
        open_groups(shown, "orders group acme", "globex")
        shown.keys("h")
        shown.until("Hold acme of orders? 1: 1m, 2: 10m, 3: 1h, 4: 1d, other keys: no")
        shown.keys("y")
        shown.until("h hold", without="other keys")
        assert dueq("reserve", "orders", "--json").object["group"] == "acme"
        shown.keys("h", "3")
        shown.until("acme: held for 1h0m", "hold 59m", "orders group acme")
        held = {row["name"]: row["at_limit"] for row in dueq("groups", "orders", "--json").objects}
        assert held == {"globex": "", None: "", "acme": "hold"}
        shown.keys("P")
        shown.until("Purge (delete waiting and delayed) acme of orders? y: yes, other keys: no")
        shown.keys("n")
        shown.until("h hold")
        assert dueq.stats()["delayed"] == 1
        shown.keys("P", "y")
        shown.until("acme: 2 purged")
        counts = dueq.stats()
        assert (counts["ready"], counts["delayed"], counts["leased"]) == (2, 0, 1)
        shown.keys("e")
        shown.until("acme: held no more", without="hold 59m")
        shown.keys("e")
        shown.until("the group is not held")
        shown.keys("Home")
        shown.until("orders group globex")
        shown.keys("Down")
        shown.until("(no group)", without="group globex")
        shown.keys("P")
        shown.until("messages without a group cannot be held or purged")


def test_the_same_group_stays_selected_when_turns_change(dueq: Program) -> None:
    for _ in range(3):
        for group in ("acme", "globex", "initech"):
            dueq("push", "orders", "x", "--group", group)
    with top(dueq, "orders") as shown:
        open_groups(shown, "orders group acme")
        shown.keys("Down")
        shown.until("orders group globex")
        for names in (["globex", "initech", "acme"], ["initech", "acme", "globex"]):
            dueq("reserve", "orders")
            while [row[-1] for row in group_rows(shown)] != names:
                shown.until("dueq top  groups")
            shown.until("orders group globex")


def test_long_names_leave_the_answers_on_the_screen(dueq: Program) -> None:
    queue, group = "q" * 200, "日本" * 21
    dueq("push", queue, "x", "--group", group)
    dueq("push", queue, "x", "--id", "i" * 200)
    with top(dueq, queue) as shown:
        open_groups(shown, "日本")
        shown.keys("P")
        shown.until("Purge (delete waiting and delayed) 日", "? y: yes, other keys: no")
        shown.keys("y")
        shown.until("日~: 1 purged")
        shown.keys("Escape")
        shown.until("iii")
        shown.keys("End", "c")
        shown.until("Cancel (delete, in any state) iii", "? y: yes, other keys: no")
        shown.keys("y")
        shown.until("iii~: cancelled", "[ready 0]")


def test_kick_all_of_an_error(dueq: Program) -> None:
    bury(dueq, "m1", "m2", why="ValueError: row 1")
    bury(dueq, "m3", why="KeyError: 3")
    bury(dueq, "m4", why="ValueError: row of 3")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.keys("3")
        shown.until("ValueError: row #", "KeyError: #")
        shown.keys("K")
        shown.until("Kick all dead with ValueError: row # of orders?")
        shown.keys("y")
        shown.until("orders: 2 kicked")
        assert dueq.find("m3")["state"] == "dead"
        assert dueq.find("m4")["state"] == "dead"


def test_read_only(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "m")
    dueq("push", "groups", "x", "--group", "acme")
    with top(dueq, "groups", "--read-only") as shown:
        open_groups(shown, "groups group acme")
        for key in ("h", "P", "e"):
            shown.keys(key)
            shown.until("read only: nothing is changed", "h hold")
            assert "other keys" not in shown.text
    with top(dueq, "orders", "--read-only") as shown:
        shown.until("orders ", "read only")
        shown.keys("p")
        shown.until("read only: nothing is changed")
        shown.keys("Enter", "c", "y")
        shown.until("[ready 1]")
        assert dueq.stats()["paused"] is False
        assert dueq.find("m")["state"] == "ready"


# ---- The terminal ----


def test_resize(dueq: Program) -> None:
    dueq("push", "orders", "x")
    with top(dueq) as shown:
        shown.until("orders ")
        shown.size(160, 40)
        shown.until("IN/S  OUT/S")
        shown.size(30, 6)
        shown.until("orders", without="IN/S")
        shown.size(80, 24)
        shown.until("LATE99", "q quit")


def test_signal_leaves_the_terminal_as_it_was(dueq: Program) -> None:
    with top(dueq) as shown:
        shown.until("There is no queue.")
        shown.keys("C-c")
        text = shown.ends()
    assert text.startswith("exit code 130\n")


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)]
)
def test_colours(dueq: Program, environment: dict[str, str], coloured: bool) -> None:
    bury(dueq, "a")
    with top(dueq, environment=environment) as shown:
        shown.until("! poison")
        seen = shown.run("capture-pane", "-e", "-p", "-t", "top")
    assert bool(re.search("\x1b\\[[0-9;]*3[13]", seen)) == coloured


def test_few_bytes_cross_the_network(dueq: Program) -> None:
    """As docs/seeing.md has it: ncurses sends what has changed, and top what is worth it."""
    for i in range(15):
        dueq("push", f"queue-{i}", "--lines", "--delay", "1h", stdin=b"x\n" * 100)
    dueq.environment |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "LINES": "24"}
    child, screen = pty.fork()
    if child == 0:
        termios.tcsetwinsize(0, (24, 80))
        os.execve(dueq.path, [dueq.path, "top", "--every", "1s"], dueq.environment)
    try:
        first = sent(screen, 60, until=b"queue-9") + sent(screen, 0.5)
        still = sent(screen, 5) / 5
        dueq("push", "queue-7", "--lines", "--delay", "1h", stdin=b"x\n" * 50)
        changed = sent(screen, 2)
        os.write(screen, b"q")
        sent(screen, 60)
    finally:
        os.close(screen)
        os.waitpid(child, 0)
    print(f"first screen {first}, a refresh {still:.0f}, 50 messages more {changed} bytes")
    assert first < 4000
    assert still < 500
    assert changed < 1000


def sent(screen: int, seconds: float, until: bytes = b"\0") -> int:
    """How many bytes come in that time, or until these have come, or it ends."""
    seen, end = b"", time.monotonic() + seconds
    with contextlib.suppress(OSError):  # EIO at the end
        while until not in seen and (left := end - time.monotonic()) > 0:
            if select.select([screen], [], [], left)[0]:
                seen += os.read(screen, 65536)
    return len(seen)


def test_locale_without_blocks(dueq: Program) -> None:
    dueq("push", "q日本", "x")
    with top(dueq, environment={"LC_ALL": "C"}) as shown:
        text = shown.until("_______________")
    assert text.isascii()


def test_wide_characters_keep_the_columns(dueq: Program) -> None:
    for name in ("日本語のとても長いキューの名前です", "cafe\u0301", "a👩\u200d👧b", "plain"):
        dueq("push", name, "x")
    with top(dueq) as shown:
        shown.until("plain ", "日本語")
        seen = [line for line in shown.lines if "▁▁▁" in line]
        assert len(seen) == 4
        # Its cells: two for what is wide, none for what joins.
        places = {sum(cells(sign) for sign in line.split("▁")[0]) for line in seen}
        assert len(places) == 1, "\n".join(seen)


def cells(sign: str) -> int:
    wide = ord(sign) >= 0x1F000 or 0x3000 <= ord(sign) < 0xA000
    return 2 if wide else 0 if 0x300 <= ord(sign) < 0x370 else 1


def test_hostile_bytes(dueq: Program) -> None:
    """No view obeys what others wrote: the screen is what it was drawn to be."""
    shown_name = NAME_SHOWN.decode()
    evil = EVIL.replace("\x00", "")
    body = EVIL.encode() + b"\xff"
    dueq("push", NAME, "--id", NAME, "--header", f"{NAME}={evil}", stdin=body)
    dueq("bury", NAME, dueq.take(NAME), "--reason", evil)
    with top(dueq, columns=200, rows=50) as shown:
        for keys, part in (
            ([], shown_name),
            (["3"], r"a\x1b]#;owned\x07b\x1b[#Jc"),
            (["Enter"], r"\x1b]0;owned"),
            (["Enter"], f"header      {shown_name}=a" + r"\x1b]0;owned"),
            (["b"], "as text"),
            (["b"], "as JSON: it is no JSON"),
            (["b"], "as hex"),
            (["k"], f"{shown_name}? y: yes"),
        ):
            if keys:
                shown.keys(*keys)
            text = shown.until(part, "dueq top")
            assert not UNSEEN.search(text), ascii(text)
        assert "owned" not in shown.run("display-message", "-p", "-t", "top", "#{pane_title}")


# ---- The server ----


def test_server_that_is_killed_and_comes_back(dueq: Program) -> None:
    with Server() as own:
        dueq.environment["DUEQ_URL"] = own.url
        dueq("push", "orders", "x")
        with top(dueq) as shown:
            shown.until("orders ")
            own.stop()
            shown.until("the server has not answered for", "orders ")
            # Keys are taken meanwhile.
            shown.keys("?")
            shown.until("dueq top  help", "not answered")
            shown.keys("1")
            own.start()
            dueq("push", "bills", "x")
            shown.until("bills ", without="not answered")


def test_server_that_freezes(dueq: Program) -> None:
    with Server() as own:
        dueq.environment["DUEQ_URL"] = own.url + "?timeout=3s"
        dueq("push", "orders", "x")
        with top(dueq) as shown:
            shown.until("orders ")
            own.freeze()
            shown.until("not answered for")
            shown.keys("Enter")
            shown.until("Reading...")
            shown.until("TIMEOUT")
            own.thaw()
            shown.until("[ready 1]", "x", without="not answered")
            own.freeze()
            shown.until("not answered for")
            begin = time.monotonic()
            shown.keys("q")
            shown.ends()
            assert time.monotonic() - begin < 5
            own.thaw()


def test_server_that_refuses(dueq: Program) -> None:
    with Server() as own:
        dueq.environment["DUEQ_URL"] = own.url
        dueq("push", "orders", "x")
        with top(dueq) as shown:
            shown.until("orders ")
            own.command("ACL", "SETUSER", "default", "-evalsha")
            shown.until("! cannot be read: ")
            own.command("ACL", "SETUSER", "default", "+evalsha")
            shown.until("orders ", without="! cannot be read")


# ---- Why a queue is stuck, in eight ways ----


def test_why_no_workers(dueq: Program, server: Server) -> None:
    with stuck_queues.no_workers(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! no workers: none is registered; the oldest waits for 1")
        register(server, "dead", seen_ms=90_000)
        shown.until("! no workers: the last, shop-3 process 17, offline for 3")


def test_why_poison(dueq: Program, server: Server) -> None:
    with stuck_queues.poison(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! poison: 3 died and 3 failed in 30 min; 3 with: ValueError: row #")


def test_why_says_of_how_many_messages_it_knows(dueq: Program) -> None:
    lines = "".join(f"{i}\n" for i in range(60))
    dueq("push", "orders", "--lines", "--max-attempts", "1", stdin=lines.encode())
    tickets = [
        row["ticket"] for row in dueq("reserve", "orders", "--count", "60", "--json").objects
    ]
    for ticket in tickets:
        dueq.run("retry", "orders", ticket, "--error", "TypeError: 7")
    with top(dueq) as shown:
        shown.until("60 failed in 30 min; 50 of the first 50 with: TypeError: #")
        shown.keys("3")
        shown.until("ERROR, of the first 50 of each state", "50 dead", "TypeError: #")


def test_why_failing(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "m")
    dueq("retry", "orders", dueq.take(), "--error", "TimeoutError: 5 s", "--delay", "1h")
    with top(dueq) as shown:
        shown.until("! failing: 0 died and 1 failed in 30 min; 1 with: TimeoutError: # s")


def test_why_crashing(dueq: Program) -> None:
    dueq("push", "orders", "x", "--id", "m", "--lease", "1ms")
    dueq.take()
    dueq.until(lambda: dueq.run("reserve", "orders").code == 0)
    with top(dueq) as shown:
        shown.until("! crashing: ", "; 1 with: its worker crashed: the lease ended")


def test_why_slow(dueq: Program, server: Server) -> None:
    with stuck_queues.slow(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! hung: works on m0 for ", " process ", "); others wait for")


def test_why_paused(dueq: Program, server: Server) -> None:
    with stuck_queues.paused(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! paused: it delivers nothing until it is resumed (key r)")


def test_why_limited(dueq: Program, server: Server) -> None:
    with stuck_queues.limited(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! at its limit of the concurrency: leased 1; the oldest waits for ")


def test_why_groups_at_their_limits(dueq: Program, server: Server) -> None:
    with stuck_queues.held(dueq, server, "orders"), top(dueq) as shown:
        shown.until("! all groups that wait are held or at a limit, such as acme (hold); the")
        dueq("hold", "orders", "--group", "acme", "--duration", "0")
        shown.until("! behind: the oldest waits for ")


def test_why_lost_dead_letter_queue(dueq: Program, server: Server) -> None:
    with stuck_queues.lost_dead_letters(dueq, server, "orders"), top(dueq, "orders") as shown:
        shown.until("! outbox: 1 cannot move to lost: ")


def test_why_full(dueq: Program, server: Server) -> None:
    """Also while the screen is shown. A queue says first what is its own."""
    dueq("push", "carts", "x", "--delay", "1h")
    with top(dueq) as shown:
        with stuck_queues.poison(dueq, server, "bills"), stuck_queues.full(dueq, server, "orders"):
            shown.until(
                "the server is full: ",
                "! full: the server is at its limit of 1.0M bytes: it refuses pushes and kicks,",
                "! poison: 3 died and 3 failed in 30 min; 3 with: ValueError: row #",
            )
        shown.until("orders ", without="the server is")
        server.command("CONFIG", "SET", "maxmemory", "100mb")
        server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        try:
            shown.until("the server may evict messages when its memory is full: set maxmemory-")
        finally:
            server.command("CONFIG", "SET", "maxmemory", "0")
            server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")


def test_what_needs_a_person_comes_first_and_the_selection_stays(
    dueq: Program, server: Server
) -> None:
    for queue in ("a-well", "b-paused", "c-poison"):
        dueq("push", queue, "x", "--delay", "1h")
    dueq("pause", "b-paused")
    with top(dueq) as shown:
        shown.until("a-well", "! paused")
        shown.keys("Down", "Down")
        with stuck_queues.poison(dueq, server, "c-poison"):
            text = shown.until("! poison")
            assert text.index("c-poison") < text.index("b-paused") < text.index("a-well")
            shown.keys("Enter")
            shown.until("[ready 0]", "c-poison")
    lines = dueq("top", "--once").lines
    first = [line.split()[0] for line in lines if line.startswith(("a-", "b-", "c-"))]
    assert first[:3] == ["c-poison", "b-paused", "a-well"]
