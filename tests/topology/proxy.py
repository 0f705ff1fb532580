"""A proxy in front of servers, which cuts them off from their clients and from each other.

    python proxy.py LISTEN:TARGET...      (ports of 127.0.0.1)

takes commands on its standard input, and answers each by an empty line when it is done:

    cut PORT WHO     who is that speaks to the server behind PORT no more; * is everybody
    hang PORT WHO    the connections stay, and nothing comes through them
    delay PORT MS    what anybody says from now on comes so much later
    open PORT WHO    he speaks to it again; what hung goes on
    open PORT        all is as at the beginning

WHO is a word that each connection has by what it says first: the id of the node that speaks on a
cluster's bus; `replica`; or else `client`.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

HOST = "127.0.0.1"
FIRST = 4096  # a replica says what it is in so many bytes


class _End(asyncio.Protocol):
    """One end of a connection through a gate."""

    def __init__(self, gate: _Gate) -> None:
        self.gate = gate
        self.transport: asyncio.Transport | None = None
        self.other: _End | None = None
        self.waiting: list[bytes] = []  # what the other end said before this one was connected
        self.delayed: deque[bytes] = deque()  # what the other end said, and what comes later

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        for data in self.waiting:
            self.transport.write(data)
        self.waiting = []

    def connection_lost(self, error: Exception | None) -> None:
        if self.other and self.other.transport:
            self.other.transport.close()

    def data_received(self, data: bytes) -> None:
        self.pass_on(data)

    def pass_on(self, data: bytes) -> None:
        assert self.other
        if self.gate.delay_s or self.other.delayed:
            self.other.delayed.append(data)
            asyncio.get_running_loop().call_later(self.gate.delay_s, self.other.write_delayed)
        else:
            self.other.write(data)

    def write_delayed(self) -> None:
        """Writes what was said first: it stays first, also where the delay has ended meanwhile."""
        self.write(self.delayed.popleft())

    def write(self, data: bytes) -> None:
        if self.transport is None:
            self.waiting.append(data)
        elif not self.transport.is_closing():
            self.transport.write(data)


class _Client(_End):
    """The end that somebody has connected."""

    who = "client"

    def __init__(self, gate: _Gate) -> None:
        super().__init__(gate)
        self.said = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.gate.clients.add(self)
        if self.gate.rule(self) == "cut":
            cast(asyncio.Transport, transport).abort()
            return
        server = self.other = _End(self.gate)
        server.other = self
        self.task = asyncio.get_running_loop().create_task(self.reach(server))

    async def reach(self, server: _End) -> None:
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: server, HOST, self.gate.target
            )
        except OSError:
            if self.transport:
                self.transport.abort()
        self.gate.apply(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.gate.clients.discard(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if len(self.said) < FIRST:
            self.said += data
            if found := re.match(rb"RCmb.{36}([0-9a-f]{40})", self.said, re.S):
                self.who = found[1].decode()
            elif b"REPLCONF" in self.said:
                self.who = "replica"
            if self.gate.apply(self) == "cut":
                return
        self.pass_on(data)


class _Gate:
    """What a port lets through."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.rules: dict[str, str] = {}
        self.delay_s = 0.0
        self.clients: set[_Client] = set()

    def rule(self, client: _Client) -> str:
        return self.rules.get(client.who) or self.rules.get("*", "")

    def apply(self, client: _Client) -> str:
        rule = self.rule(client)
        for end in (client, client.other):
            if not end or not end.transport or end.transport.is_closing():
                continue
            if rule == "cut":
                end.transport.abort()
            elif rule == "hang":
                end.transport.pause_reading()
            else:
                end.transport.resume_reading()
        return rule

    def command(self, verb: str, words: Sequence[str]) -> None:
        if verb == "delay":
            self.delay_s = int(words[0]) / 1000
        elif verb == "open" and words:
            self.rules.pop(words[0], None)
        elif verb == "open":
            self.rules, self.delay_s = {}, 0.0
        else:
            self.rules[words[0]] = verb
        for client in list(self.clients):
            self.apply(client)


async def serve(pairs: Sequence[str]) -> None:
    loop = asyncio.get_running_loop()
    gates: dict[str, _Gate] = {}
    for pair in pairs:
        port, _, target = pair.partition(":")
        gate = gates[port] = _Gate(int(target))
        await loop.create_server(partial(_Client, gate), HOST, int(port))
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print(flush=True)
    while line := await commands.readline():
        verb, port, *words = line.decode().split()
        gates[port].command(verb, words)
        print(flush=True)


class Proxy:
    """Runs one until the with block ends. ports: of each that it listens on the server's."""

    def __init__(self, ports: dict[int, int]) -> None:
        self._ports = ports
        self._lock = threading.Lock()

    def __enter__(self) -> Proxy:
        pairs = [f"{port}:{target}" for port, target in self._ports.items()]
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, Path(__file__).resolve(), *pairs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._await()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _await(self) -> None:
        assert self._process.stdout
        if not self._process.stdout.readline():
            raise RuntimeError("the proxy has ended")

    def _say(self, *words: object) -> None:
        assert self._process.stdin
        with self._lock:
            print(*words, file=self._process.stdin, flush=True)
            self._await()

    def cut(self, port: int, who: str = "*") -> None:
        self._say("cut", port, who)

    def hang(self, port: int, who: str = "*") -> None:
        self._say("hang", port, who)

    def delay(self, port: int, ms: int) -> None:
        self._say("delay", port, ms)

    def open(self, port: int, who: str = "") -> None:
        self._say("open", port, who)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1:]))
