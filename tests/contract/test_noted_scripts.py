"""Which scripts a client runs for messages whose ends are noted, and for all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from recorder import Recorder
from slot_migration import scripts

import dueq

NAMES = {script.sha1: script.name for script in scripts()}
NOTED = {"push_noted", "push_member", "reserve_noted", "ack_noted", "ack_end"}
# Within the first calls of a minute, and where a minute begins during a test, full scripts run.
MOST_FULL = 6
COUNT = 40


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as recorder:
        yield recorder


def ran(recorder: Recorder) -> Counter[str]:
    """How often each script ran since the last time."""
    names = Counter(NAMES[call.sha1] for call in recorder.calls)
    recorder.calls.clear()
    return names


def take_all(queue: dueq.Queue, count: int = COUNT, result: bytes | None = None) -> None:
    for _ in range(count):
        message = queue.reserve()
        assert message
        message.ack(result=result)


@pytest.mark.parametrize("result", [None, b"17"])
def test_kept_ends_run_the_fast_scripts(recorder: Recorder, result: bytes | None) -> None:
    with dueq.Queue("kept", recorder.url) as queue:
        for n in range(COUNT):
            queue.push(str(n), keep=60)
        take_all(queue, result=result)
    found = ran(recorder)
    for fast, full in (
        ("push_noted", "push_full"),
        ("reserve_noted", "reserve_full"),
        ("ack_noted", "ack_end"),
    ):
        assert found[fast] >= COUNT - MOST_FULL
        assert found[full] <= MOST_FULL


def test_members_run_the_fast_scripts(recorder: Recorder) -> None:
    """The ack of the last one ends the batch."""
    with dueq.Queue("members", recorder.url) as queue:
        with queue.batch(id="b") as batch:
            for n in range(COUNT):
                batch.push(str(n), headers={"task": "pack"}, keep=60 if n % 2 else None)
        take_all(queue)
        status = batch.status()
        assert status
        assert (status.acked, status.state) == (COUNT, "ended")
    found = ran(recorder)
    for fast in ("push_member", "reserve_noted", "ack_noted"):
        assert found[fast] >= COUNT - MOST_FULL


@pytest.mark.parametrize("prefetch", [1, 5])
def test_consumer_acknowledges_kept_ends_as_it_takes(recorder: Recorder, prefetch: int) -> None:
    handled = list[bytes]()
    with dueq.Queue("consumed", recorder.url) as queue:
        queue.push_many(dueq.Draft(str(n), id=str(n), keep=60) for n in range(COUNT))
        consumer = queue.consume(prefetch, timeout=0.05)
        consumer.work(lambda message: handled.append(message.body))
        assert len(handled) == COUNT
        for n in range(COUNT):
            end = queue.outcome(str(n))
            assert end
            assert end.outcome == "acked"
            assert end.host
            assert end.ran is not None
    found = ran(recorder)
    assert found["reserve_noted"] >= COUNT / prefetch - MOST_FULL
    assert found["reserve_full"] <= MOST_FULL


def test_plain_messages_run_none_of_these_scripts(recorder: Recorder) -> None:
    with dueq.Queue("plain", recorder.url) as queue:
        for n in range(COUNT):
            queue.push(str(n))
        take_all(queue)
    found = ran(recorder)
    assert not NOTED & {*found}
    assert found["reserve"] >= COUNT - MOST_FULL


def test_reserve_runs_again_after_16_answers_without_kept_messages(recorder: Recorder) -> None:
    with dueq.Queue("mixed", recorder.url) as queue:
        queue.push("kept", keep=60)
        for n in range(2 * COUNT):
            queue.push(str(n))
        take_all(queue, 2 * COUNT + 1)
    found = ran(recorder)
    assert 16 - MOST_FULL <= found["reserve_noted"] <= 16
    assert found["reserve"] >= 2 * COUNT - 16 - MOST_FULL
