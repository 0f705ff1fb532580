"""--partitions and --key, and dueq grow."""

import pytest

from .program import Program

EIGHT = ("--partitions", "8")


def test_push_find_stats_and_cancel(dueq: Program) -> None:
    dueq("push", "orders", "a body", *EIGHT, "--key", "customer-17", "--id", "x")
    assert dueq("find", "orders", "x", *EIGHT, "--json").object["queue"] == "orders#7"
    assert dueq("stats", "orders", *EIGHT, "--json").object["ready"] == 1
    [shown] = dueq("peek", "orders", "ready", *EIGHT, "--json").objects
    assert (shown["queue"], shown["id"]) == ("orders#7", "x")
    assert dueq.run("cancel", "orders", "x", *EIGHT, "--key", "a").code == 1
    dueq("cancel", "orders", "x", *EIGHT, "--key", "customer-17")
    assert [line.split()[-1] for line in dueq("queues").lines[1:]] == ["orders#7"]


def test_reserve_and_ack_by_the_partition_or_by_all(dueq: Program) -> None:
    for body in ("1", "2"):
        dueq("push", "orders", body, *EIGHT, "--key", "customer-17")
    first, second = (dueq("reserve", "orders", *EIGHT, "--json").object for _ in "12")
    assert first["queue"] == second["queue"] == "orders#7"
    dueq("ack", "orders#7", first["ticket"])
    dueq("ack", "orders", second["ticket"], *EIGHT)
    assert dueq("stats", "orders", *EIGHT, "--json").object["acked"] == 2


def test_work_runs_the_messages_of_a_key_in_order(dueq: Program) -> None:
    dueq("push", "orders", "--lines", *EIGHT, "--key", "a", stdin=b"1\n2\n3\n")
    command = ("sh", "-c", 'cat; echo " $DUEQ_QUEUE"')
    done = dueq("work", "orders", *EIGHT, "--wait", "1s", "--concurrency", "3", "--", *command)
    assert done.lines == ["1 orders#3", "2 orders#3", "3 orders#3"]


def test_grow_doubles_and_says_what_it_cannot(dueq: Program) -> None:
    dueq("push", "orders", "x", *EIGHT, "--key", "a")
    dueq("reserve", "orders", *EIGHT, "--ack")
    url = f"{dueq.environment['DUEQ_URL']}?timeout=200ms"
    assert dueq("grow", "orders", *EIGHT, "--url", url).text == "16\n"
    dueq("push", "orders", "y", *EIGHT, "--key", "a")
    assert dueq("stats", "orders", "--partitions", "16", "--json").object["ready"] == 1
    refused = dueq.run("grow", "orders", "--partitions", "12")
    assert (refused.code, "INVALID" in refused.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("push", "orders", "x", "--key", "a"),
        ("push", "orders", "x", "--partitions", "0"),
        ("push", "orders", "x", "--partitions", "1025"),
        ("push", "orders", "x", *EIGHT, "--key", ""),
        ("reserve", "orders", "mails", *EIGHT),
        ("queues", *EIGHT),
        ("laravel", "size", "orders", *EIGHT),
        ("grow", "orders"),
    ],
)
def test_what_makes_no_sense_is_refused(dueq: Program, words: tuple[str, ...]) -> None:
    assert dueq.run(*words).code == 2
