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
        Makes a dead message ready again, with all its attempts. False: there is no dead message
        with this id.
        """
        [done] = self._done(_core.kick_submit, (id,))
        return done

    def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kick() with any number of messages."""
        return self._done(_core.kick_submit, ids)

    def kill(self, id: str) -> bool:
        """
        Makes a delayed message dead, whether a push or a retry delayed the message. The dead
        message stays in this queue, whatever its policy says, until kick() makes it ready. False:
        there is no delayed message with this id.
        """
        [done] = self._done(_core.kill_submit, (id,))
        return done

    def kill_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kill() with any number of messages."""
        return self._done(_core.kill_submit, ids)

    def pause(self) -> None:
        """
        Stops deliveries to all consumers until the queue is resumed. Everything else works: pushes,
        and acknowledging leased messages. If it is paused already, nothing changes.
        """
        self._plain(_core.pause_submit)

    def resume(self) -> None:
        """
        Ends a pause, and wakes waiting consumers. If the queue is not paused, nothing changes.
        """
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
        Makes a dead message ready again, with all its attempts. False: there is no dead message
        with this id.
        """
        [done] = await self._done(_core.kick_submit, (id,))
        return done

    async def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kick() with any number of messages."""
        return await self._done(_core.kick_submit, ids)

    async def kill(self, id: str) -> bool:
        """
        Makes a delayed message dead, whether a push or a retry delayed the message. The dead
        message stays in this queue, whatever its policy says, until kick() makes it ready. False:
        there is no delayed message with this id.
        """
        [done] = await self._done(_core.kill_submit, (id,))
        return done

    async def kill_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kill() with any number of messages."""
        return await self._done(_core.kill_submit, ids)

    async def pause(self) -> None:
        """
        Stops deliveries to all consumers until the queue is resumed. Everything else works: pushes,
        and acknowledging leased messages. If it is paused already, nothing changes.
        """
        await self._plain(_core.pause_submit)

    async def resume(self) -> None:
        """
        Ends a pause, and wakes waiting consumers. If the queue is not paused, nothing changes.
        """
        await self._plain(_core.resume_submit)
