"""Calls in an event loop, which watches the descriptor of each call in progress."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial
from types import TracebackType, coroutine
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar
from weakref import WeakSet

from dueq import _core
from dueq._call import Answer, Call
from dueq._link import Link, Linked, Links
from dueq._log import log
from dueq.errors import Error, InvalidError

if TYPE_CHECKING:
    from dueq._link import Open
    from dueq._message import MessageBase

R = TypeVar("R")

# How many calls may be in progress at once, not counting those that wait for messages; further
# calls queue up. Each link has one or two connections.
_AT_ONCE = 32


class Closing(Linked):
    """An object that closes its pool at the end of a block."""

    def __init__(self, home: Pool, label: str) -> None:
        self._home: Pool = home
        self._label = label

    async def close(self) -> None:
        """
        Closes the connections. Calls in progress in other tasks end with an error. Waits until
        these calls, and cancelled ones, have ended at the server.
        """
        await self._home.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class Tenant(Protocol):
    """An object that holds a link for longer than one call."""

    async def _leave(self) -> None:
        """Gives the link back."""


class Pool(Links):
    """
    The links of one event loop. A call whose task is cancelled ends in the background, and the
    messages or locks that it took are given back.
    """

    def __init__(self, url: str | None, *names: str, open: Open = _core.queue_open) -> None:
        super().__init__(url, *names, open=open)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._awaited: set[asyncio.Future[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._guard: AsyncGenerator[None, None] | None = None
        self.tenants: WeakSet[Tenant] = WeakSet()
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def call(self, call: Call) -> Answer:
        """Runs a call until it is done. A cancellation or close() abandons the call."""
        if call.waits:
            return await self._call(call)
        async with self._turns:
            return await self._call(call)

    async def _call(self, call: Call) -> Answer:
        final = running_loop().create_future()
        link = self.acquire()
        self._awaited.add(final)
        try:
            call.submit(link)
            await wait(link, final)
            answer = Answer._make(_core.take(link.client))
        except BaseException as error:
            if self.closed or isinstance(error, asyncio.CancelledError):
                self.background(self._end(link, call))
            else:
                _core.abandon(link.client)
                self.release(link)
            raise
        finally:
            self._awaited.discard(final)
        self.release(link)
        return answer

    def retry_later(self, message: MessageBase, error: Exception) -> bool:
        """Returns False: a pool settles each message at once."""
        return False

    def ack_later(self, message: MessageBase) -> bool:
        """Returns False: a pool settles each message at once."""
        return False

    def forget(self, message: MessageBase) -> None:
        """Does nothing, as a message from reserve() has no heartbeat."""

    def has_lost(self, message: MessageBase) -> bool:
        """
        Returns False: without a heartbeat only the verbs of the message learn that it is lost.
        """
        return False

    def keep_ack(self, message: MessageBase, failure: Error) -> bool:
        """Returns False: only consumers keep acks."""
        return False

    async def close(self) -> None:
        """Closes the links. Calls in progress end with an error. Waits for them."""
        self.closed = True
        self._free.clear()
        for final in self._awaited:
            if not final.done():
                final.set_exception(InvalidError("this queue is closed"))
        for tenant in tuple(self.tenants):
            await tenant._leave()
        await self._idle.wait()
        if self._guard:
            await self._guard.aclose()

    def acquire(self) -> Link:
        link = super().acquire()
        self._under_way += 1
        self._idle.clear()
        return link

    def release(self, link: Link) -> None:
        super().release(link)
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()

    async def finish(
        self, step: Callable[[], Coroutine[Any, Any, None]], error: BaseException
    ) -> None:
        """
        Runs a last step, although this exception propagates, even if the task is cancelled
        meanwhile. While a coroutine is being closed, it cannot wait: then the step runs in the
        background. Without a running event loop nothing can run the step.
        """
        closed = isinstance(error, GeneratorExit)
        if closed and not asyncio._get_running_loop():
            return
        ending = self.background(step())
        if not closed:
            await asyncio.shield(ending)

    def background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs a last step in the background, to its end, even if its task is cancelled."""
        if not self._guard:
            self._guard = self._guarding()
            # The first step of the generator suspends nothing. It registers the generator with the
            # event loop.
            with contextlib.suppress(StopIteration):
                self._guard.asend(None).send(None)
        begun = _begun(work)
        begun.send(None)
        task = asyncio.get_running_loop().create_task(begun)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _guarding(self) -> AsyncGenerator[None, None]:
        """
        Keeps the event loop from ending before the tasks of background(). asyncio.run() cancels all
        tasks, and waits for those that exist at that moment. Tasks of background() may begin only
        when other tasks are cancelled. But after that asyncio.run() closes all generators, and
        waits for them, so also for this one.
        """
        try:
            yield
        finally:
            self._guard = None
            while self._ending:
                await asyncio.wait(self._ending)

    async def _end(self, link: Link, call: Call) -> None:
        try:
            if call.behind:
                _core.abandon(link.client)
                call.behind(link)
            else:
                _core.stop_wait(link.client)
            await surely(partial(wait, link))
            answer = Answer._make(_core.take(link.client))
            for undo in call.undo(answer) if call.undo else ():
                undo.submit(link)
                await surely(partial(wait, link))
                _core.take(link.client)
        except Error as error:
            log.warning("a call that was cancelled could not be ended: %s", error)
            _core.abandon(link.client)
        finally:
            self.release(link)


@coroutine
def _pause() -> Generator[None, None, None]:
    yield


async def _begun(work: Coroutine[Any, Any, None]) -> None:
    """
    Runs `work`, even if its task is cancelled before its first step: such a task would do nothing
    at all. So the caller sends the first step before it makes a task of this coroutine.
    """
    with contextlib.suppress(asyncio.CancelledError):
        await _pause()
    await work


def running_loop() -> asyncio.AbstractEventLoop:
    """
    The running event loop. Raises RuntimeError if none runs, as under Trio and gevent, and says
    what to do there.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "dueq.aio needs a running event loop of asyncio, and there is none; under Trio and "
            'gevent call dueq in a thread: docs/guide.md, "Event loops"'
        ) from None


async def wait(link: Link, final: asyncio.Future[None] | None = None) -> None:
    """Waits until the call on a link is done, or until another task sets the future."""
    if _core.pump(link.client) != _core.PENDING:
        return
    loop = asyncio.get_running_loop()
    final = final or loop.create_future()
    descriptor = _core.descriptor(link.client)
    loop.add_reader(descriptor, _pump, link, final)
    try:
        await final
    finally:
        loop.remove_reader(descriptor)


async def surely(step: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """
    Runs a step of a background() task to its end, even if the task is cancelled: the end of the
    event loop cancels all tasks, and waits for them. The deadline of the call bounds the wait.
    """
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            return await step()


def _pump(link: Link, final: asyncio.Future[None]) -> None:
    if _core.pump(link.client) != _core.PENDING and not final.done():
        final.set_result(None)
