"""
Builds the C library, the command and the C tests for musl, by musl-gcc, into build/musl: python
packaging/musl_tests.py. hiredis, OpenSSL and the other libraries are those of the static command.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import libraries
from project import ROOT
from targets import CACHE, TARGETS, Target, need, run

MADE = ROOT / "build" / "musl"


def for_tests(target: Target) -> Path:
    """Where the tests' own library is, which nothing that is installed may find."""
    return target.folder / "tests"


def cmocka(target: Target, source: Path, log: Path) -> None:
    libraries.by_cmake(target, for_tests(target), source, log, ["WITH_EXAMPLES=OFF"])


def linux_headers() -> Path:
    """musl has no headers of Linux. Those of Debian lie beside the headers of glibc."""
    folder = CACHE / "linux"
    folder.mkdir(parents=True, exist_ok=True)
    system = Path("/usr/include")
    for found in (system / "linux", system / "asm-generic", *system.glob("*/asm")):
        link = folder / found.name
        link.unlink(missing_ok=True)
        link.symlink_to(found)
    return folder


def main() -> None:
    target = TARGETS[f"musllinux_1_2_{platform.machine()}"]
    libraries.build(target)
    libraries.build_one(target, "cmocka", cmocka)
    found = [prefix / "lib" / "pkgconfig" for prefix in (target.prefix, for_tests(target))]
    environment = {
        **os.environ,
        "PKG_CONFIG_LIBDIR": os.pathsep.join(map(str, found)),
        "PKG_CONFIG_PATH": "",
    }
    words = [
        *["-G", "Ninja", f"-DCMAKE_C_COMPILER={need('musl-gcc')}", "-DDUEQ_WERROR=ON"],
        f"-DCMAKE_C_FLAGS=-idirafter {linux_headers()}",
    ]
    log = ROOT / "build" / "log" / "musl.log"
    log.unlink(missing_ok=True)
    run(["cmake", "-S", str(ROOT), "-B", str(MADE), *words], ROOT, environment, log)
    run(["cmake", "--build", str(MADE)], ROOT, environment, log)


if __name__ == "__main__":
    main()
