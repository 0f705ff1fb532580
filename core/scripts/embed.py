#!/usr/bin/env python3
"""Makes core/scripts.inc and interop/scripts.inc: scripts as C, with the constants of core/dueq.h.

Each part of a Lua file between two includes becomes a fragment: a C string without comments. A
script is a list of fragments, which the client joins when it loads the script into a server. Behind
the core's scripts come the C functions of the verbs (core/verbs.py).

Run it without arguments after a change of a script. `--check` changes nothing, and fails if a file
is stale. The names of the scripts in interop/FOLDER/scripts begin with the folder, and so do those
of their keys.

What a script may have:
  a call of a function of lib/  its file is put in front of the script
  -- include NAME               is replaced by lib/NAME.lua: inside a block, or if it is no function
  -- keys NAME ...              declares the keys, as locals of these names
  -- passes on to NAME          names the script that is run when this one answers nil
  DUEQ_NAME                     is replaced by the code of a status, or by a default
"""

import hashlib
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from verbs import pairs  # noqa: E402

HEADER = HERE.parent / "dueq.h"
PLACES = [HERE.parent, HERE.parents[1] / "interop"]
LIBRARY = {path.stem: path for place in PLACES for path in place.rglob("lib/*.lua")}


def scripts(place: Path) -> list[Path]:
    return [path for path in sorted(place.rglob("*.lua")) if path.parent.name == "scripts"]


def name_of(path: Path, place: Path) -> str:
    return "_".join([*path.relative_to(place).parts[:-2], path.stem])


def statuses() -> dict[str, str]:
    rows = re.findall(r"X\((-?\d+), (\w+), [01],", HEADER.read_text())
    return {f"DUEQ_{name}": code for code, name in rows}


def constants() -> dict[str, str]:
    """The values of the statuses and of the protocol's defaults."""
    defaults = re.findall(r"^    (DUEQ_DEFAULT_\w+) = (\d+)", HEADER.read_text(), flags=re.M)
    return statuses() | dict(defaults)


def code_of(path: Path) -> str:
    """The text of a file without comments."""
    return re.sub(r"--.*", "", path.read_text())


def provided(path: Path) -> list[str]:
    return re.findall(r"^local function (\w+)", code_of(path), flags=re.M)


PROVIDERS = {name: path for path in LIBRARY.values() for name in provided(path)}


def is_open_to(path: Path, library: Path) -> bool:
    """Whether the script may use the library: the core does not use that of interop/."""
    return library.is_relative_to(HERE) or not path.is_relative_to(HERE)


class Fragment(NamedTuple):
    name: str
    text: str


def fragments(path: Path, have: set[str]) -> Iterator[Fragment]:
    """The fragments of a file. Those of the functions of lib/ that it calls come first, except
    files that `have` names."""
    asked = re.findall(r"^ *-- include (\w+)$", path.read_text(), flags=re.M)
    own = re.findall(r"\blocal function (\w+)", code_of(path))
    for name in re.findall(r"(?<![.\w])(\w+)\(", code_of(path)):
        needed = PROVIDERS.get(name)
        if not needed or name in own or not is_open_to(path, needed):
            continue
        if needed.stem not in have and needed.stem not in asked:
            yield from library(needed.stem, have)
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
    """The script's first line, which gives the keys their names."""
    keys = keys_of(path)
    return f"local {', '.join(keys)} = {', '.join(f'KEYS[{n + 1}]' for n in range(len(keys)))}\n"


def expand(path: Path, codes: dict[str, str]) -> str:
    """The whole script, as the client loads it into a server."""
    return filled(head_of(path) + "".join(part.text for part in fragments(path, set())), codes)


def keys_of(path: Path) -> list[str]:
    found = re.findall(r"^-- keys (.+)$", path.read_text(), flags=re.M)
    if len(found) != 1:
        sys.exit(f"{path.name}: one line `-- keys NAME ...` declares the keys")
    return found[0].split()


def passes_on(path: Path) -> list[str]:
    return re.findall(r"^-- passes on to (\w+)$", path.read_text(), flags=re.M)


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
        parts.append(pairs())
    return f"/* Made by core/scripts/embed.py. Source: {digest.hexdigest()} */\n\n" + "\n".join(
        parts
    )


def main() -> None:
    for place in PLACES:
        text, target = generate(place), place / "scripts.inc"
        if sys.argv[1:] != ["--check"]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"{target} is stale: run core/scripts/embed.py")


if __name__ == "__main__":
    main()
