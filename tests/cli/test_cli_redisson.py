import base64
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from private_server import Server

from .program import Program

VERBS = ["offer", "transfer", "take", "poll", "peek", "remove", "contains", "size", "clear"]
CHANNEL = "redisson_delay_queue_channel:{orders}"
CODECS = {
    "kryo5": "kryo5",
    "bytes": "bytearray",
    "string": "string",
    "long": "long",
    "jackson": "jsonjackson",
    "typed-json": "typedjson",
    "jackson3": "jsonjackson3",
    "typed-json3": "typedjson3",
}


def size(dueq: Program) -> tuple[int, int]:
    """Ready and delayed."""
    found = dueq("redisson", "size", "orders", "--json").object
    return found["ready"], found["delayed"]


def subscribed(server: Server) -> bool:
    return bool(server.command("PUBSUB", "CHANNELS", CHANNEL))


def golden(codec: str) -> list[dict[str, Any]]:
    """The plain values that a Redisson wrote by a codec, but for bytes that became JSON."""
    path = Path(__file__).parents[1] / "golden" / "redisson_codecs.json"
    kinds = ["null", "bool", "int", "long", "double", "string"]
    kinds += ["bytes"] if codec in ("kryo5", "bytes") else []
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return [one for one in cases if one["codec"] == CODECS[codec] and one["type"] in kinds]


def plain(kind: str, value: Any) -> Any:
    """A value as JSON of ours has it."""
    if kind == "double":
        return value if value in ("NaN", "Infinity", "-Infinity") else float(value)
    return bytes.fromhex(value) if kind == "bytes" else value


def shown(found: dict[str, Any]) -> Any:
    if found["type"] != "bytes":
        return found["value"]
    encoded = found.get("value_base64")
    return base64.b64decode(encoded) if encoded is not None else found["value"].encode()


def test_redisson_help_teaches(dueq: Program) -> None:
    text = dueq("redisson", "--help").text
    assert text.startswith("Usage: dueq redisson VERB DESTINATION")
    assert "Example" in text
    for verb in VERBS:
        assert f"\n  {verb} " in text
        own = dueq("redisson", verb, "--help").text
        assert own.startswith(f"Usage: dueq redisson {verb} DESTINATION")
        assert f"\n  dueq redisson {verb} " in own
        assert dueq("help", "redisson", verb).text == own
    assert dueq("help", "redisson").text == text
    assert "\n  redisson " in dueq("--help").text


def test_redisson_from_offer_to_take(dueq: Program, server: Server) -> None:
    words = ["--codec", "string"]
    assert dueq("redisson", "offer", "orders", "one", *words).out == b""
    offered = dueq("redisson", "offer", "orders", "two", "--delay", "1h", "--json", *words)
    assert offered.object == {"offered": 1}
    assert size(dueq) == (0, 2)
    assert dueq("redisson", "transfer", "orders", "--once").text == "1\n"
    assert size(dueq) == (1, 1)
    assert server.command("LRANGE", "orders", 0, -1) == [b"one"]
    assert dueq("redisson", "take", "orders", *words).text == "one\n"
    ended = dueq.run("redisson", "take", "orders", *words)
    assert (ended.code, ended.out, ended.err) == (1, b"", "")


@pytest.mark.parametrize("name", ["{shop}:orders", "orders"])
def test_redisson_name_in_a_cluster(dueq: Program, server: Server, name: str) -> None:
    dueq("redisson", "offer", name, "x", "--delay", "1h")
    tagged = name if "{" in name else "{" + name + "}"
    assert server.command("ZCARD", f"redisson_delay_queue_timeout:{tagged}") == 1


def test_redisson_offer_by_the_clock(dueq: Program) -> None:
    dueq("redisson", "offer", "orders", "x", "--at", "2100-01-01T00:00:00Z")
    found = dueq("redisson", "size", "orders", "--json").object
    assert found["next_ms"] == 4102444800000
    assert found["destination"] == "orders"
    assert "2100-01-01T00:00:00.000Z" in dueq("redisson", "size", "orders").text


@pytest.mark.parametrize("layout", ["new", "old"])
def test_redisson_layout(dueq: Program, layout: str) -> None:
    other = {"new": "old", "old": "new"}[layout]
    dueq("redisson", "offer", "orders", "one", "--layout", layout, "--delay", "1h")
    ended = dueq.run("redisson", "offer", "orders", "two", "--layout", other)
    assert ended.code == 4
    assert ended.err.startswith("dueq: LAYOUT: ")
    dueq("redisson", "offer", "orders", "three")
    assert dueq("redisson", "peek", "orders", "--count", "9").lines == ["one", "three"]


@pytest.mark.parametrize(
    ("codec", "kind", "text", "value"),
    [
        ("kryo5", "string", "hä\n", "hä\n"),
        ("kryo5", "int", "-2147483648", -2147483648),
        ("kryo5", "long", "9223372036854775807", 9223372036854775807),
        ("kryo5", "double", "0.1", 0.1),
        ("kryo5", "double", "-Infinity", "-Infinity"),
        ("kryo5", "bool", "false", False),
        ("string", "string", "17", "17"),
        ("long", "long", "17", 17),
        ("jackson", "string", 'say "hä"', 'say "hä"'),
        ("jackson", "json", '{"a":[1,2.5,{"b":null}],"c":5000000000}', None),
        ("typed-json", "json", '[1,"x",[],{}]', None),
        ("jackson3", "json", '{"a":[1,2.5,{"b":null}],"c":5000000000,"d":"🚀"}', None),
        ("typed-json3", "json", '{"a":{"b":null}}', None),
    ],
)
def test_redisson_values_as_json(
    dueq: Program, codec: str, kind: str, text: str, value: object
) -> None:
    words = ["--codec", codec]
    dueq("redisson", "offer", "orders", "--type", kind, *words, stdin=text.encode())
    dueq("redisson", "transfer", "orders", "--once")
    taken = dueq("redisson", "take", "orders", "--json", *words).object
    expected: Any = json.loads(text) if kind == "json" else value
    assert taken == {"destination": "orders", "type": kind, "value": expected}
    assert type(taken["value"]) is type(expected)


def test_redisson_null(dueq: Program) -> None:
    dueq("redisson", "offer", "orders", "--type", "null")
    assert dueq("redisson", "poll", "orders", "--json").text == (
        '{"destination":"orders","type":"null","value":null}\n'
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("17", "int"),
        ("-5000000000", "long"),
        ("1.5e3\n", "double"),
        ('"x"', "string"),
        ("true", "bool"),
    ],
)
def test_redisson_scalars_of_json(dueq: Program, text: str, kind: str) -> None:
    words = ["--codec", "jackson"]
    dueq("redisson", "offer", "orders", "--type", "json", *words, stdin=text.encode())
    polled = dueq("redisson", "poll", "orders", "--json", *words).object
    assert (polled["type"], polled["value"]) == (kind, json.loads(text))


def test_redisson_keeps_a_large_number_in_json(dueq: Program) -> None:
    words = ["--codec", "typed-json"]
    text = '{"id":12345678901234567890,"rate":1.0}'
    dueq("redisson", "offer", "orders", text, "--type", "json", *words)
    assert f'"value":{text}}}\n' in dueq("redisson", "peek", "orders", "--json", *words).text
    assert dueq("redisson", "poll", "orders", *words).text == text + "\n"


@pytest.mark.parametrize("codec", list(CODECS))
def test_redisson_reads_what_redisson_wrote(dueq: Program, server: Server, codec: str) -> None:
    cases = golden(codec)
    assert len(cases) >= 8
    server.command("RPUSH", "orders", *(bytes.fromhex(one["hex"]) for one in cases))
    found: list[dict[str, Any]] = []
    while len(found) < len(cases):
        words = ["--count", "200", "--json", "--codec", codec]
        found += dueq("redisson", "take", "orders", *words).objects
    for case, one in zip(cases, found, strict=True):
        assert shown(one) == plain(case["type"], case["value"]), case
        if codec == "kryo5":
            assert one["type"] == case["type"], case


@pytest.mark.parametrize("codec", list(CODECS))
def test_redisson_writes_what_redisson_wrote(dueq: Program, server: Server, codec: str) -> None:
    """Lines of each type in one call, but for values that no line can hold."""
    cases = golden(codec)
    for kind in dict.fromkeys(one["type"] for one in cases):
        written, lines = [], b""
        for case in (one for one in cases if one["type"] == kind):
            value = plain(kind, case["value"])
            line = value if isinstance(value, bytes) else str(case["value"]).encode()
            if b"\n" in line or (isinstance(value, str) and kind == "double" and codec != "kryo5"):
                continue  # JSON has no form for what is not a number
            lines += (line.lower() if kind == "bool" else line) + b"\n"
            written.append(bytes.fromhex(case["hex"]))
        words = ["--type", kind, "--codec", codec]
        dueq("redisson", "offer", "orders", *words, "--lines", stdin=lines)
        dueq("redisson", "transfer", "orders", "--once")
        moved = server.command("LRANGE", "orders", 0, -1)
        assert isinstance(moved, list)
        # Those of one millisecond are in no order, with Redisson too.
        assert sorted(one for one in moved if isinstance(one, bytes)) == sorted(written)
        server.command("DEL", "orders")


@pytest.mark.parametrize("body", [b"\xff\x00\n", b"plain\n"])
def test_redisson_bytes(dueq: Program, body: bytes) -> None:
    words = ["--codec", "bytes"]
    for _ in range(2):
        dueq("redisson", "offer", "orders", *words, stdin=body)
    dueq("redisson", "transfer", "orders", "--once")
    taken = dueq("redisson", "take", "orders", "--json", *words).object
    assert taken["type"] == "bytes"
    if b"\xff" in body:
        assert base64.b64decode(taken["value_base64"], validate=True) == body
    else:
        assert taken["value"] == body.decode()
    assert dueq("redisson", "take", "orders", "--raw", *words).out == body


def test_redisson_value_of_another_codec(dueq: Program, server: Server) -> None:
    for value in ("x", "\xff"):
        server.command("RPUSH", "orders", value.encode("latin-1"))
    ended = dueq.run("redisson", "take", "orders", "--count", "9", "--json", "--codec", "jackson")
    assert ended.code == 4
    one, other = ended.objects
    assert (one["value"], one["status"]) == ("x", "CORRUPT")
    assert (other["value_base64"], other["status"]) == ("/w==", "CORRUPT")
    assert "2 of 2 values" in ended.err
    server.command("RPUSH", "orders", b"x")
    ended = dueq.run("redisson", "take", "orders", "--codec", "jackson")
    assert (ended.code, ended.out) == (4, b"x\n")


@pytest.mark.parametrize(
    ("codec", "raw", "why"),
    [
        ("jackson", b'"\\uD83D"', "half of a surrogate pair"),
        ("typed-json3", b'["\\uD83D"]', "half of a surrogate pair"),
        ("kryo5", b"\x03\x82\xed\xa0\xbd", "half of a surrogate pair"),
        ("kryo5", b"\x01\x00java.util.Dat\xe5\x05", "an object of the Java class 'java.util.Date'"),
        ("jackson3", b"x", "was it written by another codec?"),
        ("jackson3", b"[" * 501 + b"]" * 501, "deeper than the 500 levels"),
    ],
)
def test_redisson_says_why_a_value_cannot_be_read(
    dueq: Program, server: Server, codec: str, raw: bytes, why: str
) -> None:
    server.command("RPUSH", "orders", raw)
    ended = dueq.run("redisson", "take", "orders", "--codec", codec)
    assert (ended.code, ended.out) == (4, raw + b"\n")
    assert why in ended.err


def test_redisson_says_why_an_element_cannot_be_read(dueq: Program, server: Server) -> None:
    server.command("RPUSH", "redisson_delay_queue:{orders}", b"\x08short")
    ended = dueq.run("redisson", "peek", "orders", "--codec", "string")
    assert (ended.code, ended.out) == (4, b"\x08short\n")
    assert "it has neither layout" in ended.err


@pytest.mark.parametrize("verb", ["offer", "remove", "contains"])
@pytest.mark.parametrize("text", ['"\\ud83d"', '["\\ude00\\ud83d"]', '{"\\ud83d":1}'])
def test_redisson_says_why_a_json_is_refused(dueq: Program, verb: str, text: str) -> None:
    ended = dueq.run("redisson", verb, "orders", text, "--type", "json", "--codec", "jackson3")
    assert ended.code == 2
    assert "half of a surrogate pair" in ended.err


def test_redisson_lines(dueq: Program) -> None:
    lines = "".join(f"{number}\n" for number in range(450))
    offered = dueq(
        *["redisson", "offer", "orders", "--lines", "--type", "int", "--json"],
        stdin=lines.encode(),
    )
    assert sum(one["offered"] for one in offered.objects) == 450
    polled = ""
    while (ended := dueq.run("redisson", "poll", "orders", "--count", "200")).code == 0:
        polled += ended.text
    assert polled == lines


def test_redisson_lines_up_to_a_wrong_one(dueq: Program) -> None:
    lines = b"17\n" * 200 + b"18\nno number\n"
    ended = dueq.run("redisson", "offer", "orders", "--lines", "--type", "long", stdin=lines)
    assert ended.code == 2
    assert ended.err.startswith("dueq: no number is not a whole number of 64 bits")
    assert "the first 200 lines were offered" in ended.err
    assert size(dueq) == (0, 200)


@pytest.mark.parametrize("text", [b"", b"\n", b"5\x00", b"5 6", b"5" * 600])
def test_redisson_text_that_is_no_number(dueq: Program, text: bytes) -> None:
    ended = dueq.run("redisson", "offer", "orders", "--type", "int", stdin=text)
    assert ended.code == 2
    assert size(dueq) == (0, 0)


def test_redisson_transfer_as_things_come_due(dueq: Program, server: Server) -> None:
    with dueq.start("redisson", "transfer", "orders") as agent:
        dueq.until(lambda: subscribed(server))
        with dueq.start("redisson", "take", "orders", "--wait", "forever") as waiting:
            server.wait_for_waiting(1)
            dueq("redisson", "offer", "orders", "now", "--delay", "200ms")
            assert waiting.communicate(timeout=60)[0] == b"now\n"
        dueq("redisson", "offer", "orders", "more")
        dueq.until(lambda: size(dueq) == (1, 0))
        agent.terminate()
        out, err = agent.communicate(timeout=60)
    assert (agent.returncode, out, err) == (0, b"2\n", b"")
    dueq.until(lambda: not subscribed(server))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_redisson_transfer_of_nothing(
    dueq: Program, server: Server, number: signal.Signals
) -> None:
    with dueq.start("redisson", "transfer", "orders", "--json") as agent:
        dueq.until(lambda: subscribed(server))
        agent.send_signal(number)
        out, err = agent.communicate(timeout=60)
    assert (agent.returncode, out, err) == (0, b'{"moved":0,"quarantined":0}\n', b"")


def test_redisson_transfer_of_many(dueq: Program) -> None:
    dueq("redisson", "offer", "orders", "--lines", stdin=b"x\n" * 1000)
    assert dueq("redisson", "transfer", "orders", "--once").text == "1000\n"
    assert size(dueq) == (1000, 0)


def test_redisson_transfer_quarantines_damage(dueq: Program, server: Server) -> None:
    dueq("redisson", "offer", "orders", "good")
    server.command("ZADD", "redisson_delay_queue_timeout:{orders}", 1, b"\x01")
    server.command("RPUSH", "redisson_delay_queue:{orders}", b"\x01")
    ended = dueq("redisson", "transfer", "orders", "--once", "--json")
    assert ended.object == {"moved": 1, "quarantined": 1}
    assert '"status":"CORRUPT","text":"1 damaged entries were quarantined"' in ended.err
    assert dueq("redisson", "size", "orders", "--json").object["quarantined"] == 1


def test_redisson_transfer_outlasts_a_break_of_the_server(dueq: Program) -> None:
    with Server() as server:
        url = ["--url", f"{server.url}?timeout=300ms"]
        with dueq.start("redisson", "transfer", "orders", *url) as agent:
            dueq.until(lambda: subscribed(server))
            server.stop()
            assert agent.stderr
            assert b": it is tried again: cannot reach " in agent.stderr.readline()
            server.start()
            dueq("redisson", "offer", "orders", "x", "--delay", "100ms", "--url", server.url)
            taken = dueq("redisson", "take", "orders", "--wait", "30s", "--url", server.url)
            assert taken.text == "x\n"
            agent.terminate()
            out, _ = agent.communicate(timeout=60)
    assert (agent.returncode, out) == (0, b"1\n")


def test_redisson_transfer_ended_while_the_server_is_away(dueq: Program) -> None:
    with Server() as server:
        url = ["--url", f"{server.url}?timeout=300ms"]
        with dueq.start("redisson", "transfer", "orders", *url) as agent:
            dueq.until(lambda: subscribed(server))
            server.stop()
            assert agent.stderr
            assert b"it is tried again" in agent.stderr.readline()
            agent.terminate()
            out, _ = agent.communicate(timeout=60)
    assert (agent.returncode, out) == (0, b"0\n")


@pytest.mark.parametrize("once", [(), ("--once",)])
def test_redisson_transfer_without_a_server(dueq: Program, once: tuple[str, ...]) -> None:
    url = "unix:///nowhere/socket?timeout=300ms"
    ended = dueq.run("redisson", "transfer", "orders", *once, "--url", url)
    assert ended.code == 3
    assert ended.err.startswith("dueq: CONNECT: ")


def test_redisson_take_ended_by_a_signal(dueq: Program, server: Server) -> None:
    with dueq.start("redisson", "take", "orders", "--wait", "forever") as waiting:
        server.wait_for_waiting(1)
        waiting.terminate()
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (128 + signal.SIGTERM, b"", b"")


def test_redisson_take_to_a_closed_pipe(dueq: Program, server: Server) -> None:
    server.command("RPUSH", "orders", "one", "two")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as gone:
        process = dueq.start(
            *["redisson", "take", "orders", "--count", "9", "--codec", "string"], stdout=gone
        )
    with process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    assert b"2 of 2 values were not printed" in err


def test_redisson_contains_and_remove(dueq: Program) -> None:
    dueq("redisson", "offer", "orders", "17", "--delay", "1h")
    dueq("redisson", "offer", "orders", "17", "--type", "int", "--delay", "1h")
    assert dueq("redisson", "contains", "orders", "17").out == b""
    ended = dueq.run("redisson", "contains", "orders", "17", "--type", "long")
    assert (ended.code, ended.out, ended.err) == (1, b"", "")
    removed = dueq("redisson", "remove", "orders", "17", "--type", "int", "--json").object
    assert removed == {"type": "int", "value": 17, "status": "OK"}
    ended = dueq.run("redisson", "remove", "orders", "17", "--type", "int", "--json")
    assert (ended.code, ended.object["status"]) == (1, "NOT_FOUND")
    ended = dueq.run("redisson", "remove", "orders", "17", "--type", "int")
    assert (ended.code, ended.err) == (1, "dueq: NOT_FOUND: orders: no such value waits\n")
    assert size(dueq) == (0, 1)


def test_redisson_clear(dueq: Program, server: Server) -> None:
    server.command("RPUSH", "orders", "one")
    dueq("redisson", "offer", "orders", "--lines", "--delay", "1h", stdin=b"x\ny\n")
    assert dueq("redisson", "clear", "orders").text == "2\n"
    assert dueq("redisson", "clear", "orders", "--json").object == {"cleared": 0}
    assert size(dueq) == (1, 0)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly", "orders"],
        ["offer"],
        ["offer", "", "x"],
        ["offer", "orders", "x", "y"],
        ["offer", "orders", "x", "--delay", "1s", "--at", "2100-01-01T00:00:00Z"],
        ["offer", "orders", "x", "--type", "word"],
        ["offer", "orders", "x", "--type", "int"],
        ["offer", "orders", "2147483648", "--type", "int"],
        ["offer", "orders", "9223372036854775808", "--type", "long"],
        ["offer", "orders", "yes", "--type", "bool"],
        ["offer", "orders", "1,5", "--type", "double"],
        ["offer", "orders", "1e999", "--type", "double"],
        ["offer", "orders", "x", "--type", "null"],
        ["offer", "orders", "{}", "--type", "json"],
        ["offer", "orders", "{", "--type", "json", "--codec", "jackson"],
        ["offer", "orders", "x", "--lines"],
        ["offer", "orders", "x", "--codec", "java"],
        ["offer", "orders", "x", "--layout", "1"],
        ["take", "orders", "--count", "0"],
        ["take", "orders", "--wait", "never"],
        ["take", "orders", "--raw", "--json"],
        ["size", "orders", "more"],
    ],
)
def test_redisson_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("redisson", *words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ") or "--json" in words
