"""peek and kick_all: what goes through all messages of a state."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

import pytest

import dueq
from dueq import _core, errors
from private_server import Server


def bury(queue: dueq.Queue, reason: str, count: int = 1) -> set[str]:
    ids = {id for id in queue.push_many("x" for _ in range(count)) if id}
    for message in queue.reserve_many(count):
        message.bury(reason)
    return ids


@pytest.mark.parametrize("page", [1, 3, 100, 200])
def test_peek_ready_in_the_order_of_delivery(queue: dueq.Queue, page: int) -> None:
    queue.push_many(str(n) for n in range(10))
    queue.push("high", priority=1)
    queue.push("low", priority=-1)
    seen = list(queue.peek("ready", page=page))
    expected = [b"high", *(str(n).encode() for n in range(10)), b"low"]
    assert [message.body for message in seen] == expected
    assert {(m.state, m.attempt, m.ticket, m.queue) for m in seen} == {
        (dueq.State.READY, 0, "", queue.name)
    }
    assert queue.stats().ready == 12
    assert [message.body for message in queue.reserve_many(12)] == expected


def test_peek_each_state(queue: dueq.Queue) -> None:
    [dead] = bury(queue, "no use")
    leased = queue.push("leased")
    held = queue.reserve()
    late, soon = queue.push("x", delay=600), queue.push("x", delay=60)
    assert held is not None
    assert [message.id for message in queue.peek(dueq.State.DELAYED)] == [soon, late]
    [found] = queue.peek("dead")
    assert (found.id, found.error, found.state) == (dead, "no use", dueq.State.DEAD)
    [seen] = queue.peek("leased")
    assert (seen.id, seen.ticket, seen.time) == (leased, held.ticket, held.time)
    assert list(queue.peek("ready")) == []
    seen.ack()


def test_peek_is_lazy(queue: dueq.Queue) -> None:
    queue.push_many(str(n) for n in range(7))
    pages = queue.peek("ready", page=2)
    assert isinstance(pages, Iterator)
    assert [message.body for message in islice(pages, 2)] == [b"0", b"1"]
    queue.purge("ready")
    assert list(pages) == []


@pytest.mark.parametrize("state", ["", "READY", 1, None])
def test_peek_no_state(queue: dueq.Queue, state: object) -> None:
    with pytest.raises(errors.InvalidError, match="ready, delayed, leased, dead"):
        queue.peek(state)  # type: ignore[arg-type]


@pytest.mark.parametrize("page", [-1, 0, 201, 2**70])
def test_peek_page_out_of_range(queue: dueq.Queue, page: int) -> None:
    with pytest.raises(errors.InvalidError):
        next(queue.peek("ready", page))


def test_peek_damaged_is_left_out(
    queue: dueq.Queue, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    bad = queue.push("bad")
    queue.push("good")
    server.command("HSET", f"dueq:{{{queue.name}}}:msg", bad, b"\x01")
    with caplog.at_level(logging.WARNING, "dueq"):
        assert [message.body for message in queue.peek("ready")] == [b"good"]
    assert f"{bad!r} is damaged" in caplog.text


def test_kick_all_dead_messages(queue: dueq.Queue) -> None:
    count = _core.MAX_BATCH
    bury(queue, "x", count)
    bury(queue, "x", count)
    bury(queue, "x", 5)
    told: list[int] = []
    assert queue.kick_all(progress=told.append) == 2 * count + 5
    assert told[-1] == 2 * count + 5
    assert told == sorted(told)
    assert len(told) > 2
    stats = queue.stats()
    assert (stats.ready, stats.dead) == (2 * count + 5, 0)
    assert queue.kick_all() == 0


def test_kick_all_of_an_error(queue: dueq.Queue) -> None:
    wanted = bury(queue, "Zeitüberschreitung: 5 s", 3)
    bury(queue, "disk full")
    assert queue.kick_all(error="überschreitung") == 3
    assert {message.id for message in queue.peek("ready")} == wanted
    assert queue.kick_all(error="%") == 0


def test_kick_all_of_a_time(queue: dueq.Queue) -> None:
    bury(queue, "x", 2)
    now = queue.stats().now
    minute = timedelta(minutes=1)
    assert queue.kick_all(since=now + minute) == 0
    assert queue.kick_all(until=now - minute) == 0
    assert queue.kick_all(until=0) == 0
    assert queue.kick_all(since=(now - minute).timestamp(), until=now + minute) == 2


def test_kick_all_ends_where_progress_raises(queue: dueq.Queue) -> None:
    def stop(total: int) -> None:
        raise RuntimeError("enough")

    bury(queue, "x", _core.MAX_BATCH)
    bury(queue, "x")
    with pytest.raises(RuntimeError, match="enough") as caught:
        queue.kick_all(progress=stop)
    assert caught.value.__notes__ == ["200 messages were kicked before"]
    assert queue.stats().dead == 1


@pytest.mark.parametrize(
    "wrong", [{"since": -1}, {"until": datetime(2030, 1, 1)}, {"since": float("nan")}], ids=repr
)
def test_kick_all_out_of_range(queue: dueq.Queue, wrong: dict[str, object]) -> None:
    with pytest.raises(errors.InvalidError):
        queue.kick_all(**wrong)  # type: ignore[arg-type]
