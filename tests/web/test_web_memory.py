"""Large bodies: a list has the start of each, one is sent piece by piece, and no answer is cut."""

from __future__ import annotations

import http.client
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dueq
from private_server import Server

from .site import TOKEN, Answer, Site, path

LARGE = 12 * 1024 * 1024
LIMIT = 256 * 1024 * 1024


def sent(server: Server) -> int:
    """How many bytes the server has sent so far."""
    text = server.command("INFO", "stats")
    assert isinstance(text, bytes)
    (number,) = re.findall(rb"total_net_output_bytes:(\d+)", text)
    return int(number)


def most_memory(site: Site) -> int:
    """The most that the program had in memory so far, in bytes."""
    lines = Path(f"/proc/{site.process.pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def fill(server: Server, count: int, body: bytes, queue: str = "orders") -> None:
    with dueq.Queue(queue, server.url + "?timeout=60s") as open_queue:
        for number in range(count):
            open_queue.push(body, id=f"m{number}")


def test_a_list_of_large_messages_is_small(site: Site, server: Server) -> None:
    fill(server, 16, "né\n".encode() * (LARGE // 4))
    before = sent(server)
    answer = site.get("orders", "messages", state="ready", count=16)
    assert sent(server) - before < 100_000
    assert [message["id"] for message in answer.objects] == [f"m{n}" for n in range(16)]
    assert {message["size"] for message in answer.objects} == {LARGE}
    assert {message["preview"] for message in answer.objects} == {"né\n" * 64}
    assert not any("body" in message for message in answer.objects)
    assert answer.next is None
    assert site.get("orders", "messages", "m3", preview=1).object["preview"] == "né\n" * 64
    assert site.get("orders", "messages", "m3", preview=2).code == 400


@pytest.mark.parametrize("cut", [255, 256, 257, 258, 259])
def test_a_preview_has_whole_characters(site: Site, cut: int) -> None:
    body = "x" * (cut - 4) + "\U0001f600" + "y" * 200
    site.shell("push", "orders", body)
    (message,) = site.get("orders", "messages").objects
    assert message["size"] == len(body.encode())
    assert message["preview"] == body.encode()[:256].decode(errors="ignore")


def test_a_preview_of_bytes(site: Site) -> None:
    site.post("orders", "messages", id="raw", body=bytes(range(256)) * 4)
    (message,) = site.get("orders", "messages").objects
    assert "preview_base64" in message
    assert message["size"] == 1024


@pytest.mark.parametrize(
    "body",
    [
        b"plain " * 20_000,
        bytes(range(256)) * 700,
        bytes(range(128)) * 1000,
        '"\\\n\x7fé'.encode() * 20_000,
        b"x" * 49152,
    ],
    ids=["text", "bytes", "ascii", "escaped", "one piece"],
)
def test_a_whole_body_is_what_the_shell_prints(site: Site, server: Server, body: bytes) -> None:
    fill(server, 2, body)
    answer = site.get("orders", "messages", "m1")
    printed = site.shell("find", "orders", "m1", "--json")
    clock = len(answer.body) - len(body)
    assert json.loads(answer.body) | {"now_ms": 0} == json.loads(printed) | {"now_ms": 0}
    assert len(answer.body) == len(printed) > clock
    taken = site.post("orders", "reserve", count=2).objects
    assert [message["id"] for message in taken] == ["m0", "m1"]
    assert all(taken[1].get(name) == answer.object.get(name) for name in ("body", "body_base64"))


def test_who_has_sent_all_gets_all(site: Site, server: Server) -> None:
    """A client that closes its own side behind the request."""
    fill(server, 1, b"x" * LARGE)
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        lines = [f"GET {path('orders', 'messages', 'm0')} HTTP/1.1", f"Host: 127.0.0.1:{site.port}"]
        lines += [f"Authorization: Bearer {TOKEN}", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert len(json.loads(answer.read())["body"]) == LARGE


def test_a_large_body_takes_no_more_memory_than_it_has(site: Site, server: Server) -> None:
    fill(server, 1, b"x" * 48 * 1024 * 1024)
    with Site(server.url) as own:
        own.get("orders")
        before = most_memory(own)
        assert len(own.get("orders", "messages", "m0").object["body"]) == 48 * 1024 * 1024
        # The answer of the server, and what is read of it ahead.
        assert most_memory(own) - before < 2.2 * 48 * 1024 * 1024


def whole_or_error(site: Site, id: str) -> int:
    """The code of the answer; 0: the connection ended in the middle of it."""
    try:
        answer: Answer = site.ask("GET", path("orders", "messages", id))
    except (http.client.HTTPException, OSError):
        return 0
    if answer.code == 200:
        assert len(answer.object["body"]) == LARGE
    else:
        assert answer.code == 500
        assert answer.object["status"] == "NO_MEMORY"
    return answer.code


def test_where_memory_runs_out_the_answer_is_an_error(site: Site, server: Server) -> None:
    fill(server, 12, b"x" * LARGE)
    fill(server, 1, b"y" * 200 * 1024 * 1024, "huge")
    with Site(server.url, memory=LIMIT) as own:
        answer = own.get("huge", "messages", "m0")
        assert (answer.code, answer.object["status"]) == (500, "NO_MEMORY")
        with ThreadPoolExecutor(12) as pool:
            codes = set(pool.map(lambda n: whole_or_error(own, f"m{n}"), range(12)))
        assert codes - {0}
        # Nothing of that is kept.
        assert whole_or_error(own, "m0") == 200
        assert len(own.get("orders", "messages").objects) == 12
