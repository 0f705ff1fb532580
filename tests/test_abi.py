"""Programs on libraries that have other structs than their headers: docs/c.md, Structs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSES = ("core", "interop")
PROGRAM = ROOT / "tests/abi/program.c"
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
STRUCT = re.compile(r"typedef struct (dueq_\w+) \{(.*?)^\} \1;", re.S | re.M)
# Those that never change.
FIXED = {
    *("dueq_bytes", "dueq_header", "dueq_durability", "dueq_backoff", "dueq_timing", "dueq_value")
}


def headers(root: Path = ROOT) -> list[Path]:
    return [path for house in HOUSES for path in sorted((root / house).glob("dueq*.h"))]


def structs() -> dict[str, str]:
    """The body of each public struct, by its name."""
    return {
        name: body
        for path in headers()
        for name, body in STRUCT.findall(path.read_text(encoding="utf-8"))
    }


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_struct_has_a_size_or_is_fixed_or_is_only_read() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in headers())
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name, body in structs().items():
        sized = bool(re.match(r"\s*size_t struct_size;", body))
        # An array of it, or room for one, is the program's own.
        given = re.findall(rf"\([^;]*?(?<!const ){name} \*(\w+)[^;]*\);", code)
        given += re.findall(rf"const {name} \*\w+, size_t \w*count", code)
        given += re.findall(rf"const {name} \*(?:options|filter|schedule)\b", code)
        assert sized or name in FIXED or not given, name
        assert not sized or re.search(rf"^#define DUEQ_\w+\s.*?sizeof\({name}\)", code, re.M | re.S)
        assert sized == (f"`{name}`" in the_row("begin with")), name
        assert (name in FIXED) == (f"`{name}`" in the_row("`dueq_bytes`")), name
        # Structs in it, and arrays of structs that the program indexes.
        inside = re.findall(r"^ +(?:const )?(dueq_\w+) \*?\w", body, flags=re.M)
        pointed = {"dueq_draft"} if name in ("dueq_plan", "dueq_batch_options") else set()
        found = {other for other in inside if other in structs()} - FIXED - pointed
        assert not found, f"{name} has {found}"


def the_row(begin: str) -> str:
    """A row of the table of docs/c.md."""
    document = (ROOT / "docs/c.md").read_text(encoding="utf-8")
    [row] = [line for line in document.splitlines() if line.startswith(f"| {begin}")]
    return row.split("|")[1]


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with one more member in each struct that may grow, and their library."""
    folder = tmp_path_factory.mktemp("grown")
    for house in HOUSES:
        shutil.copytree(ROOT / house, folder / house)
    for path in headers(folder):
        path.write_text(
            STRUCT.sub(
                lambda found: (
                    found[0]
                    if found[1] in FIXED
                    else found[0].replace(f"}} {found[1]};", f"    int64_t added;\n}} {found[1]};")
                ),
                path.read_text(encoding="utf-8"),
            ),
            encoding="utf-8",
        )
    sources = [
        folder / line
        for house in HOUSES
        for line in (folder / house / "sources.list").read_text(encoding="utf-8").split()
    ]
    for path in sources:
        # What counts the members of a struct.
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"_Static_assert\(sizeof .*?\);", "", text, flags=re.S), "utf-8")
    includes = [f"-I{folder / house}" for house in HOUSES]

    def compiled(source: Path) -> Path:
        made = source.with_suffix(".o")
        # As CMake builds it; `added` is missing in initializers that name no members.
        options = [*FLAGS, "-Wno-missing-field-initializers", "-fPIC", "-fvisibility=hidden"]
        run("cc", *options, *includes, "-c", source, "-o", made)
        return made

    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        objects = list(pool.map(compiled, sources))
    link = ["-shared", "-Wl,-soname,libdueq.so.0", f"-Wl,--version-script={ROOT / 'dueq.map'}"]
    libraries = ["-lhiredis", "-lssl", "-lcrypto", "-lpthread"]
    run("cc", *link, *objects, "-o", folder / "libdueq.so.0", *libraries)
    return folder


def program(folder: Path, root: Path, *options: str) -> Path:
    """The program, built with the headers of these sources."""
    made = folder / "program"
    includes = [f"-I{root / house}" for house in HOUSES]
    library = ROOT / "build/cmake/libdueq.so"
    run("cc", *FLAGS, "-O1", *options, *includes, PROGRAM, "-o", made, library)
    return made


def runs(made: Path, library: Path, folder: Path, *words: str) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    data = folder / "data"
    data.mkdir(mode=0o700)
    done = subprocess.run(
        [made, data, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_program_runs_on_the_library_of_its_header(tmp_path: Path) -> None:
    runs(program(tmp_path, ROOT), ROOT / "build/cmake", tmp_path)


def test_an_older_program_runs_on_a_library_with_more_in_each_struct(
    grown: Path, tmp_path: Path
) -> None:
    runs(program(tmp_path, ROOT), grown, tmp_path)


def test_a_newer_program_runs_on_an_older_library_which_refuses_what_it_does_not_know(
    grown: Path, tmp_path: Path
) -> None:
    made = program(tmp_path, grown, "-DADDED")
    runs(made, ROOT / "build/cmake", tmp_path, "refuses")


def test_a_newer_program_runs_on_its_own_library(grown: Path, tmp_path: Path) -> None:
    runs(program(tmp_path, grown, "-DADDED"), grown, tmp_path, "accepts")
