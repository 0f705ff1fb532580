"""The systems that dueq is built for, from one machine, by zig's C compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from project import ROOT, source_date

CACHE = Path(os.environ.get("DUEQ_PACKAGING_CACHE") or ROOT / "build" / "packaging")
"""Sources and libraries that were built for a system. They are made again if it is removed."""
COMPILE = "-O2 -DNDEBUG -ffunction-sections -fdata-sections"
"""How dueq itself is compiled. What hardens it, setup.py and CMakeLists.txt add."""


@dataclass(frozen=True)
class Target:
    """
    A system and a processor.

    name     as the tag of a wheel names the platform
    zig      as zig names it, with the oldest C library that it is built for
    host     as configure scripts name it
    openssl  as OpenSSL's Configure names it
    """

    name: str
    zig: str
    host: str
    openssl: str

    @property
    def is_macos(self) -> bool:
        return self.name.startswith("macosx")

    @property
    def is_musl(self) -> bool:
        return self.name.startswith("musllinux")

    @property
    def machine(self) -> str:
        return self.host.partition("-")[0]

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def prefix(self) -> Path:
        """Where the libraries for this target are."""
        return self.folder / "prefix"

    @property
    def python_platform(self) -> str:
        """As sysconfig.get_platform() names it."""
        if self.is_macos:
            _, major, minor, machine = self.name.split("_", 3)
            return f"macosx-{major}.{minor}-{machine}"
        return f"linux-{self.machine}"

    def environment(self) -> dict[str, str]:
        """
        The environment of a build for this target: its compiler first, and no library of this
        machine.
        """
        tools = self.folder / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        commands = {
            "dueq-cc": f'"{zig()}" cc -target {self.zig}',
            "dueq-ar": f'"{zig()}" ar',
            "dueq-ranlib": f'"{zig()}" ranlib',
            # The libraries are static ones, so it also names those that they need.
            "pkg-config": f'"{need("pkg-config")}" --static',
        }
        for name, command in commands.items():
            script = tools / name
            text = f'#!/bin/sh\nexec {command} "$@"\n'
            if not script.exists() or script.read_text(encoding="utf-8") != text:
                script.write_text(text, encoding="utf-8")
                script.chmod(0o755)
        return {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "CC": "dueq-cc",
            "AR": "dueq-ar",
            "RANLIB": "dueq-ranlib",
            "PKG_CONFIG_LIBDIR": str(self.prefix / "lib" / "pkgconfig"),
            "PKG_CONFIG_PATH": "",
            "SOURCE_DATE_EPOCH": str(source_date()),
            "ZERO_AR_DATE": "1",
        }


TARGETS = {
    target.name: target
    for target in [
        Target(
            "manylinux_2_28_x86_64", "x86_64-linux-gnu.2.28", "x86_64-linux-gnu", "linux-x86_64"
        ),
        Target(
            "manylinux_2_28_aarch64", "aarch64-linux-gnu.2.28", "aarch64-linux-gnu", "linux-aarch64"
        ),
        Target("musllinux_1_2_x86_64", "x86_64-linux-musl", "x86_64-linux-musl", "linux-x86_64"),
        Target(
            "musllinux_1_2_aarch64", "aarch64-linux-musl", "aarch64-linux-musl", "linux-aarch64"
        ),
        Target(
            "macosx_11_0_arm64", "aarch64-macos.11.0", "aarch64-apple-darwin", "darwin64-arm64-cc"
        ),
        Target(
            "macosx_11_0_x86_64", "x86_64-macos.11.0", "x86_64-apple-darwin", "darwin64-x86_64-cc"
        ),
    ]
}


@cache
def zig() -> str:
    """zig's program, of the package ziglang of this Python."""
    package = importlib.util.find_spec("ziglang")
    if not package or not package.origin:
        sys.exit(f"packaging needs ziglang: {sys.executable} -m pip install ziglang")
    return str(Path(package.origin).with_name("zig"))


def chosen(words: Iterable[str], among: Mapping[str, Target] = TARGETS) -> list[Target]:
    """The targets of these names, or all. A name that is in no target ends the program."""
    for word in words:
        if word not in among:
            sys.exit(f"{word}: there is no such target; there are: {', '.join(among)}")
    return [among[word] for word in words] or [*among.values()]


def run(words: list[str], folder: Path, environment: dict[str, str], log: Path) -> None:
    """Runs a command, with its output at the end of a log. Ends the program if it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        output.write(f"$ {' '.join(words)}\n".encode())
        output.flush()
        done = subprocess.run(words, cwd=folder, env=environment, stdout=output, stderr=output)
    if done.returncode != 0:
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        sys.exit("\n".join([*last, f"{words[0]} failed; see {log}"]))


def need(program: str) -> str:
    """The path of a command. Ends the program if this machine does not have it."""
    path = shutil.which(program)
    return path or sys.exit(f"packaging needs {program} on this machine")
