"""The programs of ./dev leaks, for a short while."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from leaks import GROWTH_LIMIT_KIB, php_debug

from private_server import Server

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def php() -> list[str]:
    """PHP with this build's extension, also where nobody has set it up."""
    if subprocess.run(["php", "-r", "exit((int) !extension_loaded('dueq'));"]).returncode == 0:
        return ["php"]
    return ["php", "-d", f"extension={ROOT / 'build/php/modules/dueq.so'}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        pytest.param([sys.executable, str(HERE / "cycles.py")], id="python"),
        pytest.param([*php(), str(HERE / "cycles.php")], id="php"),
    ],
)
def test_memory_is_flat_over_5000_messages(command: list[str]) -> None:
    with Server() as server:
        done = subprocess.run(
            [*command, server.url, "5000"], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        figures = json.loads(done.stdout)
    assert figures["cycles"] == 5000
    assert figures["growth_kib"] <= GROWTH_LIMIT_KIB


def test_php_debug_is_absent_where_there_is_none() -> None:
    assert php_debug(None, "", "") == "absent"


def test_php_debug_sees_what_is_reported(tmp_path: Path) -> None:
    """A PHP that ends well and says what the memory check of a debug build says."""
    for report, expected in [("", "clean"), ("file.c(1) :  Freeing 0x00 (33 bytes)", "leaks")]:
        program = tmp_path / "php"
        program.write_text(f"#!/bin/sh\necho '{report}' >&2\n", encoding="utf-8")
        os.chmod(program, 0o755)
        assert php_debug(str(program), "", "") == expected
