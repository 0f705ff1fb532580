"""Batches in the shell: open-batch, push --batch, batches, find-batch, cancel-batch and inspect."""

import pytest

from .program import Program


def test_how_far_a_batch_is(dueq: Program) -> None:
    dueq("open-batch", "orders", "b", "--then", "t", "--finally", "f", "--open", "2h")
    for id in ("1", "2"):
        dueq("push", "orders", id, "--id", id, "--batch", "b")
    head, row = dueq("batches", "orders").lines
    assert head.split() == [
        *["STATE", "PUSHED", "LEFT", "ACKED", "DEAD", "CANCELLED", "EXPIRED", "PURGED"],
        *["OPEN", "FOR", "CLOSES", "IN", "BATCH"],
    ]
    assert row.split()[:8] == ["open", "2", "2", "0", "0", "0", "0", "0"]
    assert row.split()[-2:] == ["1h59m", "b"]
    listed = dueq("batches", "orders", "--json").object
    assert (listed["id"], listed["state"], listed["then_id"]) == ("b", "open", None)
    found = dueq("find-batch", "orders", "b", "--json").object
    assert (found["catch_id"], found["then_queue"]) == (None, None)
    dueq("ack", "orders", dueq.take())
    lines = dueq("inspect", "orders", "b").lines
    assert lines[:5] == [
        "queue       orders",
        "batch       b",
        "state       open",
        "members     2, of which 1 have not ended",
        "ended       1 acked, 0 dead, 0 cancelled, 0 expired, 0 purged",
    ]
    assert lines[6].startswith("closes      ")
    assert lines[7:] == [
        f"then        {found['then_id']}",
        f"finally     {found['finally_id']}",
    ]
    assert dueq("inspect", "b", "--json").object["acked"] == 1
    dueq("close-batch", "orders", "b")
    assert dueq("batches", "orders").lines[1].split()[-2:] == ["-", "b"]
    dueq("ack", "orders", dueq.take())
    lines = dueq("inspect", "b").lines
    assert lines[2] == "state       ended"
    assert lines[-1].startswith("over        ")


def test_a_message_says_its_batch(dueq: Program) -> None:
    dueq("open-batch", "orders", "b")
    dueq("push", "orders", "x", "--id", "x", "--batch", "b")
    dueq("push", "orders", "y", "--id", "y")
    assert "batch       b" in dueq("inspect", "orders", "x").lines
    assert dueq("inspect", "x", "--json").object["batch"] == "b"
    assert "batch" not in dueq("inspect", "y").text
    assert "batch" not in dueq("inspect", "y", "--json").object


def test_batches_of_partitions(dueq: Program) -> None:
    four = ("--partitions", "4")
    dueq("open-batch", "orders", "b", "--finally", "f", *four)
    for key in ("t", "b", "k4", "k2"):
        dueq("push", "orders", "x", "--id", f"m-{key}", "--key", key, "--batch", "b", *four)
    assert dueq("find-batch", "orders", "b", "--json", *four).object["pushed"] == 4
    assert [row["id"] for row in dueq("batches", "orders", "--json", *four).objects] == ["b"]
    assert "batch       b of the queue orders#1" in dueq("inspect", "orders", "m-t", *four).lines
    assert "members     4, of which 4 have not ended" in dueq("inspect", "b").lines
    assert "members     4, of which 4 have not ended" in dueq("inspect", "orders", "b", *four).lines
    dueq("close-batch", "orders", "b", *four)
    assert dueq("cancel-batch", "orders", "b", "--json", *four).object == {"cancelled": 4}
    taken = dueq("reserve", "orders", "--wait", "5s", "--json", *four).object
    assert taken["body"] == "f"
    found = dueq("find-batch", "orders", "b", "--json", *four).object
    assert (found["state"], found["cancelled"]) == ("ended", 4)


@pytest.mark.parametrize("command", ["find-batch", "close-batch"])
def test_a_batch_that_is_not_there_is_not_found(dueq: Program, command: str) -> None:
    """Also if a message has the id."""
    dueq("push", "orders", "x", "--id", "invoices", "--delay", "1h")
    ended = dueq.run(command, "orders", "invoices")
    assert ended.code == 1
    assert ended.err == (
        "dueq: NOT_FOUND: invoices: the queue has no such batch: it was never opened, or ended "
        "longer ago than its record is kept\n"
    )
    ended = dueq.run(command, "orders", "invoices", "--json")
    assert (ended.code, ended.object) == (1, {"id": "invoices", "status": "NOT_FOUND"})


def test_a_batch_is_not_opened_twice(dueq: Program) -> None:
    dueq("open-batch", "orders", "invoices")
    ended = dueq.run("open-batch", "orders", "invoices")
    assert ended.code == 1
    assert ended.err == (
        "dueq: DUPLICATE: invoices: the id is taken: the queue has a batch of this id, or its "
        "record\n"
    )
    ended = dueq.run("open-batch", "orders", "invoices", "--json")
    assert (ended.code, ended.object) == (1, {"id": "invoices", "status": "DUPLICATE"})
    dueq("close-batch", "orders", "invoices")
    assert dueq("find-batch", "orders", "invoices", "--json").object["state"] == "ended"
