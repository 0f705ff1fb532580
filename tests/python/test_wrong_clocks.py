"""Workers whose clock is wrong by a day: schedules go by the server's."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import dueq
from private_server import Server
from worker_process import WorkerProcess

DAY = 86400
SOURCE = Path(__file__).parents[1] / "shifted_clock.c"


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, str]]:
    """The environment of a process whose wall clock is so many seconds ahead."""
    library = tmp_path_factory.mktemp("clock") / "shifted_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    return lambda ahead: {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(ahead)}


def assert_in_time(queue: dueq.Queue, times: int = 2) -> None:
    """The schedule "tick", every second, fires so many times, and is about to fire again."""
    deadline = time.monotonic() + 30
    seen: set[float] = set()
    while len(seen) <= times:
        message = queue.find("schedule:tick")
        assert message
        seen.add(float(message.headers["time"]))
        now = queue.stats().now.timestamp()
        assert abs(float(message.headers["time"]) / 1000 - now) < 30, (message, now)
        assert time.monotonic() < deadline, seen
        time.sleep(0.05)


@pytest.mark.parametrize("ahead", [DAY, -DAY])
def test_command(
    server: Server, queue: dueq.Queue, shifted: Callable[[int], dict[str, str]], ahead: int
) -> None:
    """`dueq schedule add` and `dueq work`, both with such a clock."""
    environment = {**os.environ, **shifted(ahead), "DUEQ_URL": server.url}
    shown = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert abs(float(shown) - time.time() - ahead) < 60
    words = ["dueq", "schedule", "add", queue.name, "tick", "every 1s", "x"]
    subprocess.run(words, env=environment, check=True)
    with subprocess.Popen(["dueq", "work", queue.name, "--", "true"], env=environment) as worker:
        try:
            assert_in_time(queue)
            worker.terminate()
            assert worker.wait(30) == 0
        finally:
            worker.kill()


@pytest.mark.parametrize("ahead", [DAY, -DAY])
def test_worker(
    server: Server,
    tmp_path: Path,
    shifted: Callable[[int], dict[str, str]],
    ahead: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.command("FLUSHALL")
    for name, value in shifted(ahead).items():
        monkeypatch.setenv(name, value)
    with (
        dueq.Queue("default", server.url) as queue,
        WorkerProcess(tmp_path, server.url) as worker,
    ):
        queue.schedule("tick", "every 1s", "x")
        assert_in_time(queue)
        assert worker.stop() == 0
