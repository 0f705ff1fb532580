"""A running job: in which thread or task, since when, and with which time limits."""

from __future__ import annotations

import asyncio
import ctypes
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from types import FrameType
from typing import Any

from dueq.app import Task
from dueq.job import Job, SoftTimeout

# A signal that nothing else uses. A time limit interrupts the main thread by it, also within a
# system call.
_INTERRUPT = signal.SIGRTMIN


class Stack:
    """Lines of code for a log."""

    def __init__(self, frames: Iterable[tuple[FrameType, int]]) -> None:
        self._lines = traceback.StackSummary.extract(iter(frames)).format()

    def __str__(self) -> str:
        return "".join(self._lines).rstrip()


class RunningJob:
    """A job in a slot. The control thread reads its state, and interrupts it."""

    def __init__(self, job: Job, task: Task[..., Any] | None) -> None:
        self.job = job
        self.since = time.monotonic()
        self.soft_at = self._limit(task.timeout if task else None)
        self.hard_at = self._limit(task.kill_after if task else None)
        self.failure: Exception | None = None
        """What the handler raised, if the job has failed for good by that."""
        self.tell_stuck: Callable[[BaseException], None]
        """
        Calls on_exhausted, when the worker gives a stuck job up and its attempts are exhausted.
        """
        self.interrupted = False
        """The soft limit is over, and SoftTimeout was raised in the handler."""
        self.abandoned = False
        """
        The hard limit is over: the worker settles the message, and waits for the job no longer.
        """
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0

    def _limit(self, seconds: float | None) -> float:
        return float("inf") if seconds is None else self.since + seconds

    @contextmanager
    def in_thread(self) -> Iterator[None]:
        """Within this block the handler runs in this thread."""
        global _in_main
        thread = threading.get_ident()
        with self._lock:
            self._thread = thread
        if threading.current_thread() is threading.main_thread():
            _in_main = self
        try:
            yield
        finally:
            if _in_main is self:
                _in_main = None
            with self._lock:
                self._thread = None
                if self.interrupted:
                    _raise_in(thread, None)

    @contextmanager
    def in_task(self) -> Iterator[None]:
        """Within this block the handler runs in this task of an event loop."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._loop_thread = threading.get_ident()
            self._task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self.interrupted and task:
                task.uncancel()
                raise SoftTimeout from None
            raise
        finally:
            with self._lock:
                self._task = None

    def interrupt(self) -> None:
        """Raises SoftTimeout in the handler, when the handler next runs Python code."""
        with self._lock:
            self.interrupted = True
            if self._task and self._loop:
                self._loop.call_soon_threadsafe(self._task.cancel)
            elif self._thread == threading.main_thread().ident and self._thread:
                signal.pthread_kill(self._thread, _INTERRUPT)
            elif self._thread:
                _raise_in(self._thread, SoftTimeout)

    def stack(self) -> Stack:
        """The stack of the handler."""
        with self._lock:
            task, thread, loop_thread = self._task, self._thread, self._loop_thread
        if task is not None:
            coroutine = task.get_coro()
            return Stack(_running(coroutine, loop_thread) or _awaiting(coroutine))
        return Stack(reversed(_frames_of(thread or 0)))


_in_main: RunningJob | None = None


def catch_interrupts() -> None:
    """Installs the handler of _INTERRUPT. The main thread calls this before any job runs."""
    signal.signal(_INTERRUPT, _interrupted)


def _interrupted(number: int, frame: FrameType | None) -> None:
    global _in_main
    if _in_main is not None and _in_main.interrupted:
        _in_main = None  # once
        raise SoftTimeout


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """
    Raises an exception in a thread, when the thread next runs Python code. None: takes back an
    exception that was not raised yet.
    """
    argument = ctypes.py_object(error) if error else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)


def _frames_of(thread: int) -> list[tuple[FrameType, int]]:
    """The frames that a thread runs now with their lines, the innermost first."""
    frame = sys._current_frames().get(thread)
    return list(traceback.walk_stack(frame)) if frame else []


def _running(coroutine: Any, thread: int) -> list[tuple[FrameType, int]]:
    """
    The frames of a coroutine that a thread runs now, the innermost last. A coroutine that runs does
    not say what it awaits. Returns [] if it does not run now.
    """
    own = getattr(coroutine, "cr_frame", None)
    inner = list(takewhile(lambda entry: entry[0] is not own, frames := _frames_of(thread)))
    return frames[len(inner) :: -1] if len(inner) < len(frames) else []


def _awaiting(coroutine: Any) -> Iterator[tuple[FrameType, int]]:
    """The frames of a suspended coroutine, the innermost last."""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None:
            yield frame, frame.f_lineno
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
