"""A message and a lock as a coroutine holds them."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, overload

from dueq import _lock, _message
from dueq._message import Fields
from dueq.aio._pool import Pool, waiting

if TYPE_CHECKING:
    from dueq.aio.consumer import Consumer
    from dueq.draft import Body, Draft


class Message(Fields):
    """A message, as dueq.Message: `async with message`, `await message.ack()`."""

    __slots__ = ()

    _home: Pool | Consumer

    @overload
    async def ack(self) -> None: ...
    @overload
    async def ack(
        self, *, push: Iterable[Body | Draft], to: str | None = None
    ) -> list[str | None]: ...
    async def ack(
        self, *, push: Iterable[Body | Draft] | None = None, to: str | None = None
    ) -> list[str | None] | None:
        """Finishes the message, as dueq.Message.ack()."""
        return await self._home.run(_message.ack(self, push, to))

    retry = waiting(_message.retry)
    release = waiting(_message.release)
    extend = waiting(_message.extend)
    bury = waiting(_message.bury)

    async def __aenter__(self) -> Message:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._settled:
            await self._home.leave(self, error)


class Lock(_lock.Owned):
    """A lock that is held, as dueq.Lock: `async with lock`."""

    _home: Pool

    extend = waiting(_lock.extend)
    release = waiting(_lock.release)

    async def __aenter__(self) -> Lock:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._home.run(_lock.leave(self, error))
