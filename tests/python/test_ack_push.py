"""Messages that lead to others: ack with successors."""

from typing import Any

import pytest

import dueq
from dueq import errors


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


def test_ack_push_to_its_own_queue(queue: dueq.Queue) -> None:
    queue.push("x")
    ids = take(queue).ack(push=["a", dueq.Draft("b", id="b", delay=60), b"c"])
    assert ids[1] == "b"
    assert len({*ids, None}) == 4
    stats = queue.stats()
    assert (stats.acked, stats.ready, stats.delayed, stats.leased) == (1, 2, 1, 0)


def test_ack_push_to_another_queue(queue: dueq.Queue) -> None:
    with dueq.Queue("next step", queue.url) as target:
        for n in range(3):
            queue.push("x")
            [id] = take(queue).ack(push=(dueq.Draft(str(n)) for _ in range(1)), to=target.name)
            message = take(target)
            assert (message.id, message.body) == (id, str(n).encode())
    assert queue.stats().acked == 3


def test_ack_push_duplicate_is_none(queue: dueq.Queue) -> None:
    queue.push("x", id="x", delay=60)
    queue.push("y")
    ids = take(queue).ack(push=[dueq.Draft("again", id="x"), "new"])
    assert ids[0] is None
    assert ids[1]
    assert queue.stats().acked == 1


def test_ack_push_ends_the_with_block(queue: dueq.Queue) -> None:
    queue.push("x")
    with take(queue) as message:
        message.ack(push=["a"])
    assert take(queue).body == b"a"


def test_ack_push_nothing_is_an_ack(queue: dueq.Queue) -> None:
    queue.push("x")
    assert take(queue).ack(push=[]) == []
    assert queue.stats().acked == 1


@pytest.mark.parametrize(
    ("arguments", "cls"),
    [
        ({"push": "text"}, TypeError),
        ({"push": b"bytes"}, TypeError),
        ({"push": dueq.Draft("x")}, TypeError),
        ({"push": [None]}, TypeError),
        ({"push": ["x"] * 201}, errors.InvalidError),
        ({"push": ["x"], "to": "a{b"}, errors.QueueNameError),
        ({"to": "elsewhere"}, errors.InvalidError),
    ],
    ids=["text", "bytes", "draft", "None", "too many", "name", "to alone"],
)
def test_ack_push_not_valid(
    queue: dueq.Queue, arguments: dict[str, Any], cls: type[Exception]
) -> None:
    queue.push("x")
    message = take(queue)
    with pytest.raises(cls):
        message.ack(**arguments)
    message.ack()


def test_push_many_one_text_is_refused(queue: dueq.Queue) -> None:
    with pytest.raises(TypeError, match="list"):
        queue.push_many("text")
    assert queue.stats().pushed == 0
