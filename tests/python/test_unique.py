"""Ids that are taken: unique and replace."""

from datetime import timedelta
from typing import Literal

import pytest

import dueq
from dueq import errors


def find(queue: dueq.Queue, id: str) -> dueq.Message:
    message = queue.find(id)
    assert message is not None
    return message


@pytest.mark.parametrize("unique", [60, 60.0, timedelta(minutes=1)], ids=repr)
def test_unique_after_it_is_gone(queue: dueq.Queue, unique: float | timedelta) -> None:
    queue.push("one", id="x", unique=unique)
    message = queue.reserve()
    assert message is not None
    message.ack()
    with pytest.raises(dueq.Duplicate, match="x"):
        queue.push("two", id="x")
    assert queue.push_many([dueq.Draft("three", id="x"), "four"])[0] is None


def test_replace_takes_the_place(queue: dueq.Queue) -> None:
    queue.push("one", id="x")
    held = queue.reserve()
    assert held is not None
    assert queue.push("two", id="x", replace=True) == "x"
    with pytest.raises(dueq.LeaseLost):
        held.ack()
    message = queue.reserve()
    assert message is not None
    assert (message.body, message.attempt, message.deliveries) == (b"two", 1, 1)


def test_replace_body_keeps_the_time(queue: dueq.Queue) -> None:
    queue.push("one", id="x", delay=300)
    before = find(queue, "x")
    queue.push("two", id="x", replace="body", headers={"a": "b"})
    after = find(queue, "x")
    assert (after.body, after.headers) == (b"two", {"a": "b"})
    assert (after.state, after.time) == (before.state, before.time)
    queue.push("three", id="x", replace=True)
    assert find(queue, "x").state is dueq.State.READY


def test_replace_in_a_batch(queue: dueq.Queue) -> None:
    drafts = [dueq.Draft(str(n), id="x", replace=True) for n in range(3)]
    assert queue.push_many(drafts) == ["x"] * 3
    assert [message.body for message in queue.reserve_many(10)] == [b"2"]


@pytest.mark.parametrize("replace", [True, "body"])
def test_replace_without_an_id(queue: dueq.Queue, replace: Literal[True, "body"]) -> None:
    with pytest.raises(errors.InvalidError):
        queue.push("x", replace=replace)
