"""One name for one thing in C, Python, PHP and the shell: docs/reference.md, Names."""

from __future__ import annotations

import dataclasses
import inspect
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from test_reference import rows

import dueq

ROOT = Path(__file__).parents[1]
HEADER = re.sub(
    r"/\*.*?\*/",
    "",
    "".join(
        (ROOT / f"core/{name}").read_text("utf-8")
        for name in ("dueq.h", "dueq_ends.h", "dueq_failures.h", "dueq_rates.h", "dueq_verbs.h")
    ),
    flags=re.S,
)
STUB = (ROOT / "bindings/php/dueq.stub.php").read_text("utf-8").split("namespace Dueq\\Redisson")[0]
VERBS = tomllib.loads((ROOT / "core/verbs.toml").read_text("utf-8"))
FACES = ("C", "Python", "PHP", "the shell")
# What C has instead of exceptions, lists and objects.
OF_C = {
    *("queue", "queues", "queue_count", "client", "result", "purged", "counts", "cursor"),
    *("header_count", "example_count", "lease_count", "ticket", "token"),
    "struct_size",
}

# ---- The names that there are ----


def c_fields(name: str) -> set[str]:
    found = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", HEADER, re.S)
    assert found, name
    return {
        word
        for line in found[1].split(";")
        for word in re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", line.strip())
    } - OF_C


def c_arguments(verb: str) -> set[str]:
    found = re.search(rf"DUEQ_API dueq_status dueq_{verb}\((.*?)\)", HEADER, re.S)
    assert found, verb
    names = {argument.split()[-1].lstrip("*") for argument in found[1].split(",")}
    if "filter" in names:
        names = names - {"filter"} | c_fields("dueq_filter")
    if "options" in names:
        names = names - {"options"} | c_fields(f"dueq_{verb.removesuffix('_any')}_options")
    if "tickets" in names:
        names -= {"tickets", "count"}
    if "dead_letter" in names:
        names -= {"count"}
    return names - OF_C - ({"name"} if verb == "relock" else set())


def python_fields(of: type) -> set[str]:
    if dataclasses.is_dataclass(of):
        return {field.name for field in dataclasses.fields(of)}
    return {name for name, _ in inspect.getmembers(of, inspect.isdatadescriptor)}


def php_class(name: str) -> str:
    found = re.search(rf"^    final class {name}\b(.*?)^    \}}", STUB, re.S | re.M)
    assert found, name
    return found[1]


def php_fields(name: str) -> set[str]:
    return set(re.findall(r"public readonly \S+ \$(\w+);", php_class(name)))


def php_arguments(of: str, method: str) -> set[str]:
    found = re.search(rf"function {method}\((.*?)\)(?:: [^()]+)? \{{", php_class(of), re.S)
    assert found, method
    return set(re.findall(r"\$(\w+)", found[1]))


def shell_text(*command: str) -> str:
    program = shutil.which("dueq")
    assert program, "there is no dueq on the PATH"
    return subprocess.check_output([program, *command, "--help"], text=True)


def shell_words(*command: str) -> set[str]:
    """The options and the arguments of a command."""
    text = shell_text(*command)
    options = set(re.findall(r"^  (--[a-z-]+)", text, re.M))
    return options | set(re.findall(r"\b[A-Z]+\b", text.splitlines()[0]))


def json_names(path: str) -> set[str]:
    """The names that the shell gives what it prints as JSON."""
    text = (ROOT / "cli" / path).read_text("utf-8")
    lists = re.findall(r"\bDUEQ_\w+_FIELDS(?=\(JSON_FIELD\))", text)
    listed = {name for each in lists for name in fields_of(each)}
    return listed | set(re.findall(r'(?:\(object, |\{)"(\w+)"', text))


def fields_of(name: str) -> list[str]:
    """The members in a list of fields."""
    found = re.search(rf"#define {name}\(X\)((?: \\\n    X\(\w+, \w+\))+)", HEADER)
    assert found, name
    return re.findall(r"X\(\w+, (\w+)\)", found[1])


def of_verb(
    verb: str, method: Callable[..., object], php: tuple[str, str], command: str
) -> tuple[set[str], ...]:
    arguments = set(inspect.signature(method).parameters)
    return c_arguments(verb), arguments, php_arguments(*php), shell_words(command)


def by_rule(name: str) -> tuple[set[str], ...]:
    """What a name of C is in each face: in the shell an option, an argument, or a name in JSON."""
    base = name.removesuffix("_ms")
    words = base.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    return {name}, {base}, {camel}, {name, f"--{'-'.join(words)}", base.upper()}


def of_made(verb: str, row: dict[str, str]) -> tuple[set[str], ...]:
    """Of a verb whose faces are made, and which has arguments."""
    of = row["generated_faces"].capitalize()
    method = getattr(getattr(dueq, of), verb)
    return of_verb(verb, method, (of, by_rule(verb)[2].pop()), verb.replace("_", "-"))


# Of each group the names in C, Python, PHP and the shell.
NAMES = {
    "push": (
        c_fields("dueq_draft") - {"durability"} | c_fields("dueq_durability"),
        python_fields(dueq.Draft),
        php_arguments("Queue", "push"),
        shell_words("push"),
    ),
    "a message": (
        c_fields("dueq_message"),
        python_fields(dueq.Message),
        php_fields("Message"),
        json_names("print_message.c"),
    ),
    "stats": (
        c_fields("dueq_counts"),
        python_fields(dueq.Stats),
        php_fields("Stats"),
        json_names("stats.c"),
    ),
    "a rate": (
        c_fields("dueq_rate"),
        python_fields(dueq.Rate),
        php_fields("Rate"),
        json_names("stats.c"),
    ),
    "a finding": (
        c_fields("dueq_finding"),
        python_fields(dueq.Finding),
        php_fields("Finding"),
        json_names("check.c"),
    ),
    "a worker": (
        c_fields("dueq_worker"),
        python_fields(dueq.WorkerInfo),
        php_fields("WorkerInfo"),
        json_names("workers.c"),
    ),
    "a lease": (
        c_fields("dueq_lease") | {"ticket"},
        python_fields(dueq.Lease),
        php_fields("Lease"),
        json_names("workers.c"),
    ),
    "a failure": (
        c_fields("dueq_failure") | {"ticket"},
        python_fields(dueq.Failure),
        php_fields("Failure"),
        json_names("history.c"),
    ),
    "a group": (
        c_fields("dueq_group"),
        python_fields(dueq.Group),
        php_fields("Group"),
        json_names("groups.c"),
    ),
    "consume": (
        c_fields("dueq_consumer_options") | {"timeout_ms"},
        set(inspect.signature(dueq.Queue.consume).parameters),
        php_arguments("Queue", "consume"),
        shell_words("work"),
    ),
    "schedule": (
        c_fields("dueq_plan"),
        set(inspect.signature(dueq.Queue.schedule).parameters),
        php_arguments("Queue", "schedule"),
        shell_words("schedule", "add"),
    ),
    "reserve": of_verb("reserve_any", dueq.Queue.reserve_many, ("Queue", "reserveMany"), "reserve"),
    **{verb: of_made(verb, row) for verb, row in VERBS.items() if "arguments" in row},
    "kick_all": of_verb("kick_all", dueq.Queue.kick_all, ("Queue", "kickAll"), "kick"),
    "find": of_verb("find", dueq.Queue.find, ("Queue", "find"), "find"),
    "peek": of_verb("peek", dueq.Queue.peek, ("Queue", "peek"), "peek"),
    "purge": of_verb("purge", dueq.Queue.purge, ("Queue", "purge"), "purge"),
    "check": of_verb("check", dueq.Queue.check, ("Queue", "check"), "check"),
    "allow": of_verb("allow", dueq.Queue.allow, ("Queue", "allow"), "allow"),
    "failures": of_verb("failures", dueq.Queue.failures, ("Queue", "failures"), "failures"),
    "groups": of_verb("groups", dueq.Queue.groups, ("Queue", "groups"), "groups"),
    "purge_group": of_verb("purge_group", dueq.Queue.purge_group, ("Queue", "purgeGroup"), "purge"),
    "rates": of_verb("rates", dueq.Queue.rates, ("Queue", "rates"), "rates"),
    "lock": of_verb("lock", dueq.Queue.lock, ("Queue", "lock"), "lock"),
    "relock": of_verb("relock", dueq.Lock.extend, ("Lock", "extend"), "relock"),
    "a server": (
        set(re.findall(r"\bdueq_(?:client_)?(queues|url)\(", HEADER)),
        set(dir(dueq)) | set(dir(dueq.Queue)),
        set(re.findall(r"function (\w+)\(", php_class("Queue"))),
        shell_words() | set(re.findall(r"^  (\w+) ", shell_text(), re.M)),
    ),
}

# ---- The rule, and the table of what differs from it ----


def differing() -> dict[tuple[str, str], tuple[set[str], ...]]:
    """By group and name in C: the names that the table has, none where a cell is empty."""
    table = {}
    for row in rows("Names")[2:]:
        cells = [set(re.findall(r"`([^`]+)`", cell)) for cell in row[1:5]]
        for group in row[0].split(", "):
            for name in sorted(cells[0]):
                table[group.strip("`"), name] = tuple(cells)
    return table


TABLE = differing()
ALL = [(group, name) for group, faces in NAMES.items() for name in sorted(faces[0])]


def test_names_are_many() -> None:
    assert len(ALL) > 90


@pytest.mark.parametrize(("group", "name"), ALL)
def test_name_is_the_same_in_all_languages(group: str, name: str) -> None:
    """By the rule, or as the table says."""
    expected = TABLE.get((group, name), by_rule(name))
    for face, wanted, there in zip(FACES, expected, NAMES[group], strict=True):
        assert not wanted or wanted & there, f"{group}: {name} is not {wanted} in {face}"


@pytest.mark.parametrize(("group", "name"), TABLE)
def test_table_of_names_has_no_row_too_many(group: str, name: str) -> None:
    """Each row is of a name that there is, and says something else than the rule."""
    assert name in NAMES[group][0]
    by = zip(TABLE[group, name], by_rule(name), strict=True)
    assert not all(cell & rule for cell, rule in by), f"{group}: {name} is by the rule"
