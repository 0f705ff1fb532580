"""Several queues in one wait, and the names of all of them."""

import logging
import pickle
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import dueq
from dueq import errors
from moments import seconds_between
from private_server import Server


@pytest.fixture
def pair(server: Server) -> Iterator[tuple[dueq.Queue, dueq.Queue]]:
    server.command("FLUSHALL")
    with dueq.Queue("a", server.url) as first, dueq.Queue("b", server.url) as second:
        yield first, second


def test_queues_by_preference(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    for queue in pair:
        queue.push_many(["1", "2"])
    with dueq.Queues(["b", "a"], server.url) as queues:
        order = [message.queue for message in iter(queues.reserve, None)]
    assert order == ["b", "b", "a", "a"]


def test_queues_in_turn(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    for queue in pair:
        queue.push_many(["1", "2"])
    with dueq.Queues(["a", "b"], server.url, order="round robin") as queues:
        order = [message.queue for message in iter(queues.reserve, None)]
    assert order in (["a", "b", "a", "b"], ["b", "a", "b", "a"])


def test_queues_in_turn_by_a_loop(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    """Also where each request that settles comes between two that reserve."""
    for queue in pair:
        queue.push_many(["x"] * 4)
    with dueq.Queues(["a", "b"], server.url, order="round robin") as queues:
        taken = []
        for message in queues.consume(timeout=0):
            with message:
                taken.append(message.queue)
    assert taken == ["a", "b"] * 4


def test_queues_by_weight(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    for queue in pair:
        queue.push_many(["x"] * 10)
    with pickle.loads(pickle.dumps(dueq.Queues({"a": 6, "b": 2}, server.url))) as queues:
        assert (queues.names, queues.order) == (("a", "b"), "round robin")
        taken = []
        for message in queues.consume(timeout=0):
            with message:
                taken.append(message.queue)
        assert taken[:8] == ["a", "a", "b", "a"] * 2
        assert sorted(taken) == ["a"] * 10 + ["b"] * 10


@pytest.mark.parametrize(
    "weights", [{"a": 0}, {"a": -1}, {"a": 1.5}, {"a": True}, {"a": 1024, "b": 1}]
)
def test_queues_of_no_weight(weights: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="weight"):
        dueq.Queues(weights)


def test_queues_reserve_many_from_one(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    pair[1].push_many(["1", "2", "3"])
    with dueq.Queues(["a", "b"], server.url) as queues:
        messages = queues.reserve_many(10, lease=timedelta(minutes=5))
        assert [(m.queue, m.body) for m in messages] == [("b", b"1"), ("b", b"2"), ("b", b"3")]
        assert seconds_between(pair[1].stats().now, messages[0].time) == pytest.approx(300, abs=5)
        assert queues.reserve_many(10, timeout=0.05) == []
    assert pair[1].stats().leased == 3


def test_queues_messages_are_settled_in_their_own(
    server: Server, pair: tuple[dueq.Queue, dueq.Queue]
) -> None:
    first, second = pair
    first.push("a")
    second.push_many(["1", "2", "3", "4"])
    with dueq.Queues(["a", "b"], server.url) as queues:
        with queues.reserve(timeout=None) as message:
            assert message.queue == "a"
        one, two, three, four = queues.reserve_many(10)
        one.ack()
        two.retry(delay=60, error="later")
        three.bury("no")
        four.extend(60)
        four.ack(push=["next"], to="a")
        with pytest.raises(dueq.LeaseLost):
            four.ack()
    assert first.stats().acked == 1
    stats = second.stats()
    assert (stats.acked, stats.delayed, stats.dead, stats.leased) == (2, 1, 1, 0)
    assert first.stats().ready == 1


def test_queues_wait_for_any(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    with dueq.Queues(["a", "b"], server.url) as queues, ThreadPoolExecutor(1) as pool:
        for queue in pair:
            waiting = pool.submit(queues.reserve, timeout=30)
            server.wait_for_waiting(1)
            queue.push(queue.name)
            message = waiting.result(timeout=10)
            assert message is not None
            assert (message.queue, message.body) == (queue.name, queue.name.encode())


def test_queues_by_iteration_until_close(
    server: Server, pair: tuple[dueq.Queue, dueq.Queue]
) -> None:
    for queue in pair:
        queue.push_many(["1", "2"])
    queues = dueq.Queues(["a", "b"], server.url)
    taken: Counter[str] = Counter()
    for message in queues:
        with message:
            taken[message.queue] += 1
        if taken.total() == 4:
            queues.close()
    assert taken == {"a": 2, "b": 2}
    with pytest.raises(errors.InvalidError, match="closed"):
        queues.reserve()
    assert "closed" in repr(queues)


def test_queues_shared_by_threads(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    for queue in pair:
        queue.push_many(f"{queue.name}{n}" for n in range(200))

    def work(queues: dueq.Queues) -> list[str]:
        taken = []
        while message := queues.reserve(timeout=0.2):
            with message:
                assert message.body.startswith(message.queue.encode())
                taken.append(message.id)
        return taken

    with (
        dueq.Queues(["a", "b"], server.url, "round robin") as queues,
        ThreadPoolExecutor(4) as pool,
    ):
        taken = Counter(id for ids in pool.map(work, [queues] * 4) for id in ids)
    assert len(taken) == taken.total() == 400
    assert [queue.stats().acked for queue in pair] == [200, 200]


def test_queues_damaged_entry(
    server: Server, pair: tuple[dueq.Queue, dueq.Queue], caplog: pytest.LogCaptureFixture
) -> None:
    server.command("HSET", "dueq:{b}:msg", pair[1].push("bad"), b"\x01")
    pair[1].push("good")
    with (
        dueq.Queues(["a", "b"], server.url) as queues,
        caplog.at_level(logging.WARNING, "dueq"),
    ):
        message = queues.reserve()
    assert message is not None
    assert message.body == b"good"
    assert "1 damaged" in caplog.text


def test_queues_pickled(server: Server, pair: tuple[dueq.Queue, dueq.Queue]) -> None:
    pair[1].push("x")
    with (
        dueq.Queues(iter(["a", "b"]), server.url, "round robin") as queues,
        pickle.loads(pickle.dumps(queues)) as copy,
    ):
        assert (copy.names, copy.order, copy.url) == (("a", "b"), "round robin", queues.url)
        assert copy.reserve().queue == "b"


@pytest.mark.parametrize(
    ("names", "order", "cls"),
    [
        ([], "preference", errors.InvalidError),
        (["a", "a"], "preference", errors.InvalidError),
        ([str(n) for n in range(1025)], "preference", errors.InvalidError),
        (["a", "b{"], "preference", errors.QueueNameError),
        (["a"], "random", errors.InvalidError),
        ("ab", "preference", TypeError),
        (["a", None], "preference", TypeError),
    ],
    ids=repr,
)
def test_queues_not_valid(
    server: Server, names: list[str], order: str, cls: type[Exception]
) -> None:
    with pytest.raises(cls):
        dueq.Queues(names, server.url, order)  # type: ignore[arg-type]


def test_queues_as_many_as_allowed(server: Server) -> None:
    server.command("FLUSHALL")
    names = [f"q{n}" for n in range(1024)]
    with dueq.Queue(names[-1], server.url) as last, dueq.Queues(names, server.url) as queues:
        last.push("x")
        message = queues.reserve(timeout=10)
        assert message is not None
        assert message.queue == names[-1]


def test_names_of_all_queues(server: Server) -> None:
    server.command("FLUSHALL")
    assert dueq.queues(server.url) == []
    names = sorted([*(f"q{n}" for n in range(300)), "naïve: ключ 🚀"])
    for name in names:
        with dueq.Queue(name, server.url) as queue:
            queue.push("x")
    server.command("SET", "dueq", "not a queue")
    assert dueq.queues(server.url) == names


def test_names_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.command("FLUSHALL")
    monkeypatch.setenv("DUEQ_URL", server.url)
    assert dueq.queues() == []
    with pytest.raises(errors.UrlError):
        dueq.queues("http://x")
