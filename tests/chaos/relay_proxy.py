"""The consumers' way to the server, on which relays between two queues are interrupted."""

from __future__ import annotations

import queue
import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fleet import ROOT, now_ms

DIGESTS = dict(
    re.findall(
        r'"relay_(take|put|count|done|forget)", "([0-9a-f]{40})"',
        (ROOT / "core/scripts.inc").read_text("utf-8"),
    )
)
ANSWER_S = 3.0  # for so long an answer is waited for that nobody is to get
LATE_S = (22.0, 38.0)  # about when a relay's lease ends


class Plan(NamedTuple):
    """What is done to the next relay that takes this step, from a time on."""

    time: float
    step: str
    way: str  # killed, cut off, held up; late: killed, and its request comes all the same
    before: bool  # the server gets the request; else after it has answered

    @property
    def kills(self) -> bool:
        return self.way in ("killed", "late")

    @property
    def where(self) -> str:
        return f"{'before' if self.before else 'after'} {self.step}"


class Met(NamedTuple):
    """A relay that was interrupted. Who gets it kills the process, and sets `over`."""

    plan: Plan
    process: int
    begin_ms: int
    over: threading.Event


class _Pair:
    """A client's connection, and its own to the server."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.mute = False
        self.answered = threading.Event()

    def end(self) -> None:
        for one in (self.client, self.server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def answer(self) -> None:
        """Passes the answers on until one end is gone."""
        with suppress(OSError):
            while data := self.server.recv(1 << 16):
                if self.mute:
                    self.answered.set()
                else:
                    self.client.sendall(data)
        self.answered.set()
        self.end()


class RelayProxy:
    """
    Listens at `path`, and passes on what comes to the server's socket. Now and then a relay is
    interrupted at one of its steps: its process is to be killed, or its connection is cut, before
    the server gets the request or after it has answered; or the request is held up, or its process
    is killed and the request comes late, at times when the relay's lease is over.
    """

    def __init__(self, path: Path, server: Path, chance: random.Random) -> None:
        self.met: queue.Queue[Met] = queue.Queue()
        self.nothing_late = threading.Event()  # leases end early: it would come after that
        self._server, self._chance = server, chance
        self._lock = threading.Lock()
        self._plan = self._make_plan()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        _start(self._accept)

    def _make_plan(self) -> Plan:
        chance = self._chance
        way = chance.choice(("killed", "cut off", "held up", "late"))
        return Plan(
            time.monotonic() + chance.uniform(0.1, 1.2),
            chance.choice(tuple(DIGESTS)),
            way,
            way in ("held up", "late") or chance.random() < 0.5,
        )

    def _planned(self, request: bytes) -> Plan | None:
        """What is to be done to this request."""
        with self._lock:
            plan = self._plan
            if time.monotonic() < plan.time or DIGESTS[plan.step].encode() not in request:
                return None
            self._plan = self._make_plan()
            return plan

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            _start(partial(self._serve, client))

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            try:
                server.connect(str(self._server))
            except OSError:
                time.sleep(0.05)
                return
            pair = _Pair(client, server)
            answers = _start(pair.answer)
            with suppress(OSError):
                while request := client.recv(1 << 16):
                    plan = self._planned(request)
                    if plan and self._interrupt(pair, request, plan):
                        break
                    if not plan:
                        server.sendall(request)
            pair.end()
            answers.join()

    def _interrupt(self, pair: _Pair, request: bytes, plan: Plan) -> bool:
        """Returns whether the connection has come to its end."""
        credentials = pair.client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        met = Met(plan, struct.unpack("3i", credentials)[0], now_ms(), threading.Event())
        if not plan.before:
            pair.mute = True
            pair.server.sendall(request)
            pair.answered.wait(ANSWER_S)
        if plan.way == "held up":
            time.sleep(self._chance.random())
            self.met.put(met)
            pair.server.sendall(request)
            return False
        self.met.put(met)
        if plan.kills:
            met.over.wait()
        if plan.way == "late":
            # As from a process that went on after a long pause, and connected again. The one that
            # sent it must be dead: before it repeats a request, a client makes sure that the first
            # one cannot arrive any more.
            pair.end()
            if self.nothing_late.wait(self._chance.uniform(*LATE_S)):
                return True
            with socket.socket(socket.AF_UNIX) as server:
                server.connect(str(self._server))
                server.sendall(request)
                server.recv(1)
        return True


def _start(action: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread
