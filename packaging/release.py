"""
What a release has beside its packages.

usage: python packaging/release.py check VERSION
       python packaging/release.py source FOLDER
       python packaging/release.py finish FOLDER

check ends with 1 unless this commit is VERSION. source writes the source archive. finish describes
the packages in FOLDER: the changes, a bill of materials, release.json with the wire version, and
SHA256SUMS.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sources
from project import commit, committed, soname, source_date, text, version, wire_version
from sources import digest

SUMS = "SHA256SUMS"


def changes() -> str:
    """The part of CHANGELOG.md about this version."""
    parts = re.split(r"^## ", text("CHANGELOG.md"), flags=re.M)[1:]
    found = [part.partition("\n")[2] for part in parts if part.split()[0].strip(",") == version()]
    if len(found) != 1:
        sys.exit(f"CHANGELOG.md must have one heading '## {version()}', and has {len(found)}")
    return found[0].strip() + "\n"


def check(wanted: str) -> None:
    if wanted != version():
        sys.exit(
            f"core/dueq.h is version {version()}, not {wanted}: set DUEQ_VERSION, and begin a part"
            f" of CHANGELOG.md for it, or release {version()}"
        )
    changes()
    wire_version()
    soname()


def source(folder: Path) -> None:
    name = f"dueq-{version()}"
    path = folder / f"{name}-source.tar.gz"
    path.write_bytes(gzip.compress(committed(f"{name}/"), mtime=source_date()))
    print(path)


def moment() -> str:
    return datetime.fromtimestamp(source_date(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bill(files: dict[str, str]) -> dict[str, Any]:
    """The bill of materials, in the form CycloneDX 1.6. files: the checksum of each package."""
    reference = f"dueq@{version()}"
    linked = sources.components()
    packages = [
        {
            "type": "file",
            "bom-ref": name,
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": checksum}],
        }
        for name, checksum in sorted(files.items())
    ]
    # The same release has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([commit(), files], sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {
            "timestamp": moment(),
            "component": {
                "type": "library",
                "bom-ref": reference,
                "name": "dueq",
                "version": version(),
                "licenses": [{"license": {"id": "MIT"}}],
                "purl": f"pkg:generic/dueq@{version()}",
            },
        },
        "components": [*linked, *packages],
        "dependencies": [{"ref": reference, "dependsOn": [each["bom-ref"] for each in linked]}],
    }


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def finish(folder: Path) -> None:
    described = [f"dueq-{version()}.cdx.json", "release.json", "CHANGES.md", SUMS]
    packages = sorted(path for path in folder.iterdir() if path.name not in described)
    if not packages:
        sys.exit(f"{folder} has no packages: ./dev release makes them first")
    files = {path.name: digest(path) for path in packages}
    write_json(folder / described[0], bill(files))
    release = {
        "version": version(),
        "wire": int(wire_version()),
        "library": soname(),
        "commit": commit(),
        "date": moment(),
        "files": files,
    }
    write_json(folder / "release.json", release)
    stored = (
        f"Wire version {wire_version()}, library {soname()}. Versions of one wire version work on a"
        " queue together.\n"
    )
    (folder / "CHANGES.md").write_text(f"{changes()}\n{stored}", encoding="utf-8")
    everything = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = [f"{digest(path)}  {path.name}\n" for path in everything]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def main() -> None:
    match sys.argv[1:]:
        case ["check", wanted]:
            check(wanted)
        case ["source", folder]:
            source(Path(folder))
        case ["finish", folder]:
            finish(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
