"""Writes the golden files of what the other side writes: python golden.py redisson|laravel."""

from __future__ import annotations

import base64
import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import peers
from wire import Wire, has_jackson3, unpacked

GOLDEN = Path(__file__).parents[1] / "golden"
REDISSON = "4.7.0"

TEXTS = [
    *("", "a", "é", "日", "ab", "hello", "éa", "aé", "with space", "true", "17"),
    *("x" * 31, "x" * 32, "x" * 33, "x" * 61, "x" * 62, "x" * 63, "x" * 64, "x" * 65),
    *("é" * 32, "日" * 62, "日" * 63, "日" * 64, "x" * 8190, "x" * 8191),
    *("\0", "a\0b", "\0\0", "\x7f", "\x80", "\u07ff", "\u0800", "\uffff", "日本語", "😀", "a😀b"),
    *("xxx日", "日xxx", 'quote " and \\ and /', "line\nfeed\ttab\r", "\u2028", "<é>&'"),
]
INTS = [0, 1, -1, 2, 63, 64, -64, -65, 127, 128, 8191, 8192, -8192, -8193, 65535, 1048575, 1048576]
INTS += [-1048576, -1048577, 134217727, 134217728, -134217728, -134217729, 2**31 - 1, -(2**31)]
LONGS = [*INTS, 2**31, 2**32, 2**34 - 1, 2**34, 2**41, 2**48, 2**53, 2**55 - 1, 2**55, -(2**55) - 1]
LONGS += [2**62, 2**63 - 1, -(2**63), 1234567890123456789]
DOUBLES = [
    "0.0",
    "-0.0",
    "1.0",
    "-1.5",
    "0.1",
    "1.0E10",
    "1.0E-5",
    "123456.789",
    "1.7976931348623157E308",
]
DOUBLES += ["4.9E-324", "NaN", "Infinity", "-Infinity", "1.0E7", "9999999.0", "0.001"]
BLOBS = ["", "00", "ff", "00ff10", "61" * 62, "61" * 63, "61" * 126, "61" * 127]
LISTS: list[Any] = [
    *([], [1], [1, "two", None, True, 2.5], [[], [1, [2]]], [2**40], [{"a": 1}], [{}, ""]),
]
MAPS: list[Any] = [
    *({}, {"b": 1, "a": 2}, {"name": "Ada", "age": 36, "big": 2**40, "ok": False, "none": None}),
    *(
        {"list": [1, "x"], "map": {"z": {}, "y": []}},
        {"half": 0.5, "whole": 1.0},
        {"": "", "日": "😀"},
        {"a": None, "b": {"c": None, "d": [None, {"e": None}]}},
    ),
]


def values() -> Iterator[tuple[str, Any]]:
    yield "null", None
    yield from (("string", text) for text in TEXTS)
    yield from (("int", number) for number in INTS)
    yield from (("long", number) for number in LONGS)
    yield from (("double", number) for number in DOUBLES)
    yield from (("bool", truth) for truth in (True, False))
    yield from (("bytes", blob) for blob in BLOBS)
    yield from (("list", value) for value in LISTS)
    yield from (("map", value) for value in MAPS)
    yield "object", {"name": "Ada", "count": 7}


ALL = ["null", "string", "int", "long", "double", "bool", "bytes", "list", "map", "object"]
TYPES = {
    "kryo5": ALL,
    "string": ["string"],
    "bytearray": ["bytes"],
    "long": ["long"],
    "jsonjackson": ALL,
    "typedjson": ALL,
    "jsonjackson3": ALL,
    "typedjson3": ALL,
}


def codecs_of(name: str) -> list[str]:
    """The codecs that the Redisson of a name has."""
    return [codec for codec in TYPES if has_jackson3(name) or not codec.endswith("3")]


def redisson_cases(peer: peers.Peer, wire: Wire, name: str) -> Iterator[dict[str, Any]]:
    """The value's bytes behind the header of a delayed element, for each value."""
    for codec in codecs_of(name):
        queue = f"golden-{codec}"
        peer.ask("hold", queue=queue, codec=codec)
        for kind, value in values():
            if kind not in TYPES[codec] or (codec != "kryo5" and len(str(value)) > 1000):
                continue
            case = {"codec": codec, "type": kind, "value": value}
            typed = {"type": kind, "value": value}
            peer.ask("offer", queue=queue, codec=codec, value=typed, delay=3_600_000)
            packed = wire.command("LPOP", f"redisson_delay_queue:{{{queue}}}")
            assert isinstance(packed, bytes)
            yield {**case, "hex": unpacked(name, packed).hex()}
            wire.command("FLUSHALL")


@contextlib.contextmanager
def started(name: str) -> Iterator[tuple[peers.Peer, Wire]]:
    """A server and the peer of that name."""
    with tempfile.NamedTemporaryFile() as log, Wire() as wire:
        peer = peers.start(name, Path(log.name))
        try:
            yield peer, wire
        finally:
            peer.kill()


def write(name: str, about: str, cases: list[dict[str, Any]]) -> None:
    """One case a line, so that a difference is one line."""
    lines = ",\n".join("    " + json.dumps(case, ensure_ascii=True) for case in cases)
    text = f'{{\n  "about": {json.dumps(about)},\n  "cases": [\n{lines}\n  ]\n}}\n'
    (GOLDEN / name).write_text(text, encoding="ascii")


def redisson() -> None:
    with started(f"redisson-{REDISSON}") as (peer, wire):
        version = peer.ask("version")
        peer.ask("connect", port=wire.port)
        about = (
            f"Value bytes that Redisson {version} wrote, made by tests/interop/golden.py. A "
            "double's value is Java's text of it, bytes are in hexadecimal, an object is one of "
            "the Java class Peer$Order."
        )
        write(
            "redisson_codecs.json", about, list(redisson_cases(peer, wire, f"redisson-{version}"))
        )


def text(coded: str) -> str:
    return base64.b64decode(coded).decode()


# What is pushed, by name: the request to the peer.
JOBS: dict[str, dict[str, Any]] = {
    "string": {"job": "Handler", "data": {"order": 17}},
    "string with method": {"job": "Handler@again", "data": {"order": 17}},
    "string without data": {"job": "Handler"},
    "string of data": {"job": "Handler", "data": "plain"},
    "string with traps": {
        "job": "Handler",
        "data": {
            "list": [],
            "z": 1,
            "a": 0.1,
            "big": 2**53 + 1,
            "url": "a/b",
            "none": None,
            "é": "日😀",
        },
    },
    "string later": {"job": "Handler", "data": {"order": 17}, "delay": 3600},
    "object": {"data": {"order": 17}},
    "object with policy": {"data": {"order": 17}, "tries": 3, "timeout": 20, "backoff": [10, 60]},
    "object later": {"data": {"order": 17}, "delay": 3600},
}
RAW = (
    '{"uuid":"7a1e7b5e-0000-4000-8000-000000000001","displayName":"Handler","job":"Handler@fire",'
    '"maxTries":5,"data":{"big":9007199254740993,"id":1234567890123456789,"one":1.0,"third":'
    '0.3333333333333333,"list":[],"map":{},"url":"a/b","null":null,"text":"日😀","esc":"\\u65e5"},'
    '"id":"raw-1","attempts":0}'
)


def laravel_cases(peer: peers.Peer, wire: Wire) -> Iterator[dict[str, Any]]:
    version = peer.ask("version")
    peer.ask("connect", port=wire.port, client="phpredis", queue="golden")
    requests = {**{name: ("push", job) for name, job in JOBS.items()}}
    requests["raw"] = ("raw", {"payload": base64.b64encode(RAW.encode()).decode()})
    for name, (verb, request) in requests.items():
        wire.command("FLUSHALL")
        peer.ask(verb, **request)
        if request.get("delay"):
            later = wire.command("ZPOPMIN", "queues:golden:delayed")
            assert isinstance(later, list)
            assert isinstance(later[0], bytes)
            yield {"laravel": version, "case": name, "payload": later[0].decode()}
            continue
        first = peer.ask("pop")
        peer.ask("release", handle=first["handle"], delay=0)
        second = peer.ask("pop")
        yield {
            "laravel": version,
            "case": name,
            "payload": text(first["payload"]),
            "reserved": text(first["reserved"]),
            "reserved_again": text(second["reserved"]),
        }


def laravel() -> None:
    cases: list[dict[str, Any]] = []
    for name in peers.NAMES:
        if name.startswith("laravel"):
            with started(name) as (peer, wire):
                cases += laravel_cases(peer, wire)
    about = (
        "Payloads that Laravel wrote, and its reserved copies after the first and second pop, made "
        "by tests/interop/golden.py. ids, uuids and createdAt are those of that run; the order of "
        "keys in the copies is that of Redis 7.0's Lua."
    )
    write("laravel_payloads.json", about, cases)


if __name__ == "__main__":
    {"redisson": redisson, "laravel": laravel}[sys.argv[1]]()
