"""The peers: each is a folder of bench/peers/ with an adapter, a program that makes the peer push
and work. Its words and answers are described in bench/peers/README.md."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import machine

FOLDER = machine.ROOT / "bench/peers"
CACHE = machine.ROOT / "build/peers"
LOGS = machine.ROOT / "build/log"
INSTALL_SECONDS = 600
START_SECONDS = 30
"""How long an adapter may take until it is ready."""
FILL_SECONDS = 120
"""How long it may take to enqueue what is not timed."""

Line = dict[str, Any]

_live: set["Adapter"] = set()
_over = threading.Event()
_no_bulk: set[tuple[str, str]] = set()
"""Peers and verbs that turned out to have no bulk."""


class Failed(Exception):
    """A peer did not do what was asked; the text says what."""


class Absent(Exception):
    """A peer, or a way of a peer's, cannot be had; the text says why."""


@dataclass(frozen=True)
class Peer:
    key: str
    """The name of its folder, and what --only calls it."""
    name: str
    language: str
    server: str
    keeps_until_ack: bool
    delays: bool
    configuration: str
    best: str
    """Its best documented setting, in a few words."""
    workers: Mapping[str, Mapping[str, Any]]
    """Its settings, by name."""
    curve: tuple[str, ...]
    """The settings for the chart of cost against lateness: its best alone if it names none."""
    fair: Mapping[str, str]
    """By kind of queue, "plain" or "groups": the setting for the measure of fairness."""
    results: str
    """The setting for the measure of results; "": the peer is not in it."""
    folder: Path
    cache: Path

    @property
    def ours(self) -> bool:
        return self.key.startswith("dueq-")

    def trial(self, setting: str, count: int) -> int:
        """How many jobs to try the setting with at first: a slow one says how many."""
        trial: int = self.workers[setting].get("trial", count)
        return min(count, trial)

    def install(self) -> str:
        """Brings it into its cache, and returns its versions. Raises Absent."""
        self.cache.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"install-{self.key}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output:
            done = _run([self.folder / "install.sh", self.cache], output, INSTALL_SECONDS)
        if done:
            raise Absent(f"it could not be installed: {_closing(log) or f'status {done}'}")
        try:
            version = subprocess.run(
                [self.folder / "version", self.cache],
                capture_output=True,
                text=True,
                timeout=60,
                cwd=machine.ROOT,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Absent(f"it does not tell its version: {error}") from error
        return version.stdout.strip()

    def fill(self, environment: Mapping[str, str], count: int) -> None:
        """Enqueues jobs that are ready, in bulk where it has a way for that."""
        self._fill(environment, "push", count)

    def _fill(self, environment: Mapping[str, str], verb: str, *words: str | int) -> None:
        if (self.key, verb) not in _no_bulk:
            try:
                self._enqueue(environment, verb, *words, "bulk")
                return
            except Absent:
                _no_bulk.add((self.key, verb))
        self._enqueue(environment, verb, *words, "one")

    def _enqueue(self, environment: Mapping[str, str], *words: str | int) -> None:
        with self.start(environment, *words) as adapter:
            adapter.expect("ready", START_SECONDS)
            adapter.go()
            adapter.expect("count", FILL_SECONDS)
            adapter.finish()

    def delay(
        self, environment: Mapping[str, str], count: int, spread_ms: float, base_ms: float
    ) -> None:
        """Enqueues jobs that are due over `spread_ms` from `base_ms` (since 1970) on, in bulk where
        it has a way for that."""
        self._fill(environment, "delay", count, round(spread_ms), round(base_ms))

    @contextmanager
    def start(self, environment: Mapping[str, str], *words: str | int) -> Iterator["Adapter"]:
        """Runs its adapter; whatever is left of it in the end is killed."""
        if _over.is_set():
            raise Failed("the run was ended")
        adapter = Adapter(self, environment, words)
        _live.add(adapter)
        try:
            yield adapter
        finally:
            _live.discard(adapter)
            adapter.end()


def _run(words: list[Path], output: IO[str], seconds: float) -> int:
    """The status of a command that gets nothing to read."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=machine.ROOT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        output.write(f"not done after {seconds:.0f} s\n")
        return 124
    finally:
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _closing(log: Path) -> str:
    """The last line of a log that says anything."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line[:200] for line in reversed(lines) if line), "")


class Adapter:
    """One run of a peer's adapter."""

    def __init__(
        self, peer: Peer, environment: Mapping[str, str], words: tuple[str | int, ...]
    ) -> None:
        self._peer, self._verb = peer, " ".join(map(str, words[:3]))
        LOGS.mkdir(parents=True, exist_ok=True)
        self._log = LOGS / f"peer-{peer.key}-{words[0]}.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [peer.folder / "adapter", peer.cache, *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=machine.ROOT,
                env=os.environ | environment,
                start_new_session=True,
            )
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for text in self._process.stdout:
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            # What a peer prints of its own is no answer.
            if isinstance(line, dict):
                self._lines.put(line)
        self._lines.put(None)

    def expect(self, key: str, seconds: float) -> Line:
        """Its next line that has the key. Raises Absent when it says that it cannot, or Failed."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failed(f"{self._verb}: no '{key}' within {seconds:.0f} s") from None
            if line is None:
                status = self._process.wait()
                reason = _closing(self._log)
                raise Failed(f"{self._verb}: ended with {status} before '{key}': {reason}")
            if "absent" in line:
                raise Absent(str(line["absent"]))
            if key in line:
                return line

    def await_worker(self, setting: str, seconds: float = START_SECONDS) -> None:
        """Waits until the worker is ready. Raises Failed if the worker has another setting."""
        told = self.expect("ready", seconds).get("worker")
        wanted = {
            key: value
            for key, value in self._peer.workers[setting].items()
            if key not in ("label", "trial")
        }
        if told != wanted:
            raise Failed(f"{self._verb}: it works with {told} instead of {wanted} ({setting})")

    def heard(self, key: str) -> int:
        """How many lines with the key have come since the last look."""
        count = 0
        while not self._lines.empty():
            line = self._lines.get()
            if line is None:
                raise Failed(f"{self._verb}: ended: {_closing(self._log)}")
            count += key in line
        return count

    def go(self) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # what comes of it, expect() will say

    def finish(self, seconds: float = 10) -> None:
        """Waits for its own end."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self._verb}: did not end by itself") from None
        if status:
            raise Failed(f"{self._verb}: ended with {status}: {_closing(self._log)}")

    def kill(self) -> float:
        """Kills all of it at once; returns when, by the monotonic clock."""
        at = time.monotonic()
        _signal_group(self._process.pid, signal.SIGKILL)
        return at

    def end(self) -> None:
        _signal_group(self._process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()


def end_all() -> None:
    """Lets no more adapters start, and ends all that run: a thread that waits fails at once."""
    _over.set()
    for adapter in list(_live):
        adapter.kill()


def peers(folder: Path = FOLDER) -> dict[str, Peer]:
    """All peers that have a description, ours first."""
    found = {}
    for path in folder.glob("*/peer.json"):
        told = json.loads(path.read_text())
        key = path.parent.name
        found[key] = Peer(
            key=key,
            name=told["name"],
            language=told["language"],
            server=told["server"],
            keeps_until_ack=told["keeps_until_ack"],
            delays=told["delays"],
            configuration=told["configuration"],
            best=told["workers"]["best"]["label"],
            workers=told["workers"],
            curve=tuple(told.get("curve", ["best"])),
            fair=told.get("fair", {}),
            results=told.get("results", ""),
            folder=path.parent,
            cache=CACHE / key,
        )
    return dict(sorted(found.items(), key=lambda item: (not item[1].ours, item[0])))
