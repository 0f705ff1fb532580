"""All that is built has the hardening that docs/security.md names, as the files themselves say."""

import subprocess
import sys
from pathlib import Path

import pytest

import dueq._core

ROOT = Path(__file__).parent.parent
PROGRAMS = [ROOT / "build/cmake/dueq", Path(sys.executable).parent / "dueq"]
LIBRARIES = [
    ROOT / "build/cmake/libdueq.so",
    ROOT / "build/php/modules/dueq.so",
    Path(dueq._core.__file__),
]


def read(path: Path, *options: str) -> str:
    words = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "path", [*PROGRAMS, *LIBRARIES], ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_a_built_file_is_hardened(path: Path) -> None:
    dynamic, segments = read(path, "--dynamic"), read(path, "--segments")
    symbols = read(path, "--dyn-syms")
    assert "GNU_RELRO" in segments
    assert "BIND_NOW" in dynamic, "full RELRO"
    assert [line for line in segments.splitlines() if "GNU_STACK" in line and " RW " in line]
    assert "__stack_chk_fail" in symbols, "-fstack-protector-strong"
    assert "__memcpy_chk" in symbols or "__snprintf_chk" in symbols, "_FORTIFY_SOURCE"
    assert "DYN (" in read(path, "--file-header")
    assert path not in PROGRAMS or "PIE" in dynamic
