"""What waits, a name server or a server that starts, makes no call late and stops no event loop."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from private_server import PROGRAM

# In a network and a /etc of its own; the arguments: a folder, and what to run then.
SILENT = """
cd "$1"
echo 'nameserver 127.0.0.1' >resolv.conf
echo 'hosts: files dns' >nsswitch.conf
for name in resolv.conf nsswitch.conf; do
    mount --bind $name "$(realpath /etc/$name)" || exit 77
done
shift
exec "$@"
"""
NAMESPACE = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", SILENT, "sh"]

# A name server that answers nothing. SIOCSIFFLAGS: the loopback device is up and running.
NAME_SERVER = """
import fcntl, socket, struct
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(server, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
server.bind(("127.0.0.1", 53))
"""

# Tells how long two calls took, how they ended, and the longest time that the loop stood still.
CALLS = """
import asyncio, json, sys, time
import dueq
from dueq import aio

def blocking(url):
    with dueq.Queue("q", url) as queue:
        queue.push("a")

async def waiting(url):
    last, longest = time.monotonic(), 0.0

    async def tick():
        nonlocal last, longest
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    ticking = asyncio.create_task(tick())
    try:
        async with aio.Queue("q", url) as queue:
            await queue.push("a")
    finally:
        await asyncio.sleep(0.05)
        ticking.cancel()
        told["stood"] = longest

told = {}
for name, call in [("blocking", blocking), ("waiting", lambda url: asyncio.run(waiting(url)))]:
    start = time.monotonic()
    try:
        call(sys.argv[1 if name == "blocking" else -1])
    except dueq.Error as error:
        told[name] = [type(error).__name__, str(error)]
    told[name + "_took"] = time.monotonic() - start
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The start of a command that finds its name server silent."""
    words = [*NAMESPACE, str(tmp_path_factory.mktemp("etc"))]
    trial = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    if trial.returncode:
        pytest.skip(f"no silent name server without namespaces: {trial.stderr.strip()}")
    return words


def test_silent_name_server_keeps_the_deadline_and_stops_no_loop(silent: list[str]) -> None:
    url = "redis://queues.example.com?timeout=1s"
    words = [*silent, sys.executable, "-c", NAME_SERVER + CALLS, url]
    told = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=60).stdout)
    for face in ("blocking", "waiting"):
        kind, text = told[face]
        assert kind == "ConnectError"
        assert "queues.example.com" in text, told
        assert "name resolution did not answer" in text, told
        assert 0.9 < told[f"{face}_took"] < 3, told
    assert told["stood"] < 0.9, told


def test_server_that_starts_slowly_keeps_the_deadline_and_stops_no_loop(tmp_path: Path) -> None:
    program = tmp_path / "slow-server"
    program.write_text(f'#!/bin/sh\nsleep 4\nexec {PROGRAM} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    late, patient = f"embedded:{tmp_path}/a?timeout=1s", f"embedded:{tmp_path}/b?timeout=30s"
    start = time.monotonic()
    told = json.loads(
        subprocess.run(
            [sys.executable, "-c", CALLS, late, patient],
            env={**os.environ, "DUEQ_SERVER": str(program)},
            stdout=subprocess.PIPE,
            check=True,
            timeout=60,
        ).stdout
    )
    kind, text = told["blocking"]
    assert kind == "EmbeddedError"
    assert "did not come up" in text
    assert 0.9 < told["blocking_took"] < 3, told
    assert "waiting" not in told
    assert time.monotonic() - start > 4
    assert told["stood"] < 1.5, told
