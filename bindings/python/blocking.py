#!/usr/bin/env python3
"""
Makes blocking modules of dueq from those for asyncio, where the two differ only in how they wait.

Run this without arguments after a change of a listed asyncio module. `--check` only says whether a
made file is stale. Needs ruff.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "dueq"
MADE = {
    "aio/batch.py": "blocking/batch.py",
    "aio/lock.py": "blocking/lock.py",
    "aio/message.py": "blocking/message.py",
    "aio/queue.py": "blocking/queue.py",
    "laravel/aio.py": "laravel/blocking.py",
    "redisson/aio.py": "redisson/blocking.py",
}
RULES = [
    (r"\basync (?=def |for |with )", ""),
    (r"(?<!\w)\(await ([\w.]+\([\w.]*\))\)", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit|iter)__", r"__\1__"),
    (r"\baiter\(", "iter("),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"^( *from dueq\S*)\.aio\b", r"\1.blocking"),
    (r"\bdueq((?:\.\w+)?)\.aio\.(?=[A-Z])", r"dueq\1."),
]


def blocking(source: str) -> str:
    text = (HERE / source).read_text(encoding="utf-8")
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text, flags=re.M)
    text = f"# Made from dueq/{source} by bindings/python/blocking.py.\n{text}"
    # A loop that was an `async for` may now be a `yield from`.
    text = ruff(text, source, "check", "--quiet", "--select=I,UP028", "--fix", "--unsafe-fixes")
    return ruff(text, source, "format")


def ruff(text: str, source: str, *command: str) -> str:
    call: list[str | Path] = [
        sys.executable,
        "-m",
        "ruff",
        *command,
        "--stdin-filename",
        HERE / MADE[source],
        "-",
    ]
    return subprocess.run(call, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> None:
    for source, made in MADE.items():
        text, target = blocking(source), HERE / made
        if sys.argv[1:] == ["--check"]:
            if not target.exists() or target.read_text(encoding="utf-8") != text:
                sys.exit(f"dueq/{made} is stale: run bindings/python/blocking.py")
        else:
            target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
