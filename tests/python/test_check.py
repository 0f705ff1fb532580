"""What others break in a queue, that a check finds it, and that it is repaired without a loss."""

import asyncio
import contextlib
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from typing import Any

import pytest

import dueq
import dueq.aio
from private_server import Server

KEYS = {
    "list": ["ready", "high", "low", "quarantine", "rates"],
    "hash": ["msg", "attempts", "handover", "meta"],
    "zset": ["delayed", "leased", "dead", "outbox", "unique", "wake", "received"],
}


class Patient:
    """A queue with messages in every state, and what breaks it."""

    def __init__(self, server: Server, queue: dueq.Queue) -> None:
        self.server, self.queue = server, queue
        self.other = dueq.Queue("elsewhere", server.url)
        self.fill()

    def fill(self) -> None:
        queue = self.queue
        # On their way to a queue that cannot be reached.
        self.redis("SET", "dueq:{elsewhere}:msg", "a foreign value")
        queue.push("out", id="out", dead_letter="elsewhere")
        queue.push("ends", id="ends")
        for id in ("dead", "held", "again"):
            queue.push(id, id=id)
        held = {m.id: m for m in queue.reserve_many(5, lease=600)}
        held["out"].bury("why")
        held["dead"].bury("why")
        held["again"].retry(0)
        held["ends"].ack()
        self.held = held["held"]
        queue.push_many([dueq.Draft(f"body {n}") for n in range(6)])
        queue.push_many([dueq.Draft("", id=f"own {n}", unique=900) for n in range(6)])
        queue.push_many([dueq.Draft("", id=f"late {n}", delay=900) for n in range(4)])
        queue.push_many([dueq.Draft("", id=f"high {n}", priority=1) for n in range(3)])
        queue.push("", id="cancelled")
        queue.cancel("cancelled")
        self.ids = {m.id for m in queue.peek("ready")} | {f"late {n}" for n in range(4)}

    def key(self, name: str) -> str:
        return f"dueq:{{{self.queue.name}}}:{name}"

    def redis(self, *words: str | bytes | int) -> Any:
        return self.server.command(*words)

    def __call__(self, command: str, name: str, *words: str | bytes | int) -> Any:
        return self.redis(command, self.key(name), *words)

    def ticket(self, id: str) -> bytes:
        """Of one that waits in a line, is delayed, leased or dead."""
        for name in ("ready", "high", "low"):
            for ticket in self("LRANGE", name, 0, -1):
                if ticket.endswith(id.encode()):
                    return ticket  # type: ignore[no-any-return]
        for name in ("delayed", "leased", "dead", "outbox"):
            for ticket in self("ZRANGE", name, 0, -1):
                if ticket.endswith(id.encode()):
                    return ticket  # type: ignore[no-any-return]
        raise AssertionError(id)

    def wrong(self, repair: bool = False) -> dict[str, int]:
        found = self.queue.check(repair)
        return {f.kind: f.count for f in found if f.wrong and f.kind != "outbox"}

    def drain(self) -> Counter[str]:
        """Who is delivered, and how often."""
        for id in [m.id for m in self.queue.peek("delayed")]:
            self.queue.reschedule(id)
        met: Counter[str] = Counter()
        while message := self.queue.reserve():
            met[message.id] += 1
            message.ack()
        return met


@pytest.fixture
def patient(server: Server, queue: dueq.Queue) -> Patient:
    return Patient(server, queue)


def test_nothing_is_wrong(patient: Patient) -> None:
    assert patient.wrong() == {}
    found = {f.kind: f for f in patient.queue.check()}
    assert found["stale"].count == 1
    assert found["stale"].examples[0].endswith(":cancelled")
    assert found["outbox"].wrong
    assert found["outbox"].examples[0].startswith("elsewhere: ")
    assert patient.queue.check(repair=True)
    assert patient.drain() == Counter(patient.ids)


def test_a_queue_that_is_not_there(queue: dueq.Queue) -> None:
    assert queue.check() == []
    assert queue.check(repair=True) == []


def test_progress(patient: Patient) -> None:
    seen: list[int] = []
    patient.queue.check(progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] >= len(patient.ids)


def test_aio(patient: Patient) -> None:
    async def check() -> list[dueq.Finding]:
        async with dueq.aio.Queue(patient.queue.name, patient.server.url) as queue:
            return await queue.check()

    assert asyncio.run(check()) == patient.queue.check()


Break = Callable[[Patient], Any]
BREAKS: dict[str, tuple[Break, dict[str, int]]] = {
    "line gone": (lambda p: p("DEL", "ready"), {"lost": 13}),
    "line of priority gone": (lambda p: p("DEL", "high"), {"lost": 3}),
    "delayed gone": (lambda p: p("DEL", "delayed"), {"lost": 4}),
    "leased gone": (lambda p: p("DEL", "leased"), {"lost": 1}),
    "dead gone": (lambda p: p("DEL", "dead"), {"lost": 1}),
    "outbox gone": (lambda p: p("DEL", "outbox"), {"lost": 1, "record": 1}),
    "a ticket gone": (lambda p: p("LREM", "ready", 0, p.ticket("own 3")), {"lost": 1}),
    "delayed tickets gone": (
        lambda p: p("ZREM", "delayed", p.ticket("late 1"), p.ticket("late 2")),
        {"lost": 2},
    ),
    "delayed message gone": (lambda p: p("HDEL", "msg", "late 0"), {"orphaned": 1}),
    "dead message gone": (lambda p: p("HDEL", "msg", "dead"), {"orphaned": 1, "record": 1}),
    "ready and delayed": (
        lambda p: p("ZADD", "delayed", 1, p.ticket("own 2")),
        {"doubled": 1, "notes": 1},
    ),
    "ready twice": (lambda p: p("RPUSH", "ready", p.ticket("own 2")), {"doubled": 1}),
    "leased and ready": (lambda p: p("RPUSH", "ready", p.held.ticket), {"doubled": 1}),
    "leased, dead and delayed": (
        lambda p: [p("ZADD", name, 9 * 10**15, p.held.ticket) for name in ("dead", "delayed")],
        {"doubled": 2},
    ),
    "ready in two lines": (lambda p: p("RPUSH", "low", p.ticket("own 2")), {"doubled": 1}),
    "damaged and ready": (lambda p: p("HSET", "msg", "own 1", "no envelope"), {"corrupt": 1}),
    "damaged and delayed": (lambda p: p("HSET", "msg", "late 1", "no envelope"), {"corrupt": 1}),
    "damaged without a ticket": (lambda p: p("HSET", "msg", "nobody", "x"), {"corrupt": 1}),
    "garbage in a line": (lambda p: p("LPUSH", "ready", "\x00 no ticket"), {"garbage": 1}),
    "garbage in delayed": (
        lambda p: p("ZADD", "delayed", 9 * 10**15, "no ticket", "inf", ""),
        {"garbage": 2},
    ),
    "garbage in leased": (lambda p: p("ZADD", "leased", "inf", "no ticket"), {"garbage": 1}),
    "garbage in dead": (lambda p: p("ZADD", "dead", "-inf", "no ticket"), {"garbage": 1}),
    "garbage in the outbox": (
        lambda p: p("ZADD", "outbox", 9 * 10**15, "no ticket"),
        {"garbage": 1},
    ),
    "garbage in messages": (lambda p: p("HSET", "msg", b"\xff\n", "x"), {"garbage": 1}),
    "attempts gone": (lambda p: p("DEL", "attempts"), {"attempts": 3}),
    "attempts are garbage": (lambda p: p("HSET", "attempts", "again", "??"), {"attempts": 1}),
    "attempts of nobody": (lambda p: p("HSET", "attempts", "nobody", "1 0 0 - "), {"record": 1}),
    "handover of nobody": (lambda p: p("HSET", "handover", "nobody", "1 x: y"), {"record": 1}),
    "no next event": (lambda p: p("HDEL", "meta", "next_event"), {"notes": 1}),
    "a late next event": (lambda p: p("HSET", "meta", "next_event", 4 * 10**12), {"notes": 1}),
    "garbage for a time": (lambda p: p("HSET", "meta", "outbox_event", "soon"), {"notes": 1}),
    "no mark of priorities": (lambda p: p("HSET", "meta", "has_priorities", ""), {"notes": 1}),
    "counters": (lambda p: p("HSET", "meta", "acked", "many", "pushed", "1e300"), {"notes": 2}),
    "meta gone": (lambda p: p("DEL", "meta"), {"notes": 3}),
}
# Whose place is another one afterwards, so that they come as well, or not any more.
ENDS = {
    "leased gone": {"held"},
    "dead gone": {"dead"},
    "outbox gone": {"out"},
}
GONE = {
    "delayed message gone": {"late 0"},
    "damaged and ready": {"own 1"},
    "damaged and delayed": {"late 1"},
}


@pytest.mark.parametrize("name", BREAKS)
def test_break(patient: Patient, name: str) -> None:
    act, wrong = BREAKS[name]
    act(patient)
    assert patient.wrong() == wrong
    assert patient.wrong() == wrong
    assert patient.wrong(repair=True) == wrong
    assert patient.wrong() == {}
    assert patient.queue.stats().ready == len(list(patient.queue.peek("ready")))
    assert patient.drain() == Counter((patient.ids | ENDS.get(name, set())) - GONE.get(name, set()))
    assert patient.wrong() == {}


@pytest.mark.parametrize("name", [name for names in KEYS.values() for name in names])
def test_foreign_type(patient: Patient, name: str) -> None:
    patient("SET", name, "a foreign value")
    wrong = patient.wrong()
    assert wrong["type"] == 1
    assert patient.wrong(repair=True)["type"] == 1
    assert patient("GET", f"quarantine:{name}") == b"a foreign value"
    assert patient.wrong() == {}
    patient.queue.push("later", id="later")
    # With `msg` the messages are gone; what was not ready may be ready now.
    kept = set() if name == "msg" else patient.ids
    met = patient.drain()
    assert set(met) >= kept | {"later"}
    assert set(met.values()) == {1}
    assert patient.wrong() == {}


def test_damaged_ones_are_dead_with_their_error(patient: Patient) -> None:
    patient("HSET", "msg", "own 1", "no envelope")
    patient.queue.check(repair=True)
    assert patient.queue.stats().dead == 2
    assert b"damaged envelope" in patient("HGET", "attempts", "own 1")


def test_what_is_no_message_is_kept(patient: Patient) -> None:
    patient("HSET", "msg", b"\xff\n", "what it was")
    patient("RPUSH", "ready", "no ticket")
    patient.queue.check(repair=True)
    assert patient("HGET", "quarantine:messages", b"\xff\n") == b"what it was"
    assert patient("LRANGE", "quarantine", 0, -1) == [b"no ticket"]


def test_cancelled_ones_leave_the_lines(queue: dueq.Queue, server: Server) -> None:
    ids = queue.push_many([dueq.Draft("") for _ in range(3000)])
    queue.cancel_many([id for n, id in enumerate(ids) if id and n % 3])
    found = {f.kind: f for f in queue.check(repair=True)}
    assert (found["stale"].count, found["stale"].repaired) == (2000, 2000)
    assert server.command("LLEN", f"dueq:{{{queue.name}}}:ready") == 1000
    assert [m.id for m in queue.peek("ready")] == ids[::3]
    assert queue.check() == []


def test_what_is_lost_in_a_long_line(queue: dueq.Queue, server: Server) -> None:
    ids = queue.push_many([dueq.Draft("") for _ in range(60_000)])
    line = f"dueq:{{{queue.name}}}:ready"
    for place in range(0, 60_000, 1000):
        server.command("LREM", line, 1, str(ids[place]))
    lost = {f.kind: f.count for f in queue.check()}
    assert lost == {"lost": 60}
    assert {f.kind: f.count for f in queue.check(repair=True)} == {"lost": 60}
    assert queue.check() == []
    tickets: Any = server.command("LRANGE", line, 0, -1)
    assert Counter(tickets) == Counter(str(id).encode() for id in ids)


# ---- While it is in use ----


def produce(name: str, url: str, over: Event, sent: "SimpleQueue[list[str]]", mark: str) -> None:
    pushed: list[str] = []
    with dueq.Queue(name, url) as queue:
        number = 0
        while not over.wait(0.02):
            number += 1
            drafts = [
                dueq.Draft("", id=f"{mark} {number} {n}", delay=n % 3 * 0.05, priority=n % 5 // 4)
                for n in range(20)
            ]
            # A batch is stored as a whole or, while a key is of another type, not at all.
            with contextlib.suppress(dueq.errors.WrongTypeError):
                pushed += [str(id) for id in queue.push_many(drafts)]
                if number % 7 == 0 and queue.cancel(pushed[-1]):
                    pushed.pop()
    sent.put(pushed)


def settle(message: dueq.Message, n: int) -> bool:
    """Whether it is done with."""
    if message.attempt == 1 and n % 4 == 0:
        message.retry(0.01 * (n % 3))
    elif message.deliveries < 3 and n % 5 == 0:
        message.release()
    else:
        message.ack()
        return True
    return False


def work(
    name: str, url: str, over: Event, done: "SimpleQueue[list[str]]", lease: float, *lost: Any
) -> None:
    """lost: what may come of a message, or a reserve, where somebody breaks the queue."""
    met = []
    with dueq.Queue(name, url) as queue:
        while not over.is_set():
            messages: list[dueq.Message] = []
            with contextlib.suppress(*lost):
                messages = queue.reserve_many(10, timeout=0.2, lease=lease)
            for n, message in enumerate(messages):
                with contextlib.suppress(*lost):
                    if settle(message, n):
                        met.append(message.id)
    done.put(met)


class Traffic:
    """Two processes that push and two that work, until it is ended."""

    def __init__(self, server: Server, name: str, lease: float, *lost: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pushes, self.works = context.Event(), context.Event()
        self.sent: SimpleQueue[list[str]] = context.SimpleQueue()
        self.done: SimpleQueue[list[str]] = context.SimpleQueue()

        def start(run: Callable[..., None], *words: Any) -> SpawnProcess:
            process = context.Process(target=run, args=(name, server.url, *words), daemon=True)
            process.start()
            return process

        self.processes = [
            *(start(produce, self.pushes, self.sent, mark) for mark in "ab"),
            *(start(work, self.works, self.done, lease, *lost) for _ in range(2)),
        ]

    def end(self, queue: dueq.Queue) -> tuple[Counter[str], Counter[str]]:
        """What was pushed, and what was acknowledged when the queue was empty."""
        self.pushes.set()
        sent = Counter(self.sent.get() + self.sent.get())
        deadline = time.monotonic() + 60
        while queue.stats().ready + queue.stats().delayed + queue.stats().leased:
            assert time.monotonic() < deadline, queue.stats()
            time.sleep(0.05)
        self.works.set()
        done = Counter(self.done.get() + self.done.get())
        for process in self.processes:
            process.join()
        return sent, done


@pytest.mark.parametrize("repair", [False, True])
def test_a_busy_queue_has_nothing_wrong(queue: dueq.Queue, server: Server, repair: bool) -> None:
    traffic = Traffic(server, queue.name, 60)
    until, wrong, checks = time.monotonic() + 6, [], 0
    while time.monotonic() < until:
        wrong += [f for f in queue.check(repair) if f.wrong]
        checks += 1
    sent, done = traffic.end(queue)
    assert wrong == []
    assert done == sent
    assert checks > 5


def take_away(server: Server, line: str) -> None:
    """The first tickets of a line; workers may have left none for a while."""
    until = time.monotonic() + 30
    while not server.command("LPOP", line, 10):
        assert time.monotonic() < until
        time.sleep(0.005)


def test_a_busy_queue_is_repaired(queue: dueq.Queue, server: Server) -> None:
    key = f"dueq:{{{queue.name}}}:"
    traffic = Traffic(server, queue.name, 3, dueq.LeaseLost, dueq.errors.WrongTypeError)
    found: Counter[str] = Counter()
    for turn in range(12):
        time.sleep(0.2)
        match turn % 6:
            case 0:
                take_away(server, key + "ready")
            case 1:
                server.command("DEL", key + "delayed")
            case 2:
                server.command("SET", key + "ready", "a foreign value")
            case 3:
                server.command("DEL", key + "meta")
            case 4:
                server.command("ZADD", key + "leased", "0", "garbage", "0", "0:nobody")
            case 5:
                server.command("SET", key + "delayed", "a foreign value")
        for finding in queue.check(repair=True):
            found[finding.kind] += finding.wrong
    queue.check(repair=True)
    sent, done = traffic.end(queue)
    assert found["lost"]
    assert found["type"]
    assert set(done) == set(sent)
    assert not [f for f in queue.check() if f.wrong]
