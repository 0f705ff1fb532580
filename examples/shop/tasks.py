"""The shop's tasks. Its Python worker: dueq-worker tasks:app"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import book

import dueq

app = dueq.App(name="shop")  # the tasks that Python runs
php = dueq.App()  # the tasks that PHP runs: only their names, arguments and options are here


@php.task(queue="payments", unique=3600, backoff=0.5, keep=86400)
def charge(order: str, cents: int, parcels: int) -> str:
    """Takes the money, pushes `ship` for each parcel, and returns the receipt: worker.php."""
    raise NotImplementedError("PHP runs it")


@app.task(queue="parcels")
def ship(order: str, parcel: int) -> str:
    """Packs a parcel, and returns its label. PHP pushes it, as a member of the order's batch."""
    time.sleep(0.02)
    return f"label of {order}/{parcel}"


@app.task(queue="reports", every=1, catchup="all")
def report() -> None:
    """Counts the parcels each second. The workers declare this schedule when they start."""
    print(app.queue("parcels").stats().acked, "parcels are on their way", flush=True)


@app.on_start
def opened() -> None:
    """The schedule is declared: reports are due from now on."""
    book.write("opened")


@app.middleware
def noted(job: dueq.Job, call_next: Callable[[], Any]) -> Any:
    """Writes each run into the order book."""
    run = {
        "task": job.task,
        "id": job.id,
        "attempt": job.attempt,
        "crashes": job.message.crashes,
        "worker": os.environ.get("SHOP_WORKER", "python"),
        "slot": f"{os.getpid()}-{threading.get_native_id()}",
    }
    book.write("begins", **run)
    try:
        result = call_next()
    except Exception as error:
        book.write("failed", error=str(error), **run)
        raise
    except BaseException:  # the worker stops, which is no failure
        book.write("released", **run)
        raise
    book.write("done", **run)
    return result
