"""The loop over messages, with a heartbeat, in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from inspect import isawaitable
from types import TracebackType
from typing import Any, Self

from dueq import _core
from dueq._call import Answer, Call
from dueq._consumer import ConsumerBase
from dueq.aio.message import Message
from dueq.aio.pool import Pool, running_loop, surely, wait
from dueq.errors import Error


class Consumer(ConsumerBase):
    """
    A loop over messages as they become ready, as dueq.Consumer.

        async with queue.consume(prefetch=20) as consumer:
            async for message in consumer:
                async with message:
                    await work(message.body)

    Only the last delivered message is settled with the next request. A message whose block ends in
    another task is settled at once.
    """

    _home: Pool

    def __init__(
        self,
        home: Pool,
        names: tuple[str, ...],
        options: _core.ConsumeRow,
        timeout_ms: int,
        partitioned: bool,
    ) -> None:
        self._loop = running_loop()
        super().__init__(home, names, options, timeout_ms, partitioned)
        self._turn = asyncio.Lock()  # only one task at a time may wait on the link
        self._final: asyncio.Future[None] | None = None
        self._cancels: dict[Message, asyncio.Task[Any]] = {}
        home.tenants.add(self)

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Yields messages. Raises InvalidError if another loop of this consumer runs."""
        self._begin()
        handle, name = self._handle, self.names[0]
        cancelled = False
        try:
            while not (self._stopped or self._closed or self._home.closed):
                self._last = None
                row = _core.consumer_next(handle, self._timeout_ms, 0)
                if not isinstance(row, tuple):
                    row = await self._wait()
                    if isinstance(row, int):
                        if row == _core.EMPTY:
                            return
                        continue
                if self._several:
                    name = self._name()
                self._last = message = Message(self, name, row)
                yield message
        except asyncio.CancelledError:
            cancelled = True
            raise
        finally:
            self._last = None
            self._looping = False
            ending = self._home.background(self._finish())
            if not cancelled:
                await asyncio.shield(ending)

    async def work(
        self,
        handler: Callable[[Message], Awaitable[object]],
        on_error: Callable[[Message, Exception], object] | None = None,
    ) -> None:
        """
        Runs the loop with a coroutine function, one message after another, as dueq.Consumer.work().
        on_error may be a coroutine function, too.
        """
        async for message in self:
            async with message:
                try:
                    await handler(message)
                except Exception as error:
                    if on_error is None:
                        raise
                    outcome = on_error(message, error)
                    if isawaitable(outcome):
                        await outcome
                    message._leave_block(error)
                    if not message._settled:
                        await message._end_block(error)

    @contextmanager
    def cancel_on_lost(self, message: Message) -> Iterator[None]:
        """
        A block whose task is cancelled as soon as the message is known to be lost. The block then
        raises LeaseLost.

            async with message:
                with consumer.cancel_on_lost(message):
                    await work(message.body)
        """
        task = asyncio.current_task()
        assert task, "no task runs this"
        before = task.cancelling()
        self._cancels[message] = task
        try:
            if message.lost:
                message._settle(_core.LEASE_LOST)
            yield
        except asyncio.CancelledError:
            if message not in self._cancels and task.cancelling() == before + 1:
                message._settle(_core.LEASE_LOST)
            raise
        finally:
            if self._cancels.pop(message, None) is None:
                task.uncancel()

    def stop(self) -> None:
        """
        Ends the loop after its current message. The loop cannot be started again. Prefetched
        messages are released. Other threads and signal handlers may call this.
        """
        super().stop()
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._wake)

    async def close(self) -> None:
        """
        Sends open settlements, releases all other messages of this consumer without counting an
        attempt, and ends the heartbeat. Settle messages that other tasks work on before you call
        this. Called within its own loop, it releases only prefetched messages.
        """
        self._stopped = True
        self._wake()
        await asyncio.shield(self._home.background(self._shut()))

    async def call(self, call: Call) -> Answer:
        """Runs a call of one of this consumer's messages, on another link."""
        self._home.reached = True
        return await self._home.call(call)

    async def finish(
        self, step: Callable[[], Coroutine[Any, Any, None]], error: BaseException
    ) -> None:
        """Does the same as the queue's pool."""
        await self._home.finish(step, error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        # The loop has ended, as a running loop holds a reference.
        with suppress(Exception):
            if self._closed:
                return
            self._disown()
            if _core.consumer_stop(self._handle) == _core.PENDING:
                self._forgotten()
            else:
                self._end()

    def _forgotten(self) -> None:
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(lambda: self._home.background(self._shut()))
        else:
            self._disown()
            self._close_now()

    def _tell_lost(self) -> None:
        if self._cancels:
            with suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(self._cancel_lost)

    def _cancel_lost(self) -> None:
        for message in [message for message in self._cancels if message.lost]:
            self._cancels.pop(message).cancel()

    def _wake(self) -> None:
        if self._final and not self._final.done():
            self._final.set_result(None)

    async def _wait(self) -> _core.MessageRow | int:
        """Waits for a message. Returns it, EMPTY, or PENDING: the loop must end."""
        row: _core.MessageRow | int = _core.PENDING
        async with self._turn:
            while row == _core.PENDING:
                self._final = self._loop.create_future()
                await wait(self._link, self._final)
                if self._stopped or self._home.closed:
                    return _core.PENDING
                row = _core.consumer_take(self._handle)
        return row

    async def _finish(self) -> None:
        await surely(self._turn.acquire)
        try:
            if self._closed:
                return
            status = _core.consumer_stop(self._handle)
            while status == _core.PENDING:
                await surely(partial(wait, self._link))
                status = _core.consumer_stop_take(self._handle)
        except Error as error:
            self._log_unfinished(error)
        finally:
            self._turn.release()
        self._count_lost()

    async def _shut(self) -> None:
        if self._looping:
            # When an exception leaves the loop, the event loop closes its generator, in two steps.
            for _ in range(2):
                await surely(partial(asyncio.sleep, 0))
        if not self._looping:
            self._disown()
        await self._finish()
        self._end()

    _leave = close
