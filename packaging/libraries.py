"""
Builds the libraries that dueq needs as static ones, for one target: python packaging/libraries.py
TARGET. What was built before is used again.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import sources
from targets import Target, chosen, need, run, zig

SMALL = "-Os -ffunction-sections -fdata-sections -fPIC -fvisibility=hidden -fstack-protector-strong"


def jobs() -> str:
    """How many compilers run at a time: $DUEQ_JOBS, or as many as there are processors."""
    return os.environ.get("DUEQ_JOBS") or str(os.cpu_count() or 1)


JOBS = f"-j{jobs()}"


def openssl(target: Target, source: Path, log: Path) -> None:
    # Its configuration file may name modules that belong to the system's own OpenSSL.
    left_out = (
        "shared tests apps docs legacy module dso engine comp ssl3 tls1 tls1_1 autoload-config "
        "idea md4 mdc2 rc2 rc4 rc5 rmd160 seed camellia aria blake2 cast bf whirlpool sm2 sm3 sm4 "
        "srp cms ts cmp http psk gost dtls sctp srtp quic uplink ui-console"
    )
    words = [f"no-{word}" for word in left_out.split()]
    environment = {**target.environment(), "CFLAGS": SMALL}
    run(
        [
            "perl",
            "./Configure",
            target.openssl,
            *words,
            f"--prefix={target.prefix}",
            "--libdir=lib",
            "--openssldir=/etc/ssl",
        ],
        source,
        environment,
        log,
    )
    run(["make", JOBS, "build_libs"], source, environment, log)
    run(["make", "install_dev"], source, environment, log)


def hiredis(target: Target, source: Path, log: Path) -> None:
    environment = target.environment()
    words = ["CC=dueq-cc", "AR=dueq-ar", f"OPTIMIZATION={SMALL}", "USE_SSL=0"]
    run(
        ["make", JOBS, "static", "hiredis.pc", f"PREFIX={target.prefix}", *words],
        source,
        environment,
        log,
    )
    headers = target.prefix / "include" / "hiredis"
    headers.mkdir(parents=True, exist_ok=True)
    for header in ["hiredis.h", "async.h", "read.h", "sds.h", "alloc.h", "sockcompat.h"]:
        shutil.copy(source / header, headers)
    shutil.copy(source / "libhiredis.a", target.prefix / "lib")
    shutil.copy(source / "hiredis.pc", target.prefix / "lib" / "pkgconfig")


def json_c(target: Target, source: Path, log: Path) -> None:
    options = ["BUILD_STATIC_LIBS=ON", "BUILD_APPS=OFF", "DISABLE_WERROR=ON"]
    by_cmake(target, target.prefix, source, log, [*options, "DISABLE_EXTRA_LIBS=ON"])


def by_cmake(target: Target, prefix: Path, source: Path, log: Path, options: Sequence[str]) -> None:
    system = "Darwin" if target.is_macos else "Linux"
    words = [
        "-DCMAKE_BUILD_TYPE=MinSizeRel", f"-DCMAKE_C_FLAGS={SMALL}", "-DCMAKE_INSTALL_LIBDIR=lib",
        f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DCMAKE_SYSTEM_NAME={system}",
        f"-DCMAKE_SYSTEM_PROCESSOR={target.machine}", "-DCMAKE_C_COMPILER=dueq-cc",
        f"-DCMAKE_AR={target.folder / 'bin' / 'dueq-ar'}",
        f"-DCMAKE_RANLIB={target.folder / 'bin' / 'dueq-ranlib'}",
        "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF",
    ]  # fmt: skip
    words += [f"-D{option}" for option in options]
    environment = target.environment()
    run(["cmake", "-S", ".", "-B", "made", *words], source, environment, log)
    run(["cmake", "--build", "made", JOBS], source, environment, log)
    run(["cmake", "--install", "made"], source, environment, log)


def libmicrohttpd(target: Target, source: Path, log: Path) -> None:
    left_out = "shared https doc examples curl postprocessor bauth dauth httpupgrade cookie nls"
    words = [f"--disable-{word}" for word in left_out.split()]
    configure(target, source, log, ["--enable-static", *words])


def ncurses(target: Target, source: Path, log: Path) -> None:
    left_out = "shared debug ada cxx cxx-binding progs manpages tests"
    terminals = "xterm,xterm-256color,screen,screen-256color,tmux-256color,linux,vt100,dumb"
    folders = "/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo"
    words = [
        *[f"--without-{word}" for word in left_out.split()],
        "--enable-widec", "--with-normal", "--disable-db-install", "--disable-stripping",
        f"--with-terminfo-dirs={folders}", "--with-default-terminfo-dir=/usr/share/terminfo",
        f"--with-fallbacks={terminals}", "--enable-pc-files", "--with-build-cc=cc",
        f"--with-pkg-config-libdir={target.prefix / 'lib' / 'pkgconfig'}",
    ]  # fmt: skip
    if target.is_macos:
        # A short, its other type, needs a header of macOS that zig does not have.
        words.append("--with-ospeed=unsigned")
    configure(target, source, log, words)


def configure(target: Target, source: Path, log: Path, words: list[str]) -> None:
    environment = {**target.environment(), "CFLAGS": SMALL}
    run(
        ["./configure", f"--host={target.host}", f"--prefix={target.prefix}", *words],
        source,
        environment,
        log,
    )
    run(["make", JOBS], source, environment, log)
    run(["make", "install"], source, environment, log)


Build = Callable[[Target, Path, Path], None]
BUILDS: dict[str, Build] = {
    "openssl": openssl,
    "hiredis": hiredis,
    "json-c": json_c,
    "libmicrohttpd": libmicrohttpd,
    "ncurses": ncurses,
}


def build(target: Target) -> None:
    """Builds what is not built yet, or was built from another source or by another recipe."""
    for name, make in BUILDS.items():
        build_one(target, name, make)


def build_one(target: Target, name: str, make: Build) -> None:
    """As build(), one library."""
    for program in ("perl", "make", "cmake"):
        need(program)
    entry = sources.every()[name]
    compiler = subprocess.check_output([zig(), "version"], text=True)
    steps = [inspect.getsource(step) for step in (make, configure, by_cmake)]
    recipe = [*steps, SMALL, repr(target), compiler, entry["sha256"]]
    key = hashlib.sha256("".join(recipe).encode()).hexdigest()
    stamp = target.folder / f"{name}.stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == key:
        return
    print(f"  {target.name}: {name} {entry['version']}", flush=True)
    (target.prefix / "lib" / "pkgconfig").mkdir(parents=True, exist_ok=True)
    log = target.folder / f"{name}.log"
    log.unlink(missing_ok=True)
    source = sources.unpack(name, target.folder / "source")
    make(target, source, log)
    licences = target.prefix / "licences"
    licences.mkdir(exist_ok=True)
    shutil.copy(source / entry["license"], licences / f"{name}.txt")
    shutil.rmtree(target.folder / "source")
    stamp.write_text(key, encoding="utf-8")


if __name__ == "__main__":
    for target in chosen(sys.argv[1:]):
        build(target)
