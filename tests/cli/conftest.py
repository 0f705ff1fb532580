import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Server

from .program import Gate, Program


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> None:
    """
    What the tests start hears Ctrl-C, also where the tests run in a background that ignores it: a
    shell cannot trap what was ignored when it began.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    with Server() as running:
        yield running


@pytest.fixture
def dueq(server: Server) -> Program:
    """The program at $DUEQ_CLI or on the PATH, on an empty server."""
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path, "there is no dueq on the PATH; name one by DUEQ_CLI"
    server.command("FLUSHALL")
    return Program(path, server.url)


@pytest.fixture
def gate(dueq: Program, tmp_path: Path) -> Iterator[Gate]:
    dueq.environment["GATE"] = str(tmp_path / "gate")
    made = Gate(tmp_path / "gate")
    yield made
    made.close()
