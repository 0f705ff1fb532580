"""The dueq program, as a shell calls it."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

# Under nohup the tests ignore it, and so would the programs that they start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Commands of a worker: for 20 seconds, and until a gate opens.
LONG = "for i in $(seq 200); do sleep 0.1; done"
AT_THE_GATE = ["sh", "-c", 'echo runs; read -r line < "$GATE"; echo done']


def runs(worker: subprocess.Popen[bytes]) -> None:
    """Returns when a command runs."""
    assert worker.stdout
    assert worker.stdout.readline() == b"runs\n"


def said(process: subprocess.Popen[bytes]) -> bytes:
    """The next line on its standard error."""
    assert process.stderr
    return process.stderr.readline()


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
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def object(self) -> dict[str, Any]:
        (one,) = self.objects
        return one


class Started(subprocess.Popen[bytes]):
    """A run that is killed after a minute or, after a failure, at the end of its block."""

    def __enter__(self) -> "Started":
        self._watchdog = threading.Timer(60, self.kill)
        self._watchdog.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watchdog.cancel()
        if error:
            self.kill()
        super().__exit__(kind, error, trace)


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
    ) -> Started:
        return Started(
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

    @contextlib.contextmanager
    def at_a_terminal(self, *words: str) -> Iterator[tuple[int, Callable[[bytes], bytes]]]:
        """Runs it at a terminal, and types Ctrl-C when the screen shows "runs".

        Its process id, and a function that reads the screen until it shows something.
        """
        child, screen = pty.fork()
        if child == 0:
            os.execve(self.path, [self.path, *words], self.environment)
        shown = b""

        def until(text: bytes) -> bytes:
            nonlocal shown
            while text not in shown:
                shown += os.read(screen, 1000)
            return shown

        try:
            until(b"runs")
            os.write(screen, b"\x03")
            yield child, until
        finally:
            os.close(screen)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def screen(self, *words: str) -> bytes:
        """Runs it to its end at a terminal, and returns all that this shows."""
        child, screen = pty.fork()
        if child == 0:
            os.execve(self.path, [self.path, *words], self.environment)
        shown = b""
        with contextlib.suppress(OSError):  # EIO at the end
            while piece := os.read(screen, 65536):
                shown += piece
        os.close(screen)
        os.waitpid(child, 0)
        return shown

    def take(self, queue: str = "orders") -> str:
        """Reserves one message and returns its ticket."""
        ticket: str = self("reserve", queue, "--json", "--wait", "10s").object["ticket"]
        return ticket

    def find(self, id: str, queue: str = "orders") -> dict[str, Any]:
        """A message that must be there."""
        return self("find", queue, id, "--json").object

    def stats(self, queue: str = "orders") -> dict[str, Any]:
        return self("stats", queue, "--json").object

    def until(self, holds: Callable[[], bool]) -> None:
        """Returns when that holds."""
        deadline = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < deadline

    def __call__(self, *words: str, stdin: bytes = b"") -> Ended:
        """Runs to the end, which must be a good one."""
        ended = self.run(*words, stdin=stdin)
        assert ended.code == 0, ended.err
        return ended


class Gate:
    """Commands wait at it: read -r line < "$GATE"."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._file = os.open(path, os.O_RDWR)

    def let(self, count: int = 1) -> None:
        """Lets so many of them go on."""
        os.write(self._file, b"\n" * count)

    def close(self) -> None:
        """Ends all that wait."""
        os.close(self._file)
