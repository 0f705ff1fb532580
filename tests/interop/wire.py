"""A private server that both sides reach, and what they write there, byte by byte."""

from __future__ import annotations

import struct
import time
from types import TracebackType
from typing import BinaryIO

from private_server import Reply, Server, free_port, read_reply


class Wire(Server):
    """A server on a Unix socket and on a port of the loopback address."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        super().__init__("--port", str(self.port), *options)

    def __enter__(self) -> Wire:
        self.start()
        return self

    def keys(self) -> set[bytes]:
        names = self.command("KEYS", "*")
        assert isinstance(names, list)
        return {name for name in names if isinstance(name, bytes)}

    def theirs(self) -> set[str]:
        """The keys that the other side knows of: not those that dueq keeps beside them."""
        return {name.decode() for name in self.keys() if not name.startswith(b"dueq:")}

    def kind(self, key: str) -> str:
        name = self.command("TYPE", key)
        assert isinstance(name, bytes)
        return name.decode()

    def items(self, key: str) -> list[bytes]:
        items = self.command("LRANGE", key, 0, -1)
        assert isinstance(items, list)
        return [item for item in items if isinstance(item, bytes)]

    def scores(self, key: str) -> list[tuple[bytes, bytes]]:
        """Members of a sorted set with the text of their scores."""
        words = self.command("ZRANGE", key, 0, -1, "WITHSCORES")
        assert isinstance(words, list)
        flat = [word for word in words if isinstance(word, bytes)]
        return list(zip(flat[::2], flat[1::2], strict=True))

    def number(self, *words: str | bytes | int) -> int:
        reply = self.command(*words)
        assert isinstance(reply, int), reply
        return reply

    def text(self, *words: str | bytes | int) -> bytes:
        reply = self.command(*words)
        assert isinstance(reply, bytes), reply
        return reply

    def now_ms(self) -> int:
        reply = self.command("TIME")
        assert isinstance(reply, list)
        seconds, micros = (int(word) for word in reply if isinstance(word, bytes))
        return seconds * 1000 + micros // 1000

    def subscribers(self, channel: str) -> int:
        reply = self.command("PUBSUB", "NUMSUB", channel)
        assert isinstance(reply, list)
        assert isinstance(reply[1], int)
        return reply[1]

    def wait_for_subscribers(self, channel: str, count: int) -> None:
        until(lambda: self.subscribers(channel) == count, f"{count} subscribers of {channel}")


def until(true: object, what: str, seconds: float = 20) -> None:
    """Returns when the call gives something true."""
    assert callable(true)
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not in {seconds} s: {what}"
        time.sleep(0.005)


class Listener:
    """A subscription of one channel."""

    def __init__(self, wire: Wire, channel: str) -> None:
        self._connection = wire.connect()
        self._file: BinaryIO = self._connection.makefile("rb")
        name = channel.encode()
        self._connection.sendall(b"*2\r\n$9\r\nSUBSCRIBE\r\n$%d\r\n%s\r\n" % (len(name), name))
        self._read()

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._connection.close()

    def _read(self) -> list[Reply]:
        reply = read_reply(self._file)
        assert isinstance(reply, list)
        return reply

    def message(self, seconds: float = 10) -> bytes:
        self._connection.settimeout(seconds)
        words = self._read()
        assert isinstance(words[2], bytes)
        return words[2]

    def silent(self, seconds: float) -> bool:
        """Whether nothing comes in that time."""
        try:
            self.message(seconds)
        except TimeoutError:
            return True
        return False


def packed_new(identity: bytes, value: bytes) -> bytes:
    """An element as Redisson packs it from 3.21.1."""
    return b"\x08" + identity + struct.pack("<Q", len(value)) + value


def packed_old(number: float, value: bytes) -> bytes:
    """An element as Redisson packed it up to 3.21.0."""
    return struct.pack("<dQ", number, len(value)) + value


def unpacked_new(element: bytes) -> tuple[bytes, bytes]:
    """Its random id and value."""
    assert element[0] == 8
    assert struct.unpack_from("<Q", element, 9)[0] == len(element) - 17
    return element[1:9], element[17:]


def unpacked_old(element: bytes) -> tuple[float, bytes]:
    number, size = struct.unpack_from("<dQ", element)
    assert size == len(element) - 16
    return number, element[16:]


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("-")[1].split("."))


def is_old(name: str) -> bool:
    """Whether that Redisson, by its name, packs as those up to 3.21.0 did."""
    return _version(name) < (3, 21, 1)


def has_jackson3(name: str) -> bool:
    """Whether that Redisson, by its name, has the codecs of Jackson 3."""
    return _version(name) >= (4, 1)


def packed(name: str, number: int, value: bytes) -> bytes:
    """An element as a Redisson of that name packs it, with a number for its random id."""
    if is_old(name):
        return packed_old(float(number), value)
    return packed_new(number.to_bytes(8, "big"), value)


def unpacked(name: str, element: bytes) -> bytes:
    """The value of an element that a Redisson of that name packed."""
    return unpacked_old(element)[1] if is_old(name) else unpacked_new(element)[1]
