"""A queue that is stuck, in eight ways: for what is to explain that.

Each is a context manager of the program, the server that it calls, and the name of the queue. The
queue stays as it is until the block ends; what runs or was set for it ends then, the messages stay.
"""

import contextlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from private_server import Server

from .program import Gate, Program
from .test_cli_workers import register

Way = Callable[[Program, Server, str], AbstractContextManager[None]]

ERROR = "ValueError: row {}"
"""What the poison messages die of, each with its number."""

HELD_AT_A_GATE = 'read -r line < "$1"'


@contextlib.contextmanager
def no_workers(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    dueq("push", queue, "x")
    yield


@contextlib.contextmanager
def poison(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    for i in range(3):
        dueq("push", queue, "x", "--max-attempts", "1", "--id", f"m{i}")
        dueq.run("retry", queue, dueq.take(queue), "--error", ERROR.format(i))
    yield


@contextlib.contextmanager
def working(dueq: Program, queue: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker, whose handler goes on until the block ends."""
    with tempfile.TemporaryDirectory(prefix="dueq-") as folder:
        path = Path(folder, "gate")
        gate = Gate(path)
        words = ["work", queue, "--", "sh", "-c", HELD_AT_A_GATE, "sh", str(path)]
        with dueq.start(*words) as process:
            yield process
            process.terminate()
            gate.let()
            process.communicate(timeout=60)
        gate.close()


@contextlib.contextmanager
def slow(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    """The handler works on m0, and m1 and m2 wait."""
    with working(dueq, queue):
        for i in range(3):
            dueq("push", queue, "x", "--id", f"m{i}")
        dueq.until(lambda: dueq.stats(queue)["leased"] == 1)
        yield


@contextlib.contextmanager
def paused(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    dueq("push", queue, "x")
    dueq("pause", queue)
    yield


@contextlib.contextmanager
def limited(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    """A consumer has one message, and the queue's limit keeps the other one waiting."""
    dueq("limit", queue, "--concurrency", "1")
    for _ in range(2):
        dueq("push", queue, "x")
    dueq("reserve", queue, "--lease", "1h")
    yield


@contextlib.contextmanager
def held(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    """A consumer waits, and all that is ready is of a group that is held and one at its limit."""
    dueq("limit", queue, "--each-group-concurrency", "1")
    for group in ("acme", "globex", "globex"):
        dueq("push", queue, "x", "--group", group)
    dueq("hold", queue, "--group", "acme", "--duration", "1h")
    dueq("reserve", queue, "--count", "9", "--lease", "1h")
    register(server, "idle", queue=queue)
    yield


@contextlib.contextmanager
def lost_dead_letters(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    """The key of its dead-letter queue "lost" holds something else."""
    server.command("SET", "dueq:{lost}:msg", "not a hash")
    dueq("push", queue, "x", "--max-attempts", "1", "--dead-letter", "lost")
    dueq.run("retry", queue, dueq.take(queue))
    yield


@contextlib.contextmanager
def full(dueq: Program, server: Server, queue: str) -> Iterator[None]:
    """The server has no memory left, with maxmemory-policy noeviction."""
    dueq("push", queue, "x")
    server.command("CONFIG", "SET", "maxmemory", "1000000")
    try:
        refused = dueq.run("push", queue, "y")
        assert refused.code == 3
        assert "FULL" in refused.err
        yield
    finally:
        server.command("CONFIG", "SET", "maxmemory", "0")


WAYS: dict[str, Way] = {
    "no workers": no_workers,
    "a poison message": poison,
    "a slow handler": slow,
    "a paused queue": paused,
    "a queue at its limit": limited,
    "groups at their limits": held,
    "a lost dead-letter queue": lost_dead_letters,
    "Redis full": full,
}
