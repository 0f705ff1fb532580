"""Sends the state of the worker to systemd (sd_notify)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress


class Notifier:
    """
    Sends states to $NOTIFY_SOCKET, and WATCHDOG=1 in time for $WATCHDOG_USEC. Does nothing in a
    process that systemd does not supervise.
    """

    def __init__(self) -> None:
        path = os.environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + path[1:] if path.startswith("@") else path
        usec = os.environ.get("WATCHDOG_USEC", "")
        ours = os.environ.get("WATCHDOG_PID", "") in ("", str(os.getpid()))
        self._every = int(usec) / 1e6 / 3 if usec.isdecimal() and ours else None
        self._next = 0.0

    def say(self, state: str) -> None:
        """Sends a state, such as READY=1. If nobody receives the state, the worker goes on."""
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            with suppress(OSError):
                sender.sendto(state.encode(), self._address)

    def alive(self) -> None:
        """
        Sends WATCHDOG=1 three times in the watchdog's time. The caller must call this more often
        than that.
        """
        now = time.monotonic()
        if self._every is not None and now >= self._next:
            self._next = now + self._every
            self.say("WATCHDOG=1")
