"""
Tries a wheel for arm64 with glibc by an emulator: python packaging/emulated.py WHEEL EMULATOR. The
emulator, qemu-aarch64-static, runs the Python of Debian 12 for arm64, with the wheel's files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import debian
from project import ROOT, text
from targets import CACHE

sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "topology")]

from certificates import Certificates  # noqa: E402
from private_server import Server, free_port  # noqa: E402

SUITE = "bookworm"
PACKAGES = [
    *["python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"],
    *["libc6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libuuid1", "libbz2-1.0", "liblzma5"],
]


def system() -> Path:
    """A folder with the files of the packages, as the root of an arm64 system has them."""
    root = CACHE / "arm64"
    if not (root / "complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        for package in PACKAGES:
            unpacked = debian.unpacked(SUITE, package, "arm64")
            shutil.copytree(unpacked, root, symlinks=True, dirs_exist_ok=True)
        (root / "complete").touch()
    return root


def first_example() -> str:
    """README's first example in Python."""
    found = re.search(r"^```python\n(.*?)^```", text("README.md"), flags=re.S | re.M)
    assert found
    return found[1]


def main(wheel: Path, emulator: str) -> None:
    root = system()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder / "site")
        (command,) = (folder / "site").glob("*.data/scripts/dueq")
        command.chmod(0o755)
        certificates = Certificates(folder, "localhost")
        port = free_port()
        options = ["--tls-port", str(port), "--tls-auth-clients", "no", *certificates.options()]
        with Server(*options):
            environment = {
                **os.environ,
                "PYTHONHOME": str(root / "usr"),
                "PYTHONPATH": str(folder / "site"),
                "DUEQ_URL": f"rediss://localhost:{port}",
                "SSL_CERT_FILE": str(certificates.ca),
            }

            def run(*words: str) -> str:
                return subprocess.run(
                    [emulator, "-L", str(root), *words],
                    env=environment,
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                ).stdout

            python = str(root / "usr/bin/python3.11")
            machine = run(python, "-c", "import os, dueq; print(os.uname().machine)").strip()
            assert machine == "aarch64", machine
            printed = run(python, "-c", first_example())
            assert printed == "pack order 7\norder 7 is not paid\n", printed
            shown = run(str(command), "--version").strip()
    print(f"  {wheel.name}: README's example over TLS, and {shown}, on {machine} by {emulator}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
