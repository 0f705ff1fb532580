"""Runs one message: finds its task, and calls the handler inside of the middleware."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from dueq.app import App, Task
from dueq.job import Job, current
from dueq.serializers import TASK, UnknownTask, arguments_of
from dueq.worker.running import Running

if TYPE_CHECKING:
    from dueq import aio
    from dueq.blocking.message import Message


class Run:
    """A message, with what is to be called for it. Raises UnknownTask and BadTask."""

    def __init__(
        self,
        app: App,
        message: Message | aio.Message,
        stopping: Callable[[], bool],
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        """run: runs a coroutine in the slot's event loop and waits for it, from a thread."""
        name = message.headers.get(TASK)
        handler: Callable[..., Any] | None
        task: Task[..., Any] | None = None
        args: list[Any] = [message]
        kwargs: dict[str, Any] = {}
        if name is not None:
            task = app.named(name)
            args, kwargs = arguments_of(app.serializer_of(message.headers), message.body)
            handler = task.handler
        elif (handler := app.queue_handler(message.queue)) is None:
            raise UnknownTask(
                f"the message is no task, and the queue {message.queue} has no handler here"
            )
        self._app = app
        self._is_async = iscoroutinefunction(handler)
        self._call: Callable[[], Any] = partial(handler, *args, **kwargs)
        shown = (list(args), kwargs) if task else ([], {})
        self._run = run
        self.running = Running(Job(message, name, *shown, stopping, run), task)

    def in_thread(self) -> None:
        """Runs it in this thread."""
        current.set(self.running.job)
        self._plain(lambda: self._run(self._async(_at_once)))

    async def in_loop(self) -> None:
        """Runs it in this task; what is no coroutine function in a thread."""
        current.set(self.running.job)
        if not self._app.plain_middleware:
            await self._async(asyncio.to_thread)
            return
        await asyncio.to_thread(self._plain, lambda: self._run(self._async(asyncio.to_thread)))

    def _plain(self, run_async: Callable[[], Any]) -> None:
        """The plain middleware, and inside of it the rest."""
        inside = self._handler
        if self._is_async or self._app.async_middleware:
            inside = run_async
        for middleware in reversed(self._app.plain_middleware):
            inside = partial(middleware, self.running.job, inside)
        inside()

    async def _async(self, to_thread: Callable[[Callable[[], Any]], Awaitable[Any]]) -> Any:
        """The middleware of coroutine functions, and inside of it the handler."""
        inside: Callable[[], Awaitable[Any]] = self._async_handler
        if not self._is_async:
            inside = partial(to_thread, self._handler)
        for middleware in reversed(self._app.async_middleware):
            inside = partial(middleware, self.running.job, inside)
        return await inside()

    def _handler(self) -> Any:
        with self.running.in_thread():
            return self._call()

    async def _async_handler(self) -> Any:
        with self.running.in_task():
            return await self._call()


async def _at_once(function: Callable[[], Any]) -> Any:
    return function()


class Runner:
    """An event loop of a thread's own, for its coroutine functions; made when one comes."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(coroutine, context=contextvars.copy_context())

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
