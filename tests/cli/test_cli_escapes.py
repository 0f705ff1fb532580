"""What others wrote: a terminal obeys none of it, and a pipe gets it as it is."""

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from private_server import Server

from .program import Program

# OSC and CSI by ESC and by C1, BEL, DEL, CR, what turns the direction, a line end of Unicode, NUL.
EVIL = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\x7fe\rf\u202eg\u2066h\u200fi\u2028j\x00k"
# What an id, a name of a queue and a name of a header may have of these.
NAME = "a\x9b31mb\u202ec\u2066d\u200f"
NAME_SHOWN = rb"a\u009b31mb\u202ec\u2066d\u200f"
RAW = b"\xff\x9b31m"

UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]"
)


def harmless(screen: bytes) -> str:
    """What a terminal shows, of which it obeys line ends alone (it makes them CR LF by itself)."""
    text = screen.replace(b"\r\n", b"\n").decode(errors="surrogateescape")
    assert not UNSEEN.search(text), ascii(text)
    return text


def push(dueq: Program, *words: str, body: bytes = EVIL.encode()) -> None:
    dueq("push", "orders", *words, stdin=body)


# ---- Stdout ----


def test_find_at_a_terminal(dueq: Program) -> None:
    push(dueq, "--id", NAME, "--header", "note=x\nid          forged", "--header", f"{NAME}=y")
    dueq("bury", "orders", dueq.take(), "--reason", "why\x1b[2J\nbody        forged")
    text = harmless(dueq.screen("find", "orders", NAME))
    rows = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert rows["id"].encode() == NAME_SHOWN
    assert [line for line in text.splitlines() if "forged" in line] == [
        r"header      note=x\x0aid          forged",
        r"error       why\x1b[2J\x0abody        forged",
    ]
    assert rows["body"].startswith(r"a\x1b]0;owned\x07b\x1b[2Jc\u009b31md\x7fe\x0df\u202eg\u2066h")


@pytest.mark.parametrize("words", [["--count", "9"], ["--ack"], ["--ack", "--body"]])
def test_reserve_at_a_terminal(dueq: Program, words: list[str]) -> None:
    push(dueq, "--id", NAME, body=EVIL.encode() + RAW + "\n\tü €\n".encode())
    screen = dueq.screen("reserve", "orders", *words)
    text = harmless(screen.replace(b"\t", b" ", 1))
    assert r"\xff\x9b31m" in text
    alone = "--body" in words
    assert ("\n ü €\n" if alone else r"\x0a\x09ü €\x0a") in text
    assert len(text.splitlines()) == (2 if alone else 1)


def test_json_at_a_terminal_is_the_same_json(dueq: Program) -> None:
    push(dueq, "--id", NAME, "--header", f"{NAME}={NAME}\n")
    piped = dueq("find", "orders", NAME, "--json")
    shown = harmless(dueq.screen("find", "orders", NAME, "--json"))
    assert len(shown.splitlines()) == 1
    found = json.loads(shown)
    assert {**found, "now_ms": 0} == {**piped.object, "now_ms": 0}
    assert found["body"] == EVIL


def test_pipes_get_the_bytes(dueq: Program) -> None:
    push(dueq, "--id", NAME, "--header", f"h={NAME}")
    body = EVIL.encode()
    found = dueq("find", "orders", NAME).out
    assert b"id          " + NAME.encode() + b"\n" in found
    assert b"header      h=" + NAME.encode() + b"\n" in found
    assert found.endswith(b"body        " + body + b"\n")
    assert dueq("reserve", "orders", "--ack").out == body + b"\n"


def test_tables_at_a_terminal(dueq: Program) -> None:
    dueq("push", NAME, "body", "--id", NAME)
    dueq("bury", NAME, dueq.take(NAME), "--reason", EVIL.replace("\x00", "") + "\nforged")
    for words in (["queues"], ["stats", NAME], ["peek", NAME, "dead"]):
        screen = dueq.screen(*words)
        harmless(screen)
        assert NAME_SHOWN in screen or words[0] == "peek"
    _, row = harmless(dueq.screen("peek", NAME, "dead")).splitlines()
    assert NAME_SHOWN.decode() in row
    # An error is one line of its table in a pipe too.
    assert len(dueq("peek", NAME, "dead").lines) == 2


def test_what_push_and_lock_print_at_a_terminal(dueq: Program) -> None:
    assert harmless(dueq.screen("push", "orders", "x", "--id", NAME)).encode() == NAME_SHOWN + b"\n"
    harmless(dueq.screen("lock", "orders", NAME))
    harmless(dueq.screen("lock", "orders", NAME))


@pytest.mark.parametrize("words", [[], ["--json"], ["--raw"]])
def test_values_of_redisson_at_a_terminal(dueq: Program, words: list[str]) -> None:
    dueq("redisson", "offer", "orders", stdin=EVIL.encode())
    dueq("redisson", "offer", "orders", "--type", "bytes", "--codec", "bytes", stdin=RAW)
    screen = dueq.screen("redisson", "peek", "orders", "--count", "9", *words)
    harmless(screen)
    assert rb"\u202e" in screen


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_jobs_of_laravel_at_a_terminal(dueq: Program, words: list[str]) -> None:
    dueq("laravel", "push", "default", "App\\Jobs\\Send", "--data", f'{{\n\t"a": "{NAME}\x7f"}}')
    screen = dueq.screen("laravel", "pop", "default", *words)
    text = harmless(screen)
    assert len(text.splitlines()) == 1
    if words:
        assert json.loads(text)["data"] == {"a": f"{NAME}\x7f"}


# ---- Stderr: wherever it goes ----


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[str]:
    """The URL of what answers each request by an error of its own."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    while asked := connection.recv(65536):
                        count = len(re.findall(rb"(?m)^\*\d", asked))
                        connection.sendall(b"-ERR no\x1b[2J\x9b31m\xe2\x80\xae\r\n" * count)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"unix://{path}?timeout=2s"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(20)


def test_error_of_a_server(dueq: Program, hostile: str) -> None:
    ended = dueq.run("push", "orders", "x", "--url", hostile)
    assert ended.code != 0
    assert r"no\x1b[2J\x9b31m\u202e" in harmless(ended.err.encode())


@pytest.mark.parametrize(
    "words",
    [
        ["find", "orders", NAME],
        ["cancel", "orders", NAME],
        ["ack", "orders", f"0:{NAME}"],
        ["find", "orders", "\x1b[2J"],
        ["kick", "orders", "no\nsuch"],
        ["peek", "orders", "\x1b[2J\n"],
        ["push", "orders", "x", "--delay", "\x1b[2J"],
        ["push", "orders", "--\x1b[2J"],
        ["push", "orders", "--json=\x1b[2J"],
        ["push", "\x1b[2J{}", "x"],
        ["unlock", "orders", NAME, "token"],
        ["\x1b[2J"],
        ["stats", "orders", "--url", "redis://\x1b[2J/x"],
        ["laravel", "push", "orders", "--payload", "/nowhere/\x1b[2J"],
        ["redisson", "offer", "orders", "\x1b[2J\n", "--type", "int"],
        ["redisson", "remove", NAME, "x"],
        ["lock", "orders", "x", "--", "./\x1b[2J"],
    ],
)
def test_errors_are_escaped(dueq: Program, words: list[str]) -> None:
    ended = dueq.run(*words)
    assert ended.code != 0
    assert harmless(ended.err.encode()).startswith("dueq: ")
    assert all(line.startswith(("dueq: ", "  ")) for line in ended.err.splitlines())
    harmless(dueq.screen(*words))


def test_cancel_of_what_is_held_is_escaped(dueq: Program) -> None:
    push(dueq, "--id", NAME)
    dueq.take()
    ended = dueq.run("cancel", "orders", NAME)
    assert harmless(ended.err.encode()).encode().startswith(b"dueq: LEASED: " + NAME_SHOWN + b": ")


def test_question_before_a_remove_is_escaped(dueq: Program) -> None:
    dueq("push", NAME, "x")
    screen, terminal = os.openpty()
    with open(screen, "r+b", buffering=0) as seen:
        with open(terminal, "r+b", buffering=0) as both:
            process = dueq.start("remove", NAME, stdin=both, stderr=both)
        with process:
            asked = b""
            while b"[y/N] " not in asked:
                asked += seen.read(1000)
            seen.write(b"n\n")
            process.communicate(timeout=60)
    assert NAME_SHOWN in harmless(asked).encode()


def test_log_of_work_is_escaped(dueq: Program) -> None:
    """The command's own lines go through; ours, which repeat one, are ours."""
    dueq("push", "orders", "--id", NAME, "--max-attempts", "1", "\x1b[2Jlast\x9b")
    ended = dueq("work", "orders", "--wait", "0", "--", "sh", "-c", "cat >&2; exit 1")
    theirs, ours = ended.err.split("dueq: ", 1)
    assert theirs == "\x1b[2Jlast\x9b"
    assert harmless(ours.encode()).encode() == (
        NAME_SHOWN + rb": exhausted: attempt 1: \x1b[2Jlast\u009b" + b"\n"
    )


def test_lines_of_a_work_log_cannot_be_forged(dueq: Program, server: Server) -> None:
    id = "x\ndueq: good: acked"
    key = "dueq:{orders}:"
    server.command("HSET", f"{key}msg", id, b"\xd1\0\0\1body")
    server.command("RPUSH", f"{key}ready", f"0:{id}")
    ended = dueq.run("work", "orders", "--wait", "0", "--", "false")
    assert "\ndueq: good: acked" not in ended.err
