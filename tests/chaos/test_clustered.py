"""A short run of ./dev cluster."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_chaos import SERVERS, assert_done, output


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_cluster_breaks_no_promise(server: str, tmp_path: Path) -> None:
    text = output("clustered.py", tmp_path, "--seconds", "20", "--server", server)
    last = text.splitlines()[-1]
    line = re.fullmatch(
        r"cluster: nodes=6 faults=(\d+) moved_slots=(\d+) failovers=(\d+) messages=(\d+)"
        r" lost=0 acked_again=0 two_holders=0 early=0",
        last,
    )
    assert line, text
    for number, least in zip(line.groups(), (3, 2, 1, 500), strict=True):
        assert int(number) >= least, text
    assert "late, where a failover met the wait: " in text
    assert_done(text, "ack", "retry", "successors")
