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
# What is sent at once, or in these parts.
Answer = bytes | Iterator[bytes]
# What a reserve answers that finds nothing, and is to wait without a time to look at.
NOTHING = b"*7\r\n:1793541600000\r\n:-1\r\n:0\r\n:0\r\n$0\r\n\r\n*0\r\n$0\r\n\r\n"
LOGIN = {b"CLIENT": b":7\r\n", b"INFO": b"$0\r\n\r\n"}


@contextmanager
def hostile(
    path: Path | None, answer: Callable[[Words], Answer], login: dict[bytes, bytes] = LOGIN
) -> Iterator[str]:
    """The URL of a server that logs in whoever comes, and then answers each request by `answer`.

    Without a path it listens on a port.
    """
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection.makefile("rb") as file:
            while head := file.readline():
                words = [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                answered = login.get(words[0]) or answer(words)
                for part in [answered] if isinstance(answered, bytes) else answered:
                    connection.sendall(part)

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
AUTH = {b"AUTH": b"+OK\r\n"}


def bare(login: dict[bytes, bytes], step: bytes) -> dict[bytes, bytes]:
    return {word: answer for word, answer in login.items() if word != step}


@pytest.mark.parametrize("step", [b"EVALSHA", b"AUTH", b"CLIENT", b"INFO"])
@pytest.mark.parametrize(
    ("announced", "size"), [(BULK, 2147483647), (b"*2\r\n+x\r\n$1048576\r\n", 1048577)]
)
def test_answer_of_more_than_was_asked_for_is_refused_at_its_length(
    path: Path, step: bytes, announced: bytes, size: int
) -> None:
    """The server sends so much and no more: the client does not wait for the rest."""
    with (
        hostile(path, lambda _: announced, bare(AUTH | LOGIN, step)) as url,
        closing(dueq.Queue("q", url.replace("unix://", "unix://:secret@"))) as queue,
        pytest.raises(errors.ProtocolError, match=f"announces {size} bytes"),
    ):
        queue.push("x")


@pytest.mark.parametrize(
    ("announced", "count"),
    [(BULK, 1), (BULK, 200), (b"*9\r\n$1\r\nx\r\n$539000000\r\n", 200)],
)
def test_message_larger_than_any_is_refused_at_its_length(
    path: Path, announced: bytes, count: int
) -> None:
    with (
        hostile(path, lambda _: announced) as url,
        closing(dueq.Queue("q", url)) as queue,
        pytest.raises(errors.ProtocolError, match="more than was asked for"),
    ):
        queue.reserve_many(count)


def test_message_of_512_mib_is_waited_for(path: Path) -> None:
    with (
        hostile(path, lambda _: b"*9\r\n$536870912\r\nx") as url,
        closing(dueq.Queue("q", url.replace("2s", "1s"))) as queue,
        pytest.raises((errors.ServerTimeoutError, errors.ClosedError)),
    ):
        queue.reserve()


def trickle(answer: bytes) -> Iterator[bytes]:
    """Byte by byte, for longer than any deadline."""
    for place in range(len(answer)):
        time.sleep(0.05)
        yield answer[place : place + 1]


TRICKLED = b"$1000\r\n" + b"x" * 600


@pytest.mark.parametrize("step", [b"EVALSHA", b"AUTH", b"CLIENT", b"INFO"])
def test_answer_byte_by_byte_moves_no_deadline(path: Path, step: bytes) -> None:
    with (
        hostile(path, lambda _: trickle(TRICKLED), bare(AUTH | LOGIN, step)) as url,
        closing(dueq.Queue("q", url.replace("//", "//:secret@").replace("2s", "1s"))) as queue,
    ):
        begin = time.monotonic()
        with pytest.raises(errors.ServerTimeoutError):
            queue.push("x")
        assert time.monotonic() - begin < 5


def test_block_that_ends_byte_by_byte_moves_no_deadline(path: Path) -> None:
    def answer(words: Words) -> Answer:
        return trickle(TRICKLED) if words[0] == b"BZPOPMIN" else NOTHING

    with hostile(path, answer) as url, closing(dueq.Queue("q", url.replace("2s", "1s"))) as queue:
        begin = time.monotonic()
        with suppress(errors.ServerTimeoutError):
            assert queue.reserve(timeout=1) is None
        assert time.monotonic() - begin < 8


@pytest.mark.parametrize("scheme", ["redis+cluster:", "redis+sentinel:"])
@pytest.mark.parametrize("answer", [BULK, TRICKLED])
def test_question_about_the_servers_moves_no_deadline(scheme: str, answer: bytes) -> None:
    """Which node has the slot, which server is the primary: by an answer without end."""

    def each(_: Words) -> Answer:
        return answer if answer == BULK else trickle(answer)

    with hostile(None, each) as url:
        name = "/primary" if "sentinel" in scheme else ""
        queue = dueq.Queue(
            "q", url.replace("redis:", scheme).replace("?timeout=2s", name + "?timeout=1s")
        )
        begin = time.monotonic()
        says = "announces 2147483647 bytes" if answer == BULK else "did not answer"
        with closing(queue), pytest.raises(errors.Error, match=says):
            queue.push("x")
        assert time.monotonic() - begin < 5


def slots(hosts: list[bytes], port: int, *, turned: bool = False) -> bytes:
    """A map in which each of these hosts has a range, and the last one all slots behind."""
    map_ = b"*%d\r\n" % len(hosts)
    for place, host in enumerate(hosts):
        last = 16383 if place == len(hosts) - 1 else place
        node = b"*3\r\n$%d\r\n%s\r\n:%d\r\n$0\r\n\r\n" % (len(host), host, port)
        first, last = (16383, 0) if turned else (place, last)
        map_ += b"*3\r\n:%d\r\n:%d\r\n%s" % (first, last, node)
    return map_


def hosts(count: int) -> list[bytes]:
    return [b"10.%d.%d.%d" % (n >> 16, n >> 8 & 255, n & 255) for n in range(count)]


# Many ranges with all slots each.
OVERLAPPING = b"*100000\r\n" + slots([b"h"], 1).removeprefix(b"*1\r\n") * 100000


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        pytest.param(slots(hosts(16384), 1), errors.UnsupportedError, "1,000 prim", id="hosts"),
        pytest.param(slots(hosts(1001), 1), errors.UnsupportedError, "1,000 prim", id="1001"),
        pytest.param(OVERLAPPING, errors.UnsupportedError, "16,384 slots", id="slots"),
        pytest.param(
            slots(hosts(100000), 1, turned=True),
            errors.UnavailableError,
            "no node of the cluster has the slot",
            id="turned",
        ),
    ],
)
def test_map_of_a_cluster_beyond_its_bound(
    answer: bytes, error: type[Exception], says: str
) -> None:
    with hostile(None, lambda _: answer) as url:
        begin = time.monotonic()
        queue = dueq.Queue("q", url.replace("redis:", "redis+cluster:").replace("2s", "4s"))
        with closing(queue), pytest.raises(error, match=says):
            queue.push("x")
        assert time.monotonic() - begin < 10


def test_map_of_1000_primaries() -> None:
    """Those of a range whose first slot is behind its last are not among them."""
    port: list[int] = []

    def answer(words: Words) -> bytes:
        return slots([*hosts(999), b""], *port) if words[0] == b"CLUSTER" else b":0\r\n"

    with hostile(None, answer) as url:
        port.append(int(url.split(":")[2].split("?")[0]))
        # The slot of this name is one of the last host's, which is the one that was asked.
        with closing(dueq.Queue("q", url.replace("redis:", "redis+cluster:"))) as queue:
            assert queue.push("x")
