"""
Builds the PHP extension as PIE installs it without a compiler: one archive for each version of PHP
(php.toml), processor, C library and mode of threads, with hiredis and OpenSSL inside.

usage: python packaging/pie.py [--list] FOLDER [PATTERN...]

FOLDER gets the archives whose names match a PATTERN of the shell, such as '*8.4-x86_64*'; without a
PATTERN all of them. --list prints the names and builds nothing.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

import libraries
from archives import Member, member, tgz
from debian import unpacked
from elf import as_alpine_names_libc, check_exports, check_linked, export_map
from project import ROOT, source_date, text, version
from targets import CACHE, TARGETS, Target, need, run

# What PIE and Debian call the processors.
PROCESSORS = {"x86_64": ("x86_64", "amd64"), "aarch64": ("arm64", "arm64")}
FLAGS = [
    *["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-fstack-protector-strong"],
    *["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-ffunction-sections", "-fdata-sections"],
    *[f"-ffile-prefix-map={ROOT}=.", "-D_GNU_SOURCE", "-DDUEQ_API=", "-Icore", "-Iinterop"],
]
# What phpize, configure and config.h say otherwise.
MODULE = ["-DCOMPILE_DL_DUEQ=1", "-DZEND_COMPILE_DL_EXT=1", "-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1"]
LINK = [
    *["-shared", "-pthread", "-s", "-Wl,--gc-sections"],
    *["-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,nodelete"],
]


@dataclass(frozen=True)
class Binary:
    """One archive: the extension for a version of PHP on a target, with or without threads."""

    php: str
    suite: str
    target: Target
    threads: bool

    @property
    def name(self) -> str:
        """
        As PIE looks for it: src/Platform/PrePackagedBinaryAssetName.php of PIE 1.4. The version is
        the tag, as Composer shows it. PIE unpacks a .tgz by PHP alone, and a .zip by unzip.
        """
        processor = PROCESSORS[self.target.machine][0]
        libc = "musl" if self.target.is_musl else "glibc"
        threads = "-zts" if self.threads else ""
        return f"php_dueq-v{version()}_php{self.php}-{processor}-linux-{libc}{threads}.tgz"


def binaries() -> list[Binary]:
    listed = tomllib.loads(text("packaging/php.toml"))["php"]
    return [
        Binary(php["version"], php["suite"], target, threads)
        for php in listed
        for target in TARGETS.values()
        if not target.is_macos
        for threads in (False, True)
    ]


# ---- PHP's headers ----


def headers(php: str, suite: str, processor: str) -> Path:
    """The folder of PHP's headers, out of Debian's package."""
    folder = CACHE / "php" / f"{php}-{processor}"
    if not folder.exists():
        shutil.copytree(unpacked(suite, f"php{php}-dev", processor), folder, symlinks=True)
    found = list(folder.glob("usr/include/php/*/main/php.h"))
    if len(found) != 1:
        sys.exit(f"php{php}-dev of Debian's {suite} has php.h in {len(found)} places, not in one")
    return found[0].parents[1]


# ---- The extension ----


def core_sources() -> list[str]:
    return " ".join(text(f"{house}/sources.list") for house in ("core", "interop")).split()


def php_sources() -> list[str]:
    """Those that config.m4 names."""
    named = re.findall(r"bindings/php/[\w/]+\.c", text("config.m4").partition("NEW_EXTENSION")[2])
    return list(dict.fromkeys(named))


def objects(
    target: Target, names: Sequence[str], words: Sequence[str], inputs: bytes
) -> list[Path]:
    """Compiles sources, unless the same sources were compiled by the same words."""
    flags = [*FLAGS, *words]
    key = sha256(" ".join(flags).encode() + inputs).hexdigest()[:16]
    folder = target.folder / "pie" / key
    made = [folder / f"{name.replace('/', '.')[:-2]}.o" for name in names]
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(name: str, path: Path) -> None:
        if not path.exists():
            new = path.with_suffix(".new.o")
            cc = ["dueq-cc", *flags, "-c", name, "-o", str(new)]
            run(cc, ROOT, target.environment(), folder / f"{path.stem}.log")
            new.rename(path)

    with ThreadPoolExecutor(int(libraries.jobs())) as pool:
        list(pool.map(compile_one, names, made))
    return made


def digest_of(*folders: str) -> bytes:
    """The contents of the C files in folders."""
    paths = sorted(path for each in folders for path in (ROOT / each).rglob("*.[chi]*"))
    total = sha256()
    for path in paths:
        if path.suffix in {".c", ".h", ".inc"}:
            total.update(path.read_bytes())
    return total.digest()


def extension(binary: Binary) -> Path:
    """Builds dueq.so."""
    target = binary.target
    libraries.build(target)
    found = headers(binary.php, binary.suite, PROCESSORS[target.machine][1])
    included = [f"-isystem{found / part}" for part in (".", "main", "TSRM", "Zend", "ext")]
    libc = [f"-isystem{target.prefix / 'include'}"]
    core = digest_of("core", "interop")
    made = objects(target, core_sources(), libc, core)
    threads = ["-DZTS=1"] if binary.threads else []
    inputs = core + digest_of("bindings/php") + str(found).encode()
    made += objects(target, php_sources(), [*MODULE, *threads, *included, *libc], inputs)
    folder = target.folder / "pie" / binary.name.removesuffix(".tgz")
    folder.mkdir(parents=True, exist_ok=True)
    # A module exports the one function that PHP looks for.
    exports = export_map(folder, "get_module")
    linked = [str(target.prefix / "lib" / f"lib{name}.a") for name in ("hiredis", "ssl", "crypto")]
    words = [*LINK, f"-Wl,--version-script={exports}", *map(str, made), *linked]
    library = folder / "dueq.so"
    run(["dueq-cc", *words, "-o", str(library)], ROOT, target.environment(), folder / "link.log")
    as_alpine_names_libc(library, target)
    check_linked(library, target)
    check_exports(library, "get_module")
    return library


def licences(target: Target) -> dict[str, Member]:
    found = {"LICENSE": member(ROOT / "LICENSE")}
    for name in ("hiredis", "openssl"):
        found[f"licences/{name}.txt"] = member(target.prefix / "licences" / f"{name}.txt")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        usage=str(__doc__).partition("usage: ")[2], add_help=True, allow_abbrev=False
    )
    parser.add_argument("--list", action="store_true", dest="only_names")
    parser.add_argument("folder", type=Path)
    parser.add_argument("pattern", nargs="*", default=["*"])
    given = parser.parse_args()
    chosen = [
        each for each in binaries() if any(fnmatch(each.name, word) for word in given.pattern)
    ]
    if not chosen:
        every = "\n  ".join(binary.name for binary in binaries())
        sys.exit(f"no archive has a name like {' or '.join(given.pattern)}; there are:\n  {every}")
    if given.only_names:
        print("\n".join(binary.name for binary in chosen))
        return
    need("readelf")
    given.folder.mkdir(parents=True, exist_ok=True)
    for binary in chosen:
        library = Member(extension(binary).read_bytes(), executable=True)
        contents = {"dueq.so": library, **licences(binary.target)}
        tgz(given.folder / binary.name, contents, source_date())
        print(given.folder / binary.name, flush=True)


if __name__ == "__main__":
    main()
