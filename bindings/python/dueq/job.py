"""A job: one run of a task, as its handler and the middleware see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from dueq import _core
from dueq._decision import Decided, Decision, Fail, Push, Release, Retry
from dueq._log import escaped
from dueq._message import MessageBase, described, noted
from dueq.blocking.message import Message
from dueq.draft import Body, Draft, TaskDraft
from dueq.errors import InvalidError
from dueq.serializers import CURSOR, JSON
from dueq.times import duration_ms

if TYPE_CHECKING:
    from dueq import aio

# The pause of a job that gives its message back: without one it would run again at once, and again.
PAUSE_S = 5.0


class SoftTimeout(Exception):
    """Raised in a handler that has run for its timeout. The job counts as failed unless the handler
    catches it and returns."""

    def __init__(self, text: str = "the job has run for its timeout") -> None:
        super().__init__(text)


class Stopped(BaseException):
    """
    Raised by Job.checkpoint() where the worker is about to stop: the message is released,
    uncounted, and the next worker goes on from the last checkpoint. No `except Exception` catches
    it.
    """


_INSTEAD = {
    "ack": "return from the handler, and push successors by job.push()",
    "retry": "call job.retry(delay=, error=)",
    "release": "call job.release(delay=)",
    "bury": "call job.fail(reason)",
    "checkpoint": "call job.checkpoint(value)",
    "extend": "the worker extends the lease as long as the job runs",
}


class JobMessage(MessageBase):
    """
    The message of a job, to read: id, body, headers, attempt ... It has no verbs, as the worker
    settles the message: Job has what a job may ask for, the same in every pool.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # to type checkers any name would be an attribute

        def __getattr__(self, name: str) -> NoReturn:
            instead = f": {_INSTEAD[name]}; job is dueq.current_job()" if name in _INSTEAD else ""
            raise AttributeError(f"the message of a job has no {name}{instead}")


class Job:
    """
    One run of a task. dueq.current_job() is the one that the caller runs in.

        for row in rows_after(job.cursor):
            handle(row)
            job.checkpoint(row.id)

    retry(), fail() and release() raise dueq.Decided, which ends the handler: the worker then does
    what was asked for. They are plain calls everywhere, also in coroutine functions. If the handler
    catches Decided and returns, the worker does what the last of these calls asked for. If the
    handler raises another exception instead, the job has failed by that exception.
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
        self.message = JobMessage(message._home, message.queue, message._row)
        self.task = task
        self.args = args
        self.kwargs = kwargs
        self._real = message
        self._decision: Decision | None = None
        self._successors: list[Body | Draft] = []
        self._target: str | None = None
        self.over = False
        """Whether its handler has ended."""
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
        return self._real.lost

    @property
    def cursor(self) -> Any:
        """The last checkpoint, of this run or of one before; None: there is none."""
        text = self.message.headers.get(CURSOR)
        return None if text is None else JSON.loads(text.encode())

    def checkpoint(self, value: Any) -> None:
        """
        Stores a value of JSON with the message, in place of the one before: the cursor of this
        message's next run, here or elsewhere. Raises Stopped where the worker is about to stop, and
        LeaseLost. For plain functions; a coroutine function awaits acheckpoint().
        """
        text = JSON.dumps(value).decode()
        if isinstance(self._real, Message):
            self._real.checkpoint(text)
        else:
            self._wait_for(self._real.checkpoint(text))
        self._end_if_stopping()

    async def acheckpoint(self, value: Any) -> None:
        """checkpoint() for a coroutine function."""
        text = JSON.dumps(value).decode()
        if isinstance(self._real, Message):
            self._real.checkpoint(text)
        else:
            await self._real.checkpoint(text)
        self._end_if_stopping()

    def retry(
        self, delay: float | timedelta | None = None, error: str | BaseException = ""
    ) -> NoReturn:
        """
        Ends the job as a failure that counts: the message is delivered again, unless its attempts
        are exhausted. The log says that the job wished it, without a traceback.

        delay  seconds (or a timedelta) until it is due; 0: at once; None: by its backoff
        error  a text that is kept with it, up to 4,096 bytes; or an exception: its class and text
        """
        seconds = None if delay is None else duration_ms(delay, "delay") / 1000
        noted(error, "error")
        self._decide(Retry(seconds, error), error)

    def fail(self, reason: str | BaseException = "") -> NoReturn:
        """
        Ends the job as failed for good: no attempt is left to it. Its message is dead or, by its
        policy, moves to its dead-letter queue or is deleted, with a reason of up to 4,096 bytes as
        its error, or with an exception's class and text.
        """
        noted(reason, "reason")
        self._decide(Fail(reason), reason)

    def release(self, delay: float | timedelta | None = None) -> NoReturn:
        """
        Ends the job and gives its message back: the run does not count as an attempt.

        delay  seconds (or a timedelta) until it is due; 0: at once; None: 5 seconds, or at once
               where the worker is about to stop
        """
        if delay is None:
            delay = 0.0 if self.stopping else PAUSE_S
        self._decide(Release(duration_ms(delay, "delay") / 1000), "released")

    def push(self, *messages: Body | Draft, to: str | None = None) -> None:
        """
        Pushes successors with the acknowledgement of this job's message, in one step: all are
        stored when the job is done, and none where it fails, is retried or released, or its lease
        was lost.

        messages  drafts of tasks, as of Task.draft(), other drafts, or bodies: up to 200 a job
        to        the queue of all of them; None: that of a draft's task, or of the job's message

        Raises InvalidError for messages of two queues: push to the other one by itself.
        """
        self._refuse_late()
        if len(self._successors) + len(messages) > _core.MAX_BATCH:
            raise InvalidError(f"push: a job has at most {_core.MAX_BATCH} successors")
        own = self.queue
        for message in messages:
            draft = message if isinstance(message, Draft) else Draft(message)
            draft.row()  # refuses what is wrong here, and not when the job is done
            queue = to or (draft.queue if isinstance(draft, TaskDraft) else own)
            if self._successors and queue != (self._target or own):
                raise InvalidError(
                    f"push: the successors of a job go to one queue: {self._target or own}, "
                    f"not {queue}"
                )
            self._target = None if queue == own else queue
            self._successors.append(draft)

    @property
    def decision(self) -> Decision | None:
        """What is to be done with its message; None: an ack alone."""
        if self._decision is None and self._successors:
            return Push(tuple(self._successors), self._target)
        return self._decision

    def _decide(self, decision: Decision, text: str | BaseException) -> NoReturn:
        self._refuse_late()
        self._decision = decision
        raise Decided(described(text) if isinstance(text, BaseException) else text)

    def _refuse_late(self) -> None:
        """A thread of the handler's own may outlive it."""
        if self.over:
            raise InvalidError(f"the job {escaped(self.id)} has ended: its message is settled")

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
