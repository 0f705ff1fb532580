"""What this repository says of itself."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def only(pattern: str, path: str) -> str:
    """What the one place in a file that has the pattern says."""
    found = set(re.findall(pattern, text(path), flags=re.M))
    if len(found) != 1:
        raise SystemExit(f"{path} must say one thing for {pattern}, and says {sorted(found)}")
    return str(found.pop())


@cache
def version() -> str:
    return only(r'^#define DUEQ_VERSION "(\d+\.\d+\.\d+)"', "core/dueq.h")


def wire_version() -> str:
    """The version of what is stored on the server: docs/internals/protocol.md, Versions."""
    return only(r"this one knows (\d+)\)", "core/scripts/lib/refuse_wire.lua")


def soname() -> str:
    return "libdueq.so." + only(r"^set\(DUEQ_SOVERSION (\d+)\)", "CMakeLists.txt")


def commit() -> str:
    return git("rev-parse", "HEAD")


@cache
def source_date() -> int:
    """
    The time of the last commit, in seconds since 1970, or $SOURCE_DATE_EPOCH. What is built carries
    it, so that two builds are equal.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or git("log", "-1", "--format=%ct"))


def git(*words: str) -> str:
    return git_bytes(*words).decode().strip()


def git_bytes(*words: str) -> bytes:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def committed(prefix: str = "") -> bytes:
    """A tar with the files of the last commit, whose names begin with the prefix."""
    return git_bytes("archive", "--format=tar", f"--prefix={prefix}", "HEAD")


def git_files(*words: str) -> list[str]:
    """What git ls-files lists."""
    return git_bytes("ls-files", "-z", *words).decode().rstrip("\0").split("\0")
