"""What a queue holds and did."""

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
    """Messages that died: buried, with their attempts exhausted, or damaged."""
    outbox: int
    """Dead letters and successors on their way to other queues."""
    outbox_error: str
    """Why a message stays in the outbox: its queue, and what that answered. Empty: none does."""
    pushed: int
    """Messages stored since the queue exists."""
    reserved: int
    """Deliveries since the queue exists."""
    acked: int
    """Messages acknowledged since the queue exists."""
    retried: int
    """Messages given back by retry since the queue exists."""
    expired: int
    """Messages whose time to live ended before a delivery, since the queue exists."""
    died: int
    """Messages that died (are dead, moved or dropped) since the queue exists."""
    cancelled: int
    """Messages cancelled since the queue exists."""
    purged: int
    """Messages purged since the queue exists."""
    quarantined: int
    """Damaged entries quarantined since the queue exists."""
    next: float | None
    """The next due time or end of a lease, in seconds since 1970."""
    oldest: float | None
    """
    Since when the oldest ready message is ready, in seconds since 1970: up to a minute too early
    for one that was delayed or came back. None: none is ready.
    """
    now: float
    """The server's clock, in seconds since 1970."""
    paused: bool
    """Whether it delivers nothing until Queue.resume() is called."""
    evicting: bool
    """Whether the server may evict what it was given, unless the URL says evicting=accept."""

    @classmethod
    def from_row(cls, row: _core.CountsRow) -> Stats:
        """The counts as the core has them."""
        next_ms, oldest_ms, now_ms, paused, evicting = row[15:]
        return cls(
            *row[:15],
            next=next_ms / 1000 if next_ms else None,
            oldest=oldest_ms / 1000 if oldest_ms else None,
            now=now_ms / 1000,
            paused=bool(paused),
            evicting=bool(evicting),
        )


@dataclass(frozen=True, slots=True)
class Rate:
    """What a queue did in a time, usually a minute of the server's clock."""

    start: float
    """When it began, in seconds since 1970."""
    span: float
    """How long it is, in seconds."""
    pushed: int
    reserved: int
    acked: int
    retried: int
    expired: int
    died: int
    cancelled: int

    @classmethod
    def from_row(cls, row: _core.RateRow) -> Rate:
        """The rate as the core has it."""
        return cls(row[0] / 1000, row[1] / 1000, *row[2:])


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found of one kind."""

    kind: str
    """One word for it: "lost", "orphaned", ..."""
    text: str
    """The same for people: "messages without a ticket"."""
    wrong: bool
    """Whether it should not be. Else it is worth knowing."""
    count: int
    """How many there are."""
    mended: int
    """How many of them the check mended."""
    examples: tuple[str, ...]
    """Up to five ids, tickets, keys or texts, each cut at 120 bytes."""
