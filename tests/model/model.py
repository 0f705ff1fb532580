"""The contract of a queue as a program: what each verb does to the messages, and what it answers.

It knows nothing of a server. Times are milliseconds by one clock, and `now` is handed in. Where
core/scripts and this page differ, one of them is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["OK", "DUPLICATE", "NOT_FOUND", "LEASE_LOST", "BURIED"]
State = Literal["ready", "delayed", "leased", "dead"]

DEFAULT_LEASE_MS = 30_000
MAX_ERROR = 4096
# How often one reserve goes back for more when it met tickets of cancelled or spent messages.
ROUNDS = 5


@dataclass(frozen=True)
class Draft:
    """What a producer hands in. due_ms: not before this time; 0: at once."""

    id: str
    body: bytes
    headers: tuple[tuple[str, str], ...]
    max_attempts: int
    lease_ms: int
    due_ms: int


@dataclass(eq=False)
class Message:
    draft: Draft
    state: State = "ready"
    time_ms: int = 0  # delayed: due, leased: end of the lease, dead: when it died, ready: 0
    before: int = 0  # deliveries that have ended
    error: str = ""
    stamp: str = ""  # tells messages of one id of the caller's own apart; "": the core made the id
    created_ms: int = 0

    @property
    def attempt(self) -> int:
        """Deliveries so far, the present one included."""
        return self.before + (self.state == "leased")

    @property
    def ticket(self) -> str:
        """One delivery: the same from ready (or delayed) to leased, another after each return."""
        if self.stamp:
            return f"{self.before}.{self.stamp}:{self.draft.id}"
        return f"{self.before}:{self.draft.id}" if self.before else self.draft.id

    @property
    def spent(self) -> bool:
        return 0 < self.draft.max_attempts <= self.before

    def move(self, state: State, time_ms: int = 0) -> None:
        self.state, self.time_ms = state, time_ms


@dataclass
class Model:
    living: dict[str, Message] = field(default_factory=dict)
    # In order of delivery. A cancelled message stays until it is met, and is dropped then.
    line: list[Message] = field(default_factory=list)
    acked: int = 0

    def push(self, drafts: list[Draft], now: int) -> list[Status]:
        """A living message, in whatever state, keeps its id for itself."""
        answer: list[Status] = []
        for draft in drafts:
            if draft.id in self.living:
                answer.append("DUPLICATE")
                continue
            message = self.living[draft.id] = Message(draft)
            if draft.due_ms > now:
                message.move("delayed", draft.due_ms)
            else:
                self.line.append(message)
            answer.append("OK")
        return answer

    def reserve(self, count: int, lease_ms: int, now: int) -> list[Message]:
        """Up to `count` from the front of the line; [] only when nothing is ready."""
        self._bring_back(now)
        taken: list[Message] = []
        while self.line and not taken:
            for _ in range(ROUNDS):
                asked = count - len(taken)
                met, self.line = self.line[:asked], self.line[asked:]
                for message in met:
                    if self.living.get(message.draft.id) is not message:
                        continue
                    if message.spent:
                        message.move("dead", now)
                        continue
                    lease = lease_ms or message.draft.lease_ms or DEFAULT_LEASE_MS
                    message.move("leased", now + lease)
                    taken.append(message)
                if len(taken) == count or len(met) < asked:
                    break
        return taken

    def ack(self, tickets: list[str], now: int) -> list[Status]:
        return [self._ack(ticket, now) for ticket in tickets]

    def retry(self, ticket: str, delay_ms: int, error: str, now: int) -> Status:
        """The attempts are counted here; used up, the message is dead at once."""
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        message.before += 1
        message.error = error[:MAX_ERROR]
        if message.spent:
            message.move("dead", now)
            return "BURIED"
        if delay_ms:
            message.move("delayed", now + delay_ms)
        else:
            message.move("ready")
            self.line.append(message)
        return "OK"

    def extend(self, ticket: str, lease_ms: int, now: int) -> Status:
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        message.time_ms = now + lease_ms
        return "OK"

    def bury(self, ticket: str, reason: str, now: int) -> Status:
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        message.before += 1
        message.error = reason[:MAX_ERROR]
        message.move("dead", now)
        return "OK"

    def cancel(self, ids: list[str]) -> list[Status]:
        """From any state. Whoever holds the message has lost its lease."""
        return ["OK" if self.living.pop(id, None) else "NOT_FOUND" for id in ids]

    def find(self, id: str) -> Message | None:
        """As the last verb left it: what is due, or its lease over, waits for a reserve."""
        return self.living.get(id)

    def count(self, state: State) -> int:
        return sum(message.state == state for message in self.living.values())

    def has_work(self, now: int) -> bool:
        """Would a reserve change anything?"""
        return bool(self.line) or any(message.time_ms <= now for message in self._timed())

    def next_ms(self) -> int:
        """The first due time or end of a lease; 0: none."""
        return min((message.time_ms for message in self._timed()), default=0)

    def pass_time(self, ms: int) -> None:
        """Time passes: all that is to come comes nearer."""
        for message in self._timed():
            message.time_ms -= ms

    def _timed(self) -> list[Message]:
        return [m for m in self.living.values() if m.state in ("delayed", "leased")]

    def _held(self, ticket: str, now: int) -> Message | None:
        """A lease ends at its time, also while nobody has noticed it yet."""
        for message in self.living.values():
            if message.state == "leased" and message.ticket == ticket and message.time_ms > now:
                return message
        return None

    def _ack(self, ticket: str, now: int) -> Status:
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        del self.living[message.draft.id]
        self.acked += 1
        return "OK"

    def _bring_back(self, now: int) -> None:
        """What is due joins the line, then what came back, the earlier first, then by ticket."""
        over = sorted(
            (message for message in self._timed() if message.time_ms <= now),
            key=lambda message: (message.state, message.time_ms, message.ticket.encode()),
        )
        for message in over:
            if message.state == "leased":
                message.before += 1
            message.move("ready")
            self.line.append(message)
