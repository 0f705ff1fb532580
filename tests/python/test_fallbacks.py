"""CA certificates and time zones of Python's packages, where the system has none."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dueq import _core, _fallbacks


def install(site: Path, package: str) -> Path:
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text("raise ImportError('nobody needs the code')\n")
    return site / package


def next_time(site: Path) -> subprocess.CompletedProcess[str]:
    """The next time of a schedule in a zone that no system has."""
    code = "import dueq; print(dueq.next_time('0 12 * * *', zone='Moon/Base'))"
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_zone_is_in_the_package_tzdata(tmp_path: Path) -> None:
    absent = next_time(tmp_path)
    assert absent.returncode != 0
    assert "there is no time zone Moon/Base" in absent.stderr
    zones = install(tmp_path, "tzdata") / "zoneinfo"
    (zones / "Moon").mkdir(parents=True)
    shutil.copy("/usr/share/zoneinfo/Europe/Berlin", zones / "Moon" / "Base")
    found = next_time(tmp_path)
    assert found.returncode == 0, found.stderr


def test_files_are_those_of_installed_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    given: list[tuple[str, str]] = []
    core = SimpleNamespace(set_fallbacks=lambda ca, zones: given.append((ca, zones)))
    monkeypatch.setattr(_fallbacks, "_core", core)
    certifi, tzdata = install(tmp_path, "certifi"), install(tmp_path, "tzdata")
    importlib.invalidate_caches()
    _fallbacks.set_fallbacks()
    assert given == [(str(certifi / "cacert.pem"), str(tzdata / "zoneinfo"))]


def test_files_are_none_without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, str]] = []
    core = SimpleNamespace(set_fallbacks=lambda ca, zones: given.append((ca, zones)))
    monkeypatch.setattr(_fallbacks, "_core", core)
    monkeypatch.setattr(_fallbacks, "find_spec", lambda _: None)
    _fallbacks.set_fallbacks()
    assert given == [("", "")]


def test_fallbacks_are_texts() -> None:
    with pytest.raises(TypeError):
        _core.set_fallbacks(None, 7)  # type: ignore[arg-type]
