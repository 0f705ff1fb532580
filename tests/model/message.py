"""What a producer hands in, and what becomes of it: the words that model.py is written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

State = Literal["ready", "delayed", "leased", "dead", "outbox"]
Replace = Literal["refuse", "replace", "replace_body"]

STATES: list[State] = ["ready", "delayed", "leased", "dead", "outbox"]
HIGH, NORMAL, LOW = 1, 0, -1
# When others may take an entry of the outbox.
OUT_MS = 1000


@dataclass(frozen=True)
class Backoff:
    """The delay of a retry that names none."""

    kind: Literal["fixed", "linear", "exponential", "list"]
    delays_ms: tuple[int, ...]  # the base; or the list
    cap_ms: int = 0  # 0: none
    jitter: Literal["none", "full", "equal"] = "none"

    def range_ms(self, failures: int) -> tuple[int, int]:
        """The least and the most that chance makes of it."""
        base = self.delays_ms[0]
        most = {
            "fixed": base,
            "linear": base * failures,
            "exponential": base * 2 ** (failures - 1),
            "list": self.delays_ms[min(failures, len(self.delays_ms)) - 1],
        }[self.kind]
        most = min(most, self.cap_ms or most)
        return {"none": most, "full": 0, "equal": most // 2}[self.jitter], most


DEFAULT_BACKOFF = Backoff("exponential", (1000,), 3_600_000, "equal")
"""Where the producer names none."""


def escaped(group: str) -> str:
    """As tickets have it. The keys of groups are by this name, and so is their order."""
    return group.replace("%", "%25").replace(" ", "%20").replace(":", "%3A")


@dataclass(frozen=True)
class Draft:
    """due_ms: not before this time; 0: at once. Of the other numbers 0 is none, or no limit."""

    id: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    due_ms: int = 0
    max_attempts: int = 16
    max_crashes: int = 5
    lease_ms: int = 0
    priority: int = NORMAL
    group: str = ""
    ttl_ms: int = 0
    backoff: Backoff = DEFAULT_BACKOFF
    drop: bool = False
    dead_letter: str = ""
    unique_ms: int = 0
    replace: Replace = "refuse"
    keep_ms: int = 0
    batch: str = ""  # that counts its first end; batch_queue: the queue of the batch; "": its own
    batch_queue: str = ""
    counted: bool = False  # by its batch, which `batch` names no more

    @property
    def is_noted(self) -> bool:
        """The script that ends the message does more, and the tickets say so."""
        return bool(self.keep_ms or self.batch or self.counted)


@dataclass(eq=False)
class Message:
    draft: Draft
    created_ms: int
    expires_ms: int = 0  # never given out from then on; 0: never ends
    state: State = "ready"
    # delayed: due, leased: end of the lease, dead: when it died, outbox: when to be taken, ready: 0
    time_ms: int = 0
    ended: int = 0  # deliveries that have ended, in whatever way
    failures: int = 0  # those that ended by retry or bury, since the last kick
    crashes: int = 0  # those that ended with their lease, since the last kick
    error: str = ""
    stamp: str | None = None  # tells messages of one id of the caller's own apart; "": made id
    loose_ms: int = 0  # chance may have made time_ms so much less
    began_ms: int = 0  # when its last delivery began, if its end is noted; 0: none did
    is_named: bool = True  # else the server made its id, which is not seen yet

    @property
    def attempt(self) -> int:
        return self.failures + (self.state == "leased")

    @property
    def deliveries(self) -> int:
        return self.ended + (self.state == "leased")

    @property
    def ticket(self) -> str:
        """One delivery: the same from ready (or delayed) to leased, another after each return."""
        id = self.draft.id
        tag = ("!" if self.draft.is_noted else "") + (self.stamp or "")
        tag += {HIGH: "h", NORMAL: "", LOW: "l"}[self.draft.priority]
        if self.draft.group:
            tag += "=" + escaped(self.draft.group)
        if tag:
            return f"{self.ended}.{tag}:{id}"
        return f"{self.ended}:{id}" if self.ended else id

    @property
    def as_begun(self) -> str:
        """Of a message with a group: what the key `begun` has of it in the order strict."""
        own, _, group = self.ticket.partition(":")[0].partition(".")[2].partition("=")
        return f"{group}\t{own}:{self.draft.id}"

    @property
    def came_back(self) -> bool:
        return self.ended > 0

    @property
    def spent(self) -> bool:
        draft = self.draft
        return 0 < draft.max_attempts <= self.failures or 0 < draft.max_crashes <= self.crashes

    def expired(self, now: int) -> bool:
        return 0 < self.expires_ms <= now

    def move(self, state: State, time_ms: int = 0) -> None:
        self.state, self.time_ms = state, time_ms

    def forgive(self) -> None:
        self.failures = self.crashes = 0


@dataclass(eq=False)
class Entry:
    """Of an outbox: a message at its end, or a successor, and when a relay may take it."""

    target: str
    ticket: str
    message: Message
    due_ms: int  # there; 0: at once
    time_ms: int
    dead_letter: bool
    tries: int = 0  # that failed
    error: str = ""  # why it was not relayed
    # Of a note for a batch, whose id is the draft's: how members ended, and how many of them.
    note: tuple[str, int] | None = None
    is_named: bool = True  # else the server made its ticket, which is not seen yet
    state: State = "outbox"  # of a successor, which is none of the queue's messages


@dataclass(eq=False)
class Relay:
    """One that took entries of a queue, under a lease, and may die between any two of its steps."""

    queue: str
    target: str
    entries: list[Entry]
    end_ms: int
    statuses: list[str] = field(default_factory=list)  # what the other queue answered
    stage: int = 0  # 0 taken, 1 put, 2 done, 3 nothing more

    @property
    def leaves(self) -> bool:
        """An entry whose target is its own queue meets no other server."""
        return self.target != self.queue

    @property
    def is_of_notes(self) -> bool:
        return self.entries[0].note is not None
