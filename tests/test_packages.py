"""What is released: archives that are equal at each build, and the manifests of packages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "packaging"))

import archives  # noqa: E402
import composer  # noqa: E402
import project  # noqa: E402

DATE = 1790000000
MEMBERS = {
    "b/run": archives.Member(b"#!/bin/sh\n", executable=True),
    "a.txt": archives.Member("grüße\n".encode()),
}


@pytest.mark.parametrize("write", [archives.tgz, archives.zipped])
def test_an_archive_depends_on_its_contents_alone(tmp_path: Path, write: Any) -> None:
    write(tmp_path / "one", MEMBERS, DATE)
    mask = os.umask(0o077)
    try:
        write(tmp_path / "two", dict(reversed(MEMBERS.items())), DATE)
    finally:
        os.umask(mask)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_tar_has_its_files(tmp_path: Path) -> None:
    archives.tgz(tmp_path / "x.tgz", MEMBERS, DATE)
    with tarfile.open(tmp_path / "x.tgz") as archive:
        rows = [(each.name, each.mode, each.mtime, each.uid) for each in archive.getmembers()]
        assert rows == [("a.txt", 0o644, DATE, 0), ("b/run", 0o755, DATE, 0)]
        content = archive.extractfile("a.txt")
        assert content
        assert content.read() == MEMBERS["a.txt"].content


def test_a_zip_has_its_files(tmp_path: Path) -> None:
    archives.zipped(tmp_path / "x.zip", MEMBERS, 0)
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        rows = [(each.filename, each.external_attr >> 16) for each in archive.infolist()]
        assert rows == [("a.txt", 0o644), ("b/run", 0o755)]
        assert archive.read("b/run") == MEMBERS["b/run"].content
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


# ---- Packages of Composer ----


def released(package: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(composer.members(package)["composer.json"].content)
    return found


def test_each_package_has_a_name_of_its_own() -> None:
    manifests = ROOT.glob("bindings/php/*/composer.json")
    names = [json.loads(path.read_text(encoding="utf-8"))["name"] for path in manifests]
    assert sorted(names) == sorted(composer.PACKAGES)
    extension = json.loads(project.text("composer.json"))
    assert extension["type"] == "php-ext"
    assert extension["name"] not in names


@pytest.mark.parametrize("package", composer.PACKAGES)
def test_a_released_package_names_versions(package: str) -> None:
    manifest = released(package)
    assert (manifest["name"], manifest["version"]) == (package, project.version())
    ours = {
        name: constraint
        for name, constraint in manifest["require"].items()
        if name == "ext-dueq" or name.startswith("dueq/")
    }
    assert set(ours.values()) <= {f"~{project.version()}"}
    assert "*" not in manifest["require"].values()


def test_a_package_has_the_files_that_it_names(tmp_path: Path) -> None:
    composer.main(tmp_path)
    for package in composer.PACKAGES:
        with zipfile.ZipFile(tmp_path / composer.archive_name(package)) as archive:
            names = archive.namelist()
            manifest = json.loads(archive.read("composer.json"))
        assert {"LICENSE", "README.md", "composer.json"} <= {*names}
        for command in manifest.get("bin", []):
            assert composer.members(package)[command].executable
        for folder in manifest.get("autoload", {}).get("psr-4", {}).values():
            assert any(name.startswith(folder) for name in names), folder
    assert composer.members("dueq/stubs").keys() == {
        *["LICENSE", "README.md", "composer.json", "dueq.stub.php"]
    }


def test_composer_installs_the_packages(tmp_path: Path) -> None:
    composer.main(tmp_path)
    for package in composer.PACKAGES:
        with zipfile.ZipFile(tmp_path / composer.archive_name(package)) as archive:
            archive.extractall(tmp_path / package)
    interfaces = json.loads(project.text("dev.d/composer.json"))["repositories"]
    ours = {"type": "path", "url": "dueq/*", "options": {"symlink": False}}
    shop = {
        "repositories": {**interfaces, "dueq": ours},
        "require": {"dueq/worker": project.version(), "dueq/stubs": project.version()},
        "config": {"platform": {"ext-dueq": project.version()}},
    }
    (tmp_path / "composer.json").write_text(json.dumps(shop), encoding="utf-8")
    done = subprocess.run(
        ["composer", "install", "--no-interaction", "--working-dir", tmp_path],
        env={
            **os.environ,
            "COMPOSER_HOME": str(tmp_path / "home"),
            "COMPOSER_ALLOW_SUPERUSER": "1",
            "COMPOSER_NO_AUDIT": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vendor/dueq/stubs/dueq.stub.php").exists()
    assert (tmp_path / "vendor/bin/dueq-worker").exists()


# ---- What this repository says of itself ----


def test_the_wire_version_is_the_one_of_the_protocol() -> None:
    protocol = project.text("docs/internals/protocol.md")
    described = re.findall(r"says of the keys is \*wire (\d+)\*", protocol)
    assert described == [project.wire_version()]
