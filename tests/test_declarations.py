"""
What core/scripts/embed.py refuses: Lua files that do not declare the names that they read, and
scripts that a server refuses to compile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = "core/scripts"
# Alone these are not too many for Lua. With those of the files that clock includes they are.
MANY = "".join(f"local a{number} = 1\n" for number in range(199))
# A file, a text in it ("": its end), what replaces the text, and what embed.py says then.
FAULTS = [
    ("clock", "return ", "local x = other return ", "reads names that no file declares: other"),
    ("clock", "return ", "other = 1 return ", "reads names that no file declares: other"),
    ("clock", "return ", "local = return ", "near '='"),
    ("clock", "decimal now", "now", "reads names that no file declares: decimal"),
    ("clock", " refuse_newer\n", "\n", "includes a file that its top does not name: refuse_newer"),
    ("clock", "decimal now", "decimal now wake", "includes a file without need: wake"),
    ("clock", "decimal now", "decimal now no", "includes what is no file of lib/: no"),
    ("clock", "decimal now", "decimal now seconds", "includes what is no file of lib/: seconds"),
    ("stats", " rates limits\n", " limits\n", "reads names that no file declares: rates"),
    ("stats", " rates limits", " rates limits wake", "declares keys, and does not use them: wake"),
    ("lib/count", "; needs meta", "", "reads names that it does not declare: meta"),
    ("lib/count", "meta\n", "meta msg\n", "declares needs, and does not read them: msg"),
    ("lib/count", "defines count", "defines count x", "names that it does not define: x"),
    ("lib/text", "is_utf8", "is_utf8 name", "declares names that it does not define: name"),
    ("lib/now", "defines now_ms", "-", "reads names that it does not declare: now_ms"),
    ("lib/lone", "", "local x = 1\n", "is included by no file: lone"),
    ("lib/decimal", "", "local x = 1\n", None),
    ("clock", "return ", f"{MANY}return ", "more than 200 local"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what embed.py reads."""
    for place in ["core", "interop"]:
        for kind in ["py", "toml", "h", "lua"]:
            for path in (ROOT / place).rglob(f"*.{kind}"):
                copy = tmp_path / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
    return tmp_path


@pytest.mark.parametrize(("file", "old", "new", "fault"), FAULTS)
def test_names_are_declared(tree: Path, file: str, old: str, new: str, fault: str | None) -> None:
    path = tree / CORE / f"{file}.lua"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    assert old in before
    path.write_text(before.replace(old, new, 1) if old else before + new, encoding="utf-8")
    made = subprocess.run(
        [sys.executable, str(tree / CORE / "embed.py")], check=False, capture_output=True, text=True
    )
    assert made.returncode == (fault is not None), made.stderr
    assert (fault or "") in made.stderr
    assert (tree / "core/scripts.inc").exists() == (fault is None)
