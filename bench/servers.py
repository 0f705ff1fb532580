"""The private servers that peers are measured on, and what they say of themselves."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import machine

SCRIPTED = ("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro")
BEANSTALKD = shutil.which("beanstalkd")
NATS = machine.ROOT / "build/peers/nats/nats-server"
"""Built when the peer is installed."""


@dataclass(frozen=True)
class Usage:
    """What a server did since it was started, or between two moments."""

    cpu: float  # seconds
    calls: int  # commands it ran, those that scripts call among them
    reads: int  # times that it read from a client: at least one for each round trip
    scripts: int  # that clients sent

    def __sub__(self, before: "Usage") -> "Usage":
        return Usage(
            self.cpu - before.cpu,
            self.calls - before.calls,
            self.reads - before.reads,
            self.scripts - before.scripts,
        )


class Server(Protocol):
    def environment(self) -> dict[str, str]:
        """How an adapter finds it."""

    def usage(self) -> Usage: ...
    def memory(self) -> int:
        """Bytes in use; where the server does not count them, bytes resident."""

    def flush(self) -> None:
        """Forgets all jobs."""

    def watch(self) -> "Watch": ...


@dataclass(frozen=True)
class Traffic:
    sent: float
    """Commands that clients sent."""
    calls: float
    """Those, and what scripts called inside."""


class Watch(Protocol):
    """Counts commands one by one: for quiet times alone, because it costs the server."""

    def close(self) -> Traffic:
        """What came since it was made."""


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process, in nanoseconds' resolution: clock_getcpuclockid() of Linux."""
    return time.clock_gettime((~pid << 3) | 2)


class _Line:
    """A connection to ask a server on, in its own words."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        for left in reversed(range(500)):
            try:
                self._socket.connect(str(path))
                break
            except ConnectionRefusedError:
                # The socket is there before the server listens on it.
                if not left:
                    raise
                time.sleep(0.01)
        self._file = self._socket.makefile("rb")
        self.asked = 0

    def ask(self, *words: str) -> bytes:
        self.asked += 1
        self._socket.sendall(" ".join(words).encode() + b"\r\n")
        first = self._file.readline()
        if first.startswith(b"-") or not first:
            raise RuntimeError(f"{words}: {first.decode().strip() or 'no answer'}")
        size = b"" if first.startswith((b"+", b":")) else first.split()[-1].lstrip(b"$")
        return self._file.read(int(size) + 2) if size else first

    def lines_until(self, last: bytes, wanted: bytes) -> int:
        """How many lines have what is wanted, up to one that has `last`."""
        count = 0
        while line := self._file.readline():
            if last in line:
                return count
            count += wanted in line
        raise RuntimeError("the server closed the connection")

    def close(self) -> None:
        self._file.close()
        self._socket.close()


class Redis:
    def __init__(self, path: Path, port: int) -> None:
        self._path, self._port = path, port
        self._line = _Line(path)
        self._pid = int(self._info("server")["process_id"])

    def _info(self, section: str) -> dict[str, str]:
        lines = self._line.ask("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def environment(self) -> dict[str, str]:
        return {"PEER_REDIS_SOCKET": str(self._path), "PEER_REDIS_PORT": str(self._port)}

    def usage(self) -> Usage:
        counts = {
            name.removeprefix("cmdstat_"): int(value.split(",")[0].removeprefix("calls="))
            for name, value in self._info("commandstats").items()
        }
        calls = sum(count for name, count in counts.items() if name != "info")
        scripts = sum(counts.get(name, 0) for name in SCRIPTED)
        reads = int(self._info("stats")["total_reads_processed"]) - self._line.asked
        return Usage(cpu_seconds(self._pid), calls, reads, scripts)

    def memory(self) -> int:
        """Once the server has freed the connections that filled it and what it frees aside."""
        used, before = int(self._info("memory")["used_memory"]), 0
        for _ in range(20):
            time.sleep(0.15)
            used, before = int(self._info("memory")["used_memory"]), used
            if abs(used - before) < 4096:
                break
        return used

    def flush(self) -> None:
        self._line.ask("FLUSHALL", "SYNC")

    def watch(self) -> Watch:
        return _Monitor(self, self._path)

    def mark(self, text: str) -> None:
        """Makes MONITOR say something."""
        self._line.ask("ECHO", text)

    def close(self) -> None:
        self._line.close()


class _Monitor:
    """MONITOR tells which commands are of scripts; the server's counters tell all."""

    MARK = "the-end-of-the-watch"

    def __init__(self, redis: Redis, path: Path) -> None:
        self._redis, self._line = redis, _Line(path)
        self._line.ask("MONITOR")
        self._before = redis.usage()

    def close(self) -> Traffic:
        calls = (self._redis.usage() - self._before).calls
        self._redis.mark(self.MARK)
        scripted = self._line.lines_until(self.MARK.encode(), b" lua] ")
        self._line.close()
        return Traffic(calls - scripted, calls)


class _Difference:
    """For a server without scripts."""

    def __init__(self, server: Server) -> None:
        self._server, self._before = server, server.usage()

    def close(self) -> Traffic:
        calls = (self._server.usage() - self._before).calls
        return Traffic(calls, calls)


class Beanstalkd:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "b"
        self._start()

    def _start(self) -> None:
        assert BEANSTALKD
        self._path.unlink(missing_ok=True)
        # It writes a line for each connection that ends while it waits.
        self._process = subprocess.Popen(
            [BEANSTALKD, "-l", f"unix:{self._path}"], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 10
        while not self._path.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                raise RuntimeError(f"{BEANSTALKD} did not start")
            time.sleep(0.01)
        self._line = _Line(self._path)

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def environment(self) -> dict[str, str]:
        return {"PEER_SOCKET": str(self._path)}

    def usage(self) -> Usage:
        lines = self._line.ask("stats").decode().splitlines()
        counts = {
            key: int(value)
            for key, _, value in (line.partition(": ") for line in lines)
            if key.startswith("cmd-") and key != "cmd-stats"
        }
        calls = sum(counts.values())
        return Usage(cpu_seconds(self._process.pid), calls, calls, 0)

    def memory(self) -> int:
        return _resident(self._process.pid)

    def watch(self) -> Watch:
        return _Difference(self)

    def flush(self) -> None:
        """By a new one: it keeps nothing."""
        self.close()
        self._start()

    def close(self) -> None:
        self._line.close()
        self._stop()


def _resident(pid: int) -> int:
    """The bytes of a process, once it has come to rest."""
    time.sleep(0.3)
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Nats:
    """NATS, which tells its counts by HTTP: docs.nats.io, Monitoring."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port, self._monitor = free_port(), free_port()
        self._start()

    def _start(self) -> None:
        words = ["-a", "127.0.0.1", "-p", str(self._port), "-m", str(self._monitor)]
        words += ["-js", "-sd", str(self._directory), "-l", str(self._directory / "log")]
        self._process = subprocess.Popen([NATS, *words])
        deadline = time.monotonic() + 30
        while not self._healthy():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise RuntimeError(f"{NATS} did not start")
            time.sleep(0.05)

    def _ask(self, page: str) -> dict[str, Any]:
        address = f"http://127.0.0.1:{self._monitor}/{page}"
        with urllib.request.urlopen(address, timeout=30) as answer:
            told: dict[str, Any] = json.load(answer)
        return told

    def _healthy(self) -> bool:
        try:
            return bool(self._ask("healthz").get("status") == "ok")
        except OSError:
            return False

    def environment(self) -> dict[str, str]:
        return {"PEER_NATS_URL": f"nats://127.0.0.1:{self._port}"}

    def usage(self) -> Usage:
        """Its commands are the messages that clients send: jobs, requests, acknowledgements."""
        messages = int(self._ask("varz")["in_msgs"])
        return Usage(cpu_seconds(self._process.pid), messages, messages, 0)

    def memory(self) -> int:
        return _resident(self._process.pid)

    def watch(self) -> Watch:
        return _Difference(self)

    def flush(self) -> None:
        """Starts the server anew: its stream is in memory."""
        self.close()
        shutil.rmtree(self._directory / "jetstream", ignore_errors=True)
        self._start()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serve(kind: str) -> Iterator[Server]:
    """A private server of a kind: "redis", "beanstalkd" or "nats"."""
    if kind == "redis":
        port = free_port()
        with machine.server(port) as path:
            redis = Redis(path, port)
            try:
                yield redis
            finally:
                redis.close()
        return
    directory = Path(tempfile.mkdtemp(prefix="dueq-bench-"))
    try:
        server = Nats(directory) if kind == "nats" else Beanstalkd(directory)
        try:
            yield server
        finally:
            server.close()
    finally:
        shutil.rmtree(directory)
