"""Agents that move what is due, in an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from dueq._foreign import PAUSE_S, Foreign, moved
from dueq.aio._pool import Pool
from dueq.errors import Error

_log = logging.getLogger("dueq")


async def run(queue: Foreign, pool: Pool) -> NoReturn:
    """Moves what is due until it is cancelled, over failures that may pass."""
    while True:
        try:
            await pool.run(moved(queue))
        except Error as error:
            queue._survive(error)
            await asyncio.sleep(PAUSE_S)


@asynccontextmanager
async def running(queue: Foreign, pool: Pool) -> AsyncIterator[None]:
    """The same in a task of its own, during an async with block."""

    async def work() -> None:
        try:
            await run(queue, pool)
        except Error as error:
            if pool.closed:
                return
            _log.error("%r: nothing is moved any more: %s", queue, error)
            raise

    task = asyncio.create_task(work(), name=f"dueq {queue._label}")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        failed = None if task.cancelled() else task.exception()
    if failed:
        raise failed
