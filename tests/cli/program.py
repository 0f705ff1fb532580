"""The dueq program, as a shell calls it."""

import json
import os
import subprocess
from dataclasses import dataclass
from typing import IO, Any


@dataclass
class Ended:
    """What a run of the program left behind."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @property
    def object(self) -> dict[str, Any]:
        (one,) = self.objects
        return one


class Program:
    """Calls of one program on one server."""

    def __init__(self, path: str, url: str) -> None:
        self.path = path
        self.environment = {**os.environ, "DUEQ_URL": url}

    def start(
        self,
        *words: str,
        stdin: int | IO[bytes] = subprocess.PIPE,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.path, *words],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=self.environment,
        )

    def run(self, *words: str, stdin: bytes = b"") -> Ended:
        """Runs to the end, whatever comes of it."""
        with self.start(*words) as process:
            out, err = process.communicate(stdin, timeout=60)
        return Ended(process.returncode, out, err.decode())

    def take(self, queue: str = "orders") -> str:
        """Reserves one message and returns its ticket."""
        ticket: str = self("reserve", queue, "--json", "--wait", "10s").object["ticket"]
        return ticket

    def find(self, id: str, queue: str = "orders") -> dict[str, Any]:
        """A message that must be there."""
        return self("find", queue, id, "--json").object

    def stats(self, queue: str = "orders") -> dict[str, Any]:
        return self("stats", queue, "--json").object

    def __call__(self, *words: str, stdin: bytes = b"") -> Ended:
        """Runs to the end, which must be a good one."""
        ended = self.run(*words, stdin=stdin)
        assert ended.code == 0, ended.err
        return ended
