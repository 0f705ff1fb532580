"""dueq and Laravel on one queue, each doing a part."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import golden
import pytest
from peers import Peer
from test_laravel_facts import DELAYED, NOTIFY, QUEUE, RESERVED, coded, keyed, uncoded, work
from wire import Wire, until

import dueq
import dueq.laravel

Another = Callable[..., Peer]
Open = Callable[..., dueq.laravel.Queue]


@pytest.fixture
def ours(wire: Wire) -> Iterator[Open]:
    """Opens dueq's side of the queue "default"."""
    made: list[dueq.laravel.Queue] = []

    def start(**settings: Any) -> dueq.laravel.Queue:
        made.append(dueq.laravel.Queue("default", wire.url, **settings))
        return made[-1]

    yield start
    for queue in made:
        queue.close()


def taken(queue: dueq.laravel.Queue, timeout: float = 10) -> dueq.laravel.Job:
    job = queue.pop(timeout=timeout)
    assert job is not None
    return job


def test_dueq_pops_what_laravel_pushes(laravel: Peer, ours: Open, wire: Wire) -> None:
    queue = ours()
    identity = laravel.ask("push", job="Handler@again", data={"order": 17, "url": "a/b"})
    [payload] = wire.items(QUEUE)
    job = taken(queue)
    assert (job.id, job.name, job.attempts) == (identity, "Handler@again", 1)
    assert job.data == {"order": 17, "url": "a/b"}
    assert job.payload == payload
    [(reserved, score)] = wire.scores(RESERVED)
    assert reserved == payload.replace(b'"attempts":0', b'"attempts":1')
    assert score.isdigit()
    assert 89 <= int(score) - wire.now_ms() / 1000 <= 91
    assert wire.theirs() == {RESERVED}
    job.delete()
    assert wire.theirs() == set()


def test_dueq_pops_what_laravel_delays(laravel: Peer, ours: Open, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={"order": 17}, delay=1)
    due = int(wire.scores(DELAYED)[0][1])
    queue = ours()
    job = taken(queue)
    assert due <= wire.now_ms() / 1000 < due + 3
    job.delete()
    assert wire.theirs() == set()


def test_dueq_pops_job_objects_as_they_are(laravel: Peer, ours: Open) -> None:
    policy = {"tries": 3, "timeout": 20, "backoff": [10, 60]}
    laravel.ask("push", data={"order": 17}, **policy)
    job = taken(ours())
    assert job.data["commandName"] == "ShipOrder"
    assert job.data["command"].startswith('O:9:"ShipOrder"')
    assert (job.max_tries, job.timeout) == (3, 20)


@pytest.mark.parametrize("client", ["phpredis", "predis"])
@pytest.mark.parametrize("prefix", ["", "shop_database_"])
def test_both_ways_with_each_client_and_prefix(
    another: Another, ours: Open, wire: Wire, client: str, prefix: str
) -> None:
    queue = ours(prefix=prefix)
    peer = another(client=client, prefix=prefix)
    peer.ask("push", job="Handler", data={"from": "laravel"})
    job = taken(queue)
    assert job.data == {"from": "laravel"}
    job.release()
    again = peer.ask("pop")
    assert again["attempts"] == 2
    peer.ask("delete", handle=again["handle"])
    queue.push("Handler", {"from": "dueq"})
    popped = peer.ask("pop")
    assert json.loads(uncoded(popped["payload"]))["data"] == {"from": "dueq"}
    peer.ask("release", handle=popped["handle"], delay=0)
    job = taken(queue)
    assert job.attempts == 2
    job.delete()
    assert wire.theirs() == set()


def test_push_is_as_laravels(laravel: Peer, ours: Open, wire: Wire) -> None:
    """The same keys, note, and order of fields; what differs is in the two's own ids and clock."""
    laravel.ask("push", job="Handler", data={"order": 17})
    stock = {key: wire.items(key) for key in wire.theirs()}
    laravel.ask("clear")
    ours().push("Handler", {"order": 17})
    own = {key: wire.items(key) for key in wire.theirs()}
    assert own.keys() == stock.keys()
    assert own[NOTIFY] == stock[NOTIFY]
    theirs, mine = (json.loads(side[QUEUE][0]) for side in (stock, own))
    for name in ("uuid", "id"):
        assert len(mine.pop(name)) == len(theirs.pop(name))
    for name in ("createdAt", "delay"):
        theirs.pop(name, None)
        mine.pop(name, None)
    assert list(mine.items()) == list(theirs.items())


def test_worker_runs_what_dueq_pushes(laravel: Peer, ours: Open, wire: Wire) -> None:
    queue = ours()
    queue.push("Handler", {"order": 1})
    queue.push("Handler@again", {"order": 2})
    queue.push("Handler", {"order": 3}, delay=1)
    until(lambda: wire.now_ms() > 1000 * float(wire.scores(DELAYED)[0][1]), "it is due")
    lines = work(laravel)
    assert sorted(data["order"] for data in keyed(lines, "data")) == [1, 2, 3]
    assert wire.theirs() == set()


def test_worker_runs_an_object_that_dueq_pushes(laravel: Peer, ours: Open, wire: Wire) -> None:
    laravel.ask("push", data={"order": 17})
    [payload] = wire.items(QUEUE)
    laravel.ask("clear")
    data = json.loads(payload)["data"]
    ours().push_object(data["commandName"], data["command"], max_tries=2)
    assert keyed(work(laravel), "data") == [{"order": 17}]
    assert wire.theirs() == set()


def test_worker_tries_what_dueq_pushed_again_and_fails_it(
    laravel: Peer, ours: Open, wire: Wire
) -> None:
    """The payload's max_tries and backoff win over the worker's."""
    ours().push("Handler", {"do": "throw"}, max_tries=2, backoff=[1])
    laravel.send("work", tries=9, sleep=0)
    assert laravel.line() == {"working": True}
    first = laravel.line()
    assert "threw" in laravel.line()
    second = laravel.line()
    assert second["ran"] == first["ran"]
    # Laravel's seconds are whole ones.
    assert int(second["at"]) > int(first["at"])
    assert (first["attempts"], second["attempts"]) == (1, 2)
    ends = [laravel.line(), laravel.line()]
    assert keyed(ends, "failed") == [first["ran"]]
    until(lambda: wire.theirs() == set(), "no key is left")


def test_worker_that_is_killed_by_its_timeout_leaves_the_job_to_dueq(
    another: Another, ours: Open, wire: Wire
) -> None:
    ours().push("Handler", {"do": "sleep", "seconds": 60}, timeout=1, max_tries=5)
    worker = another(retry_after=2)
    worker.send("work", sleep=0)
    assert worker.line() == {"working": True}
    assert worker.line()["attempts"] == 1
    with pytest.raises(EOFError):
        worker.line()
    job = taken(ours())
    assert job.attempts == 2
    job.delete()
    assert wire.theirs() == set()


def test_blocked_worker_wakes_at_dueqs_push(another: Another, ours: Open, wire: Wire) -> None:
    queue = ours()
    queue.size()
    worker = another(block_for=20)
    worker.send("work", max_jobs=1)
    assert worker.line() == {"working": True}
    until(lambda: wire.waiting() == 1, "it waits")
    pushed = time.time()
    queue.push("Handler", {})
    assert worker.line()["at"] - pushed < 10


def test_blocked_worker_wakes_on_time_by_dueqs_migration(
    another: Another, laravel: Peer, ours: Open, wire: Wire
) -> None:
    """Alone it would sleep for its 20 seconds."""
    worker = another(block_for=20)
    worker.send("work", max_jobs=1)
    assert worker.line() == {"working": True}
    until(lambda: wire.waiting() == 1, "it waits")
    with ours().migrating():
        laravel.ask("push", job="Handler", data={}, delay=2)
        due = int(wire.scores(DELAYED)[0][1])
        assert due <= worker.line()["at"] < due + 3


def test_payload_survives_attempts_of_dueq(laravel: Peer, ours: Open) -> None:
    queue = ours()
    laravel.ask("raw", payload=coded(golden.RAW.encode()))
    for attempt in (1, 2, 3):
        job = taken(queue)
        before = golden.RAW.replace('"attempts":0', f'"attempts":{attempt - 1}').encode()
        assert (job.attempts, job.payload) == (attempt, before)
        job.release()
    job = laravel.ask("pop")
    assert uncoded(job["payload"]) == golden.RAW.replace('"attempts":0', '"attempts":3').encode()
    assert job["attempts"] == 4


def test_stale_delete_and_release_change_nothing(laravel: Peer, ours: Open, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={})
    queue = ours(retry_after=1)
    stale = taken(queue)
    until(lambda: wire.now_ms() / 1000 > float(wire.scores(RESERVED)[0][1]), "it has expired")
    current = laravel.ask("pop")
    assert current["attempts"] == 2
    before = wire.scores(RESERVED)
    with pytest.raises(dueq.LeaseLost):
        stale.delete()
    with pytest.raises(dueq.LeaseLost):
        stale.release()
    assert wire.scores(RESERVED) == before
    assert wire.theirs() == {RESERVED}
    laravel.ask("delete", handle=current["handle"])
    assert wire.theirs() == set()


@pytest.mark.parametrize(
    "payload",
    [
        b"no JSON",
        b'{"job":"Handler","data":[],"id":"x"}',
        b'{"job":"Handler","attempts":0,"data":' + b"[" * 1001 + b"]" * 1001 + b"}",
    ],
)
def test_payload_that_a_worker_would_lose_is_refused_and_set_aside(
    laravel: Peer, ours: Open, wire: Wire, payload: bytes
) -> None:
    queue = ours()
    with pytest.raises(dueq.Error):
        queue.push_raw(payload)
    assert wire.theirs() == set()
    laravel.ask("raw", payload=coded(payload))
    laravel.ask("push", job="Handler", data={"order": "next"})
    assert taken(queue).data == {"order": "next"}
    assert queue.size().quarantined == 1
    assert wire.items("dueq:{queues:default}:quarantine") == [payload]


def test_size_and_clear_agree(laravel: Peer, ours: Open, wire: Wire) -> None:
    queue = ours()
    for delay in (0, 0, 100):
        queue.push("Handler", {}, delay=delay)
    taken(queue)
    size = queue.size()
    assert (size.ready, size.delayed, size.reserved) == (1, 1, 1)
    assert laravel.ask("size") == 3
    assert queue.clear() == 3
    assert laravel.ask("size") == 0
    assert wire.theirs() == set()
