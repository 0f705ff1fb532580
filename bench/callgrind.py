"""Counts the instructions of a server: those of its own process, without the kernel's."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import machine
from servers import Redis, free_port

VALGRIND = shutil.which("valgrind")
# Valgrind names its pipes by these each time that it opens them. Redis 8 overwrites its
# environment, so with them valgrind would not find its pipes again.
NAMELESS = ["env", *(f"--unset={name}" for name in ("USER", "LOGNAME", "HOST", "HOSTNAME"))]


class Counter:
    def __init__(self, pid: int, dumps: Path) -> None:
        self._pid, self._dumps, self._total = pid, dumps, 0
        self._command("instrumentation", "on")

    def _command(self, *words: str) -> None:
        done = subprocess.run(
            [*NAMELESS, "vgdb", f"--pid={self._pid}", _pipes(self._dumps), *words],
            capture_output=True,
            text=True,
            timeout=60,
        )
        if done.returncode:
            raise SystemExit(f"vgdb {' '.join(words)}: {done.stderr.strip()}")

    def read(self) -> int:
        """Instructions since it was made."""
        # Each dump begins to count anew.
        self._command("dump")
        [dump] = self._dumps.glob(f"dump.{self._pid}.*")
        found = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
        if not found:
            raise SystemExit(f"callgrind wrote no totals to {dump}")
        self._total += int(found[1])
        dump.unlink()
        return self._total


def _pipes(folder: Path) -> str:
    """The option that says where valgrind and vgdb meet: in a folder that does not stay."""
    return f"--vgdb-prefix={folder}/vgdb"


@contextmanager
def valgrind() -> Iterator[tuple[list[str], Path]]:
    """The command that runs a server whose instructions are counted, and where it meets a Counter.

    The server's clock interrupt (serverCron, ten times a second) is left out: its share would
    depend on how slow the machine is.
    """
    if not VALGRIND:
        raise SystemExit("there is no valgrind: apt-get install valgrind")
    dumps = Path(tempfile.mkdtemp(prefix="dueq-bench-"))
    words = [*NAMELESS, VALGRIND, "-q", "--tool=callgrind", "--instr-atstart=no"]
    words += ["--toggle-collect=serverCron", "--collect-atstart=yes"]
    words += [f"--callgrind-out-file={dumps}/dump.%p", _pipes(dumps)]
    try:
        yield words, dumps
    finally:
        shutil.rmtree(dumps)


@contextmanager
def counted_redis() -> Iterator[tuple[Redis, Counter]]:
    """A private server for peers, and the counter of its instructions."""
    port = free_port()
    with valgrind() as (words, dumps), machine.start_server(port, under=words) as server:
        redis = Redis(server.socket, port)
        try:
            yield redis, Counter(server.pid, dumps)
        finally:
            redis.close()


@contextmanager
def counted_server() -> Iterator[tuple[Path, Counter]]:
    """A private server's socket, and the counter of its instructions."""
    with valgrind() as (words, dumps), machine.start_server(under=words) as server:
        yield server.socket, Counter(server.pid, dumps)
