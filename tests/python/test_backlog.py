"""Backlogs of groups, as Python's programs meet them."""

import asyncio

import pytest

import dueq
from dueq import aio
from private_server import Server


def test_push_above_the_backlog_raises(queue: dueq.Queue) -> None:
    queue.limit(each_group_backlog=1)
    queue.push("1", group="acme")
    with pytest.raises(dueq.BacklogError, match="push it again later") as caught:
        queue.push("2", group="acme")
    assert caught.value.ids == (None,)
    assert caught.value.name == "BACKLOG"
    assert caught.value.retriable


def test_push_of_many_tells_which_are_stored_and_ends_with_their_batch(queue: dueq.Queue) -> None:
    queue.limit(group="acme", backlog=250)
    with pytest.raises(dueq.BacklogError, match="150 of 200 messages are not stored") as caught:
        queue.push_many(dueq.Draft(str(number), group="acme") for number in range(1000))
    stored = [id for id in caught.value.ids if id]
    assert len(stored) == 50
    assert caught.value.ids == (*stored, *[None] * 150)
    assert caught.value.__notes__ == ["200 messages were pushed before the batch that failed"]
    assert [message.body for message in queue.peek("ready")] == [b"%d" % n for n in range(250)]


def test_pusher_tells_each_push(queue: dueq.Queue) -> None:
    queue.limit(each_group_backlog=2)
    with pytest.raises(ExceptionGroup, match="pushes failed"), queue.pusher() as pusher:
        pushes = [pusher.push(str(number), group="acme") for number in range(4)]
        pushes.append(pusher.push("5", group="globex"))
    assert [type(push.error) for push in pushes] == [
        *[type(None)] * 2,
        *[dueq.BacklogError] * 2,
        type(None),
    ]


def test_message_that_cannot_be_followed_is_retried(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("1", group="acme", backoff=0), dueq.Draft("2", group="acme")])
    message = queue.reserve()
    assert message
    queue.limit(each_group_backlog=1)
    with pytest.raises(dueq.BacklogError) as caught, message:
        message.ack(push=[dueq.Draft("3", group="acme"), "4"])
    assert caught.value.ids == (None, None)
    assert (queue.stats().ready, queue.stats().retried) == (2, 1)


def test_no_refusal_counts_as_an_outage(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.limit(each_group_backlog=1)
    queue.push("0", group="acme")
    for _ in range(50):
        with pytest.raises(dueq.BacklogError):
            queue.push("1", group="acme")
    assert not caplog.records


def test_many_producers_do_not_exceed_the_backlog(server: Server) -> None:
    async def produce() -> None:
        stored = 0

        async def push(queue: aio.Queue) -> None:
            nonlocal stored
            for _ in range(20):
                try:
                    await queue.push("x", group="acme")
                except dueq.BacklogError:
                    continue
                stored += 1

        async with aio.Queue("orders", server.url) as queue:
            await queue.limit(each_group_backlog=37)
            await asyncio.gather(*(push(queue) for _ in range(8)))
            assert (await queue.stats()).ready == stored == 37

    asyncio.run(produce())
