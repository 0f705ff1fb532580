"""One URL with sentinels: the client finds the primary, and finds it again."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dueq
import dueq.laravel
import dueq.redisson
from certificates import Certificates
from dueq import aio, errors
from forked import in_child
from node import HOST, wait_until
from private_server import free_port
from sentinel import NAME, Sentinel, Watched

# docs/servers.md has the same.
LEAST_RIGHTS = (
    *("+sentinel|get-master-addr-by-name", "+subscribe", "+client|setname", "+client|id"),
    "&+switch-master",
)


@pytest.fixture(scope="module")
def running() -> Iterator[Watched]:
    with Watched() as made:
        yield made


@pytest.fixture
def watched(running: Watched) -> Watched:
    """A primary that is up, without a key, its replica, and three sentinels."""
    for server in [*running.members, *running.sentinels]:
        if not server.running:
            server.start()
        server.thaw()
    running.settle()
    running.primary.command("FLUSHALL")
    return running


def said(call: Callable[[], object], error: type[Exception]) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# ---- Discovery ----


def test_sentinels_lead_to_the_primary(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url) as queue:
        queue.push("x")
        assert queue.url == watched.url
        assert watched.primary.command("HLEN", "dueq:{jobs}:msg") == 1
        alias = watched.url.replace("redis+sentinel://", "redis-sentinel://")
        with dueq.Queue("jobs", alias + "?db=0") as other:
            assert other.stats().ready == 1


def test_database_is_the_primarys(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url + "/3") as queue:
        queue.push("x")
    keyspace = watched.primary.text("INFO", "keyspace")
    assert "db3:" in keyspace
    assert "db0:" not in keyspace


def test_sentinel_that_is_gone_is_passed_over(watched: Watched) -> None:
    host = f"{HOST}:{free_port()}"
    url = watched.url.replace("://", f"://{host},", 1)
    with dueq.Queue("jobs", url) as queue:
        assert queue.push("x")


def test_sentinel_that_answered_is_asked_first_from_then_on(watched: Watched) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        silent.settimeout(0)
        host = f"{HOST}:{silent.getsockname()[1]}"
        with dueq.Queue("jobs", watched.url.replace("://", f"://{host},", 1)) as queue:
            queue.push("x")
            watched.primary.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            queue.push("y")
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_unknown_name_is_told(watched: Watched) -> None:
    url = watched.url.replace(f"/{NAME}", "/none")
    text = said(lambda: dueq.Queue("jobs", url).push("x"), errors.ConnectError)
    assert "the primary 'none'" in text
    assert text.count("knows no primary of this name") == 3


def test_server_that_is_no_sentinel_is_told(watched: Watched) -> None:
    url = f"redis+sentinel://{HOST}:{watched.primary.port}/{NAME}"
    text = said(lambda: dueq.Queue("jobs", url).push("x"), errors.UnsupportedError)
    assert f"{HOST}:{watched.primary.port} refuses" in text
    assert "SENTINEL" in text


def test_no_sentinel_is_told_at_once(watched: Watched) -> None:
    ports = free_port(), free_port()
    url = f"redis+sentinel://{HOST}:{ports[0]},{HOST}:{ports[1]}/{NAME}?timeout=20s"
    begin = time.monotonic()
    text = said(lambda: dueq.Queue("jobs", url).push("x"), errors.ConnectError)
    assert all(f"{HOST}:{port}: Connection refused" in text for port in ports)
    assert time.monotonic() - begin < 10


def test_sentinels_that_are_gone_are_tried_again_by_who_was_connected(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url + "?timeout=20s") as queue, ThreadPoolExecutor() as pool:
        queue.push("x")
        for server in [*watched.sentinels, watched.primary]:
            server.stop()
        call = pool.submit(queue.stats)
        with pytest.raises(TimeoutError):
            call.result(timeout=2)
        for sentinel in watched.sentinels[:2]:
            sentinel.start()
        assert call.result()


def test_sentinels_that_are_gone_are_told_at_the_deadline(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url + "?timeout=2s") as queue:
        queue.push("x")
        for server in [*watched.sentinels, watched.primary]:
            server.stop()
        text = said(queue.stats, errors.ConnectError)
        assert "no sentinel leads to the primary" in text


# ---- Failover ----


def test_calls_go_on_after_a_failover(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url) as queue:
        for number in range(2):
            queue.push(f"before {number}")
            watched.failover()
            queue.push(f"after {number}")
            bodies: list[str] = []
            while len(bodies) < 2:
                message = queue.reserve(timeout=10)
                assert message
                bodies.append(message.body.decode())
                message.ack()
            assert bodies == [f"before {number}", f"after {number}"]


def test_killed_primary_is_replaced_within_a_call(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url + "?timeout=20s") as queue:
        queue.push("before")
        old = watched.in_step_primary()
        old.stop()
        queue.push("after")
        assert watched.primary is not old
        assert {queue.reserve().body, queue.reserve().body} == {b"before", b"after"}  # type: ignore[union-attr]


def test_frozen_primary_is_left_within_a_call(watched: Watched) -> None:
    """It takes connections and answers nothing, as one whose machine hangs."""
    with dueq.Queue("jobs", watched.url + "?timeout=20s") as queue:
        queue.push("before")
        old = watched.in_step_primary()
        old.freeze()
        queue.push("after")
        assert watched.primary is not old
        assert queue.stats().ready == 2
        old.thaw()
        watched.settle()
        assert queue.stats().ready == 2


def test_wait_leaves_a_frozen_primary_when_its_time_comes(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url + "?timeout=6s") as queue:
        queue.push("soon", delay=2)
        came = []

        def wait() -> None:
            with dueq.Queue("jobs", queue.url) as mine:
                came.append(mine.reserve(timeout=60))

        waiting = threading.Thread(target=wait)
        waiting.start()
        wait_until(
            "nobody waits", lambda: watched.primary.info("clients", "blocked_clients") == "1"
        )
        watched.in_step_primary().freeze()
        waiting.join()
        assert came[0]
        assert came[0].body == b"soon"


def test_demoted_primary_that_comes_back_is_refused() -> None:
    # Those that take a server for down sooner may take the new primary for it: docs/servers.md.
    with (
        Watched(down_ms=2500) as watched,
        dueq.Queue("jobs", watched.url + "?timeout=20s") as queue,
    ):
        queue.push("before")
        old = watched.in_step_primary()
        old.stop()
        queue.push("after")
        # It does not know yet that it is the primary no more.
        old.start()
        assert old.is_primary()
        for number in range(50):
            with dueq.Queue("jobs", watched.url) as other:
                other.push(str(number))
        watched.settle()
        assert watched.primary is not old
        assert queue.stats().ready == 52


@pytest.fixture
def liar(watched: Watched) -> Iterator[Sentinel]:
    """A sentinel that names a replica, for some seconds."""
    replica = next(member for member in watched.members if member is not watched.primary)
    # It neither hears from the others nor can it tell them.
    replica.command("ACL", "SETUSER", "liar", "on", ">liar", "+ping", "+info")
    with Sentinel(replica, 9, 30000, user="liar") as made:
        yield made
    replica.command("ACL", "DELUSER", "liar")


def test_replica_is_refused_that_a_sentinel_names(watched: Watched, liar: Sentinel) -> None:
    with dueq.Queue("jobs", watched.url_of(liar, *watched.sentinels)) as queue:
        assert queue.push("x")
    assert watched.primary.command("HLEN", "dueq:{jobs}:msg") == 1
    only = watched.url_of(liar, parameters="?timeout=1s")
    text = said(lambda: dueq.Queue("jobs", only).stats(), errors.ReadonlyError)
    assert "says by ROLE that it is: slave" in text


# ---- All of the client ----


def php(code: str, url: str) -> subprocess.Popen[str]:
    code = f"$queue = new Dueq\\Queue('php', getenv('DUEQ_URL')); {code}"
    return start("php", "-d", "display_errors=stderr", "-r", code, url=url)


def start(*words: str, url: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "DUEQ_URL": url}
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)


async def take(url: str) -> str:
    async with aio.Queue("aio", url) as queue, queue.consume() as messages:
        async for message in messages:
            await message.ack()
            return message.body.decode()
    raise AssertionError


def test_all_who_wait_go_on_after_a_failover(watched: Watched) -> None:
    """Each language and kind of queue has one that waits, which gets what comes afterwards."""
    url = watched.url + "?timeout=20s"
    came: dict[str, object] = {}

    def waits(name: str, get: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=lambda: came.__setitem__(name, get()))
        thread.start()
        return thread

    processes = [
        php("echo $queue->reserve(60)->body;", url),
        start("dueq", "reserve", "shell", "--ack", "--body", "--wait", "60s", url=url),
    ]
    with (
        dueq.redisson.DelayedQueue("redisson", url) as redisson,
        redisson.transferring(),
        dueq.laravel.Queue("laravel", url) as laravel,
        dueq.Queue("worked", url) as worked,
    ):
        threads = [
            waits("aio", lambda: asyncio.run(take(url))),
            waits("redisson", lambda: redisson.take(timeout=60)),
            waits("laravel", lambda: laravel.pop(timeout=60)),
            waits("worked", lambda: next(iter(worked.consume(lease=3))).body),
        ]
        wait_until(
            "not all wait",
            lambda: int(watched.primary.info("clients", "blocked_clients")) >= 6,
        )
        watched.failover()
        for name in ("php", "shell", "aio", "worked"):
            with dueq.Queue(name, url) as queue, queue.pusher() as pusher:
                pusher.push(name)
        with dueq.redisson.DelayedQueue("redisson", url) as other:
            other.offer("redisson", delay=0)
        with dueq.laravel.Queue("laravel", url) as jobs:
            jobs.push("Job@run", {})
        for thread in threads:
            thread.join()
    assert [process.communicate(timeout=30)[0] for process in processes] == ["php", "shell"]
    assert came["aio"] == "aio"
    assert came["redisson"] == "redisson"
    assert came["laravel"]
    assert came["worked"] == b"worked"


def test_lease_and_lock_are_kept_over_a_failover(watched: Watched) -> None:
    url = watched.url + "?timeout=20s"
    with dueq.Queue("jobs", url) as queue, dueq.Queue("jobs", url) as other:
        queue.push("x")
        message = queue.reserve(lease=60)
        assert message
        assert queue.lock("nightly", ttl=60)
        watched.settle()
        watched.failover()
        assert other.reserve() is None
        assert other.lock("nightly", ttl=60) is None
        message.ack()
        assert queue.stats().acked == 1


# ---- Passwords and TLS ----


def test_sentinels_have_a_login_of_their_own(tmp_path: Path) -> None:
    with Watched(password="inner", sentinel_password="outer") as watched:
        login = ":inner@"

        def push(login: str, parameters: str) -> object:
            url = watched.url_of(*watched.sentinels, login=login, parameters=parameters)
            with dueq.Queue("jobs", url) as queue:
                shown = url
                for password in ("inner", "outer", "wrong", "few"):
                    shown = shown.replace(f"={password}", "=***").replace(f":{password}@", ":***@")
                assert queue.url == shown
                return queue.push("x")

        assert push(login, "?sentinel_password=outer")
        assert push("default:inner@", "?sentinel_user=default&sentinel_password=outer")
        for sentinel in watched.sentinels:
            sentinel.command("ACL", "SETUSER", "least", "on", ">few", "-@all", *LEAST_RIGHTS)
        assert push(login, "?sentinel_user=least&sentinel_password=few")
        wrong = said(lambda: push(login, "?sentinel_password=wrong"), errors.AuthError)
        assert "WRONGPASS" in wrong
        assert "no sentinel leads to" in wrong
        assert "NOAUTH" in said(lambda: push(login, ""), errors.AuthError)
        inner = said(lambda: push("", "?sentinel_password=outer"), errors.AuthError)
        assert "no sentinel" not in inner
        parameters = "?sentinel_password=outer&timeout=20s"
        url = watched.url_of(*watched.sentinels, login=login, parameters=parameters)
        with dueq.Queue("jobs", url) as queue:
            queue.push("x")
            watched.failover()
            queue.push("y")


def test_sentinels_and_servers_by_tls(tmp_path: Path) -> None:
    tls = Certificates(tmp_path, "shop.example.com")
    other = tmp_path / "other"
    other.mkdir()
    with Watched(tls=tls) as watched:
        files = f"&ca={tls.ca}&cert={tls.cert}&key={tls.key}"

        def push(parameters: str) -> object:
            url = watched.url_of(*watched.sentinels, parameters=f"?timeout=20s{parameters}")
            with dueq.Queue("jobs", url) as queue:
                return queue.push("x")

        named = "&tls_name=shop.example.com"
        assert push(files + named)
        assert "certificate" in said(lambda: push(files), errors.TlsError)
        assert "certificate" in said(
            lambda: push(f"{files}{named}&sentinel_ca={Certificates(other, 'x').ca}"),
            errors.TlsError,
        )
        watched.primary.stop()
        assert push(files + named)


def test_primary_is_left_as_soon_as_a_sentinel_tells_of_another_one(watched: Watched) -> None:
    """The old one is there, and takes writes until it is demoted, which are lost."""
    with dueq.Queue("jobs", watched.url) as queue:
        queue.push("before")
        wait_until("nobody is told", lambda: subscribed(watched, queue) >= 1)
        old = watched.in_step_primary()
        wait_until("the sentinel begins no failover", watched.begin_failover)
        watched.await_failover(old)
        queue.push("after")
        watched.settle()
        assert queue.stats().ready == 2


def subscribed(watched: Watched, queue: dueq.Queue) -> int:
    """How many of the clients are told by sentinels."""
    queue.stats()
    lists = [sentinel.text("CLIENT", "LIST", "TYPE", "pubsub") for sentinel in watched.sentinels]
    return "".join(lists).count("name=dueq-")


def test_child_of_a_fork_leaves_the_parents_connection_to_a_sentinel(watched: Watched) -> None:
    with dueq.Queue("jobs", watched.url) as queue:

        def work() -> None:
            wait_until("the child is not told", lambda: subscribed(watched, queue) == 2)

        queue.push("x")
        wait_until("nobody is told", lambda: subscribed(watched, queue) == 1)
        in_child(work)


def test_durable_push_may_take_longer_than_a_server_may_be_silent(watched: Watched) -> None:
    """Without its replica a primary is silent as long as WAIT lasts, and is not left for that."""
    with dueq.Queue("jobs", watched.url + "?timeout=1s") as queue:
        queue.push("x", replicas=1)
        primary = watched.in_step_primary()
        for member in watched.members:
            if member is not primary:
                member.stop()
        primary.command("CONFIG", "RESETSTAT")
        with pytest.raises(errors.NotDurable):
            queue.push("y", replicas=1, durable_timeout=2)
        assert queue.stats().ready == 2
        assert primary.info("commandstats", "cmdstat_wait").startswith("calls=1,")
