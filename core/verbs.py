#!/usr/bin/env python3
"""Makes from core/verbs.toml what lists verbs, and what is alike for several verbs.

Also makes the options of verbs, from core/options.toml, and the structs that verbs return, from
core/results.toml. Run it without arguments after a change of a table. `--check` changes nothing,
and fails if a generated file is stale.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import faces
import options
import results
import symbols
from faces.model import Argument, Face
from options.model import Options
from results import Result
from sections import renewed
from text import WIDTH, call, filled

ROOT = Path(__file__).resolve().parents[1]
MADE = "Made from core/verbs.toml by core/verbs.py."


class CoreArgument(NamedTuple):
    """What the core has of an argument."""

    c: str
    """The parameters of a function in C."""
    python: str
    """The parameter of a function in _core.pyi."""
    check: str = ""
    """The call that checks the argument."""
    send: str = ""
    """The call that writes the argument for the script."""


def number(name: str) -> CoreArgument:
    return CoreArgument(
        f"int64_t {name}", f"{name}: int", send=f"dueq__resp_number(&words, {name})"
    )


def size(name: str, check: str) -> CoreArgument:
    send = f"dueq__resp_number(&words, (int64_t){name})"
    return CoreArgument(f"size_t {name}", f"{name}: int", check, send)


def data(name: str, python: str, check: str = "") -> CoreArgument:
    return CoreArgument(f"dueq_bytes {name}", python, check, f"dueq__arg_put(&words, &{name}, 1)")


def counted(name: str) -> CoreArgument:
    return CoreArgument(
        f"const dueq_bytes *{name}, size_t count",
        f"{name}: tuple[str, ...]",
        f"dueq__arg_check_{name}(queue, {name}, count)",
        f"dueq__arg_put(&words, {name}, count)",
    )


def of_kind(argument: Argument) -> CoreArgument:
    stub = f"{argument.variable}: {argument.kind.stub}"
    return CoreArgument(argument.get("c"), stub, argument.get("check"), argument.get("send"))


ARGUMENTS = {
    "drafts": CoreArgument(
        "const dueq_draft *drafts, size_t count", "drafts: tuple[DraftRow, ...]"
    ),
    "schedule": CoreArgument("const dueq_plan *schedule", "schedule: ScheduleRow"),
    "message": CoreArgument("const dueq_message *message", "message: HeldRow"),
    "target": CoreArgument("dueq_queue *target", "target: Handle | None"),
    "dead_letter": CoreArgument(
        "const dueq_bytes *dead_letter, size_t count",
        "dead_letter: tuple[str, ...] | None",
        "dueq__arg_check_targets(queue, dead_letter, count, any)",
        "dueq__arg_put_targets(&words, dead_letter, count, any)",
    ),
    "any": CoreArgument("int any", "any: int"),
    "repair": CoreArgument("int repair", "repair: int"),
    "force": CoreArgument("int force", "force: int", send="dueq__resp_number(&words, force)"),
    "batch_queue": data("batch_queue", "batch_queue: str"),
    "batch_options": CoreArgument("const dueq_batch_options *options", "options: BatchOptionsRow"),
    "reserve_options": CoreArgument("const dueq_reserve_options *options", "options: ReserveRow"),
    **{name: counted(name) for name in ("tickets", "ids")},
    "ticket": data("ticket", "ticket: str", "dueq__arg_check_tickets(queue, &ticket, 1)"),
    "id": data("id", "id: str", "dueq__arg_check_ids(queue, &id, 1)"),
    **{name: data(name, f"{name}: str") for name in ("name", "token")},
    "group": data("group", "group: str", "dueq__arg_check_group(queue, group)")._replace(
        send="dueq__arg_put_group(&words, group)"
    ),
    "any_id": data("id", "id: str", "dueq__arg_check_any_id(queue, id)"),
    "process": CoreArgument("", "", send="dueq__arg_put_process(&words)"),
    "ender": CoreArgument("", "", send="dueq__arg_put_ender(&words, tickets, count)"),
    "result": data(
        "result", "result: Buffer | str", "dueq__arg_check_result(queue, result)"
    )._replace(send="dueq__arg_put_result(&words, result)"),
    # A result, beside the results of the call.
    "kept": data("kept", "kept: Buffer | str"),
    "partitions": CoreArgument(
        "", "", send="dueq__resp_number(&words, (int64_t)dueq__partition_count(queue))"
    ),
    "preview": CoreArgument(
        "", "", send="dueq__resp_number(&words, (int64_t)queue->preview_bytes)"
    ),
    "cursor": data("cursor", "cursor: bytes"),
    "text": data("text", "text: str", "dueq__arg_check_cursor(queue, text)"),
    "state": CoreArgument(
        "dueq_state state",
        "state: int",
        "dueq__arg_check_state(queue, state)",
        "dueq__arg_put_state(queue->client, &words, state)",
    ),
    "filter": CoreArgument(
        "const dueq_filter *filter",
        "filter: Filter",
        "dueq__arg_check_filter(queue, filter)",
        "dueq__arg_put_filter(&words, filter)",
    ),
    "limit_options": CoreArgument(
        "const dueq_limit_options *options",
        "options: LimitRow",
        "dueq__arg_check_limits(queue, options)",
        "dueq__arg_put_limits(&words, options)",
    ),
    "count": size("count", "dueq__arg_check_count(queue, queue, count)"),
    "page": size("page", "dueq__arg_check_count(queue, queue, page)"),
    "minutes": size("minutes", "dueq__arg_check_rates(queue, minutes, hours)"),
    "hours": size("hours", ""),
    **{name: number(name) for name in ("timeout_ms", "lease_ms", "ttl_ms")},
}
RECEIVERS = {
    "queue": CoreArgument("dueq_queue *queue", "queue: Handle"),
    "client": CoreArgument("dueq_client *client", "client: Client"),
    "queues": CoreArgument(
        "dueq_queue *const *queues, size_t queue_count", "queues: tuple[Handle, ...]"
    ),
}
RETURNS = {
    "result": "dueq_result **result",
    "purged": "size_t *purged",
    "counts": "dueq_counts *counts",
    "": "",
}


# The members of a struct dueq__fanout_request that hold each argument, and their values.
FANOUT_MEMBERS = {
    "tickets": {".items": "tickets", ".count": "count"},
    "ids": {".items": "ids", ".count": "count"},
    "dead_letter": {".items": "dead_letter", ".count": "count"},
    "any": {".any": "any"},
    "force": {".any": "force"},
    **{name: {".items": f"&{name}", ".count": "1"} for name in ("ticket", "id")},
    "any_id": {".text": "id"},
    "batch_queue": {".text": "batch_queue"},
    "group": {".text": "group"},
    "limit_options": {".limits": "options"},
    "text": {".text": "text"},
    "result": {".text": "result"},
    **{name: {f".{name}": name} for name in ("cursor", "state", "filter", "page", "hours")},
    "minutes": {".page": "minutes"},
}


class Verb:
    def __init__(self, name: str, row: dict[str, Any]) -> None:
        self.name = name
        self.doc: str = row["doc"].strip()
        self.receiver: str = row.get("receiver", "queue")
        self.args: list[str] = row["args"]
        rows: dict[str, dict[str, Any]] = row.get("arguments", {})
        in_struct = "struct" in row
        self.of_kinds = {name: Argument(name, rows[name]) for name in rows if not in_struct}
        self.script_args: list[str] | None = row.get("script_args")
        self.room: str = row.get("room", "verbs")
        self.batch_script: str = row.get("batch_script", "")
        self.script: str = row.get("script", name)
        self.choose_script: str = row.get("choose_script", "")
        self.fanout: str = row.get("fanout", "")
        self.decode: str = row.get("decode", "outcomes")
        self.returns: str = row.get("returns", "result")

    def argument(self, name: str) -> CoreArgument:
        return of_kind(self.of_kinds[name]) if name in self.of_kinds else ARGUMENTS[name]

    def arguments(self) -> list[CoreArgument]:
        return [RECEIVERS[self.receiver], *map(self.argument, self.args)]

    def parameters(self) -> list[str]:
        return ", ".join(argument.c for argument in self.arguments()).split(", ")

    def names(self) -> list[str]:
        return [re.split(r"[ *]", parameter)[-1] for parameter in self.parameters()]

    def changes(self) -> bool:
        """Whether the script keeps its answer for a repeated call, which takes more arguments."""
        script = (ROOT / f"core/scripts/{self.script}.lua").read_text(encoding="utf-8")
        return bool(re.search(r"^-- keys .*\breply\b", script, flags=re.M))

    def checks(self) -> list[str]:
        return [check for name in self.args if (check := self.argument(name).check)]

    def fanout_members(self) -> dict[str, tuple[str, str]]:
        """
        For each member of a struct dueq__fanout_request that holds an argument: the value that the
        call for the whole queue sets, and the value that the call for a partition reads.
        """
        members: dict[str, tuple[str, str]] = {}
        numbers = 0
        for name in self.args:
            if name not in self.of_kinds:
                held = FANOUT_MEMBERS[name].items()
                members |= {member: (value, f"asked->{member[1:]}") for member, value in held}
                continue
            argument = self.of_kinds[name]
            member = argument.kind.fanout
            if member == "numbers":
                member, numbers = f"numbers[{numbers}]", numbers + 1
            back = argument.kind.from_fanout.format(member=f"asked->{member}")
            assert f".{member}" not in members, f"{self.name} has two texts"
            members[f".{member}"] = argument.variable, back
        return members


def rows(table: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((ROOT / f"core/{table}.toml").read_text(encoding="utf-8"))


VERBS = [Verb(name, row) for name, row in rows("verbs").items()]
FACES = [Face(name, row) for name, row in rows("verbs").items() if "generated_faces" in row]
OPTIONS = [Options(verb, row) for verb, row in rows("options").items()]
RESULTS = [Result(name, row) for name, row in rows("results").items()]


# dueq_verbs.h


def comment(text: str) -> str:
    if "\n" not in text:
        return f"/* {text} */"
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in text.splitlines()), " */"])


def declarations(verb: Verb) -> str:
    returns = [RETURNS[verb.returns]] if verb.returns else []
    start = f"DUEQ_API dueq_status dueq_{verb.name}"
    return "\n".join(
        [
            comment(verb.doc),
            filled(f"{start}(", verb.parameters() + returns, ");"),
            filled(f"{start}_submit(", verb.parameters(), ");"),
        ]
    )


def header() -> str:
    parts = "\n\n".join(declarations(verb) for verb in VERBS)
    return f"""/*
 * A part of dueq.h: the verbs, each blocking and as dueq_VERB_submit().
 * {MADE}
 */
#ifndef DUEQ_VERBS_H
#define DUEQ_VERBS_H

#include "dueq.h"

{parts}

/*
 * Made from core/results.toml by core/verbs.py.
 * The fields of results, as X(KIND, member): for programs that loop over them. SUMS, as X(member):
 * the counts that are added up over the partitions of a queue.
 */
{results.lists(RESULTS)}

#endif
"""


# core/scripts.inc


def fanout(verb: Verb) -> tuple[str, str]:
    """
    The function that submits the verb to a partition, and the code by which a verb of the whole
    queue goes to the partitions.
    """
    if verb.fanout == "name" or (not verb.fanout and verb.receiver != "queue"):
        return "", ""
    if not verb.fanout:
        check = f'    dueq_status whole = dueq__arg_check_unpartitioned(queue, "{verb.name}");\n'
        return "", f"{check}    if (whole)\n        return whole;\n"
    members = verb.fanout_members()
    single = [name for name in ("ticket", "id") if name in verb.args]
    sent = [
        back + ("[0]" if single and member == ".items" else "")
        for member, (_, back) in members.items()
        if not (single and member == ".count")
    ]
    again = filled(f"    return dueq_{verb.name}_submit(", ["queue", *sent], ");")
    again = again if sent else f"    (void)asked;\n{again}"
    ask = f"""static dueq_status ask_{verb.name}(dueq_queue *queue,
                                               const struct dueq__fanout_request *asked) {{
{again}
}}

"""
    filled_in = [f"{member} = {value}" for member, (value, _) in members.items()]
    way = f".fanout = DUEQ__FANOUT_{verb.fanout.upper()}"
    parts = [f".submit = ask_{verb.name}", way, *filled_in]
    start = "        const struct dueq__fanout_request asked = {"
    leave = f"""    if (queue->partitioned) {{
{filled(start, parts, "};")}
        return queue->partitioned->fanout(queue, &asked);
    }}
"""
    return ask, leave


def submit(verb: Verb, script_args: list[str]) -> str:
    count = "count" if "count" in verb.names() else "1"
    changes = str(verb.changes()).lower()
    script = verb.choose_script or f"&dueq__script_{verb.script}"
    if verb.batch_script:
        script = f"count == 1 ? {script} : &dueq__script_{verb.batch_script}"
    asked = [script, changes, count, f"dueq__decode_{verb.decode}", "&words"]
    begin = f"dueq__verb_begin({', '.join(['queue', *asked])})"
    first, *others = [*verb.checks(), begin]
    lines = [call("    dueq_status status = ", first, ";")]
    for each in others:
        lines += ["    if (!status)", call("        status = ", each, ";")]
    body = "\n".join([*lines, "    if (status)", "        return status;"])
    sent = "".join(f"    {verb.argument(name).send};\n" for name in script_args)
    ask, leave = fanout(verb)
    return f"""{ask}{filled(f"dueq_status dueq_{verb.name}_submit(", verb.parameters(), ") {")}
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
{leave}{body}
{sent}    return dueq__op_submit(queue->client, &words);
}}
"""


def blocking(verb: Verb) -> str:
    returns = [RETURNS[verb.returns]] if verb.returns else []
    start = filled(f"dueq_status dueq_{verb.name}(", verb.parameters() + returns, ") {")
    submitted = filled(f"    dueq_status submitted = dueq_{verb.name}_submit(", verb.names(), ");")
    client = {"queue": "queue->client", "client": "client"}.get(
        verb.receiver, "submitted == DUEQ_PENDING ? queues[0]->client : NULL"
    )
    own = f"dueq__verb_run_{verb.returns}"
    run = own if verb.returns in ("purged", "counts") else "dueq__verb_run"
    call = filled(f"    return {run}(", [client, "submitted", verb.returns or "NULL"], ");")
    return f"{start}\n{submitted}\n{call}\n}}\n"


def pairs() -> str:
    """The C functions of the verbs, which embed.py adds behind their scripts."""
    parts = []
    for verb in VERBS:
        if verb.script_args is not None:
            parts.append(submit(verb, verb.script_args))
        if verb.room == "verbs":
            parts.append(blocking(verb))
    return "\n".join(parts)


# _core.pyi


def submits() -> str:
    lines = []
    for verb in VERBS:
        parts = ", ".join(argument.python for argument in verb.arguments())
        line = f"def {verb.name}_submit({parts}, /) -> int: ..."
        if len(line) > WIDTH:
            line = f"def {verb.name}_submit(\n    {parts}, /\n) -> int: ..."
        if len(f"    {parts}, /") > WIDTH:
            each = "".join(f"    {argument.python},\n" for argument in verb.arguments())
            line = f"def {verb.name}_submit(\n{each}    /,\n) -> int: ..."
        lines.append(line + "\n")
    return "".join(lines) + "\n"


def constants() -> str:
    """The names of the integer constants in the public headers."""
    names = []
    for path in [ROOT / "core/dueq.h", *sorted(ROOT.glob("interop/dueq_*.h"), reverse=True)]:
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        names += re.findall(r"^ +X\(-?\d+, (\w+),", code, flags=re.M)
        names += re.findall(r"\bDUEQ_([A-Z0-9_]+) =\s", code)
        names += re.findall(r"^#define DUEQ_([A-Z_]+) \(?-?\d+\)? *$", code, flags=re.M)
    return "".join(f"{name}: int\n" for name in names) + "\n"


# All that is made

STUB = "bindings/python/dueq/_core.pyi"


def marked() -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Each section: its file, the comment above it, and the function that makes it."""
    yield STUB, MADE, submits
    yield STUB, "Made from the public headers by core/verbs.py.", constants
    for table, sections in [
        ("verbs", faces.sections(FACES)),
        ("options", options.sections(OPTIONS)),
        ("results", results.sections(RESULTS)),
    ]:
        for file, name, make in sections:
            yield file, f"Made from core/{table}.toml by core/verbs.py: {name}.", make


def files() -> dict[str, str]:
    """The text of each file that is made, or has a section that is made."""
    made = {"core/dueq_verbs.h": header()}
    for file, make_all in faces.FILES.items():
        made[file] = f"/* {MADE} */\n/* clang-format off */\n{make_all(FACES)}"
    for file, mark, make in marked():
        old = made.get(file) or (ROOT / file).read_text(encoding="utf-8")
        made[file] = renewed(file, old, mark, make())
    made[options.PHP_STUB] = options.php_stub(made[options.PHP_STUB], OPTIONS)
    return made


def main() -> None:
    for name, text in files().items():
        path = ROOT / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{name} is stale: run core/verbs.py")
    symbols.main()


if __name__ == "__main__":
    main()
