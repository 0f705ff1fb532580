"""Points of time, which are aware datetimes, and durations, in both faces."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import dueq
import dueq.laravel
import dueq.laravel.aio
import dueq.redisson
import dueq.redisson.aio
from dueq import aio, errors
from dueq.draft import Options
from dueq.interop import Moved, Sizes
from dueq.laravel import JobDraft
from dueq.testing import drain
from dueq.times import due_ms, duration_ms, moment, point_ms
from moments import EPOCH, ms_of, seconds_between

LAST_MS = 4_102_444_800_000  # the begin of 2100
NAIVE = datetime(2030, 1, 1)
REFUSED = "a naive datetime: add a time zone, as datetime.now\\(timezone.utc\\)$"
# Of 1970, of today and of the far future, among them what floats of seconds round badly.
MILLISECONDS = [
    *(0, 1, 2, 999, 1000, 1001, 86_399_999, 1_005, 8_205),
    *(1_793_575_800_001, 1_793_575_800_123, 1_793_575_800_999, 1_111_111_111_111),
    *(2_147_483_647_999, 2_147_483_648_001, 4_102_444_799_001, 4_102_444_799_999, LAST_MS),
]
CHANCE = random.Random(25)
MANY = [*MILLISECONDS, *(CHANCE.randrange(LAST_MS + 1) for _ in range(50_000))]


class NoOffset(tzinfo):
    """A time zone without an offset: by Python's definition its datetimes are naive."""

    def utcoffset(self, _: datetime | None) -> None: ...

    def dst(self, _: datetime | None) -> None: ...

    def tzname(self, _: datetime | None) -> None: ...


# The converter


def test_milliseconds_survive_both_ways() -> None:
    for milliseconds in MANY:
        there = moment(milliseconds)
        assert ms_of(there) == milliseconds
        assert point_ms(there, "at") == milliseconds
        assert point_ms(there.timestamp(), "at") == milliseconds
        assert point_ms(milliseconds / 1000, "at") == milliseconds
        assert duration_ms(milliseconds / 1000, "delay") == milliseconds
        assert duration_ms(timedelta(milliseconds=milliseconds), "delay") == milliseconds


def test_points_of_time_in_every_zone_are_the_same() -> None:
    for zone in (timezone(timedelta(hours=14)), timezone(timedelta(hours=-12, minutes=-1))):
        for milliseconds in MILLISECONDS:
            there = moment(milliseconds).astimezone(zone)
            assert point_ms(there, "at") == milliseconds
    berlin = ZoneInfo("Europe/Berlin")
    hour = datetime(2026, 10, 25, 2, 30, tzinfo=berlin)  # which this day has twice
    times = [point_ms(hour.replace(fold=fold), "at") for fold in (0, 1)]
    assert times[1] - times[0] == 3_600_000


def test_times_are_rounded_up_to_milliseconds() -> None:
    tiny = timedelta(microseconds=1)
    for milliseconds in MILLISECONDS[:-1]:
        assert point_ms(moment(milliseconds) + tiny, "at") == milliseconds + 1
        assert duration_ms(timedelta(milliseconds=milliseconds) + tiny, "delay") == milliseconds + 1
    assert [duration_ms(s, "delay") for s in (0.0001, 1.0001, 1e-7)] == [1, 1001, 0]


def test_numbers_of_other_types() -> None:
    assert point_ms(True + 1, "at") == 2000
    assert duration_ms(Decimal("0.0001"), "delay") == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        *(-1, -0.001, float("nan"), float("inf"), 1e30, LAST_MS / 1000 + 0.001, LAST_MS),
        *(EPOCH - timedelta(microseconds=1), moment(LAST_MS) + timedelta(microseconds=1)),
        *(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    ],
    ids=str,
)
def test_points_of_time_out_of_range(wrong: float | datetime) -> None:
    shown = wrong.isoformat() if isinstance(wrong, datetime) else repr(wrong)
    with pytest.raises(errors.InvalidError) as caught:
        point_ms(wrong, "at")
    assert str(caught.value).startswith(f"at: {shown} is ")
    assert "1970" in str(caught.value) or "4102444800" in str(caught.value)


@pytest.mark.parametrize("wrong", [timedelta(-1), timedelta.max, timedelta(microseconds=-1)])
def test_durations_out_of_range(wrong: timedelta) -> None:
    with pytest.raises(errors.InvalidError, match=r"^delay: datetime.timedelta\(.* is not 0 to "):
        duration_ms(wrong, "delay")


@pytest.mark.parametrize("wrong", ["1", b"1", None, [1], timedelta(1), NAIVE.date()], ids=str)
def test_no_points_of_time(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^at: .* is not seconds since 1970 or an aware datetime$"):
        point_ms(wrong, "at")


@pytest.mark.parametrize("wrong", ["1", b"1", None, [1], NAIVE, moment(1)], ids=str)
def test_no_durations(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^delay: .* is not seconds or a timedelta$"):
        duration_ms(wrong, "delay")


def test_a_time_that_no_datetime_has() -> None:
    """A message that another program wrote may have any number as its time."""
    latest = moment(2**63 - 1)
    assert latest == moment(2**48) == datetime.max.replace(microsecond=999_000, tzinfo=UTC)
    assert moment(-(2**63)) == moment(-1) == EPOCH


# What takes a point of time

QUEUE = {"blocking": dueq.Queue, "aio": aio.Queue}
LARAVEL = {"blocking": dueq.laravel.Queue, "aio": dueq.laravel.aio.Queue}
REDISSON = {"blocking": dueq.redisson.DelayedQueue, "aio": dueq.redisson.aio.DelayedQueue}

# Whose, the method, the argument, and a call with a point of time.
TAKING: list[tuple[Any, str, str, Callable[[Any, Any], Any]]] = [
    (QUEUE, "push", "at", lambda own, at: own.push("x", at=at)),
    (QUEUE, "push_many", "at", lambda own, at: own.push_many([dueq.Draft("x", at=at)])),
    (QUEUE, "reschedule", "at", lambda own, at: own.reschedule("x", at=at)),
    (QUEUE, "kick_all", "since", lambda own, at: own.kick_all(since=at)),
    (QUEUE, "kick_all", "until", lambda own, at: own.kick_all(until=at)),
    (LARAVEL, "push", "at", lambda own, at: own.push("X", at=at)),
    (LARAVEL, "push", "retry_until", lambda own, at: own.push("X", retry_until=at)),
    (LARAVEL, "push_many", "at", lambda own, at: own.push_many([JobDraft("X", at=at)])),
    (LARAVEL, "push_object", "at", lambda own, at: own.push_object("X", 'O:1:"X":0:{}', at=at)),
    (
        LARAVEL,
        "push_raw",
        "at",
        lambda own, at: own.push_raw(f'{{"job":"X","id":"{at}","attempts":0}}', at=at),
    ),
    (REDISSON, "offer", "at", lambda own, at: own.offer("x", at=at)),
    (REDISSON, "offer_many", "at", lambda own, at: own.offer_many(["x", "y"], at=at)),
]


@pytest.fixture(params=["blocking", "aio"])
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def done(kind: type[Any], url: str, call: Callable[..., Any], *points: Any) -> Any:
    """What a call of an object of this class returns, once it is awaited where it is to be."""
    if not hasattr(kind, "__aenter__"):
        with kind("times", url) as own:
            return call(own, *points)

    async def main() -> Any:
        async with kind("times", url) as own:
            return await call(own, *points)

    return asyncio.run(main())


@pytest.mark.parametrize("taking", TAKING, ids=lambda row: f"{row[1]} {row[2]}")
def test_points_of_time_are_taken(url: str, face: str, taking: Any) -> None:
    kinds, _, name, call = taking
    berlin = datetime(2040, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))
    for point in (berlin, berlin.astimezone(UTC), 2_000_000_000, 2_000_000_000.5):
        done(kinds[face], url, call, point)
    for naive in (NAIVE, NAIVE.replace(tzinfo=NoOffset())):
        with pytest.raises(errors.InvalidError, match=f"^{name}: {REFUSED}"):
            done(kinds[face], url, call, naive)
    for wrong in ("2030-01-01T00:00:00Z", timedelta(1)):
        with pytest.raises(TypeError, match=rf"^{name}: .* is not seconds since 1970 or an aware"):
            done(kinds[face], url, call, wrong)


def test_pushers_take_points_of_time(url: str, face: str) -> None:
    def blocking(at: Any) -> None:
        with dueq.Queue("times", url) as queue, queue.pusher() as pusher:
            pusher.push("x", at=at)

    async def awaited(at: Any) -> None:
        async with aio.Queue("times", url) as queue, queue.pusher() as pusher:
            await pusher.push("x", at=at)

    push = blocking if face == "blocking" else lambda at: asyncio.run(awaited(at))
    push(moment(LAST_MS - 1))
    with pytest.raises(errors.InvalidError, match=f"^at: {REFUSED}"):
        push(NAIVE)
    with dueq.Queue("times", url) as queue:
        assert [ms_of(message.time) for message in queue.peek("delayed")] == [LAST_MS - 1]


def test_laravels_later_takes_points_of_time(url: str, face: str) -> None:
    kind = LARAVEL[face]
    for later in (NAIVE.replace(tzinfo=UTC), 3600, timedelta(hours=1)):
        assert done(kind, url, lambda own, later: own.later(later, "X"), later)
    with pytest.raises(errors.InvalidError, match=f"^delay: {REFUSED}"):
        done(kind, url, lambda own: own.later(NAIVE, "X"))


def test_next_time_takes_points_of_time() -> None:
    for point in (moment(1_793_575_800_999), 1_793_575_800.999):
        assert ms_of(dueq.next_time("every 1s", after=point)) == 1_793_575_801_000
    assert dueq.next_time("every 1h", after=moment(86_400_000)) == moment(90_000_000)
    assert dueq.next_time("@yearly", after=moment(LAST_MS)) is None
    with pytest.raises(errors.InvalidError, match=f"^after: {REFUSED}"):
        dueq.next_time("@daily", after=NAIVE)


def test_tasks_take_points_of_time(url: str, face: str) -> None:
    app = dueq.App(url)
    seen: list[datetime] = []

    @app.task(queue="times")
    def work() -> None:
        seen.append(dueq.current_job().message.created)

    def push(at: Any) -> list[str]:
        task = work.options(at=at)
        if face == "blocking":
            return [task.push(), app.push("work", at=at)]

        async def main() -> list[str]:
            async with aio.Queue("times", url) as queue:
                stored = await queue.push_many([task.draft(), app.draft("work", at=at)])
            return [id or "" for id in stored]

        return asyncio.run(main())

    late = moment(4_102_444_799_999)
    ids = push(late)
    times = {message.id: message.time for message in app.queue("times").peek("delayed")}
    assert times == dict.fromkeys(ids, late)
    with pytest.raises(errors.InvalidError, match=f"^at: {REFUSED}"):
        push(NAIVE)
    drain(app, delayed=True, server=url)
    assert [one.tzinfo for one in seen] == [UTC, UTC]


POINT = re.compile(r"\bdatetime\b(?!\.)")  # and not datetime.timedelta


def taken(kind: type[Any]) -> set[tuple[str, str]]:
    """The methods and arguments of a class that are annotated as points of time."""
    return {
        (name, parameter.name)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if name[0] != "_"
        for parameter in inspect.signature(method).parameters.values()
        if POINT.search(str(parameter.annotation))
    }


def test_all_that_take_points_of_time_are_tested(face: str) -> None:
    for kinds, beside in ((QUEUE, set()), (LARAVEL, {("later", "delay")}), (REDISSON, set())):
        tested = {(method, name) for of, method, name, _ in TAKING if of is kinds}
        assert taken(kinds[face]) - beside <= tested
    for options, names in (
        (Options, {"at"}),
        (dueq.laravel.jobs.Options, {"at", "retry_until"}),
    ):
        hints = {name: str(hint) for name, hint in options.__annotations__.items()}
        assert {name for name, hint in hints.items() if POINT.search(hint)} == names


# What gives a point of time

GIVING: dict[type[Any], set[str]] = {
    dueq.Message: {"time", "created", "expires"},
    aio.Message: {"time", "created", "expires"},
    dueq.JobMessage: {"time", "created", "expires"},
    dueq.Stats: {"next_event", "oldest", "now"},
    dueq.Rate: {"start"},
    dueq.WorkerInfo: {"since", "seen", "until", "now"},
    dueq.Lease: {"since"},
    dueq.Failure: {"time", "created"},
    dueq.Group: {"oldest", "held_until", "now"},
    Sizes: {"next", "now"},
    Moved: {"next"},
    dueq.laravel.Job: {"retry_until", "until"},
    dueq.laravel.aio.Job: {"retry_until", "until"},
}


def assert_points(found: object) -> None:
    """All its points of time are in UTC, and whole milliseconds."""
    for name in GIVING[type(found)]:
        ms_of(getattr(found, name))


@pytest.mark.parametrize("kind", GIVING, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_all_points_of_time_are_datetimes(kind: type[Any]) -> None:
    """No other number is one: those that are left are durations, and the part of a job's work."""
    hints = {
        name: str(field.type) for name, field in getattr(kind, "__dataclass_fields__", {}).items()
    }
    for name, member in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        hints[name] = inspect.signature(member.fget).return_annotation
    points = {name for name, hint in hints.items() if POINT.search(hint)}
    assert points == GIVING[kind]
    floats = {name for name, hint in hints.items() if "float" in hint}
    assert floats <= {"span", "late_p50", "late_p99", "run_p50", "run_p99", "keep", "progress"}


def test_messages_and_figures_have_points_of_time(url: str, face: str) -> None:
    async def told(own: Any) -> list[Any]:
        async def of(call: Any) -> Any:
            return await call if inspect.isawaitable(call) else call

        await of(own.push("a", id="a", ttl=60))
        message = await of(own.reserve())
        await of(message.retry(delay=60))
        found = await of(own.find("a"))
        peeked = own.peek("delayed")
        [seen] = [one async for one in peeked] if face == "aio" else list(peeked)
        [failure] = await of(own.failures())
        rates = await of(own.rates())
        assert message.created == found.created == seen.created == failure.created
        assert seconds_between(found.created, found.expires) == pytest.approx(60, abs=5)
        assert (found.time, found.time) == (seen.time, (await of(own.stats())).next_event)
        assert found.time - failure.time == timedelta(seconds=60)
        return [message, found, seen, failure, await of(own.stats()), *rates]

    async def main() -> list[Any]:
        if face == "blocking":
            with dueq.Queue("times", url) as queue:
                return await told(queue)
        async with aio.Queue("times", url) as queue:
            return await told(queue)

    for found in asyncio.run(main()):
        assert_points(found)


def test_laravel_and_redisson_give_points_of_time(url: str, face: str) -> None:
    late = moment(LAST_MS)
    kind: type[Any] = LARAVEL[face]
    done(kind, url, lambda own: own.push("X", retry_until=late))
    job = done(kind, url, lambda own: own.pop())
    assert_points(job)
    assert job.retry_until == late
    done(kind, url, lambda own: own.push("X", at=late))
    sizes = done(kind, url, lambda own: own.size())
    assert_points(sizes)
    assert sizes.next == job.until
    kind = REDISSON[face]
    exact = moment(4_102_444_799_999)
    done(kind, url, lambda own: own.offer("x", at=exact))
    done(kind, url, lambda own: own.offer("y"))
    sizes = done(kind, url, lambda own: own.size())
    assert_points(sizes)
    assert sizes.next < exact
    step = done(kind, url, lambda own: own.transfer())
    assert_points(step)
    assert step.next == done(kind, url, lambda own: own.size()).next == exact


def test_workers_have_points_of_time(url: str) -> None:
    with dueq.Queue("times", url) as queue:
        queue.push("x")
        with queue.consume() as consumer:
            message = next(iter(consumer))
            until = time.monotonic() + 30
            while not (workers := queue.workers()):
                assert time.monotonic() < until
                time.sleep(0.05)
            [worker] = workers
            [lease] = worker.leases
            assert_points(worker)
            assert_points(lease)
            assert message.created <= lease.since <= worker.seen <= worker.now
            message.ack()


def test_a_dictionary_of_figures_is_for_json(url: str) -> None:
    with dueq.Queue("times", url) as queue:
        queue.push("x", at=moment(4_102_444_799_999))
        stats = queue.stats()
        counts = stats._asdict()
    assert json.loads(json.dumps(counts)) == counts
    assert counts["next_event"] == 4_102_444_799.999
    assert counts["now"] == ms_of(stats.now) / 1000
    at = moment(1001)
    lease = dueq.Lease("a", "t", None, moment(1500), True)
    times = (at, at, at, at)
    worker = dueq.WorkerInfo("s", "h", 1, "p", "1", 1, *times, False, 1, 1, False, (lease,), "")
    assert worker._asdict()["leases"][0]["since"] == 1.5
    assert json.loads(json.dumps(worker._asdict()))["seen"] == 1.001


# There and back through the server


def test_milliseconds_survive_a_server(url: str, face: str) -> None:
    points = [ms for ms in MANY[:500] if 2_000_000_000_000 < ms < LAST_MS]
    kind = QUEUE[face]

    def pushed(form: Callable[[int], float | datetime]) -> list[int]:
        drafts = [dueq.Draft("x", id=str(ms), at=form(ms)) for ms in points]
        done(kind, url, lambda own: own.push_many(drafts))
        with dueq.Queue("times", url) as queue:
            found = {message.id: ms_of(message.time) for message in queue.peek("delayed")}
            queue.purge("delayed")
        return [found[str(ms)] for ms in points]

    assert len(points) > 100
    assert pushed(moment) == points
    assert pushed(lambda ms: ms / 1000) == points
    assert pushed(lambda ms: moment(ms).astimezone(ZoneInfo("Asia/Kolkata"))) == points


def test_kick_all_is_exact_to_the_millisecond(url: str, face: str) -> None:
    kind = QUEUE[face]
    with dueq.Queue("times", url) as queue:
        id = queue.push("x")
        queue.reserve_many(1)[0].bury()
        dead = queue.find(id)
        assert dead
        assert dead.time
    died, tick = dead.time, timedelta(milliseconds=1)
    forms: list[Callable[[datetime], object]] = [datetime.astimezone, datetime.timestamp]
    for given in forms:
        for wrong in ({"until": given(died)}, {"since": given(died + tick)}):
            assert done(kind, url, lambda own, wrong: own.kick_all(**wrong), wrong) == 0
    assert done(kind, url, lambda own: own.kick_all(since=died, until=died + tick)) == 1


def test_due_in_1970_is_now(url: str) -> None:
    with dueq.Queue("times", url) as queue:
        for at in (EPOCH, EPOCH + timedelta(milliseconds=1), 0, 0.001):
            found = queue.find(queue.push("x", at=at))
            assert found
            assert (found.state, found.time) == (dueq.State.READY, None)
    assert due_ms(None, EPOCH) == (0, 0)
