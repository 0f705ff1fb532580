"""Laravel's queues. What Laravel itself makes of them, tests/interop tries."""

import json
import logging
import math
import pickle
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import dueq
import dueq.laravel
from dueq import errors
from dueq.interop import Moved
from forked import in_child
from moments import seconds_between
from private_server import Server

JOB = "App\\Jobs\\Cancel@handle"


@pytest.fixture
def jobs(server: Server) -> Iterator[dueq.laravel.Queue]:
    server.command("FLUSHALL")
    with dueq.laravel.Queue(url=server.url) as queue:
        yield queue


def listed(server: Server, key: str = "queues:default") -> list[dict[str, Any]]:
    payloads = server.command("LRANGE", key, 0, -1)
    assert isinstance(payloads, list)
    return [json.loads(payload) for payload in payloads if isinstance(payload, bytes)]


def popped(jobs: dueq.laravel.Queue) -> dueq.laravel.Job:
    job = jobs.pop(timeout=10)
    assert job is not None
    return job


def test_laravel_payload_has_what_workers_read(jobs: dueq.laravel.Queue, server: Server) -> None:
    until = datetime(2040, 1, 1, tzinfo=UTC)
    uuid = jobs.push(
        JOB,
        {"order": 17, "price": 1.0, "list": [], "map": {}, "text": "naïve/🚀"},
        display_name="Cancel order 17",
        max_tries=3,
        max_exceptions=2,
        timeout=timedelta(minutes=1),
        backoff=[10, timedelta(minutes=1), 0.5],
        retry_until=until,
        fail_on_timeout=True,
    )
    [payload] = listed(server)
    assert payload.pop("id")
    assert payload.pop("createdAt") > 1_700_000_000
    assert payload == {
        "uuid": uuid,
        "displayName": "Cancel order 17",
        "job": JOB,
        "maxTries": 3,
        "maxExceptions": 2,
        "failOnTimeout": True,
        "backoff": "10,60,1",
        "timeout": 60,
        "retryUntil": until.timestamp(),
        "data": {"order": 17, "price": 1.0, "list": [], "map": {}, "text": "naïve/🚀"},
        "attempts": 0,
    }
    assert server.command("LLEN", "queues:default:notify") == 1


def test_laravel_job_has_what_was_pushed(jobs: dueq.laravel.Queue) -> None:
    uuid = jobs.push(JOB, [1.0, {}], max_tries=3, timeout=60, backoff=10, retry_until=2e9)
    before = jobs.size().now
    job = popped(jobs)
    assert (job.uuid, job.name, job.display_name) == (uuid, JOB, "App\\Jobs\\Cancel")
    assert (job.data, job.attempts, job.max_tries, job.timeout) == ([1.0, {}], 1, 3, 60)
    assert (job.backoff, job.retry_until) == ([10], datetime(2033, 5, 18, 3, 33, 20, tzinfo=UTC))
    assert 90 <= seconds_between(before, job.until) < 100
    assert job.payload.endswith(b'"attempts":0}')
    assert job.reserved == job.payload[:-2] + b"1}"
    assert b'"data":[1.0,{}]' in job.reserved
    assert job.id
    assert JOB in repr(job)
    jobs.push("Plain")
    job = popped(jobs)
    assert (job.name, job.data, job.max_tries, job.timeout) == ("Plain", "", None, None)
    assert (job.backoff, job.retry_until, job.display_name) == ([], None, "Plain")


def test_laravel_delete_and_release(jobs: dueq.laravel.Queue) -> None:
    jobs.push(JOB)
    first = popped(jobs)
    assert jobs.size().reserved == 1
    first.release()
    second = popped(jobs)
    assert (second.uuid, second.attempts) == (first.uuid, 2)
    for stale in (first.delete, first.release, lambda: first.release(60)):
        with pytest.raises(dueq.LeaseLost, match=str(first.uuid)):
            stale()
    before = jobs.size().now
    second.release(delay=timedelta(seconds=30))
    sizes = jobs.size()
    assert (sizes.ready, sizes.delayed, sizes.reserved) == (0, 1, 0)
    assert seconds_between(before, sizes.next) >= 30
    assert seconds_between(sizes.now, sizes.next) <= 31.001
    with pytest.raises(errors.InvalidError):
        second.release(math.nan)


def test_laravel_attempts_leave_the_payload_as_it_is(jobs: dueq.laravel.Queue) -> None:
    payload = (
        b'{"job":"X","b":1234567890123456789,"a":[1.0,{},[],"\\/\\u00e9"],"attempts": 0 ,"data":0}'
    )
    assert jobs.push_raw(payload) == ""
    for attempt in (1, 2, 3):
        job = popped(jobs)
        assert job.attempts == attempt
        assert job.payload == payload.replace(b": 0 ", b": %d " % (attempt - 1))
        assert job.reserved == payload.replace(b": 0 ", b": %d " % attempt)
        job.release()


def test_laravel_later_and_delays(jobs: dueq.laravel.Queue) -> None:
    now = jobs.size().now
    soon = jobs.later(0.2, "Soon", {"a": 1})
    jobs.later(timedelta(hours=1), "Hour", max_tries=1)
    jobs.later(now + timedelta(hours=2), "Hours")
    jobs.push("Hours", at=now.timestamp() + 7200)
    assert jobs.pop() is None
    sizes = jobs.size()
    assert (sizes.ready, sizes.delayed) == (0, 4)
    job = popped(jobs)
    assert (job.uuid, job.data) == (soon, {"a": 1})
    assert seconds_between(now, jobs.size().now) >= 0.2
    with pytest.raises(TypeError):
        jobs.later(1, "X", delay=1)  # type: ignore[misc]
    with pytest.raises(errors.InvalidError):
        jobs.push("X", delay=1, at=1)


@pytest.mark.parametrize("delay", [-5, -0.5, timedelta(seconds=-5)])
def test_laravel_later_and_release_of_what_is_past_is_now(
    jobs: dueq.laravel.Queue, delay: float | timedelta
) -> None:
    jobs.later(delay, "X")
    popped(jobs).release(delay)
    assert popped(jobs).attempts == 2
    with pytest.raises(errors.InvalidError):
        jobs.later(math.nan, "X")
    with pytest.raises(errors.InvalidError):
        jobs.push("X", delay=-5)


def test_laravel_push_raw(jobs: dueq.laravel.Queue, server: Server) -> None:
    payload = '{"uuid":"u-1","id":"i","job":"X","data":null,"attempts":0}'
    assert jobs.push_raw(payload) == "u-1"
    assert jobs.push_raw(bytearray(payload, "utf-8"), delay=60) == "u-1"
    with pytest.raises(dueq.Duplicate, match="u-1"):
        jobs.push_raw(payload, at=datetime(2040, 1, 1, tzinfo=UTC))
    assert server.command("LINDEX", "queues:default", 0) == payload.encode()
    for wrong in ("", "{}", "[1]", '{"job":"X"}', '{"job":"X","attempts":"x"}', b"\xff", "{"):
        with pytest.raises(errors.InvalidError) as caught:
            jobs.push_raw(wrong)
        assert str(caught.value)


def test_laravel_push_object(jobs: dueq.laravel.Queue, server: Server) -> None:
    command = 'O:11:"App\\Jobs\\X":1:{s:1:"a";i:5;}'
    jobs.push_object("App\\Jobs\\X", command, max_tries=2)
    [payload] = listed(server)
    assert payload["job"] == "Illuminate\\Queue\\CallQueuedHandler@call"
    assert payload["data"] == {"commandName": "App\\Jobs\\X", "command": command}
    assert payload["maxTries"] == 2


def test_laravel_push_many(jobs: dueq.laravel.Queue, server: Server) -> None:
    raw = '{"uuid":"u-1","job":"X","attempts":0}'
    drafts: list[str | dueq.laravel.JobDraft] = [
        "A",
        dueq.laravel.JobDraft("B@b", {"n": 1}, delay=60),
    ]
    drafts += [dueq.laravel.JobDraft(payload=raw, delay=60)] * 2
    first, second, third, fourth = jobs.push_many(drafts)
    assert (bool(first), bool(second), third, fourth) == (True, True, "u-1", None)
    assert jobs.size().delayed == 2
    assert len(jobs.push_many(f"Job{n}" for n in range(450))) == 450
    assert [payload["job"] for payload in listed(server)][:2] == ["A", "Job0"]
    with pytest.raises(errors.InvalidError) as caught:
        jobs.push_many(["X"] * 400 + [""])
    assert caught.value.__notes__ == ["400 jobs were pushed before the batch that failed"]
    for one in ("X", dueq.laravel.JobDraft("X")):
        with pytest.raises(TypeError, match="a list of"):
            jobs.push_many(one)  # type: ignore[arg-type]
    assert jobs.push_many([]) == []


@pytest.mark.parametrize(
    "option",
    [
        {"data": math.nan},
        {"max_tries": 0},
        {"max_tries": -1},
        {"max_exceptions": 2**32},
        {"timeout": 0},
        {"timeout": -1},
        {"backoff": []},
        {"backoff": [1, -1]},
        {"backoff": 10**10},
        {"retry_until": datetime(2040, 1, 1)},
        {"retry_until": 0},
        {"delay": math.inf},
        {"display_name": "a\nb"},
    ],
    ids=str,
)
def test_laravel_refuses_options(jobs: dueq.laravel.Queue, option: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        jobs.push(JOB, **option)
    assert str(caught.value)
    assert jobs.size().ready == 0


def test_laravel_refuses_objects(jobs: dueq.laravel.Queue) -> None:
    with pytest.raises(TypeError):
        jobs.push(JOB, object())
    with pytest.raises(errors.InvalidError):
        jobs.push("")
    with pytest.raises(errors.InvalidError):
        jobs.push_many([dueq.laravel.JobDraft(JOB, payload="{}")])


def test_laravel_pop_waits(jobs: dueq.laravel.Queue, server: Server) -> None:
    assert jobs.pop() is None
    assert jobs.pop(timeout=0.05) is None
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(jobs.pop, timeout=None)
        server.wait_for_waiting(1)
        uuid = jobs.push(JOB)
        assert waiting.result(timeout=10).uuid == uuid
    for wrong in (0, 201):
        with pytest.raises(errors.InvalidError):
            jobs.pop_many(wrong)
    for wrong in (0, -1):
        with pytest.raises(errors.InvalidError):
            jobs.pop(retry_after=wrong)


def test_laravel_retry_after(jobs: dueq.laravel.Queue, server: Server) -> None:
    jobs.push(JOB)
    with dueq.laravel.Queue(url=server.url, retry_after=timedelta(minutes=10)) as slow:
        first = slow.pop()
        assert first is not None
        assert seconds_between(jobs.size().now, first.until) > 500
        first.release()
    first = jobs.pop(retry_after=0.1)
    assert first is not None
    second = popped(jobs)
    assert (second.uuid, second.attempts) == (first.uuid, 3)
    with pytest.raises(dueq.LeaseLost):
        first.delete()
    second.delete()
    with pytest.raises(errors.InvalidError):
        dueq.laravel.Queue(url=server.url, retry_after=0)


def test_laravel_delete_many(jobs: dueq.laravel.Queue) -> None:
    jobs.push_many(["X"] * 450)
    taken = [job for _ in range(3) for job in jobs.pop_many(200)]
    assert len(taken) == 450
    taken[7].release()
    done = jobs.delete_many([*taken[:10], *[job.reserved for job in taken[10:]]])
    assert done == [n != 7 for n in range(450)]
    assert jobs.size().ready == 1
    assert jobs.delete_many([]) == []


def test_laravel_damaged_payload_is_set_aside(
    jobs: dueq.laravel.Queue, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "dueq")
    jobs.push(JOB)
    server.command("LPUSH", "queues:default", "not JSON", '{"job":"X"}')
    job = popped(jobs)
    assert job.name == JOB
    assert "default: 2 damaged entries were quarantined" in caplog.text
    assert jobs.size().quarantined == 2


def test_laravel_job_of_any_payload(jobs: dueq.laravel.Queue, server: Server) -> None:
    """What other producers write, without most members."""
    server.command("RPUSH", "queues:default", '{"attempts":4,"data":{"a":[1]},"delay":5}')
    job = popped(jobs)
    assert (job.id, job.uuid, job.name, job.display_name) == (None, None, "", None)
    assert (job.attempts, job.data, job.backoff) == (5, {"a": [1]}, [5])
    job.delete()


def test_laravel_clear_and_size(jobs: dueq.laravel.Queue) -> None:
    jobs.push_many(["X"] * 3)
    jobs.later(60, "Y")
    assert jobs.pop() is not None
    sizes = jobs.size()
    assert (sizes.ready, sizes.delayed, sizes.reserved, sizes.quarantined) == (2, 1, 1, 0)
    assert jobs.clear() == 4
    assert jobs.clear() == 0


def test_laravel_migrate(jobs: dueq.laravel.Queue, server: Server) -> None:
    assert jobs.migrate() == Moved(0, 0, None)
    jobs.later(0.01, "A")
    jobs.later(3600, "B")
    assert jobs.migrate(timeout=10).moved == 1
    assert server.command("LLEN", "queues:default:notify") == 1
    assert jobs.migrate(timeout=0.05).moved == 0
    with pytest.raises(errors.InvalidError):
        jobs.migrate(most=0)


def test_laravel_agent_wakes_workers(jobs: dueq.laravel.Queue, server: Server) -> None:
    jobs.later(1, "A")
    with jobs.migrating(), server.connect() as worker:
        worker.settimeout(20)
        worker.sendall(b"BLPOP queues:default:notify 0\r\n")
        assert worker.recv(100).startswith(b"*2")
    assert [payload["job"] for payload in listed(server)] == ["A"]


def test_laravel_agent_stops(jobs: dueq.laravel.Queue) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        agent = pool.submit(jobs.run_migrate, stop.is_set)
        jobs.later(0.1, "A")
        deadline = time.monotonic() + 20
        while not jobs.size().ready:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        stop.set()
        agent.result(timeout=10)


def test_laravel_prefix_and_names(server: Server) -> None:
    server.command("FLUSHALL")
    with dueq.laravel.Queue("{mail}", server.url, prefix="shop_database_") as jobs:
        jobs.push(JOB)
        assert len(listed(server, "shop_database_queues:{mail}")) == 1
        assert (jobs.name, jobs.prefix, repr(jobs)) == (
            "{mail}",
            "shop_database_",
            "<laravel.Queue {mail}>",
        )
    for name, prefix in (("", ""), ("a\nb", ""), ("a", "b\n"), ("x" * 200, "y" * 56)):
        with pytest.raises(errors.QueueNameError):
            dueq.laravel.Queue(name, server.url, prefix)


def test_laravel_close_and_pickle(server: Server) -> None:
    jobs = dueq.laravel.Queue("mail", server.url, prefix="p_", retry_after=60)
    with pickle.loads(pickle.dumps(jobs)) as copy:
        assert (copy.name, copy.prefix, copy.retry_after) == ("mail", "p_", 60)
        assert copy.url == jobs.url
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(jobs.pop, timeout=30)
        server.wait_for_waiting(1)
        jobs.close()
        with pytest.raises(errors.InvalidError, match="closed"):
            waiting.result(timeout=10)
    with pytest.raises(errors.InvalidError, match="closed"):
        jobs.push(JOB)


def test_laravel_threads_share_a_queue(jobs: dueq.laravel.Queue) -> None:
    def work() -> list[int]:
        numbers = []
        while job := jobs.pop(timeout=0.5):
            numbers.append(job.data)
            job.delete()
        return numbers

    drafts = [dueq.laravel.JobDraft(JOB, n) for n in range(600)]
    with ThreadPoolExecutor(8) as pool:
        works = [pool.submit(work) for _ in range(3)]
        pushes = [pool.submit(jobs.push_many, drafts[n::3]) for n in range(3)]
        for push in pushes:
            push.result()
        done = Counter(number for task in works for number in task.result())
    assert done == Counter(range(600))


def test_laravel_fork_with_a_job(jobs: dueq.laravel.Queue) -> None:
    jobs.push(JOB)
    job = popped(jobs)
    in_child(job.delete)
    with pytest.raises(dueq.LeaseLost):
        job.delete()


def test_laravel_wrong_type(jobs: dueq.laravel.Queue, server: Server) -> None:
    server.command("SET", "queues:default", "something else")
    for call in (lambda: jobs.push(JOB), jobs.pop, jobs.size, jobs.migrate):
        with pytest.raises(errors.WrongTypeError):
            call()
