"""The app of the tests of steps, progress and chains. Handlers write to $LEDGER what they did."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import dueq

LEDGER = Path(os.environ["LEDGER"])
GATE = LEDGER.with_name("gate")

app = dueq.App()


def note(*words: object) -> None:
    with LEDGER.open("ab", buffering=0) as file:
        file.write((" ".join(map(str, words)) + "\n").encode())


def charge(order: int) -> dict[str, int]:
    note("charge", order)
    return {"payment": order * 100}


def pack(order: int) -> str:
    note("pack", order)
    while not GATE.exists():
        time.sleep(0.01)
    return f"parcel {order}"


async def apack(order: int) -> str:
    note("pack", order)
    while not GATE.exists():
        await asyncio.sleep(0.01)
    return f"parcel {order}"


@app.task(backoff=0.05)
def ship(order: int) -> None:
    """Two steps. The second one waits for a gate."""
    job = dueq.current_job()
    payment = job.step("charge", charge, order)
    job.progress(0.5, "charged")
    parcel = job.step("pack", pack, order)
    note("shipped", payment["payment"], parcel, job.attempt)


@app.task(backoff=0.05)
async def aship(order: int) -> None:
    job = dueq.current_job()
    payment = await job.astep("charge", charge, order)
    await job.aprogress(0.5, "charged")
    parcel = await job.astep("pack", apack, order)
    note("shipped", payment["payment"], parcel, job.attempt)


@app.task(queue="bank", backoff=0.05)
def first(order: int) -> dict[str, int]:
    note("first", order)
    return {"payment": order * 100}


@app.task(queue="parcels", backoff=0.05, max_attempts=2)
async def second(order: int, payment: dict[str, int]) -> str:
    note("second", order, payment["payment"])
    if order < 0:
        raise ValueError("no such order")
    while not GATE.exists():
        await asyncio.sleep(0.01)
    return f"parcel {order}"


@app.task(queue="parcels", max_crashes=1)
def dies(order: int) -> None:
    note("dies", order)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(queue="mail")
def third(parcel: str) -> None:
    note("third", parcel)


@app.task(queue="mail")
def refund(order: int, failure: dict[str, object]) -> None:
    note("refund", order, failure["link"], failure["task"], failure["queue"], failure["error"])
