from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import dueq
from dueq import _core, errors
from moments import seconds_between


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        (b"", b""),
        (b"\0\xff\r\n", b"\0\xff\r\n"),
        ("", b""),
        ("Zoë 🚀\0", "Zoë 🚀\0".encode()),
        (bytearray(b"abc"), b"abc"),
        (memoryview(b"abcdef")[1:3], b"bc"),
        (array("i", [1, -1]), array("i", [1, -1]).tobytes()),
        (memoryview(array("d", [0.5])), array("d", [0.5]).tobytes()),
    ],
)
def test_push_any_bytes(
    queue: dueq.Queue, body: "bytes | str | bytearray | memoryview | array[int]", stored: bytes
) -> None:
    id = queue.push(body)
    message = queue.reserve()
    assert message is not None
    assert (message.id, message.body) == (id, stored)
    assert type(message.body) is bytes


def test_push_body_of_64_mib(queue: dueq.Queue) -> None:
    body = bytes(range(256)) * (64 * 4096)
    queue.push(memoryview(body))
    message = queue.reserve()
    assert message is not None
    assert message.body == body


def test_push_releases_the_buffer(queue: dueq.Queue) -> None:
    body = bytearray(b"abc")
    queue.push(body)
    body.extend(b"d")
    with pytest.raises(errors.InvalidError):
        queue.push(body, id="\n")
    body.extend(b"e")
    assert body == b"abcde"


@pytest.mark.parametrize("body", [None, 5, ["a"], memoryview(b"abcdef")[::2]])
def test_push_no_bytes(queue: dueq.Queue, body: object) -> None:
    with pytest.raises((TypeError, BufferError)):
        queue.push(body)  # type: ignore[arg-type]
    assert queue.stats().ready == 0


def test_push_text_without_utf8(queue: dueq.Queue) -> None:
    with pytest.raises(UnicodeEncodeError):
        queue.push("\udcff")


@pytest.mark.parametrize("delay", [30, 30.0, timedelta(seconds=30)], ids=repr)
def test_push_delay(queue: dueq.Queue, delay: float | timedelta) -> None:
    message = queue.find(queue.push("later", delay=delay))
    stats = queue.stats()
    assert message is not None
    assert message.state is dueq.State.DELAYED
    assert message.time == stats.next_event
    assert seconds_between(stats.now, message.time) == pytest.approx(30, abs=5)
    assert (stats.ready, stats.delayed) == (0, 1)


def test_push_at(queue: dueq.Queue) -> None:
    moment = queue.stats().now + timedelta(seconds=60)
    elsewhere = moment.astimezone(timezone(timedelta(hours=-7)))
    for at in (moment, elsewhere, moment.timestamp()):
        message = queue.find(queue.push("later", at=at))
        assert message is not None
        assert message.time == moment


def test_push_at_in_the_past(queue: dueq.Queue) -> None:
    queue.push("now", at=datetime(2001, 1, 1, tzinfo=UTC))
    assert queue.reserve() is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"delay": -0.001},
        {"delay": timedelta(microseconds=-1)},
        {"delay": float("nan")},
        {"delay": float("inf")},
        {"delay": 1e30},
        {"at": -1.0},
        {"at": datetime(2030, 1, 1)},
        {"at": datetime(2200, 1, 1, tzinfo=UTC)},
        {"delay": 1, "at": 1.0},
        {"id": ""},
        {"id": "a\nb"},
        {"max_attempts": 0},
        {"max_attempts": -1},
        {"max_attempts": 65536},
        {"max_attempts": 2**80},
        {"lease": -1},
        {"headers": {"": "empty name"}},
    ],
    ids="+".join,
)
def test_push_out_of_range(queue: dueq.Queue, wrong: dict[str, object]) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        queue.push("x", **wrong)  # type: ignore[arg-type]
    assert str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert queue.stats().ready == 0


@pytest.mark.parametrize(
    "wrong",
    [{"id": "x" * 256}, {"headers": {"n": "x" * 65536}}, {"headers": {"n" * 256: "name"}}],
    ids=["id", "headers", "name of a header"],
)
def test_push_too_large(queue: dueq.Queue, wrong: dict[str, object]) -> None:
    with pytest.raises(errors.TooLargeError):
        queue.push("x", **wrong)  # type: ignore[arg-type]
    assert queue.stats().ready == 0


def test_push_rounds_up_to_milliseconds() -> None:
    def delay(seconds: float | timedelta) -> int:
        return dueq.Draft("", delay=seconds).row()[1]

    assert [delay(s) for s in (0, 0.069, 8.2, 0.0001, 1.0001)] == [0, 69, 8200, 1, 1001]
    assert delay(timedelta(microseconds=1500)) == 2


def test_push_given_id(queue: dueq.Queue) -> None:
    id = "Bestellung/ß 4711"
    assert queue.push("one", id=id) == id
    with pytest.raises(dueq.Duplicate, match="Bestellung") as caught:
        queue.push("two", id=id)
    assert (caught.value.name, caught.value.retriable) == ("DUPLICATE", False)
    message = queue.reserve()
    assert message is not None
    assert message.body == b"one"
    message.ack()
    assert queue.push("two", id=id) == id


def test_push_made_ids_sort_by_time(queue: dueq.Queue) -> None:
    ids = [queue.push("") for _ in range(20)]
    assert ids == sorted(set(ids))
    assert {len(id) for id in ids} == {22}


def test_push_id_known_beforehand(queue: dueq.Queue) -> None:
    id = queue.new_id()
    assert len(id) == 22
    assert queue.push("", id=id) == id
    assert queue.new_id() > id


def test_push_headers(queue: dueq.Queue) -> None:
    headers = {"trace": "00-ab", "naïve ключ": "värde ✓", "empty": ""}
    queue.push("x", headers=headers)
    message = queue.reserve()
    assert message is not None
    assert message.headers == headers
    assert list(message.headers) == list(headers)


def test_push_headers_not_text(queue: dueq.Queue) -> None:
    with pytest.raises(TypeError):
        queue.push("x", headers={"n": 1})  # type: ignore[dict-item]


class Lists(dict[str, str]):
    def items(self) -> object:  # type: ignore[override]
        return [["n", "v"]]


@pytest.mark.parametrize("headers", ["text", 5, [5], ["ab", "c"], [("n",)], {"n": None}])
def test_push_headers_that_are_none(queue: dueq.Queue, headers: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        queue.push("x", headers=headers)
    assert queue.stats().ready == 0


def test_push_headers_of_a_strange_dict(queue: dueq.Queue) -> None:
    queue.push("x", headers=Lists(a="b"))
    message = queue.reserve()
    assert message is not None
    assert message.headers == {"a": "b"}


@pytest.mark.parametrize("name", ["max_attempts", "max_crashes"])
@pytest.mark.parametrize("limit", ["", [], b""])
def test_push_limit_that_is_no_number(queue: dueq.Queue, name: str, limit: object) -> None:
    with pytest.raises(TypeError):
        queue.push("x", **{name: limit})  # type: ignore[arg-type]


def test_push_max_attempts(queue: dueq.Queue) -> None:
    ids = [queue.push(""), queue.push("", max_attempts=7), queue.push("", max_attempts=None)]
    found = [queue.find(id) for id in ids]
    assert [message and message.max_attempts for message in found] == [16, 7, None]


@pytest.mark.parametrize(
    ("name", "of_one"),
    [("max_attempts", "no retry"), ("max_crashes", "no second delivery after one")],
)
def test_push_limit_of_zero_says_what_is_meant(queue: dueq.Queue, name: str, of_one: str) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        queue.push("x", **{name: 0})  # type: ignore[arg-type]
    assert str(caught.value) == f"{name}: 0: use None for no limit, 1 for {of_one}"


def test_push_lease(queue: dueq.Queue) -> None:
    queue.push("", lease=timedelta(minutes=10))
    message = queue.reserve()
    assert message is not None
    assert message.time is not None
    assert seconds_between(queue.stats().now, message.time) == pytest.approx(600, abs=5)


def test_push_many_mixed(queue: dueq.Queue) -> None:
    drafts: list[bytes | str | dueq.Draft] = [
        b"one",
        "two",
        dueq.Draft(b"three", id="3"),
        dueq.Draft("four", id="3"),
        "five",
    ]
    ids = queue.push_many(drafts)
    assert ids[2:4] == ["3", None]
    assert all(ids[:2])
    bodies = [message.body for message in queue.reserve_many(10)]
    assert bodies == [b"one", b"two", b"three", b"five"]


def test_push_many_nothing(queue: dueq.Queue) -> None:
    assert queue.push_many([]) == []


def test_push_many_beyond_a_batch(queue: dueq.Queue) -> None:
    count = 2 * _core.MAX_BATCH + 1
    ids = queue.push_many(str(n) for n in range(count))
    assert len(set(ids)) == count
    messages = [m for _ in range(3) for m in queue.reserve_many(_core.MAX_BATCH)]
    assert [message.body for message in messages] == [str(n).encode() for n in range(count)]
    assert queue.ack_many(messages) == [True] * count


def test_push_many_large_bodies_go_in_parts(queue: dueq.Queue) -> None:
    body = bytes(12 * 1024 * 1024)
    assert len(queue.push_many([body] * 5)) == 5
    assert queue.stats().ready == 5


def test_push_many_says_how_many_went_before(queue: dueq.Queue) -> None:
    def bodies() -> Iterator[str | dueq.Draft]:
        yield from map(str, range(_core.MAX_BATCH))
        yield dueq.Draft("", id="\n")

    with pytest.raises(errors.InvalidError) as caught:
        queue.push_many(bodies())
    assert caught.value.__notes__ == ["200 messages were pushed before the batch that failed"]
    assert queue.stats().ready == _core.MAX_BATCH
