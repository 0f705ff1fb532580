"""What is released: archives that are equal at each build, and the manifests of packages."""

from __future__ import annotations

import json
import os
import re
import shutil
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
import pie  # noqa: E402
import project  # noqa: E402
import release  # noqa: E402
import sdist  # noqa: E402
import sources  # noqa: E402

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
        assert rows == [("a.txt", 0o100644), ("b/run", 0o100755)]
        assert archive.read("b/run") == MEMBERS["b/run"].content
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_a_source_keeps_its_files_and_what_can_be_run(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.add(ROOT / "dev", "dueq/dev")
        archive.add(ROOT / "README.md", "dueq/README.md")
        archive.add(ROOT / "packaging/debian/source", "dueq/source", recursive=False)
    found = sdist.members(tmp_path / "x.tar")
    assert found == {
        "dueq/dev": archives.member(ROOT / "dev"),
        "dueq/README.md": archives.member(ROOT / "README.md"),
    }
    assert found["dueq/dev"].executable


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


def test_the_library_s_name_is_that_of_its_package() -> None:
    assert f"Package: {project.soname().replace('.so.', '')}\n" in project.text(
        "packaging/debian/control"
    )


# ---- The extension as PIE installs it ----


def test_names_are_those_that_pie_looks_for() -> None:
    # As PIE 1.4 writes them, in src/Platform/PrePackagedBinaryAssetName.php; it compares them with
    # the names of a release in small letters.
    wanted = {
        f"php_dueq-v{project.version()}_php{php}-{processor}-linux-{libc}{threads}.tgz"
        for php in ("8.2", "8.4")
        for processor in ("x86_64", "arm64")
        for libc in ("glibc", "musl")
        for threads in ("", "-zts")
    }
    names = [binary.name for binary in pie.binaries()]
    assert len(names) == len({*names})
    assert {*names} == wanted
    assert [name.lower() for name in names] == names


def test_pie_builds_all_sources_of_the_extension() -> None:
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "bindings/php").rglob("*.c")}
    assert {*pie.php_sources()} == found


def test_pie_tries_a_binary_and_then_the_source() -> None:
    manifest = json.loads(project.text("composer.json"))
    methods = ["pre-packaged-binary", "composer-default"]
    assert manifest["php-ext"]["download-url-method"] == methods
    options = {option["name"] for option in manifest["php-ext"]["configure-options"]}
    arguments = re.findall(r"PHP_ARG_ENABLE\(\[(.+)\]", project.text("config.m4"))
    assert options == {f"enable-{name}" for name in arguments}


def output(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "packaging" / words[0]), *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pie_prints_names_without_building(tmp_path: Path) -> None:
    done = output("pie.py", "--list", str(tmp_path / "none"), "*8.4-x86_64*glibc*")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        f"php_dueq-v{project.version()}_php8.4-x86_64-linux-glibc.tgz",
        f"php_dueq-v{project.version()}_php8.4-x86_64-linux-glibc-zts.tgz",
    ]
    assert not (tmp_path / "none").exists()


def test_pie_says_which_names_there_are(tmp_path: Path) -> None:
    done = output("pie.py", str(tmp_path), "*php7*")
    assert done.returncode == 1
    assert "no archive has a name like *php7*; there are:\n  php_dueq-v" in done.stderr


# ---- Packages of Debian ----

DEBIAN = ROOT / "packaging/debian"


def test_debian_has_five_packages() -> None:
    packages = re.findall(r"^Package: (.+)$", (DEBIAN / "control").read_text(), flags=re.M)
    assert packages == ["libdueq0", "libdueq-dev", "dueq", "python3-dueq", "php-dueq"]


def test_symbols_of_each_version_have_a_package_s_version() -> None:
    nodes = re.findall(r"^DUEQ_([\d.]+) \{", project.text("dueq.map"), flags=re.M)
    symbols = (DEBIAN / "libdueq0.symbols").read_text()
    assert re.findall(r"^ \(symver\)DUEQ_(\S+) (\S+)$", symbols, flags=re.M) == [
        (node, node) for node in nodes
    ]


@pytest.mark.parametrize("unit", ["dueq-web", "dueq-metrics", "dueq-worker@"])
def test_systemd_finds_nothing_wrong_with_debian_s_units(tmp_path: Path, unit: str) -> None:
    (found,) = DEBIAN.glob(f"dueq*.{unit.rstrip('@')}.service")
    command = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert command, "there is no dueq on the PATH; name one by DUEQ_CLI"
    text = found.read_text().replace("/usr/bin/dueq", command)
    name = f"{unit}shop.service" if unit.endswith("@") else f"{unit}.service"
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
    )
    about_it = [line for line in done.stderr.splitlines() if name in line]
    assert (done.returncode, about_it) == (0, [])


def test_debian_s_licence_is_the_project_s() -> None:
    licence = " ".join(project.text("LICENSE").partition("\n\nPermission")[2].split())
    lines = (DEBIAN / "copyright").read_text().partition("\n Permission")[2].splitlines()
    assert " ".join(" ".join(line.strip() for line in lines if line != " .").split()) == licence


# ---- A release ----


def test_a_release_must_be_the_version_of_the_header() -> None:
    done = output("release.py", "check", "99.0.0")
    assert done.returncode == 1
    assert "set DUEQ_VERSION" in done.stderr
    assert output("release.py", "check", project.version()).returncode == 0


def made(folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    release.source(folder)
    composer.main(folder)
    release.finish(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_releases_are_equal(tmp_path: Path) -> None:
    one = made(tmp_path / "one")
    assert one == made(tmp_path / "two")
    checked = ["sha256sum", "--check", "--strict", "--quiet", release.SUMS]
    subprocess.run(checked, cwd=tmp_path / "one", check=True)
    assert len(one[release.SUMS].splitlines()) == len(one) - 1
    described = json.loads(one["release.json"])
    assert described["wire"] == 1
    assert described["version"] == project.version()
    assert {*described["files"]} < {*one}
    assert "Wire version 1, library libdueq.so.0." in one["CHANGES.md"].decode()


def test_a_bill_of_materials_names_libraries_and_files(tmp_path: Path) -> None:
    bill = json.loads(made(tmp_path / "one")[f"dueq-{project.version()}.cdx.json"])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    libraries = [each["name"] for each in bill["components"] if each["type"] == "library"]
    assert libraries == sorted(sources.listed())
    references = {each["bom-ref"] for each in bill["components"]}
    assert {*bill["dependencies"][0]["dependsOn"]} < references


def test_each_part_of_a_release_is_made() -> None:
    script = (
        ". dev.d/release.sh\n"
        'for part in "${RELEASE_PARTS[@]}"; do declare -F "release_$part" || exit 1; done'
    )
    subprocess.run(["bash", "-c", script], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_the_workflow_runs_the_same_command() -> None:
    workflow = project.text(".github/workflows/release.yml")
    assert './dev release "${GITHUB_REF_NAME#v}"' in workflow
    assert 'tags: ["v*"]' in workflow


# ---- ./dev ----


def dev(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "dev"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["wheels", "static", "debs", "pie", "release", "matrix"])
def test_a_command_has_help(command: str) -> None:
    done = dev(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: ./dev {command} ")
    assert f"./dev {command}" in dev("help").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["debs", "jessie"], "there is no suite jessie; there are: bookworm trixie"),
        (["wheels", "--fast"], "there is no option --fast: see ./dev wheels --help"),
        (["static", "--fast"], "there is no option --fast: see ./dev static --help"),
        (["pie", "--fast"], "there is no option --fast: see ./dev pie --help"),
        (["matrix", "jessie"], "there is no suite jessie; there are: bullseye bookworm"),
        (["release"], "usage: ./dev release VERSION"),
        (["release", "1.0.0", "--only", "rpms"], "there is no part rpms; there are: source "),
    ],
)
def test_a_wrong_command_says_what_there_is(words: list[str], says: str) -> None:
    done = dev(*words)
    assert done.returncode == 2
    assert says in done.stderr
