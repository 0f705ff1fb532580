import pytest

import dueq
from dueq import errors


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
    assert stats.oldest == pytest.approx(stats.now, abs=5)
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
    assert all(stats.now - 180 < rate.start <= stats.now for rate in rates)
    assert all(0 <= rate.span <= 120 for rate in rates)


def test_rates_of_an_unknown_queue(queue: dueq.Queue) -> None:
    assert all(rate.pushed == 0 for rate in queue.rates(360))


@pytest.mark.parametrize("minutes", [-1, 0, 361, 2**70])
def test_rates_out_of_range(queue: dueq.Queue, minutes: int) -> None:
    with pytest.raises(errors.InvalidError):
        queue.rates(minutes)
