"""
Checks wheels by their files: python packaging/check_wheels.py WHEEL... Each has what its tag
promises, exports nothing but the module, is hardened, and has the licences of all that is inside.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import sources
from targets import TARGETS, Target

# Of the C library, and the loader. On musl the C library is all of them.
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
MACOS = {"x86_64": 0x01000007, "arm64": 0x0100000C}


class Wrong(Exception):
    """What a wheel must not be."""


def require(met: bool, what: str) -> None:
    if not met:
        raise Wrong(what)


def check(wheel: Path) -> None:
    target = TARGETS[wheel.stem.split("-")[-1]]
    with zipfile.ZipFile(wheel) as packed, tempfile.TemporaryDirectory() as folder:
        packed.extractall(folder)
        check_record(Path(folder))
        names = packed.namelist()
        for name in sources.listed():
            require(
                any(n.endswith(f"/licenses/inside/{name}.txt") for n in names),
                f"{name} has no licence",
            )
        (module,) = Path(folder).glob("dueq/_core.*.so")
        (command,) = Path(folder).glob("*.data/scripts/dueq")
        for built in (module, command):
            (check_macho if target.is_macos else check_elf)(built, target)
        if not target.is_macos:
            check_exports(module)
    if "-abi3-" in wheel.name:
        audit("abi3audit", "--strict", str(wheel))
    if not target.is_macos:
        check_policy(wheel, target)


def check_record(folder: Path) -> None:
    (record,) = folder.glob("*.dist-info/RECORD")
    listed = record.read_text(encoding="utf-8").splitlines()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    require({line.split(",")[0] for line in listed} == found, "RECORD does not list the files")
    for line in listed:
        name, digest, _ = line.rsplit(",", 2)
        hashed = hashlib.sha256((folder / name).read_bytes()).digest()
        expected = base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
        require(digest in {"", f"sha256={expected}"}, f"RECORD has another checksum of {name}")


def readelf(path: Path, *options: str) -> str:
    words = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def check_elf(path: Path, target: Target) -> None:
    header, dynamic = readelf(path, "--file-header"), readelf(path, "--dynamic")
    segments, symbols = readelf(path, "--segments"), readelf(path, "--dyn-syms")
    require(MACHINES[target.machine] in header, f"{path.name} is for another processor")
    require("DYN (" in header, f"{path.name} has a fixed address")
    require("GNU_RELRO" in segments, f"{path.name} has no RELRO")
    require("BIND_NOW" in dynamic or "NOW" in dynamic, f"{path.name} binds lazily")
    stack = [line for line in segments.splitlines() if "GNU_STACK" in line]
    require(bool(stack) and " RW " in stack[0], f"{path.name} has a stack that can run")
    if target.machine == "x86_64":
        # mov %fs:0x28, REGISTER: the guard. zig links what ends the process, so no symbol shows it.
        guards = re.findall(rb"\x64[\x48\x4c]\x8b.\x25\x28\0\0\0", path.read_bytes(), re.S)
        require(len(guards) > 500, f"{path.name} has no stack protector")
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))
    musl = {f"libc.musl-{target.machine}.so.1"}
    allowed = musl if target.is_musl else GLIBC | LOADERS
    require(needed <= allowed, f"{path.name} needs {needed - allowed}")
    newest = re.search(r"_(\d+)_(\d+)_", target.name)
    if newest and not target.is_musl:
        versions = {(int(a), int(b)) for a, b in re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols)}
        latest = max(versions)
        require(latest <= (int(newest[1]), int(newest[2])), f"{path.name} needs glibc {latest}")
        require("_chk@" in symbols, f"{path.name} has no _FORTIFY_SOURCE")


def check_exports(module: Path) -> None:
    """A symbol of OpenSSL that the extension exports could meet that of another module."""
    defined = re.findall(
        r"^ *\d+: [0-9a-f]+ +\d+ +\w+ +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)",
        readelf(module, "--dyn-syms"),
        flags=re.M,
    )
    require(defined == ["PyInit__core"], f"the extension exports {defined}")


def check_macho(path: Path, target: Target) -> None:
    """See mach-o/loader.h of macOS."""
    content = path.read_bytes()
    magic, processor, _, _, count = struct.unpack_from("<5I", content)
    require(magic == 0xFEEDFACF, f"{path.name} is no Mach-O file of 64 bits")
    require(processor == MACOS[target.name.split("_", 3)[3]], f"{path.name}: another processor")
    at, needed = 32, set()
    for _ in range(count):
        command, size = struct.unpack_from("<2I", content, at)
        if command & 0x7FFFFFFF in {0xC, 0x18}:  # LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB
            (name,) = struct.unpack_from("<I", content, at + 8)
            needed.add(content[at + name : at + size].partition(b"\0")[0].decode())
        if command == 0x32:  # LC_BUILD_VERSION
            (least,) = struct.unpack_from("<I", content, at + 12)
            require(least <= 11 << 16, f"{path.name} needs macOS {least >> 16}")
        at += size
    require(needed <= {"/usr/lib/libSystem.B.dylib"}, f"{path.name} needs {needed}")


def audit(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False
    )
    require(done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def check_policy(wheel: Path, target: Target) -> None:
    """auditwheel says the best policy: a glibc as old or older, and this musl."""
    shown = " ".join(audit("auditwheel", "show", str(wheel)).split())
    found = re.search(r'platform tag: "((?:many|musl)linux)_(\d+)_(\d+)_(\w+)"', shown)
    require(bool(found), f"auditwheel: {shown}")
    assert found
    family, major, minor, machine = found.groups()
    wanted = re.fullmatch(r"(\w+linux)_(\d+)_(\d+)_(\w+)", target.name)
    assert wanted
    require((family, machine) == (wanted[1], wanted[4]), f"auditwheel: {found[0]}")
    require((int(major), int(minor)) <= (int(wanted[2]), int(wanted[3])), f"auditwheel: {shown}")


if __name__ == "__main__":
    failed = False
    for word in sys.argv[1:]:
        try:
            check(Path(word))
            print(f"  {Path(word).name}: as its name says")
        except Wrong as wrong:
            failed = True
            print(f"  {Path(word).name}: {wrong}", file=sys.stderr)
    sys.exit(failed)
