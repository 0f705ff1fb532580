"""--partitions and --key, and dueq repartition."""

import os
from pathlib import Path

import pytest

from private_server import Server

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


def test_a_push_without_the_number_of_partitions_says_which_option_to_set(dueq: Program) -> None:
    dueq("push", "orders", "x", *EIGHT)
    ended = dueq.run("push", "orders", "y")
    assert (ended.code, ended.out) == (4, b"")
    assert "open it with their number, 8 (in the shell: --partitions 8)" in ended.err


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


def test_groups_of_all_partitions_are_listed_and_purged(dueq: Program) -> None:
    for group in ("a", "a", "x", "customer-17"):
        dueq("push", "orders", "x", *EIGHT, "--group", group)
    shown = dueq("groups", "orders", *EIGHT, "--json").objects
    assert {one["name"]: one["waiting"] for one in shown} == {"a": 2, "x": 1, "customer-17": 1}
    shown = dueq("groups", "orders", *EIGHT, "--key", "customer-17", "--json").objects
    assert [one["name"] for one in shown] == ["customer-17"]
    assert dueq("purge", "orders", *EIGHT, "--group", "a", "--yes").text.split()[0] == "2"
    assert dueq("stats", "orders", *EIGHT, "--json").object["ready"] == 2
    for words in (("--key", "a"), ("--key", "a", "--group", "a")):
        refused = dueq.run("push", "orders", "x", *EIGHT, *words)
        assert refused.code == 2, words
        assert "group" in refused.err


def test_work_runs_several_messages_of_a_group_at_once(dueq: Program, tmp_path: Path) -> None:
    """Each of the two commands opens one end of a pipe, and waits for the other."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    dueq("push", "orders", "--lines", *EIGHT, "--group", "a", stdin=b"1\n2\n")
    script = f'if [ "$(cat)" = 1 ]; then echo met > {pipe}; else cat {pipe}; fi'
    command = ("sh", "-c", script)
    done = dueq("work", "orders", *EIGHT, "--wait", "1s", "--concurrency", "2", "--", *command)
    assert done.lines == ["met"]


def test_repartition_doubles_and_says_what_it_cannot(dueq: Program) -> None:
    dueq("push", "orders", "x", *EIGHT, "--key", "a")
    dueq("reserve", "orders", *EIGHT, "--ack")
    url = f"{dueq.environment['DUEQ_URL']}?timeout=200ms"
    assert dueq("repartition", "orders", "--to", "16", "--url", url).text == "16\n"
    dueq("push", "orders", "y", *EIGHT, "--key", "a")
    assert dueq("stats", "orders", "--partitions", "16", "--json").object["ready"] == 1
    for number in ("12", "15", "24", "64"):
        refused = dueq.run("repartition", "orders", "--to", number)
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
        ("repartition", "orders"),
        ("repartition", "orders", *EIGHT),
        ("repartition", "orders", *EIGHT, "--to", "16"),
        ("repartition", "orders", "--to", "1"),
        ("repartition", "orders", "--to", "2048"),
    ],
)
def test_what_makes_no_sense_is_refused(dueq: Program, words: tuple[str, ...]) -> None:
    assert dueq.run(*words).code == 2


def test_two_workers_share_the_partitions_and_one_is_killed(dueq: Program, server: Server) -> None:
    """Each command says what it got. The killed one had a message, which comes first again."""
    words = ("work", "orders", *EIGHT, "--lease", "1s")
    command = ("--", "sh", "-c", 'sleep 0.02; echo "$(cat)"')
    lines = [f"{number % 12} {number // 12}" for number in range(240)]

    def push(some: list[str]) -> None:
        for key in range(12):
            body = "".join(f"{line}\n" for line in some if line.startswith(f"{key} "))
            dueq("push", "orders", "--lines", *EIGHT, "--key", f"k{key}", stdin=body.encode())

    def owners() -> set[object]:
        replies = server.command("HMGET", "dueq:{orders}:partitions", *range(8))
        assert isinstance(replies, list)
        return set(map(str, replies))

    with (
        dueq.start(*words, *command) as first,
        dueq.start(*words, "--concurrency", "2", *command) as second,
    ):
        dueq.until(lambda: len(owners()) == 2 and "None" not in owners())
        push(lines[:120])
        assert first.stdout
        began = [first.stdout.readline() for _ in range(5)]
        first.kill()
        began += first.stdout.readlines()
        push(lines[120:])
        dueq.until(lambda: dueq("stats", "orders", *EIGHT, "--json").object["acked"] == 240)
        second.terminate()
        out, err = second.communicate(timeout=60)
    assert second.returncode == 0
    assert err.splitlines() == [
        b"dueq: warning: nothing was ever pushed to the queue orders",
        b"  dueq queues lists the queues of this server",
    ]
    assert owners() == {"None"}
    last = dict.fromkeys(map(str, range(12)), -1)
    for line in [*began, *out.splitlines()]:
        key, number = line.decode().split()
        assert int(number) in (last[key], last[key] + 1)
        last[key] = int(number)
    assert set(last.values()) == {19}


def test_schedules_and_successors(dueq: Program) -> None:
    dueq("schedule", "add", "orders", "often", "every 1s", "tick", *EIGHT)
    done = dueq("work", "orders", *EIGHT, "--max-jobs", "2", "--", "sh", "-c", "cat; echo")
    assert done.lines == ["tick", "tick"]
    dueq("schedule", "remove", "orders", "often", *EIGHT)
    dueq("purge", "orders", "ready", "--yes", *EIGHT)
    dueq("push", "orders", "first", *EIGHT, "--key", "a")
    first = dueq("reserve", "orders", *EIGHT, "--json").object
    dueq("ack", "orders", first["ticket"], "--push", "second", *EIGHT)
    second = dueq("reserve", "orders", *EIGHT, "--json").object
    assert (second["queue"], second["body"]) == (first["queue"], "second")
    assert sum(rate["pushed"] for rate in dueq("rates", "orders", *EIGHT, "--json").objects) >= 4
    dueq("check", "orders", *EIGHT)
