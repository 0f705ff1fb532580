"""What a failover keeps."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

from fleet import now_ms

from node import Member
from private_server import Refused


class Replicated:
    """Until when each primary's writes are known to be on its replica."""

    def __init__(self, nodes: Sequence[Member]) -> None:
        self._at = dict.fromkeys(nodes, 0)
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._watch, args=(node,)) for node in nodes]

    def __enter__(self) -> Replicated:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _watch(self, node: Member) -> None:
        while not self._over.wait(0.05):
            if not node.up:
                continue
            begin = now_ms()
            # Behind another command on its connection WAIT means all that was written before.
            with suppress(OSError, Refused, EOFError):
                if node.together(("PING",), ("WAIT", 1, 300), timeout=1)[1] == 1:
                    self._at[node] = begin

    def at(self, node: Member) -> int:
        return self._at[node]
