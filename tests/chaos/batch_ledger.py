"""
What the ledgers of a chaos run say of messages whose ends are kept, and of batches. README.md says
what their lines are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ALIVE = "alive"  # an outcome: the message had not ended
ABSENT = "absent"  # the queue did not know the message, or not any more
# Ends are kept for so long: the long time is over after each run. Members of batches have it.
LONG_MS, SHORT_MS = 86_400_000, 3000


@dataclass(slots=True)
class Ack:
    """An ack of a message whose end is kept, in one delivery."""

    number: int
    begin: int
    result: str  # -: none
    done: int = 0  # when it was answered; 0: the caller got no answer


@dataclass(slots=True)
class Asked:
    """What a process was told that asked how a message had ended."""

    begin: int
    end: int
    wait: int  # ms, at most
    outcome: str
    result: str
    worker: str


@dataclass(slots=True)
class Kept:
    """A message whose end is kept."""

    batch: str = "-"  # the one whose member it is
    queue: str = ""
    keep: int = 0
    begin: int = 0  # of its push; 0: no push is known
    stored: int = 0  # when the push was answered; 0: the caller got no answer
    acks: list[Ack] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    final: Asked | None = None  # when all had ended


@dataclass(slots=True)
class Call:
    """A delivery of a callback."""

    id: str
    number: int
    time: int
    queue: str
    answered: int = 0  # when its ack was answered; 0: nobody knows


@dataclass(slots=True)
class Batch:
    queue: str = ""
    begin: int = 0  # of its opening; 0: no opening is known
    opened: int = 0  # when the opening was answered; 0: nobody knows
    calls: dict[str, list[Call]] = field(default_factory=dict)  # by callback


@dataclass
class KeptFacts:
    messages: dict[str, Kept] = field(default_factory=dict)  # by id
    batches: dict[str, Batch] = field(default_factory=dict)  # by id
    # Of each queue the times in which its slot moved: from, to.
    moved: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def read(self, word: str, rest: list[str]) -> bool:
        """Returns whether it is a line of batches. Raises KeyError, IndexError and ValueError."""
        if word == "opening":
            batch = self.batches.setdefault(rest[0], Batch())
            batch.begin, batch.queue = int(rest[1]), rest[2]
        elif word == "opened":
            self.batches[rest[0]].opened = int(rest[1])
        elif word == "member":
            kept = self.messages.setdefault(rest[0], Kept())
            kept.batch, kept.queue = rest[1], rest[2]
            kept.keep, kept.begin = int(rest[3]), int(rest[4])
        elif word == "stored":
            self.messages[rest[0]].stored = int(rest[1])
        elif word == "giving":
            ack = Ack(int(rest[1]), int(rest[2]), rest[3])
            self.messages.setdefault(rest[0], Kept()).acks.append(ack)
        elif word == "given":
            acks = [ack for ack in self.messages[rest[0]].acks if ack.number == int(rest[1])]
            acks[-1].done = int(rest[2])
        elif word in ("asked", "final"):
            begin, end, wait = map(int, rest[1:4])
            asked = Asked(begin, end, wait, rest[4], rest[5], rest[6])
            kept = self.messages.setdefault(rest[0], Kept())
            kept.asked.append(asked)
            if word == "final":
                kept.final = asked
        elif word == "called":
            call = Call(rest[2], int(rest[3]), int(rest[4]), rest[5])
            batch = self.batches.setdefault(rest[0], Batch())
            batch.calls.setdefault(rest[1], []).append(call)
        elif word == "heard":
            calls = self.batches[rest[0]].calls[rest[1]]
            same = [call for call in calls if (call.id, call.number) == (rest[2], int(rest[3]))]
            same[-1].answered = int(rest[4])
        elif word == "moved":
            self.moved.setdefault(rest[2], []).append((int(rest[0]), int(rest[1])))
        else:
            return False
        return True
