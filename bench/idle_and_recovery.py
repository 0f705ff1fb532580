"""What peers ask while they wait, and how soon they take over what a dead worker held."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from adapters import START_SECONDS, Adapter, Failed, Peer
from compare import Entry
from servers import Server, Traffic, Watch, serve
from size import Size

AT_ONCE = 5
"""Peers whose waiting workers are counted at the same time: the figures are counts, not times."""


def waiting(entries: list[Entry], size: Size) -> None:
    """What waiting workers ask of the server, and what a job costs that comes to many of them."""
    print(f"waiting: 1 and {size.waiting} workers, {size.quiet_seconds:.0f} s each", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda entry: entry.attempt("waiting", _waiting, entry, size), entries))


def _waiting(entry: Entry, size: Size) -> None:
    found: dict[str, Any] = {"workers": size.waiting}
    for count in (1, size.waiting):
        with serve(entry.peer.server) as server, ExitStack() as stack:
            workers = _start_waiting(entry.peer, server, stack, count)
            rate = _idle(server, size.quiet_seconds)
            found["one" if count == 1 else "many"] = asdict(rate)
            if count > 1 and entry.peer.delays:
                pushed, delivered = _delivered(entry.peer, server, workers, rate)
                found |= {"pushed": asdict(pushed), "delivered": asdict(delivered)}
    entry.figures["waiting"] = found
    told = ", ".join(
        f"{name} {found[name]['sent']:.2f} ({found[name]['calls']:.2f})"
        for name in ("one", "many", "pushed", "delivered")
        if name in found
    )
    print(f"  {entry.peer.key:<14}commands sent (run): {told}", flush=True)


def _start_waiting(peer: Peer, server: Server, stack: ExitStack, count: int) -> list[Adapter]:
    workers = [stack.enter_context(peer.start(server.environment(), "idle")) for _ in range(count)]
    for worker in workers:
        worker.await_worker("one", START_SECONDS + 3 * count)
    # What it does to get going has to be over: some begin after they say that they are ready.
    deadline = time.monotonic() + 30
    calm = 0
    while calm < 3 and time.monotonic() < deadline:
        before = server.usage()
        time.sleep(1.0)
        calm = calm + 1 if (server.usage() - before).calls < 5 * count else 0
    return workers


def _idle(server: Server, seconds: float) -> Traffic:
    """Commands a second."""
    watch, begin = server.watch(), time.monotonic()
    time.sleep(seconds)
    traffic, passed = watch.close(), time.monotonic() - begin
    return Traffic(traffic.sent / passed, traffic.calls / passed)


def _delivered(
    peer: Peer, server: Server, workers: list[Adapter], idle: Traffic
) -> tuple[Traffic, Traffic]:
    """Commands for one delayed job: for its push, and after it. Each job is pushed while all
    workers wait, and falls due before all jobs that were pushed earlier. So a worker that waits by
    the clock must wait for another time."""
    # So many that what each worker does once a minute counts for little.
    count, spread_ms = 20, 10_000
    due = time.time() + 10
    words = (count + 1, -spread_ms, round(due * 1000 + spread_ms), "one")
    with peer.start(server.environment(), "delay", *words) as producer:
        producer.expect("ready", START_SECONDS)
        time.sleep(0.5)
        watch, begin = server.watch(), time.monotonic()
        producer.go()
        producer.expect("count", START_SECONDS)
        time.sleep(0.5)
        pushed = _beyond(watch, begin, idle, count)
        producer.finish()
    if time.time() > due:
        raise Failed("waiting: the jobs were not enqueued before they were due")
    watch, begin = server.watch(), time.monotonic()
    handled = 0
    while handled <= count:
        if time.monotonic() > begin + 40:
            raise Failed(f"waiting: {handled} of {count + 1} delayed jobs came within 40 s")
        time.sleep(0.05)
        handled += sum(worker.heard("handled") for worker in workers)
    time.sleep(0.5)
    return pushed, _beyond(watch, begin, idle, handled)


def _beyond(watch: Watch, begin: float, idle: Traffic, count: int) -> Traffic:
    """The commands for each of `count` jobs, beyond those that waiting workers send anyway."""
    traffic, passed = watch.close(), time.monotonic() - begin
    return Traffic(
        max(0.0, (traffic.sent - idle.sent * passed) / count),
        max(0.0, (traffic.calls - idle.calls * passed) / count),
    )


def recovery(entries: list[Entry], size: Size) -> None:
    """Seconds until a message of a worker that is killed by kill -9 is delivered again."""
    if not size.recovery_seconds:
        print("recovery: not in a quick run, which would take minutes", flush=True)
        return
    print(f"recovery: all at once, {size.recovery_seconds:.0f} s at most", flush=True)
    with ThreadPoolExecutor(len(entries) or 1) as pool:
        list(pool.map(lambda entry: entry.attempt("recovery", _recovery, entry, size), entries))


def _recovery(entry: Entry, size: Size) -> None:
    with serve(entry.peer.server) as server, ExitStack() as stack:
        entry.peer.fill(server.environment(), 1)
        holder = stack.enter_context(entry.peer.start(server.environment(), "hold", 600))
        holder.expect("took", 2 * START_SECONDS)
        rescuer = stack.enter_context(entry.peer.start(server.environment(), "rescue"))
        rescuer.await_worker("one", 2 * START_SECONDS)
        # A worker that is at work for some time has told the server that it lives.
        time.sleep(2.0)
        if rescuer.heard("handled"):
            raise Failed("recovery: two workers had the job at once")
        killed = holder.kill()
        seconds: float | None
        try:
            seconds = rescuer.expect("handled", size.recovery_seconds)["at"] - killed
        except Failed as error:
            if "no 'handled'" not in str(error):
                raise
            seconds = None
    entry.figures["recovery"] = {"seconds": seconds, "cap": size.recovery_seconds}
    told = f"{seconds:.1f} s" if seconds is not None else f"> {size.recovery_seconds:.0f} s"
    print(f"  {entry.peer.key:<14}{told}", flush=True)
