"""Redisson's delayed queues. What their bytes are to Java, tests/interop tries with Java itself."""

import contextlib
import logging
import math
import pickle
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

import dueq
import dueq.redisson
from dueq import errors
from dueq.interop import Moved
from forked import in_child
from moments import ms_of, seconds_between
from private_server import Server

PACKED = "redisson_delay_queue:{orders}"
TIMES = "redisson_delay_queue_timeout:{orders}"
CHANNEL = "redisson_delay_queue_channel:{orders}"


@pytest.fixture
def orders(server: Server) -> Iterator[dueq.redisson.DelayedQueue]:
    server.command("FLUSHALL")
    with dueq.redisson.DelayedQueue("orders", server.url) as queue:
        yield queue


def opened(server: Server, **options: Any) -> dueq.redisson.DelayedQueue:
    return dueq.redisson.DelayedQueue("orders", server.url, **options)


PLAIN: list[Any] = [
    "",
    "hello",
    "naïve 🚀",
    True,
    False,
    0,
    -1,
    2**31 - 1,
    2**31,
    -(2**63),
    1.5,
    None,
]
DEEP: list[Any] = [
    [],
    {},
    [1, [2.5, None, "x"]],
    {"b": {"a": [], "c": None}, "a": False, "d": None},
    2**70,
]


@pytest.mark.parametrize(
    ("codec", "values"),
    [
        ("kryo5", [*PLAIN, b"", b"\x00\xff", dueq.redisson.Long(5)]),
        ("bytes", [b"", b"\x00\xff"]),
        ("string", ["", "hello", "naïve 🚀"]),
        ("long", [0, -1, dueq.redisson.Long(5), 2**63 - 1]),
        ("jackson", [*PLAIN, *DEEP, dueq.redisson.Long(5)]),
        ("typed json", [*PLAIN, *DEEP]),
        ("jackson3", [*PLAIN, *DEEP, dueq.redisson.Long(2**40)]),
        ("typed json3", [*PLAIN, *DEEP]),
    ],
)
def test_redisson_values_come_back(server: Server, codec: Any, values: list[Any]) -> None:
    server.command("FLUSHALL")
    with opened(server, codec=codec) as orders:
        for value in values:
            orders.offer(value)
        assert orders.peek(200) == values
        for value in values:
            assert orders.contains(value)
        assert orders.transfer() == Moved(len(values), 0, None)
        taken = orders.take_many(200, timeout=0)
    assert sorted(map(repr, taken)) == sorted(map(repr, values))
    assert not any(isinstance(value, dueq.redisson.Long) for value in taken)


def test_redisson_bytes_are_those_of_java(
    orders: dueq.redisson.DelayedQueue, server: Server
) -> None:
    begin = time.time_ns() // 1_000_000
    orders.offer("hello", delay=1.5)
    [packed] = server.command("LRANGE", PACKED, 0, -1)  # type: ignore[misc]
    assert isinstance(packed, bytes)
    assert (packed[0], packed[9:]) == (8, struct.pack("<Q", 6) + b"\x03hell\xef")
    assert server.command("ZRANGE", TIMES, 0, -1) == [packed]
    score = server.command("ZSCORE", TIMES, packed)
    assert isinstance(score, bytes)
    assert 1500 <= int(score) - begin < 60_000
    assert ms_of(orders.size().next) == int(score)


def test_redisson_tells_integers_from_longs(orders: dueq.redisson.DelayedQueue) -> None:
    orders.offer(dueq.redisson.Long(5))
    assert not orders.contains(5)
    assert not orders.remove(5)
    assert orders.contains(dueq.redisson.Long(5))
    assert orders.remove(dueq.redisson.Long(5))
    assert orders.size().delayed == 0


@pytest.mark.parametrize(
    ("codec", "value", "error"),
    [
        ("kryo5", [1], errors.InvalidError),
        ("kryo5", {"a": 1}, errors.InvalidError),
        ("kryo5", 2**63, errors.InvalidError),
        ("kryo5", object(), TypeError),
        ("kryo5", "\ud800", ValueError),
        ("string", 5, errors.InvalidError),
        ("long", "5", errors.InvalidError),
        ("long", True, errors.InvalidError),
        ("bytes", 1.5, errors.InvalidError),
        ("jackson", b"x", errors.InvalidError),
        ("jackson", [b"x"], TypeError),
        ("jackson", [math.nan], errors.InvalidError),
        ("typed json", {"a": {1, 2}}, TypeError),
    ],
)
def test_redisson_refuses_values(
    server: Server, codec: Any, value: Any, error: type[Exception]
) -> None:
    server.command("FLUSHALL")
    with opened(server, codec=codec) as orders:
        for call in (orders.offer, orders.remove, orders.contains):
            with pytest.raises(error) as caught:
                call(value)
            assert str(caught.value)
        assert orders.size().delayed == 0


def test_redisson_due_times(orders: dueq.redisson.DelayedQueue) -> None:
    now = orders.size().now
    orders.offer("third", delay=timedelta(seconds=0.3))
    orders.offer("second", at=now.timestamp() + 0.2)
    orders.offer("first", at=now + timedelta(seconds=0.1))
    orders.offer("late", at=now + timedelta(hours=1))
    assert orders.transfer().moved == 0
    with orders.transferring():
        assert [orders.take(timeout=10) for _ in range(3)] == ["first", "second", "third"]
    sizes = orders.size()
    assert seconds_between(now, sizes.now) >= 0.3
    assert (sizes.ready, sizes.delayed, sizes.reserved, sizes.quarantined) == (0, 1, 0, 0)
    assert sizes.next == now + timedelta(hours=1)


@pytest.mark.parametrize(
    ("delay", "at"),
    [(-1, None), (math.inf, None), (1, 1), (None, datetime(2030, 1, 1)), (None, 2**40)],
)
def test_redisson_refuses_times(orders: dueq.redisson.DelayedQueue, delay: Any, at: Any) -> None:
    with pytest.raises(errors.InvalidError):
        orders.offer("x", delay, at)
    assert orders.size().delayed == 0


def test_redisson_offer_many(orders: dueq.redisson.DelayedQueue) -> None:
    orders.offer_many(map(str, range(450)))
    assert orders.size().delayed == 450
    with pytest.raises(errors.InvalidError) as caught:
        orders.offer_many([*range(400), [1]], delay=5)
    assert caught.value.__notes__ == ["400 values were offered before the batch that failed"]
    assert orders.size().delayed == 850
    for one in ("text", b"bytes"):
        with pytest.raises(TypeError, match="a list of"):
            orders.offer_many(one)
    orders.offer_many([])


def test_redisson_transfer_in_steps(orders: dueq.redisson.DelayedQueue, server: Server) -> None:
    orders.offer_many(range(5))
    orders.offer("late", delay=3600)
    assert orders.transfer(most=3).moved == 3
    step = orders.transfer()
    assert step.moved == 2
    assert step.next == orders.size().next
    assert orders.transfer(timeout=0.05) == Moved(0, 0, None)
    values = [orders.take(0) for _ in range(5)]
    assert sorted(values) == list(range(5))
    for wrong in (0, 201, -1):
        with pytest.raises(errors.InvalidError):
            orders.transfer(most=wrong)


def test_redisson_transfer_waits_for_an_earlier_one(
    orders: dueq.redisson.DelayedQueue, server: Server
) -> None:
    orders.offer("late", delay=3600)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(orders.transfer, None)
        wait_for_subscribers(server, 1)
        orders.offer("early", delay=0.05)
        assert waiting.result(timeout=10).moved == 1
    assert orders.take(timeout=0) == "early"


def wait_for_subscribers(server: Server, count: int) -> None:
    deadline = time.monotonic() + 10
    while server.command("PUBSUB", "NUMSUB", CHANNEL) != [CHANNEL.encode(), count]:
        assert time.monotonic() < deadline, "nobody has subscribed"
        time.sleep(0.005)


def test_redisson_damaged_element_is_set_aside(
    orders: dueq.redisson.DelayedQueue, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "dueq")
    orders.offer("sound")
    server.command("ZADD", TIMES, 1, "damaged")
    server.command("RPUSH", PACKED, "damaged")
    step = orders.transfer()
    assert (step.moved, step.quarantined) == (1, 1)
    assert "orders: 1 damaged entries were quarantined" in caplog.text
    assert orders.size().quarantined == 1
    assert orders.take(timeout=0) == "sound"


def test_redisson_take_what_others_pushed(
    orders: dueq.redisson.DelayedQueue, server: Server
) -> None:
    assert orders.take(timeout=0) is None
    assert orders.take(timeout=0.05) is None
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(orders.take)
        server.wait_for_waiting(1)
        server.command("RPUSH", "orders", b"\x03hell\xef")
        assert waiting.result(timeout=10) == "hello"
    assert server.command("EXISTS", "orders", "dueq:{orders}:parked") == 0
    for wrong in (0, 201):
        with pytest.raises(errors.InvalidError):
            orders.take_many(wrong)
    with pytest.raises(errors.InvalidError):
        orders.take(timeout=-1)


@pytest.mark.parametrize(
    ("codec", "raw"),
    [
        ("kryo5", b"\x03\x82\xed\xa0\xbd"),
        ("jackson", b'"\\uD83D"'),
        ("typed json", b'["\\uD83D"]'),
        ("jackson3", b'{"@class":"java.util.LinkedHashMap","\\uDE00":1}'),
        ("typed json3", b'{"\\uDE00":1}'),
    ],
)
def test_redisson_half_a_surrogate_pair(server: Server, codec: Any, raw: bytes) -> None:
    """As Java writes it: by this codec, and not by another."""
    server.command("FLUSHALL")
    server.command("RPUSH", "orders", raw)
    with (
        opened(server, codec=codec) as orders,
        pytest.raises(errors.CorruptError, match="half of a surrogate pair") as caught,
    ):
        orders.take(timeout=0)
    assert caught.value.raw == raw
    assert "another codec" not in str(caught.value)


def test_redisson_take_of_what_cannot_be_read(
    orders: dueq.redisson.DelayedQueue, server: Server
) -> None:
    server.command("RPUSH", "orders", "\x01garbage", b"\x03hell\xef", "\x01garbage")
    with pytest.raises(errors.CorruptError) as caught:
        orders.take()
    assert caught.value.raw == b"\x01garbage"
    value, damaged = orders.take_many(3)
    assert value == "hello"
    assert isinstance(damaged, dueq.redisson.Unreadable)
    assert damaged.raw == b"\x01garbage"
    assert damaged.reason in str(caught.value)
    assert orders.take(timeout=0) is None


def test_redisson_poll_and_peek_by_the_order_of_offers(orders: dueq.redisson.DelayedQueue) -> None:
    for value, delay in (("a", 30), ("b", 10), ("c", 20)):
        orders.offer(value, delay)
    assert orders.peek() == ["a"]
    assert orders.peek(5) == ["a", "b", "c"]
    assert orders.poll() == "a"
    assert orders.poll_many(5) == ["b", "c"]
    assert orders.poll() is None
    assert (orders.poll_many(1), orders.peek()) == ([], [])
    for call in (orders.poll_many, orders.peek):
        for wrong in (0, 201):
            with pytest.raises(errors.InvalidError):
                call(wrong)


def test_redisson_poll_of_what_cannot_be_read(server: Server) -> None:
    server.command("FLUSHALL")
    with opened(server, codec="string") as writer, opened(server, codec="long") as reader:
        writer.offer_many(["not a number", "5", "again"])
        [first] = reader.peek()
        assert isinstance(first, dueq.redisson.Unreadable)
        with pytest.raises(errors.CorruptError) as caught:
            reader.poll()
        assert caught.value.raw == first.raw == b"not a number"
        assert reader.poll() == 5


def test_redisson_remove_contains_clear(orders: dueq.redisson.DelayedQueue, server: Server) -> None:
    orders.offer_many(["a", "b", "a"], delay=60)
    assert orders.contains("b")
    assert orders.remove("b")
    assert not orders.remove("b")
    assert not orders.contains("b")
    assert orders.remove("a")
    assert orders.contains("a")
    server.command("RPUSH", "orders", "stays")
    assert orders.clear() == 1
    assert orders.clear() == 0
    assert orders.size().delayed == 0
    assert orders.size().ready == 1


def test_redisson_layouts(server: Server) -> None:
    server.command("FLUSHALL")
    old, new = opened(server, layout="old"), opened(server, layout="new")
    with old, new, opened(server) as found:
        old.offer("1", delay=0.01)
        found.offer("2", delay=0.01)
        packed = server.command("LRANGE", PACKED, 0, -1)
        assert isinstance(packed, list)
        for element in packed:
            assert isinstance(element, bytes)
            assert struct.unpack_from("<Q", element, 8)[0] == len(element) - 16
        for call in (new.poll, new.peek, new.transfer, lambda: new.offer("x")):
            with pytest.raises(errors.LayoutError):
                call()
        assert found.peek(2) == old.peek(2) == ["1", "2"]
        with found.transferring():
            assert found.take(timeout=10) is not None
            assert found.take(timeout=10) is not None
        new.offer("3")
        assert found.peek() == ["3"]
        with pytest.raises(errors.LayoutError) as caught:
            old.offer("4")
        assert str(caught.value)


def test_redisson_names(server: Server) -> None:
    server.command("FLUSHALL")
    with dueq.redisson.DelayedQueue("{shop}:orders", server.url) as orders:
        orders.offer("x", delay=9)
        assert server.command("EXISTS", "redisson_delay_queue:{shop}:orders") == 1
    for wrong in ("", "a\nb", "x" * 256):
        with pytest.raises(errors.QueueNameError):
            dueq.redisson.DelayedQueue(wrong, server.url)


@pytest.mark.parametrize("option", [{"codec": "kryo"}, {"layout": "newest"}], ids=str)
def test_redisson_refuses_options(server: Server, option: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidError, match=next(iter(option.values()))):
        opened(server, **option)


def test_redisson_agent_stops(orders: dueq.redisson.DelayedQueue, server: Server) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        for until in (stop, stop.is_set):
            stop.clear()
            agent = pool.submit(orders.run_transfer, until)
            wait_for_subscribers(server, 1)
            orders.offer("x", delay=0.01)
            assert orders.take(timeout=10) == "x"
            stop.set()
            agent.result(timeout=10)


def test_redisson_agent_goes_on_after_the_server_was_away(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "dueq")
    orders = dueq.redisson.DelayedQueue("orders", own_server.url + "?timeout=200ms")
    with orders, orders.transferring():
        wait_for_subscribers(own_server, 1)
        own_server.stop()
        deadline = time.monotonic() + 20
        while "is tried again" not in caplog.text:
            assert time.monotonic() < deadline, "it did not notice"
            time.sleep(0.01)
        own_server.start()
        orders.offer("x")
        assert orders.take(timeout=30) == "x"


def test_redisson_agent_stops_while_the_server_is_away(
    own_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "dueq")
    with dueq.redisson.DelayedQueue("orders", own_server.url + "?timeout=200ms") as orders:
        orders.offer("x", delay=60)
        own_server.stop()
        orders.run_transfer(lambda: "is tried again" in caplog.text)
    with (
        dueq.redisson.DelayedQueue("orders", own_server.url) as orders,
        pytest.raises(errors.ConnectError),
    ):
        orders.run_transfer()


def test_redisson_agent_ends_by_what_does_not_pass(
    orders: dueq.redisson.DelayedQueue, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "dueq")
    server.command("SET", PACKED, "something else")
    with pytest.raises(errors.WrongTypeError):
        orders.run_transfer()

    def block() -> None:
        with orders.transferring():
            deadline = time.monotonic() + 10
            while "moving due items has ended" not in caplog.text:
                assert time.monotonic() < deadline
                time.sleep(0.005)

    with pytest.raises(errors.WrongTypeError):
        block()
    with pytest.raises(KeyError), orders.transferring():
        raise KeyError


def test_redisson_close(server: Server) -> None:
    server.command("FLUSHALL")
    for close in (dueq.redisson.DelayedQueue.close, dueq.redisson.DelayedQueue.destroy):
        orders = opened(server)
        with ThreadPoolExecutor(1) as pool:
            taking = pool.submit(orders.take)
            server.wait_for_waiting(1)
            close(orders)
            with pytest.raises(errors.InvalidError, match="closed"):
                taking.result(timeout=10)
        with pytest.raises(errors.InvalidError, match="closed"):
            orders.offer("x")
        assert repr(orders) == "<redisson.DelayedQueue orders closed>"
    with opened(server) as orders, orders.transferring():
        orders.close()


def test_redisson_pickled(server: Server) -> None:
    orders = opened(server, codec="string", layout="old")
    with orders, pickle.loads(pickle.dumps(orders)) as copy:
        assert (copy.destination, copy.url) == ("orders", orders.url)
        assert (copy.codec, copy.layout) == ("string", "old")


def test_redisson_threads_share_a_queue(orders: dueq.redisson.DelayedQueue) -> None:
    def take() -> list[Any]:
        values = []
        while (value := orders.take(timeout=0.5)) is not None:
            values.append(value)
        return values

    with ThreadPoolExecutor(8) as pool, orders.transferring():
        takes = [pool.submit(take) for _ in range(3)]
        offers = [
            pool.submit(orders.offer_many, range(n, 600, 3), delay=0.01 * n) for n in range(3)
        ]
        for offer in offers:
            offer.result()
        taken = Counter(value for task in takes for value in task.result())
    assert taken == Counter(range(600))


def test_redisson_fork(orders: dueq.redisson.DelayedQueue) -> None:
    orders.offer_many(["a", "b"])
    orders.transfer()

    def work() -> None:
        assert orders.take(timeout=5) in ("a", "b")

    in_child(work)
    assert orders.take(timeout=5) in ("a", "b")
    assert orders.take(timeout=0) is None


def test_redisson_wrong_type(orders: dueq.redisson.DelayedQueue, server: Server) -> None:
    server.command("SET", "orders", "something else")
    with pytest.raises(errors.WrongTypeError):
        orders.take()
    with contextlib.suppress(errors.WrongTypeError):
        orders.transfer()
    assert server.command("GET", "orders") == b"something else"
