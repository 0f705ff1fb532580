"""The pushes in flight, which the pushers of dueq and of dueq.aio share."""

from __future__ import annotations

import os
import warnings

from dueq import _core
from dueq._link import Link
from dueq._log import log
from dueq.draft import id_of
from dueq.errors import Error


class Push:
    """A push, returned by Pusher.push() while it may still be in flight."""

    __slots__ = ("__weakref__", "done", "error", "id")

    id: str | None
    """The message's id. None: dueq makes the id, and the push is not done yet or has failed."""
    error: Error | None
    """
    Why the push failed: dueq.Duplicate, dueq.NotDurable (the message is stored), or as
    Queue.push().
    """
    done: bool
    """Whether the outcome is known: the message is stored, or `error` is set."""

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.error = None
        self.done = False

    def __repr__(self) -> str:
        outcome = repr(self.error) if self.error else "stored" if self.done else "in flight"
        return f"<Push {self.id or 'without an id'} {outcome}>"


class InFlight:
    """The pushes in flight on one link."""

    def __init__(self, link: Link, queue: str, most: int) -> None:
        self.queue = queue
        self.pid = os.getpid()
        self.link = link
        self.failed: list[Push] = []
        self._pusher = _core.pusher_open(link.queues[queue], most)
        self._count = 0

    def push(self, row: _core.DraftRow) -> Push | None:
        """Queues a push. None: too many are in flight."""
        push = Push(id_of(row) or None)
        if _core.pusher_push(self._pusher, (row,), push) == _core.PENDING:
            return None
        self._count += 1
        if not self._count % _core.MAX_BATCH:
            self.collect()
        return push

    def collect(self) -> int:
        """Marks the pushes that are done. Returns how many are not."""
        while (failed := _core.pusher_done(self._pusher)) is not None:
            self.failed += failed
        return _core.pusher_left(self._pusher)

    def land(self) -> None:
        """Waits until all pushes are done."""
        while self.collect():
            self.link.wait()

    def left(self) -> int:
        """How many pushes are not known to be done."""
        return _core.pusher_left(self._pusher)

    def log_failed(self) -> None:
        """Logs the pushes that have failed since the last call."""
        try:
            self.raise_failed()
        except ExceptionGroup as failure:
            log_failed(failure)

    def raise_failed(self) -> None:
        """Raises the errors of pushes that have failed since the last call, if there are any."""
        failed, self.failed = self.failed, []
        errors = []
        for push in failed:
            assert push.error
            push.error.add_note(f"of the push of {push.id or 'a message without an id'}")
            errors.append(push.error)
        if errors:
            raise ExceptionGroup("pushes failed", errors)


def warn_of_forgotten(pusher: object, queue: str, left: int) -> None:
    """Warns that the program dropped a pusher without closing it, with pushes in flight."""
    warnings.warn(
        f"a pusher of {queue} was not closed, with {left} pushes in flight: end it by a with "
        "block or close()",
        ResourceWarning,
        stacklevel=2,
        source=pusher,
    )


def log_failed(failure: Exception) -> None:
    """Logs errors of pushes, where another exception is raised instead."""
    failures = failure.exceptions if isinstance(failure, ExceptionGroup) else (failure,)
    for error in failures:
        notes = getattr(error, "__notes__", ())
        log.warning("a push failed: %s", " ".join([str(error), *notes]))
