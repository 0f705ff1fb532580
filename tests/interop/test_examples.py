"""The examples of docs/interop.md, as they are; `./dev interop -s -k examples` shows them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import peers
from wire import Wire

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/interop"


def run(wire: Wire, *command: str) -> list[str]:
    """What an example prints, on this server."""
    environment = {
        **os.environ,
        "DUEQ_URL": f"redis://127.0.0.1:{wire.port}",
        "REDIS_URL": f"tcp://127.0.0.1:{wire.port}",
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = " ".join(Path(word).name if "/" in word else word for word in command)
    print(f"\n$ {re.sub(r'-cp [^ ]+ ', '', shown)}\n{done.stdout}", end="")
    return done.stdout.splitlines()


def python(wire: Wire, name: str) -> list[str]:
    return run(wire, sys.executable, str(EXAMPLES / name))


def php(wire: Wire, name: str, what: str) -> list[str]:
    """By that Laravel: this machine's, or that of a chroot, which gets a copy of the example."""
    where = peers.laravel_place(name.split("-")[1])
    assert where is not None
    if not where:
        return run(wire, "php", str(EXAMPLES / "laravel.php"), what)
    copy = Path(where[1], "tmp/dueq-examples")
    shutil.copytree(EXAMPLES, copy, dirs_exist_ok=True)
    try:
        return run(wire, *where, "php", "/tmp/dueq-examples/laravel.php", what)
    finally:
        shutil.rmtree(copy)


def test_examples_java_offers_python_takes(wire: Wire, redisson_name: str) -> None:
    jars = str(peers.CACHE / redisson_name / "lib/*")
    url = f"redis://127.0.0.1:{wire.port}"
    said = run(wire, "java", "-cp", jars, str(EXAMPLES / "Offer.java"), url)
    assert said == ["Java offered a reminder"]
    assert python(wire, "take.py") == ["Python took: cancel order 17 unless it is paid"]


def test_examples_python_pushes_laravel_works(wire: Wire, laravel_name: str) -> None:
    assert python(wire, "push.py") == ["Python pushed a job for Laravel"]
    assert php(wire, laravel_name, "work") == ["Laravel cancels order 17, attempt 1"]
    assert wire.number("ZCARD", "queues:default:reserved") == 0


def test_examples_laravel_dispatches_python_works(wire: Wire, laravel_name: str) -> None:
    assert php(wire, laravel_name, "dispatch") == ["Laravel dispatched a job"]
    assert python(wire, "work.py") == [
        r"Python works on App\Jobs\MailReceipt {'order': 18}, attempt 1"
    ]
