"""What the machine works on: a server, and those who drive it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drafts import QUEUES
from drivers import Driver, c_driver, php_driver
from python_ends import PythonEnds
from raw import Connection
from raw_ends import EndsDriver

from private_server import Reply, Server
from script_sources import sources

CONTRACT = Path(__file__).parents[1] / "contract"
# What a time may be off: a run's own milliseconds, far less than a span.
SLACK_MS = 5_000


class Difference(AssertionError):
    """The product and the model do not agree."""


class World:
    """A server, those who drive it, and how many steps they have made."""

    def __init__(self, server: Server, drivers: Sequence[Driver]) -> None:
        self.drivers = list(drivers)
        self.steps = 0
        self.differences = 0
        self.sequence: list[str] = []  # what was done since the start
        self.failed: list[str] = []  # the first sequence that ended with a difference
        self.connection = Connection(server)
        self._pass = (CONTRACT / "pass.lua").read_text()
        self._check = (CONTRACT / "consistent.lua").read_text()

    def close(self) -> None:
        self.connection.close()
        for driver in self.drivers:
            driver.close()

    def start(self) -> None:
        self.sequence.clear()
        self.connection.command("FLUSHALL")
        for driver in self.drivers:
            driver.call({"do": "forget"})

    def differ(self, text: str) -> Difference:
        """Keeps the first: what the milliseconds of the clock decide need not be so again."""
        self.differences += 1
        self.failed = self.failed or [*self.sequence, text]
        return Difference(text)

    def pass_time(self, ms: int) -> None:
        self.connection.script(self._pass, [f"dueq:{{{name}}}:" for name in QUEUES], ms)

    def complaints(self) -> list[str]:
        """What is not true of the keys; relays that died before their last step leave notes."""
        found = self.connection.script(self._check, [f"dueq:{{{name}}}:" for name in QUEUES], "0")
        assert isinstance(found, list)
        lines = [line.decode() for line in found if isinstance(line, bytes)]
        return [line for line in lines if "was received and is no entry" not in line]

    def noted(self) -> dict[str, int | None]:
        """The times that reserve of each queue looks at before it looks for what is due."""
        calls = [("HGET", f"dueq:{{{name}}}:meta", "next_event") for name in QUEUES]
        found = zip(QUEUES, self.connection.commands(calls), strict=True)
        return {
            name: int(time) if isinstance(time, bytes) and time else None for name, time in found
        }

    def scores(self, queue: str, part: str) -> dict[str, int]:
        key = f"dueq:{{{queue}}}:{part}"
        return numbered(self.connection.command("ZRANGE", key, 0, -1, "WITHSCORES"))

    def groups(self, queue: str) -> Groups:
        """All at one time."""
        sets = ("turns", "parked", "timers", "rated", "holds", "begun")
        calls: list[list[str | bytes | int]] = [
            ["ZRANGE", f"dueq:{{{queue}}}:{part}", 0, -1, "WITHSCORES"] for part in sets
        ]
        calls.append(["HGETALL", f"dueq:{{{queue}}}:working"])
        calls.append(["HMGET", f"dueq:{{{queue}}}:meta", "turns", "returned", "limited"])
        *found, noted = self.connection.commands(calls)
        assert isinstance(noted, list)
        texts = [text.decode() if isinstance(text, bytes) else "" for text in noted]
        return Groups(texts[0], int(texts[1] or 0), texts[2] == "2", *map(numbered, found))

    def stamps(self, queue: str, ids: list[str]) -> list[str]:
        return [
            each[4:14].decode() if each and each[1] & 1 else "" for each in self.stored(queue, ids)
        ]

    def stored(self, queue: str, ids: list[str]) -> list[bytes]:
        """The envelopes of messages; empty: there is no such message."""
        if not ids:
            return []
        found = self.connection.command("HMGET", f"dueq:{{{queue}}}:msg", *ids)
        assert isinstance(found, list)
        return [each if isinstance(each, bytes) else b"" for each in found]

    def ids(self, queue: str) -> list[str]:
        found = self.connection.command("HKEYS", f"dueq:{{{queue}}}:msg")
        assert isinstance(found, list)
        return [each.decode() for each in found if isinstance(each, bytes)]


@dataclass
class Groups:
    """What a queue notes of its groups, by their names as tickets have them."""

    floor: str  # and the time given last
    returned: int  # how many were released
    limited: bool
    turns: dict[str, int]
    parked: dict[str, int]
    timers: dict[str, int]
    rated: dict[str, int]  # in microseconds
    holds: dict[str, int]
    begun: dict[str, int]
    working: dict[str, int]


def numbered(found: Reply) -> dict[str, int]:
    """What a sorted set, or a hash of numbers, holds."""
    assert isinstance(found, list)
    words = [word.decode() for word in found if isinstance(word, bytes)]
    return {t: int(float(score)) for t, score in zip(words[::2], words[1::2], strict=True)}


def three_languages(server: Server) -> World:
    """And the scripts alone, as a client that dies before it relays."""
    drivers: list[Driver] = [PythonEnds(server.url), php_driver(server.url)]
    return World(server, [*drivers, c_driver(server.url), EndsDriver(server, sources())])


def scripts_alone(server: Server, scripts: dict[str, str]) -> World:
    return World(server, [EndsDriver(server, scripts)])


def now_ms() -> int:
    return int(time.time() * 1000)


def near(seen: int, wanted: int, loose: int = 0) -> int:
    """What is seen, where it is about as wanted, or less by what chance may have made of it."""
    return seen if wanted and -loose - SLACK_MS <= seen - wanted <= SLACK_MS else wanted
