import os
import subprocess
import sys
from pathlib import Path

import pytest

import dueq

TAKE = """
import dueq, sys
with dueq.Queue("q", sys.argv[1]) as queue, queue.reserve(timeout=20) as message:
    print(message.body.decode())
"""


def test_embedded_server_shared_by_two_processes(tmp_path: Path) -> None:
    url = f"embedded:{tmp_path}"
    with dueq.Queue("q", url) as queue:
        queue.push("from here to there")
        words = [sys.executable, "-c", TAKE, url]
        taken = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, timeout=30)
        assert taken.stdout == "from here to there\n"
        assert queue.stats().acked == 1


def test_embedded_server_keeps_what_it_has(tmp_path: Path) -> None:
    url = f"embedded:{tmp_path}"
    with dueq.Queue("q", url) as queue:
        queue.push("kept")
    with dueq.Queue("q", url) as queue, queue.reserve(timeout=None) as message:
        assert message.body == b"kept"


TWICE = """
import dueq
for _ in range(2):
    with dueq.Queue("q") as queue:
        queue.push("x")
        queue.reserve().ack()
"""


def run_unnamed(home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """A program that names no server."""
    environment = {**os.environ, "DUEQ_URL": "", "XDG_STATE_HOME": str(home), **more}
    words = [sys.executable, "-c", TWICE]
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=30, check=False
    )


def test_default_is_said_once(tmp_path: Path) -> None:
    ended = run_unnamed(tmp_path)
    assert (ended.returncode, ended.stderr.splitlines()) == (
        0,
        [
            f"no DUEQ_URL: this is the private server embedded:{tmp_path}/dueq, which only this "
            "user's programs on this machine share. Set DUEQ_URL to the URL of your server, or to "
            "that of this one"
        ],
    )


@pytest.mark.parametrize("url", ["embedded:{}/dueq", "embedded:{}/other"])
def test_embedded_server_that_is_named_is_not_told_of(tmp_path: Path, url: str) -> None:
    ended = run_unnamed(tmp_path, DUEQ_URL=url.format(tmp_path))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_url_that_is_required(tmp_path: Path) -> None:
    ended = run_unnamed(tmp_path, DUEQ_REQUIRE_URL="1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(
        "dueq.errors.UrlError: no server is named, and DUEQ_REQUIRE_URL=1 permits no embedded one: "
        "set DUEQ_URL"
    )
    assert list(tmp_path.iterdir()) == []
