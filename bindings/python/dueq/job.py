"""A job: one run of a task, as its handler and the middleware see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from dueq._log import escaped
from dueq.blocking.message import Message
from dueq.serializers import CURSOR, JSON

if TYPE_CHECKING:
    from dueq import aio


class SoftTimeout(Exception):
    """Raised in a handler that has run for its timeout. The job counts as failed unless the handler
    catches it and returns."""

    def __init__(self, text: str = "the job has run for its timeout") -> None:
        super().__init__(text)


class Stopped(BaseException):
    """
    Raised by Job.save() where the worker is about to stop: the message is released, uncounted, and
    the next worker goes on from what was saved. No `except Exception` catches it.
    """


class Job:
    """
    One run of a task. dueq.current_job() is the one that the caller runs in.

        for row in rows_after(job.cursor):
            handle(row)
            job.save(row.id)
    """

    def __init__(
        self,
        message: Message | aio.Message,
        task: str | None,
        args: list[Any],
        kwargs: dict[str, Any],
        stopping: Callable[[], bool],
        wait_for: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.message = message
        self.task = task
        self.args = args
        self.kwargs = kwargs
        self._stopping = stopping
        self._wait_for = wait_for  # for what the message of an event loop does, from a thread

    @property
    def id(self) -> str:
        """The message's id."""
        return self.message.id

    @property
    def queue(self) -> str:
        """The name of the message's queue."""
        return self.message.queue

    @property
    def attempt(self) -> int:
        """As of Message: 1 at first."""
        return self.message.attempt

    @property
    def stopping(self) -> bool:
        """Whether the worker is about to stop: what is left to do is better left to the next."""
        return self._stopping()

    @property
    def lost(self) -> bool:
        """As of Message: whether another worker has the message, or it was cancelled."""
        return self.message.lost

    @property
    def cursor(self) -> Any:
        """The value that save() stored last, in this run or in one before; None: there is none."""
        text = self.message.headers.get(CURSOR)
        return None if text is None else JSON.loads(text.encode())

    def save(self, value: Any) -> None:
        """
        Stores a value of JSON with the message, in place of the one before: the cursor of this
        message's next run, here or elsewhere. Raises Stopped where the worker is about to stop, and
        LeaseLost. For plain functions; a coroutine function awaits asave().
        """
        text = JSON.dumps(value).decode()
        if isinstance(self.message, Message):
            self.message.save(text)
        else:
            self._wait_for(self.message.save(text))
        self._end_if_stopping()

    async def asave(self, value: Any) -> None:
        """save() for a coroutine function."""
        text = JSON.dumps(value).decode()
        if isinstance(self.message, Message):
            self.message.save(text)
        else:
            await self.message.save(text)
        self._end_if_stopping()

    def _end_if_stopping(self) -> None:
        if self.stopping:
            raise Stopped("the worker stops")

    def __repr__(self) -> str:
        what = self.task or f"of queue {self.queue}"
        return f"<Job {escaped(what)} {escaped(self.id)} attempt={self.attempt}>"


current: ContextVar[Job] = ContextVar("dueq.job")


def current_job() -> Job:
    """The job that the caller runs in. LookupError: none, as in a task that is called in place."""
    try:
        return current.get()
    except LookupError:
        raise LookupError("no job runs here: only a worker runs jobs") from None
