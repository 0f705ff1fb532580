import time

import pytest

from private_server import Server

from .program import Program


def add(dueq: Program, *words: str) -> None:
    dueq("schedule", "add", "orders", "nightly", "0 2 * * *", "all shops", *words)


def listed(dueq: Program) -> list[dict[str, object]]:
    return dueq("schedule", "list", "orders", "--json").objects


def test_schedule_add_and_list(dueq: Program) -> None:
    add(dueq, "--zone", "Europe/Berlin", "--catchup", "skip", "--header", "task=report")
    add(dueq, "--zone", "Europe/Berlin", "--catchup", "skip", "--header", "task=report")
    dueq("schedule", "add", "orders", "hourly", "every 1h", "-", stdin=b"from stdin")
    dueq("push", "orders", "no schedule", "--delay", "1h")
    one, other = sorted(listed(dueq), key=lambda row: str(row["name"]))
    assert (one["name"], one["schedule"], one["zone"], one["catchup"]) == (
        "hourly",
        "every 1h",
        "UTC",
        "once",
    )
    assert other == {
        "queue": "orders",
        "name": "nightly",
        "schedule": "0 2 * * *",
        "zone": "Europe/Berlin",
        "catchup": "skip",
        "next_ms": other["next_ms"],
        "last_ms": None,
        "app": None,
        "release": None,
        "paused": False,
        "state": "delayed",
    }
    assert isinstance(other["next_ms"], int)
    assert 0 < other["next_ms"] / 1000 - time.time() < 86_400 + 3600
    lines = dueq("schedule", "list", "orders").lines
    assert any(line.startswith("nightly\t0 2 * * *\tEurope/Berlin\t20") for line in lines)
    assert dueq.stats()["pushed"] == 3


def test_schedule_pause_and_resume(dueq: Program) -> None:
    add(dueq)
    [before] = listed(dueq)
    dueq("schedule", "pause", "orders", "nightly")
    dueq("schedule", "pause", "orders", "nightly")
    add(dueq)
    assert listed(dueq) == [{**before, "paused": True}]
    assert dueq("schedule", "list", "orders").text.endswith("\tpaused\n")
    dueq("schedule", "resume", "orders", "nightly")
    dueq("schedule", "resume", "orders", "nightly")
    assert listed(dueq) == [before]
    assert dueq.find("schedule:nightly")["time_ms"] == before["next_ms"]


def test_schedule_run_pushes_the_job_now(dueq: Program) -> None:
    add(dueq, "--header", "task=report", "--priority", "low")
    id = dueq("schedule", "run", "orders", "nightly").text.strip()
    message = dueq("reserve", "orders", "--json").object
    assert (message["id"], message["body"]) == (id, "all shops")
    assert (message["headers"], message["priority"]) == ({"task": "report"}, "low")
    assert [row["name"] for row in listed(dueq)] == ["nightly"]


def test_schedule_remove(dueq: Program) -> None:
    add(dueq)
    dueq("schedule", "remove", "orders", "nightly")
    assert listed(dueq) == []
    for verb in ("remove", "pause", "resume", "run"):
        ended = dueq.run("schedule", verb, "orders", "nightly")
        assert ended.code == 1
        assert ended.err == "dueq: NOT_FOUND: nightly: the queue has no schedule of this name\n"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["a", "61 * * * *", "x"], 2, "the minute of a cron expression is 0 to 59"),
        (["a", "0 0 30 2 *", "x"], 2, "never due"),
        (["a", "@daily", "x", "--zone", "Mars"], 2, "no time zone Mars"),
        (["a", "@daily", "x", "--catchup", "never"], 2, "--catchup never is not once"),
        (["a", "@daily", "x", "--delay", "1h"], 2, "the job has none"),
        (["a", "*", "*", "*", "*", "*"], 2, "too many arguments"),
        (["a"], 2, "an argument is missing"),
        (["x" * 201, "@daily", "x"], 4, "201 bytes"),
    ],
)
def test_schedule_add_what_cannot_be(dueq: Program, words: list[str], code: int, text: str) -> None:
    ended = dueq.run("schedule", "add", "orders", *words)
    assert (ended.code, text in ended.err) == (code, True), ended.err
    assert dueq.stats()["pushed"] == 0


def test_schedule_is_fired_by_dueq_work(dueq: Program) -> None:
    dueq("schedule", "add", "orders", "pulse", "every 1s", "x", "--catchup", "all")
    ended = dueq("work", "orders", "--max-jobs", "3", "--", "sh", "-c", 'echo "$DUEQ_ID"')
    assert ended.err == ""
    seconds = [int(line.removeprefix("pulse:")) // 1000 for line in ended.lines]
    assert seconds == list(range(seconds[0], seconds[0] + 3))
    [row] = listed(dueq)
    assert (row["name"], row["state"]) == ("pulse", "delayed")
    assert dueq.stats()["leased"] == 0


def test_schedule_that_dueq_work_cannot_fire_is_retried(server: Server, dueq: Program) -> None:
    dueq("schedule", "add", "orders", "bad", "@daily", "x")
    spoil = (
        "local e = redis.call('HGET', KEYS[1], 'schedule:bad') "
        "e = string.gsub(e, '%d%d%d%d%d+', 'soon.........') "
        "redis.call('HSET', KEYS[1], 'schedule:bad', e)"
    )
    server.command("EVAL", spoil, "1", "dueq:{orders}:msg")
    dueq("reschedule", "orders", "schedule:bad")
    ended = dueq("work", "orders", "--wait", "0", "--", "false")
    assert "schedule:bad: retried: attempt 1: the schedule's message has no time" in ended.err
    message = dueq.find("schedule:bad")
    assert (message["state"], message["attempt"]) == ("delayed", 1)
    assert message["error"].startswith("the schedule's message has no time")


@pytest.mark.parametrize(
    "words", [["--id", "schedule:a"], ["--header", "schedule=@daily"], ["--header", "catchup=all"]]
)
def test_push_of_what_only_a_schedule_has_is_refused(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("push", "orders", "x", *words)
    assert ended.code == 2
    assert "INVALID" in ended.err
    assert "schedule" in ended.err


def declare(dueq: Program, queue: str, name: str, release: str, app: str = "shop") -> None:
    words = ["--app", app, "--release", release]
    dueq("schedule", "add", queue, name, "every 1h", "x", *words)


def names(dueq: Program, *words: str) -> list[tuple[object, ...]]:
    rows = dueq("schedules", *words, "--json").objects
    return [(row["queue"], row["name"], row["app"], row["release"]) for row in rows]


def test_schedules_of_all_queues(dueq: Program) -> None:
    assert dueq("schedules").text == ""
    declare(dueq, "mail", "digest", "v2@2000/1 v1@1000/1")
    add(dueq)
    dueq("push", "orders", "no schedule")
    assert names(dueq) == [("mail", "digest", "shop", "v2"), ("orders", "nightly", None, None)]
    assert names(dueq, "mail", "empty") == [("mail", "digest", "shop", "v2")]
    head, mail, orders = dueq("schedules").lines
    assert head == "QUEUE  NAME  SCHEDULE  ZONE  NEXT  LAST  APP  RELEASE"
    assert mail.startswith("mail  digest  every 1h  UTC  20")
    assert mail.endswith("  -  shop  v2")
    assert orders.endswith("  -  -  ")


def test_schedules_show_the_last_time(dueq: Program, server: Server) -> None:
    dueq("schedule", "add", "orders", "tick", "every 1s", "x")
    dueq("work", "orders", "--max-jobs", "1", "--", "true")
    [row] = dueq("schedules", "--json").objects
    last, after = row["last_ms"], row["next_ms"]
    assert isinstance(last, int)
    assert isinstance(after, int)
    assert 0 < last < after
    assert time.time() * 1000 - last < 60_000


def test_schedule_prune_removes_what_is_gone_from_the_code(dueq: Program) -> None:
    declare(dueq, "mail", "digest", "v2@2000/2 v1@1000/2")
    declare(dueq, "orders", "nightly", "v2@2001/2")
    declare(dueq, "orders", "gone", "v1@1000/2")
    declare(dueq, "mail", "other", "v1@1000/1", "bank")
    dueq("schedule", "add", "mail", "hand", "@daily", "x")
    dueq("push", "orders", "x", "--id", "gone:1")
    assert dueq("schedule", "prune", "--app", "shop", "--dry-run").text == "orders\tgone\n"
    assert len(names(dueq)) == 5
    [removed] = dueq("schedule", "prune", "--app", "shop", "--json").objects
    assert (removed["queue"], removed["name"], removed["release"]) == ("orders", "gone", "v1")
    assert [row[1] for row in names(dueq)] == ["digest", "hand", "other", "nightly"]
    assert dueq("schedule", "prune", "--app", "shop").text == ""
    assert dueq.find("gone:1")["state"] == "ready"


def test_schedule_prune_looks_into_partitions(dueq: Program) -> None:
    words = ["--app", "shop", "--release", "v1@1/1", "--partitions", "4"]
    dueq("schedule", "add", "orders", "gone", "every 1h", "x", *words)
    declare(dueq, "mail", "digest", "v2@2/1 v1@1/1")
    [(queue, name, *_), _] = sorted(names(dueq), reverse=True)
    assert str(queue).startswith("orders#")
    assert dueq("schedule", "prune", "--app", "shop").text == f"{queue}\t{name}\n"
    assert len(names(dueq)) == 1


def test_schedule_prune_waits_for_the_whole_release(dueq: Program) -> None:
    """A worker that was killed while it declared leaves schedules of the release before."""
    declare(dueq, "mail", "digest", "v2@2000/2 v1@1000/2")
    declare(dueq, "orders", "nightly", "v1@1000/2")
    ended = dueq.run("schedule", "prune", "--app", "shop")
    assert ended.code == 1
    assert "the release v2 has declared 1 of its 2 schedules" in ended.err
    assert len(names(dueq)) == 2
    assert dueq("schedule", "prune", "--app", "shop", "--all").lines == [
        "mail\tdigest",
        "orders\tnightly",
    ]
    ended = dueq.run("schedule", "prune", "--app", "shop")
    assert ended.code == 1
    assert "no schedule names this app" in ended.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "--app is missing"),
        (("--app", ""), "--app is missing"),
        (("orders", "--app", "shop"), "takes no name"),
        (("--app", "shop", "--partitions", "2"), "--partitions"),
    ],
)
def test_schedule_prune_with_wrong_words(dueq: Program, words: tuple[str, ...], text: str) -> None:
    ended = dueq.run("schedule", "prune", *words)
    assert ended.code == 2
    assert text in ended.err


def test_schedule_prune_does_not_trust_a_release_without_numbers(dueq: Program) -> None:
    declare(dueq, "mail", "digest", "v2")
    declare(dueq, "orders", "nightly", "v1@x/y")
    ended = dueq.run("schedule", "prune", "--app", "shop")
    assert ended.code == 1
    assert len(names(dueq)) == 2
