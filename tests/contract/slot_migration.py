"""Runs recorded calls of scripts while their slot moves between nodes of a cluster, key by key.

There, a script may not touch a key that is not there any more: the server refuses that command in
the middle of the script.

    python tests/contract/slot_migration.py [SCRIPT...]

tells of each script which of its calls go wrong then, and which keys it touches after it removed
from them.
"""

import contextlib
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "topology"))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from recorder import Answer, Call, Line, Recorder, Word, bulk
from situations import situations
from test_contract import Run

import dueq
import dueq.redisson
from cluster import Cluster
from node import Node, slot_of
from script_sources import sources

TRACED = Path(__file__).with_name("traced.lua").read_text(encoding="utf-8")
# What stands in a key that a call finds empty, so that the call is let in. No message has this
# ticket, nor id.
HOLE = "0000000000000000000000"
HOLES: dict[str, tuple[Word, ...]] = {
    "LIST": ("RPUSH", HOLE),
    "ZSET": ("ZADD", 10**15, HOLE),
    "HASH": ("HSET", HOLE, "0"),
    "STRING": ("SET", "0 0"),
    "SET": ("SADD", HOLE),
}
KINDS = {
    **dict.fromkeys(("ready", "high", "low", "rates", "quarantine", "failures"), "LIST"),
    **dict.fromkeys(("msg", "attempts", "handover", "meta", "partitions"), "HASH"),
    **dict.fromkeys(("described", "timings", "groups", "lines", "limits"), "HASH"),
    **dict.fromkeys(("working", "ends", "started", "guests", "batches", "batch_ends"), "HASH"),
    **dict.fromkeys(("served_even", "served_odd"), "HASH"),
    **dict.fromkeys(("delayed", "leased", "dead", "outbox", "received", "unique"), "ZSET"),
    **dict.fromkeys(("wake", "lock_wake", "members", "consumers", "turns"), "ZSET"),
    **dict.fromkeys(("parked", "timers", "rated", "holds", "begun"), "ZSET"),
    **dict.fromkeys(("kept", "awaited", "end_wake"), "ZSET"),
    **dict.fromkeys(("reply", "lock"), "STRING"),
    "targets": "SET",
}
# How servers refuse a command of a script whose key is on another node. Redis 8 has the second
# text, for a command with several keys.
REFUSALS = ("non local key", "undeclared keys were accessed during rehashing")
REMOVALS = {"DEL", "UNLINK", "HDEL", "ZREM", "ZPOPMIN", "ZREMRANGEBYSCORE", "ZREMRANGEBYRANK"}
REMOVALS |= {
    "ZPOPMAX",
    "ZMPOP",
    "LPOP",
    "RPOP",
    "LMPOP",
    "LREM",
    "LTRIM",
    "SREM",
    "LMOVE",
    "GETDEL",
    "RENAME",
}


@dataclass(frozen=True)
class Script:
    name: str
    source: str

    @property
    def sha1(self) -> bytes:
        return hashlib.sha1(self.source.encode()).hexdigest().encode()

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Of each declared key its name and its type."""
        [declared] = re.findall(r"^local (.+) = KEYS\[1\]", self.source, re.MULTILINE)
        return [(name, KINDS[name]) for name in declared.split(", ")]


@cache
def scripts() -> list[Script]:
    """Those of the core, as it sends them."""
    return [Script(name, source) for name, source in sources().items()]


# ---- What is called ----


def recorded() -> list[Call]:
    """The calls of the contract, and of what else makes calls that are unlike those."""
    with Recorder() as recorder:
        for situation in situations():
            recorder.situation = situation.name
            run = Run(recorder, situation)
            # Whether it is as it should be, test_contract.py says.
            with contextlib.suppress(AssertionError):
                for step in situation.steps:
                    run.step(step)
        consume(recorder)
        consume_members(recorder)
        share(recorder)
        lose_answers(recorder)
        return recorder.calls


def share(recorder: Recorder) -> None:
    """Consumers share partitions, and the number of these is doubled."""
    recorder.situation = name = "partitions"
    with dueq.Queue(name, recorder.url, partitions=4) as queue:
        queue.push_many(dueq.Draft("a", key=f"customer-{i}") for i in range(8))
        for message in queue.consume(timeout=0.5):
            with message:
                for other in queue.consume(timeout=1.2):
                    other.ack()
    double = ["dueq", "repartition", name, "--to", "8", "--url", f"{recorder.url}?timeout=500ms"]
    subprocess.run(double, check=True, capture_output=True)


def consume(recorder: Recorder) -> None:
    """A loop settles what it holds, and takes the next, in one call."""
    shapes: dict[str, dict[str, Any]] = {
        "plain": {},
        "at once": {"backoff": 0},
        "high": {"priority": 1, "backoff": 0},
        "last attempt": {"max_attempts": 1},
        "drop": {"max_attempts": 1, "drop": True},
        "dead letter": {"max_attempts": 1, "dead_letter": "{} elsewhere"},
        "ttl": {"ttl": 60, "backoff": 0},
        "kept": {"keep": 60},
    }
    for shape, options in shapes.items():
        for ids in ("made", "given"):
            for prefetch in (1, 2, 3):
                for way in ("acked", "failed"):
                    name = f"consume {shape}, ids {ids}, {prefetch} at a time, {way}"
                    recorder.situation = name
                    consume_one(recorder.url, name, options, ids == "given", prefetch, way)


def consume_members(recorder: Recorder) -> None:
    """The ends of some are kept, too, and others are in no batch."""
    recorder.situation = name = "consume members"
    with dueq.Queue(name, recorder.url) as queue, queue.batch(finally_="done") as batch:
        batch.push_many(str(n) for n in range(4))
        batch.push_many(dueq.Draft(str(n), keep=60) for n in range(4))
        batch.push("one")
        queue.push("in no batch")
        for n in range(2):
            queue.push(str(n), keep=60)
        consumer = queue.consume(2, max_run=None, timeout=0.01)
        consumer.work(lambda _: None, lambda *_: None)
        batch.push("acknowledged by itself")
        for message in queue.reserve_many(1):
            message.ack()


def consume_one(
    url: str, name: str, options: dict[str, Any], given: bool, prefetch: int, way: str
) -> None:
    def handle(message: dueq.Message) -> None:
        if way == "failed":
            raise RuntimeError("no")

    if "dead_letter" in options:
        options = {**options, "dead_letter": options["dead_letter"].format(name)}
    with dueq.Queue(name, url) as queue:
        queue.push_many(
            dueq.Draft(
                str(n),
                id=str(n) if given else None,
                delay=0.001 if n % 2 else None,
                **{"max_attempts": 2, **options},
            )
            for n in range(4)
        )
        queue.consume(prefetch, max_run=None, timeout=0.01).work(handle, lambda *_: None)


def lose_answers(recorder: Recorder) -> None:
    """What a client asks whose connection broke before the answer."""
    recorder.situation = "an answer is lost"
    with dueq.Queue("lost", recorder.url) as queue:
        for call in (lambda: queue.push("x"), queue.reserve):
            call()
            recorder.cut = True
            call()
    with dueq.redisson.DelayedQueue("lost", recorder.url) as java:
        java.offer("x", delay=60)
        recorder.cut = True
        java.offer("y", delay=60)


# ---- Where it is called ----


@dataclass(frozen=True)
class Command:
    """One in a script: its keys' places among KEYS, and whether they were there afterwards."""

    name: str
    removes: bool
    keys: tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class Ran:
    """What became of a call."""

    answer: Answer
    failed: bool
    before: list[Answer]
    after: list[Answer]
    """Digests of what each key holds, and how many keys there are."""
    commands: list[Command]


class Runner:
    """Runs calls on a node of a cluster."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.send = Line(node)
        self._loaded: dict[Script, str] = {}

    def run(self, script: Script, call: Call, *state: str) -> Ran:
        """Runs a call where its slot is in that state (none: this node's own, and it stays)."""
        if script not in self._loaded:
            source = TRACED.replace("-- script\n", script.source)
            self._loaded[script] = self.node.text("SCRIPT", "LOAD", source)
        slot = slot_of(call.keys[0])
        # What has an end is not to end meanwhile.
        begin: list[Sequence[Word]] = [
            ("RESTORE-ASKING", key, 3_600_000 if ends else 0, content or b"")
            for key, (content, ends) in dict(zip(call.keys, call.before, strict=True)).items()
        ]
        # A slot that leaves takes no new keys any more, and one that comes takes them only then.
        if state:
            begin.insert(
                0 if state[0] == "IMPORTING" else len(begin), ("CLUSTER", "SETSLOT", slot, *state)
            )
        content: list[Sequence[Word]] = [("DEBUG", "DIGEST-VALUE", *call.keys), ("DBSIZE",)]
        words: list[Word] = [*call.keys, *call.arguments, *call.time, int(not state)]
        answers = self.send(
            *begin,
            *content,
            ("ASKING",),
            ("EVALSHA", self._loaded[script], len(call.keys), *words),
            *content,
            ("CLUSTER", "SETSLOT", slot, "STABLE"),
            ("FLUSHALL",),
        )
        assert {str(answer) for answer in (*answers[: len(begin)], *answers[-2:])} == {"b'OK'"}
        before, answer, after = answers[-8:-6], answers[-5], answers[-4:-2]
        if not isinstance(answer, list):
            return Ran(answer, True, before, after, [])
        fine, answer, told = answer
        assert isinstance(told, list)
        failed = not fine or isinstance(answer, str)
        return Ran(answer, failed, before, after, [command(line) for line in told])


def command(told: Answer) -> Command:
    name, done, *words = bulk(told).decode().upper().split(" ")
    places = zip(words[::2], words[1::2], strict=True)
    keys = tuple((int(place), there == "1") for place, there in places)
    return Command(name, name in REMOVALS and done == "1", keys)


@contextmanager
def runners() -> Iterator[tuple[Runner, Runner]]:
    """On two nodes; all slots are the first one's."""
    with Cluster(1, spare=1) as cluster:
        one, two = map(Runner, cluster.nodes)
        with closing(one.send), closing(two.send):
            yield one, two


# ---- What becomes of it ----


class Trials:
    """Runs calls where their slot stays, and where it moves, and compares."""

    def __init__(self, one: Runner, two: Runner) -> None:
        self._one, self._two = one, two
        self._holes: dict[str, bytes] = {}
        for kind, (name, *words) in HOLES.items():
            _, content, _ = one.send((name, kind, *words), ("DUMP", kind), ("DEL", kind))
            self._holes[kind] = bulk(content)

    def run(self, script: Script, call: Call) -> tuple[list[str], set[str]]:
        """Returns what is wrong, and which keys it touches after it removed from them."""
        if len(call.keys) > len(script.keys) or len({slot_of(key) for key in call.keys}) != 1:
            return ["it has keys of another slot, or that it does not declare"], set()
        # A server refuses a call before it runs when one of its keys is not there.
        before = tuple(
            (self._holes[kind], False) if content is None else (content, ends)
            for (content, ends), (_, kind) in zip(call.before, script.keys, strict=False)
        )
        call = replace(call, before=before)
        stays = self._one.run(script, call)
        moves = {
            "leaves": self._one.run(script, call, "MIGRATING", self._two.node.id),
            "comes": self._two.run(script, call, "IMPORTING", self._one.node.id),
        }
        found = {how: differs(script, stays, ran) for how, ran in moves.items()}
        wrong = [f"the slot {how}: {what}" for how, what in found.items() if what]
        return wrong, touches(script, stays)


def differs(script: Script, stays: Ran, moves: Ran) -> str:
    """
    How a call goes another way than where its slot stays. '': it does not, or a command of it was
    refused before it changed anything.
    """
    refused = moves.failed and any(words in str(moves.answer) for words in REFUSALS)
    if refused and moves.after == moves.before:
        return ""
    if (moves.answer, moves.after) == (stays.answer, stays.after):
        return ""
    assert isinstance(stays.after[0], list)
    assert isinstance(moves.after[0], list)
    digests = zip(stays.after[0], moves.after[0], strict=True)
    names = [name for (name, _), (a, b) in zip(script.keys, digests, strict=False) if a != b]
    how = "dies" if refused else "fails" if moves.failed else "answers"
    return f"it {how} and other content is left in {', '.join(names) or 'no key'}"


def touches(script: Script, ran: Ran) -> set[str]:
    found, removals = set[str](), dict[int, tuple[str, bool]]()
    for command in ran.commands:
        for place, there in command.keys:
            key = script.keys[place - 1][0]
            if place in removals:
                removal, left = removals[place]
                found.add(f"{key}: {removal}{'' if left else ', it is gone'}, then {command.name}")
            if command.removes:
                removals[place] = command.name, there
    return found


def report(trials: Trials, script: Script, calls: list[Call]) -> str:
    """What is wrong with a script, a line each; '': nothing is."""
    own = [call for call in calls if call.sha1 == script.sha1]
    if not own:
        return f"{script.name}: nobody calls it; or what is built has another version of it"
    faults: dict[str, list[str]] = {}
    for call in own:
        wrong, touched = trials.run(script, call)
        for line in (*wrong, *touched):
            faults.setdefault(line, []).append(call.situation)
    return "\n".join(
        f"{script.name}: {line} ({len(found)} calls, as of {found[0]})"
        for line, found in sorted(faults.items())
    )


def main(names: list[str]) -> None:
    calls = recorded()
    with runners() as both:
        trials = Trials(*both)
        for script in scripts():
            if not names or script.name in names:
                print(report(trials, script, calls) or f"{script.name}: nothing is wrong")


if __name__ == "__main__":
    main(sys.argv[1:])
