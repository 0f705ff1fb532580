"""The verbs of a queue that are alike. Made from core/verbs.toml by core/verbs.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Protocol

from dueq import _core


class OfIds(Protocol):
    """A submit of a verb on ids."""

    def __call__(self, queue: _core.Handle, ids: tuple[str, ...], /) -> int: ...


class Verbs(ABC):
    @abstractmethod
    def _plain(self, submit: Callable[[_core.Handle], int]) -> None:
        """Runs a verb without arguments."""

    @abstractmethod
    def _done(self, submit: OfIds, ids: Iterable[str]) -> list[bool]:
        """Runs a verb on any number of ids."""

    def kick(self, id: str) -> bool:
        """
        Makes a dead message ready to be delivered at once, with as many attempts again as it had.
        False: there is no dead message with this id.
        """
        [done] = self._done(_core.kick_submit, (id,))
        return done

    def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kick() with any number of messages."""
        return self._done(_core.kick_submit, ids)

    def kill(self, id: str) -> bool:
        """
        Makes a delayed message dead, also one that waits for its retry: it is kept here, whatever
        its policy says, and not delivered until it is kicked. False: there is no delayed message
        with this id.
        """
        [done] = self._done(_core.kill_submit, (id,))
        return done

    def kill_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kill() with any number of messages."""
        return self._done(_core.kill_submit, ids)

    def pause(self) -> None:
        """
        Stops deliveries of the queue, to any consumer, until it is resumed. Everything else works
        as ever: push, and what consumers do with the messages they hold. Nothing changes where it
        is paused already.
        """
        self._plain(_core.pause_submit)

    def resume(self) -> None:
        """Ends a pause; consumers that wait wake. Nothing changes where it is not paused."""
        self._plain(_core.resume_submit)


class AsyncVerbs(ABC):
    @abstractmethod
    async def _plain(self, submit: Callable[[_core.Handle], int]) -> None:
        """Runs a verb without arguments."""

    @abstractmethod
    async def _done(self, submit: OfIds, ids: Iterable[str]) -> list[bool]:
        """Runs a verb on any number of ids."""

    async def kick(self, id: str) -> bool:
        """
        Makes a dead message ready to be delivered at once, with as many attempts again as it had.
        False: there is no dead message with this id.
        """
        [done] = await self._done(_core.kick_submit, (id,))
        return done

    async def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kick() with any number of messages."""
        return await self._done(_core.kick_submit, ids)

    async def kill(self, id: str) -> bool:
        """
        Makes a delayed message dead, also one that waits for its retry: it is kept here, whatever
        its policy says, and not delivered until it is kicked. False: there is no delayed message
        with this id.
        """
        [done] = await self._done(_core.kill_submit, (id,))
        return done

    async def kill_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kill() with any number of messages."""
        return await self._done(_core.kill_submit, ids)

    async def pause(self) -> None:
        """
        Stops deliveries of the queue, to any consumer, until it is resumed. Everything else works
        as ever: push, and what consumers do with the messages they hold. Nothing changes where it
        is paused already.
        """
        await self._plain(_core.pause_submit)

    async def resume(self) -> None:
        """Ends a pause; consumers that wait wake. Nothing changes where it is not paused."""
        await self._plain(_core.resume_submit)
