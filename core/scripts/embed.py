#!/usr/bin/env python3
"""Makes core/scripts.inc and interop/scripts.inc: scripts as C, with the constants of core/dueq.h.

Each part of a Lua file between two includes becomes a fragment: a C string without comments. A
script is a list of fragments, which the client joins when it loads the script into a server. Behind
the core's scripts come the C functions of the verbs (core/verbs.py).

Run it without arguments after a change of a script. `--check` changes nothing, and fails if a file
is stale. Both fail first if a script does not compile (it may have too many local names), or if a
Lua file reads a name that it does not declare, or declares a name that it does not use. luac5.1
compiles and lists the names (Debian has it in lua5.1). Without it nothing of this is checked.

The comment at the top of a Lua file declares names, each list on one line or on several:
  -- keys NAME ...          of a script: its keys, which are locals with these names
  -- includes NAME ...      the files of lib/ that it uses
  -- defines NAME ...       of a file of lib/: what the files that include it may read
  -- needs NAME ...         of a file of lib/: what it reads of the files that include it: keys, and
                            other locals
  -- passes on to NAME      of a script: the script that the client runs when this one answers nil
An included file goes in front of the file that includes it. If it must go elsewhere, into a block
for example, the line `-- include NAME` says where.

The names of the scripts in interop/FOLDER/scripts begin with the folder, and so do those of their
keys. DUEQ_NAME is replaced by the code of a status, or by a default.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from verbs import pairs  # noqa: E402

HEADER = HERE.parent / "dueq.h"
PLACES = [HERE.parent, HERE.parents[1] / "interop"]
LIBRARY = {path.stem: path for place in PLACES for path in place.rglob("lib/*.lua")}
# The names that Lua has in Redis and Valkey, as far as scripts use them.
GIVEN = {
    *["redis", "ARGV", "string", "table", "math", "struct", "cmsgpack", "cjson", "unpack"],
    *["ipairs", "pairs", "next", "tonumber", "tostring", "type", "pcall", "select"],
}


def scripts(place: Path) -> list[Path]:
    return [path for path in sorted(place.rglob("*.lua")) if path.parent.name == "scripts"]


def name_of(path: Path, place: Path) -> str:
    return "_".join([*path.relative_to(place).parts[:-2], path.stem])


def sources() -> list[Path]:
    return sorted({path for place in PLACES for path in place.rglob("*.lua")})


def statuses() -> dict[str, str]:
    rows = re.findall(r"X\((-?\d+), (\w+), [01],", HEADER.read_text())
    return {f"DUEQ_{name}": code for code, name in rows}


def constants() -> dict[str, str]:
    """The values of the statuses and of the protocol's defaults."""
    defaults = re.findall(r"^    (DUEQ_DEFAULT_\w+) = (\d+)", HEADER.read_text(), flags=re.M)
    return statuses() | dict(defaults)


@cache
def declared(path: Path, what: str) -> tuple[str, ...]:
    """The names behind a word in the comment at the top of a file."""
    comment = re.split(r"^(?!--)", path.read_text(), maxsplit=1, flags=re.M)[0]
    lists = re.findall(rf"^-- (?:[\w ]+; )*{what} ([\w ]+)(?:;|$)", comment, flags=re.M)
    return (*" ".join(lists).split(),)


def placed(path: Path) -> list[str]:
    """The files that stand in the place of a line in this one."""
    return re.findall(r"^ *-- include (\w+)$", path.read_text(), flags=re.M)


def is_open_to(path: Path, library: Path) -> bool:
    """Whether a file may include one of lib/: the core does not use those of interop/."""
    return library.is_relative_to(HERE) or not path.is_relative_to(HERE)


class Fragment(NamedTuple):
    name: str
    text: str


def fragments(path: Path, have: set[str]) -> Iterator[Fragment]:
    """The fragments of a file. Those of the files that it includes come first, except files that
    `have` names."""
    for name in declared(path, "includes"):
        if name not in have and name not in placed(path):
            yield from library(name, have)
    place = path.relative_to(HERE.parents[1]).with_suffix("").parts
    name = "_".join(part for part in place if part not in ("core", "interop", "scripts"))
    for number, part in enumerate(re.split(r"^ *-- include (\w+)\n", path.read_text(), flags=re.M)):
        if number % 2:
            # A file that is included in a block defines its names in this block only.
            yield from library(part, set(have))
        elif text := re.sub(r"^ *(--.*)?\n", "", part, flags=re.M):
            yield Fragment(f"{name}_{number // 2}", text)


def library(name: str, have: set[str]) -> Iterator[Fragment]:
    have.add(name)
    return fragments(LIBRARY[name], have)


def filled(text: str, codes: dict[str, str]) -> str:
    """The text with values in place of its constants."""
    return re.sub(r"\bDUEQ_[A-Z_]+\b", lambda m: codes[m[0]], text)


def head_of(path: Path) -> str:
    """The script's first lines. They give the keys their names, and make locals of the globals that
    scripts read most: Lua finds a local faster."""
    keys = keys_of(path)
    places = [f"KEYS[{number + 1}]" for number in range(len(keys))]
    return (
        "local redis, KEYS, ARGV = redis, KEYS, ARGV\n"
        f"local {', '.join(keys)} = {', '.join(places)}\n"
    )


def expand(path: Path, codes: dict[str, str]) -> str:
    """The whole script, as the client loads it into a server."""
    return filled(head_of(path) + "".join(part.text for part in fragments(path, set())), codes)


def keys_of(path: Path) -> list[str]:
    return [*declared(path, "keys")] or sys.exit(f"{path}: `-- keys NAME ...` declares the keys")


def passes_on(path: Path) -> list[str]:
    return re.findall(r"^-- passes on to (\w+)$", path.read_text(), flags=re.M)


def listing_of(chunks: dict[Path, str], *options: str) -> tuple[str, dict[Path, str]]:
    """What luac5.1 says of chunks of Lua, and their names in that. Ends the program at an error."""
    with TemporaryDirectory() as folder:
        files = {path: Path(folder, str(path).replace("/", "_")) for path in chunks}
        for path, file in files.items():
            file.write_text(chunks[path])
        luac = ["luac5.1", *options, "-p", *map(str, files.values())]
        listing = subprocess.run(luac, check=False, capture_output=True, text=True)
    if listing.returncode != 0:
        sys.exit(listing.stderr)
    return listing.stdout, {path: str(file) for path, file in files.items()}


def check_scripts() -> None:
    """Ends the program if a script does not compile."""
    codes = constants()
    listing_of({path: expand(path, codes) for place in PLACES for path in scripts(place)})


def names_read(chunks: dict[Path, str]) -> dict[Path, set[str]]:
    """The names that each chunk of Lua reads and does not define."""
    listing, files = listing_of(chunks, "-l")
    names: dict[str, set[str]] = {file: set() for file in files.values()}
    for line in listing.splitlines():
        if function := re.match(r"(?:main|function) <(.+):\d+,\d+>", line):
            found = names.setdefault(function[1], set())
        elif name := re.search(r"\b[GS]ETGLOBAL\b.*; (?!DUEQ_)(\w+)$", line):
            found.add(name[1])
    return {path: names[file] - GIVEN for path, file in files.items()}


@cache
def needed(name: str) -> frozenset[str]:
    """What a file of lib/ needs, and what the files need that it includes."""
    path = LIBRARY[name]
    return frozenset(declared(path, "needs")).union(*map(needed, declared(path, "includes")))


def offered(includes: set[str]) -> set[str]:
    return {name for stem in includes for name in declared(LIBRARY[stem], "defines")}


def faults(path: Path, read: dict[Path, set[str]]) -> Iterator[tuple[str, set[str]]]:
    """What may be wrong with the declarations of a file, and the names with which it is."""
    includes = {*declared(path, "includes")}
    library = {stem for stem, lib in LIBRARY.items() if is_open_to(path, lib)}
    yield "includes a file that its top does not name", {*placed(path)} - includes
    yield "includes what is no file of lib/", includes - library
    for stem in includes:
        used = read[path].union(*map(needed, includes - {stem}))
        own = offered({stem})
        yield "includes a file without need", {stem} if own and not own & used else set()
    if path not in LIBRARY.values():
        return
    names, needs = read[path] - offered(includes), {*declared(path, "needs")}
    yield "reads names that it does not declare", names - needs
    yield "declares needs, and does not read them", needs - names
    defines, code = {*declared(path, "defines")}, path.read_text()
    local = re.findall(r"^local (?:function )?([\w, ]+)", code, flags=re.M)
    yield "declares names that it does not define", defines - {*re.findall(r"\w+", str(local))}
    users = [user for user in read if path.stem in declared(user, "includes")]
    yield "is included by no file", set() if users else {path.stem}
    yield "defines names that no file reads", defines.difference(*(read[user] for user in users))


def check_names() -> None:
    """Ends the program if a file reads a name that it does not declare, or declares too many."""

    def report(path: Path, fault: str, names: set[str]) -> None:
        if names:
            sys.exit(f"{path.relative_to(HERE.parents[1])} {fault}: {', '.join(sorted(names))}")

    read = names_read({path: path.read_text() for path in sources()})
    for path in read:
        for fault, names in faults(path, read):
            report(path, fault, names)
    # A file of lib/ may need what only the whole script has: a key, or a local of the script.
    paths = [path for place in PLACES for path in scripts(place)]
    wholes = names_read({p: "".join(f.text for f in fragments(p, set())) for p in paths})
    for path, names in wholes.items():
        report(path, "reads names that no file declares", names - {*keys_of(path)})
        report(path, "declares keys, and does not use them", {*keys_of(path)} - names)


def literal(text: str) -> str:
    lines = text.splitlines()
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "\n".join(f'    "{line}\\n"' for line in escaped)


def wrapped(words: list[str]) -> str:
    return textwrap.fill(", ".join(words), 99, initial_indent="    ", subsequent_indent="    ")


def generate(place: Path) -> str:
    codes = constants()
    parts = []
    digest = hashlib.sha256(repr(codes).encode())
    for path in sorted({*place.rglob("*.lua"), *HERE.glob("lib/*.lua")}):
        digest.update(path.read_bytes())
    made: set[str] = set()
    for path in scripts(place):
        parents, name = path.relative_to(place).parts[:-2], name_of(path, place)
        keys = keys_of(path)
        kind = parents[0].upper() if parents else "KEY"
        places = [f"{'KEY' if key == 'reply' else kind}_{key.upper()}" for key in keys]
        following = [f"dueq__script_{other}" for other in passes_on(path)]
        pieces = list(fragments(path, set()))
        for piece in pieces:
            if piece.name not in made:
                made.add(piece.name)
                parts.append(
                    f"static const char {piece.name}[] =\n{literal(filled(piece.text, codes))};\n"
                )
        parts += [f"extern const struct dueq__script {other};\n" for other in following]
        listed = wrapped([f"{name}_keys", *(piece.name for piece in pieces), "NULL"])
        sha1 = hashlib.sha1(expand(path, codes).encode()).hexdigest()
        parts.append(
            f"static const char {name}_keys[] = {literal(head_of(path)).strip()};\n"
            f"static const char *const {name}_fragments[] = {{\n{listed}}};\n"
            f'const struct dueq__script dueq__script_{name} = {{\n    "{name}", "{sha1}",\n'
            f"    {name}_fragments, {len(keys)},\n"
            f"    {{\n{wrapped([f'DUEQ__{place}' for place in places])}}},\n"
            f"    {'&' + following[0] if following else 'NULL'}}};\n"
        )
    if place == HERE.parent:
        parts.append(f"\n{pairs()}")
    return f"/* Made by core/scripts/embed.py. Source: {digest.hexdigest()} */\n" + "".join(parts)


def main() -> None:
    if shutil.which("luac5.1"):
        check_names()
        check_scripts()
    for place in PLACES:
        text, target = generate(place), place / "scripts.inc"
        if sys.argv[1:] != ["--check"]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"{target} is stale: run core/scripts/embed.py")


if __name__ == "__main__":
    main()
