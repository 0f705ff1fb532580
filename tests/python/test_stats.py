import time

import pytest

import dueq
from dueq import errors
from moments import seconds_between


def test_stats_count_what_happened(queue: dueq.Queue) -> None:
    queue.push_many(["a", "b", "c", "d"])
    queue.push("e", delay=60)
    acked, retried, buried = queue.reserve_many(3)
    acked.ack()
    retried.retry(delay=60)
    buried.bury()
    stats = queue.stats()
    assert (stats.pushed, stats.reserved, stats.acked) == (5, 3, 1)
    assert (stats.retried, stats.died, stats.expired) == (1, 1, 0)
    assert (stats.ready, stats.delayed, stats.leased, stats.dead) == (1, 2, 0, 1)


def test_stats_oldest(queue: dueq.Queue) -> None:
    assert queue.stats().oldest is None
    queue.push("x", id="given")
    queue.push("y")
    stats = queue.stats()
    assert seconds_between(stats.now, stats.oldest) == pytest.approx(0, abs=5)
    assert stats.oldest is not None
    assert stats.oldest <= stats.now


def test_rates_of_the_running_minute(queue: dueq.Queue) -> None:
    assert sum(rate.pushed for rate in queue.rates()) == 0
    queue.push_many(["a", "b", "c"])
    first, second = queue.reserve_many(2)
    first.ack()
    second.retry(0)
    assert queue.cancel(second.id) is dueq.State.READY
    rates = queue.rates(minutes=5)  # the minute may have changed meanwhile
    names = ("pushed", "reserved", "acked", "retried", "expired", "died", "cancelled")
    totals = [sum(getattr(rate, name) for rate in rates) for name in names]
    assert totals == [3, 2, 1, 1, 0, 0, 1]
    stats = queue.stats()
    assert all(0 <= seconds_between(rate.start, stats.now) < 180 for rate in rates)
    assert all(0 <= rate.span <= 120 for rate in rates)


def test_rates_of_an_unknown_queue(queue: dueq.Queue) -> None:
    assert all(rate.pushed == 0 for rate in queue.rates(360))


def test_rates_of_hours(queue: dueq.Queue) -> None:
    queue.push("x")
    for rates in (queue.rates(hours=1), queue.rates(None, hours=336)):
        (rate,) = rates
        assert rate.pushed == 1
        assert [rate.late_p50, rate.late_p99, rate.run_p50, rate.run_p99] == [None] * 4


def test_rates_of_what_a_consumer_measured(queue: dueq.Queue) -> None:
    """It says so when it has lived for two seconds, and when it ends."""
    queue.push("x", delay=0.2)
    until = time.monotonic() + 20
    with queue.consume() as consumer:
        for message in consumer:
            while not queue.workers():
                assert time.monotonic() < until
                time.sleep(0.05)
            message.ack()
            break
    for rates in (queue.rates(), queue.rates(hours=1)):
        measured = [rate for rate in rates if rate.run_p99 is not None]
        assert sum(rate.acked for rate in rates) == 1
        assert [1 <= (rate.run_p50 or 0) <= (rate.run_p99 or 0) < 20 for rate in measured] == [True]
        assert [0 <= (rate.late_p99 or 0) < 20 for rate in measured] == [True]


@pytest.mark.parametrize("hours", [-1, 0, 337, 2**70])
def test_rates_of_hours_out_of_range(queue: dueq.Queue, hours: int) -> None:
    with pytest.raises(errors.InvalidError):
        queue.rates(hours=hours)
    with pytest.raises(errors.InvalidError):
        queue.rates(60, hours=24)


@pytest.mark.parametrize("minutes", [-1, 0, 361, 2**70])
def test_rates_out_of_range(queue: dueq.Queue, minutes: int) -> None:
    with pytest.raises(errors.InvalidError):
        queue.rates(minutes)
