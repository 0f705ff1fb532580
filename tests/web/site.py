"""A running `dueq web`, the shell beside it, and requests."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode

TOKEN = "a-token-of-the-tests-0123456789"


Headers = Mapping[str, str]


@dataclass
class Answer:
    code: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def object(self) -> dict[str, Any]:
        (one,) = self.objects
        return one

    @property
    def next(self) -> str | None:
        return self.headers["Dueq-Next"]


def path(*parts: str, **arguments: str | int) -> str:
    made = "/api/queues" + "".join("/" + quote(part, safe="") for part in parts)
    return made + ("?" + urlencode(arguments, quote_via=quote) if arguments else "")


class Site:
    def __init__(
        self,
        server: str,
        token: str | None = None,
        options: Sequence[str] = (),
        memory: int | None = None,
    ) -> None:
        """memory: how many bytes of addresses the program may have at most."""
        found = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
        assert found, "there is no dueq on the PATH"
        self._dueq, self._token = found, token
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "DUEQ_URL": server}
        given = {"DUEQ_TOKEN": token} if token else {}
        self.process = subprocess.Popen(
            [found, "web", "--listen", "127.0.0.1:0", *options],
            env=self.environment | given,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (memory, memory))
            if memory
            else None,
        )
        assert self.process.stderr
        line = self.process.stderr.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert match, line
        self.port, self.url = int(match[1]), match[0]

    def __enter__(self) -> Site:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        code = self.process.wait(30)
        assert self.process.stderr
        self.process.stderr.close()
        assert code == 128 + 15

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(
        self,
        method: str,
        target: str,
        body: bytes | str = b"",
        headers: Headers | None = None,
        token: bool = True,
    ) -> Answer:
        sent = dict(headers or {})
        if token and self._token:
            sent.setdefault("Authorization", f"Bearer {self._token}")
        connection = self.connection()
        try:
            data = body.encode() if isinstance(body, str) else body
            connection.request(method, target, data or None, sent)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, *parts: str, **arguments: str | int) -> Answer:
        return self.ask("GET", path(*parts, **arguments))

    def post(self, *parts: str, body: bytes | str = b"", **arguments: str | int) -> Answer:
        return self.ask("POST", path(*parts, **arguments), body)

    def shell(self, *words: str, text: str = "") -> bytes:
        """What the command prints; `text` is what it reads."""
        done = subprocess.run(
            [self._dueq, *words],
            env=self.environment,
            input=text.encode(),
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout


def without_clocks(lines: bytes) -> bytes:
    """What the server's clock said when it answered differs from call to call."""
    return re.sub(rb'"(now_ms|span_ms)":\d+', rb'"\1":0', lines)
