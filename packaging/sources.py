"""The sources of the libraries that are linked into what is installed (sources.toml)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from targets import CACHE, need

LIST = Path(__file__).with_name("sources.toml")
ARCHIVES = CACHE / "archives"


def listed() -> dict[str, dict[str, str]]:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def archive(name: str) -> Path:
    """The archive of a library, from the cache or from its registry. Its checksum is right."""
    entry = listed()[name]
    file = ARCHIVES / entry.get("file", f"{name}-{entry['version']}.crate")
    if not file.exists() or digest(file) != entry["sha256"]:
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        fetched = from_debian(entry) if "debian" in entry else from_crates(entry)
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


def from_debian(entry: dict[str, str]) -> Path:
    """apt gets the file by the list of sources of a suite, beside this machine's own lists."""
    need("apt-get")
    state = CACHE / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    sources = state / f"{entry['suite']}.list"
    sources.write_text(f"deb-src {mirror()} {entry['suite']} main\n", encoding="utf-8")
    options = [
        f"Dir::Etc::sourcelist={sources}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={state / 'lists'}",
        f"Dir::Cache={state}",
        "APT::Sandbox::User=root",
    ]
    apt = ["apt-get", "-qq", *[word for option in options for word in ("-o", option)]]
    if not list((state / "lists").glob(f"*_{entry['suite']}_*Sources*")):
        subprocess.run([*apt, "update"], check=True)
    shown = subprocess.run(
        [*apt, "source", "--print-uris", "--download-only", entry["debian"]],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    uris = [
        uri for uri, file in re.findall(r"^'(\S+)' (\S+)", shown, re.M) if file == entry["file"]
    ]
    if not uris:
        sys.exit(f"Debian's {entry['suite']} has {entry['debian']} in another version now: {shown}")
    target = state / entry["file"]
    subprocess.run(["/usr/lib/apt/apt-helper", "download-file", uris[0], str(target)], check=True)
    return target


def mirror() -> str:
    """The mirror of Debian that this machine uses."""
    shown = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(COMPONENT)"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    for line in shown.splitlines():
        uri, _, rest = line.partition(" ")
        if rest == "Debian main" and "security" not in uri:
            return uri
    return sys.exit("this machine has no mirror of Debian in its list of packages' sources")


def unpack(name: str, folder: Path) -> Path:
    """Unpacks a library's source below a folder. Returns its own folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(archive(name)) as packed:
        packed.extractall(folder, filter="tar")
    (inner,) = folder.iterdir()
    crate = inner / name
    return crate if crate.is_dir() else inner
