"""./dev sizes tells code from comments in every language of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "dev.d"))

import sizes  # type: ignore[import-not-found]  # noqa: E402

C = """
/*
 * A comment.
 */
#include "a.h" /* code and a comment */

// A comment.
const char *const text = "/* no comment */";
int mark = '"'; /* a comment
                   that goes on */ int more;
"""
LUA = """
-- A comment.
local text = '-- no comment' -- a comment
--[[ a comment
that goes on ]]
local long = [[
-- no comment
]]
"""
PYTHON = '''
"""A docstring
of two lines."""

# A comment.
TEXT = """
# no comment
"""


def work() -> str:  # a comment
    """A docstring."""
    return (
        # A comment.
        TEXT
    )
'''
PHP = """
<?php
/** A comment. */
#[Attribute]
class Job // a comment
{
    # A comment.
    public string $url = 'https://example.org/#here';
}
"""
JS = """
// A comment.
const text = `// no comment
`; // a comment
/* a comment */ work("//");
"""
CSS = """
/* A comment
   of two lines */
a { color: red } /* a comment */
"""
HTML = """
<!-- a comment
of two lines -->
<a href="#top">up</a>
"""
SHELL = """
#!/bin/sh
# A comment.
    # A comment.
echo $# '# no comment'
"""


@pytest.mark.parametrize(
    ("ending", "text", "expected"),
    [
        ("c", C, 4),
        ("h", C, 4),
        ("i", C, 4),
        ("lua", LUA, 4),
        ("py", PYTHON, 7),
        ("pyi", PYTHON, 7),
        ("php", PHP, 6),
        ("js", JS, 3),
        ("css", CSS, 1),
        ("html", HTML, 1),
        ("sh", SHELL, 1),
    ],
)
def test_lines_of_code(ending: str, text: str, expected: int) -> None:
    assert sizes.code_lines(text, ending) == expected


def test_every_language_is_known() -> None:
    assert {*sizes.COMMENTS, *sizes.PYTHON} == {
        *["c", "h", "i", "lua", "py", "pyi", "php", "js", "css", "html", "sh"]
    }


def test_generated_files_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "core/base").mkdir(parents=True)
    (tmp_path / "core/base/a.c").write_text("/* a comment */\nint a;\n", "utf-8")
    (tmp_path / "core/base/b.c").write_text("/* Made by core/b.py. */\nint b;\n", "utf-8")
    (tmp_path / "core/base/notes.md").write_text("Notes.\n", "utf-8")
    (tmp_path / "core/c.h").write_text("int c;\n", "utf-8")
    monkeypatch.setattr(sizes, "ROOT", tmp_path)
    sizes.main()
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "code lines"
    assert "base 1 2" in lines
    assert "kernel 1 2 of 9000 lines of code" in lines
    assert "core 2 3 of 14500 lines of code" in lines
    assert "cli 0 0" in lines
