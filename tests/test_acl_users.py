"""The users of docs/security.md: each does its work, and is refused all else."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import pytest
from inside import end_lease, take

import dueq
from acl_users import has_selectors, lines, permit
from dueq import errors
from private_server import Refused, Server, packed, read_reply


class Shop:
    """A server with a user of the document; `all` is the queue of one that may do everything."""

    def __init__(self, server: Server, user: str) -> None:
        self.server = server
        self.url = server.url.replace("unix://", f"unix://{user}:secret@")
        self.all = dueq.Queue("orders", server.url)

    def queue(self, name: str = "orders") -> dueq.Queue:
        return dueq.Queue(name, self.url)

    def permit(self, these: list[list[str]]) -> None:
        permit(self.server, these)

    def holds(self) -> dict[bytes, object]:
        """What all keys of queues hold, but for the answers that are kept."""
        keys = self.server.command("KEYS", "dueq:*")
        assert isinstance(keys, list)
        names = [key for key in keys if isinstance(key, bytes) and b":reply:" not in key]
        return {key: self.server.command("DUMP", key) for key in names}

    def used(self) -> set[str]:
        """The commands that were run since the last reset; Redis 6.2 tells no subcommands."""
        info = self.server.command("INFO", "commandstats")
        assert isinstance(info, bytes)
        found = re.findall(r"cmdstat_(.+?):calls=[1-9]", info.decode())
        return {name.split("|")[0] for name in found} - {"config", "auth"}


@contextmanager
def shop(user: str, most: int | None = None) -> Iterator[Shop]:
    """most: so many of the user's lines."""
    with Server() as server:
        made = Shop(server, user)
        made.permit(lines(user)[:most])
        with made.all:
            yield made


# ---- What each is for ----


def push_own(queue: dueq.Queue) -> None:
    """The message exists, so that a second push takes its ticket back."""
    for delay in (0, 3600):
        queue.push("own", id=f"own-{delay}", delay=delay)
        with pytest.raises(dueq.Duplicate):
            queue.push("own", id=f"own-{delay}", delay=delay)


def push(queue: dueq.Queue) -> None:
    queue.push("made")
    queue.push("later", delay=3600)
    queue.push_many(["a", dueq.Draft("b", id="b", unique=0.001), dueq.Draft("c", delay=3600)])
    queue.push("high", priority=1, headers={"n": "v"}, ttl=3600, backoff=[1], lease=60)
    queue.push("low", priority=-1, max_attempts=1, max_crashes=1, drop=True)
    queue.push("d", id="d", unique=60, dead_letter="mails")
    with pytest.raises(dueq.Duplicate):
        queue.push("d", id="d")
    push_own(queue)
    with queue.pusher() as pusher:
        pushes = [pusher.push(str(n)) for n in range(500)]
    assert all(push.error is None for push in pushes)


def manage_own(queue: dueq.Queue) -> None:
    queue.push("r", id="r", replace=True, delay=3600)
    queue.push("r", id="r", replace="body", delay=3600)
    assert queue.find("r")
    assert queue.reschedule("r", delay=60)
    assert queue.reschedule("r", delay=0)
    assert queue.cancel_many(["r", "none"]) == ["ready", None]
    queue.push("kept", id="kept", keep=60)
    assert queue.outcome("kept", timeout=0.05) is None
    assert queue.cancel("kept")
    end = queue.outcome("kept", timeout=1)
    assert end
    assert end.outcome == "cancelled"
    assert queue.schedule("nightly", "@daily", "x")
    assert not queue.schedule("nightly", "@daily", "x")


def manage_batches(queue: dueq.Queue) -> None:
    with queue.batch("made", finally_="made") as batch:
        batch.push("member")
        assert batch.cancel() == 1
    assert queue.find_batch("made")
    assert queue.batches() == []


def push_groups(queue: dueq.Queue) -> None:
    """So many that the pushes sort some."""
    queue.push_many(dueq.Draft(str(n), group=str(n % 2)) for n in range(150))
    queue.push("a", group="a")
    queue.push("b", group="a", id="group")


def produce(queue: dueq.Queue, owner: dueq.Queue) -> None:
    push(queue)
    manage_own(queue)
    manage_batches(queue)
    push_groups(queue)


def prepare(queue: dueq.Queue) -> None:
    """Something of each kind for a worker."""
    queue.allow("crashed")
    queue.push_many(str(n) for n in range(12))
    queue.push("own", id="own", headers={"n": "v"}, unique=60)
    queue.push("crash", id="crash", max_crashes=1, drop=True)
    queue.push("over", ttl=0.001)
    queue.push("low", priority=-1)
    queue.schedule("tick", "every 1s", "tick", catchup="once")


def work(queue: dueq.Queue, owner: dueq.Queue) -> None:
    take(queue).ack()
    assert queue.ack_many(queue.reserve_many(11)) == [True] * 11
    own = take(queue)
    own.extend(60)
    own.checkpoint("5")
    own.release()
    take(queue).retry(delay=3, error="e")
    crash = take(queue)
    assert crash.id == "crash"
    end_lease(queue, crash)
    again = queue.reserve(timeout=20)
    assert again
    buried = dueq.Draft("dead", id="dead", dead_letter="mails")  # which the list does not have
    again.ack(push=["next", dueq.Draft("n", id="n", delay=3600), buried])
    push_own(queue)
    left = {"dead", "own", "schedule:tick"}
    for message in queue.consume(timeout=20):
        if message.id == "dead":
            message.bury("enough")
        elif message.id == "schedule:tick":
            await_workers(queue)
            message.fire()
        else:
            message.ack()
        left.discard(message.id)
        if not left:
            break
    # On a busy machine nothing before had to be waited for.
    while rest := queue.reserve(timeout=0.3):
        rest.ack()
    # Reserves of one ready message, of which the last go to the fast script in any case.
    for _ in range(20):
        queue.push("one")
        take(queue).ack()
    work_batch(queue, owner)
    work_kept(queue, owner)
    work_groups(queue)


def work_kept(queue: dueq.Queue, owner: dueq.Queue) -> None:
    owner.push("kept", id="kept", keep=60)
    assert owner.outcome("kept", timeout=0.01) is None
    while (kept := take(queue)).id != "kept":
        kept.ack()
    kept.ack(result="done")
    end = queue.outcome("kept")
    assert end
    assert end.result == b"done"
    owner.push("kept", id="buried", keep=60)
    take(queue).bury("enough")
    buried = queue.outcome("buried")
    assert buried
    assert buried.error == "enough"


def work_batch(queue: dueq.Queue, owner: dueq.Queue) -> None:
    with owner.batch("b", finally_="over") as batch:
        batch.push("member")
    left = {b"member", b"over"}
    while left:
        message = queue.reserve(timeout=20)
        assert message
        left.discard(message.body)
        message.ack()


def work_groups(queue: dueq.Queue) -> None:
    """The reserve after a hold removes what holds need."""
    push_groups(queue)
    take(queue).hold_group(0.001)
    take(queue).release()
    while messages := queue.reserve_many(50):
        queue.ack_many(messages)


def await_workers(queue: dueq.Queue) -> None:
    """A consumer registers when it has lived for two seconds."""
    until = time.monotonic() + 20
    while not queue.workers():
        assert time.monotonic() < until
        time.sleep(0.05)


def view(queue: dueq.Queue, owner: dueq.Queue) -> None:
    assert queue.stats().ready
    assert queue.rates()
    assert queue.failures()
    assert queue.workers() == []
    assert queue.allow() == ["mails"]
    assert queue.find("dead")
    for state in dueq.State:
        list(queue.peek(state, page=1))
    assert [finding.kind for finding in queue.check()] == ["lost"]
    pages = queue.peek("delayed", page=1)
    owner.cancel(next(pages).id)
    assert next(pages)


def show(queue: dueq.Queue) -> None:
    """Two of each kind for a viewer."""
    queue.allow("mails")
    queue.push_many(dueq.Draft("x", id=id, dead_letter="mails") for id in ("o1", "o2"))
    queue.push_many(dueq.Draft("x", id=id) for id in ("dead", "d2"))
    for message in queue.reserve_many(4):
        message.bury()
    queue.push_many(["a", "b"])
    queue.reserve_many(2, lease=60)
    queue.push_many(["a", "b", dueq.Draft("high", priority=1)])
    queue.push_many(dueq.Draft("later", delay=3600) for _ in range(2))


Does: TypeAlias = Callable[[dueq.Queue, dueq.Queue], None]
USERS: dict[str, tuple[Callable[[dueq.Queue], None], Does]] = {
    "producer": (lambda owner: None, produce),
    "worker": (prepare, work),
    "viewer": (show, view),
}


@pytest.mark.parametrize("user", USERS)
def test_user_does_its_work_with_what_it_is_given(user: str) -> None:
    """All of it, and no more is given than is used."""
    before, does = USERS[user]
    with shop(user) as made, made.queue() as queue:
        before(made.all)
        if user == "worker":
            made.server.command("RPUSH", "dueq:{orders}:ready", "no ticket")
        elif user == "viewer":
            made.server.command("RPOP", "dueq:{orders}:ready")
        made.server.command("ACL", "LOG", "RESET")
        made.server.command("CONFIG", "RESETSTAT")
        does(queue, made.all)
        used = made.used()
        assert made.server.command("ACL", "LOG") == []
    plain = [words for words in lines(user) if not any(word.startswith("(") for word in words)]
    given = {word[1:].split("|")[0] for words in plain for word in words if word.startswith("+")}
    # Of calls whose connection is lost, of a session that ends, and of a URL with a database.
    assert given - used <= {"get", "select"}


def test_producer_pushes_with_its_first_line_alone() -> None:
    with shop("producer", most=1) as made, made.queue() as queue:
        push(queue)
        assert made.server.command("ACL", "LOG") == []


# ---- What each is refused ----

Verb: TypeAlias = Callable[[dueq.Queue, dueq.Message], object]
LOOKS: dict[str, Verb] = {
    "find": lambda queue, held: queue.find("held"),
    "peek": lambda queue, held: list(queue.peek("ready")),
    "stats": lambda queue, held: queue.stats(),
    "groups": lambda queue, held: queue.groups(),
    "rates": lambda queue, held: queue.rates(),
    "workers": lambda queue, held: queue.workers(),
    "failures": lambda queue, held: queue.failures(),
    "allow list": lambda queue, held: queue.allow(),
    "check": lambda queue, held: queue.check(),
}
PUSHES: dict[str, Verb] = {
    "push": lambda queue, held: queue.push("x"),
    "push later": lambda queue, held: queue.push("x", delay=60),
    "push own": lambda queue, held: queue.push("x", id="x"),
    "reschedule": lambda queue, held: queue.reschedule("later", delay=60),
    "pause": lambda queue, held: queue.pause(),
}
OWN: dict[str, Verb] = {
    "replace": lambda queue, held: queue.push("x", id="later", replace=True),
    "schedule": lambda queue, held: queue.schedule("a", "@daily", "x"),
    "cancel": lambda queue, held: queue.cancel("later"),
    "cancel many": lambda queue, held: queue.cancel_many(["later", "held"]),
}
SETTLES: dict[str, Verb] = {
    "reserve": lambda queue, held: queue.reserve(),
    "reserve many": lambda queue, held: queue.reserve_many(10),
    "ack": lambda queue, held: held.ack(),
    "ack many": lambda queue, held: queue.ack_many([held]),
    "ack push": lambda queue, held: held.ack(push=["x"]),
    "ack to": lambda queue, held: held.ack(push=["x"], to="mails"),
    "retry": lambda queue, held: held.retry(),
    "release": lambda queue, held: held.release(),
    "hold group": lambda queue, held: held.hold_group(60),
    "hold": lambda queue, held: queue.hold("acme", 60),
    "extend": lambda queue, held: held.extend(60),
    "checkpoint": lambda queue, held: held.checkpoint("5"),
    "bury": lambda queue, held: held.bury(),
    "kick": lambda queue, held: queue.kick("dead"),
    "kick all": lambda queue, held: queue.kick_all(),
    "kill": lambda queue, held: queue.kill("later"),
    "purge": lambda queue, held: queue.purge("ready"),
    "purge dead": lambda queue, held: queue.purge("dead"),
    "purge a group": lambda queue, held: queue.purge_group("acme"),
}
NOBODY: dict[str, Verb] = {
    "remove": lambda queue, held: queue.remove(),
    "allow": lambda queue, held: queue.allow("mails"),
    "allow any": lambda queue, held: queue.allow(any=True),
    "lock": lambda queue, held: queue.lock("nightly", ttl=60),
    "repair": lambda queue, held: queue.check(repair=True),
}
REFUSED: dict[str, dict[str, Verb]] = {
    "producer": LOOKS | OWN | SETTLES | NOBODY,
    "worker": {verb: LOOKS[verb] for verb in ("check", "allow list")} | NOBODY,
    "viewer": PUSHES | OWN | SETTLES | NOBODY,
}


@pytest.mark.parametrize(
    ("user", "verb"), [(user, verb) for user, verbs in REFUSED.items() for verb in verbs]
)
def test_user_is_refused(user: str, verb: str) -> None:
    """The producer is that of the first line."""
    with shop(user, most=0) as made:
        made.permit([["ACL", "SETUSER", user, "on", ">secret", "~*", "+@all"]])
        with made.queue() as queue:
            queue.push_many([dueq.Draft("dead", id="dead"), dueq.Draft("held", id="held")])
            take(queue).bury()
            held = take(queue)
            queue.push_many(["a", dueq.Draft("later", id="later", delay=3600)])
            made.all.push("x", dead_letter="mails")
            made.permit(lines(user)[: 1 if user == "producer" else None])
            before = made.holds()
            with pytest.raises(errors.DeniedError):
                REFUSED[user][verb](queue, held)
            assert made.holds() == before
            made.server.command("ACL", "SETUSER", user, "~*", "+@all")


@pytest.mark.parametrize("user", USERS)
def test_another_queue_is_refused(user: str) -> None:
    with shop(user) as made, made.queue("others") as queue:
        dueq.Queue("others", made.server.url).push("there")
        before = made.holds()
        for verb in (lambda: queue.push("x"), queue.reserve, queue.stats):
            with pytest.raises(errors.DeniedError):
                verb()
        assert made.holds() == before


def test_worker_puts_into_another_queue_and_takes_nothing_from_it() -> None:
    """By the selector, where the server has these."""
    with shop("worker") as made, made.queue() as queue:
        if not has_selectors(made.server):
            made.permit([["ACL", "SETUSER", "worker", "~dueq:{mails}:*"]])
        made.all.push("a", dead_letter="mails")
        made.all.push("b")
        take(queue).bury()
        take(queue).ack(push=["c", dueq.Draft("d", id="d", delay=3600)], to="mails")
        assert made.server.command("ACL", "LOG") == []
        assert queue.stats().outbox == 0
        with dueq.Queue("mails", made.server.url) as mails:
            assert (mails.stats().ready, mails.stats().delayed) == (2, 1)
        with dueq.Queue("mails", made.url) as mails:
            if not has_selectors(made.server):
                assert mails.reserve()
                return
            with pytest.raises(errors.DeniedError):
                mails.reserve()


def attack(made: Shop) -> dueq.Stats:
    """A producer of one queue names another one; a worker with rights on both buries it."""
    with Shop(made.server, "producer").queue() as queue:
        queue.push("forged", id="forged", headers={"by": "a producer"}, dead_letter="mails")
    with made.queue() as queue:
        take(queue).bury()
        return queue.stats()


@pytest.mark.parametrize("listed", [False, True])
def test_producer_of_one_queue_reaches_another_only_without_a_list(listed: bool) -> None:
    with shop("worker") as made, dueq.Queue("mails", made.server.url) as mails:
        made.permit(lines("producer")[:1])
        if not has_selectors(made.server):
            made.permit([["ACL", "SETUSER", "worker", "~dueq:{mails}:*"]])
        if listed:
            made.all.allow("orders-failed")
        stats = attack(made)
        assert made.server.command("ACL", "LOG") == []
        arrived = mails.reserve()
        if not listed:
            assert arrived
            assert (arrived.id, arrived.headers["by"]) == ("forged", "a producer")
            return
        assert arrived is None
        assert stats.outbox == 1
        assert stats.outbox_error.startswith("mails: the list of targets")


@pytest.mark.parametrize("command", ["UNLINK", "SET", "ZADD", "RPUSH", "HSET"])
def test_producer_cannot_change_the_list_by_a_script_of_its_own(command: str) -> None:
    with shop("producer") as made, made.queue() as queue:
        made.all.allow("orders-failed")
        with pytest.raises(errors.DeniedError):
            queue.allow(any=True)
        script = f"return redis.call('{command}', KEYS[1], unpack(ARGV))"
        with made.server.connect() as connection, connection.makefile("rb") as file:
            for words in (
                ["AUTH", "producer", "secret"],
                ["SCRIPT", "LOAD", script],
            ):
                connection.sendall(packed(words))
                sha = read_reply(file)
            assert isinstance(sha, bytes)
            connection.sendall(packed(["EVALSHA", sha, "1", "dueq:{orders}:targets", "1", "mails"]))
            with pytest.raises(Refused):
                read_reply(file)
        assert made.all.allow() == ["orders-failed"]


def test_read_only_keys_are_not_enough_for_a_viewer() -> None:
    with shop("viewer") as made, made.queue() as queue:
        if not has_selectors(made.server):
            with pytest.raises(Refused):
                made.permit([["ACL", "SETUSER", "viewer", "resetkeys", "%R~dueq:{orders}:*"]])
            return
        made.permit([["ACL", "SETUSER", "viewer", "resetkeys", "%R~dueq:{orders}:*"]])
        with pytest.raises(errors.DeniedError):
            queue.stats()


def test_prefix_of_names() -> None:
    with shop("producer", most=0) as made:
        made.permit([[word.replace("{orders}", "{shop-*}") for word in lines("producer")[0]]])
        for name in ("shop-1", "shop-"):
            assert made.queue(name).push("x")
        for name in ("shop", "orders"):
            with pytest.raises(errors.DeniedError):
                made.queue(name).push("x")
