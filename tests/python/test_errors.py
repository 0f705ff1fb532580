import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import dueq
from dueq import _core, errors
from dueq._call import Answer
from private_server import Server

HEADER = Path(__file__).parents[2] / "core" / "dueq.h"


def table() -> list[tuple[int, str, bool]]:
    """The rows of DUEQ_STATUS_TABLE as the header has them."""
    rows = re.findall(r"^    X\((-?\d+), (\w+), ([01]), ", HEADER.read_text(encoding="utf-8"), re.M)
    return [(int(code), name, retriable == "1") for code, name, retriable in rows]


@pytest.mark.parametrize("row", [row for row in table() if row[0] < 0], ids=lambda row: row[1])
def test_error_class_of_every_failure(row: tuple[int, str, bool]) -> None:
    code, name, retriable = row
    error = errors.make(code, "what happened")
    # Those of Python's own name say whose they are.
    names = {"NAME": "QueueNameError", "TIMEOUT": "ServerTimeoutError", "NOT_DURABLE": "NotDurable"}
    assert type(error).__name__ == names.get(name, name.title().replace("_", "") + "Error")
    assert (error.status, error.name, error.retriable) == (code, name, retriable)
    assert str(error) == "what happened"
    assert isinstance(error, dueq.Error)
    assert type(error).__doc__
    assert getattr(_core, name) == code


def test_error_no_class_without_a_status() -> None:
    known = {code for code, _, _ in table()}
    assert len(known) > 30
    assert {cls.status for cls in dueq.Error.__subclasses__()} <= known
    assert errors.make(-999, "new").name == "UNKNOWN"


@pytest.mark.parametrize(
    ("cls", "builtin"),
    [
        (errors.ConnectError, ConnectionError),
        (errors.ServerTimeoutError, TimeoutError),
        (errors.InvalidError, ValueError),
        (errors.DeniedError, PermissionError),
    ],
)
def test_error_is_what_python_calls_it(cls: type[dueq.Error], builtin: type[Exception]) -> None:
    assert issubclass(cls, builtin)


def test_error_connect(tmp_path: Path) -> None:
    with dueq.Queue("q", f"unix://{tmp_path}/none?timeout=200ms") as queue:
        with pytest.raises(errors.ConnectError, match="none") as caught:
            queue.push("x")
        assert caught.value.retriable


def test_error_timeout_and_after_it(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url + "?timeout=300ms") as queue:
        queue.push("before", id="1")
        own_server.freeze()
        with pytest.raises(errors.ServerTimeoutError):
            queue.push("meanwhile", id="2")
        own_server.thaw()
        with pytest.raises(dueq.Duplicate):
            queue.push("before", id="1")
        assert queue.stats().ready in (1, 2)


def test_error_server_killed_and_back(own_server: Server) -> None:
    with dueq.Queue("q", own_server.url + "?timeout=5s") as queue:
        queue.push("lost with the server, which keeps nothing here")
        own_server.stop()
        back = threading.Timer(0.3, own_server.start)
        back.start()
        assert queue.reserve() is None
        back.join()


def test_error_in_use(server: Server) -> None:
    client = _core.client_open(server.url)
    queue = _core.queue_open(client, "q")
    _core.reserve_submit(queue, 1, _core.FOREVER, 0)
    with pytest.raises(errors.InUseError):
        _core.stats_submit(_core.queue_open(client, "another"))
    _core.abandon(client)
    _core.stats_submit(queue)
    _core.wait(client, -1)
    assert Answer(*_core.take(client)).counts is not None


def test_error_auth(own_server: Server) -> None:
    own_server.command("CONFIG", "SET", "requirepass", "right")
    for login in ("", "default:wrong@"):
        url = own_server.url.replace("unix://", "unix://" + login)
        with dueq.Queue("q", url) as queue, pytest.raises(errors.AuthError) as caught:
            queue.push("x")
        assert "wrong" not in str(caught.value).replace("WRONGPASS", "").replace("wrong pass", "")
    with dueq.Queue("q", own_server.url.replace("unix://", "unix://default:right@")) as queue:
        queue.push("x")


def test_error_denied(own_server: Server) -> None:
    own_server.command("ACL", "SETUSER", "eve", "on", ">pw", "~*", "+@connection", "+info")
    url = own_server.url.replace("unix://", "unix://eve:pw@")
    with dueq.Queue("q", url) as queue, pytest.raises(errors.DeniedError):
        queue.push("x")


def test_error_database(server: Server) -> None:
    with dueq.Queue("q", server.url + "?db=9999") as queue, pytest.raises(errors.DatabaseError):
        queue.push("x")


def test_error_readonly(own_server: Server) -> None:
    own_server.command("REPLICAOF", "127.0.0.1", "1")
    with dueq.Queue("q", own_server.url) as queue, pytest.raises(errors.ReadonlyError):
        queue.push("x")


def test_error_full(own_server: Server) -> None:
    own_server.command("CONFIG", "SET", "maxmemory", 1)
    with dueq.Queue("q", own_server.url) as queue:
        with pytest.raises(errors.FullError):
            queue.push("x")
        own_server.command("CONFIG", "SET", "maxmemory", 0)
        queue.push("x")


def test_error_busy(own_server: Server) -> None:
    own_server.command("CONFIG", "SET", "lua-time-limit", 50)
    with own_server.connect() as blocker, dueq.Queue("q", own_server.url + "?timeout=1s") as queue:
        queue.push("x")
        blocker.sendall(b"EVAL 'while true do end' 0\r\n")
        own_server.wait_for_busy()
        with pytest.raises(errors.BusyError):
            queue.push("y")
        own_server.command("SCRIPT", "KILL")
        assert blocker.recv(6).startswith(b"-")
        queue.push("y")


def test_error_wrong_type(queue: dueq.Queue, server: Server) -> None:
    server.command("SET", f"dueq:{{{queue.name}}}:ready", "something else")
    with pytest.raises(errors.WrongTypeError):
        queue.push("x")


def test_error_too_large_for_the_server(own_server: Server) -> None:
    own_server.command("CONFIG", "SET", "proto-max-bulk-len", 1024 * 1024)
    with dueq.Queue("q", own_server.url) as queue:
        with pytest.raises(errors.TooLargeError):
            queue.push(bytes(3 * 1024 * 1024))
        queue.push("small")


def test_error_embedded() -> None:
    with dueq.Queue("q", "embedded:/dev/null/no") as queue, pytest.raises(errors.EmbeddedError):
        queue.push("x")


class Page(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("scheme", "cls"), [("redis", errors.ProtocolError), ("rediss", errors.TlsError)]
)
def test_error_not_a_redis_server(scheme: str, cls: type[dueq.Error]) -> None:
    with HTTPServer(("127.0.0.1", 0), Page) as web:
        thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        url = f"{scheme}://127.0.0.1:{web.server_port}?timeout=3s"
        with dueq.Queue("q", url) as queue, pytest.raises(cls):
            queue.push("x")
        web.shutdown()
        thread.join()


def test_error_closed_outcome_not_known() -> None:
    """A peer that goes away for good once it has the request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}?timeout=1s"

        def accept_and_leave() -> None:
            peer, _ = listener.accept()
            peer.recv(1)
            listener.close()
            peer.close()

        thread = threading.Thread(target=accept_and_leave)
        thread.start()
        with dueq.Queue("q", url) as queue, pytest.raises(ConnectionError):
            queue.push("x")
        thread.join()
