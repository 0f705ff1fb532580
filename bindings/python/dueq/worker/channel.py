"""
Connects a child with its parent: each notices the end of the other, and the parent sees the child's
state.
"""

from __future__ import annotations

import mmap
import struct

_STATE = struct.Struct("=dB")


class Channel:
    """
    Shared memory of a parent and one child.

    alive  a descriptor that the child can read at its end when the parent has ended
    quiet  whether the child begins without taking messages
    tells  whether this child logs the warnings that the whole worker logs once, at the start
    """

    def __init__(self, alive: int, quiet: bool, tells: bool) -> None:
        self.alive = alive
        self.quiet = quiet
        self.tells = tells
        self._memory = mmap.mmap(-1, _STATE.size)

    @property
    def hard_at(self) -> float:
        """
        When the child's job must have ended, by the monotonic clock; 0: the child has no such job.
        """
        return float(_STATE.unpack_from(self._memory)[0])

    @hard_at.setter
    def hard_at(self, value: float) -> None:
        _STATE.pack_into(self._memory, 0, value, self.ready)

    @property
    def ready(self) -> bool:
        """Whether the child has reached the server, and takes messages."""
        return bool(_STATE.unpack_from(self._memory)[1])

    @ready.setter
    def ready(self, value: bool) -> None:
        _STATE.pack_into(self._memory, 0, self.hard_at, value)
