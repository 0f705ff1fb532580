"""A short run of ./dev cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_chaos import PROMISES, SERVERS, assert_batches, assert_done, run


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_cluster_breaks_no_promise(server: str, tmp_path: Path) -> None:
    options = ("--seconds", "20", "--server", server)
    text, line = run(tmp_path, *options, program="clustered.py")
    assert line.pop("faults") >= 3, text
    assert line.pop("messages") >= 500, text
    assert line == dict.fromkeys(PROMISES, 0), text
    assert_done(text, "moved slots", "failovers", "killed processes")
    assert "late, where a failover met the wait: " in text
    assert_done(text, "ack", "retry", "successors")
    assert_batches(text)
