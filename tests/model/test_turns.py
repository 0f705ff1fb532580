"""What a reserve of groups leaves behind for other consumers: by the script alone."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from drafts import asked
from message import Draft
from raw import RawDriver

SCRIPT, NAME = "reserve_groups", "turns"
WAKE, LEASED, META = (f"dueq:{{{NAME}}}:{key}" for key in ("wake", "leased", "meta"))


def push(raw: RawDriver, body: bytes) -> None:
    raw.call({"do": "push", "queue": NAME, "drafts": [asked(Draft("", body, group="g"), 0, 0)]})


def test_message_that_stays_in_its_line_wakes_another_consumer(raw: RawDriver) -> None:
    """It crashed, so it is not delivered beside the one that was before it."""
    push(raw, b"crashes")
    [[held], _] = raw.reserve(NAME, 1, 60_000, [])
    raw.command("ZADD", LEASED, 1, held["ticket"])
    raw.command("HSET", META, "next_event", 1)
    [[held], _] = raw.reserve(NAME, 1, 60_000, [])
    assert held["crashes"] == 1
    push(raw, b"is well")
    retry = {"ticket": held["ticket"], "delay_ms": 0, "error": ""}
    raw.call({"do": "retry", "queue": NAME, **retry})
    # The consumer took the only token. It hands a token on, if it leaves a message.
    raw.command("DEL", WAKE)
    answer = raw.run(SCRIPT, NAME, 10, 60_000, "-r-ed-", 0)
    assert len(answer[7:]) == 2
    assert raw.command("ZRANGE", WAKE, 0, -1) == [b"w"]
    [[left], _] = raw.reserve(NAME, 10, 60_000, [])
    assert left["crashes"] == 1
