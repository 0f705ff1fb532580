"""The turns of groups: start-time fair queueing.

Each group has a line of messages and the virtual time of its next turn. The group with the lowest
time is served. The floor is the time of the last turn of which the message left its line.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from limits import UNIT, Gate
from message import Message, escaped

# A group that comes gets a time STEP behind the one that came before it; or 1 behind, once these
# times have reached the second turn of a group that was served.
STEP = 16


@dataclass(eq=False)
class Line:
    group: str
    turn: int
    waited: bool = False  # had this time before the call. Then it goes before others with the time
    # In order of delivery. A cancelled message stays until it is met, and is dropped then.
    messages: list[Message] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, bool, bytes]:
        return self.turn, not self.waited, self.name if self.waited else b""

    @property
    def name(self) -> bytes:
        return escaped(self.group).encode()


@dataclass(eq=False)
class Turns:
    floor: int = 0
    joined: int = 0  # the last time that was given to a group that came
    lines: dict[str, Line] = field(default_factory=dict)
    order: list[Line] = field(default_factory=list)  # those that may have the next turn
    before: tuple[int, int] = 0, 0  # floor and joined, before the time began anew

    def begin(self) -> None:
        self.order = self.in_order()
        for line in self.order:
            line.waited = True

    def in_order(self, away: Container[str] = ()) -> list[Line]:
        """away: the groups that come behind the others."""
        return sorted(
            self.lines.values(),
            key=lambda line: (escaped(line.group) in away, line.turn, line.name),
        )

    def join(self, group: str) -> list[Message]:
        """The line of a group that gets a message. A group that the floor has passed is new."""
        if group not in self.lines:
            first = max(self.joined, self.floor)
            self.joined = first + (STEP if first < self.floor + UNIT else 1)
            self.lines[group] = Line(group, self.joined)
            self._stand(self.lines[group])
        return self.lines[group].messages

    def take(self, gate: Gate) -> tuple[Line, Message, int] | None:
        """
        The line with the next turn, its message, and the floor before. A line of which nothing may
        be taken now is passed, as if it were not there.
        """
        before = self.floor
        while self.order:
            line = self.order.pop(0)
            if line.messages and not gate.is_open(line.group, line.messages[0]):
                continue
            self.floor = max(self.floor, line.turn)
            if line.messages:
                line.turn = gate.next_turn(line.group, line.turn, self.floor)
                line.waited = False
                self._stand(line)
                return line, line.messages.pop(0), before
        return None

    def give_back(self, free: list[tuple[Line, Message | None, int]], gate: Gate) -> None:
        """Turns that cost nothing, the messages that stay in their lines, and the floors before."""
        for line, message, floor in reversed(free):
            line.turn -= gate.turn_costs(line.group)
            gate.gave_back(line.group)
            if message:
                line.messages.insert(0, message)
                self.floor = floor
            if line.messages and line not in self.order:
                self.order.append(line)
        self.order.sort(key=lambda line: line.place)

    def end(self, all_seen: bool) -> None:
        """
        A group of which nothing waits keeps its time until the floor has passed it. If no group is
        left, the time begins anew. all_seen: the turns of all groups were looked at.
        """
        for group, line in list(self.lines.items()):
            if not line.messages and line.turn <= self.floor:
                del self.lines[group]
        if all_seen and not any(line.messages for line in self.lines.values()):
            self.forget()

    def forget(self) -> None:
        self.before = self.floor, self.joined
        self.lines.clear()
        self.order.clear()
        self.floor = self.joined = 0

    def _stand(self, line: Line) -> None:
        self.order.append(line)
        self.order.sort(key=lambda line: line.place)
