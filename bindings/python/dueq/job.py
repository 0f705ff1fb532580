"""A job: one run of a task, as its handler and the middleware see it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from dueq._log import escaped
from dueq.serializers import CURSOR, JSON

if TYPE_CHECKING:
    from dueq import aio
    from dueq.blocking.message import Message


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
    ) -> None:
        self.message = message
        self.task = task
        self.args = args
        self.kwargs = kwargs
        self._stopping = stopping
        self._cursor = message.headers.get(CURSOR)

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
    def cursor(self) -> Any:
        """The value that save() stored last, in this run or in one before; None: there is none."""
        return None if self._cursor is None else JSON.loads(self._cursor.encode())

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
