"""
Builds the command dueq as one file that needs no other: python packaging/static.py [TARGET...].
The files come into build/static.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import libraries
from project import ROOT, version
from targets import COMPILE, TARGETS, Target, chosen, run

OUT = ROOT / "build" / "static"
MOST_BYTES = 10_000_000
STATIC = {name: target for name, target in TARGETS.items() if target.is_musl}


def static(target: Target) -> Path:
    libraries.build(target)
    made = target.folder / "static"
    shutil.rmtree(made, ignore_errors=True)
    tools = target.folder / "bin"
    words = [
        "-DCMAKE_BUILD_TYPE=MinSizeRel", f"-DCMAKE_C_FLAGS={COMPILE}", "-DBUILD_SHARED_LIBS=OFF",
        "-DCMAKE_EXE_LINKER_FLAGS=-static -s -Wl,--gc-sections", "-DCMAKE_SYSTEM_NAME=Linux",
        f"-DCMAKE_SYSTEM_PROCESSOR={target.machine}", "-DCMAKE_C_COMPILER=dueq-cc",
        f"-DCMAKE_AR={tools / 'dueq-ar'}", f"-DCMAKE_RANLIB={tools / 'dueq-ranlib'}",
        # No library of this machine.
        f"-DCMAKE_FIND_ROOT_PATH={target.prefix}", "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY",
    ]  # fmt: skip
    environment = target.environment()
    log = target.folder / "static.log"
    log.unlink(missing_ok=True)
    run(["cmake", "-S", str(ROOT), "-B", str(made), *words], ROOT, environment, log)
    build = ["cmake", "--build", str(made), "--target", "dueq-cli", "--parallel", libraries.jobs()]
    run(build, ROOT, environment, log)
    path = OUT / f"dueq-{version()}-linux-{target.machine}"
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(made / "dueq", path)
    size = path.stat().st_size
    print(f"  {path.relative_to(ROOT)} {size / 1e6:.1f} MB", flush=True)
    if size > MOST_BYTES:
        sys.exit(f"{path.name} is larger than {MOST_BYTES / 1e6} MB")
    return path


if __name__ == "__main__":
    for target in chosen(sys.argv[1:], STATIC):
        static(target)
