"""One push a web request, under a php-fpm of one worker: with a connection for each, and with a
persistent one."""

import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from machine import ROOT, Figures, one_cpu, server
from measures import Outcome
from report import Target
from size import Size

WAYS = (
    "nothing",
    "phpredis connect",
    "phpredis pconnect",
    "phpredis unchecked",
    "dueq",
    "dueq persistent",
    "laravel",
)
LIMIT = 1.5
"""A request with a persistent push, to one with phpredis's pconnect and RPUSH."""
PORTION = 50
"""Requests of one way in a row; the ways take turns, and the figure is the median."""

# FastCGI: a record's type, and the one request that is under way.
BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
RESPONDER, KEEP, NUMBER = 1, 1, 1


class _Requests:
    """A connection to the worker, which it keeps."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")

    def get(self, way: str, redis: Path) -> None:
        """A request; asserts that its push is done."""
        values = {
            "SCRIPT_FILENAME": str(ROOT / "bench/fpm.php"),
            "REQUEST_METHOD": "GET",
            "WAY": way,
            "SOCKET": str(redis),
        }
        # Names and values shorter than 128 bytes have one byte of length.
        pairs = b"".join(
            bytes((len(name), len(value))) + name.encode() + value.encode()
            for name, value in values.items()
        )
        self._socket.sendall(
            _packed(BEGIN, struct.pack(">HB5x", RESPONDER, KEEP))
            + _packed(PARAMS, pairs)
            + _packed(PARAMS, b"")
            + _packed(STDIN, b"")
        )
        said = b""
        while True:
            kind, content = self._record()
            if kind == END:
                break
            said += content
        answer = said.partition(b"\r\n\r\n")[2]
        if not answer or b" " in answer:
            raise SystemExit(f"{way}: {said.decode(errors='replace')}")

    def _record(self) -> tuple[int, bytes]:
        _, kind, _, length, padding = struct.unpack(">BBHHBx", self._file.read(8))
        return kind, self._file.read(length + padding)[:length]


def fpm(size: Size) -> Outcome:
    """The time of a request, of each way."""
    program = _php_fpm()
    with one_cpu(), server() as redis, _started(program) as requests:
        ways = [way for way in WAYS if way != "laravel" or _has_laravel()]
        portions = size.rounds * max(1, size.requests // PORTION)
        print(f"fpm: {portions} x {PORTION} requests of each way", flush=True)
        portion(requests, ways, redis)
        spent = [portion(requests, ways, redis) for _ in range(portions)]
    summary = {way: median(one[way] for one in spent) for way in ways}
    for way, us in summary.items():
        print(f"  {way:<20}{us:7.0f} us a request", flush=True)
    figures: Figures = {"portions": spent, "summary": summary}
    name = "php-fpm, time of a request: a persistent push / pconnect and RPUSH"
    ratio = summary["dueq persistent"] / summary["phpredis pconnect"]
    return figures, [Target(name, ratio, LIMIT)]


def portion(requests: _Requests, ways: list[str], redis: Path) -> dict[str, float]:
    """The time of a request of each way, in microseconds."""
    spent = {}
    for way in ways:
        begin = time.perf_counter()
        for _ in range(PORTION):
            requests.get(way, redis)
        spent[way] = 1e6 * (time.perf_counter() - begin) / PORTION
    return spent


def _php_fpm() -> str:
    version = _php("echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;")
    paths = f"{os.environ['PATH']}:/usr/sbin"
    program = shutil.which(f"php-fpm{version}", path=paths) or shutil.which("php-fpm", path=paths)
    if not program:
        raise SystemExit("there is no php-fpm: apt-get install php-fpm php-redis")
    return program


def _php(code: str) -> str:
    return subprocess.run(["php", "-r", code], stdout=subprocess.PIPE, text=True, check=True).stdout


def _has_laravel() -> bool:
    return _php("echo stream_resolve_include_path('Illuminate/Redis/autoload.php');") != ""


def _packed(kind: int, content: bytes) -> bytes:
    return struct.pack(">BBHHBx", 1, kind, NUMBER, len(content), 0) + content


@contextmanager
def _started(program: str) -> Iterator[_Requests]:
    """A private php-fpm with the settings of a production server."""
    directory = Path(tempfile.mkdtemp(prefix="dueq-fpm-"))
    path = directory / "socket"
    (directory / "conf").write_text(
        f"[global]\nerror_log = {directory}/log\n[pool]\nuser = root\ngroup = root\n"
        f"listen = {path}\npm = static\npm.max_children = 1\n"
    )
    words = [program, "-F", "-R", "-y", str(directory / "conf"), "-d", "opcache.enable=1"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet)
    try:
        for _ in range(1000):
            if path.exists():
                break
            time.sleep(0.01)
        else:
            raise SystemExit(f"php-fpm did not start: {(directory / 'log').read_text()}")
        yield _Requests(path)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(directory)
