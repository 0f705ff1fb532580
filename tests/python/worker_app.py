"""The app of the tests of the worker process. Its handlers write what they did to $LEDGER."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import dueq
import dueq.aio

LEDGER = Path(os.environ["LEDGER"])
GATE = LEDGER.with_name("gate")

app = dueq.App()
kept: list[bytearray] = []


def note(*words: object) -> None:
    line = " ".join(map(str, words)) + "\n"
    with LEDGER.open("ab", buffering=0) as file:
        file.write(line.encode())


@app.task
def add(a: int, b: int = 0) -> None:
    note("add", a + b)


@app.task
async def async_add(a: int, b: int = 0) -> None:
    await asyncio.sleep(0)
    note("async_add", a + b)


@app.task(keep=60)
def total(*numbers: int) -> int:
    return sum(numbers)


@app.task(keep=60)
async def async_total(*numbers: int) -> dict[str, Any]:
    return {"total": sum(numbers), "when": date(2026, 11, 28)}


@app.task(keep=60)
def no_result() -> None:
    note("no_result")


@app.task(keep=60)
def give(what: str, size: int = 0) -> object:
    """Something that is no result."""
    return {"object": object(), "large": "x" * size, "nan": float("nan")}[what]


@app.task(keep=60, max_attempts=1)
def fail_for_good(text: str) -> None:
    raise ValueError(text)


@app.task(max_attempts=2, backoff=0.05)
def fail(text: str) -> None:
    note("fail", dueq.current_job().attempt)
    raise ValueError(text)


@app.task
def hold(name: str) -> None:
    """Runs until there is a gate."""
    note("began", name)
    while not GATE.exists():
        time.sleep(0.01)
    note("ended", name)


@app.task
async def async_hold(name: str) -> None:
    note("began", name)
    while not GATE.exists():
        await asyncio.sleep(0.01)
    note("ended", name)


@app.task
async def async_compute(name: str) -> None:
    """Runs until there is a gate, and lets no other coroutine run meanwhile."""
    note("began", name)
    while not GATE.exists():
        pass


@app.task(timeout=0.3)
def slow() -> None:
    note("began", "slow")
    for _ in range(600):
        time.sleep(0.1)


@app.task(timeout=0.3)
def asleep() -> None:
    """One system call."""
    note("began", "asleep")
    time.sleep(60)


@app.task(timeout=0.3)
async def async_slow() -> None:
    note("began", "async_slow")
    await asyncio.sleep(60)


@app.task(timeout=0.2, kill_after=0.5)
def deaf() -> None:
    """Does not end by its timeout."""
    note("began", "deaf")
    while True:
        try:
            time.sleep(0.1)
        except dueq.SoftTimeout:
            note("soft")


@app.task(kill_after=0.5, max_crashes=1)
def stuck() -> None:
    """Never lets another thread run."""
    note("began", "stuck")
    sum(range(10**12))


@app.task(max_crashes=1)
def die() -> None:
    note("began", "die")
    os.kill(os.getpid(), signal.SIGKILL)


@app.task
def leave() -> None:
    note("leave")
    sys.exit(3)


@app.task
def grow(megabytes: int) -> None:
    kept.append(bytearray(os.urandom(1024) * 1024 * megabytes))
    note("grown")


@app.task
def count(to: int) -> None:
    """Makes checkpoints, and waits for a gate in the middle."""
    job = dueq.current_job()
    for number in range(job.cursor or 0, to):
        note("count", number, job.attempt)
        while number == to // 2 and not GATE.exists():
            time.sleep(0.01)
        job.checkpoint(number + 1)


@app.task
async def async_count(to: int) -> None:
    job = dueq.current_job()
    for number in range(job.cursor or 0, to):
        note("count", number, job.attempt)
        while number == to // 2 and not GATE.exists():
            await asyncio.sleep(0.01)
        await job.acheckpoint(number + 1)


@app.task(max_attempts=1)
async def async_wrong() -> None:
    dueq.current_job().checkpoint(1)


def decide(what: str) -> None:
    """One plain call, the same in every pool and in coroutine functions."""
    job = dueq.current_job()
    note(what, job.attempt)
    match what:
        case "retry" if job.attempt == 1:
            job.push(add.draft(66))
            job.retry(delay=0.01, error="not yet")
        case "exhaust":
            job.retry(delay=60, error=KeyError("bank"))
        case "fail":
            job.fail("no such order")
        case "release":
            job.release(delay=2592000)
        case "push":
            twin = add.options(id=f"twin {job.id}", queue="decide")
            job.push(twin.draft(1), twin.draft(2))
        case "elsewhere":
            job.push(add.draft(20, 3))
        case "late":
            with dueq.Queue("decide") as queue:
                queue.cancel(job.id)
            job.retry(error="too late")
        case "hush":
            with contextlib.suppress(BaseException):
                job.fail("hushed up")
        case "misuse":
            job.message.bury("x")  # type: ignore[attr-defined]


async def checkpoints_until_stopped() -> None:
    while True:
        await dueq.current_job().acheckpoint(1)
        await asyncio.sleep(0.01)


@app.task("decide", queue="decide", max_attempts=3)
def plain_decide(what: str) -> None:
    decide(what)


@app.task(queue="decide", max_attempts=3)
async def async_decide(what: str) -> None:
    if what == "stop":
        note("stop")
        async with asyncio.TaskGroup() as group:
            group.create_task(checkpoints_until_stopped())
    if what == "group":
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(60))
            group.create_task(asyncio.to_thread(dueq.current_job().fail, "in a group"))
    decide(what)


class Busy(Exception):
    """May pass."""


class Away(Busy):
    """Will not."""


def told(job: dueq.Job, error: BaseException) -> None:
    note("exhausted", job.task, job.args, repr(error), dueq.current_job() is job)
    job.retry() if job.args == ["Stubborn"] else None


picky = dueq.App(on_exhausted=told)


async def told_own(job: dueq.Job, error: BaseException) -> None:
    await asyncio.sleep(0)
    note("told_own", job.task, job.args, repr(error))
    raise RuntimeError("the hook fails")


def choose(what: str) -> None:
    note(what, dueq.current_job().attempt)
    if what == "fail":
        dueq.current_job().fail("no such order")
    if what == "wish":
        dueq.current_job().retry(error="not today")
    raise {"Busy": Busy, "Away": Away}.get(what, ValueError)(what)


@picky.task("choose", queue="picky", max_attempts=2, backoff=0, retry_on=Busy, fail_on=[Away])
def plain_choose(what: str) -> None:
    choose(what)


@picky.task(queue="picky", max_attempts=2, backoff=0, retry_on=Busy, fail_on=[Away])
async def async_choose(what: str) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(choose, what))


@picky.task(queue="picky", max_attempts=1, on_exhausted=told_own)
def own_hook(what: str) -> None:
    choose(what)


@picky.task(queue="picky", max_attempts=1, kill_after=0.2)
def never_ends() -> None:
    while True:
        time.sleep(0.05)


@app.on("plain")
def plain(message: dueq.JobMessage) -> None:
    note("plain", message.body.decode())
    if message.body == b"wrong":
        dueq.current_job().fail("wrong")


wrapped = dueq.App()


@wrapped.middleware
def outer(job: dueq.Job, call_next: Callable[[], Any]) -> Any:
    note("outer", job.task, job.args, dueq.current_job() is job)
    job.provide(db="outer session", user="Ada")
    try:
        return call_next()
    finally:
        note("outer over")


@wrapped.middleware
async def inner(job: dueq.Job, call_next: Callable[[], Awaitable[Any]]) -> Any:
    note("inner", job.task)
    job.provide(db="inner session")
    result = await call_next()
    note("inner over")
    return result


@wrapped.task(queue="wrapped")
def plain_task(a: int, day: date, *, db: str = dueq.PROVIDED) -> None:
    note("plain_task", a, day, db, dueq.current_job().task)


@wrapped.task(queue="wrapped")
async def async_task(a: int, day: date, *, db: str = dueq.PROVIDED) -> None:
    note("async_task", a, day, db, dueq.current_job().task)


keyed = dueq.App(partitions={"keyed": 8})


@keyed.task(queue="keyed")
def step(key: str, number: int) -> None:
    note(key, number, os.getpid())
    time.sleep(0.01)


@keyed.on("keyed")
def keyed_plain(message: dueq.JobMessage) -> None:
    note("plain", message.body.decode(), message.queue)


nothing = dueq.App()
number = 17
