"""The bytes of protocol.md: the words of push, and messages from what is stored."""

from __future__ import annotations

import secrets
import struct
import time
from base64 import b64decode, b64encode
from typing import Any, TypeAlias

Json: TypeAlias = Any
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
STAMP, LEASE, HEADERS, EXPIRES, POLICY, HIGH, LOW, GROUP = 1, 2, 4, 8, 16, 32, 64, 128
# The end of the message is noted.
NOTED = 0xD3
KINDS = ["none", "fixed", "linear", "exponential", "list"]
JITTERS = ["none", "full", "equal"]
REPLACE = ["refuse", "replace", "replace_body"]


def digits(number: int, size: int) -> str:
    text = ""
    for _ in range(size):
        number, digit = divmod(number, 62)
        text = DIGITS[digit] + text
    return text


def number(text: str) -> int:
    value = 0
    for digit in text:
        value = value * 62 + DIGITS.index(digit)
    return value


def due_word(row: Json) -> str:
    due = f"@{row['at_ms']}" if row["at_ms"] else f"+{row['delay_ms']}"
    return due if due != "+0" else "0"


def made_id() -> str:
    return digits(int(time.time() * 1000) << 80 | secrets.randbits(79), 22)


def packed(rows: list[Json], home: str = "") -> tuple[list[str], list[str | bytes | int]]:
    """Ids, and the words of push: id, envelope, due, extra for each. home: as of envelope."""
    ids, words = list[str](), list[str | bytes | int]()
    for row in rows:
        now = int(time.time() * 1000)
        stamp = "" if not row["id"] else digits(now << 14 | secrets.randbits(13), 10)
        ids.append(row["id"] or made_id())
        extra = f"{row['ttl_ms']} {row['unique_ms']} {REPLACE.index(row['replace'])}"
        extra = extra if extra != "0 0 0" else ""
        words += [ids[-1], envelope(row, stamp, home), due_word(row), extra]
    return ids, words


def envelope(row: Json, stamp: str, home: str = "") -> bytes:
    """home: the queue of the batch of a member that goes to another queue."""
    policies = policy(row, home)
    flags = STAMP * bool(stamp) | LEASE * bool(row["lease_ms"]) | HEADERS * bool(row["headers"])
    flags |= EXPIRES * bool(row["ttl_ms"]) | POLICY * bool(policies)
    flags |= {1: HIGH, 0: 0, -1: LOW}[row["priority"]] | GROUP * bool(row["group"])
    version = NOTED if row["keep_ms"] or row["batch"] else 0xD1
    out = struct.pack(">BBH", version, flags, row["max_attempts"]) + stamp.encode()
    if row["ttl_ms"]:
        out += bytes(8)
    if row["lease_ms"]:
        out += struct.pack(">I", row["lease_ms"])
    if row["group"]:
        out += struct.pack("B", len(row["group"].encode())) + row["group"].encode()
    if row["headers"]:
        packed = b""
        for name, value in ((name.encode(), value.encode()) for name, value in row["headers"]):
            packed += struct.pack(f">B{len(name)}sH", len(name), name, len(value)) + value
        out += struct.pack(">H", len(packed)) + packed
    if policies:
        out += struct.pack(">H", len(policies)) + policies
    return out + b64decode(row["body"])


def policy(row: Json, home: str) -> bytes:
    fields = dict[int, bytes]()
    backoff = row["backoff"]
    if backoff:
        words = list(backoff["list_ms"]) or [backoff["base_ms"]]
        if backoff["kind"] in ("linear", "exponential"):
            words.append(backoff["cap_ms"])
        marks = KINDS.index(backoff["kind"]), JITTERS.index(backoff["jitter"])
        fields[1] = struct.pack(f">BB{len(words)}I", *marks, *words)
    if row["max_crashes"] != 5:
        fields[2] = struct.pack(">H", row["max_crashes"])
    if row["drop"]:
        fields[3] = b""
    if row["dead_letter"]:
        fields[4] = row["dead_letter"].encode()
    if row["keep_ms"]:
        fields[5] = struct.pack(">I", row["keep_ms"])
    if row["batch"]:
        fields[6] = row["batch"].encode()
    if row["batch"] and home:
        fields[8] = home.encode()
    return b"".join(bytes([tag, len(value)]) + value for tag, value in fields.items())


def nearer(envelope: bytes, due: bytes, ms: int) -> tuple[bytes, bytes]:
    """Of an entry that a relay holds: its time to live ends so much earlier, and so it is due."""
    at = 14 if envelope[1] & STAMP else 4
    if envelope[1] & EXPIRES:
        [expires_ms] = struct.unpack_from(">Q", envelope, at)
        left = struct.pack(">Q", expires_ms - ms * (expires_ms > ms))
        envelope = envelope[:at] + left + envelope[at + 8 :]
    return envelope, b"@%d" % (int(due[1:]) - ms) if due.startswith(b"@") else due


def shown(time_ms: int, ticket: bytes, stored: bytes, past: bytes, state: str) -> Json:
    """As find and peek show a message: with the ticket of a leased one only."""
    message = opened(ticket.decode(), stored, past, state)
    del message["lease_ms"]
    message["time_ms"] = time_ms
    if state != "leased":
        message["ticket"] = ""
    return message


def opened(ticket: str, stored: bytes, past: bytes, state: str) -> dict[str, Any]:
    """The message of a ticket, an envelope and a past."""
    _, flags, max_attempts = struct.unpack_from(">BBH", stored)
    before, mark, id = ticket.partition(":")
    if not mark:
        before, id = "0", ticket
    ended, forgiven, crashes, _, error = (past or b"0 0 0 - ").split(b" ", 4)
    at, lease_ms, made = 4, 0, number(id) >> 80 if len(id) == 22 and id.isalnum() else 0
    expires_ms = 0
    if flags & STAMP:
        made = number(stored[4:14].decode()) >> 14
        at += 10
    if flags & EXPIRES:
        [expires_ms] = struct.unpack_from(">Q", stored, at)
        at += 8
    if flags & LEASE:
        [lease_ms] = struct.unpack_from(">I", stored, at)
        at += 4
    group = ""
    if flags & GROUP:
        group = stored[at + 1 : at + 1 + stored[at]].decode()
        at += 1 + stored[at]
    headers = []
    if flags & HEADERS:
        stop = at + 2 + int(struct.unpack_from(">H", stored, at)[0])
        at += 2
        while at < stop:
            parts = []
            for form in (">B", ">H"):
                [size] = struct.unpack_from(form, stored, at)
                at += struct.calcsize(form) + size
                parts.append(stored[at - size : at].decode())
            headers.append(parts)
    fields = dict[int, bytes]()
    if flags & POLICY:
        stop = at + 2 + int(struct.unpack_from(">H", stored, at)[0])
        at += 2
        while at < stop:
            fields[stored[at]] = stored[at + 2 : at + 2 + stored[at + 1]]
            at += 2 + stored[at + 1]
    leased = state == "leased"
    return {
        "id": id,
        "ticket": ticket,
        "body": b64encode(stored[at:]).decode(),
        "headers": headers,
        "attempt": int(ended) - int(forgiven) - int(crashes) + leased,
        "max_attempts": max_attempts,
        "crashes": int(crashes),
        "max_crashes": struct.unpack(">H", fields.get(2, b"\0\5"))[0],
        "deliveries": int(before.partition(".")[0]) + leased,
        "priority": 1 if flags & HIGH else -1 if flags & LOW else 0,
        "group": group,
        "state": state,
        "time_ms": 0,
        "created_ms": made,
        "expires_ms": expires_ms,
        "error": error.decode(errors="backslashreplace"),
        "drop": 3 in fields,
        "dead_letter": fields.get(4, b"").decode(errors="backslashreplace"),
        "lease_ms": lease_ms,
        "keep_ms": struct.unpack(">I", fields.get(5, bytes(4)))[0],
        "batch": fields.get(6, b"").decode(errors="backslashreplace"),
        "batch_queue": fields.get(8, b"").decode(errors="backslashreplace"),
    }
