"""What the tests of protocol.md share: its text, the golden tables, a queue from inside."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import dueq

sys.path.insert(0, str(Path(__file__).parent / "topology"))
sys.path.insert(0, str(Path(__file__).parent / "python"))

from private_server import Reply, Server

ROOT = Path(__file__).parents[1]
DOCUMENT = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("internals/protocol.md", "internals/client.md", "security.md", "reference.md")
)
MADE_ID = "034q4HWvPr75LHPWlJby2F"


def golden(name: str) -> list[list[str]]:
    lines = (ROOT / f"tests/golden/{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def section(heading: str) -> str:
    """A section of the first page that has it, without its subsections' siblings."""
    found = re.search(rf"^(#+) {heading}$\n(.*?)(?=^\1 |^## |\Z)", DOCUMENT, flags=re.S | re.M)
    assert found, heading
    return found[2]


def whole_ticket(group: bytes, form: bytes) -> bytes:
    """The ticket that a line of the group has in this form."""
    return form if not group or b":" in form else b"0.=" + group + b":" + form


class Inside:
    """A queue, and its keys as they are in the server."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.queue = dueq.Queue(name, server.url)

    def key(self, part: str) -> str:
        return f"dueq:{{{self.name}}}:{part}"

    def command(self, command: str, part: str, *words: str | bytes | int) -> Reply:
        return self.server.command(command, self.key(part), *words)

    def read(self, command: str, part: str, *words: str | bytes | int) -> list[bytes]:
        found = self.command(command, part, *words)
        assert isinstance(found, list)
        return [item for item in found if isinstance(item, bytes)]

    def number(self, command: str, part: str, *words: str | bytes | int) -> int:
        found = self.command(command, part, *words)
        assert isinstance(found, int)
        return found

    def hash(self, part: str) -> dict[bytes, bytes]:
        flat = self.read("HGETALL", part)
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def scores(self, part: str) -> dict[bytes, float]:
        flat = self.read("ZRANGE", part, 0, -1, "WITHSCORES")
        return dict(zip(flat[::2], map(float, flat[1::2]), strict=True))

    def tickets(self) -> dict[str, list[bytes]]:
        found = {part: self.read("LRANGE", part, 0, -1) for part in ["high", "ready", "low"]}
        for part in ["delayed", "leased", "dead", "outbox"]:
            found[part] = self.read("ZRANGE", part, 0, -1)
        texts = [(field.rpartition(b"\t")[0], text) for field, text in self.hash("lines").items()]
        for name, mark in self.hash("groups").items():
            tail = 22 + int.from_bytes(mark[20:22], "big")
            texts += [(name, mark[22:tail]), (name, mark[tail:])]
        found["lines"] = [
            whole_ticket(name, form) for name, text in texts for form in text.split(b"\n") if form
        ]
        return {part: tickets for part, tickets in found.items() if tickets}

    def envelope(self, id: str) -> bytes:
        stored = self.command("HGET", "msg", id)
        assert isinstance(stored, bytes)
        return stored

    def meta(self, field: str) -> int:
        """A number that stands in meta; 0 where there is none."""
        return int(self.hash("meta").get(field.encode(), b"") or 0)

    def put(self, id: str, ticket: str, envelope: bytes) -> None:
        """Pushes as somebody else who keeps to the protocol would."""
        self.command("HSET", "msg", id, envelope)
        self.command("RPUSH", "ready", ticket)

    def pass_due(self) -> None:
        """Lets what is delayed be due."""
        for member in self.scores("delayed"):
            self.command("ZADD", "delayed", 1, member)
        self.command("HSET", "meta", "next_event", 1)

    def now_ms(self) -> int:
        found = self.server.command("TIME")
        assert isinstance(found, list)
        seconds, micros = (int(word) for word in found if isinstance(word, bytes))
        return seconds * 1000 + micros // 1000


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


def end_lease(queue: dueq.Queue, message: dueq.Message) -> None:
    """Returns when the message's lease is over."""
    message.extend(0.001)
    stop = queue.stats().next_event
    assert stop
    while queue.stats().now <= stop:
        pass
