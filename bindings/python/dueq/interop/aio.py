"""Agents that move due items, in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from dueq.aio.pool import Closing, Pool
from dueq.errors import Error
from dueq.interop.foreign import Foreign


class Agent(Foreign, Closing):
    """A queue of another system, whose clients move due items."""

    _home: Pool

    async def _run(self) -> NoReturn:
        """
        Moves due items until the task is cancelled. While the server is away, waits, with warnings
        in the log. Raises ConnectError if the server was never reached.
        """
        while True:
            self._moved(await self._home.call(self._move()))

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """
        Moves due items in a task of its own, during an async with block. If an error ends the task,
        the error is logged, and raised at the end of the block.
        """

        async def work() -> None:
            try:
                await self._run()
            except Error as error:
                if self._home.closed:
                    return
                self._log_end(error)
                raise

        task = asyncio.create_task(work(), name=f"dueq {self._label}")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            failed = None if task.cancelled() else task.exception()
        if failed:
            raise failed
