import subprocess
import sys
from pathlib import Path

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
