"""A server goes away for longer than a lease, and returns: what is worked on is not begun again.

The leases and the outage are short: `python tests/topology/outage.py` has those of every day.
"""

from __future__ import annotations

import pytest

from outage import TAKEN_OVER_S, outage


@pytest.mark.parametrize("way", ["kill", "stop", "partition", "failover"])
def test_outage_runs_no_job_twice(way: str) -> None:
    twice, after = outage(way, jobs=12, lease=1, seconds=4)
    assert not twice
    assert after <= TAKEN_OVER_S
