"""What the server must permit by protocol.md, and what works where it permits less."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from inside import ROOT, Inside, end_lease, section, take

import dueq
import dueq.laravel
import dueq.redisson
from dueq import errors
from private_server import Server
from script_sources import sources

# What the libraries send beside the scripts, and not only on a new connection.
SENT = {"evalsha", "info", "script|load", "bzpopmin", "exists", "hget", "zadd", "expire"}
# The same on the queues of other systems.
SENT_FOREIGN = {
    "redisson": {"evalsha", "info", "script|load", "blmove", "lmove", "subscribe"},
    "laravel": {"evalsha", "info", "script|load", "blpop", "rpush", "subscribe", "exists"},
}


def permission() -> str:
    found = re.search(r"```\n(ACL SETUSER .*?)```", section("What the server must permit"), re.S)
    assert found
    return found[1]


def flat() -> str:
    return " ".join(section("What the server must permit").split())


def permission_of(system: str) -> str:
    text = (ROOT / "docs/interop.md").read_text(encoding="utf-8")
    user = {"redisson": "java", "laravel": "laravel"}[system]
    found = re.search(rf"```\n(ACL SETUSER {user} .*?)```", text, re.S)
    assert found
    return found[1]


def used(house: str, scripts: str) -> set[str]:
    """The commands of the scripts whose names fit, as they are sent to the server."""
    found = [text for name, text in sources(house).items() if re.fullmatch(scripts, name)]
    assert found
    # lib/precheck.lua is handed commands as the names of a table's fields, and check hands them on.
    handed = r"(?:call|bulk|defer_removal|read_list|scan_page)\('(\w+)'|\b([HLZ][A-Z]+) = "
    commands = re.findall(handed, "".join(found))
    return {(call or field).lower() for call, field in commands}


@contextmanager
def shop(*more: str) -> Iterator[tuple[Server, str]]:
    """A server with the user of the document, who may also `more`; the URL that logs in as such."""
    with Server() as server:
        server.command(*permission().split(), *more)
        yield server, server.url.replace("unix://", "unix://shop:secret@")


# ---- Every verb ----


def push_and_settle(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("a", id="a", lease=20), dueq.Draft("b", delay=0.3)])
    assert queue.push("c", headers={"n": "v"})
    message = take(queue)
    message.extend(30)
    message.checkpoint("5")
    message.release()
    take(queue).retry(delay=0.1, error="again")
    take(queue).ack()
    bodies = []
    for _ in range(2):
        waited = queue.reserve(timeout=10)
        assert waited is not None
        bodies.append(waited.body)
        waited.bury("enough")
    assert sorted(bodies) == [b"a", b"b"]
    assert queue.reserve(timeout=0.2, lease=1) is None


def look_and_manage(queue: dueq.Queue) -> None:
    queue.push("d", id="d", max_crashes=1, ttl=3600, unique=3600, replace=True)
    end_lease(queue, take(queue))
    assert queue.reserve(timeout=0.2) is None
    found = queue.find("d")
    assert found is not None
    assert found.state == "dead"
    queue.push_many([dueq.Draft("e", priority=1), dueq.Draft("f", priority=-1)])
    queue.push("g", id="g", delay=3600)
    assert [len(list(queue.peek(state, page=1))) for state in dueq.State] == [2, 1, 0, 3, 0]
    assert sum(rate.died for rate in queue.rates()) == 3
    assert len(queue.failures()) == 5
    assert queue.reschedule("g", delay=60)
    assert queue.kick("d")
    assert queue.kick_all(error="enough") == 2
    assert queue.cancel_many(["a", "d", "none"]) == ["ready", "ready", None]
    queue.pause()
    assert queue.reserve(timeout=0.05) is None
    queue.resume()
    assert queue.allow(["mails", "old"]) == ["mails", "old"]
    assert queue.allow("mails") == ["mails"]
    assert queue.allow(any=True) == []
    queue.limit(concurrency=100, rate="100/s")
    assert queue.limits().rate == "100/s"
    queue.limit(concurrency=0, rate="none")
    queue.hold("acme", 60)
    queue.hold("acme", 0)
    assert queue.purge("delayed") == 1
    assert queue.stats().ready == 3
    with pytest.raises(dueq.Duplicate):
        queue.push("d", id="d")
    ids = take(queue).ack(push=["h", dueq.Draft("i", id="i", delay=3600)])
    assert ids
    assert queue.stats().delayed == 1
    assert queue.purge("ready") == 3
    assert queue.remove() == 1
    assert queue.stats().purged == 0


def take_locks(queue: dueq.Queue) -> None:
    lock = queue.lock("nightly", ttl=60)
    assert lock
    assert queue.lock("nightly", ttl=60, timeout=0.05) is None
    lock.extend(0.2)
    waited = queue.lock("nightly", ttl=60, timeout=10)
    assert waited
    waited.release()
    with pytest.raises(dueq.LeaseLost):
        lock.release()


def move(queue: dueq.Queue, mails: dueq.Queue, url: str) -> None:
    """Both ways to another queue, a chain, and a wait for both."""
    mails.push("later", id="later", delay=3600)
    assert mails.reschedule("later", delay=0.2)
    with dueq.Queues([mails.name, queue.name], url, order="round robin") as both:
        moved = both.reserve(timeout=10)
        assert moved
        assert (moved.id, moved.queue) == ("later", mails.name)
        moved.ack(push=["next"], to=queue.name)
        assert take(queue).body == b"next"
    for end in ["retry", "crash", "bury"]:
        queue.push("x", dead_letter=mails.name, max_attempts=1, max_crashes=1)
        message = take(queue)
        if end == "retry":
            assert not message.retry()
        elif end == "bury":
            message.bury()
        else:
            end_lease(queue, message)
            assert queue.reserve() is None
        take(mails).ack()


def every_verb(url: str) -> None:
    with dueq.Queue("orders", url) as queue, dueq.Queue("mails", url) as mails:
        push_and_settle(queue)
        look_and_manage(queue)
        take_locks(queue)
        move(queue, mails, url)


def test_every_verb_with_what_the_document_permits() -> None:
    with shop("~dueq:{mails}:*") as (server, url):
        every_verb(url + "?db=1")
        assert server.command("ACL", "LOG") == []


def test_every_verb_without_client_commands() -> None:
    with shop("~dueq:{mails}:*", "-client") as (_, url):
        every_verb(url)


def test_client_commands_reach_every_connection() -> None:
    """What the document warns of: the user sees and ends connections of others."""
    with shop() as (server, _), server.connect() as admin:
        admin.sendall(b"CLIENT ID\r\n")
        number = int(admin.recv(100)[1:])
        with server.connect() as user, user.makefile("rb") as answers:
            user.sendall(b"AUTH shop secret\r\nCLIENT LIST\r\n")
            assert answers.readline() == b"+OK\r\n"
            listed = answers.read(int(answers.readline()[1:]) + 2)
            (line,) = [line for line in listed.splitlines() if line.startswith(b"id=%d " % number)]
            fields = dict(field.split(b"=", 1) for field in line.split())
            assert {b"addr", b"name", b"user", b"db", b"cmd", b"idle"} <= fields.keys()
            assert fields[b"user"] == b"default"
            user.sendall(b"CLIENT KILL ID %d\r\n" % number)
            assert answers.readline() == b":1\r\n"
        assert admin.recv(100) == b""


def test_queues_with_scan_permitted() -> None:
    with shop("~dueq:{mails}:*") as (server, url):
        with dueq.Queue("orders", url) as queue, dueq.Queue("mails", url) as mails:
            queue.push("x")
            mails.push("y", delay=3600)
        with pytest.raises(errors.DeniedError, match="scan"):
            dueq.queues(url)
        server.command("ACL", "SETUSER", "shop", "+scan")
        assert dueq.queues(url) == ["mails", "orders"]


def test_check_with_what_the_document_permits() -> None:
    found = re.search(r"`dueq check` needs `(.+?)`, and with `--repair` also `(.+?)`", flat())
    assert found
    with shop() as (server, url), dueq.Queue("orders", url) as queue:
        queue.push_many(["a", dueq.Draft("b", delay=3600)])
        server.command("RPUSH", "dueq:{orders}:ready", "garbage")
        server.command("SET", "dueq:{orders}:high", "foreign")
        check = [str(ROOT / "build/bin/dueq"), "check", "orders", "--url", url]
        server.command("ACL", "SETUSER", "shop", *found[1].split())
        assert subprocess.run(check, check=False).returncode == 1
        assert subprocess.run([*check, "--repair"], check=False).returncode == 4
        server.command("ACL", "LOG", "RESET")
        server.command("ACL", "SETUSER", "shop", *found[2].split())
        assert subprocess.run([*check, "--repair"], check=False).returncode == 0
        assert subprocess.run(check, check=False).returncode == 0
        assert server.command("ACL", "LOG") == []


def test_delayed_queue_with_what_the_document_permits() -> None:
    with Server() as server:
        server.command(*permission_of("redisson").split())
        url = server.url.replace("unix://", "unix://java:secret@")
        with dueq.redisson.DelayedQueue("reminders", url) as queue, queue.transferring():
            queue.offer_many(["a", "b", "c"], delay=3600)
            assert queue.peek() == ["a"]
            assert queue.poll() == "a"
            assert queue.contains("b")
            assert queue.remove("b")
            assert queue.clear() == 1
            queue.offer("d", delay=0.2)
            assert queue.take(timeout=10) == "d"
            assert queue.take(timeout=0.05) is None
            assert queue.size().delayed == 0
        assert server.command("ACL", "LOG") == []


def test_laravel_queue_with_what_the_document_permits() -> None:
    with Server() as server:
        server.command(*permission_of("laravel").split())
        url = server.url.replace("unix://", "unix://laravel:secret@")
        with dueq.laravel.Queue("default", url) as queue:
            assert queue.pop(timeout=0.05) is None
            queue.push("Job@run")
            queue.later(1, "Job@run")
            for _ in range(2):
                job = queue.pop(timeout=10)
                assert job
                job.release(1)
            assert queue.migrate(timeout=10).moved
            job = queue.pop()
            assert job
            job.delete()
            assert queue.size().reserved == 0
            assert queue.clear() == 1
        assert server.command("ACL", "LOG") == []


# ---- No more than that ----


def test_another_queue_is_not_permitted() -> None:
    refused = pytest.raises((errors.DeniedError, errors.ServerError))
    with shop() as (server, url), dueq.Queue("orders", url) as queue:
        with dueq.Queue("mails", url) as mails, refused:
            mails.push("x")
        queue.push("y", dead_letter="mails")
        message = take(queue)
        message.bury()
        queue.push("z")
        take(queue).ack(push=["u"], to="mails")
        stats = queue.stats()
        assert (stats.outbox, stats.dead) == (2, 0)
        assert stats.outbox_error.startswith("mails: ")
        assert "permi" in stats.outbox_error
        shown = list(queue.peek("outbox"))
        assert sorted(message.body for message in shown) == [b"u", b"y"]
        assert all(message.error.startswith("outbox: mails: ") for message in shown)
        assert server.command("KEYS", "dueq:{mails}:*") == []
        # Once it is permitted, whoever waits next brings them over.
        server.command("ACL", "SETUSER", "shop", "~dueq:{mails}:*")
        with dueq.Queue("mails", url) as mails:
            assert until_relayed(queue)
            assert sorted(message.body for message in mails.reserve_many(5)) == [b"u", b"y"]


def test_document_permits_no_more_than_is_used() -> None:
    words = re.findall(r"\+(\S+)", permission())
    listed = [word for word in words if not word.startswith(("client|", "select"))]
    verbs = used("core", r"(?!check$)\w+")
    assert sorted(listed) == sorted(verbs | SENT)
    more = re.search(r"`dueq check` needs `(.+?)`, and with `--repair` also `(.+?)`", flat())
    assert more
    assert set(re.findall(r"\w+", " ".join(more.groups()))) == used("core", "check") - set(listed)


@pytest.mark.parametrize("system", SENT_FOREIGN)
def test_document_permits_no_more_on_foreign_queues(system: str) -> None:
    words = re.findall(r"\+(\S+)", permission_of(system))
    listed = [word for word in words if not word.startswith(("client|", "select"))]
    scripts = used("interop", rf"(?:{system}_\w+|recall_foreign)")
    assert sorted(listed) == sorted(scripts | SENT_FOREIGN[system])


def test_core_sends_no_other_commands() -> None:
    """Every command that stands in the core is permitted, or needs no permission, or is SCAN."""
    paths = [path for house in ("core", "interop") for path in (ROOT / house).rglob("*.c")]
    paths = [path for path in paths if path.name != "resp_read.c"]
    core = "".join(path.read_text() for path in paths)
    starts = r"(?:SEND\([A-Z]+, |dueq__text\(|dueq__resp_text\(&?words, |\{|\? |: |\] = )"
    words = re.findall(rf'{starts}"([A-Z]+)"', core)
    options = {"MATCH", "COUNT", "TYPE", "LOAD", "LIST", "KILL", "UNBLOCK", "ID", "SETNAME"}
    options |= {"LEFT", "RIGHT", "TRACKING", "ON", "REDIRECT", "OPTIN", "NOLOOP", "CACHING", "YES"}
    options |= {"SLOTS", "ERROR"}
    options |= {"ASK", "MOVED"}  # what a server answers
    sent = {word.lower() for word in words if word not in options}
    every = SENT.union(*SENT_FOREIGN.values())
    known = {word.split("|")[0] for word in every} | {"auth", "select", "client", "scan"}
    known |= {"wait", "waitaof", "cluster", "asking", "role", "sentinel"}
    assert sent == known


# ---- A full server ----


@pytest.fixture
def full() -> Iterator[Inside]:
    """A server without memory, with one dead, one delayed, one held, and three ready messages."""
    with Server() as server:
        inside = Inside(server, "orders")
        with inside.queue as queue:
            queue.push("dead", id="dead")
            take(queue).bury()
            queue.push("held", id="held", headers={"n": "v"}, max_attempts=2)
            take(queue)
            queue.push_many([dueq.Draft(str(n), id=str(n)) for n in range(3)])
            queue.push("later", id="later", delay=3600)
            server.command("CONFIG", "SET", "maxmemory", "1")
            yield inside


def counts(queue: dueq.Queue) -> dict[str, int]:
    stats = queue.stats()
    names = ["ready", "delayed", "leased", "dead", "outbox"]
    return {name: getattr(stats, name) for name in names}


REFUSED: dict[str, Callable[[dueq.Queue], object]] = {
    "push": lambda queue: queue.push("x"),
    "push with an id": lambda queue: queue.push("x", id="x", priority=1, ttl=1),
    "push later": lambda queue: queue.push("x", delay=60),
    "push with a group": lambda queue: queue.push("x", group="a"),
    "push with a group and an id": lambda queue: queue.push("x", group="a", id="x"),
    "push with a group later": lambda queue: queue.push("x", group="a", delay=60),
    "replace": lambda queue: queue.push("x", id="later", replace=True),
    "schedule": lambda queue: queue.schedule("a", "@daily", "x"),
    "reschedule": lambda queue: queue.reschedule("later", delay=60),
    "kick": lambda queue: queue.kick("dead"),
    "kick_all": lambda queue: queue.kick_all(),
    "lock": lambda queue: queue.lock("weekly", ttl=60),
    "pause": lambda queue: queue.pause(),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_full_server_refuses(full: Inside, verb: str) -> None:
    before = counts(full.queue)
    with pytest.raises(errors.FullError):
        REFUSED[verb](full.queue)
    assert counts(full.queue) == before


# What a full server goes on with, and where the held message is then.
GOES_ON: dict[str, tuple[Callable[[dueq.Queue, dueq.Message], object], str]] = {
    "ack": (lambda _, held: held.ack(), ""),
    "ack_many": (lambda queue, held: queue.ack_many([held, "0:none"]), ""),
    "ack and push": (lambda _, held: held.ack(push=["next"]), ""),
    "retry": (lambda _, held: held.retry(delay=0), "ready"),
    "retry later": (lambda _, held: held.retry(delay=60), "delayed"),
    "release": (lambda _, held: held.release(), "ready"),
    "release later": (lambda _, held: held.release(delay=60), "delayed"),
    "extend": (lambda _, held: held.extend(60), "leased"),
    "checkpoint": (lambda _, held: held.checkpoint("5"), "leased"),
    "bury": (lambda _, held: held.bury("no"), "dead"),
    "cancel": (lambda queue, _: queue.cancel("held"), ""),
    "purge": (lambda queue, _: queue.purge("leased"), ""),
    "reserve": (lambda queue, _: queue.reserve_many(2), "leased"),
    "reserve more": (lambda queue, _: queue.reserve_many(100), "leased"),
    "wait": (lambda queue, _: queue.reserve_many(100, timeout=5), "leased"),
    "the lease's end": (lambda queue, held: let_end(queue, held), "leased"),
}


def let_end(queue: dueq.Queue, held: dueq.Message) -> None:
    """Before all that is ready comes what was held, alone."""
    end_lease(queue, held)
    answers = [[message.body for message in queue.reserve_many(10)] for _ in range(2)]
    assert answers == [[b"held"], [b"0", b"1", b"2"]]


@pytest.mark.parametrize("verb", GOES_ON)
def test_full_server_goes_on(full: Inside, verb: str) -> None:
    queue, (run, state) = full.queue, GOES_ON[verb]
    held = queue.find("held")
    assert held
    run(queue, held)
    found = queue.find("held")
    assert (found.state if found else "") == state
    leased = {"reserve": 3, "extend": 1, "checkpoint": 1, "ack and push": 0}
    assert queue.stats().leased == leased.get(verb, 4 if state == "leased" else 0)


def test_full_server_serves_groups(full: Inside) -> None:
    """It refuses a push whole. It still sorts, delivers, takes back and purges messages."""
    queue, server = full.queue, full.server
    server.command("CONFIG", "SET", "maxmemory", "0")
    queue.push_many(dueq.Draft(f"a{n}", group="a") for n in range(100))
    queue.push("b", group="b")
    server.command("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(errors.FullError):
        queue.push("c", group="a")
    first = queue.reserve_many(3)
    assert [message.body for message in first] == [b"0", b"a0", b"b"]
    first[1].release()
    queue.ack_many([first[0], first[2]])
    assert [take(queue).body for _ in range(4)] == [b"1", b"a0", b"2", b"a1"]
    assert queue.purge("ready") == 98
    assert queue.check() == []


def test_full_server_purges_a_group(full: Inside) -> None:
    queue, server = full.queue, full.server
    server.command("CONFIG", "SET", "maxmemory", "0")
    queue.push_many(dueq.Draft(f"a{n}", group="a") for n in range(300))
    queue.push("later", group="a", delay=60)
    server.command("CONFIG", "SET", "maxmemory", "1")
    assert queue.purge_group("a") == 301
    assert [group.name for group in queue.groups()] == [None]
    assert queue.check() == []


def test_full_server_keeps_what_is_for_another_queue(full: Inside) -> None:
    """It stays in the outbox, and goes when there is memory again."""
    queue, mails = full.queue, dueq.Queue("mails", full.server.url)
    held = queue.find("held")
    assert held
    held.ack(push=["next"], to="mails")
    assert counts(queue)["outbox"] == 1
    assert all(queue.ack_many(queue.reserve_many(3)))
    full.server.command("CONFIG", "SET", "maxmemory", "0")
    assert until_relayed(queue)
    assert take(mails).body == b"next"


def until_relayed(queue: dueq.Queue) -> bool:
    """Whoever waits brings over what is in the outbox."""
    deadline = time.monotonic() + 20
    while queue.stats().outbox and time.monotonic() < deadline:
        assert queue.reserve(timeout=0.2) is None
    return queue.stats().outbox == 0 and queue.stats().outbox_error == ""
