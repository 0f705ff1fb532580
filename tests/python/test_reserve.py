import logging
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest

import dueq
from dueq import errors
from moments import seconds_between
from private_server import Server


def test_reserve_nothing(queue: dueq.Queue) -> None:
    assert queue.reserve() is None
    assert queue.reserve(timeout=0.05) is None
    assert queue.reserve_many(10, timeout=timedelta(milliseconds=50)) == []


def test_reserve_what_a_message_holds(queue: dueq.Queue) -> None:
    id = queue.push("body", headers={"a": "b"})
    before = queue.find(id)
    message = queue.reserve(lease=60)
    assert before is not None
    assert message is not None
    assert (before.state, before.attempt) == (dueq.State.READY, 0)
    assert (message.state, message.attempt, message.max_attempts) == (dueq.State.LEASED, 1, 16)
    assert (message.id, message.body, message.headers) == (id, b"body", {"a": "b"})
    assert (message.crashes, message.max_crashes, message.deliveries) == (0, 5, 1)
    assert (message.error, message.expires, message.priority) == ("", None, 0)
    assert (message.drop, message.dead_letter) == (False, None)
    assert message.queue == queue.name
    assert seconds_between(queue.stats().now, message.time) == pytest.approx(60, abs=5)
    assert seconds_between(datetime.now(UTC), message.created) == pytest.approx(0, abs=5)
    assert id in message.ticket
    assert id in repr(message)


def test_reserve_many_in_order(queue: dueq.Queue) -> None:
    queue.push_many(["a", "b", "c"])
    assert [m.body for m in queue.reserve_many(2)] == [b"a", b"b"]
    assert [m.body for m in queue.reserve_many(2)] == [b"c"]


@pytest.mark.parametrize("count", [-1, 0, 201, 2**70])
def test_reserve_many_out_of_range(queue: dueq.Queue, count: int) -> None:
    with pytest.raises(errors.InvalidError):
        queue.reserve_many(count)


@pytest.mark.parametrize("timeout", [-1, -0.001, float("nan"), float("inf")])
def test_reserve_timeout_out_of_range(queue: dueq.Queue, timeout: float) -> None:
    with pytest.raises(errors.InvalidError):
        queue.reserve(timeout=timeout)


def test_reserve_waits_for_a_push(queue: dueq.Queue, server: Server) -> None:
    def push() -> None:
        server.wait_for_waiting(1)
        queue.push("here")

    thread = Thread(target=push)
    thread.start()
    with queue.reserve(timeout=None) as message:
        assert message.body == b"here"
    thread.join()
    assert queue.stats().acked == 1


def test_reserve_by_iteration_until_close(queue: dueq.Queue) -> None:
    queue.push_many(["a", "b", "c"])
    bodies = []
    for message in queue:
        with message:
            bodies.append(message.body)
        if len(bodies) == 3:
            queue.close()
    assert bodies == [b"a", b"b", b"c"]


def test_reserve_by_iteration_closed_meanwhile(queue: dueq.Queue, server: Server) -> None:
    def close() -> None:
        server.wait_for_waiting(1)
        queue.close()

    thread = Thread(target=close)
    thread.start()
    assert list(queue) == []
    thread.join()


def test_reserve_when_closed(queue: dueq.Queue) -> None:
    queue.close()
    with pytest.raises(errors.InvalidError, match="closed"):
        queue.reserve()
    assert list(queue) == []
    queue.close()


def test_reserve_damaged_entry(
    queue: dueq.Queue, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    bad = queue.push("bad")
    queue.push("good")
    server.command("HSET", f"dueq:{{{queue.name}}}:msg", bad, b"\x01")
    with caplog.at_level(logging.WARNING, "dueq"):
        message = queue.reserve()
    assert message is not None
    assert message.body == b"good"
    assert "1 damaged" in caplog.text
    stats = queue.stats()
    assert (stats.quarantined, stats.dead) == (1, 1)
