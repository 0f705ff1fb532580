"""A short run of ./dev failover."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_chaos import PROMISES, SERVERS, assert_batches, assert_done, run


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_failover_loses_no_durable_push(server: str, tmp_path: Path) -> None:
    options = ("--seconds", "12", "--server", server)
    text, line = run(tmp_path, *options, program="failover.py")
    assert line.pop("faults") >= 1, text
    assert line.pop("messages") >= 300, text
    assert line == dict.fromkeys(PROMISES, 0), text
    assert_done(text, "failovers", "killed processes")
    assert "late, where a failover met the wait: " in text
    assert_done(text, "ack", "retry", "successors")
    assert_batches(text)
