"""What the adapters of peers in Python have in common: the words of the contract (README.md)."""

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

BODY = "x" * 200
BULK = 500
"""Jobs of one bulk call."""
RESULT = "done"
"""What a task returns whose result is kept."""
KEEP_S = 3600

Handle = Callable[[str], None]
Options = Mapping[str, Any]
"""A setting of a worker, as peer.json has it."""

_current: Handle | None = None
"""What this process does with a job, once it works."""


def say(**line: Any) -> None:
    # Not through sys.stdout, which some workers redirect.
    os.write(1, (json.dumps(line) + "\n").encode())


class Peer:
    """A queue, as a peer's adapter makes it; its methods are called in one process each."""

    no_bulk: ClassVar[str | None] = None
    """Why there is no push_many(), where there is none."""
    no_bulk_delay: ClassVar[str | None] = None
    """Why delay() enqueues one by one, where that is not so of push_many() too."""
    no_cancel: ClassVar[str | None] = None
    delayed = False
    """Whether work() is to find jobs that are due later; for peers that look for them apart."""
    tasks: str | None = None
    """"plain" or "kept": work() runs tasks that push_task() has enqueued."""

    def forks(self, _options: Options) -> bool:
        """Whether jobs are handled in other processes than the one that work() runs in."""
        return False

    def connect(self) -> None:
        """Before anything else, in every command."""

    def close(self) -> None:
        """Runs after a command that enqueues. It ends what would keep the process alive."""

    def push(self, body: str) -> None:
        raise NotImplementedError

    def push_many(self, bodies: Sequence[str]) -> None:
        raise NotImplementedError

    def push_to(self, body: str, group: str) -> None:
        """Enqueues a job of a group."""
        raise NotImplementedError

    def flush(self) -> None:
        """Returns when all that push_many() was given is stored, where that does not wait."""

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[Any] | None:
        """Enqueues bodies, each with its due time in seconds since 1970; returns what cancel()
        takes, one for each, where there is one."""
        raise NotImplementedError

    def cancel(self, job: Any) -> None:
        """Takes a job back that is not due yet."""
        raise NotImplementedError

    def push_task(self, body: str) -> Any:
        """Enqueues a task, whose result is kept for KEEP_S if `tasks` is "kept". Returns what ask()
        takes."""
        raise NotImplementedError

    def ask(self, task: Any) -> object:
        """Waits for the result of a task, and returns it."""
        raise NotImplementedError

    def work(self, options: Options, handle: Handle) -> None:
        """Works until the process ends."""
        raise NotImplementedError


def _options(setting: str) -> dict[str, Any]:
    """The setting of that name, out of the peer.json beside the adapter."""
    peer = json.loads((Path(sys.argv[0]).resolve().parent / "peer.json").read_text())
    worker: dict[str, Any] = peer["workers"][setting]
    return {key: value for key, value in worker.items() if key not in ("label", "trial")}


def _cpu() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _timed(count: int, some: int, enqueue: Callable[[int, int], object]) -> None:
    """The first of `count` jobs, then, once it is told to, the others, `some` a call."""
    enqueue(0, 1)
    _step(1, count, some, enqueue)


def _step(first: int, count: int, some: int, take: Callable[[int, int], object]) -> None:
    """The jobs from `first` on, once it is told to, `some` a call."""
    say(ready=True)
    sys.stdin.readline()
    cpu, begin = _cpu(), time.monotonic()
    for done in range(first, count, some):
        take(done, min(done + some, count))
    seconds = time.monotonic() - begin
    say(count=count - first, seconds=seconds, cpu=_cpu() - cpu)


def _push(peer: Peer, count: int, way: str) -> None:
    if way == "bulk" and peer.no_bulk:
        say(absent=peer.no_bulk)
        return

    def bulk(begin: int, end: int) -> None:
        peer.push_many([BODY] * (end - begin))
        if begin == 0 or end == count:
            peer.flush()

    if way == "bulk":
        _timed(count, BULK, bulk)
    else:
        _timed(count, 1, lambda *_: peer.push(BODY))


def _delay(peer: Peer, count: int, spread_ms: float, base_ms: float, way: str) -> None:
    if way == "bulk" and (absent := peer.no_bulk or peer.no_bulk_delay):
        say(absent=absent)
        return
    jobs = _due(count, spread_ms, base_ms)
    some = BULK if way == "bulk" else 1
    _timed(count, some, lambda begin, end: peer.delay(jobs[begin:end]))


def _tasks(peer: Peer, count: int) -> None:
    tasks: list[Any] = []

    def ask(begin: int, _: int) -> None:
        result = peer.ask(tasks[begin])
        if result != RESULT:
            sys.exit(f"the result is {result!r} instead of {RESULT!r}")

    _timed(count, 1, lambda *_: tasks.append(peer.push_task(BODY)))
    if peer.tasks == "kept":
        _step(0, count, 1, ask)


def _due(count: int, spread_ms: float, base_ms: float) -> list[tuple[str, float]]:
    due = [int(base_ms + index * spread_ms / count) for index in range(count)]
    return [(str(ms).ljust(200), ms / 1000) for ms in due]


def _cancel(peer: Peer, count: int) -> None:
    if peer.no_cancel:
        say(absent=peer.no_cancel)
        return
    made: list[Any] = []
    for job in _due(count, 1000.0, time.time() * 1000 + 3_600_000):
        made += peer.delay([job]) or ()
    _timed(count, 1, lambda begin, _: peer.cancel(made[begin]))


def _end_soon() -> None:
    """After the time to acknowledge the job at hand; a worker may have no way to end itself."""
    threading.Timer(0.3, os._exit, (0,)).start()


def _work(peer: Peer, setting: str, handle: Handle) -> None:
    """Runs the worker, and `handle` in this process, also where the peer handles jobs in others."""
    options = _options(setting)
    say(ready=True, worker=options)
    if not peer.forks(options):
        _begin(peer, options, handle)
        return
    source, sink = os.pipe()

    def hear() -> None:
        with os.fdopen(source, "rb") as stream:
            while body := stream.read(200):
                handle(body.decode())

    threading.Thread(target=hear, daemon=True).start()
    _begin(peer, options, lambda body: _tell(sink, body))


def _tell(sink: int, body: str) -> None:
    os.write(sink, body.encode())


def _begin(peer: Peer, options: Options, handle: Handle) -> None:
    global _current
    _current = handle
    peer.work(options, handle)


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

    _work(peer, setting, handle)


def _listen(peer: Peer, count: int, setting: str) -> None:
    late: list[float] = []

    def handle(body: str) -> None:
        late.append(time.time() * 1000 - int(body))
        if len(late) == count:
            say(late_ms=[round(value, 3) for value in late])
            _end_soon()

    peer.delayed = True
    _work(peer, setting, handle)


def _fair(peer: Peer, path: str, kind: str, setting: str) -> None:
    plan = json.loads(Path(path).read_text())
    groups, units = plan["groups"], plan["units"]
    heirs = {before: int(index) for index, before in plan["after"].items()}
    later: dict[int, list[int]] = {}
    order: list[int] = []
    left = set(range(len(groups)))

    def push(index: int) -> None:
        body = str(index).ljust(200)
        peer.push_to(body, groups[index]) if kind == "groups" else peer.push(body)

    for index, unit in enumerate(units):
        if unit == 0:
            push(index)
        later.setdefault(unit, []).append(index)

    def handle(body: str) -> None:
        index = int(body)
        order.append(index)
        left.discard(index)
        if not left:
            say(order=order)
            _end_soon()
        for other in later.pop(len(order), ()):
            push(other)
        time.sleep(plan["unit_ms"] / 1000)
        if index in heirs:
            push(heirs.pop(index))

    _work(peer, setting, handle)


def _wait(peer: Peer) -> None:
    peer.delayed = True
    _work(peer, "one", lambda _: say(handled=True, at=time.monotonic()))


def _hold(peer: Peer, seconds: float) -> None:
    def handle(_: str) -> None:
        say(took=True, at=time.monotonic())
        time.sleep(seconds)

    _begin(peer, _options("one"), handle)


def main(peer: Peer) -> None:
    """Runs one command: adapter CACHE COMMAND ARGS..."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    command, *words = sys.argv[2:]
    if command in ("tasks", "run"):
        peer.tasks = words[-1]
    peer.connect()
    if command == "push":
        _push(peer, int(words[0]), words[1])
    elif command == "tasks":
        _tasks(peer, int(words[0]))
    elif command in ("work", "run"):
        _count(peer, int(words[0]), words[1])
    elif command == "delay":
        _delay(peer, int(words[0]), float(words[1]), float(words[2]), words[3])
    elif command == "cancel":
        _cancel(peer, int(words[0]))
    elif command == "listen":
        _listen(peer, int(words[0]), words[1])
    elif command == "fair":
        _fair(peer, *words)
    elif command in ("idle", "rescue"):
        _wait(peer)
    elif command == "hold":
        _hold(peer, float(words[0]))
    else:
        sys.exit(f"there is no command '{command}'")
    peer.close()
