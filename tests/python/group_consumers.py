"""Two consumers for tests of groups: one is killed with messages, one waits for a message."""

from __future__ import annotations

import subprocess
import sys

import dueq
from private_server import Server

DIES = """
import os, signal, sys, dueq
queue = dueq.Queue(sys.argv[1], sys.argv[2])
assert queue.reserve_many(10, lease=1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def die(server: Server, queue: dueq.Queue) -> None:
    """Another process leases up to 10 messages for a second, and is killed."""
    died = subprocess.run([sys.executable, "-c", DIES, queue.name, server.url], check=False)
    assert died.returncode == -9


def wait(server: Server, queue: dueq.Queue) -> dueq.Message:
    with dueq.Queue(queue.name, server.url) as other:
        message = other.reserve(timeout=30)
    assert message
    return message
