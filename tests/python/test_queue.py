import pickle
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

import dueq
from dueq import errors
from private_server import Server


def test_cancel_in_every_state(queue: dueq.Queue) -> None:
    delayed = queue.push("", delay=60)
    leased = queue.push("")
    message = queue.reserve()
    dead = queue.push("")
    doomed = queue.reserve()
    assert message is not None
    assert doomed is not None
    doomed.bury()
    ready = queue.push("")
    ids = [delayed, leased, dead, ready]
    found = [queue.find(id) for id in ids]
    assert [item and item.state for item in found] == ["delayed", "leased", "dead", "ready"]
    assert queue.cancel_many([*ids, "unknown"]) == [
        *["delayed", "leased", "dead", "ready"],
        None,
    ]
    assert queue.cancel(ready) is None
    stats = queue.stats()
    assert (stats.ready, stats.delayed, stats.leased, stats.dead) == (0, 0, 0, 0)
    assert stats.cancelled == 4
    with pytest.raises(dueq.LeaseLost):
        message.ack()
    assert queue.reserve() is None


def test_cancel_many_beyond_a_batch(queue: dueq.Queue) -> None:
    ids = [id for id in queue.push_many("x" for _ in range(300)) if id]
    assert queue.cancel_many(iter(ids)) == [dueq.State.READY] * 300


def test_find_unknown(queue: dueq.Queue) -> None:
    assert queue.find("unknown") is None


def test_find_lets_acknowledge(queue: dueq.Queue) -> None:
    id = queue.push("")
    assert queue.reserve() is not None
    found = queue.find(id)
    assert found is not None
    found.ack()
    assert queue.find(id) is None


def test_stats_of_an_unknown_queue(server: Server) -> None:
    with dueq.Queue("never used", server.url) as queue:
        stats = queue.stats()
    assert stats.now > datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    numbers = asdict(stats) | {"now": 0, "next_event": 0, "oldest": 0}
    assert set(numbers.values()) == {0, ""}
    assert (stats.next_event, stats.oldest, stats.paused) == (None, None, False)
    assert server.command("KEYS", "*never used*") == []


@pytest.mark.parametrize("name", ["q", "two words", "naïve:ключ:🚀", "x" * 255])
def test_queue_name(server: Server, name: str) -> None:
    with dueq.Queue(name, server.url) as queue:
        queue.push("x")
        assert queue.reserve() is not None
        assert queue.name == name


@pytest.mark.parametrize("name", ["", "a{b", "}", "a\0b", "x" * 256, "ß" * 128, "x" * 1000])
def test_queue_name_not_valid(server: Server, name: str) -> None:
    with pytest.raises(errors.QueueNameError):
        dueq.Queue(name, server.url)


@pytest.mark.parametrize("url", ["", "http://x", "redis://h:port", "redis://h/x", "unix://s\0t"])
def test_queue_url_not_valid(url: str) -> None:
    with pytest.raises(errors.UrlError) as caught:
        dueq.Queue("q", url)
    assert str(caught.value)


def test_queue_url_hides_the_password() -> None:
    with dueq.Queue("q", "redis://user:s3cret@localhost:1/2") as queue:
        assert "localhost" in queue.url
        assert "s3cret" not in queue.url + repr(queue)


def test_queue_url_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUEQ_URL", server.url)
    with dueq.Queue("environment") as queue:
        assert str(server.socket) in queue.url
        queue.push("x")


def test_queue_with_block_closes(server: Server) -> None:
    with dueq.Queue("block", server.url) as queue:
        queue.push("x")
    with pytest.raises(errors.InvalidError, match="closed"):
        queue.push("x")
    with pytest.raises(errors.InvalidError, match="closed"):
        _ = queue.url
    assert "closed" in repr(queue)


def test_queue_pickled(queue: dueq.Queue) -> None:
    queue.push("x")
    with pickle.loads(pickle.dumps(queue)) as copy:
        assert copy.name == queue.name
        assert copy.reserve().body == b"x"


def test_queue_close_ends_connections(own_server: Server) -> None:
    queue = dueq.Queue("q", own_server.url)
    queue.reserve(timeout=0.01)
    clients = own_server.command("CLIENT", "LIST")
    assert isinstance(clients, bytes)
    assert clients.count(b"\n") > 1
    queue.close()
    clients = own_server.command("CLIENT", "LIST")
    assert isinstance(clients, bytes)
    assert clients.count(b"\n") == 1
