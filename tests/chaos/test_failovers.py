"""A short run of ./dev failover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_chaos import SERVERS, assert_done, output


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_failover_loses_no_durable_push(server: str, tmp_path: Path) -> None:
    text = output("failover.py", tmp_path, "--seconds", "12", "--server", server)
    last = text.splitlines()[-1]
    line = re.fullmatch(
        r"failover: durability=replicas:1 failovers=(\d+) acknowledged=(\d+) lost=0"
        r" doubled_holders=0",
        last,
    )
    assert line, text
    assert int(line[1]) >= 1, text
    assert int(line[2]) >= 300, text
    assert "late, where a failover met the wait: " in text
    assert_done(text, "ack", "retry", "successors")
