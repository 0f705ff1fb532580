"""The parent of --pool processes: starts children, and replaces those that end."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

from dueq.worker import exit_codes, process
from dueq.worker.channel import Channel
from dueq.worker.command import Settings
from dueq.worker.control_thread import TICK_S
from dueq.worker.logs import log
from dueq.worker.notify import Notifier
from dueq.worker.signals import HANDLED, Signals

# A child that ends within this time is replaced after a pause, which doubles each time.
_AT_ONCE_S = 5.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
# The parent kills a child this long after the child should have ended by itself.
_KILL_AFTER_S = 5.0


class Child:
    """The place of one child: the process that runs there now, or when the next one starts."""

    def __init__(self) -> None:
        self.pid = 0
        self.channel: Channel | None = None
        self.began = 0.0
        self.due = 0.0
        self.pause = 0.0

    def ended(self, now: float, clean: bool) -> None:
        """Plans the next process: at once, or after a pause if this one ended at once."""
        self.pid = 0
        lived = now - self.began
        if lived >= (1.0 if clean else _AT_ONCE_S):
            self.pause = 0.0
        else:
            self.pause = min(2 * self.pause or _FIRST_PAUSE_S, _LONGEST_PAUSE_S)
        self.due = now + self.pause


class Supervisor:
    """Starts, watches and replaces the children. Only the children import the app."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._signals = Signals()
        self._notifier = Notifier()
        # Nobody writes to this pipe. The children can read its end when the parent has ended.
        self._alive, self._held = os.pipe()
        self._children = [Child() for _ in range(settings.concurrency)]
        self._quiet = False
        self._stopping = False
        self._stop_by = float("inf")
        self._code = exit_codes.OK
        self._ready = False

    def run(self) -> tuple[int, Channel | None]:
        """Returns the exit code and None; in a child 0 and the child's channel."""
        log.info("parent %d of %d processes", os.getpid(), len(self._children))
        while True:
            for child in self._children:
                due = not child.pid and time.monotonic() >= child.due
                if due and not self._stopping and self._fork(child):
                    return 0, child.channel
            numbers, _ = self._signals.wait(TICK_S)
            for number in numbers:
                self._signal(number)
            for child in self._children:
                self._look_after(child)
            if self._stopping and not any(child.pid for child in self._children):
                return self._code, None
            self._tell()

    def _fork(self, child: Child) -> bool:
        """Starts a child. Returns True in the child."""
        is_first = child is self._children[0] and not child.began
        child.channel = Channel(self._alive, self._quiet, is_first)
        child.began = time.monotonic()
        # As long as the child has the parent's handlers, a signal that it gets would wake the
        # parent.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
        child.pid = os.fork()
        if child.pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return False
        os.close(self._held)
        # In a process group of its own the child gets no signals from the terminal. The parent
        # passes them on.
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in HANDLED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return True

    def _signal(self, number: int) -> None:
        if number == signal.SIGCHLD:
            return
        if number in (signal.SIGTERM, signal.SIGINT):
            if self._stopping:
                self._code = exit_codes.ABORTED + number
            self._stop(self._code, signal.Signals(number).name)
            return
        if number in (signal.SIGTSTP, signal.SIGCONT):
            self._quiet = number == signal.SIGTSTP
        self._send(number)

    def _stop(self, code: int, why: str) -> None:
        if not self._stopping:
            log.info("%s: stops %d processes", why, sum(child.pid > 0 for child in self._children))
            self._notifier.say("STOPPING=1")
        self._stopping = True
        self._code = code
        self._stop_by = time.monotonic() + self._settings.grace + _KILL_AFTER_S
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        for child in self._children:
            if child.pid:
                os.kill(child.pid, number)

    def _look_after(self, child: Child) -> None:
        if not child.pid:
            return
        now = time.monotonic()
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            self._replace(child, now, os.waitstatus_to_exitcode(status))
        elif now >= self._stop_by:
            self._kill(child, "it did not end within the grace")
        elif child.channel and 0 < child.channel.hard_at <= now - _KILL_AFTER_S:
            self._kill(child, "its job is over its hard limit")

    def _kill(self, child: Child, why: str) -> None:
        log.error("process %d is killed: %s", child.pid, why)
        os.kill(child.pid, signal.SIGKILL)

    def _replace(self, child: Child, now: float, code: int) -> None:
        pid = child.pid
        child.ended(now, code == exit_codes.OK)
        if self._stopping:
            return
        was_ready = child.channel is not None and child.channel.ready
        if code == exit_codes.USAGE and not was_ready:
            self._stop(exit_codes.USAGE, "the command line is wrong")
            return
        if code == exit_codes.FAILED and not (was_ready or self._ready):
            self._stop(exit_codes.FAILED, "it cannot start")
            return
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        after = f" in {child.pause:g} s" if child.pause else ""
        tell = log.info if code == exit_codes.OK else log.error
        tell("process %d %s, and is replaced%s", pid, how, after)

    def _tell(self) -> None:
        if not self._ready and all(
            child.channel and child.channel.ready for child in self._children
        ):
            self._ready = True
            self._notifier.say("READY=1")
        self._notifier.alive()


def run(settings: Settings) -> int:
    """Runs the parent, and in each child a worker process. Returns the exit code."""
    code, channel = Supervisor(settings).run()
    if channel is None:
        return code
    code = process.run(replace(settings, concurrency=1), channel)
    return exit_codes.OK if code == process.RELOAD else code
