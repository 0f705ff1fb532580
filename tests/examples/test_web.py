"""examples/web.py: served by uvicorn, and worked for by dueq-worker."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import dueq

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE_S = 30.0


class Site:
    """Asks it, on a connection for each request."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, **order: object) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        body = json.dumps(order) if order else None
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None


@pytest.fixture
def site(dueq_url: str) -> Iterator[Site]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.fileno()
        words = [sys.executable, "-m", "uvicorn", "web:site", "--fd", str(number)]
        server = subprocess.Popen(words, cwd=EXAMPLES, env=dict(os.environ), pass_fds=[number])
        try:
            # What connects before it serves waits in the listener's backlog.
            yield Site(listener.getsockname()[1])
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(PATIENCE_S)


def test_web_receipts_are_sent_by_the_worker(site: Site, dueq_url: str) -> None:
    order = {"number": 17, "email": "ada@example.org"}
    assert site.ask("POST", "/orders", **order) == (202, {"receipt": "receipt-17"})
    assert site.ask("GET", "/orders/17/receipt") == (200, {"state": "delayed", "error": ""})
    assert site.ask("POST", "/orders", **order)[0] == 409
    assert site.ask("POST", "/orders", number=18)[0] == 422
    assert site.ask("POST", "/orders", number=19, email="x@example.org")[0] == 202
    assert site.ask("DELETE", "/orders/19/receipt") == (204, None)
    assert site.ask("DELETE", "/orders/19/receipt")[0] == 404
    words = ["web:tasks", "--pool", "asyncio", "--max-jobs", "1"]
    worker = subprocess.run(
        [sys.executable, "-m", "dueq", *words],
        cwd=EXAMPLES,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert "the receipt of order 17 goes to ada@example.org" in worker.stderr
    assert site.ask("GET", "/orders/17/receipt")[0] == 404
    with dueq.Queue("mail", dueq_url) as mail:
        counts = mail.stats()
    assert (counts.acked, counts.cancelled, counts.retried) == (1, 1, 0)
