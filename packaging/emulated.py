"""
Tries a wheel, or an archive of PIE, for arm64 with glibc by an emulator: python
packaging/emulated.py FILE EMULATOR. The emulator, qemu-aarch64-static, runs Debian's Python or PHP
for arm64, with the file's contents: README's example over TLS, and of a wheel the contract.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import debian
from project import ROOT, text
from targets import CACHE

sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "topology")]

from certificates import Certificates  # noqa: E402
from private_server import Server, free_port  # noqa: E402

PYTHON = [
    *["python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"],
    *["libc6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libuuid1", "libbz2-1.0", "liblzma5"],
]
# What each PHP of Debian links, by the release.
PHP = {
    "bookworm": ["libssl3", "libicu72"],
    "trixie": ["libssl3t64", "libicu76", "libzstd1"],
}
PHP_EVERYWHERE = [
    *["libc6", "zlib1g", "libargon2-1", "libpcre2-8-0", "libsodium23", "libxml2", "liblzma5"],
    *["libstdc++6", "libgcc-s1", "libedit2", "libbsd0", "libmd0", "libtinfo6"],
]
CONTRACT = "tests/contract/test_contract.py"


def system(name: str, suite: str, packages: Sequence[str]) -> Path:
    """A folder with the files of the packages, as the root of an arm64 system has them."""
    root = CACHE / f"arm64-{name}"
    if not (root / "complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        for package in packages:
            unpacked = debian.unpacked(suite, package, "arm64")
            shutil.copytree(unpacked, root, symlinks=True, dirs_exist_ok=True)
        if not (root / "lib").exists():  # since Debian 13 it is a link, which no package here has
            (root / "lib").symlink_to("usr/lib")
        (root / "complete").touch()
    return root


def example(language: str) -> str:
    """README's first example in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```", text("README.md"), flags=re.S | re.M)
    assert found
    return found[1]


def run(
    emulator: str, root: Path, words: Sequence[str], environment: Mapping[str, str], stdin: str = ""
) -> str:
    """Runs a program of the root, and returns what it printed."""
    ended = subprocess.run(
        [emulator, "-L", str(root), *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        input=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )
    if ended.returncode != 0:
        sys.exit(f"{words} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def try_wheel(wheel: Path, emulator: str, folder: Path, server: Mapping[str, str]) -> str:
    root = system("python3.11", "bookworm", PYTHON)
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    (command,) = (folder / "site").glob("*.data/scripts/dueq")
    command.chmod(0o755)
    home = {
        "PYTHONHOME": str(root / "usr"),
        "PYTHONPATH": f"{folder / 'site'}:{folder / 'pytest'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment = {**server, **home}
    python = str(root / "usr/bin/python3.11")
    asked = "import os, dueq; print(os.uname().machine)"
    machine = run(emulator, root, [python, "-c", asked], environment).strip()
    assert machine == "aarch64", machine
    printed = run(emulator, root, [python, "-c", example("python")], environment)
    assert printed == "pack order 7\norder 7 is not paid\n", printed
    version = run(emulator, root, [str(command), "--version"], environment).strip()
    words = ["--quiet", "--target", str(folder / "pytest"), "pytest", "pytest-timeout"]
    subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True)
    contract = ["-m", "pytest", "-q", "-o", f"cache_dir={folder / 'cache'}", CONTRACT]
    told = run(emulator, root, [python, *contract], home)
    return f"{version}, and the contract, {told.splitlines()[-1]}"


def try_php(archive: Path, emulator: str, folder: Path, server: Mapping[str, str]) -> str:
    (version,) = re.findall(r"_php(\d+\.\d+)-", archive.name)
    listed = tomllib.loads(text("packaging/php.toml"))["php"]
    (suite,) = (php["suite"] for php in listed if php["version"] == version)
    packages = [f"php{version}-cli", f"php{version}-common", *PHP_EVERYWHERE, *PHP[suite]]
    root = system(f"php{version}", suite, packages)
    with tarfile.open(archive) as packed:
        packed.extract("dueq.so", folder)
    php = [str(root / f"usr/bin/php{version}"), "-n", "-d", f"extension={folder / 'dueq.so'}"]
    machine = run(emulator, root, [*php, "-r", "echo php_uname('m');"], server)
    assert machine == "aarch64", machine
    printed = run(emulator, root, php, server, stdin=example("php"))
    assert "order 9 is not paid" in printed, printed
    return run(emulator, root, [*php, "-r", "echo 'PHP ', PHP_VERSION;"], server)


def main(file: Path, emulator: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certificates = Certificates(folder, "localhost")
        port = free_port()
        options = ["--tls-port", str(port), "--tls-auth-clients", "no", *certificates.options()]
        server = {"DUEQ_URL": f"rediss://localhost:{port}", "SSL_CERT_FILE": str(certificates.ca)}
        with Server(*options):
            tried = try_wheel if file.suffix == ".whl" else try_php
            shown = tried(file, emulator, folder, server)
    print(f"  {file.name}: README's example over TLS, and {shown}, on aarch64 by {emulator}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
