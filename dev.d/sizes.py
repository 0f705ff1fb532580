"""How long the code of each room is: ./dev sizes.

A line of code has more than a comment, and is not blank. The limits are for lines of code: a
comment that explains the code to a stranger must not count against its room.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNEL = ["base", "net", "client", "verbs"]
ABOVE = ["check", "consumer", "partition", "schedule", "embedded"]
# Name, the most lines of code that it should have (0: no limit), and which files are its own.
ROOMS = [
    *((f"  {room}", 0, [f"core/{room}/*"]) for room in KERNEL),
    ("kernel", 9000, [f"core/{room}/*" for room in KERNEL]),
    *((f"  {room}", 0, [f"core/{room}/*"]) for room in ABOVE),
    ("core", 14500, ["core/*.h", *(f"core/{room}/*" for room in KERNEL + ABOVE)]),
    ("scripts", 2700, ["core/scripts/**/*.lua"]),
    ("interop", 0, ["interop/**/*"]),
    ("servers", 0, ["servers/**/*"]),
    ("faces", 0, ["swig/**/*", "bindings/**/*"]),
    ("cli", 0, ["cli/**/*"]),
    ("web", 0, ["web/**/*"]),
    ("tests", 0, ["tests/**/*"]),
]
# A file that a tool writes says so in its first lines.
MADE = re.compile(r"Made (by|from .* by) .*\.py|This is a generated file")

STRINGS = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
C = rf"{STRINGS}|(/\*.*?\*/|//[^\n]*)"
COMMENTS = {
    "c": C,
    "h": C,
    "i": C,
    "js": rf"`(?:\\.|[^`\\])*`|{C}",
    "css": C,
    "php": rf"{STRINGS}|(/\*.*?\*/|//[^\n]*|\#(?!\[)[^\n]*)",
    "lua": rf"\[\[.*?\]\]|{STRINGS}|(--\[\[.*?\]\]|--[^\n]*)",
    "html": r"(<!--.*?-->)",
    "sh": r"(?m:^\s*(\#[^\n]*))",
}
PYTHON = {"py", "pyi"}


def python_code(text: str) -> set[int]:
    """The numbers of the lines that have code. A docstring is a comment."""
    found: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if [part.type for part in statement] != [tokenize.STRING]:
                for part in statement:
                    found.update(range(part.start[0], part.end[0] + 1))
            statement = []
        elif token.type not in nothing:
            statement.append(token)
    return found


def code_lines(text: str, ending: str) -> int:
    """How many lines have code; ending: of the file's name, without the dot."""
    if ending in PYTHON:
        lines = text.splitlines()
        return sum(bool(lines[number - 1].strip()) for number in python_code(text))

    def without(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else "\n" * match[0].count("\n") or " "

    code = re.sub(COMMENTS[ending], without, text, flags=re.S)
    return sum(bool(line.strip()) for line in code.splitlines())


def texts(patterns: list[str]) -> Iterator[tuple[str, str]]:
    """The endings and texts of the sources, without files that a tool writes."""
    for path in {path for pattern in patterns for path in ROOT.glob(pattern)}:
        ending = path.suffix[1:]
        if ending in {*COMMENTS, *PYTHON} and path.is_file() and not path.match("*_wrap.c"):
            text = path.read_text(encoding="utf-8")
            if not MADE.search("\n".join(text.splitlines()[:5])):
                yield ending, text


def main() -> None:
    print(f"{'':10}{'code':>8}{'lines':>8}")
    for room, limit, patterns in ROOMS:
        files = list(texts(patterns))
        code = sum(code_lines(text, ending) for ending, text in files)
        lines = sum(len(text.splitlines()) for _, text in files)
        print(
            f"{room:10}{code:8}{lines:8}  {f'of {limit} lines of code' if limit else ''}".rstrip()
        )


if __name__ == "__main__":
    main()
