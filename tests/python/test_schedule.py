"""Schedules: their times, and what a schedule pushes when it fires."""

import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

import dueq
from dueq import errors
from moments import ms_of, seconds_between
from private_server import Server

GOLDEN = Path(__file__).parents[1] / "golden/schedules.tsv"
ROWS = [
    line.split("\t")
    for line in GOLDEN.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
# Without changes of half an hour or at midnight, where cronsim passes over times that are there.
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "UTC"]


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[0]} {row[1]}") for row in ROWS])
def test_schedule_is_due_as_golden(row: list[str]) -> None:
    _, expression, zone, after, times, shown = row
    expression = expression.replace("''", "")
    if times == "invalid":
        with pytest.raises(errors.InvalidError):
            dueq.next_time(expression, zone, float(after))
        return
    at: datetime | None = datetime.fromtimestamp(float(after), UTC)
    found = []
    for _ in times.split(","):
        assert at is not None
        at = dueq.next_time(expression, zone, at)
        found.append(at and at.timestamp())
    assert found == [None if text == "-" else float(text) for text in times.split(",")]
    if at is not None:
        assert at.astimezone(ZoneInfo(zone)).isoformat() == shown.split(",")[-1]


def test_schedule_is_due_as_cronsim_says() -> None:
    """Another program that reads cron as Debian does, on random expressions around changes."""
    chance = random.Random(13)

    def field(least: int, most: int) -> str:
        first, last = sorted(chance.sample(range(least, most + 1), 2))
        step = chance.randrange(1, 8)
        forms = ["*", f"*/{step}", str(first), f"{first}-{last}", f"{first}-{last}/{step}"]
        return ",".join(chance.choices([*forms, str(last)], k=chance.choice([1, 1, 1, 2])))

    for _ in range(1500):
        hours = chance.choice(["*", "0-3", "1,2,3", "2", field(0, 23)])
        days = chance.choice(["*", "*", field(1, 28)]), chance.choice(["*", field(1, 12)])
        expression = f"{field(0, 59)} {hours} {' '.join(days)} {chance.choice(['*', field(0, 7)])}"
        zone = chance.choice(ZONES)
        month, day = chance.choice([(3, 28), (10, 24), (3, 7), (10, 31), (4, 4), (10, 3), (7, 1)])
        start = datetime(2026, month, day, 12, chance.randrange(60), tzinfo=ZoneInfo(zone))
        theirs, at = CronSim(expression, start), start
        for _ in range(4):
            wanted = next(theirs).astimezone(UTC)
            found = dueq.next_time(expression, zone, at)
            assert found == wanted, (expression, zone, start.isoformat(), at.isoformat())
            at = wanted


def test_next_time_of_now() -> None:
    before = datetime.now(UTC)
    found = dueq.next_time("every 1h")
    assert found is not None
    assert before < found < datetime.now(UTC) + timedelta(seconds=3601)
    after = datetime(2026, 5, 1, tzinfo=UTC)
    assert dueq.next_time("@yearly", after=after) == datetime(2027, 1, 1, tzinfo=UTC)
    with pytest.raises(errors.InvalidError, match="time zone"):
        dueq.next_time("@daily", "Mars")
    with pytest.raises(errors.InvalidError, match="the hour of a cron expression is 0 to 23"):
        dueq.next_time("0 24 * * *")


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


def forge(server: Server, queue: dueq.Queue, at: int | str) -> None:
    """Writes a time into the message of the schedule "a", as no verb does, and has it due now."""
    server.command(
        "EVAL",
        "local e = redis.call('HGET', KEYS[1], 'schedule:a') "
        "return redis.call('HSET', KEYS[1], 'schedule:a', "
        "(string.gsub(e, 'time%z\\r%d+', 'time\\0\\r' .. ARGV[1])))",
        "1",
        f"dueq:{{{queue.name}}}:msg",
        f"{at:013}",
    )
    # The time of "every 1s" may have come before the push: the message is ready then, not delayed.
    before = queue.find("schedule:a")
    assert before
    assert queue.reschedule("schedule:a") == (before.state == "delayed")
    after = queue.find("schedule:a")
    assert after
    assert after.state == "ready"


def late(
    server: Server,
    queue: dueq.Queue,
    expression: str,
    catchup: str,
    seconds: float,
    body: str = "x",
) -> dueq.Message:
    """The message of a schedule whose worker comes so late, and which is leased."""
    assert queue.schedule("a", expression, body, catchup=catchup)  # type: ignore[arg-type]
    forge(server, queue, int((time.time() - seconds) * 1000))
    return take(queue)


def test_fire_on_time(server: Server, queue: dueq.Queue) -> None:
    message = late(server, queue, "every 1h", "skip", 0.05)
    assert message.is_schedule
    at = int(message.headers["time"])
    assert message.fire() == [f"a:{at}"]
    job = take(queue)
    assert (job.id, job.body, job.is_schedule) == (f"a:{at}", b"x", False)
    after = queue.find("schedule:a")
    assert after
    assert after.state == "delayed"
    assert ms_of(after.time) == (at // 3_600_000 + 1) * 3_600_000
    assert after.headers == {**message.headers, "time": str(ms_of(after.time)), "last": str(at)}


@pytest.mark.parametrize(
    ("catchup", "seconds", "least", "most"),
    [
        ("once", 30.5, 1, 1),
        ("once", 86_400 * 400, 1, 1),
        ("skip", 30.5, 1, 1),
        ("all", 30.5, 31, 32),
        ("all", 86_400, 199, 199),
    ],
)
def test_fire_that_comes_late(
    server: Server, queue: dueq.Queue, catchup: str, seconds: float, least: int, most: int
) -> None:
    message = late(server, queue, "every 1s", catchup, seconds)
    ids = message.fire()
    assert least <= len(ids) <= most
    times = [int(id.removeprefix("a:")) for id in ids]
    first = int(message.headers["time"])
    if catchup == "all":
        assert times[0] == first
        assert times[1:] == [first // 1000 * 1000 + 1000 * n for n in range(1, len(times))]
    else:
        assert times[0] == pytest.approx(time.time() * 1000, abs=3000)
    after = queue.find("schedule:a")
    assert after
    assert int(after.headers["time"]) == times[-1] // 1000 * 1000 + 1000


def test_fire_of_many_large_jobs(server: Server, queue: dueq.Queue) -> None:
    message = late(server, queue, "every 1s", "all", 86_400, "x" * 3_000_000)
    assert len(message.fire()) == 6
    assert queue.reschedule("schedule:a")
    assert len(take(queue).fire()) == 6


def test_fire_leaves_what_is_over_for_later(server: Server, queue: dueq.Queue) -> None:
    """All times of 25 years are to be caught up: a worker does a thousand a minute at most."""
    message = late(server, queue, "every 1s", "all", 86_400 * 9000)
    begun, first = datetime.now(UTC), int(message.headers["time"])
    assert len(message.fire()) == 199
    after = queue.find("schedule:a")
    assert after
    assert after.state == "delayed"
    assert after.time
    assert seconds_between(begun, after.time) > 10
    assert seconds_between(datetime.now(UTC), after.time) < 14
    assert int(after.headers["time"]) == first // 1000 * 1000 + 199_000
    pushed = 0
    while job := queue.reserve():
        assert not job.is_schedule
        job.ack()
        pushed += 1
    assert pushed == 199


@pytest.mark.parametrize(("catchup", "jobs"), [("once", 1), ("skip", 0), ("all", 1)])
def test_fire_of_one_that_is_over(
    server: Server, queue: dueq.Queue, catchup: str, jobs: int
) -> None:
    message = late(server, queue, "@yearly", catchup, 120)
    assert len(message.fire()) == jobs
    assert queue.stats().delayed == 1


def test_fire_that_fails_comes_again(server: Server, queue: dueq.Queue) -> None:
    assert queue.schedule("a", "@daily", "x")
    forge(server, queue, "soon.........")
    message = take(queue)
    for call in (message.fire, message.fire):
        with pytest.raises(errors.InvalidError):
            call()
    message.retry(delay=0, error="no such zone")
    assert take(queue).error == "no such zone"


def test_schedule_says_whether_it_is_new(queue: dueq.Queue) -> None:
    job = dueq.Draft("x", headers={"task": "report"}, ttl=60, backoff=[1, 2])
    assert queue.schedule("a", "@daily", job, zone="Europe/Berlin")
    assert not queue.schedule("a", "@daily", job, zone="Europe/Berlin")
    assert queue.schedule("a", "@daily", job)
    assert queue.cancel("schedule:a") == "delayed"
    assert queue.schedule("a", "@daily", b"x")
    with pytest.raises(errors.InvalidError, match="once, skip, all"):
        queue.schedule("a", "@daily", "x", catchup="never")  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidError, match="never due"):
        queue.schedule("a", "0 0 31 2 *", "x")


def test_schedule_each_second_by_workers_that_are_killed(own_server: Server) -> None:
    """
    Each second is there once, whoever dies in the middle. For longer:
    DUEQ_SCHEDULE="20 60" pytest -s tests/python/test_schedule.py -k killed
    """
    workers, least = map(int, os.environ.get("DUEQ_SCHEDULE", "4 7").split())
    worker_file = str(Path(__file__).with_name("schedule_worker.py"))
    command = [sys.executable, worker_file, own_server.url, "q"]
    processes = [subprocess.Popen(command) for _ in range(workers)]
    chance, found, killed = random.Random(4), list[int](), 0
    until = time.monotonic() + 60 + least
    try:
        with dueq.Queue("q", own_server.url) as queue:
            while len(found) < least:
                time.sleep(0.3)
                place = chance.randrange(len(processes))
                if found:
                    processes[place].kill()
                    processes[place].wait()
                    processes[place] = subprocess.Popen(command)
                    killed += 1
                assert time.monotonic() < until
                found = seconds(queue)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    missing = found[-1] - found[0] + 1 - len(set(found))
    doubled = len(found) - len(set(found))
    print(f"schedule: {workers=} {killed=} seconds={len(found)} {missing=} {doubled=}")
    assert (missing, doubled) == (0, 0)


def seconds(queue: dueq.Queue) -> list[int]:
    """Of which there are jobs."""
    states = [queue.peek(state) for state in dueq.State]
    ids = [message.id for messages in states for message in messages if not message.is_schedule]
    return sorted(int(id.removeprefix("tick:")) // 1000 for id in ids)
