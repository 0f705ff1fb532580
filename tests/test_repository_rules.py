"""The rules of the house: what the files of this repository must be to each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEADER = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
CONTRACT = [
    *[
        "core/dueq.h",
        "core/dueq_ends.h",
        "core/dueq_failures.h",
        "core/dueq_rates.h",
        "core/dueq_verbs.h",
    ],
    *["interop/dueq_redisson.h", "interop/dueq_laravel.h", "servers/dueq_server.h"],
]
VERBS = tomllib.loads((ROOT / "core/verbs.toml").read_text(encoding="utf-8"))
HOUSES = ["core", "interop", "servers"]
# What builds and tests leave in the tree; .gitignore has the same.
MADE = {".git", "build", "modules", "autom4te.cache", ".libs", "__pycache__", "dueq.egg-info"}


def files(folder: str = ".", *patterns: str) -> list[Path]:
    """The sources in a folder of the repository."""
    found = [
        path
        for pattern in patterns or ("*",)
        for path in (ROOT / folder).rglob(pattern)
        if path.is_file() and not MADE.intersection(path.relative_to(ROOT).parts)
    ]
    assert found, f"no {patterns} in {folder}"
    return sorted(found)


def text(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def output(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def included(path: Path) -> set[str]:
    return set(re.findall(r'^\s*[#%]\s*include\s*[<"]([^>"]+)[>"]', text(path), flags=re.M))


def headers_of(path: Path) -> list[str]:
    """What it includes; of this repository with its path in it, as the compiler finds it."""
    folders = [path.parent, *(ROOT / house for house in HOUSES), ROOT]
    headers = []
    for include in included(path):
        found = [folder / include for folder in folders if (folder / include).is_file()]
        headers.append(name(found[0].resolve()) if found else include)
    return headers


# ---- Layers ----


@pytest.mark.parametrize("folder", ["bindings", "swig", "cli"])
def test_includes_of_the_core_are_its_contract_only(folder: str) -> None:
    for path in files(folder, "*.[chi]"):
        if path.name.endswith("_wrap.c"):
            continue
        headers = headers_of(path)
        assert "hiredis/hiredis.h" not in headers, name(path)
        inside = [header for header in headers if header.startswith(tuple(HOUSES))]
        assert not set(inside) - set(CONTRACT), name(path)


# From below: a room includes itself and those named here, by the header that has the room's name.
ROOMS = {
    "base": [],
    "net": ["base"],
    "embedded": ["base"],
    "client": ["base", "net", "embedded"],
    "verbs": ["base", "net", "embedded", "client"],
    "check": ["base", "net", "embedded", "client", "verbs"],
    "schedule": ["base", "net", "embedded", "client", "verbs"],
    "partition": ["base", "net", "embedded", "client", "verbs"],
    "consumer": ["base", "net", "embedded", "client", "verbs", "partition"],
}


@pytest.mark.parametrize("room", ROOMS)
def test_calls_go_down(room: str) -> None:
    below = {f"core/{other}/{other}.h" for other in ROOMS[room]} | set(CONTRACT)
    for path in files(f"core/{room}", "*.[ch]"):
        for header in headers_of(path):
            own = header.startswith(f"core/{room}/") or not header.startswith(tuple(HOUSES))
            scripts = (header, path.name) == ("core/scripts.inc", "scripts.c")
            assert own or scripts or header in below, f"{name(path)} includes {header}"


def test_rooms_are_all_of_the_core() -> None:
    folders = {path.parent.name for path in files("core", "*.[ch]")}
    assert folders == {*ROOMS, "core"}
    folder = sorted(name(path) for path in (ROOT / "core").glob("*.[ch]"))
    assert folder == sorted(header for header in CONTRACT if header.startswith("core/"))


def test_core_does_not_know_other_systems() -> None:
    for path in files("core"):
        assert not re.search(r"redisson|laravel", text(path), flags=re.I), name(path)


@pytest.mark.parametrize("house", ["interop", "servers"])
def test_houses_beside_the_core_use_its_verbs(house: str) -> None:
    below = {"core/dueq.h", "core/verbs/verbs.h"}
    for path in files(house, "*.[ch]"):
        used = {header for header in headers_of(path) if header.startswith("core/")}
        assert used <= below, name(path)


def test_php_names_other_systems_in_their_room_only() -> None:
    others = re.compile("redisson|laravel", re.IGNORECASE)
    for path in (ROOT / "bindings/php").glob("*.[ch]"):
        # The module, and what is generated for it, register the classes of all rooms.
        if path.name not in {"dueq.c", "dueq_arginfo.h"}:
            assert not others.search(text(path)), name(path)
    stub = text("bindings/php/dueq.stub.php")
    ours = re.findall(r"^namespace Dueq(?:\\Exception)?\n\{.*?^\}", stub, flags=re.S | re.M)
    assert [bool(others.search(part)) for part in ours] == [False, False]


def test_includes_of_libraries_are_where_they_belong() -> None:
    for path in [path for house in HOUSES for path in files(house, "*.[ch]")]:
        libraries = {include.split("/")[0] for include in included(path) if "/" in include}
        if path.name != "resp_read.c":
            assert "hiredis" not in libraries, name(path)
        if path.name not in {"tls.c", "tls.h"}:
            assert "openssl" not in libraries, name(path)


def test_the_command_prints_by_its_own_stream() -> None:
    """Another stream would not wait for a slow reader, and not every libc can replace stdout."""
    other = re.compile(r"\b(?:v?printf|putchar|puts)\(|\bstdout\b")
    for path in files("cli", "*.c"):
        assert not other.search(re.sub(r"/\*.*?\*/", "", text(path), flags=re.S)), name(path)


def test_contract_includes_only_the_language() -> None:
    assert included(ROOT / CONTRACT[0]) == {
        "poll.h",
        "stddef.h",
        "stdint.h",
        "dueq_ends.h",
        "dueq_failures.h",
        "dueq_rates.h",
        "dueq_verbs.h",
    }
    for header in CONTRACT[1:]:
        assert included(ROOT / header) == {"dueq.h"}


@pytest.mark.parametrize("house", ["core", "interop"])
def test_sources_are_listed_once(house: str) -> None:
    listed = text(f"{house}/sources.list").split()
    assert sorted(listed) == [name(path) for path in files(house, "*.c")]


# ---- One place for each fact ----


@pytest.mark.parametrize("maker", ["core/scripts/embed.py", "core/verbs.py"])
def test_what_is_generated_is_fresh(maker: str) -> None:
    output(sys.executable, maker, "--check")


def test_python_names_other_systems_in_their_rooms_only() -> None:
    rooms, package = {"interop", "laravel", "redisson"}, ROOT / "bindings/python/dueq"
    for path in files("bindings/python/dueq", "*.py"):
        # The package says where they are; the failure LAYOUT is among the core's.
        if path not in (package / "__init__.py", package / "errors.py"):
            inside = rooms.intersection(path.relative_to(package).parts)
            assert inside or not re.search("redisson|laravel", text(path), re.I), name(path)


def test_blocking_face_of_python_is_fresh() -> None:
    output(sys.executable, "bindings/python/blocking.py", "--check")


def test_version_stands_once() -> None:
    found = re.search(r'#define DUEQ_VERSION "(\d+\.\d+\.\d+)"', HEADER)
    assert found
    version = re.compile(rf"(?<![\d.]){re.escape(found[1])}(?![\d.])")
    places = [name(path) for path in files("core") + files("interop") + files("swig", "*.i")]
    places += [
        name(path) for path in files("bindings") + files("cli") + files("dev.d") + files("bench")
    ]
    places += ["setup.py", "pyproject.toml", "config.m4", "CMakeLists.txt", "composer.json"]
    places += ["MANIFEST.in", "dev", "README.md"]
    assert [place for place in places if version.search(text(place))] == ["core/dueq.h"]
    assert f"## {found[1]}" in text("CHANGELOG.md")


# Where a verb is another one's, or a method of what another one gives.
PARTS = {"reserve_any": "reserve", "relock": "extend", "unlock": "release"}
PARTS |= {"ack_push": "ack", "ack_result": "ack", "ack_push_result": "ack"}

# What only the program does that works on the message.
NOT_IN_THE_SHELL = {"checkpoint", "fire", "push_to"}


@pytest.mark.parametrize("verb", VERBS)
def test_verb_is_the_same_word_everywhere(verb: str) -> None:
    assert (ROOT / f"core/scripts/{verb}.lua").exists() or verb in {
        "queues",
        "reserve_any",
        "fire",
        "unlock",
        "ack_result",
    }
    python = "".join(text(path) for path in files("bindings/python/dueq/aio", "*.py"))
    word = PARTS.get(verb, verb)
    method = re.search(rf"^(    )?async def {word}\(|^    def {word}\(", python, flags=re.M)
    assert method
    first, *others = {"queues": "names"}.get(verb, word).split("_")
    camel = first + "".join(map(str.capitalize, others))
    assert f"function {camel}(" in text("bindings/php/dueq.stub.php")
    # In C dueq_result is a type.
    options = {"kick_all": "kick", "purge_group": "purge", "outcome": "result"}
    command = {**options, **PARTS, "relock": "relock", "unlock": "unlock"}.get(verb, verb)
    assert verb in NOT_IN_THE_SHELL or any(
        f"{command}_command = {{" in text(path) for path in files("cli", "*.c")
    )
    documents = text("docs/internals/protocol.md") + text("docs/reference.md")
    described = re.search(rf"\*\*{verb}\.?\*\*|`dueq {verb} QUEUE", documents, re.M)
    assert described or verb == "reserve_any"


# ---- Widths ----

# At the top of a file that a tool writes. Another test says when such a file of C is stale.
GENERATED = re.compile(r"\bMade (?:by|from \S+ by) \S+\.py\.\s|\bThis is a generated file\b")
DRAWN = "<dc:title>Matplotlib"
# Documents have tables. A string of JSON stands on one line, as does a row of a table of values.
# Go writes go.sum. The bytes of a corpus are inputs.
UNBROKEN = {".md", ".json", ".tsv", ".png", ".sum"}
CORPUS = "tests/fuzz/corpus/"
# A mark for mypy or ruff stands on the line that it is for, however long that is.
MARK = re.compile(r"  # (type: ignore|noqa)\b.*")
IGNORED = [rule for rule in text(".gitignore").split("\n") if rule and not rule.startswith("#")]


def is_left_by_a_build(path: Path) -> bool:
    """Whether .gitignore names the file: pip and phpize write into the tree."""
    parts = path.relative_to(ROOT).parts
    for rule in IGNORED:
        pattern, at_the_root = rule.strip("/"), rule.startswith("/")
        names = [name(path)] if "/" in pattern else parts[:1] if at_the_root else parts
        if any(fnmatch(found, pattern) for found in names):
            return True
    return False


def is_generated(path: Path, content: str) -> bool:
    made = path.suffix in {".h", ".inc"} and GENERATED.search(content[:200])
    return bool(made) or (path.suffix == ".svg" and DRAWN in content[:1000])


def too_wide(path: Path) -> list[str]:
    content = text(path)
    lines = [] if is_generated(path, content) else content.splitlines()
    return [
        f"{name(path)}:{number}"
        for number, line in enumerate(lines, 1)
        if len(MARK.sub("", line)) > 100
    ]


def test_no_line_is_wider_than_100_columns() -> None:
    sources = [
        path
        for path in files()
        if path.suffix not in UNBROKEN
        and not name(path).startswith(CORPUS)
        and not is_left_by_a_build(path)
    ]
    kinds = {path.suffix for path in sources}
    assert kinds > {".c", ".h", ".lua", ".py", ".pyi", ".php", ".js", ".css", ".html", ".java"}
    assert kinds > {".i", ".sh", ".txt", ".m4", ".toml", ".yml", ".conf", ".service", ".xml", ""}
    assert [line for path in sources for line in too_wide(path)] == []


def test_generated_files_say_so() -> None:
    made = ["core/scripts.inc", "interop/scripts.inc", "core/dueq_verbs.h"]
    for path in [*made, "bindings/php/dueq_arginfo.h"]:
        assert is_generated(ROOT / path, text(path)), path


# ---- The library ----


def versions(symbols_map: str) -> dict[str, str]:
    """The version of each function in a map of the linker."""
    nodes = re.findall(r"^(DUEQ_[\d.]+) \{(.*?)^\}", symbols_map, flags=re.M | re.S)
    return {found: node for node, body in nodes for found in re.findall(r"\b(dueq_\w+);", body)}


def test_symbols_are_the_contract() -> None:
    library = ROOT / "build/cmake/libdueq.so"
    assert library.exists(), "build/cmake/libdueq.so is not built: ./dev test c builds it"
    headers = "".join(text(header) for header in CONTRACT)
    code = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    declared = re.findall(r"^DUEQ_API [^;]*?\b(dueq_\w+)\(", code, flags=re.M)
    assert len(declared) == code.count("DUEQ_API ") - code.count("define DUEQ_API ")
    lines = output("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library)
    # The versions themselves are symbols, too, of type A.
    rows = [line.split()[1:] for line in lines.splitlines()]
    exported = sorted(symbol for kind, symbol in rows if kind != "A")
    expected = versions(text("dueq.map"))
    assert sorted(expected) == sorted(declared)
    assert exported == sorted(f"{found}@@{node}" for found, node in expected.items())
    assert {symbol.split("@")[0] for kind, symbol in rows if kind == "A"} == {*expected.values()}


def test_soname_is_the_one_that_the_build_sets() -> None:
    found = re.search(r"^set\(DUEQ_SOVERSION (\d+)\)", text("CMakeLists.txt"), flags=re.M)
    assert found
    dynamic = output("readelf", "--wide", "--dynamic", ROOT / "build/cmake/libdueq.so")
    assert f"Library soname: [libdueq.so.{found[1]}]" in dynamic


SYMBOLS = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("symbols", sys.argv[1])
symbols = importlib.util.module_from_spec(spec)
spec.loader.exec_module(symbols)
symbols.current = lambda: "DUEQ_0.2"
print(symbols.made(pathlib.Path(sys.argv[2]).read_text()), end="")
"""


def test_a_later_version_gets_what_is_new_and_an_older_one_keeps_its_own(tmp_path: Path) -> None:
    released, map_file = text("dueq.map"), tmp_path / "dueq.map"
    map_file.write_text(released.replace("        dueq_open;\n", ""), encoding="utf-8")
    made = output(sys.executable, "-c", SYMBOLS, "core/symbols.py", map_file)
    assert versions(made) == {**versions(released), "dueq_open": "DUEQ_0.2"}
    assert made.endswith("\nDUEQ_0.2 {\n    global:\n        dueq_open;\n} DUEQ_0.1;\n")
    map_file.write_text(released.replace("dueq_open;", "dueq_gone;"), encoding="utf-8")
    command = [sys.executable, "-c", SYMBOLS, "core/symbols.py", str(map_file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "DUEQ_0.1 has dueq_gone, which no header declares" in done.stderr


# ---- Scripts ----

SCRIPTS = [path for house in ("core", "interop") for path in files(house, "*.lua")]
# Those that run commands by a variable: the check reads keys of whatever type they are.
BY_VARIABLE = {
    *["bulk", "deferred_removals", "precheck"],
    *["check", "check_findings", "check_verdict"],
}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_script_keeps_to_the_strict_dialect(path: Path) -> None:
    code = re.sub(r"--.*", "", text(path))
    for command, first in re.findall(r"redis\.p?call\(\s*'(\w+)'(?:,\s*([^,)\s]+))?", code):
        assert command == command.upper()
        assert command not in {"CONFIG", "KEYS", "EVAL", "CLIENT", "SELECT", "FLUSHALL"}
        # A key comes from KEYS, under a name.
        assert command == "TIME" or re.fullmatch(r"[a-z][\w.\[\]]*", first), (
            command,
            first,
        )
    # It damages numbers: it may only look whether a worker of Laravel's, which uses it, would fail.
    assert "cjson" not in code or path.stem == "job_attempts"
    if path.stem not in BY_VARIABLE:
        assert "redis.call(" not in re.sub(r"redis\.call\(\s*'", "", code), (
            "a command by a variable"
        )


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem) for path in SCRIPTS if path.parent == ROOT / "core/scripts"],
)
def test_script_says_what_it_takes_and_returns(path: Path) -> None:
    comment = re.split(r"^(?!--)", text(path), maxsplit=1, flags=re.M)[0]
    assert comment.startswith(f"-- {path.stem}: ")
    keys = " ".join(re.findall(r"^-- keys (.+)$", comment, flags=re.M))
    assert keys
    code = re.sub(r"--.*", "", text(path))
    libraries = [text(lib) for lib in (ROOT / "core/scripts/lib").glob("*.lua")]
    for key in keys.split():
        assert re.search(rf"\b{key}\b", code + "".join(libraries)), key
    assert "KEYS[" not in code
    assert re.search(r"^-- args ", comment, flags=re.M) or "ARGV" not in code
    assert re.search(r"^-- Returns ", comment, flags=re.M)
    # Locks and answers that are kept have no wire version: docs/internals/protocol.md, Versions.
    parts = re.findall(r"^ *-- include (\w+)$", text(path), flags=re.M)
    for library in (ROOT / f"core/scripts/lib/{part}.lua" for part in parts):
        parts += re.findall(r"^ *-- include (\w+)$", text(library), flags=re.M)
    asks = {"refuse_newer", "refuse_layout", "refuse_wire", "return_problem"} & {*parts}
    assert asks or path.stem in {"lock", "relock", "recall"}


# ---- Documents ----


def without_code(path: Path) -> str:
    return re.sub(r"```.*?```", "", text(path), flags=re.S)


@cache
def anchors(path: Path) -> set[str]:
    """The headings of a document, as a link names them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", without_code(path), flags=re.M)
    }


@pytest.mark.parametrize("path", [pytest.param(p, id=name(p)) for p in files(".", "*.md")])
def test_document_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(path)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        there = path.parent / target if target else path
        assert there.exists(), link
        if (anchor and there.suffix == ".md") or not target:
            assert anchor in anchors(there), link


def test_no_file_names_a_registry_or_a_place_of_work() -> None:
    registries = ["py" + "pi", "packa" + "gist", "np" + "mjs", "pecl." + "php", "crates." + "io"]
    places = ["/wo" + "rk/", "/s" + "rv/"]
    for path in files():
        content = path.read_bytes().decode("utf-8", "replace")
        for word in [f"{registry}." for registry in registries] + places:
            assert word not in content, name(path)


def test_commands_can_be_run() -> None:
    for path in ["dev", ".ci/run"]:
        assert os.access(ROOT / path, os.X_OK), path
        output("bash", "-n", path)
    for script in files("dev.d", "*.sh"):
        output("bash", "-n", script)
