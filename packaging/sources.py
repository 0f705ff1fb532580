"""The sources of the libraries that are linked into what is installed (sources.toml)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import debian
from project import ROOT, git_files
from targets import CACHE, need

LIST = Path(__file__).with_name("sources.toml")
ARCHIVES = CACHE / "archives"


def every() -> dict[str, dict[str, str]]:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def listed() -> dict[str, dict[str, str]]:
    """Those that are linked into what is installed."""
    return {name: entry for name, entry in every().items() if "for_tests" not in entry}


def components() -> list[dict[str, Any]]:
    """The libraries, as a bill of materials has them in the form CycloneDX."""
    return [
        {
            "type": "library",
            "bom-ref": f"{name}@{entry['version']}",
            "name": name,
            "version": entry["version"],
            "licenses": [{"expression": entry["spdx"]}],
            "hashes": [{"alg": "SHA-256", "content": entry["sha256"]}],
            "purl": entry["purl"],
        }
        for name, entry in sorted(listed().items())
    ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def archive(name: str) -> Path:
    """The archive of a library, from the cache or from its registry. The checksum is right."""
    entry = every()[name]
    file = ARCHIVES / entry.get("file", f"{name}-{entry['version']}.crate")
    if not file.exists() or digest(file) != entry["sha256"]:
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        if "debian" in entry:
            fetched = debian.source(entry["suite"], entry["debian"], entry["file"])
        else:
            fetched = from_crates(entry)
        shutil.copyfile(fetched, file)
    if digest(file) != entry["sha256"]:
        sys.exit(f"{file}: its SHA-256 is {digest(file)}, and {LIST.name} says {entry['sha256']}")
    return file


def from_crates(entry: dict[str, str]) -> Path:
    """Cargo gets the crate, as a dependency of a package of our own that is never built."""
    need("cargo")
    folder = CACHE / "crate"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "lib.rs").touch()
    wanted = f'{entry["crate"]} = "={entry["crate_version"].partition("+")[0]}"'
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\n{wanted}\n',
        encoding="utf-8",
    )
    (folder / "Cargo.lock").unlink(missing_ok=True)
    subprocess.run(["cargo", "fetch", "-q"], cwd=folder, check=True)
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    name = f"{entry['crate']}-{entry['crate_version']}.crate"
    found = list((home / "registry" / "cache").glob(f"*/{name}"))
    if not found:
        sys.exit(f"cargo fetched no {name}")
    return found[0]


def of_the_repository() -> list[str]:
    """The files that git has or would add, as they are now."""
    found = set(git_files("--cached", "--others", "--exclude-standard"))
    return [name for name in sorted(found) if (ROOT / name).is_file()]


def unpack(name: str, folder: Path) -> Path:
    """Unpacks a library's source below a folder. Returns its own folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Not tarfile: Debian 12's Python has no filter for it, and a later one asks for a filter.
    command = ["tar", "--no-same-owner", "--no-same-permissions", "-xf", str(archive(name))]
    subprocess.run([*command, "-C", str(folder)], check=True)
    (inner,) = folder.iterdir()
    # A crate of Cargo has the library's source in a folder beside the code that builds it.
    return inner / name if "crate" in every()[name] else inner
