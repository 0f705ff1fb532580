"""One message with a group that falls due: reserve_groups takes it as reserve_groups_full does."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from drafts import asked
from layout import packed
from message import Draft
from raw import RawDriver

GROUPS = ["a", "b", "c", "d", "e", "f", "g", ""]
AN_HOUR_MS = 3_600_000


class Twin:
    """A queue, and the script that serves it first."""

    def __init__(self, raw: RawDriver, name: str, *scripts: str) -> None:
        self.raw, self.name, self.scripts = raw, name, scripts
        self.push("a", b"0000")

    def key(self, name: str) -> str:
        return f"dueq:{{{self.name}}}:{name}"

    def push(self, group: str, body: bytes, delay_ms: int = 0) -> None:
        draft = asked(Draft("", body, group=group, due_ms=delay_ms), 0, 0)
        _, words = packed([draft])
        self.raw.run("push_group_full", self.name, *words)

    def push_due(self, group: str, body: bytes) -> None:
        self.push(group, body, AN_HOUR_MS)
        found = self.raw.command("ZRANGE", self.key("delayed"), -1, -1)
        assert isinstance(found, list)
        assert isinstance(found[0], bytes)
        # In the order in which they were pushed.
        self.raw.command("ZADD", self.key("delayed"), int(body), found[0])
        self.raw.command("HSET", self.key("meta"), "next_event", 1)

    def take(self) -> list[bytes]:
        for script in self.scripts:
            answer = self.raw.run(script, self.name, 1, 60_000, "---e--", 0)
            if answer is not None:
                return [envelope[-4:] for envelope in answer[8::2]]
        raise AssertionError("no script serves the queue")


def compare_twins(raw: RawDriver) -> None:
    for seed in range(30):
        chance = random.Random(seed)
        some = GROUPS[: chance.randrange(2, len(GROUPS) + 1)]
        full = "reserve_groups_full"
        twins = [
            Twin(raw, f"fast-{seed}", "reserve_groups", full),
            Twin(raw, f"full-{seed}", full),
        ]
        waiting = 1
        for number in range(1, 80):
            step, group = chance.choice(["ready", "due", "due", "take", "take", "take"]), ""
            if step != "take":
                group, waiting = chance.choice(some), waiting + 1
            body = b"%04d" % number
            found: list[list[bytes]] = []
            for twin in twins:
                if step == "ready":
                    twin.push(group, body)
                elif step == "due":
                    twin.push_due(group, body)
                else:
                    found.append(twin.take())
            if step == "take":
                assert found[0] == found[1], (seed, number)
                waiting -= len(found[0])
            if not waiting:
                # With the last message the fast script forgets the groups. The full one does so
                # when it finds none.
                assert [twin.take() for twin in twins] == [[], []]


def test_what_is_due_alone_is_taken_in_the_same_order(raw: RawDriver) -> None:
    compare_twins(raw)
