"""Results of tasks: the id of a pushed task, which also asks how its message ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from dueq import _core
from dueq._forms import write_any
from dueq.inspection import End
from dueq.serializers import JSON

if TYPE_CHECKING:
    from dueq.app import App

R_co = TypeVar("R_co", covariant=True)


class TaskFailed(Exception):
    """
    The job whose result was asked for has none: it failed for good, or its message was cancelled,
    purged, or expired.
    """

    end: End
    """How the message ended: its `outcome` is dead, cancelled, purged or expired."""
    error: str
    """Of a job that failed: its last error, as the worker reported it. It may be empty."""

    def __init__(self, end: End) -> None:
        self.end = end
        self.error = end.error
        text = f"the job {end.id} failed: {end.error}"
        if end.outcome != "dead":
            word = "not delivered in its time to live" if end.outcome == "expired" else end.outcome
            text = f"the message of the job {end.id} was {word}"
        super().__init__(text)

    def __reduce__(self) -> tuple[type[TaskFailed], tuple[End]]:
        return TaskFailed, (self.end,)


class Handle(str, Generic[R_co]):
    """
    The id of a pushed task. result() and aresult() wait for what its handler returns, if the task
    was pushed with `keep`.

        handle = total.options(keep=3600).push(17)
        handle.result(timeout=10)
    """

    __slots__ = ("_app", "queue")

    _app: App
    queue: str
    """The name of the queue to which the task was pushed."""

    @classmethod
    def of(cls, app: App, queue: str, id: str) -> Handle[Any]:
        """Makes the handle of a message that is known by its id."""
        made: Handle[Any] = cls(id)
        made._app = app
        made.queue = queue
        return made

    def result(self, timeout: float | timedelta | None = 0.0) -> R_co:
        """
        Returns what the handler returned, as JSON has it; None if it returned nothing.

        timeout  seconds (or a timedelta) to wait until the job has ended, in one blocking command;
                 0: not at all; None: without end

        Raises TaskFailed, with the error of the job that failed, or the end of a message that was
        cancelled, purged, or expired. Raises TimeoutError if the job has not ended, and NotFound if
        the queue does not know the message, or not any more.
        """
        end = self._app.queue(self.queue).outcome(self, timeout)
        return cast("R_co", value_of(self, end))

    async def aresult(self, timeout: float | timedelta | None = 0.0) -> R_co:
        """result() for asyncio."""
        end = await self._app.aio_queue(self.queue).outcome(self, timeout)
        return cast("R_co", value_of(self, end))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # the app stays in its process


def value_of(id: str, end: End | None) -> Any:
    """The result of a task. Raises TaskFailed and TimeoutError."""
    if end is None:
        raise TimeoutError(f"the job {id} has not ended")
    if end.outcome != "acked":
        raise TaskFailed(end)
    return JSON.loads(end.result) if end.has_result else None


def result_bytes(value: Any) -> bytes:
    """
    The JSON of what a handler returned. Raises TypeError for a value that JSON cannot express, or
    that is larger than a result may be.
    """
    try:
        made = JSON.dumps(write_any(value))
        if len(made) > _core.MAX_RESULT:
            raise ValueError(f"it has {len(made)} bytes of JSON; {_core.MAX_RESULT} are allowed")
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the result cannot be kept: {error}") from error
    return made
