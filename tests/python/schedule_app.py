"""
The app of the tests of schedules in code. $TASKS says which tasks it has, as JSON: by name the
options of App.task(). All hooks and jobs write to $LEDGER.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import dueq

LEDGER = Path(os.environ["LEDGER"])
app = dueq.App(name="shop")


def note(*words: object) -> None:
    line = " ".join(map(str, words)) + "\n"
    with LEDGER.open("ab", buffering=0) as file:
        file.write(line.encode())


loops: list[asyncio.AbstractEventLoop] = []


@app.task(queue="orders")
async def same_loop() -> None:
    note("same loop", loops == [asyncio.get_running_loop()])


@app.task(queue="orders")
def order(number: int) -> None:
    note("order", number)


def make(name: str) -> Callable[[], None]:
    def handler() -> None:
        job = dueq.current_job()
        note(name, job.message.id)

    return handler


for task, options in json.loads(os.environ.get("TASKS", "{}")).items():
    app.task(task, queue="orders", **options)(make(task))


@app.on_start
def first() -> None:
    note("start", "first")


@app.on_start
async def second() -> None:
    note("start", "second")
    loops.append(asyncio.get_running_loop())
    if os.environ.get("BROKEN"):
        raise ValueError("the disk is not there")


@app.on_stop
async def third() -> None:
    note("stop", "third")
    if os.environ.get("CANNOT_CLOSE"):
        raise ValueError("cannot close")


@app.on_stop
def fourth() -> None:
    note("stop", "fourth")
