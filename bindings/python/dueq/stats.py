"""What a queue holds."""

from __future__ import annotations

from dataclasses import dataclass

from dueq import _core


@dataclass(frozen=True, slots=True)
class Stats:
    """A queue counted by the server at one moment."""

    ready: int
    """Messages that wait for a consumer."""
    delayed: int
    """Messages that wait for their due time."""
    leased: int
    """Messages that a consumer holds."""
    dead: int
    """Messages buried, or with their attempts used up, or damaged."""
    acked: int
    """Messages acknowledged since the queue exists."""
    cancelled: int
    """Messages cancelled since the queue exists."""
    purged: int
    """Messages purged since the queue exists."""
    damaged: int
    """Entries set aside as damaged since the queue exists."""
    next: float | None
    """The next due time or end of a lease, in seconds since 1970."""
    now: float
    """The server's clock, in seconds since 1970."""
    paused: bool
    """Whether it hands nothing out until Queue.resume() is called."""

    @classmethod
    def from_row(cls, row: _core.CountsRow) -> Stats:
        """The counts as the core has them."""
        next_ms, now_ms, paused = row[8:]
        soonest = next_ms / 1000 if next_ms else None
        return cls(*row[:8], next=soonest, now=now_ms / 1000, paused=bool(paused))
