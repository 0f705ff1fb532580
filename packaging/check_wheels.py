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
from elf import Wrong, check_exports, check_linked, require
from targets import TARGETS, Target

MACOS = {"x86_64": 0x01000007, "arm64": 0x0100000C}


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
            (check_macho if target.is_macos else check_linked)(built, target)
        if not target.is_macos:
            check_exports(module, "PyInit__core")
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
