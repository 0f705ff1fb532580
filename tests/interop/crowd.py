"""Many processes of both sides at work together, some of which are killed at random."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from peers import Peer

Line = dict[str, Any]


class Member:
    """A place in the crowd: whoever holds it is followed by another when it is killed."""

    def __init__(self, name: str, spawn: Callable[[int], Peer], kills: int) -> None:
        self.name = name
        self.kills = kills
        self.killed = 0
        self.spawn = spawn
        self.peer = spawn(0)


class Crowd:
    """Members with what they said. tell(member, line) is called for each line."""

    def __init__(self, tell: Callable[[Member, Line], None], seed: int) -> None:
        self._members: list[Member] = []
        self._tell = tell
        self._random = random.Random(seed)

    def __enter__(self) -> Crowd:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for member in self._members:
            member.peer.kill()

    def add(self, name: str, spawn: Callable[[int], Peer], kills: int) -> Member:
        """kills: how often at most. spawn(generation) gives a process that is at work."""
        self._members.append(Member(name, spawn, kills))
        return self._members[-1]

    def _listen(self) -> int:
        """How many lines came."""
        count = 0
        for member in self._members:
            for line in member.peer.heard():
                self._tell(member, line)
                count += 1
        return count

    def run(self, done: Callable[[], bool], seconds: float) -> None:
        """Until done() says so and each has been killed that may be; the least killed go first."""
        deadline = time.monotonic() + seconds
        next_kill = time.monotonic() + 0.5
        while True:
            self._listen()
            targets = [member for member in self._members if member.killed < member.kills]
            if targets and time.monotonic() > next_kill:
                least = min(member.killed for member in targets)
                self._kill(self._random.choice([one for one in targets if one.killed == least]))
                next_kill = time.monotonic() + self._random.uniform(0.05, 0.3)
            elif done() and all(member.killed for member in self._members if member.kills):
                return
            assert time.monotonic() < deadline, f"not done in {seconds} s: {self.state()}"
            time.sleep(0.01)

    def _kill(self, member: Member) -> None:
        member.peer.kill()
        member.killed += 1
        self._listen()
        member.peer = member.spawn(member.killed)

    def settle(self, seconds: float) -> None:
        """Listens until nobody has said anything for that long."""
        quiet_since = time.monotonic()
        while time.monotonic() < quiet_since + seconds:
            if self._listen():
                quiet_since = time.monotonic()
            time.sleep(0.01)

    def state(self) -> str:
        return "; ".join(
            f"{member.name}: killed {member.killed}{', ended' if member.peer.ended else ''}"
            for member in self._members
        )
