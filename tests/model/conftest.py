"""What several tests of the scripts share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from raw import RawDriver

from private_server import Server
from script_sources import sources


@pytest.fixture(scope="module")
def raw() -> Iterator[RawDriver]:
    with Server() as server:
        driver = RawDriver(server, sources())
        yield driver
        driver.close()
