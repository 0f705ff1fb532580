"""A job: one run of a task, as its handler and the middleware see it."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar, cast, overload

from dueq import _core
from dueq._cursor import Cursor, checked_step, made_step
from dueq._decision import Decided, Decision, Fail, Push, Release, Retry, Return
from dueq._log import escaped
from dueq._message import MessageBase, described, noted
from dueq.blocking.message import Message
from dueq.chain import following
from dueq.draft import Body, Draft, TaskDraft
from dueq.errors import CursorTooLargeError, Error, InvalidError, TooLargeError
from dueq.serializers import CURSOR
from dueq.times import duration_ms

if TYPE_CHECKING:
    import asyncio

    from dueq import aio

P = ParamSpec("P")
R = TypeVar("R")

# Seconds between two writes of the progress.
_PROGRESS_EVERY_S = 1.0

# Seconds until a released job is due. Without a pause a job that releases its message would run
# again at once, in a loop.
PAUSE_S = 5.0


class SoftTimeout(Exception):
    """
    Raised in a handler that has run for its timeout. The job fails, unless the handler catches this
    exception and returns.
    """

    def __init__(self, text: str = "the job has run for its timeout") -> None:
        super().__init__(text)


class Stopped(BaseException):
    """
    Raised by Job.checkpoint() when the worker is about to stop. The worker releases the message,
    and counts no attempt. The next run goes on from the last checkpoint. No `except Exception`
    catches this.
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
    The message of a job, to read: id, body, headers, attempt and others. It has no verbs, as the
    worker settles the message. Job has the calls with which a job decides, the same in every pool.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # to type checkers any name would be an attribute

        def __getattr__(self, name: str) -> NoReturn:
            instead = f": {_INSTEAD[name]}; job is dueq.current_job()" if name in _INSTEAD else ""
            raise AttributeError(f"the message of a job has no {name}{instead}")


class Job:
    """
    One run of a task. Within a handler, dueq.current_job() returns its job.

        for row in rows_after(job.cursor):
            handle(row)
            job.checkpoint(row.id)

    retry(), fail() and release() raise dueq.Decided, which ends the handler. The worker then
    settles the message as asked. They are plain calls everywhere, also in coroutine functions. If
    the handler catches Decided and returns, the last of these calls still holds. If the handler
    raises another exception instead, the job has failed by that exception.
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
        self._provided: dict[str, Any] | None = {}
        self.over = False
        """Whether the handler has ended."""
        self._stopping = stopping
        self._wait_for = wait_for  # runs a coroutine in the event loop, from a thread
        self._kept = Cursor.read(self.message.headers.get(CURSOR))
        self._steps: set[str] = set()  # the names of those of this run
        self._keeping = threading.Lock()
        self._keeping_async: asyncio.Lock | None = None
        self._progress = self._kept.progress  # the latest, which may not be stored yet
        self._told_at = float("-inf")  # when the last progress was stored
        self._result: object = None  # what the handler has returned
        self._result_text: bytes | None = None  # what the ack keeps as result; None: nothing
        self._following = following(self.message.headers)  # the next link of a chain
        self._next: tuple[TaskDraft, ...] = ()  # that link, when the job has ended well
        if self._following and self._following.queue != self.queue:
            self._target = self._following.queue

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
        """The number of this delivery, as Message.attempt: 1 for the first."""
        return self.message.attempt

    @property
    def stopping(self) -> bool:
        """
        Whether the worker is about to stop: a long job should end, and leave the rest to its next
        run.
        """
        return self._stopping()

    @property
    def lost(self) -> bool:
        """Whether another worker is known to have the message, or it is known to be cancelled."""
        return self._real.lost

    @property
    def cursor(self) -> Any:
        """The value of the last checkpoint, of this run or an earlier one; None: there was none."""
        return self._kept.value

    def checkpoint(self, value: Any) -> None:
        """
        Stores a value with the message, in place of the one before: the cursor of this message's
        next run, in any process.

        value  anything that JSON can express

        Raises Stopped if the worker is about to stop, after the value is stored; LeaseLost if
        another worker may have the message; CursorTooLargeError if the message has no room for it;
        and TypeError or ValueError if JSON cannot express the value. For plain functions: a
        coroutine function awaits acheckpoint().
        """
        self._refuse_in_loop("acheckpoint")
        self._keep("checkpoint", lambda kept: kept.with_checkpoint(value))
        self._end_if_stopping()

    async def acheckpoint(self, value: Any) -> None:
        """Does the same as checkpoint(), in a coroutine function."""
        await self._akeep("checkpoint", lambda kept: kept.with_checkpoint(value))
        self._end_if_stopping()

    def step(self, name: str, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """
        Calls a function, and keeps what it returns with the message. When the job runs again, in
        any process, the step returns the kept value, and does not call the function.

            payment = job.step("charge", bank.charge, order, cents)
            job.step("receipt", send_receipt, order, payment)

        name      of the step, 1 to 255 bytes: a run has no second step of this name
        function  called with the other arguments. If the process is killed before the value is
                  kept, the next run calls it again

        Returns the value as JSON has it: a list for a tuple. Raises what the function raises, and
        keeps nothing then; InvalidError for a name that the run has had; and as checkpoint(). For
        plain functions: a coroutine function awaits astep().
        """
        self._refuse_in_loop("astep")
        kept = self._begin_step(name)
        if kept:
            return cast("R", kept[0])
        value = function(*args, **kwargs)
        if isawaitable(value):
            if isinstance(value, Coroutine):
                value.close()
            raise TypeError(f"step {name}: the function is a coroutine function: await job.astep()")
        step, read = made_step(name, value)
        self._keep(f"step {name}", lambda kept: kept.with_step(step))
        self._end_if_stopping()
        return cast("R", read)

    @overload
    async def astep(
        self, name: str, function: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> R: ...
    @overload
    async def astep(
        self, name: str, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R: ...
    async def astep(
        self, name: str, function: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> Any:
        """
        Does the same as step(), in a coroutine function. The function may be a coroutine function.
        """
        kept = self._begin_step(name)
        if kept:
            return kept[0]
        value = function(*args, **kwargs)
        if isawaitable(value):
            value = await value
        step, read = made_step(name, value)
        await self._akeep(f"step {name}", lambda kept: kept.with_step(step))
        self._end_if_stopping()
        return read

    def progress(self, share: float, note: str = "") -> None:
        """
        Says how far the job has come. `dueq inspect`, the dashboard and Message.progress show it.

            job.progress(page / pages, f"page {page} of {pages}")

        share  from 0 to 1; four decimal places are kept
        note   up to 255 bytes, in one line; longer ones are cut

        Stores at most one value a second: a call within a second of the last write costs nothing.
        The next write of the job stores the latest value, or the end of the job, unless that
        deletes the message. Raises LeaseLost and CursorTooLargeError as checkpoint(), and
        InvalidError for a wrong share. For plain functions: a coroutine function awaits
        aprogress().
        """
        self._refuse_in_loop("aprogress")
        if self._has_come(share, note):
            self._keep("progress", lambda kept: kept)

    async def aprogress(self, share: float, note: str = "") -> None:
        """Does the same as progress(), in a coroutine function."""
        if self._has_come(share, note):
            await self._akeep("progress", lambda kept: kept)

    def provide(self, **values: Any) -> None:
        """
        Gives the handler keyword arguments, such as a database session. A middleware calls this
        before call_next(). A handler gets those for which it has a parameter. They replace
        arguments of the message, and what was provided under the same name before.

            @app.middleware
            def with_session(job, call_next):
                with Session() as session:
                    job.provide(db=session)
                    return call_next()

            @app.task
            def send_receipt(order: int, *, db: Session = dueq.PROVIDED) -> None: ...

        Raises InvalidError if the handler has begun.
        """
        if self._provided is None:
            raise InvalidError(
                f"provide: the handler of the job {escaped(self.id)} has begun: a middleware "
                "provides before call_next()"
            )
        self._provided.update(values)

    def retry(
        self, delay: float | timedelta | None = None, error: str | BaseException = ""
    ) -> NoReturn:
        """
        Ends the job as failed: the message is delivered again, unless its attempts are exhausted.
        The log says that the job asked for this, without a traceback.

        delay  seconds (or a timedelta) until the message is due; 0: at once; None: by its backoff
        error  a text that is stored with the message, up to 4,096 bytes; or an exception: its class
               and text

        Raises Decided always, and InvalidError for a wrong delay, or if the job has ended already.
        """
        seconds = None if delay is None else duration_ms(delay, "delay") / 1000
        noted(error, "error")
        self._decide(Retry(seconds, error), error)

    def fail(self, reason: str | BaseException = "") -> NoReturn:
        """
        Ends the job as failed for good, whatever attempts it has left. The message becomes dead or,
        by its policy, moves to its dead-letter queue or is deleted.

        reason  a text that is stored with the message, up to 4,096 bytes; or an exception: its
                class and text

        Raises as retry().
        """
        noted(reason, "reason")
        self._decide(Fail(reason), reason)

    def release(self, delay: float | timedelta | None = None) -> NoReturn:
        """
        Ends the job and gives its message back to the queue. The run does not count as an attempt.

        delay  seconds (or a timedelta) until the message is due; 0: at once; None: 5 seconds, or at
               once if the worker is about to stop

        Raises as retry().
        """
        if delay is None:
            delay = 0.0 if self.stopping else PAUSE_S
        self._decide(Release(duration_ms(delay, "delay") / 1000), "released")

    def push(self, *messages: Body | Draft, to: str | None = None) -> None:
        """
        Pushes successors: the acknowledgement of this job's message stores them, in one step. None
        is stored if the job fails, is retried or released, or has lost its lease.

        messages  drafts of tasks, as made by Task.draft(), other drafts, or bodies: at most 200 in
                  a job
        to        the queue of all of them; None: that of a draft's task, or of the job's message

        Raises InvalidError for too many messages or a wrong one, for messages of two queues (push
        to the second one by Queue.push()), or if the job has ended already.
        """
        self._refuse_late()
        most = _core.MAX_BATCH - (self._following is not None)
        if len(self._successors) + len(messages) > most:
            raise InvalidError(f"push: a job has at most {most} successors")
        own = self.queue
        for message in messages:
            draft = message if isinstance(message, Draft) else Draft(message)
            draft.row()  # refuses what is wrong here, and not when the job is done
            queue = to or (draft.queue if isinstance(draft, TaskDraft) else own)
            first = self._successors or self._following
            if first and queue != (self._target or own):
                raise InvalidError(
                    "push: the successors of a job, and the next link of its chain, go to one "
                    f"queue: {self._target or own}, not {queue}"
                )
            self._target = None if queue == own else queue
            self._successors.append(draft)

    @property
    def decision(self) -> Decision | None:
        """How the worker settles the message; None: by an ack without successors."""
        if self._decision is None and (self._next or self._successors):
            return Push((*self._next, *self._successors), self._target, self._result_text)
        if self._decision is None and self._result_text is not None:
            return Return(self._result_text)
        return self._decision

    def _end_well(self) -> None:
        """The handler has returned. Raises an exception if the next link cannot have the result."""
        if self._following and self._decision is None:
            self._next = (self._following.draft(self._result),)

    def _refuse_in_loop(self, instead: str) -> None:
        """Raises RuntimeError in the event loop that would have to run the call."""
        if isinstance(self._real, Message):
            return
        from asyncio import get_running_loop

        try:
            get_running_loop()
        except RuntimeError:
            return
        raise RuntimeError(f"this would wait for itself: await {instead}() in a coroutine function")

    def _begin_step(self, name: str) -> tuple[Any, ...]:
        """The value that an earlier run has kept; (): there is none, so the function is called."""
        if checked_step(name) in self._steps:
            raise InvalidError(
                f"step: this run of the job has had a step {name!r} before: give each step a name "
                "of its own, in a loop with its number"
            )
        self._steps.add(name)
        return self._kept.step(name)

    def _has_come(self, share: float, note: str) -> bool:
        """Notes the progress. Returns whether it is to be stored now."""
        self._progress = self._kept.with_progress(share, note).progress
        return self._has_news and time.monotonic() - self._told_at >= _PROGRESS_EVERY_S

    @property
    def _has_news(self) -> bool:
        """Whether the latest progress is not stored yet."""
        return self._progress != self._kept.progress

    def _keep(self, what: str, change: Callable[[Cursor], Cursor]) -> None:
        """Changes what the message keeps. what: the call, for errors."""
        if not isinstance(self._real, Message):
            self._wait_for(self._akeep(what, change))
            return
        with self._keeping, self._changing(what, change) as text:
            self._real.checkpoint(text)

    async def _akeep(self, what: str, change: Callable[[Cursor], Cursor]) -> None:
        if isinstance(self._real, Message):
            self._keep(what, change)
            return
        from asyncio import Lock

        self._keeping_async = self._keeping_async or Lock()
        # One after the other: each text has all that those before it have stored.
        async with self._keeping_async:
            with self._changing(what, change) as text:
                await self._real.checkpoint(text)

    @contextmanager
    def _changing(self, what: str, change: Callable[[Cursor], Cursor]) -> Iterator[str]:
        """The block stores the text. If it raises, nothing has changed."""
        kept = replace(change(self._kept), progress=self._progress)
        try:
            yield kept.text
        except TooLargeError as error:
            raise CursorTooLargeError(
                f"{what}: a message keeps its headers, its checkpoint, the values of its steps and "
                f"its progress in {_core.MAX_HEADERS} bytes together: keep large values elsewhere, "
                f"such as in a database, and their keys here ({error})"
            ) from error
        if kept.progress != self._kept.progress:
            self._told_at = time.monotonic()
        self._kept = kept

    def _keep_news(self) -> None:
        """Stores the latest progress at the end of a run whose message stays."""
        if self._has_news and not self.lost:
            with suppress(Error):  # the end of the run does not depend on it
                self._keep("progress", lambda kept: kept)

    async def _akeep_news(self) -> None:
        if self._has_news and not self.lost:
            with suppress(Error):
                await self._akeep("progress", lambda kept: kept)

    def _hand_over(self) -> dict[str, Any]:
        """What the handler gets by provide(). It is about to begin."""
        given, self._provided = self._provided or {}, None
        return given

    def _decide(self, decision: Decision, text: str | BaseException) -> NoReturn:
        self._refuse_late()
        self._decision = decision
        raise Decided(described(text) if isinstance(text, BaseException) else text)

    def _refuse_late(self) -> None:
        """Raises InvalidError if the handler has ended: a thread that it started may still run."""
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
    """
    The job in which the caller runs. Raises LookupError outside of a job, as in a task that is
    called as a function.
    """
    try:
        return current.get()
    except LookupError:
        raise LookupError("no job runs here: only a worker runs jobs") from None
