"""The other side: processes that do what one line of JSON says, and answer with one."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dueq"
CACHE = HOME / "interop"
CHROOTS = Path(os.environ.get("DUEQ_CHROOTS") or HOME / "chroots")
PATIENCE = 60.0
# Without dueq's extension: the other side knows nothing of us.
_STOCK = {name: value for name, value in os.environ.items() if name != "PHP_INI_SCAN_DIR"}


class PeerError(Exception):
    """What the other side said instead of an answer."""


class Peer:
    """A process of the other side. Its standard error goes to a log that a failure quotes."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=_STOCK
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, do: str, **what: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"do": do, **what}).encode() + b"\n")
        self._process.stdin.flush()

    def line(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next line that it says. Raises EOFError when it has ended."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"nothing in {seconds} s; {self.log()}") from None
        if not line:
            self._lines.put(b"")
            raise EOFError(f"it has ended; {self.log()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def answer(self, seconds: float = PATIENCE) -> Any:
        said = self.line(seconds)
        if "error" in said:
            raise PeerError(said["error"])
        return said["ok"]

    def ask(self, do: str, **what: Any) -> Any:
        self.send(do, **what)
        return self.answer()

    def said(self) -> Iterator[dict[str, Any]]:
        """All lines up to its end."""
        while True:
            try:
                yield self.line()
            except EOFError:
                return

    def heard(self) -> list[dict[str, Any]]:
        """What it has said since the last look."""
        lines = []
        while not self._lines.empty():
            if line := self._lines.get():
                lines.append(json.loads(line))
            else:
                self._lines.put(b"")
                break
        return lines

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()


def redisson(version: str, log: Path) -> Peer:
    """A JVM with that Redisson, as redisson/install.sh left it."""
    home = CACHE / f"redisson-{version}"
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    return Peer([*java, "-cp", f"{home}/classes:{home}/lib/*", "Peer"], log)


def laravel(major: str, log: Path) -> Peer:
    """PHP with that Laravel: this machine's, or that of a chroot."""
    where = laravel_place(major)
    assert where is not None
    code = (HERE / "laravel/peer.php").read_text(encoding="utf-8").removeprefix("<?php")
    return Peer([*where, "php", "-d", "memory_limit=512M", "-r", code], log)


def ours(log: Path) -> Peer:
    """dueq as such a process."""
    return Peer([sys.executable, str(HERE / "ours.py")], log)


def laravel_place(major: str) -> list[str] | None:
    """The words before php where Laravel of that version is; None where it is not."""
    chroot = CHROOTS / {"10": "trixie", "13": "forky"}.get(major, "none")
    places: list[list[str]] = [[]]
    if (chroot / ".ready").exists() and os.geteuid() == 0:
        places.append(["chroot", str(chroot)])
    question = ["dpkg-query", "-W", "-f", "${Version}", "php-illuminate-queue"]
    for place in places:
        said = subprocess.run([*place, *question], capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.startswith(f"{major}."):
            return place
    return None


def redisson_is_there(version: str) -> bool:
    home = CACHE / f"redisson-{version}"
    return shutil.which("java") is not None and (home / "classes/Peer.class").exists()


# Every name that ./dev interop knows, and how it is started.
NAMES = [
    "redisson-3.20.1",
    "redisson-3.52.0",
    "redisson-4.7.0",
    "laravel-8",
    "laravel-10",
    "laravel-13",
]


def is_there(name: str) -> bool:
    kind, version = name.split("-")
    return redisson_is_there(version) if kind == "redisson" else laravel_place(version) is not None


def start(name: str, log: Path) -> Peer:
    kind, version = name.split("-")
    return redisson(version, log) if kind == "redisson" else laravel(version, log)
