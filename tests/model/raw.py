"""A fourth driver: runs the sources of core/scripts by itself, so that a test can change them."""

from __future__ import annotations

import hashlib
import importlib.util
import secrets
import struct
import sys
import time
from base64 import b64decode, b64encode
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Reply, Server, _read

Json: TypeAlias = Any
SCRIPTS = Path(__file__).parents[2] / "core/scripts"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
STATES = ["", "ready", "delayed", "leased", "dead"]
STAMP, LEASE, HEADERS = 1, 2, 4


class Connection:
    """A connection that stays, and the scripts that it has loaded."""

    def __init__(self, server: Server) -> None:
        self._socket = server.connect()
        self._file = self._socket.makefile("rb")
        self._loaded: dict[str, str] = {}

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def command(self, *words: str | bytes | int) -> Reply:
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        request = b"*%d\r\n" % len(parts)
        request += b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self._socket.sendall(request)
        return _read(self._file)

    def script(self, source: str, keys: list[str], *arguments: str | bytes | int) -> Reply:
        if source not in self._loaded:
            self._loaded[source] = hashlib.sha1(source.encode()).hexdigest()
            self.command("SCRIPT", "LOAD", source)
        return self.command("EVALSHA", self._loaded[source], len(keys), *keys, *arguments)


def embed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embed", SCRIPTS / "embed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources() -> dict[str, str]:
    """The scripts by name, as the core has them."""
    tool = embed()
    codes = tool.statuses()
    return {path.stem: tool.expand(path, codes) for path in SCRIPTS.glob("*.lua")}


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


class RawDriver:
    name = "raw"

    def __init__(self, server: Server, queue: str, scripts: dict[str, str]) -> None:
        self._connection = Connection(server)
        self._scripts = scripts
        self._prefix = f"dueq:{{{queue}}}:"
        self._statuses = {code: name[5:] for name, code in embed().statuses().items()}
        self._calls = 0
        tool = embed()
        self._keys = {
            name: [
                self._prefix + ("calls:1" if key == "calls" else key)
                for key in tool.keys_of(SCRIPTS / f"{name}.lua", text)
            ]
            for name, text in scripts.items()
        }

    def close(self) -> None:
        self._connection.close()

    def call(self, request: Json) -> Json:
        return getattr(self, "do_" + request["do"])(request)

    def run(self, script: str, *arguments: str | bytes | int) -> Any:
        words: tuple[str | bytes | int, ...] = arguments
        if script not in ("find", "stats"):
            self._calls += 1
            words = ("raw", self._calls, "0", *arguments)
        return self._connection.script(self._scripts[script], self._keys[script], *words)

    def outcomes(self, answer: int | bytes) -> Json:
        found = str(answer) if isinstance(answer, int) else answer.decode()
        return {"statuses": [self._statuses[digit] for digit in found]}

    def do_forget(self, request: Json) -> Json:
        return {}

    def do_push(self, request: Json) -> Json:
        ids, words = [], list[str | bytes | int]()
        for row in request["drafts"]:
            now = int(time.time() * 1000)
            made = digits(now << 80 | secrets.randbits(79), 22)
            stamp = "" if not row["id"] else digits(now << 14 | secrets.randbits(13), 10)
            ids.append(row["id"] or made)
            due = f"@{row['at_ms']}" if row["at_ms"] else f"+{row['delay_ms']}"
            words += [ids[-1], envelope(row, stamp), due if due != "+0" else "0"]
        if all(not row["id"] for row in request["drafts"]) and set(words[2::3]) == {"0"}:
            del words[2::3]
            answer = self.run("push", "now", *words)
        else:
            answer = self.run("push", "any", *words)
        return {"ids": ids, **self.outcomes(answer)}

    def do_reserve(self, request: Json) -> Json:
        while True:
            now, wait, _, _, *rows = self.run(
                "reserve", request["count"], request["lease_ms"], 30_000, "0", "0"
            )
            if rows or int(wait) != 0:
                break
        messages = []
        for ticket, stored in zip(rows[::2], rows[1::2], strict=True):
            message = opened(ticket.decode(), stored, "leased")
            own = message.pop("lease_ms") or 30_000
            message["time_ms"] = int(now) + (request["lease_ms"] or own)
            messages.append(message)
        return {"messages": messages}

    def do_ack(self, request: Json) -> Json:
        usual = all(len(ticket) == 22 and ticket.isalnum() for ticket in request["tickets"])
        return self.outcomes(self.run("ack", "1" if usual else "0", *request["tickets"]))

    def do_cancel(self, request: Json) -> Json:
        return self.outcomes(self.run("cancel", *request["ids"]))

    def do_retry(self, request: Json) -> Json:
        error = request["error"][:4096]
        return self.outcomes(self.run("retry", request["ticket"], request["delay_ms"], error))

    def do_extend(self, request: Json) -> Json:
        return self.outcomes(self.run("extend", request["ticket"], request["lease_ms"]))

    def do_bury(self, request: Json) -> Json:
        return self.outcomes(self.run("bury", request["ticket"], request["error"][:4096]))

    def do_look(self, request: Json) -> Json:
        found: list[Json] = []
        for id in request["ids"]:
            answer = self.run("find", id)
            if answer is None:
                found.append(None)
                continue
            _, state, time_ms, ticket, stored, error = answer
            message = opened(ticket.decode(), stored, STATES[int(state)])
            del message["lease_ms"]
            message.update(time_ms=int(time_ms), error=error.decode())
            if message["state"] != "leased":
                message["ticket"] = ""
            found.append(message)
        stats = [int(count) for count in self.run("stats")]
        counts = [*stats[1:6], stats[8], stats[9]]
        return {"found": found, "counts": counts}


def envelope(row: Json, stamp: str) -> bytes:
    flags = STAMP * bool(stamp) | LEASE * bool(row["lease_ms"]) | HEADERS * bool(row["headers"])
    out = struct.pack(">BBH", 0xD1, flags, row["max_attempts"]) + stamp.encode()
    if row["lease_ms"]:
        out += struct.pack(">I", row["lease_ms"])
    if row["headers"]:
        packed = b""
        for name, value in ((name.encode(), value.encode()) for name, value in row["headers"]):
            packed += struct.pack(f">B{len(name)}sH", len(name), name, len(value)) + value
        out += struct.pack(">H", len(packed)) + packed
    return out + b64decode(row["body"])


def opened(ticket: str, stored: bytes, state: str) -> dict[str, Any]:
    """The message of a ticket and an envelope."""
    _, flags, max_attempts = struct.unpack_from(">BBH", stored)
    before, mark, id = ticket.partition(":")
    if not mark:
        before, id = "0", ticket
    at, lease_ms, made = 4, 0, number(id) >> 80 if len(id) == 22 and id.isalnum() else 0
    if flags & STAMP:
        made = number(stored[4:14].decode()) >> 14
        at += 10
    if flags & LEASE:
        [lease_ms] = struct.unpack_from(">I", stored, at)
        at += 4
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
    return {
        "id": id,
        "ticket": ticket,
        "body": b64encode(stored[at:]).decode(),
        "headers": headers,
        "attempt": int(before.partition(".")[0]) + (state == "leased"),
        "max_attempts": max_attempts,
        "state": state,
        "time_ms": 0,
        "created_ms": made,
        "error": "",
        "lease_ms": lease_ms,
    }
