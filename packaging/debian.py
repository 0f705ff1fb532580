"""Files of Debian's releases, fetched by apt beside the lists of this machine's own release."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from targets import CACHE, need

STATE = CACHE / "apt"


@cache
def apt(suite: str, processor: str = "") -> list[str]:
    """
    The beginning of a command of apt-get that knows this release, and none else. processor: as
    Debian names it; without it, that of this machine.
    """
    need("apt-get")
    state = state_of(suite, processor)
    for folder in ["lists/partial", "archives/partial", "files"]:
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    listed = state / "sources.list"
    base = mirror()
    listed.write_text(f"deb {base} {suite} main\ndeb-src {base} {suite} main\n", encoding="utf-8")
    options = [
        f"Dir::Etc::sourcelist={listed}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={state / 'lists'}",
        f"Dir::State::status={state / 'status'}",
        f"Dir::Cache={state}",
        "APT::Sandbox::User=root",
        "Acquire::Languages=none",
        # The mirror of an unreleased suite may be old. Its signature is checked all the same.
        "Acquire::Check-Valid-Until=false",
    ]
    if processor:
        options += [f"APT::Architecture={processor}", f"APT::Architectures={processor}"]
    words = ["apt-get", "-qq", *[word for option in options for word in ("-o", option)]]
    subprocess.run([*words, "update"], check=True)
    return words


def state_of(suite: str, processor: str) -> Path:
    return STATE / (f"{suite}-{processor}" if processor else suite)


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


def source(suite: str, package: str, file: str) -> Path:
    """A file of a source package."""
    folder = STATE / suite / "files"
    words = [*apt(suite), "source", "--print-uris", "--download-only", package]
    shown = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    uris = [uri for uri, name in re.findall(r"^'(\S+)' (\S+)", shown, re.M) if name == file]
    if not uris:
        sys.exit(f"Debian's {suite} has {package} in another version now: {shown}")
    helper = ["/usr/lib/apt/apt-helper", "-qq", "-o", "APT::Sandbox::User=root"]
    subprocess.run([*helper, "download-file", uris[0], str(folder / file)], check=True)
    return folder / file


def unpacked(suite: str, package: str, processor: str = "") -> Path:
    """The folder with the files of a package, in the version that the release has now."""
    folder = state_of(suite, processor) / "files" / package
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    need("dpkg-deb")
    subprocess.run([*apt(suite, processor), "download", package], cwd=folder, check=True)
    (file,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", str(file), str(folder)], check=True)
    file.unlink()
    return folder
