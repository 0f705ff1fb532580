"""kick, reschedule, pause, resume, purge and remove."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import pytest

import dueq
from dueq import _core, errors
from moments import seconds_between
from private_server import Server

StateName: TypeAlias = Literal["ready", "delayed", "leased", "dead", "outbox"]


def bury(queue: dueq.Queue, count: int = 1) -> list[str]:
    """Pushes messages and makes them dead; nothing else may be ready."""
    ids = [id for id in queue.push_many("x" for _ in range(count)) if id]
    for message in queue.reserve_many(count):
        message.bury("no use")
    return ids


def fill(queue: dueq.Queue) -> dict[str, str]:
    """Pushes a message into each state; returns their ids by state."""
    [dead] = bury(queue)
    leased = queue.push("leased")
    assert queue.reserve() is not None
    return {
        "dead": dead,
        "leased": leased,
        "delayed": queue.push("delayed", delay=600),
        "ready": queue.push("ready"),
    }


def states(queue: dueq.Queue) -> tuple[int, int, int, int]:
    stats = queue.stats()
    return stats.ready, stats.delayed, stats.leased, stats.dead


# kick


def test_kick_dead_message_has_its_attempts_again(queue: dueq.Queue) -> None:
    id = queue.push("x", max_attempts=2)
    for round in range(3):
        for attempt in (1, 2):
            message = queue.reserve()
            assert message is not None
            assert (message.id, message.attempt, message.max_attempts) == (id, attempt, 2)
            assert message.deliveries == 2 * round + attempt
            assert message.retry(0, error="broken") is (attempt == 1)
        assert queue.reserve() is None
        found = queue.find(id)
        assert found is not None
        assert (found.state, found.error) == (dueq.State.DEAD, "broken")
        assert queue.kick(id) is True
        assert queue.kick(id) is False
        assert states(queue) == (1, 0, 0, 0)
    message = queue.reserve()
    assert message is not None
    message.ack()
    assert queue.stats().acked == 1


def test_kick_in_other_states_is_false(queue: dueq.Queue) -> None:
    ids = fill(queue)
    assert queue.kick_many([ids["ready"], ids["delayed"], ids["leased"], "no"]) == [False] * 4
    assert states(queue) == (1, 1, 1, 1)


def test_kick_wakes_who_waits(queue: dueq.Queue, server: Server) -> None:
    [id] = bury(queue)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.reserve, timeout=30)
        server.wait_for_waiting(1)
        assert queue.kick(id) is True
        message = waiting.result(timeout=10)
    assert message is not None
    assert (message.id, message.attempt, message.deliveries) == (id, 1, 2)


def test_kick_many_beyond_a_batch(queue: dueq.Queue) -> None:
    ids = bury(queue, _core.MAX_BATCH) + bury(queue, 1)
    assert queue.kick_many(iter([*ids, ids[0]])) == [True] * len(ids) + [False]
    assert states(queue) == (len(ids), 0, 0, 0)


def test_kick_many_nothing(queue: dueq.Queue) -> None:
    assert queue.kick_many([]) == []


@pytest.mark.parametrize("verb", ["kick_many", "cancel_many", "ack_many"])
def test_one_text_where_several_are_wanted(queue: dueq.Queue, verb: str) -> None:
    """The messages a and b are not those of "ab"."""
    queue.push("x", id="a")
    queue.push("x", id="b")
    with pytest.raises(TypeError, match="a list is wanted"):
        getattr(queue, verb)("ab")
    assert states(queue) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("id", "cls"), [("", ValueError), ("a\nb", errors.InvalidError), (5, TypeError)]
)
def test_kick_no_id(queue: dueq.Queue, id: str, cls: type[Exception]) -> None:
    with pytest.raises(cls):
        queue.kick(id)


# reschedule


@pytest.mark.parametrize("delay", [60, 60.0, timedelta(minutes=1)], ids=repr)
def test_reschedule_delay(queue: dueq.Queue, delay: float | timedelta) -> None:
    id = queue.push("x", delay=600)
    assert queue.reschedule(id, delay) is True
    message, stats = queue.find(id), queue.stats()
    assert message is not None
    assert message.state is dueq.State.DELAYED
    assert message.time == stats.next_event
    assert seconds_between(stats.now, message.time) == pytest.approx(60, abs=5)


def test_reschedule_at(queue: dueq.Queue) -> None:
    id = queue.push("x", delay=60)
    moment = queue.stats().now + timedelta(seconds=600)
    for at in (moment, moment.timestamp()):
        assert queue.reschedule(id, at=at) is True
        message = queue.find(id)
        assert message is not None
        assert message.time == moment


@pytest.mark.parametrize("due", [{}, {"delay": 0}, {"at": datetime(2001, 1, 1, tzinfo=UTC)}])
def test_reschedule_now(queue: dueq.Queue, due: dict[str, object]) -> None:
    id = queue.push("x", delay=600)
    assert queue.reschedule(id, **due) is True  # type: ignore[arg-type]
    message = queue.reserve()
    assert message is not None
    assert (message.id, message.attempt) == (id, 1)


def test_reschedule_wakes_who_waits(queue: dueq.Queue, server: Server) -> None:
    id = queue.push("x", delay=600)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.reserve, timeout=30)
        server.wait_for_waiting(1)
        assert queue.reschedule(id, 0.05) is True
        message = waiting.result(timeout=10)
    assert message is not None
    assert message.id == id


def test_reschedule_in_other_states_is_false(queue: dueq.Queue) -> None:
    ids = fill(queue)
    for id in (ids["ready"], ids["leased"], ids["dead"], "unknown"):
        assert queue.reschedule(id, 60) is False
    assert states(queue) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delay": 1, "at": 1.0},
        {"delay": -1},
        {"delay": float("nan")},
        {"at": datetime(2030, 1, 1)},
        {"at": datetime(2200, 1, 1, tzinfo=UTC)},
    ],
    ids="+".join,
)
def test_reschedule_out_of_range(queue: dueq.Queue, wrong: dict[str, object]) -> None:
    id = queue.push("x", delay=60)
    before = queue.stats().next_event
    with pytest.raises(errors.InvalidError) as caught:
        queue.reschedule(id, **wrong)  # type: ignore[arg-type]
    assert str(caught.value)
    assert queue.stats().next_event == before


# pause and resume


def test_pause_hands_nothing_out(queue: dueq.Queue) -> None:
    ids = queue.push_many(["a", "b"])
    held = queue.reserve()
    assert held is not None
    queue.pause()
    queue.pause()
    assert queue.stats().paused is True
    assert queue.reserve() is None
    assert queue.reserve_many(10, timeout=0.05) == []
    held.retry(0)
    queue.push("c")
    assert queue.cancel(ids[1] or "") == "ready"
    assert queue.reserve() is None
    assert states(queue) == (2, 0, 0, 0)
    queue.resume()
    queue.resume()
    assert queue.stats().paused is False
    assert [message.body for message in queue.reserve_many(10)] == [b"a", b"c"]


def test_pause_of_one_queue_leaves_the_others(queue: dueq.Queue) -> None:
    with dueq.Queue("another", queue.url) as other:
        queue.pause()
        other.push("x")
        assert other.reserve() is not None


def test_pause_counts_in_every_process(queue: dueq.Queue) -> None:
    queue.push("x")
    with dueq.Queue(queue.name, queue.url) as same:
        queue.pause()
        assert same.reserve() is None
        same.resume()
    assert queue.reserve() is not None


def test_resume_wakes_who_waits(queue: dueq.Queue, server: Server) -> None:
    queue.pause()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.reserve, timeout=30)
        server.wait_for_waiting(1)
        queue.push("x")
        assert queue.stats().ready == 1
        assert not waiting.done()
        queue.resume()
        message = waiting.result(timeout=10)
    assert message is not None
    assert message.body == b"x"


def test_resume_wakes_all_who_wait(queue: dueq.Queue, server: Server) -> None:
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(queue.reserve, timeout=30) for _ in range(4)]
        server.wait_for_waiting(4)
        queue.pause()
        queue.push_many(["x"] * 4)
        queue.resume()
        assert all(wait.result(timeout=10) for wait in waiting)


def test_resume_of_what_fell_due_meanwhile(queue: dueq.Queue) -> None:
    queue.pause()
    queue.push("x", delay=0.05)
    assert queue.reserve(timeout=0.2) is None
    queue.resume()
    message = queue.reserve(timeout=10)
    assert message is not None
    assert message.body == b"x"


# purge


@pytest.mark.parametrize("state", ["ready", "delayed", "leased", "dead"])
def test_purge_takes_one_state_only(queue: dueq.Queue, state: StateName) -> None:
    ids = fill(queue)
    assert queue.purge(state) == 1
    assert {name for name, id in ids.items() if queue.find(id)} == ids.keys() - {state}
    assert queue.purge(dueq.State(state)) == 0
    stats = queue.stats()
    assert (stats.purged, stats.cancelled, stats.acked) == (1, 0, 0)
    assert getattr(stats, state) == 0
    assert sum(states(queue)) == 3


def test_purge_leased_is_learnt_by_who_holds_it(queue: dueq.Queue) -> None:
    queue.push("x", id="again")
    message = queue.reserve()
    assert message is not None
    assert queue.purge("leased") == 1
    with pytest.raises(dueq.LeaseLost):
        message.ack()
    assert queue.push("y", id="again") == "again"


def test_purge_tells_its_progress(queue: dueq.Queue) -> None:
    count = 2 * _core.MAX_BATCH + 7
    queue.push_many("x" for _ in range(count))
    told: list[int] = []
    assert queue.purge("ready", told.append) == count
    assert told == [200, 400, 407]
    assert queue.stats().purged == count


def test_purge_of_nothing(queue: dueq.Queue) -> None:
    assert queue.purge("dead") == 0


def test_purge_ends_where_progress_raises(queue: dueq.Queue) -> None:
    def stop(total: int) -> None:
        raise RuntimeError("enough")

    queue.push_many("x" for _ in range(_core.MAX_BATCH + 1))
    with pytest.raises(RuntimeError, match="enough") as caught:
        queue.purge("ready", stop)
    assert caught.value.__notes__ == ["200 messages were purged before"]
    assert queue.stats().ready == 1


def test_purge_lets_others_work_meanwhile(queue: dueq.Queue) -> None:
    """A push between two steps is answered before the second."""
    queue.push_many(dueq.Draft("x", delay=600) for _ in range(_core.MAX_BATCH + 1))
    taken: list[bytes | None] = []

    def work() -> bytes | None:
        queue.push("now")
        message = queue.reserve(timeout=10)
        return message.body if message else None

    with ThreadPoolExecutor(1) as pool:

        def step(_: int) -> None:
            taken.append(pool.submit(work).result())

        assert queue.purge("delayed", step) == _core.MAX_BATCH + 1
    assert taken == [b"now", b"now"]
    assert states(queue) == (0, 0, 2, 0)


@pytest.mark.parametrize("state", ["", "all", "READY", 1, None])
def test_purge_no_state(queue: dueq.Queue, state: object) -> None:
    queue.push("x")
    with pytest.raises(errors.InvalidError, match="ready, delayed, leased, dead, outbox"):
        queue.purge(state)  # type: ignore[arg-type]
    assert states(queue) == (1, 0, 0, 0)


# remove


def keys(server: Server, queue: dueq.Queue) -> set[bytes]:
    """Those of the queue, but for what the server remembers of calls."""
    found = server.command("KEYS", f"dueq:{{{queue.name}}}:*")
    assert isinstance(found, list)
    return {key for key in found if isinstance(key, bytes) and b":reply:" not in key}


def test_remove_takes_all(queue: dueq.Queue, server: Server) -> None:
    fill(queue)
    held = queue.reserve()
    assert held
    assert queue.remove() == 4
    assert keys(server, queue) == set()
    assert queue.name not in dueq.queues(queue.url)
    with pytest.raises(dueq.LeaseLost):
        held.ack()
    assert queue.remove() == 0
    assert keys(server, queue) == set()


def test_remove_of_many_ids_that_are_unique(queue: dueq.Queue, server: Server) -> None:
    queue.push_many(dueq.Draft("x", id=str(number), unique=600) for number in range(3000))
    assert queue.purge("ready") == 3000
    assert queue.remove() == 0
    assert keys(server, queue) == set()
    assert queue.push("again", id="7") == "7"


def test_remove_while_others_push(queue: dueq.Queue, server: Server) -> None:
    """What is pushed meanwhile is gone, or whole: it is delivered once."""
    stop = threading.Event()

    def push() -> int:
        number = 0
        with dueq.Queue(queue.name, queue.url) as own:
            while not stop.is_set():
                own.push("x")
                own.push("x", id=f"{number}", priority=1)
                own.push("x", delay=0.001)
                number += 3
        return number

    removed = 0
    with ThreadPoolExecutor(1) as pool:
        producer = pool.submit(push)
        for _ in range(200):
            removed += queue.remove()
        stop.set()
        pushed = producer.result()
    taken = 0
    while message := queue.reserve(timeout=0.2):
        message.ack()
        taken += 1
    assert removed + taken == pushed
    assert queue.remove() == 0
    assert keys(server, queue) == set()


def test_remove_wakes_nobody_and_leaves_who_waits(queue: dueq.Queue, server: Server) -> None:
    queue.push("later", delay=600)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.reserve, 20)
        server.wait_for_waiting(1)
        assert queue.remove() == 1
        queue.push("new", delay=0.1)
        message = waiting.result()
    assert message
    assert message.body == b"new"
