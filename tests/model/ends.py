"""What else happens when a message ends: its end is kept, its batch counts it, its chain fails."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from batches import Batches
from layout import digits
from message import OUT_MS, Draft, Entry, Message

if TYPE_CHECKING:
    from model import Queue

Outcome = Literal["acked", "dead", "cancelled", "expired", "purged", "replaced"]

EXPIRED = "its time to live is over"
CHAIN, FAILED = "dueq-chain", "dueq-failed"


@dataclass
class End:
    outcome: Outcome
    time_ms: int
    began_ms: int  # when the last delivery began; 0: none did
    ticket: str
    is_by_known: bool  # whether the process is that ended it
    text: str | None  # of acked the result, None: none; of the others the error
    until_ms: int  # when it is forgotten; 0: with the dead message

    @property
    def deliveries(self) -> int:
        before, mark, _ = self.ticket.partition(":")
        number = int(before.partition(".")[0]) if mark else 0
        return number + (self.outcome == "acked")


@dataclass(eq=False)
class Ends:
    """Of a queue. A verb notes each end, and then writes."""

    queue: Queue
    kept: dict[str, End] = field(default_factory=dict)  # by id; also some whose time is over
    batches: Batches = field(init=False)

    def __post_init__(self) -> None:
        self.batches = Batches(self.queue)

    def note(
        self,
        message: Message,
        outcome: Outcome,
        now: int,
        text: str | None = "",
        is_by_known: bool = False,
        here: bool = False,
    ) -> None:
        """
        here: the script counts for the batches of its queue itself. A message that was replaced
        keeps no end, and its batch counts it as cancelled.
        """
        draft, began_ms = message.draft, message.began_ms
        message.began_ms = 0
        if draft.keep_ms and outcome != "replaced":
            until_ms = now + draft.keep_ms
            ticket = message.ticket
            end = End(outcome, now, began_ms, ticket, is_by_known, text, until_ms)
            self.kept[draft.id] = end
        if draft.batch:
            how = "cancelled" if outcome == "replaced" else outcome
            self.batches.note(draft, how, here)
        if draft.batch and outcome == "dead":
            message.draft = replace(draft, batch="", counted=True)

    def write(self, now: int) -> None:
        self.batches.write(now)

    def outcome(self, id: str, now: int) -> End | None:
        """How the message of the id ended. Ends a message whose time is over."""
        message = self.queue.find(id)
        if message and message.state in ("ready", "delayed"):
            if not (message.draft.keep_ms and message.expired(now)):
                return None
            self.queue.expire(message, now)
            self.write(now)
            message = None
        if message and message.state == "leased":
            return None
        end = self.kept.get(id)
        if end and end.until_ms > now:
            return end
        if message and message.state == "dead":
            return End("dead", message.time_ms, 0, message.ticket, False, message.error, 0)
        return None

    def fail_chain(self, message: Message, error: str, now: int) -> None:
        """A link of a chain tells the queue of the chain's `catch`, which may be its own."""
        headers, id, own = dict(message.draft.headers), message.draft.id, self.queue.name
        chain = headers.get(CHAIN, "")
        target, mark, _ = chain.partition("\n")
        if not (target and mark):
            return
        key = f"dueq:{{{own}}}:msg{message.ticket}"
        told = ((CHAIN, chain), (FAILED, f"{id}\n{own}\n{error}"))
        put = Message(Draft(made_of(now, key), headers=told), now, stamp="", is_named=False)
        entry = made_of(now, "entry" + key)
        self.queue.send(Entry(target, entry, put, now, now + OUT_MS, False, is_named=False))

    def pass_time(self, ms: int) -> None:
        for end in self.kept.values():
            end.time_ms -= ms
            end.began_ms -= ms * bool(end.began_ms)
            end.until_ms -= ms
        self.batches.pass_time(ms)


def made_of(ms: int, text: str) -> str:
    """As an id that the core makes, but of the time and a hash."""
    return digits(ms << 80 | int(hashlib.sha1(text.encode()).hexdigest()[:20], 16), 22)
