"""dueq limit and dueq limits, of queues and of groups."""

import pytest

from .program import Program


def test_limits_of_groups_are_set_shown_and_removed(dueq: Program) -> None:
    assert dueq("limits", "orders").out == b""
    dueq("limit", "orders", "--concurrency", "50", "--rate", "1000/s")
    dueq("limit", "orders", "--each-group-concurrency", "5", "--each-group-rate", "100/m")
    dueq("limit", "orders", "--each-group-burst", "20", "--each-group-backlog", "10000")
    dueq("limit", "orders", "--group", "acme: 7", "--concurrency", "20", "--rate", "10/s")
    dueq("limit", "orders", "--group", "acme: 7", "--weight", "4", "--backlog", "100")
    dueq("limit", "orders", "--order", "strict")
    dueq("limit", "orders", "--group", "acme: 7", "--order", "fifo")
    assert dueq("limits", "orders").lines == [
        "concurrency             50",
        "rate                    1000/s",
        "each-group-concurrency  5",
        "each-group-rate         100/m",
        "each-group-burst        20",
        "each-group-backlog      10000",
        "order                   strict",
        "group acme: 7",
        "  concurrency           20",
        "  rate                  10/s",
        "  backlog               100",
        "  weight                4",
        "  order                 fifo",
    ]
    assert dueq("limits", "orders", "--json").object == {
        "queue": "orders",
        "concurrency": 50,
        "rate": "1000/s",
        "burst": None,
        "each_group_concurrency": 5,
        "each_group_rate": "100/m",
        "each_group_burst": 20,
        "each_group_backlog": 10000,
        "order": "strict",
        "groups": [
            {
                "name": "acme: 7",
                "concurrency": 20,
                "rate": "10/s",
                "burst": None,
                "backlog": 100,
                "weight": 4,
                "order": "fifo",
            }
        ],
    }
    dueq("limit", "orders", "--each-group-rate", "none", "--each-group-backlog", "none")
    dueq("limit", "orders", "--group", "acme: 7", "--weight", "none", "--rate", "none")
    dueq("limit", "orders", "--order", "fair")
    dueq("limit", "orders", "--group", "acme: 7", "--order", "none")
    assert dueq("limits", "orders").lines[2:] == [
        "each-group-concurrency  5",
        "group acme: 7",
        "  concurrency           20",
        "  backlog               100",
    ]
    dueq("limit", "orders", "--group", "acme: 7", "--clear")
    assert dueq("limits", "orders").lines[2:] == ["each-group-concurrency  5"]
    dueq("limit", "orders", "--clear", "--concurrency", "7")
    assert dueq("limits", "orders").lines == ["concurrency             7"]
    dueq("limit", "orders", "--clear")
    ended = dueq("limits", "orders")
    assert ended.out == b""
    assert "the queue orders has no limits" in ended.err


def test_groups_say_for_which_message_they_wait(dueq: Program) -> None:
    dueq("limit", "orders", "--order", "strict")
    dueq("push", "orders", "1", "--id", "invoice 7", "--group", "acme")
    dueq("push", "orders", "2", "--group", "acme")
    dueq("reserve", "orders")
    assert dueq.run("reserve", "orders").out == b""
    words = dueq("groups", "orders").lines[1].split()
    assert words[:2] == ["1", "1/1"]
    assert words[-6:] == ["order", "acme", "waits", "for", "invoice", "7"]
    assert dueq("groups", "orders", "--json").object["holder"] == "invoice 7"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--each-group-concurrency", "0"], "--each-group-concurrency 0"),
        (["--each-group-backlog", "x"], "--each-group-backlog x"),
        (["--order", "lifo"], "the order is not fair, fifo, strict or none"),
        (["--group", "a", "--weight", "1001"], "the weight is 1001"),
        (["--each-group-rate", "5"], "each group's rate is not like 1000/s"),
        (["--burst", "5"], "the queue does not have; the burst of each group is each_group_burst"),
        (["--each-group-burst", "5"], "the burst needs a rate, which each group does not have"),
        (["--group", "a", "--burst", "5"], "the burst needs a rate, which the group does not have"),
        (["--backlog", "5"], "a backlog is of groups"),
        (["--weight", "5"], "a weight is of one group"),
        (["--group", "a", "--each-group-backlog", "5"], "limits of each group"),
        (["--group", "", "--weight", "5"], "the group's name"),
        ([], "name a limit"),
    ],
)
def test_limit_says_what_it_refuses(dueq: Program, words: list[str], named: str) -> None:
    ended = dueq.run("limit", "orders", *words)
    assert ended.code == 2
    assert named in ended.err


def test_push_above_a_backlog_says_what_to_do(dueq: Program) -> None:
    dueq("limit", "orders", "--each-group-backlog", "1")
    dueq("push", "orders", "1", "--group", "acme")
    ended = dueq.run("push", "orders", "2", "--group", "acme")
    assert (ended.code, ended.out) == (3, b"")
    assert ended.err == (
        "dueq: BACKLOG: the message is not stored: as many messages of its group wait as its "
        "backlog allows; push it again later\n"
        "  dueq limits shows the backlog, and dueq groups how many messages wait\n"
    )
    several = dueq.run("push", "orders", "--lines", "--group", "globex", stdin=b"1\n2\n3\n")
    assert several.code == 3
    assert len(several.lines) == 1
    assert "2 of 3 messages are not stored" in several.err
    rows = dueq.run("push", "orders", "--lines", "--group", "initech", "--json", stdin=b"1\n2\n")
    assert [row["status"] for row in rows.objects] == ["OK", "BACKLOG"]


def test_ack_with_a_successor_above_a_backlog_acknowledges_nothing(dueq: Program) -> None:
    dueq("push", "orders", "1", "--group", "acme")
    ticket = dueq("reserve", "orders", "--json").object["ticket"]
    dueq("push", "orders", "2", "--group", "acme")
    dueq("limit", "orders", "--each-group-backlog", "1")
    ended = dueq.run("ack", "orders", ticket, "--push", "3", "--group", "acme")
    assert (ended.code, ended.out) == (3, b"")
    assert "the message is not acknowledged, and nothing is pushed" in ended.err
    assert dueq("stats", "orders", "--json").object["leased"] == 1
