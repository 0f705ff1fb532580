"""The queue of a task: that of the push, of the routes, of the task, or "default"."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import dueq
from dueq import errors
from dueq.testing import drain

ROUTES = {"send_receipt": "mail", "resize": "images"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "routes.json"
    path.write_text(json.dumps(ROUTES))
    return path


@pytest.fixture
def url(file: Path) -> Iterator[str]:
    """A URL of the file."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/routes.json" else 404)
            self.end_headers()
            self.wfile.write(file.read_bytes())

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/routes.json"
    server.shutdown()
    thread.join()
    server.server_close()


def test_routes_are_a_table_a_file_or_a_url(
    file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dueq.App(routes=ROUTES).routes == ROUTES
    assert dueq.App(routes=file).routes == ROUTES
    for given in [str(file), url]:
        assert dueq.App(routes=given).routes == ROUTES
    assert dueq.App().routes == {}
    monkeypatch.setenv("DUEQ_ROUTES", str(file))
    assert dueq.App().routes == ROUTES
    assert dueq.App(routes={}).routes == {}
    monkeypatch.setenv("DUEQ_ROUTES", url)
    assert dueq.App().routes == ROUTES


def test_routes_replace_the_queue_of_a_task_and_a_push_replaces_that(dueq_url: str) -> None:
    app = dueq.App(routes=ROUTES)
    ran: list[int] = []

    @app.task(queue="late")
    def send_receipt(order: int) -> None:
        ran.append(order)
        dueq.current_job().push(send_receipt.draft(order + 100)) if order == 2 else None

    @app.task
    def pack(order: int) -> None: ...

    assert app.queue_names == ("mail", "default", "late")
    assert (send_receipt.queue, pack.queue) == ("mail", "default")
    send_receipt.push(1)
    send_receipt.options(queue="late").push(2)
    app.push("send_receipt", [3], queue="other")
    app.push("resize", ["a.png"])
    pack.push(1)
    counts = {name: app.queue(name).stats().pushed for name in dueq.queues()}
    assert counts == {"mail": 1, "late": 1, "other": 1, "images": 1, "default": 1}
    drain(app)
    # What an earlier version pushed to the task's own queue is done, too.
    assert sorted(ran) == [1, 2, 102]
    assert app.queue("mail").stats().acked == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", r"it is not an object such as \{\"send_receipt\": \"mail\"\}"),
        ("{", "Expecting property name"),
        ('{"a": 1}', "the task 'a' has no name of a queue, but 1"),
        ('{"a": ""}', "the task 'a' has no name of a queue, but ''"),
        ('{"": "b"}', "name: '' is not 1 to 255 bytes"),
        (b"\xff", "codec can't decode"),
    ],
)
def test_wrong_routes_are_refused_by_name(file: Path, text: str | bytes, says: str) -> None:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(errors.InvalidError, match=says):
        dueq.App(routes=file)


def test_routes_that_cannot_be_read_are_named(tmp_path: Path, url: str) -> None:
    for given in [str(tmp_path / "none"), url + "x", "http://127.0.0.1:1/"]:
        with pytest.raises(errors.InvalidError, match=f"^routes: {given}: "):
            dueq.App(routes=given)
