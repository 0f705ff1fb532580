"""The contract of queues as a program: what each verb does to the messages, and what it answers.

It knows nothing of a server. Times are milliseconds by one clock, and `now` is handed in. Where
core/scripts and this page differ, one of them is wrong. message.py has the words it is written in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from message import HIGH, LOW, NORMAL, STATES, Draft, Message, State

Status = Literal["OK", "DUPLICATE", "NOT_FOUND", "LEASE_LOST", "BURIED", "TAKEN"]

DEFAULT_LEASE_MS = 30_000
MAX_ERROR = 4096
BY_POLICY = -1
DID = (
    *("pushed", "reserved", "acked", "retried", "expired", "buried", "cancelled", "purged"),
    "damaged",
)
# How often one reserve goes back for more when it met tickets of cancelled or spent messages.
ROUNDS = 5


@dataclass(eq=False)
class Queue:
    name: str
    others: dict[str, Queue]  # all queues by name, this one too
    living: dict[str, Message] = field(default_factory=dict)
    # In order of delivery. A cancelled message stays until it is met, and is dropped then.
    lines: dict[int, list[Message]] = field(default_factory=lambda: {HIGH: [], NORMAL: [], LOW: []})
    unique: dict[str, int] = field(default_factory=dict)  # until when an id is refused
    locks: dict[str, tuple[str, int]] = field(default_factory=dict)  # a token, and its end
    paused: bool = False
    did: Counter[str] = field(default_factory=Counter)

    # What a producer does

    def push(self, drafts: list[Draft], now: int) -> list[Status]:
        return [self._push(draft, now) for draft in drafts]

    def _push(self, draft: Draft, now: int) -> Status:
        """A living message, in whatever state, keeps its id for itself; one gone, for its time."""
        old = self.living.get(draft.id)
        if old and draft.existing == "refuse":
            return "DUPLICATE"
        if not old and self.unique.get(draft.id, 0) > now:
            return "DUPLICATE"
        if draft.unique_ms:
            self.unique[draft.id] = now + draft.unique_ms
        expires_ms = now + draft.ttl_ms if draft.ttl_ms else 0
        if old and draft.existing == "replace_body" and self._keeps_its_place(old, draft):
            old.draft, old.expires_ms = draft, expires_ms
            return "OK"
        if old:
            self.did["cancelled"] += 1
        message = self.living[draft.id] = Message(draft, now, expires_ms)
        self.did["pushed"] += 1
        self._wait(message, draft.due_ms, now)
        return "OK"

    def _keeps_its_place(self, old: Message, draft: Draft) -> bool:
        """Its due time, its place in the line and its attempts."""
        return old.state in ("ready", "delayed") and draft.priority == old.draft.priority

    def cancel(self, ids: list[str]) -> list[State | None]:
        """From any state, which it tells. Whoever holds the message has lost its lease."""
        found = [self.living.pop(id, None) for id in ids]
        self.did["cancelled"] += sum(message is not None for message in found)
        return [message.state if message else None for message in found]

    def reschedule(self, id: str, due_ms: int, now: int) -> Status:
        message = self.living.get(id)
        if not message or message.state != "delayed":
            return "NOT_FOUND"
        self._wait(message, due_ms, now)
        return "OK"

    # What a consumer does

    def reserve(
        self, count: int, lease_ms: int, now: int, reach: str = ""
    ) -> tuple[list[Message], str]:
        """Up to `count` from the front of the lines; [] only when nothing is ready.

        `reach`: a dead-letter queue that what is at its end can move to. Where it is another one
        the call looks again with that; when it has messages to give out it leaves that to the
        client's next call of this queue, so it returns the name.
        """
        while not self.paused:
            self._bring_back(now)
            taken, reach = self._take(count, lease_ms, now, reach)
            if taken or not (reach or any(self.lines.values())):
                return taken, reach
        return [], ""

    def _take(self, count: int, lease_ms: int, now: int, reach: str) -> tuple[list[Message], str]:
        """A message at its end whose dead-letter queue is out of reach stays at the front."""
        taken: list[Message] = []
        lines = [line for _, line in sorted(self.lines.items(), reverse=True) if line]
        for _ in range(ROUNDS):
            if not lines or len(taken) == count:
                break
            line, asked, kept = lines[0], count - len(taken), []
            met, line[:] = line[:asked], line[asked:]
            for message in met:
                letter = message.draft.dead_letter
                if self.living.get(message.draft.id) is not message:
                    continue
                if message.expired(now):
                    del self.living[message.draft.id]
                    self.did["expired"] += 1
                elif message.spent and letter not in ("", self.name, reach):
                    kept.append(message)
                elif message.spent:
                    self._end(message, now)
                else:
                    lease = lease_ms or message.draft.lease_ms or DEFAULT_LEASE_MS
                    message.move("leased", now + lease)
                    taken.append(message)
            self.did["reserved"] += len(taken) - (count - asked)
            if kept:
                line[:0] = kept
                return taken, kept[-1].draft.dead_letter
            lines = [line for line in lines if line]
        return taken, ""

    def ack(self, tickets: list[str], now: int) -> list[Status]:
        return [self._ack(ticket, now) for ticket in tickets]

    def _ack(self, ticket: str, now: int) -> Status:
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        del self.living[message.draft.id]
        self.did["acked"] += 1
        return "OK"

    def ack_push(self, ticket: str, target: Queue, drafts: list[Draft], now: int) -> list[Status]:
        """Both or nothing. The message goes first: a successor may have its id."""
        [acked] = self.ack([ticket], now)
        if acked != "OK":
            return [acked] * (1 + len(drafts))
        return [acked, *target.push(drafts, now)]

    def retry(self, ticket: str, delay_ms: int, error: str, now: int) -> Status:
        """A failure. When that was its last attempt it has come to its end."""
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        message.ended += 1
        message.failures += 1
        message.error = error[:MAX_ERROR]
        self.did["retried"] += 1
        if 0 < message.draft.max_attempts <= message.failures:
            self._end(message, now)
            return "BURIED"
        least_ms = delay_ms
        if delay_ms == BY_POLICY:
            backoff = message.draft.backoff
            least_ms, delay_ms = backoff.range_ms(message.failures) if backoff else (0, 0)
        self._wait(message, now + delay_ms, now)
        message.loose_ms = delay_ms - least_ms
        return "OK"

    def letter(self, ticket: str) -> str:
        """The other queue that the message of a ticket moves to at its end."""
        letters = [m.draft.dead_letter for m in self._in("leased") if m.ticket == ticket]
        return next((name for name in letters if name != self.name), "")

    def release(self, ticket: str, delay_ms: int, now: int) -> Status:
        """Not delivered, as if it had never been given out: at the front of its line."""
        message = self._held(ticket, now)
        if not message:
            return "LEASE_LOST"
        message.ended += 1
        if delay_ms:
            message.move("delayed", now + delay_ms)
        else:
            message.move("ready")
            self.lines[message.draft.priority].insert(0, message)
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
        message.ended += 1
        message.failures += 1
        message.error = reason[:MAX_ERROR]
        self._end(message, now)
        return "OK"

    # What an operator does

    def kick(self, ids: list[str]) -> list[Status]:
        return [self._kick(self.living.get(id)) for id in ids]

    def _kick(self, message: Message | None) -> Status:
        if not message or message.state != "dead":
            return "NOT_FOUND"
        message.forgive()
        self._line_up(message)
        return "OK"

    def kick_all(self, error: str, from_ms: int, until_ms: int) -> int:
        """Those whose error contains the text, and that died from one time on, before another."""
        fitting = [
            message
            for message in self.peek("dead")
            if error in message.error
            and from_ms <= message.time_ms
            and (not until_ms or message.time_ms < until_ms)
        ]
        for message in fitting:
            self._kick(message)
        return len(fitting)

    def purge(self, state: State) -> int:
        found = self._in(state)
        for message in found:
            del self.living[message.draft.id]
        if state == "ready":
            for line in self.lines.values():
                line.clear()
        self.did["purged"] += len(found)
        return len(found)

    def pause(self) -> Status:
        """Nothing is handed out, and nothing that is due or has come back becomes ready."""
        self.paused = True
        return "OK"

    def resume(self) -> Status:
        self.paused = False
        return "OK"

    def find(self, id: str) -> Message | None:
        """As the last verb left it: what is due, or its lease over, waits for a reserve."""
        return self.living.get(id)

    def peek(self, state: State) -> list[Message]:
        """Ready: in order of delivery. The others: by their time."""
        if state != "ready":
            return sorted(self._in(state), key=by_time)
        lines = self.lines[HIGH] + self.lines[NORMAL] + self.lines[LOW]
        return [message for message in lines if self.living.get(message.draft.id) is message]

    def stats(self) -> dict[str, int]:
        return {
            **{state: len(self._in(state)) for state in STATES},
            **{name: self.did[name] for name in DID},
            "paused": int(self.paused),
            "next_ms": min((message.time_ms for message in self.timed()), default=0),
        }

    def has_work(self, now: int) -> bool:
        """Would a reserve change anything?"""
        over = any(message.time_ms <= now for message in self.timed())
        return over or any(self.lines.values())

    # Locks

    def lock(self, name: str, token: str, ttl_ms: int, now: int) -> Status:
        if name in self.locks and self.locks[name][1] > now:
            return "TAKEN"
        self.locks[name] = token, now + ttl_ms
        return "OK"

    def relock(self, name: str, token: str, ttl_ms: int, now: int) -> Status:
        if self.locks.get(name, ("", 0))[0] != token or self.locks[name][1] <= now:
            return "LEASE_LOST"
        self.locks[name] = token, now + ttl_ms
        return "OK"

    def unlock(self, name: str, token: str, now: int) -> Status:
        if self.locks.get(name, ("", 0))[0] != token or self.locks[name][1] <= now:
            return "LEASE_LOST"
        del self.locks[name]
        return "OK"

    # What they share

    def timed(self) -> list[Message]:
        """What a reserve of this queue waits for."""
        return self._in("delayed") + self._in("leased")

    def _in(self, state: State) -> list[Message]:
        return [message for message in self.living.values() if message.state == state]

    def _line_up(self, message: Message) -> None:
        message.move("ready")
        self.lines[message.draft.priority].append(message)

    def _wait(self, message: Message, due_ms: int, now: int) -> None:
        if due_ms > now:
            message.move("delayed", due_ms)
        else:
            self._line_up(message)

    def _held(self, ticket: str, now: int) -> Message | None:
        """A lease ends at its time, also while nobody has noticed it yet."""
        for message in self._in("leased"):
            if message.ticket == ticket and message.time_ms > now:
                return message
        return None

    def _end(self, message: Message, now: int) -> None:
        """As its policy says: gone, or off to its dead-letter queue, or dead."""
        draft, target = message.draft, self.others.get(message.draft.dead_letter, self)
        self.did["buried"] += 1
        if draft.drop:
            del self.living[draft.id]
        elif draft.id not in target.living:  # its own has it
            del self.living[draft.id]
            message.forgive()
            target.living[draft.id] = message
            target.did["pushed"] += 1
            target._line_up(message)
        else:
            message.move("dead", now)

    def _bring_back(self, now: int) -> None:
        """What is due joins its line, then what came back, the earlier first, then by ticket."""
        over = [message for message in self.timed() if message.time_ms <= now]
        for message in sorted(over, key=lambda m: (m.state, *by_time(m))):
            if message.state == "leased":
                message.ended += 1
                message.crashes += 1
            self._line_up(message)


def by_time(message: Message) -> tuple[int, bytes]:
    return message.time_ms, message.ticket.encode()


class Model:
    """The queues of a server."""

    def __init__(self, names: list[str]) -> None:
        self.queues: dict[str, Queue] = {}
        for name in names:
            self.queues[name] = Queue(name, self.queues)

    def pass_time(self, ms: int) -> None:
        """Time passes: all that is to come comes nearer, and what was is longer ago."""
        for queue in self.queues.values():
            queue.unique = {id: until - ms for id, until in queue.unique.items()}
            queue.locks = {name: (token, end - ms) for name, (token, end) in queue.locks.items()}
            for message in queue.living.values():
                message.time_ms -= ms * (message.state != "ready")
                message.expires_ms -= ms * bool(message.expires_ms)
