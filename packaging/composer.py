"""
Makes the packages of Composer that belong to the extension, one zip each: python
packaging/composer.py FOLDER. Composer installs them from that folder as a repository of the type
"artifact", or a registry gets each as a repository of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from archives import Member, member, zipped
from project import ROOT, git_files, source_date, version

# The packages, with the folders that they are in. dueq/dueq is the extension itself, which PIE
# installs: its name belongs to no other package.
PACKAGES = {
    "dueq/worker": "bindings/php/worker",
    "dueq/laravel": "bindings/php/laravel",
    "dueq/symfony-messenger": "bindings/php/symfony",
    "dueq/stubs": "bindings/php/stubs",
}
STUB = "bindings/php/dueq.stub.php"


def manifest(text: str) -> str:
    """
    A package's composer.json as it is released. In the repository the packages require each other
    and the extension in any version, because there they are always of one commit.
    """
    found = json.loads(text)
    for name, constraint in found["require"].items():
        if constraint == "*":
            found["require"][name] = f"~{version()}"
    name, description = found.pop("name"), found.pop("description")
    full = {"name": name, "description": description, "version": version(), **found}
    return json.dumps(full, indent=4, ensure_ascii=False) + "\n"


def members(package: str) -> dict[str, Member]:
    folder = PACKAGES[package]
    names = git_files("--", folder)
    found = {str(Path(name).relative_to(folder)): member(ROOT / name) for name in names}
    own = found["composer.json"].content.decode()
    found["composer.json"] = Member(manifest(own).encode())
    found["LICENSE"] = member(ROOT / "LICENSE")
    if package == "dueq/stubs":
        found[Path(STUB).name] = member(ROOT / STUB)
    return found


def archive_name(package: str) -> str:
    return f"{package.replace('/', '-')}-{version()}.zip"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        zipped(folder / archive_name(package), members(package), source_date())
        print(folder / archive_name(package))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
