"""An app: the tasks that producers push and workers run."""

from __future__ import annotations

import copy
import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload
from weakref import WeakKeyDictionary

from dueq._arguments import Arguments
from dueq._gaps import Unknown, gaps_of, refuse_gaps
from dueq._routes import Routes, read_routes
from dueq.blocking.queue import Queue
from dueq.draft import Options, TaskDraft, refuse_unknown, row
from dueq.errors import InvalidError, NotFound
from dueq.handle import Handle, value_of
from dueq.job import Job, JobMessage
from dueq.serializers import (
    JSON,
    RESERVED,
    SERIALIZER,
    TASK,
    Serializer,
    UnknownTask,
    checked_name,
    unique_id,
)
from dueq.task_schedule import TaskSchedule, checked_label, label_of, row_of, task_schedule
from dueq.times import limit_ms

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from typing import TypeAlias, Unpack

    from dueq import aio
    from dueq.schedule import Catchup

    QueueHandler: TypeAlias = Callable[[JobMessage], object]
    Kinds: TypeAlias = type[Exception] | Iterable[type[Exception]] | None
    Hook: TypeAlias = Callable[[Job, BaseException], object]

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=Callable[[Job, Callable[[], Any]], Any])
H = TypeVar("H", bound="QueueHandler")
F = TypeVar("F", bound=Callable[[], object])

# json is not an option of a task: its arguments are the body.
_OF_PUSH = ("queue", *(name for name in Options.__annotations__ if name != "json"))
_OF_TASK = (*_OF_PUSH, *("timeout", "kill_after", "serializer", "retry_on", "fail_on"))
_NOT_SCHEDULED = {"delay", "at", "id", "unique", "replace"}
_HARD_AFTER = 10.0  # seconds after the soft limit


class Task(Generic[P, R]):
    """
    A task of an app, made by App.task(). Calling it runs its handler, without a queue.

        send_receipt.push(17)
        send_receipt.options(delay=60).push(17, copy=True)
    """

    __name__: str

    def __init__(
        self,
        app: App,
        handler: Callable[P, R],
        name: str,
        queue: str,
        timeout: float | None,
        kill_after: float | None,
        serializer: Serializer,
        options: Options,
        retry_on: Kinds = None,
        fail_on: Kinds = None,
        on_exhausted: Hook | None = None,
        schedule: TaskSchedule | None = None,
    ) -> None:
        functools.update_wrapper(self, handler)
        self.app = app
        self.handler = handler
        self.name = name
        self.queue = queue
        self.timeout = timeout
        """Seconds after which SoftTimeout is raised in the handler; None: no limit."""
        self.kill_after = kill_after
        """Seconds after which the worker gives the job up; None: no limit."""
        self.on_exhausted = on_exhausted
        """Called when a job has failed for good; None: the app's hook is called."""
        self.schedule = schedule
        """When the workers of the app push the task by themselves; None: never."""
        self._retry_on = None if retry_on is None else _kinds(retry_on, "retry_on")
        self._fail_on = () if fail_on is None else _kinds(fail_on, "fail_on")
        self._serializer = serializer
        self._options = options
        # Copies of the task have the same object.
        self.arguments = Arguments(handler, f"task {name}", known=handler is not _nowhere)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.handler(*args, **kwargs)

    def push(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """
        Pushes the task with these arguments, and returns the message's id, which is also a handle
        of its result. Waits, and raises exceptions, as Queue.push(). Also raises TypeError for
        arguments that the handler does not take, and TypeError or InvalidError for arguments that
        the serializer cannot encode, or that the handler's annotations cannot read.
        """
        body, options = self._message(args, kwargs)
        id = self.app.queue(self.queue).push(body, **options)
        return Handle.of(self.app, self.queue, id)

    async def apush(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """push() for asyncio."""
        body, options = self._message(args, kwargs)
        id = await self.app.aio_queue(self.queue).push(body, **options)
        return Handle.of(self.app, self.queue, id)

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> TaskDraft:
        """
        Makes the message without pushing it: for dueq.chain(), Job.push(), Message.ack(push=[...])
        or Queue.push_many(). Raises as push() for wrong arguments. In a chain, dueq.PREVIOUS and
        dueq.FAILURE may stand for arguments.
        """
        gaps = gaps_of(args, kwargs)
        body, options = self._message(args, kwargs, gaps)
        return TaskDraft(body, queue=self.queue, app=self.app, gaps=gaps, **options)

    def options(self, *, queue: str | None = None, **options: Unpack[Options]) -> Task[P, R]:
        """
        Returns a copy of the task with other options: those of dueq.Draft (delay, at, id and
        others), and the queue. They replace those of App.task(). Raises TypeError for an option
        that does not exist, and InvalidError for a wrong value.
        """
        other = copy.copy(self)
        other.queue = queue or self.queue
        other._options = {**self._options, **_checked(options, _OF_PUSH)}
        return other

    def is_final(self, error: BaseException) -> bool:
        """Whether a job that raises this error has failed for good, by retry_on or fail_on."""
        retried = self._retry_on is None or _is_of(error, self._retry_on)
        return not retried or _is_of(error, self._fail_on)

    def __repr__(self) -> str:
        return f"<Task {self.name} of queue {self.queue}>"

    def _message(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], gaps: Unknown | None = None
    ) -> tuple[bytes, Options]:
        """gaps: the arguments that are not known yet; None: all have to be known."""
        if gaps is None:
            refuse_gaps(gaps_of(args, kwargs))
        if gaps and self._serializer is not JSON:
            raise InvalidError(
                f"task {self.name}: {gaps[0][1]!r}: only the serializer json has such arguments, "
                f"not {self._serializer.name}"
            )
        body = self.arguments.body(self._serializer, args, kwargs)
        options = self._options.copy()
        headers = {**(options.get("headers") or {}), TASK: self.name}
        if self._serializer is not JSON:
            headers[SERIALIZER] = self._serializer.name
        options["headers"] = headers
        if options.get("unique") is not None and options.get("id") is None:
            if gaps:
                raise InvalidError(
                    f"task {self.name}: unique: not all arguments are known, so give it an id: "
                    ".options(id=...)"
                )
            options["id"] = unique_id(self.name, body)
        return body, options


class App:
    """
    Tasks by their names, and the settings with which a worker runs them.

    url           as for dueq.Queue
    name          of the app, 1 to 64 characters without blanks and @: who has declared the
                  schedules of its tasks. Each program has a name of its own
    release       which version of the program this is, as "v42" or a commit: 1 to 64 characters
                  without blanks and @; None: $DUEQ_RELEASE, else a digest of all its schedules.
                  A release that was replaced does not declare schedules for an hour
    serializers   further serializers, for tasks that name them; JSON is always known
    partitions    the number of partitions of each queue that has partitions, by the queue's name;
                  as for dueq.Queue
    routes        the queue of each task that is not to go to its own one: {"send_receipt": "mail"},
                  or a file with this as JSON, or the URL of one (http, https). None: $DUEQ_ROUTES
                  names the file or the URL, if it is set. `queue` of a push is stronger
    on_exhausted  a function, or a coroutine function, which the worker calls once with the Job and
                  the exception when a job has failed for good and its message is settled. The
                  worker logs what it raises. Not called for a message that dies by crashes or by
                  its ttl

        app = dueq.App()

        @app.task(queue="mail", max_attempts=10, timeout=60)
        def send_receipt(order: int, copy: bool = False) -> None: ...

        send_receipt.push(17)

    `dueq-worker module:app` runs them. Raises InvalidError if two serializers have one name, or if
    the routes cannot be read.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        name: str | None = None,
        release: str | None = None,
        serializers: Iterable[Serializer] = (),
        partitions: Mapping[str, int] | None = None,
        routes: Routes | None = None,
        on_exhausted: Hook | None = None,
    ) -> None:
        for what, text in (("name", name), ("release", release)):
            if text is not None:
                checked_label(what, text)
        self.url = url
        self.name = name
        self._release = release
        self.start_hooks: list[Callable[[], object]] = []
        self.stop_hooks: list[Callable[[], object]] = []
        self.routes = read_routes(routes)
        self.on_exhausted = on_exhausted
        self.partitions = dict(partitions or {})
        self.tasks: dict[str, Task[..., Any]] = {}
        self.queue_handlers: dict[str, Arguments] = {}
        self.serializers: dict[str, Serializer] = {JSON.name: JSON}
        self.plain_middleware: list[Callable[[Job, Callable[[], Any]], Any]] = []
        self.async_middleware: list[
            Callable[[Job, Callable[[], Awaitable[Any]]], Awaitable[Any]]
        ] = []
        self._own_queues: list[str] = []
        self._queues: dict[str, Queue] = {}
        self._aio_queues: WeakKeyDictionary[AbstractEventLoop, dict[str, aio.Queue]] = (
            WeakKeyDictionary()
        )
        for serializer in serializers:
            if serializer.name in self.serializers:
                raise InvalidError(f"serializers: two are named {serializer.name}")
            self.serializers[checked_name(serializer.name)] = serializer

    @overload
    def task(self, handler: Callable[P, R], /) -> Task[P, R]: ...
    @overload
    def task(
        self,
        name: str | None = None,
        /,
        *,
        queue: str = "default",
        timeout: float | timedelta | None = None,
        kill_after: float | timedelta | None = None,
        serializer: str = JSON.name,
        retry_on: Kinds = None,
        fail_on: Kinds = None,
        on_exhausted: Hook | None = None,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        catchup: Catchup = "once",
        **options: Unpack[Options],
    ) -> Callable[[Callable[P, R]], Task[P, R]]: ...
    def task(
        self,
        name: str | Callable[P, R] | None = None,
        /,
        *,
        queue: str = "default",
        timeout: float | timedelta | None = None,
        kill_after: float | timedelta | None = None,
        serializer: str = JSON.name,
        retry_on: Kinds = None,
        fail_on: Kinds = None,
        on_exhausted: Hook | None = None,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        catchup: Catchup = "once",
        **options: Unpack[Options],
    ) -> Task[P, R] | Callable[[Callable[P, R]], Task[P, R]]:
        """
        Decorator: makes a function, or a coroutine function, a task.

        name          by which every language pushes the task, 1 to 255 bytes; None: the function's
                      name
        queue         the queue to which the task is pushed, unless the app's routes name another
        timeout       seconds (or a timedelta), more than 0, after which SoftTimeout is raised in
                      the handler; None: no limit
        kill_after    seconds (or a timedelta), `timeout` at least, after which the worker gives the
                      job up and ends its process; None: 10 seconds after the timeout, or no limit
                      without a timeout
        serializer    the name of one of the app's serializers
        retry_on      a class of exceptions, or several: a job that raises any other exception has
                      failed for good, as by Job.fail(). None: all exceptions are retried
        fail_on       a class of exceptions, or several: a job that raises one has failed for good,
                      even if retry_on names a base class
        on_exhausted  a function, or a coroutine function, as for App: replaces the app's hook for
                      this task
        cron          when the app's workers push the task by themselves, without arguments: an
                      expression as for Queue.schedule(), such as "30 2 * * mon-fri"
        every         the same as an interval: seconds (or a timedelta), 1 at least
        tz            the time zone of cron, such as "Europe/Berlin"
        catchup       for cron and every, as for Queue.schedule()
        options       those of dueq.Draft, for each push: max_attempts, backoff, unique and others.
                      With `unique` and no id, the id is made of the task's name and arguments

        Raises InvalidError if the app has a task of this name already or a value is wrong, and
        TypeError for an option that does not exist.
        """
        if callable(name):
            return self.task()(name)
        if serializer not in self.serializers:
            raise InvalidError(
                f"serializer: {serializer!r} is not one of {_listed(self.serializers)}"
            )
        soft, hard = limit_ms(timeout, "timeout"), limit_ms(kill_after, "kill_after")
        if soft and hard and hard < soft:
            raise InvalidError("kill_after: must not be below the timeout")
        _checked(options, _OF_TASK)
        times = task_schedule(cron, every, tz, catchup)
        hard_s = hard / 1000 if hard else soft / 1000 + _HARD_AFTER if soft else None

        def make(handler: Callable[P, R]) -> Task[P, R]:
            own = checked_name(handler.__name__ if name is None else name)
            if own in self.tasks:
                raise InvalidError(f"the app has a task named {own} already")
            task = Task(
                self,
                handler,
                own,
                self.routes.get(own, queue),
                soft / 1000 if soft else None,
                hard_s,
                self.serializers[serializer],
                options,
                retry_on,
                fail_on,
                on_exhausted,
                times,
            )
            if times:
                self._check_schedule(task)
            self.tasks[own] = task
            self._own_queues.append(queue)
            return task

        return make

    def _check_schedule(self, task: Task[..., Any]) -> None:
        if not self.name:
            raise InvalidError(
                f"task {task.name}: cron, every: the app has no name, by which dueq schedule prune "
                'finds the schedules of an app: dueq.App(name="shop")'
            )
        given = sorted(_NOT_SCHEDULED.intersection(task._options))
        if given:
            raise InvalidError(
                f"task {task.name}: {_listed(given)}: the schedule gives each push its id and time"
            )
        try:
            row_of(task, "", "")
        except TypeError as error:
            raise TypeError(f"{error}; cron and every push the task without arguments") from None

    @property
    def scheduled(self) -> list[Task[..., Any]]:
        """The tasks that have a schedule."""
        return [task for task in self.tasks.values() if task.schedule]

    @property
    def release(self) -> str:
        """The label of this release. Raises InvalidError if $DUEQ_RELEASE is no label."""
        return label_of(self._release, self.scheduled)

    def on_start(self, hook: F) -> F:
        """
        Decorator: each worker process calls the function, or awaits the coroutine function, once,
        before it takes messages; several in the order in which they were added. If it raises, the
        worker ends with the exit code 1.
        """
        self.start_hooks.append(hook)
        return hook

    def on_stop(self, hook: F) -> F:
        """
        Decorator: each worker process that has called all functions of on_start() calls the
        function, or awaits the coroutine function, once, when its jobs have ended and it is about
        to end; several in the order in which they were added. The worker logs what it raises. Not
        called if the process is killed, or its grace ends before.
        """
        self.stop_hooks.append(hook)
        return hook

    def push(
        self,
        name: str,
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        queue: str | None = None,
        **options: Unpack[Options],
    ) -> Handle[Any]:
        """
        Pushes a task by its name, such as a task whose handler is in another program or language.
        Returns the message's id, which is also a handle of its result.

        name     1 to 255 bytes of UTF-8 without control characters
        args     arguments of the handler, by position
        kwargs   arguments of the handler, by name
        queue    None: that of the app's routes or of its task of this name, else "default"
        options  those of dueq.Draft: they replace those of the app's task of this name

            app.push("send_receipt", [17], {"copy": True}, queue="mail", delay=60)

        Raises as Task.push().
        """
        return self._by_name(name, queue, options).push(*_plain(args), **(kwargs or {}))

    async def apush(
        self,
        name: str,
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        queue: str | None = None,
        **options: Unpack[Options],
    ) -> Handle[Any]:
        """push() for asyncio."""
        return await self._by_name(name, queue, options).apush(*_plain(args), **(kwargs or {}))

    def result(
        self, id: str, timeout: float | timedelta | None = 0.0, *, queue: str | None = None
    ) -> Any:
        """
        Returns what the handler of a task returned that was pushed with `keep`, by any program in
        any language, as Handle.result().

        id     the id of the task's message
        queue  the queue to which it was pushed; None: the queues of the app's tasks are asked one
               after the other
        """
        for name in () if queue else self.queue_names:
            try:
                end = self.queue(name).outcome(id)
            except NotFound:
                continue
            if end:
                return value_of(id, end)
            queue = name
            break
        if not queue:
            raise NotFound(f"no queue of the app knows the message {id}, or not any more")
        return self.handle(id, queue).result(timeout)

    async def aresult(
        self, id: str, timeout: float | timedelta | None = 0.0, *, queue: str | None = None
    ) -> Any:
        """result() for asyncio."""
        for name in () if queue else self.queue_names:
            try:
                end = await self.aio_queue(name).outcome(id)
            except NotFound:
                continue
            if end:
                return value_of(id, end)
            queue = name
            break
        if not queue:
            raise NotFound(f"no queue of the app knows the message {id}, or not any more")
        return await self.handle(id, queue).aresult(timeout)

    def handle(self, id: str, queue: str) -> Handle[Any]:
        """The handle of a task's message that was pushed to this queue."""
        return Handle.of(self, queue, id)

    def draft(
        self,
        name: str,
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        queue: str | None = None,
        **options: Unpack[Options],
    ) -> TaskDraft:
        """
        Makes the message without pushing it, as Task.draft(). The parameters are those of push().
        """
        return self._by_name(name, queue, options).draft(*_plain(args), **(kwargs or {}))

    def _by_name(self, name: str, queue: str | None, options: Options) -> Task[..., Any]:
        known = self.tasks.get(name)
        if known is None:
            there = self.routes.get(checked_name(name), "default")
            known = Task(self, _nowhere, name, there, None, None, JSON, {})
        return known.options(queue=queue, **options)

    def on(self, queue: str) -> Callable[[H], H]:
        """
        Decorator: makes a function, or a coroutine function, the handler of a queue's messages that
        are not tasks. It gets the message to read. The worker settles the message, as that of a
        task.

        Raises InvalidError if the queue has a handler already.
        """
        if queue in self.queue_handlers:
            raise InvalidError(f"the app has a handler of the queue {queue} already")

        def make(handler: H) -> H:
            self.queue_handlers[queue] = Arguments(handler, f"handler of the queue {queue}")
            return handler

        return make

    def middleware(self, function: M) -> M:
        """
        Decorator: runs a function around each job. It gets the Job and `call_next`, calls
        `call_next()`, and returns its result. A coroutine function awaits `call_next()`.

            @app.middleware
            def timed(job, call_next):
                start = time.monotonic()
                try:
                    return call_next()
                finally:
                    print(job.task, time.monotonic() - start)

        The first function that is added is the outermost. Plain functions are outside of coroutine
        functions.
        """
        if iscoroutinefunction(function):
            self.async_middleware.append(function)
        else:
            self.plain_middleware.append(function)
        return function

    def queue(self, name: str) -> Queue:
        """The queue of this name, the same object each time."""
        return self._queues.get(name) or self._queues.setdefault(name, self.new_queue(name))

    def aio_queue(self, name: str) -> aio.Queue:
        """The queue of this name for the running event loop, the same object each time."""
        # A program that pushes only by blocking calls need not load asyncio.
        import asyncio

        queues = self._aio_queues.setdefault(asyncio.get_running_loop(), {})
        return queues.get(name) or queues.setdefault(name, self.new_aio_queue(name))

    def new_queue(self, name: str) -> Queue:
        """Makes a queue, with the partitions that the app sets."""
        return Queue(name, self.url, partitions=self.partitions.get(name))

    def new_aio_queue(self, name: str) -> aio.Queue:
        """Makes a queue for asyncio, as new_queue()."""
        from dueq import aio

        return aio.Queue(name, self.url, partitions=self.partitions.get(name))

    @property
    def queue_names(self) -> tuple[str, ...]:
        """
        The queues of all tasks and handlers of this app, each once. A task with a route has two: in
        its own one messages of earlier pushes may wait.
        """
        routed = (task.queue for task in self.tasks.values())
        names = [*routed, *self._own_queues, *self.queue_handlers]
        return tuple(dict.fromkeys(names))

    @property
    def task_names(self) -> str | None:
        """The names of all tasks that a worker of this app knows, each in a line; None: unknown."""
        return "\n".join(self.tasks) or None

    def queue_handler(self, name: str) -> Arguments | None:
        """
        The handler for messages of a queue, or a partition, that are not tasks; None: there is
        none.
        """
        return self.queue_handlers.get(self.whole_of(name))

    def whole_of(self, name: str) -> str:
        """The queue to which a partition belongs; the name of any other queue as it is."""
        whole = name.rpartition("#")[0]
        return whole if whole in self.partitions else name

    def named(self, name: str) -> Task[..., Any]:
        """The task of this name. Raises UnknownTask if the app has none."""
        task = self.tasks.get(name)
        if task is None:
            raise UnknownTask(f"there is no task {name!r} here; there are {_listed(self.tasks)}")
        return task

    def serializer_of(self, headers: Mapping[str, str]) -> Serializer:
        """
        The serializer that the headers of a task name. Raises UnknownTask if the app has none.
        """
        name = headers.get(SERIALIZER, JSON.name)
        serializer = self.serializers.get(name)
        if serializer is None:
            known = _listed(self.serializers)
            raise UnknownTask(f"there is no serializer {name!r} here; there are {known}")
        return serializer

    def __repr__(self) -> str:
        return f"<App with {len(self.tasks)} tasks>"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _checked(options: Options, known: Iterable[str]) -> Options:
    """
    Returns the options. Raises TypeError or InvalidError for options that no push of the task could
    have.
    """
    refuse_unknown(options, known)
    taken = RESERVED.intersection(options.get("headers") or ())
    if taken:
        raise InvalidError(f"headers: a push cannot set {_listed(taken)}: the task sets it")
    row(b"", options)
    return options


def _is_of(error: BaseException, kinds: tuple[type[Exception], ...]) -> bool:
    """Whether the error is of one of these classes, or is a group that contains such an error."""
    if isinstance(error, BaseExceptionGroup) and error.subgroup(kinds) is not None:
        return True
    return isinstance(error, kinds)


def _kinds(
    kinds: type[Exception] | Iterable[type[Exception]], name: str
) -> tuple[type[Exception], ...]:
    named = (kinds,) if isinstance(kinds, type) else tuple(kinds)
    for kind in named:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise TypeError(f"{name}: {kind!r} is not a class of exceptions")
    return named


def _plain(args: Iterable[object]) -> Iterable[object]:
    if isinstance(args, (str, bytes, Mapping)):
        raise TypeError(f"args: a list of arguments is required, not one {type(args).__name__}")
    return args


def _nowhere(*args: Any, **kwargs: Any) -> Any:
    """The handler of a task that is pushed by its name alone."""
    raise NotImplementedError("the handler of this task is not in this program")
