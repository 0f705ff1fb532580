"""What Laravel's queue does by itself: the facts on which dueq's side rests."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable
from typing import Any

import golden
import pytest
from peers import Peer, PeerError
from wire import Wire, until

QUEUE, DELAYED, RESERVED, NOTIFY = (
    f"queues:default{part}" for part in ("", ":delayed", ":reserved", ":notify")
)
Another = Callable[..., Peer]


def coded(payload: bytes) -> str:
    return base64.b64encode(payload).decode()


def uncoded(text: str) -> bytes:
    return base64.b64decode(text)


def work(peer: Peer, **options: Any) -> list[dict[str, Any]]:
    """Lets the worker run until it finds nothing, and gives what it said."""
    peer.send("work", stop_when_empty=True, sleep=0, **options)
    return [line for line in peer.said() if "working" not in line]


def keyed(lines: list[dict[str, Any]], key: str) -> list[Any]:
    return [line[key] for line in lines if key in line]


def test_push_writes_the_list_and_a_note(laravel: Peer, wire: Wire) -> None:
    identity = laravel.ask("push", job="Handler", data={"order": 17})
    assert wire.keys() == {QUEUE.encode(), NOTIFY.encode()}
    assert wire.items(NOTIFY) == [b"1"]
    [payload] = wire.items(QUEUE)
    assert json.loads(payload)["id"] == identity
    assert len(identity) == 32


def test_later_writes_whole_seconds_and_no_note(laravel: Peer, wire: Wire) -> None:
    begin = int(time.time())
    laravel.ask("push", job="Handler", data={}, delay=100)
    end = int(time.time())
    assert wire.keys() == {DELAYED.encode()}
    [(_, score)] = wire.scores(DELAYED)
    assert begin + 100 <= int(score) <= end + 100


def test_pop_reserves_and_delete_leaves_no_key(laravel: Peer, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={"order": 17})
    [payload] = wire.items(QUEUE)
    begin = int(time.time())
    job = laravel.ask("pop")
    end = int(time.time())
    assert uncoded(job["payload"]) == payload
    assert wire.keys() == {RESERVED.encode()}
    [(reserved, score)] = wire.scores(RESERVED)
    assert uncoded(job["reserved"]) == reserved
    assert json.loads(reserved) == {**json.loads(payload), "attempts": 1}
    assert begin + 90 <= int(score) <= end + 90
    laravel.ask("delete", handle=job["handle"])
    assert wire.keys() == set()


def test_release_keeps_the_reserved_bytes(laravel: Peer, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={})
    job = laravel.ask("pop")
    laravel.ask("release", handle=job["handle"], delay=50)
    [(delayed, score)] = wire.scores(DELAYED)
    assert delayed == uncoded(job["reserved"])
    assert int(score) == pytest.approx(time.time() + 50, abs=2)
    assert wire.keys() == {DELAYED.encode()}


def test_size_counts_all_and_clear_takes_all(laravel: Peer, wire: Wire) -> None:
    for delay in (None, None, 100):
        laravel.ask("push", job="Handler", data={}, delay=delay)
    laravel.ask("pop")
    assert laravel.ask("size") == 3
    assert laravel.ask("clear") == 3
    assert wire.keys() == set()


@pytest.mark.parametrize("client", ["phpredis", "predis"])
@pytest.mark.parametrize("prefix", ["", "shop_database_"])
def test_clients_and_prefixes_name_the_same_keys(
    another: Another, wire: Wire, client: str, prefix: str
) -> None:
    peer = another(client=client, prefix=prefix)
    peer.ask("push", job="Handler", data={"order": 17})
    assert wire.keys() == {f"{prefix}{QUEUE}".encode(), f"{prefix}{NOTIFY}".encode()}
    job = peer.ask("pop")
    assert wire.scores(f"{prefix}{RESERVED}")[0][0] == uncoded(job["reserved"])
    peer.ask("delete", handle=job["handle"])
    assert wire.keys() == set()


def test_worker_runs_string_and_object_jobs(laravel: Peer, wire: Wire) -> None:
    laravel.ask("push", job="Handler", data={"order": 1})
    laravel.ask("push", job="Handler@again", data={"order": 2})
    laravel.ask("push", data={"order": 3})
    lines = work(laravel)
    assert keyed(lines, "data") == [{"order": 1}, {"order": 2}, {"order": 3}]
    assert wire.keys() == set()


def test_worker_tries_again_and_then_fails_the_job(laravel: Peer, wire: Wire) -> None:
    identity = laravel.ask("push", job="Handler", data={"do": "throw"})
    lines = work(laravel, tries=3)
    assert keyed(lines, "attempts") == [1, 2, 3]
    assert keyed(lines, "failed") == [identity]
    assert wire.keys() == set()


def test_expired_job_runs_again_and_the_stale_release_doubles_it(
    laravel: Peer, another: Another, wire: Wire
) -> None:
    slow = another(retry_after=1)
    laravel.ask("push", job="Handler", data={})
    first = slow.ask("pop")
    until(lambda: wire.now_ms() / 1000 > float(wire.scores(RESERVED)[0][1]) + 1, "it has expired")
    second = slow.ask("pop")
    assert second["id"] == first["id"]
    slow.ask("delete", handle=first["handle"])
    assert wire.number("ZCARD", RESERVED) == 1
    slow.ask("release", handle=first["handle"], delay=0)
    assert laravel.ask("size") == 2


@pytest.mark.parametrize("client", ["phpredis", "predis"])
@pytest.mark.parametrize("payload", [b"no JSON", b'{"job":"Handler","data":[],"id":"x"}'])
def test_payload_without_attempts_or_json_is_lost(
    another: Another, wire: Wire, payload: bytes, client: str
) -> None:
    """With predis the worker at least says so; with phpredis it is as if the queue were empty."""
    peer = another(client=client)
    peer.ask("raw", payload=coded(payload))
    if client == "predis":
        with pytest.raises(PeerError, match="ERR"):
            peer.ask("pop")
    else:
        assert peer.ask("pop") is None
    assert wire.keys() == {NOTIFY.encode()}


def test_pop_damages_the_payload(laravel: Peer, wire: Wire) -> None:
    laravel.ask("raw", payload=coded(golden.RAW.encode()))
    reserved = uncoded(laravel.ask("pop")["reserved"]).decode()
    for damage in ('"id":1.2345678901235e+18', '"one":1,', '"list":{}', '"url":"a\\/b"'):
        assert damage in reserved + ","


def test_note_wakes_a_blocked_worker_at_once(another: Another, laravel: Peer, wire: Wire) -> None:
    blocked = another(block_for=20)
    blocked.send("work", max_jobs=1)
    assert blocked.line() == {"working": True}
    until(lambda: wire.waiting() == 1, "it waits")
    pushed = time.time()
    laravel.ask("push", job="Handler", data={})
    assert blocked.line()["at"] - pushed < 10


def masked(case: dict[str, Any]) -> dict[str, Any]:
    """
    The case without what differs in each run: ids, uuids and times; and in the copies that the
    server's Lua made without the order of keys, which is that server's own.
    """
    text = json.dumps(case)
    text = re.sub(r'\\"(id|uuid)\\":\\"[^"]*\\"', r'\\"\1\\":\\"*\\"', text)
    masked: dict[str, Any] = json.loads(re.sub(r'\\"createdAt\\":\d+', r'\\"createdAt\\":0', text))
    for copy in ("reserved", "reserved_again"):
        if copy in masked:
            masked[copy] = json.loads(masked[copy])
    return masked


def test_payloads_are_what_the_golden_file_has(laravel: Peer, wire: Wire) -> None:
    text = (golden.GOLDEN / "laravel_payloads.json").read_text(encoding="ascii")
    found = [masked(case) for case in golden.laravel_cases(laravel, wire)]
    version = found[0]["laravel"]
    cases = [case for case in json.loads(text)["cases"] if case["laravel"] == version]
    assert cases, f"the golden file has nothing of {version}"
    assert found == [masked(case) for case in cases]
