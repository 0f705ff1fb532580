"""What the adapters of peers in Python have in common: the words of the contract (README.md)."""

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

BODY = "x" * 200
BULK = 500
"""Jobs of one bulk call."""

Handle = Callable[[str], None]

_current: Handle | None = None
"""What this process does with a job, once it works."""


def say(**line: Any) -> None:
    # Not through sys.stdout, which some workers redirect.
    os.write(1, (json.dumps(line) + "\n").encode())


class Peer:
    """A queue, as a peer's adapter makes it; its methods are called in one process each."""

    no_bulk: ClassVar[str | None] = None
    """Why there is no push_many(), where there is none."""
    no_delay: ClassVar[str | None] = None
    forks: ClassVar[tuple[str, ...]] = ()
    """Settings at which jobs are handled in other processes than the one that work() runs in."""

    def connect(self) -> None:
        """Before anything else, in every command."""

    def push(self, body: str) -> None:
        raise NotImplementedError

    def push_many(self, bodies: Sequence[str]) -> None:
        raise NotImplementedError

    def flush(self) -> None:
        """Returns when all that push_many() was given is stored, where that does not wait."""

    def delay(self, jobs: Sequence[tuple[str, float]]) -> None:
        """Enqueues bodies, each with its due time in seconds since 1970."""
        raise NotImplementedError

    def work(self, setting: str, handle: Handle) -> None:
        """Works until the process ends: "one", "best", "wait" (one at a time, with delayed jobs)
        or "rescue" (the same, and takes over what dead workers held)."""
        raise NotImplementedError


def _cpu() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _push(peer: Peer, count: int, way: str) -> None:
    if way == "bulk" and peer.no_bulk:
        say(absent=peer.no_bulk)
        return
    if way == "bulk":
        peer.push_many([BODY])
        peer.flush()
    else:
        peer.push(BODY)
    say(ready=True)
    sys.stdin.readline()
    left = count - 1
    cpu, begin = _cpu(), time.monotonic()
    if way == "bulk":
        while left > 0:
            peer.push_many([BODY] * min(left, BULK))
            left -= BULK
        peer.flush()
    else:
        for _ in range(left):
            peer.push(BODY)
    seconds = time.monotonic() - begin
    say(count=count - 1, seconds=seconds, cpu=_cpu() - cpu)


def _delay(peer: Peer, count: int, spread_ms: float, base_ms: float) -> None:
    if peer.no_delay:
        say(absent=peer.no_delay)
        return
    due = [int(base_ms + index * spread_ms / count) for index in range(count)]
    jobs = [(str(ms).ljust(200), ms / 1000) for ms in due]
    for begin in range(0, count, BULK):
        peer.delay(jobs[begin : begin + BULK])
    say(pushed=count)


def _end_soon() -> None:
    """After the time to acknowledge the job at hand; a worker may have no way to end itself."""
    threading.Timer(0.3, os._exit, (0,)).start()


def _work(peer: Peer, setting: str, handle: Handle) -> None:
    """Runs the worker, and `handle` in this process, also where the peer handles jobs in others."""
    if setting not in peer.forks:
        _begin(peer, setting, handle)
        return
    source, sink = os.pipe()

    def hear() -> None:
        with os.fdopen(source, "rb") as stream:
            while body := stream.read(200):
                handle(body.decode())

    threading.Thread(target=hear, daemon=True).start()
    _begin(peer, setting, lambda body: _tell(sink, body))


def _tell(sink: int, body: str) -> None:
    os.write(sink, body.encode())


def _begin(peer: Peer, setting: str, handle: Handle) -> None:
    global _current
    _current = handle
    peer.work(setting, handle)


def handled(body: str) -> None:
    """For peers whose jobs are functions that they find by name: what work() was given."""
    assert _current
    _current(body)


def _count(peer: Peer, count: int, setting: str) -> None:
    first = cpu = 0.0
    done = 0

    def handle(body: str) -> None:
        nonlocal first, cpu, done
        done += 1
        if done == 1:
            first, cpu = time.monotonic(), _cpu()
        if done == count:
            last = time.monotonic()
            say(first=first, last=last, count=count, cpu=_cpu() - cpu)
            _end_soon()

    say(ready=True)
    _work(peer, setting, handle)


def _listen(peer: Peer, count: int) -> None:
    late: list[float] = []

    def handle(body: str) -> None:
        late.append(time.time() * 1000 - int(body))
        if len(late) == count:
            say(late_ms=[round(value, 3) for value in late])
            _end_soon()

    say(ready=True)
    _work(peer, "wait", handle)


def _wait(peer: Peer, setting: str) -> None:
    say(ready=True)
    _work(peer, setting, lambda _: say(handled=True, at=time.monotonic()))


def _hold(peer: Peer, seconds: float) -> None:
    def handle(_: str) -> None:
        say(took=True, at=time.monotonic())
        time.sleep(seconds)

    _begin(peer, "wait", handle)


def main(peer: Peer) -> None:
    """Runs one command: adapter CACHE COMMAND ARGS..."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    command, *words = sys.argv[2:]
    peer.connect()
    if command == "push":
        _push(peer, int(words[0]), words[1])
    elif command == "work":
        _count(peer, int(words[0]), words[1])
    elif command == "delay":
        _delay(peer, int(words[0]), float(words[1]), float(words[2]))
    elif command == "listen":
        _listen(peer, int(words[0]))
    elif command == "idle":
        _wait(peer, "wait")
    elif command == "rescue":
        _wait(peer, "rescue")
    elif command == "hold":
        _hold(peer, float(words[0]))
    else:
        sys.exit(f"there is no command '{command}'")
