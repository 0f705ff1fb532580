"""
Makes the source of the Python package as pip builds it: python packaging/sdist.py FOLDER. It is
made of the last commit, and holds SWIG's wrapper, so that it builds without SWIG.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from archives import Member, tgz
from project import committed, source_date, version


def members(archive: Path) -> dict[str, Member]:
    found = {}
    with tarfile.open(archive) as packed:
        for entry in packed:
            file = packed.extractfile(entry) if entry.isfile() else None
            if file:
                found[entry.name] = Member(file.read(), executable=bool(entry.mode & 0o100))
    return found


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"dueq-{version()}.tar"
    with tempfile.TemporaryDirectory() as temporary:
        tree, made = Path(temporary, "tree"), Path(temporary, "made")
        tree.mkdir()
        subprocess.run(["tar", "-C", tree, "-x"], input=committed(), check=True)
        subprocess.run(
            [sys.executable, "setup.py", "-q", "sdist", "--formats=tar", f"--dist-dir={made}"],
            cwd=tree,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(source_date())},
            check=True,
        )
        tgz(folder / f"{name}.gz", members(made / name), source_date())
    print(folder / f"{name}.gz")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
