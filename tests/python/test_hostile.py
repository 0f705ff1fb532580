"""A server that is none of ours: what it answers ends a call by its error in time, and no more."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

import dueq
from dueq import errors

Words = list[bytes]
# What a reserve answers that finds nothing, and is to wait without a time to look at.
NOTHING = b"*7\r\n:1793541600000\r\n:-1\r\n:0\r\n:0\r\n$0\r\n\r\n*0\r\n$0\r\n\r\n"
LOGIN = {b"CLIENT": b":7\r\n", b"INFO": b"$0\r\n\r\n"}


@contextmanager
def hostile(
    path: Path | None, answer: Callable[[Words], bytes], login: dict[bytes, bytes] = LOGIN
) -> Iterator[str]:
    """The URL of a server that logs in whoever comes, and then answers each request by `answer`.

    Without a path it listens on a port.
    """
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection.makefile("rb") as file:
            while head := file.readline():
                words = [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                connection.sendall(login.get(words[0]) or answer(words))

    def accept() -> None:
        while True:
            try:
                connections.append(listener.accept()[0])
            except OSError:
                return
            threading.Thread(target=serve, args=connections[-1:], daemon=True).start()

    with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as listener:
        listener.bind(str(path) if path else ("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        at = f"unix://{path}" if path else f"redis://127.0.0.1:{listener.getsockname()[1]}"
        yield f"{at}?timeout=2s"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(20)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h") / "s"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"*2147483647\r\n", id="length"),
        pytest.param(b"*2\r\n*1000000\r\n" + b"$-1\r\n" * 1000000 + b"*1000000\r\n", id="sum"),
        pytest.param(b"*1\r\n" * 1000000, id="depth"),
    ],
)
def test_answer_that_announces_too_much(path: Path, answer: bytes) -> None:
    """Room is not made for it: that, and giving it back, took seconds beyond the deadline."""
    with hostile(path, lambda _: answer) as url, closing(dueq.Queue("q", url)) as queue:
        begin = time.monotonic()
        with pytest.raises(errors.ProtocolError, match="does not speak"):
            queue.push("x")
        assert time.monotonic() - begin < 5


def test_answers_to_a_wait_that_nothing_asked_for(path: Path) -> None:
    """However many they are: they took the stack and minutes."""

    def answer(words: Words) -> bytes:
        return b"*-1\r\n" * 1000000 if words[0] == b"BZPOPMIN" else NOTHING

    with hostile(path, answer) as url, closing(dueq.Queue("q", url)) as queue:
        begin = time.monotonic()
        with pytest.raises(errors.ProtocolError, match="a reply without a request"):
            queue.reserve(timeout=3)
        assert time.monotonic() - begin < 10


@pytest.mark.parametrize("answer", [b"*-1\r\n", b":1\r\n", b"*3\r\n+k\r\n+w\r\n:0\r\n"])
def test_wait_that_always_ends_at_once(path: Path, answer: bytes) -> None:
    def each(words: Words) -> bytes:
        return answer if words[0] == b"BZPOPMIN" else NOTHING

    with hostile(path, each) as url, closing(dueq.Queue("q", url)) as queue:
        begin = time.monotonic()
        assert queue.reserve(timeout=1) is None
        assert time.monotonic() - begin < 10


def test_reserve_that_is_always_to_ask_again(path: Path) -> None:
    """It is asked until the call's deadline."""
    again = NOTHING.replace(b":-1", b":0")

    def answer(words: Words) -> bytes:
        return again

    with hostile(path, answer) as url, closing(dueq.Queue("q", url)) as queue:
        begin = time.monotonic()
        with pytest.raises(errors.ServerTimeoutError):
            queue.reserve()
        assert time.monotonic() - begin < 10


BULK = b"$2147483647\r\n" + b"x" * 1000


@pytest.mark.parametrize("step", [b"EVALSHA", b"INFO", b"CLIENT"])
def test_answer_of_2_gib_is_refused_at_its_length(path: Path, step: bytes) -> None:
    """The server sends its first 1,000 bytes and no more: the client does not wait for the rest."""
    login = {word: answer for word, answer in LOGIN.items() if word != step}

    with (
        hostile(path, lambda _: BULK, login) as url,
        closing(dueq.Queue("q", url)) as queue,
        pytest.raises(errors.ProtocolError, match="announces an answer of 2147483647 bytes"),
    ):
        queue.push("x")


def slots(count: int, port: int) -> bytes:
    map_ = b"*%d\r\n" % count
    for slot in range(count):
        host = b"10.0.%d.%d" % divmod(slot, 256)
        node = b"*3\r\n$%d\r\n%s\r\n:%d\r\n$0\r\n\r\n" % (len(host), host, port)
        map_ += b"*3\r\n:%d\r\n:%d\r\n%s" % (slot, slot, node)
    return map_


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        pytest.param(slots(16384, 1), errors.UnsupportedError, "1,000 primaries", id="hosts"),
        pytest.param(BULK, errors.ProtocolError, "announces an answer of", id="bulk"),
    ],
)
def test_map_of_a_cluster_beyond_its_bound(
    answer: bytes, error: type[Exception], says: str
) -> None:
    with hostile(None, lambda _: answer) as url:
        begin = time.monotonic()
        queue = dueq.Queue("q", url.replace("redis:", "redis+cluster:"))
        with closing(queue), pytest.raises(error, match=says):
            queue.push("x")
        assert time.monotonic() - begin < 5
