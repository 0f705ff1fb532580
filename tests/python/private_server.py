"""A private redis-server or valkey-server on a Unix socket, and its protocol to look inside."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeAlias

Reply: TypeAlias = "int | bytes | list[Reply] | None"

PROGRAM = (
    os.environ.get("DUEQ_TEST_SERVER")
    or shutil.which("redis-server")
    or shutil.which("valkey-server")
    or "redis-server"
)

IS_OLD = b"v=6." in subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE).stdout
"""Whether it is Redis 6.2, which has fewer options."""


_held: list[socket.socket] = []


def free_port() -> int:
    """It stays free while its server is down: no other process of the tests gets it.

    Connections get theirs from higher ones.
    """
    while True:
        port = random.SystemRandom().randrange(10000, 30000)
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with contextlib.suppress(OSError), socket.socket() as probe:
            held.bind(f"\0dueq-test-port-{port}")
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            _held.append(held)
            return port
        held.close()


class Refused(Exception):
    """An error reply."""


class Server:
    """Runs until the with block ends. options: words of the server's command line."""

    config: Path | None = None
    under: Sequence[str] = ()
    """A command that runs it."""

    def __init__(self, *options: str) -> None:
        # A socket's path has 107 bytes at most, too few for a directory of pytest's.
        self.directory = Path(tempfile.mkdtemp(prefix="dueq-"))
        self.socket = self.directory / "s"
        self.url = f"unix://{self.socket}"
        self.program = PROGRAM
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self.directory)

    def start(self) -> None:
        words = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.directory)]
        words += ["--save", "", "--appendonly", "no", "--logfile", str(self.directory / "log")]
        program = [*self.under, self.program]
        if threading.current_thread() is threading.main_thread():
            # It dies with the thread that starts it, so with the process, however that ends.
            program = ["setpriv", "--pdeathsig", "KILL", *program]
        program += [str(self.config)] if self.config else []
        self._process = subprocess.Popen([*program, *words, *self._options])
        deadline = time.monotonic() + 10
        while True:
            try:
                return self.connect().close()
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError(f"{self.program} did not start: {self.log()}") from None
                time.sleep(0.01)

    def stop(self) -> None:
        """Kills it; one that is frozen does nothing more before."""
        assert self._process
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log(self) -> str:
        path = self.directory / "log"
        return path.read_text(encoding="utf-8") if path.exists() else "no log"

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self.socket))
        except OSError:
            connection.close()
            raise
        return connection

    def command(self, *words: str | bytes | int) -> Reply:
        """Runs one command on a connection of its own. Raises Refused for an error reply."""
        with self.connect() as connection, connection.makefile("rb") as file:
            connection.sendall(packed(words))
            return read_reply(file)

    def wait_for_busy(self) -> None:
        """Returns when the server refuses commands because a script runs."""
        deadline = time.monotonic() + 10
        with contextlib.suppress(Refused):
            while self.command("PING"):
                assert time.monotonic() < deadline, "no script runs"

    def waiting(self) -> int:
        """How many connections sit in a blocking command."""
        info = self.command("INFO", "clients")
        assert isinstance(info, bytes)
        return int(info.split(b"blocked_clients:")[1].split()[0])

    def wait_for_waiting(self, count: int) -> None:
        """Returns when that many connections sit in a blocking command."""
        deadline = time.monotonic() + 10
        while self.waiting() != count:
            assert time.monotonic() < deadline, "nobody waits"
            time.sleep(0.005)


def packed(words: Sequence[str | bytes | int]) -> bytes:
    """A command, as it is sent."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"".join(
        [b"*%d\r\n" % len(parts), *(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)]
    )


def read_reply(file: BinaryIO) -> Reply:
    """Raises Refused for an error reply, EOFError at the connection's end."""
    line = file.readline()
    if not line:
        raise EOFError
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise Refused(rest.decode())
    if kind == b"+":
        return rest
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
    return [read_reply(file) for _ in range(int(rest))]
