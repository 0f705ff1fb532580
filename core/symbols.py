#!/usr/bin/env python3
"""Writes dueq.map, which gives each public function of the library its version.

core/verbs.py runs it. A function that the map does not have yet gets the version of DUEQ_VERSION.
What an older version has stays there, and an older version never loses a function: docs/c.md.
`--check` changes nothing, and fails if the map is stale.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "dueq.map"
HEADERS = ["core/dueq*.h", "interop/dueq*.h", "servers/dueq*.h"]
MADE = "/* The version of each public function. Made from the headers by core/symbols.py. */\n"


def declared() -> set[str]:
    """The functions of the public headers."""
    found: set[str] = set()
    for pattern in HEADERS:
        for path in ROOT.glob(pattern):
            code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            found.update(re.findall(r"^DUEQ_API [^;]*?\b(dueq_\w+)\(", code, flags=re.M))
    return found


def versions(text: str) -> dict[str, set[str]]:
    """The functions of each version in a map, the oldest first."""
    nodes = re.findall(r"^(DUEQ_[\d.]+) \{(.*?)^\}", text, flags=re.M | re.S)
    return {name: set(re.findall(r"\b(dueq_\w+);", body)) for name, body in nodes}


def current() -> str:
    header = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
    found = re.search(r'#define DUEQ_VERSION "(\d+\.\d+)', header)
    assert found
    return f"DUEQ_{found[1]}"


def made(old: str) -> str:
    nodes, functions = versions(old), declared()
    released = {name: names for name, names in nodes.items() if name != current()}
    for name, names in released.items():
        if lost := sorted(names - functions):
            sys.exit(f"{name} has {', '.join(lost)}, which no header declares: see docs/c.md")
    new = functions - set().union(*released.values())
    text, before = MADE, ""
    for name, names in {**released, **({current(): new} if new else {})}.items():
        rows = "".join(f"        {function};\n" for function in sorted(names))
        hidden = "" if before else "    local:\n        *;\n"
        text += f"\n{name} {{\n    global:\n{rows}{hidden}}}{before};\n"
        before = f" {name}"
    return text


def main() -> None:
    old = MAP.read_text(encoding="utf-8") if MAP.exists() else ""
    text = made(old)
    if sys.argv[1:] != ["--check"]:
        MAP.write_text(text, encoding="utf-8")
    elif text != old:
        sys.exit("dueq.map is stale: run core/symbols.py")


if __name__ == "__main__":
    main()
