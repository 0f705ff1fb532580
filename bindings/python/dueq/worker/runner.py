"""Runs the job of one message: finds its task, and calls the handler within the middleware."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutine, iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast

from dueq._arguments import Arguments
from dueq._decision import Decided, Decision, Fail, Push, Retry, Return
from dueq.app import App, Task
from dueq.errors import InvalidError
from dueq.handle import result_bytes
from dueq.job import Job, Stopped, current
from dueq.serializers import TASK, UnknownTask
from dueq.worker import job_log
from dueq.worker.running_job import RunningJob

if TYPE_CHECKING:
    from dueq import aio
    from dueq.blocking.message import Message


class Run:
    """A message and the handler that runs it. Raises UnknownTask and BadTask."""

    def __init__(
        self,
        app: App,
        message: Message | aio.Message,
        stopping: Callable[[], bool],
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        """run: runs a coroutine in the slot's event loop and waits for it, from a thread."""
        name = message.headers.get(TASK)
        task: Task[..., Any] | None = None
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        taken: Arguments | None
        if name is not None:
            task = app.named(name)
            taken = task.arguments
            args, kwargs = taken.of_job(app.serializer_of(message.headers), message.body)
        elif (taken := app.queue_handler(message.queue)) is None:
            raise UnknownTask(
                f"the message is no task, and the queue {message.queue} has no handler here"
            )
        self._app = app
        self._task = task
        self._on_exhausted = (task and task.on_exhausted) or app.on_exhausted
        self._taken = taken
        self._is_async = iscoroutinefunction(taken.handler)
        job = Job(message, name, list(args), kwargs, stopping, run)
        self._args = args if task else [job.message]
        self._kwargs = kwargs.copy()
        self._run = run
        self.running = RunningJob(job, task)
        # The control thread calls this, with an event loop of its own, as the job's thread is
        # stuck.
        self.running.tell_stuck = lambda error: self._tell(error, asyncio.run)

    def in_thread(self) -> Decision | None:
        """Runs the job in this thread. Returns how to settle the message; None: by an ack."""
        job = self.running.job
        current.set(job)
        try:
            with self._deciding():
                if whole := self._named_by_message():
                    self._refuse_next(whole, self._app.queue(whole).allow())
                result = self._plain(lambda: self._run(self._async(_at_once)))
                job._end_well()
                self._keep(result)
        except Exception:
            job._keep_news()
            raise
        if _stays(job.decision):
            job._keep_news()
        return job.decision

    async def in_loop(self) -> Decision | None:
        """
        Runs the job in this task of the event loop. Plain functions run in a thread. Returns as
        in_thread().
        """
        job = self.running.job
        current.set(job)
        try:
            with self._deciding():
                if whole := self._named_by_message():
                    self._refuse_next(whole, await self._app.aio_queue(whole).allow())
                if self._app.plain_middleware:
                    run_async = partial(self._async, asyncio.to_thread)
                    result = await asyncio.to_thread(self._plain, lambda: self._run(run_async()))
                else:
                    result = await self._async(asyncio.to_thread)
                job._end_well()
                self._keep(result)
        except Exception:
            await job._akeep_news()
            raise
        if _stays(job.decision):
            await job._akeep_news()
        return job.decision

    def _named_by_message(self) -> str | None:
        """
        The job's queue, if the message names another queue for the next link of its chain: the list
        of targets decides whether it may. None: it does not.
        """
        own = self._app.whole_of(self.running.job.queue)
        next = self.running.job._following
        return own if next and next.queue != own else None

    def _refuse_next(self, whole: str, allowed: list[str]) -> None:
        """Raises InvalidError before the handler runs if its result could not be handed on."""
        next = self.running.job._following
        if allowed and next and next.queue not in allowed:
            raise InvalidError(
                f"chain: the next link is for the queue {next.queue}, and the list of targets of "
                f"{whole} does not have it: dueq allow"
            )

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        job = self.running.job
        try:
            yield
        except Exception as error:
            # These failures are settled here. Every other failure is retried at the end of the
            # message's block, with the consumer's next request.
            if self._task and self._task.is_final(error):
                job._decision = Fail(error)
            elif self._on_exhausted and job.attempt == job.message.max_attempts:
                job._decision = Retry(None, error)
            else:
                raise
            self.running.failure = error
        except (Decided, BaseExceptionGroup) as error:
            # A TaskGroup raises the exceptions of its tasks as a group.
            if job._decision is None:
                if isinstance(error, BaseExceptionGroup) and error.subgroup(Stopped):
                    raise Stopped("the worker stops") from error
                raise
        finally:
            job.over = True

    def tell_exhausted(self, outcome: object) -> None:
        """Calls the hook if the job has failed for good. outcome: what the settlement returned."""
        if error := self._final_error(outcome):
            self._tell(error, self._run)

    async def tell_exhausted_in_loop(self, outcome: object) -> None:
        """As tell_exhausted(), in an event loop."""
        error, hook = self._final_error(outcome), self._on_exhausted
        if error and hook and iscoroutinefunction(hook):
            with self._logging():
                await hook(self.running.job, error)
        elif error:
            await asyncio.to_thread(self._tell, error, self._run)

    def _final_error(self, outcome: object) -> BaseException | None:
        """The error by which the job has failed for good; None: it has not, or there is no hook."""
        decision = self.running.job.decision
        failed = isinstance(decision, Fail) or (isinstance(decision, Retry) and not outcome)
        if not failed or not self._on_exhausted:
            return None
        error = cast("Fail | Retry", decision).error
        return error if isinstance(error, BaseException) else Decided(error)

    def _tell(self, error: BaseException, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        hook = self._on_exhausted
        if hook:
            current.set(self.running.job)
            with self._logging():
                result = hook(self.running.job, error)
                if iscoroutinefunction(hook):
                    run(cast("Coroutine[Any, Any, Any]", result))

    @contextmanager
    def _logging(self) -> Iterator[None]:
        try:
            yield
        except BaseException as failure:
            job_log.hook_failed(self.running, failure)

    def _keep(self, result: object) -> None:
        """
        Decides that the ack keeps the task's result. A result that cannot be kept fails the job for
        good, as another run would return the same.
        """
        job = self.running.job
        if result is None or not self._task or not job.message.keep or _stays(job.decision):
            return
        try:
            job._result_text = result_bytes(result)
        except TypeError as error:
            job._decision = Fail(error)

    def _plain(self, run_async: Callable[[], Any]) -> Any:
        """Calls the plain middleware, and within it the rest."""
        inside = self._handler
        if self._is_async or self._app.async_middleware:
            inside = run_async
        for middleware in reversed(self._app.plain_middleware):
            inside = partial(middleware, self.running.job, inside)
        return inside()

    async def _async(self, to_thread: Callable[[Callable[[], Any]], Awaitable[Any]]) -> Any:
        """Calls the middleware of coroutine functions, and within it the handler."""
        inside: Callable[[], Awaitable[Any]] = self._async_handler
        if not self._is_async:
            inside = partial(to_thread, self._handler)
        for middleware in reversed(self._app.async_middleware):
            inside = partial(middleware, self.running.job, inside)
        return await inside()

    def _handler(self) -> Any:
        with self.running.in_thread():
            result = self._call()
        if iscoroutine(result):
            # Nothing of the coroutine has run. So the message must not be acknowledged.
            result.close()
            raise TypeError(
                "the handler is a plain function and returned a coroutine, which nobody awaits: "
                "make it `async def`, and await there"
            )
        self.running.job._result = result
        return result

    def _call(self) -> Any:
        given = self._taken.provided(self.running.job._hand_over())
        return self._taken.handler(*self._args, **{**self._kwargs, **given})

    async def _async_handler(self) -> Any:
        with self.running.in_task():
            self.running.job._result = result = await self._call()
            return result


def _stays(decision: Decision | None) -> bool:
    """Whether the message may stay in its queue."""
    return decision is not None and not isinstance(decision, (Push, Return))


async def _at_once(function: Callable[[], Any]) -> Any:
    return function()


class Runner:
    """The event loop of a thread, for coroutine functions. Made when the first one runs."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(coroutine, context=contextvars.copy_context())

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
