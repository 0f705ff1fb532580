"""How packaging/ puts a wheel together, without its compiler."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "packaging"))

import check_wheels  # noqa: E402
import elf  # noqa: E402
import project  # noqa: E402
import sources  # noqa: E402
import targets  # noqa: E402
import wheels  # noqa: E402

INFO = f"dueq-{project.version()}.dist-info"
TAG = "cp311-abi3-manylinux_2_28_x86_64"
MADE = {
    "dueq/_core.abi3.so": b"\x7fELF",
    f"dueq-{project.version()}.data/scripts/dueq": b"\x7fELF",
    f"{INFO}/RECORD": b"of another tag",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nTag: cp311-abi3-linux_x86_64\nTag: a-b-c\n\n",
    f"{INFO}/METADATA": b"Name: dueq\nLicense-Expression: MIT\nLicense-File: LICENSE\n\nText\n",
}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> targets.Target:
    """A target whose libraries are built, as far as a wheel takes files of theirs."""
    monkeypatch.setattr(targets, "CACHE", tmp_path / "cache")
    target = targets.TARGETS["manylinux_2_28_x86_64"]
    (target.prefix / "licences").mkdir(parents=True)
    for name in sources.listed():
        (target.prefix / "licences" / f"{name}.txt").write_text(f"of {name}", encoding="utf-8")
    return target


def test_a_wheel_has_its_tag_a_record_and_the_licences_of_all_that_is_inside(
    target: targets.Target, tmp_path: Path
) -> None:
    path = tmp_path / f"dueq-{project.version()}-{TAG}.whl"
    wheels.write(path, wheels.finished(MADE, target, TAG))
    with zipfile.ZipFile(path) as packed:
        packed.extractall(tmp_path / "unpacked")
        command = packed.getinfo(f"dueq-{project.version()}.data/scripts/dueq")
        assert command.external_attr >> 16 == 0o100755
    check_wheels.check_record(tmp_path / "unpacked")
    info = tmp_path / "unpacked" / INFO
    wheel = (info / "WHEEL").read_text(encoding="utf-8").splitlines()
    assert wheel == ["Wheel-Version: 1.0", f"Tag: {TAG}"]
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    head, _, text = metadata.partition("\n\n")
    assert text == "Text\n"
    for name, entry in sources.listed().items():
        assert f"License-File: inside/{name}.txt" in head.splitlines()
        assert (info / f"licenses/inside/{name}.txt").read_text(encoding="utf-8") == f"of {name}"
        assert entry["spdx"] in head
        assert f'"{entry["version"]}"' in (info / "sboms/dueq.cdx.json").read_text(encoding="utf-8")


def test_two_wheels_of_the_same_files_are_equal(target: targets.Target, tmp_path: Path) -> None:
    files = wheels.finished(MADE, target, TAG)
    for name, order in (("one", list(files)), ("other", list(reversed(files)))):
        wheels.write(tmp_path / name, {key: files[key] for key in order})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_changed_file_is_not_that_of_the_record(target: targets.Target, tmp_path: Path) -> None:
    files = wheels.finished(MADE, target, TAG)
    for name, content in files.items():
        (tmp_path / "wheel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "wheel" / name).write_bytes(content)
    check_wheels.check_record(tmp_path / "wheel")
    (tmp_path / "wheel/dueq/_core.abi3.so").write_bytes(b"other")
    with pytest.raises(elf.Wrong, match="another checksum"):
        check_wheels.check_record(tmp_path / "wheel")


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("manylinux_2_28_aarch64", "linux-aarch64"),
        ("musllinux_1_2_x86_64", "linux-x86_64"),
        ("macosx_11_0_arm64", "macosx-11.0-arm64"),
        ("macosx_11_0_x86_64", "macosx-11.0-x86_64"),
    ],
)
def test_platform_as_sysconfig_names_it(name: str, platform: str) -> None:
    assert targets.TARGETS[name].python_platform == platform
