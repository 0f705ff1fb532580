"""The tables of docs/reference.md against the header, the bindings and the command."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import dueq

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
STATUSES = re.findall(
    r"X\((-?\d+), (\w+), ([01]),", (ROOT / "core/dueq.h").read_text(encoding="utf-8")
)
STUBS = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "bindings/php").rglob("*.stub.php"))
)


def rows(heading: str) -> list[list[str]]:
    """The cells of all tables of a section."""
    found = re.search(rf"^## {heading}$\n(.*?)(?=^## |\Z)", DOCUMENT, flags=re.S | re.M)
    assert found, heading
    lines = re.findall(r"^\| (.*) \|$", found[1], flags=re.M)
    return [[cell.strip() for cell in line.split(" |")] for line in lines]


def named(heading: str) -> set[str]:
    """What the first two cells of the rows of a section have in code."""
    return code_in([cell for row in rows(heading) for cell in row[:2]])


def code_in(cells: list[str]) -> set[str]:
    return set(re.findall(r"`([^`]+)`", " ".join(cells)))


ERRORS = {row[0]: row[1:] for row in rows("Outcomes and errors")[2:]}


def test_reference_statuses_are_the_header_s() -> None:
    assert len(STATUSES) > 30
    assert [(row[0], name) for name, row in ERRORS.items()] == [row[:2] for row in STATUSES]


@pytest.mark.parametrize(("code", "name", "again"), STATUSES, ids=[row[1] for row in STATUSES])
def test_reference_errors_are_those_of_each_face(code: str, name: str, again: str) -> None:
    _, python, php, exit_code, _ = ERRORS[name]
    if int(code) < 0:
        usage = name in {"INVALID", "NAME", "URL"}
        assert exit_code == ("2" if usage else "3" if again == "1" else "4")
    raised = {error.__name__ for error in dueq.Error.__subclasses__() if error.name == name}
    assert raised == code_in([python]) - {"None", "False"}
    thrown = code_in([php]) - {"null", "false"}
    assert len(thrown) == len(raised)
    for exception in thrown:
        base = "Invalid" if name in {"NAME", "URL"} else "Runtime"
        extends = rf"extends (\\InvalidArgumentException implements Dueq|{base})Exception\n"
        assert re.search(rf"class {exception} {extends}", STUBS)


def test_reference_has_every_option() -> None:
    options = {field.name for field in dataclasses.fields(dueq.Draft)} - {"body"}
    options |= set(inspect.signature(dueq.Queue.consume).parameters) - {"self"}
    assert options <= named("Options")


def test_reference_has_every_field() -> None:
    fields = {name for name, _ in inspect.getmembers(dueq.Message, inspect.isdatadescriptor)}
    fields = {name for name in fields if not name.startswith("_")}
    assert len(fields) > 10
    assert fields <= named("A message")
    assert {field.name for field in dataclasses.fields(dueq.Stats)} <= named("Statistics")


def test_reference_has_every_command() -> None:
    main = (ROOT / "cli/main.c").read_text(encoding="utf-8")
    listed = re.search(r"commands\[\] = \{(.*?)\}", main, flags=re.S)
    assert listed
    verbs = tomllib.loads((ROOT / "core/verbs.toml").read_text(encoding="utf-8"))
    commands = {name.replace("_", "-") for name in re.findall(r"&(\w+)_command", listed[1])}
    commands |= {verb.replace("_", "-") for verb, row in verbs.items() if "cli_summary" in row}
    assert len(commands) > 20
    shown = code_in([cell for row in rows("The command line") for cell in row])
    shown |= {code.removeprefix("dueq ") for code in code_in([row[-1] for row in rows("Verbs")])}
    assert commands <= {code.split()[0] for code in shown}


def test_reference_glossary_has_a_sentence_for_each_term() -> None:
    glossary = [row for row in rows("Glossary") if row[0] != "term" and set(row[0]) != {"-"}]
    terms = [row[0] for row in glossary]
    assert len(set(terms)) == len(terms) > 60
    assert {"ready", "delayed", "leased", "dead", "outbox"} <= set(terms)
    assert {"batch", "member", "end", "result", "order"} <= set(terms)
    for term, sentence, *elsewhere in glossary:
        assert re.fullmatch(r"[A-Z][^.]+(\.[a-z][^.]*)*\.", sentence), term
        assert len(elsewhere) == 5, term
        assert all(elsewhere), term
