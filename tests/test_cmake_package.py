"""What cmake --install gives to other C programs: find_package(dueq) of CMake."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
#include <dueq.h>
#include <stdio.h>
int main(void) {
    return puts(dueq_version()) < 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(small C)
find_package(dueq REQUIRED)
add_executable(small small.c)
target_link_libraries(small PRIVATE dueq::dueq)
"""


def run(*words: str | Path, **variables: str) -> str:
    done = subprocess.run(
        words, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def version() -> str:
    header = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
    return header.split('#define DUEQ_VERSION "')[1].split('"')[0]


@pytest.fixture(scope="module", params=["shared", "static"])
def prefix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, installed in a folder of its own."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "shared":
        build = ROOT / "build/cmake"
    else:
        build = folder / "build"
        words = ["-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_BUILD_TYPE=Debug"]
        run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *words)
        run("cmake", "--build", build, "--target", "dueq", "dueq-cli", "dueq-program-files")
    run("cmake", "--install", build, "--prefix", folder / "installed")
    return folder / "installed"


def test_cmake_finds_the_installed_library(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "small.c").write_text(PROGRAM, encoding="utf-8")
    run("cmake", "-S", tmp_path, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "small").strip() == version()
