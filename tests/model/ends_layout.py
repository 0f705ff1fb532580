"""The bytes of kept ends, batches and entries of the outbox: protocol.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import cast

from ends import End, Outcome

MADE_SIZE = 22
ENDS = ["acked", "dead", "cancelled", "expired", "purged"]
STATES = ["open", "closed", "ended"]


@dataclass
class Sent:
    """What the outbox has for another queue, or a note."""

    target: str
    id: str
    envelope: bytes

    @property
    def note(self) -> tuple[str, int] | None:
        if self.envelope[:1] != b"\xd4":
            return None
        what, number = self.envelope[1:].decode().split(" ")
        return what, int(number)


def sent(stored: bytes) -> Sent | None:
    """None: a message of the queue itself, which moves as it is."""
    if stored[:1] != b"\xd2":
        return None
    at, parts = 2, list[bytes]()
    for _ in range(stored[1] & 15):
        mark = stored[at]
        head = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}.get(mark)
        [size] = struct.unpack_from(head, stored, at + 1) if head else [mark & 31]
        at += 1 + (struct.calcsize(head) if head else 0) + size
        parts.append(stored[at - size : at])
    return Sent(parts[0].decode(), parts[1].decode(), parts[2])


def end_of(record: bytes, until_ms: int) -> End:
    first, ticket, by, rest = record.split(b"\n", 3)
    outcome, time, began = first.decode().split(" ")
    text: str | None = rest.decode(errors="backslashreplace")
    if outcome == "acked":
        text = text[1:] if text else None
    return End(
        cast("Outcome", outcome), int(time), int(began), ticket.decode(), by != b"", text, until_ms
    )


def batch_of(record: bytes) -> dict[str, int | str]:
    numbers = struct.unpack_from(">BB6I", record)
    times = [int.from_bytes(record[at : at + 6]) for at in range(26, 50, 6)]
    names = ("opened_ms", "closes_ms", "ended_ms", "keep_ms")
    return {
        "state": STATES[numbers[1]],
        **dict(zip(("pushed", *ENDS), numbers[2:], strict=True)),
        **dict(zip(names, times, strict=True)),
        "timer": record[50:].decode(),
    }
