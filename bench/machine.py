"""The machine, the private server and the driver that the measures use."""

import json
import os
import platform
import resource
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DRIVER = Path(os.environ.get("DUEQ_BENCH_DRIVER", ROOT / "build/cmake/dueq-bench"))
SERVER = (
    os.environ.get("DUEQ_TEST_SERVER")
    or shutil.which("redis-server")
    or shutil.which("valkey-server")
    or "redis-server"
)

Figures = dict[str, Any]


def drive(*words: str | int | Path) -> Figures:
    """What one run of the driver measured."""
    done = subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.strip() or f"{DRIVER} ended with {done.returncode}")
    figures: Figures = json.loads(done.stdout)
    return figures


def drives(verb: str) -> bool:
    """Whether this build's driver has the subcommand."""
    usage = subprocess.run([DRIVER], capture_output=True, text=True).stderr
    return f"{verb} SOCKET" in usage


@dataclass(frozen=True)
class Server:
    socket: Path
    pid: int


def _listens(path: Path) -> bool:
    """A server makes its socket before it listens."""
    with closing(socket.socket(socket.AF_UNIX)) as probe:
        return probe.connect_ex(str(path)) == 0


@contextmanager
def start_server(
    port: int = 0, under: Sequence[str] = (), options: Sequence[str] = ()
) -> Iterator[Server]:
    """A private server that writes nothing to disk, at its default settings otherwise.

    It listens on a Unix socket, and on `port` of this machine, or none: 0; `under`: a command that
    runs it; `options`: further words of its command line.
    """
    # A socket's path has 107 bytes at most.
    directory = Path(tempfile.mkdtemp(prefix="dueq-bench-"))
    path, log = directory / "s", directory / "log"
    words = ["--port", str(port), "--bind", "127.0.0.1", "--unixsocket", str(path)]
    words += ["--dir", str(directory), "--save", "", "--appendonly", "no", "--logfile", str(log)]
    process = subprocess.Popen([*under, SERVER, *words, *options])
    try:
        for _ in range(3000):
            if _listens(path):
                break
            try:
                process.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit(f"{SERVER} did not start: {log.read_text() if log.exists() else ''}")
        yield Server(path, process.pid)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(directory)


@contextmanager
def server(port: int = 0) -> Iterator[Path]:
    """Its socket alone."""
    with start_server(port) as started:
        yield started.socket


@contextmanager
def many_files() -> Iterator[None]:
    """Lets programs that start meanwhile open as many connections as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def one_cpu() -> Iterator[None]:
    """Runs what is started inside on one CPU.

    The server and its only client take turns. On one CPU the figures do not depend on how long a
    sleeping second CPU takes to wake up, which can cost more than what is to be measured.
    """
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def versions() -> Figures:
    server_line = subprocess.run([SERVER, "--version"], stdout=subprocess.PIPE, text=True).stdout
    return drive("versions") | {
        "server": f"{Path(SERVER).name} {server_line.split('v=')[-1].split()[0]}",
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def description() -> Figures:
    cpu = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu,
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
    }
