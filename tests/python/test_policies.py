"""What a producer says about a message: priority, ttl, backoff, crashes and its death."""

import dataclasses
import logging
from collections.abc import Sequence
from datetime import timedelta

import pytest

import dueq
from dueq import _core, errors
from dueq.backoff import backoff_row
from dueq.draft import Options
from moments import seconds_between


def find(queue: dueq.Queue, id: str) -> dueq.Message:
    message = queue.find(id)
    assert message is not None
    return message


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


@pytest.mark.parametrize(
    "wrong",
    [
        {"priority": 2},
        {"priority": 2**70},
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": float("inf")},
        {"max_crashes": 0},
        {"max_crashes": -1},
        {"max_crashes": 65536},
        {"max_crashes": 2**80},
        {"dead_letter": ""},
        {"dead_letter": "other", "drop": True},
        {"unique": 60},
        {"unique": -1, "id": "x"},
        {"replace": True},
        {"replace": "all", "id": "x"},
        {"backoff": -1},
        {"backoff": float("nan")},
        {"backoff": timedelta(days=60)},
        {"backoff": []},
        {"backoff": [1] * 33},
        {"backoff": [1, -1]},
        {"backoff": dueq.Backoff("fixed")},
        {"backoff": dueq.Backoff("linear")},
        {"backoff": dueq.Backoff("linear", 0)},
        {"backoff": dueq.Backoff("list", 1, delays=[1])},
        {"backoff": dueq.Backoff("linear", 1, delays=[1])},
        {"backoff": dueq.Backoff("linear", 1, cap=0)},
        {"backoff": dueq.Backoff("cubic", 1)},  # type: ignore[arg-type]
        {"backoff": dueq.Backoff("fixed", 1, jitter="some")},  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_push_policy_out_of_range(queue: dueq.Queue, wrong: dict[str, object]) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        queue.push("x", **wrong)  # type: ignore[arg-type]
    assert str(caught.value)
    assert queue.stats().ready == 0


def test_push_policy_names_no_queue(queue: dueq.Queue) -> None:
    with pytest.raises(errors.QueueNameError):
        queue.push("x", dead_letter="a{b")


@pytest.mark.parametrize("backoff", ["5s", b"5s", [None], {"base": 1}, object()])
def test_push_backoff_of_another_type(queue: dueq.Queue, backoff: object) -> None:
    with pytest.raises(TypeError):
        queue.push("x", backoff=backoff)  # type: ignore[arg-type]


def test_draft_has_the_arguments_of_push(queue: dueq.Queue) -> None:
    fields = {field.name: field.type for field in dataclasses.fields(dueq.Draft)}
    # Strings here, references there.
    options = {name: of.__forward_arg__ for name, of in Options.__annotations__.items()}
    assert {"body": "Body"} | options == fields | {"json": "object"}
    wanted = {"priority": 1, "ttl": 60, "max_crashes": None, "drop": True}
    one = queue.push("x", id="1", unique=60, replace=True, **wanted)  # type: ignore[arg-type]
    [many] = queue.push_many(
        [dueq.Draft("x", id="2", unique=60, replace=True, **wanted)]  # type: ignore[arg-type]
    )
    for id in (one, many):
        message = find(queue, id or "")
        assert (message.priority, message.max_crashes, message.drop) == (1, None, True)
        assert seconds_between(queue.stats().now, message.expires) == pytest.approx(60, abs=5)


def test_priority_high_before_normal_before_low(queue: dueq.Queue) -> None:
    queue.push("low", priority=-1)
    queue.push("normal")
    queue.push("high", priority=1)
    messages = queue.reserve_many(3)
    assert [message.body for message in messages] == [b"high", b"normal", b"low"]
    assert [message.priority for message in messages] == [1, 0, -1]


@pytest.mark.parametrize("ttl", [60, 60.0, timedelta(minutes=1)], ids=repr)
def test_ttl_tells_when_it_expires(queue: dueq.Queue, ttl: float | timedelta) -> None:
    message = find(queue, queue.push("x", ttl=ttl))
    assert seconds_between(queue.stats().now, message.expires) == pytest.approx(60, abs=5)


def test_ttl_expired_is_never_given_out(queue: dueq.Queue) -> None:
    queue.push("x", ttl=0.05, delay=0.1)
    queue.push("mark", delay=0.2)
    message = queue.reserve(timeout=10)
    assert message is not None
    assert message.body == b"mark"
    assert queue.stats().expired == 1


FIXED, LINEAR = _core.BACKOFF_FIXED, _core.BACKOFF_LINEAR
EXPONENTIAL, LIST = _core.BACKOFF_EXPONENTIAL, _core.BACKOFF_LIST


@pytest.mark.parametrize(
    ("backoff", "row"),
    [
        (None, (_core.BACKOFF_DEFAULT, 0, 0, 0, ())),
        (0, (FIXED, 0, 0, 0, ())),
        (5, (FIXED, 0, 5000, 0, ())),
        (0.0001, (FIXED, 0, 1, 0, ())),
        (timedelta(minutes=1), (FIXED, 0, 60_000, 0, ())),
        ([1, 5.5, timedelta(hours=1)], (LIST, 0, 0, 0, (1000, 5500, 3_600_000))),
        ((0,), (LIST, 0, 0, 0, (0,))),
        (dueq.Backoff("fixed", 2, jitter="full"), (FIXED, _core.JITTER_FULL, 2000, 0, ())),
        (
            dueq.Backoff("exponential", timedelta(seconds=1), cap=60, jitter="equal"),
            (EXPONENTIAL, _core.JITTER_EQUAL, 1000, 60_000, ()),
        ),
        (dueq.Backoff(kind="linear", base=1), (LINEAR, 0, 1000, 0, ())),
        (
            dueq.Backoff("list", delays=[1, 2], jitter="full"),
            (LIST, _core.JITTER_FULL, 0, 0, (1000, 2000)),
        ),
    ],
    ids=repr,
)
def test_backoff_as_the_core_wants_it(
    backoff: float | timedelta | Sequence[float | timedelta] | dueq.Backoff | None,
    row: "_core.BackoffRow",
) -> None:
    assert backoff_row(backoff) == row


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        ([100, 200], [100, 200, 200]),
        (dueq.Backoff("linear", 100, cap=250), [100, 200, 250]),
        (dueq.Backoff("exponential", 100), [100, 200, 400]),
    ],
    ids=repr,
)
def test_backoff_grows_with_the_failures(
    queue: dueq.Queue, backoff: list[float] | dueq.Backoff, delays: list[float]
) -> None:
    id = queue.push("x", backoff=backoff)
    for attempt, delay in enumerate(delays, 1):
        message = take(queue)
        assert message.attempt == attempt
        assert message.retry(error="again") is True
        found = find(queue, id)
        assert (found.state, found.error) == (dueq.State.DELAYED, "again")
        assert seconds_between(queue.stats().now, found.time) == pytest.approx(delay, abs=5)
        queue.reschedule(id)


@pytest.mark.parametrize(("jitter", "least"), [("full", 0), ("equal", 500)])
def test_backoff_jitter_spreads(queue: dueq.Queue, jitter: str, least: float) -> None:
    backoff = dueq.Backoff("fixed", 1000, jitter=jitter)  # type: ignore[arg-type]
    ids = queue.push_many(dueq.Draft("x", backoff=backoff) for _ in range(50))
    for message in queue.reserve_many(50):
        message.retry()
    now = queue.stats().now
    delays = [seconds_between(now, find(queue, id or "").time or now) for id in ids]
    assert all(least - 30 <= delay <= 1001 for delay in delays)
    assert max(delays) - min(delays) > 100


def test_max_crashes_sets_aside(queue: dueq.Queue) -> None:
    id = queue.push("x", max_crashes=2)
    for crashes in (0, 1):
        message = queue.reserve(timeout=10, lease=0.05)
        assert message is not None
        assert (message.attempt, message.crashes) == (1, crashes)
    assert queue.reserve(timeout=0.5) is None
    dead = find(queue, id)
    assert (dead.state, dead.crashes, dead.max_crashes) == (dueq.State.DEAD, 2, 2)


def test_drop_at_its_end(queue: dueq.Queue, caplog: pytest.LogCaptureFixture) -> None:
    id = queue.push("x", max_attempts=1, drop=True)
    with pytest.raises(KeyError), caplog.at_level(logging.WARNING, "dueq"), take(queue) as held:
        assert held.drop is True
        raise KeyError
    assert "exhausted" in caplog.text
    assert queue.find(id) is None
    stats = queue.stats()
    assert (stats.dead, stats.died) == (0, 1)


def test_dead_letter_at_its_end(queue: dueq.Queue) -> None:
    with dueq.Queue("letters", queue.url) as letters:
        first = queue.push("x", max_attempts=1, dead_letter="letters", headers={"a": "b"})
        second = queue.push("y", dead_letter="letters")
        messages = queue.reserve_many(2)
        assert [message.dead_letter for message in messages] == ["letters"] * 2
        assert messages[0].retry(error="hopeless") is False
        messages[1].bury("refused")
        assert queue.find(first) is None
        moved = letters.reserve_many(2)
        assert {message.id: message.error for message in moved} == {
            first: "hopeless",
            second: "refused",
        }
        assert [message.attempt for message in moved] == [1, 1]
        assert moved[0].headers == {"a": "b"}
        assert moved[0].queue == "letters"
    assert (queue.stats().dead, queue.stats().died) == (0, 2)
