"""Makes from core/verbs.toml the faces of verbs: the methods of Python and PHP, the commands of the
shell, and the contract's functions in C.

A kind says what the values of an argument are in each language. A new verb whose arguments are of
kinds that exist needs its row in core/verbs.toml alone, and code only for what the verb does.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from options.text import WIDTH, camel, filled, joined, wrapped

MADE = "Made from core/verbs.toml by core/verbs.py."
MADE_OF_C = f"/* {MADE} */\n/* clang-format off */\n"


class Kind(NamedTuple):
    """
    How arguments of a kind are written. In the texts {name} is the argument's name, {variable} its
    name in C, {dashes} in the shell; {what}, {least} and {most} are its range.
    """

    c: str
    """The parameter. Its last word is {variable}."""
    zero: str = "0"
    check: str = ""
    send: str = ""
    fanout: str = ""
    """The member of a struct dueq__fanout_request; "numbers": the next of its numbers."""
    from_fanout: str = "{member}"
    stub: str = "int"

    none: str = ""
    """The constant of C that None and null stand for; "": they are refused."""

    python: str = ""
    python_pass: str = "{name}"

    php: str = ""
    php_local: str = "zval *{name}"
    """What the argument is parsed into."""
    php_parse: str = "Z_PARAM_ZVAL({name})"
    php_read: str = ""
    """A call that reads {name} into {variable}, false if it threw."""
    php_reads_null: bool = False
    """Whether php_read takes a parameter that is not given, or null."""
    php_pass: str = "{variable}"

    argument: str = ""
    """What the shell calls the value; "": the option has no value."""
    shell: str = ""
    """The value of the text `optarg`."""
    shell_refuses: tuple[str, str] = ("", "")
    """When the shell refuses the options of the command, and what it says then."""

    contract: str = ""
    """The value in a `step` of a situation; {initial}: where the step does not have it."""


DURATION = Kind(
    c="int64_t {name}_ms",
    check='dueq__arg_check_ms(queue, "{what}", {name}_ms, {least}, {most})',
    send="dueq__resp_number(&words, {name}_ms)",
    fanout="numbers",
    python="float | timedelta",
    python_pass='duration_ms({name}, "{name}")',
    php="float|\\DateInterval",
    php_read="dueq_php_duration(&{name}_place, {name}, &{name}_ms)",
    argument="DURATION",
    shell='cli_duration(cli, "{dashes}", optarg)',
    contract='number(step, "{name}_ms", {initial})',
)
MOMENT = DURATION._replace(
    python="float | datetime",
    python_pass='point_ms({name}, "{name}")',
    php="float|int|\\DateTimeInterface",
    php_read="dueq_php_time(&{name}_place, {name}, &{name}_ms)",
    argument="TIME",
    shell='cli_point(cli, "{dashes}", optarg)',
)
TEXT = Kind(
    c="dueq_bytes {name}",
    zero="{0}",
    check='dueq__text_check("{what}", {name}, {most}, &queue->client->error)',
    send="dueq__arg_put(&words, &{name}, 1)",
    fanout="text",
    stub="str",
    python="str",
    php="string",
    php_local="zend_string *{name}",
    php_parse="Z_PARAM_STR({name})",
    php_pass="dueq_php_bytes({name})",
    argument="TEXT",
    shell="(dueq_bytes){{optarg, strlen(optarg)}}",
    contract='bytes(run, step, "{name}")',
)
KINDS = {
    "duration": DURATION,
    # A duration, or by the message's backoff.
    "retry_delay": DURATION._replace(
        check="dueq__arg_check_retry_delay(queue, {name}_ms)",
        send="dueq__arg_put_retry_delay(&words, {name}_ms)",
        none="DUEQ_BY_POLICY",
        python_pass='_core.BY_POLICY if {name} is None else duration_ms({name}, "{name}")',
    ),
    "moment": MOMENT,
    # A delay or, by the argument `at`, a moment.
    "delay": DURATION._replace(
        check="dueq__due_check({name}_ms, at_ms, &queue->client->error)",
        send="dueq__arg_put_due(&words, {name}_ms, at_ms)",
        none="0",
        python_pass="*due_ms({name}, at)",
        php_read="dueq_php_due({name}, at, &{name}_place, &{name}_ms, &at_ms)",
        php_reads_null=True,
    ),
    # The kind `delay` checks, sends and reads both.
    "at": MOMENT._replace(
        check="",
        send="",
        none="0",
        python_pass="",
        php_read="",
        shell_refuses=("has_delay && has_at", "give either --delay or --at, not both"),
    ),
    "number": Kind(
        c="int64_t {name}",
        check=(
            'dueq__ranges_check(&(struct dueq__range){{"{what}", NULL, {name}, {least}, {most}}}, '
            "1, &queue->client->error)"
        ),
        send="dueq__resp_number(&words, {name})",
        fanout="numbers",
        python="int",
        php="int",
        php_local="zend_long {name}",
        php_parse="Z_PARAM_LONG({name})",
        argument="N",
        shell='cli_number(cli, "{dashes}", optarg, {least}, {most})',
        contract='number(step, "{name}", {initial})',
    ),
    "text": TEXT,
    # A text that is stored with a message, and cut if it is too long; in Python also an exception.
    "note": TEXT._replace(
        check="",
        send="dueq__arg_put_note(&words, {name})",
        stub="Buffer | str",
        python="str | BaseException",
        python_pass='noted({name}, "{name}")',
    ),
    "flag": Kind(
        c="int {name}",
        send="dueq__resp_number(&words, {name})",
        fanout="numbers",
        from_fanout="{member} != 0",
        python="bool",
        python_pass="int({name})",
        php="bool",
        php_local="bool {name}",
        php_parse="Z_PARAM_BOOL({name})",
        shell="1",
        contract='json_object_get_boolean(field(step, "{name}"))',
    ),
}


class Result(NamedTuple):
    """What a method returns. none: for an item that was not there."""

    python: str
    none: str
    php: str
    read: str = ""


RESULTS = {
    "": Result("None", "", "void"),
    "done": Result("bool", "False", "bool", "done"),
    "state": Result("State | None", "None", "?State", "state"),
}

PHP_WORDS = {
    r"\bNone\b": "null",
    r"\bTrue\b": "true",
    r"\bFalse\b": "false",
    r" \(or a timedelta\)": "",
    "an aware datetime": "a DateTimeInterface",
    "; or an exception: its class and text": "",
    "gets LeaseLost": "gets a LeaseLostException",
    r"\bLEASED\b": "State::Leased",
    r"`(\w+)`": r"$\1",
}
"""What a text about a method says in PHP in place of Python's words: patterns of these."""


def in_php(text: str) -> str:
    for python, php in PHP_WORDS.items():
        text = re.sub(python, php, text)
    return text


class Argument:
    def __init__(self, name: str, row: dict[str, Any]) -> None:
        self.name = name
        self.kind = KINDS[row["kind"]]
        self.default = row.get("default")
        self.camel = camel(name)
        self.dashes = name.replace("_", "-")
        self.doc = joined(row.get("doc", ""))
        self.shell_doc: str = row.get("shell", "").strip()
        what, *bounds = row.get("range", [""])
        self.words = {
            "name": name,
            "dashes": self.dashes,
            "variable": self.kind.c.format(name=name).split()[-1],
            "what": what,
            "least": bounds[0] if len(bounds) == 2 else "",
            "most": bounds[-1] if bounds else "",
        }
        self.variable = self.words["variable"]
        self.shell_default: str = row.get("shell_default", self.initial)
        self.words["initial"] = self.initial or "0"

    def get(self, part: str) -> str:
        """The text `part` of the argument's kind, filled in."""
        text: str = getattr(self.kind, part)
        return text.format_map(self.words)

    @property
    def initial(self) -> str:
        """The value in C where the argument is not given; "": it must be given."""
        if self.kind.none:
            return self.kind.none
        if self.default is None:
            return ""
        if isinstance(self.default, str):
            assert not self.default, "a text is empty by default"
            return self.kind.zero
        return str(int(self.default * (1000 if self.variable.endswith("_ms") else 1)))

    def of_python(self) -> str:
        if self.kind.none:
            return f"{self.name}: {self.kind.python} | None = None"
        default = "" if self.default is None else f" = {json.dumps(self.default).capitalize()}"
        return f"{self.name}: {self.kind.python}{default}"

    def of_php(self) -> str:
        if self.kind.none:
            return f"{self.kind.php}|null ${self.camel} = null"
        default = "" if self.default is None else f" = {json.dumps(self.default)}"
        return f"{self.kind.php} ${self.camel}{default}"


class Face:
    """A verb whose faces are made: a method of a queue or of a message."""

    def __init__(self, name: str, row: dict[str, Any]) -> None:
        self.name = name
        self.camel = camel(name)
        self.dashes = name.replace("_", "-")
        self.of: str = row["generated_faces"]
        self.subject: str = next((each for each in row["args"] if each in SUBJECTS), "")
        rows = row.get("arguments", {})
        self.arguments = [Argument(each, rows[each]) for each in row["args"] if each in rows]
        if self.subject == "ids" and self.arguments:
            sys.exit(f"core/verbs.toml: {name}: a verb on ids takes nothing else; give it one id")
        id = [Argument("id", {"kind": "text"})] if self.subject in {"id", "ids"} else []
        self.parameters = [*id, *self.arguments]
        """The parameters of its method."""
        self.doc, *more = [joined(each) for each in row["face_doc"].strip().split("\n\n")]
        self.more = " ".join(more)
        self.settles: bool = row.get("settles", False)
        self.none_when: str = joined(row.get("none_when", ""))
        self.none_is: str = row.get("none_is", "NOT_FOUND" if self.none_when else "")
        self.result = RESULTS[row.get("face_returns", "done" if self.none_is else "")]
        self.many_doc: str = row.get("many_doc", f"Does {name}() with any number of messages.")
        self.returns: str = row.get("returns", "result")
        self.cli_summary: str = row.get("cli_summary", "")
        self.cli_help: str = row.get("cli_help", "").strip()
        self.cli_example: str = row.get("cli_example", "")

    def on(self, subject: str) -> list[str]:
        """The first arguments of a call in C, for one item in the variable `subject`."""
        if not self.subject:
            return []
        return [f"&{subject}", "1"] if self.subject.endswith("s") else [subject]


SUBJECTS = ("ids", "id", "tickets", "ticket")
"""The arguments that say what a verb works on; a verb without one is about the whole queue."""


# Python


def laid_out(start: str, parts: list[str], end: str, indent: str) -> str:
    """A call or the head of a function, in the lines that ruff makes."""
    one = ", ".join(parts)
    if len(f"{indent}{start}{one}{end}") <= WIDTH:
        return f"{indent}{start}{one}{end}\n"
    if len(f"{indent}    {one}") <= WIDTH:
        return f"{indent}{start}\n{indent}    {one}\n{indent}{end}\n"
    lines = "".join(f"{indent}    {part},\n" for part in parts)
    return f"{indent}{start}\n{lines}{indent}{end}\n"


def docstring(face: Face) -> str:
    none = f" {face.result.none}: {face.none_when}." if face.none_when else ""
    lost = " Raises LeaseLost." if face.of == "message" else ""
    first, indent = f"{face.doc}{none}{lost}", " " * 8
    told = [each for each in face.arguments if each.doc]
    if len(first) <= 80 and not told and not face.more:
        return f'{indent}"""{first}"""\n'
    parts = [wrapped(first, indent, indent)]
    if told:
        margin = indent + " " * (max(len(each.name) for each in told) + 2)
        rows = [wrapped(e.doc, f"{indent}{e.name}".ljust(len(margin)), margin) for e in told]
        parts.append("\n".join(rows))
    if face.more:
        parts.append(wrapped(face.more, indent, indent))
    return f'{indent}"""\n' + "\n\n".join(parts) + f'\n{indent}"""\n'


def python(face: Face) -> str:
    submit, doc = f"_core.{face.name}_submit", docstring(face)
    if face.subject == "ids":
        return f"""
    async def {face.name}(self, id: str) -> {face.result.python}:
{doc}        [one] = await self.{face.name}_many((id,))
        return one

    async def {face.name}_many(self, ids: Iterable[str]) -> list[{face.result.python}]:
        \"""{face.many_doc}\"""
        return await self._each({submit}, listed(ids, "ids"), _{face.result.read}_of)
"""
    parts = ["self", *(each.of_python() for each in face.parameters)]
    end = f") -> {face.result.python}:"
    head = "\n" + laid_out(f"async def {face.name}(", parts, end, "    ") + doc
    given = [text for each in face.parameters if (text := each.get("python_pass"))]
    if face.of == "queue":
        call = laid_out("call = on(", ["self._own", submit, *given], ")", " " * 8)
        if face.none_is:
            return f"{head}{call}        return (await self._home.call(call)).status == _core.OK\n"
        return f"{head}{call}        await self._home.call(call)\n"
    ticket = "(self.ticket,)" if face.subject == "tickets" else "self.ticket"
    call = laid_out("call = on(", ["self.queue", submit, ticket, *given], ")", " " * 8)
    if not face.settles:
        return f"{head}{call}        await self._hold_by(call)\n"
    settled = f'await self._settle_by("{face.name}", call)'
    settled = f"return {settled} == _core.OK" if face.none_is else settled
    return f"{head}        self._asked = True\n{call}        {settled}\n"


# PHP


def php_head(face: Face, end: str) -> str:
    """A declaration in the stub; end: what is behind the types."""
    parts = [each.of_php() for each in face.parameters]
    start = f"        public function {face.camel}("
    end = f"): {face.result.php}{end}"
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) > WIDTH or len(parts) > 2:
        listed = ",\n".join(f"            {part}" for part in parts)
        line = f"{start}\n{listed}\n        {end}"
    return f"{line}\n"


def php_doc(face: Face) -> str:
    margin = "         * "
    more = f"{margin}    "
    tags = [
        wrapped(in_php(each.doc), f"{margin}@param {each.of_php().split(' = ')[0]} ", more)
        for each in face.arguments
        if each.doc
    ]
    if face.none_when:
        returns = f"{face.result.python.replace(' | None', '|null')} {in_php(face.result.none)}: "
        tags.append(wrapped(face.none_when, f"{margin}@return {returns}", more))
    if face.of == "message":
        tags.append(f"{margin}@throws Exception\\LeaseLostException")
    parts = [wrapped(in_php(text), margin, margin) for text in (face.doc, face.more) if text]
    text = f"\n{margin.rstrip()}\n".join([*parts, *(["\n".join(tags)] if tags else [])])
    return f"        /**\n{text}\n         */\n"


def php_stub(face: Face, is_class: bool) -> str:
    """The methods of a class, in the stub; of an interface without their documentation."""
    doc, end, order = (php_doc(face), " {}", " in order") if is_class else ("", ";", "")
    one = f"\n{doc}{php_head(face, end)}"
    if face.subject != "ids":
        return one
    many = f"         * {in_php(face.many_doc)}\n         *\n" if is_class else ""
    return f"""{one}
        /**
{many}         * @param array<string> $ids
         * @return list<{face.result.python.replace(" | None", "|null")}>{order}
         */
        public function {face.camel}Many(array $ids): array{end}
"""


PHP_IDS = """
ZEND_METHOD(Dueq_Queue, {camel}) {{
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_one(queue, dueq_{name}_submit, id, {read}, return_value);
}}

ZEND_METHOD(Dueq_Queue, {camel}Many) {{
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_{name}_submit, ids, false, {read}, return_value);
}}
"""


def php_parameters(face: Face) -> tuple[str, str]:
    """The variables of a method, with how it parses its parameters; and how it reads them."""
    places, locals_, needed, more, reads = "", "", "", "", ""
    for number, each in enumerate(face.parameters, 1):
        local, parse = each.get("php_local"), f"        {each.get('php_parse')}\n"
        start = each.initial and f" = {'NULL' if '*' in local else each.initial}"
        locals_ += f"    {local}{start};\n"
        needed, more = (needed, more + parse) if each.initial else (needed + parse, more)
        if not each.kind.php_read:
            locals_ += f"    int64_t {each.variable} = 0;\n" if "zval" in local else ""
            continue
        places += (
            f'    const dueq_php_place {each.name}_place = {{{number}, -1, "{each.camel}"}};\n'
        )
        locals_ += f"    int64_t {each.variable} = {each.initial or '0'};\n"
        given = f"{each.name} && " if each.initial and not each.kind.php_reads_null else ""
        given += f"Z_TYPE_P({each.name}) != IS_NULL && " if given and each.kind.none else ""
        reads += f"    if ({given}!{each.get('php_read')}) {{\n        RETURN_THROWS();\n    }}\n"
    if not face.parameters:
        return "    ZEND_PARSE_PARAMETERS_NONE();\n", ""
    least = needed.count("\n")
    optional = f"        Z_PARAM_OPTIONAL\n{more}" if more else ""
    start = f"    ZEND_PARSE_PARAMETERS_START({least}, {len(face.parameters)})\n"
    parsed = f"{start}{needed}{optional}    ZEND_PARSE_PARAMETERS_END();\n"
    return f"{places}{locals_}\n{parsed}", reads


def php_method(face: Face) -> str:
    if face.subject == "ids":
        return PHP_IDS.format(
            name=face.name, camel=face.camel, read=f"dueq_php_outcome_{face.result.read}"
        )
    begin, reads = php_parameters(face)
    queue, this, finish = "queue", "THIS_QUEUE(queue)", "dueq_php_finish(queue->client, submitted)"
    ticket: list[str] = []
    if face.of == "message":
        queue, ticket = "message->queue", face.on("ticket")
        reads += "    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);\n"
        this = "SETTLE_MESSAGE(message)" if face.settles else "THIS_MESSAGE(message)"
        finish = "dueq_php_finish_held(message->queue->client, submitted, NULL)"
        finish = "dueq_php_message_settle(message, submitted)" if face.settles else finish
    given = [f"{queue}->queue", *ticket, *(each.get("php_pass") for each in face.parameters)]
    submit = filled(f"    const dueq_status submitted = dueq_{face.name}_submit(", given, ");")
    finish = f"RETURN_BOOL({finish} == DUEQ_OK)" if face.none_is else finish
    return f"""
ZEND_METHOD(Dueq_{face.of.capitalize()}, {face.camel}) {{
{begin}
    {this};
{reads}{submit}
    {finish};
}}
"""


def php_methods(all_: list[Face]) -> str:
    return f'{MADE_OF_C}#include "message.h"\n{"".join(map(php_method, all_))}'


# The shell


def quoted(text: str) -> str:
    """Lines of a help as strings of C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(f'    "{line}\\n"' for line in escaped.split("\n"))


def shell_help(face: Face) -> str:
    """What --help says behind the summary."""
    names = [f"--{each.dashes} {each.get('argument')}".strip() for each in face.arguments]
    width = max(map(len, names), default=0)
    options = "Options:"
    for name, each in zip(names, face.arguments, strict=True):
        lines = each.shell_doc.replace("\n", "\n" + " " * (width + 4))
        options += f"\n  {name:<{width}}  {lines}"
    said = face.cli_help
    if face.arguments and "{options}" not in said:
        said = f"{said}\n\n{{options}}".strip()
    example = f"dueq {face.dashes} orders {face.cli_example}".strip()
    return quoted(f"{said.replace('{options}', options)}\n\nExample:\n  {example}")


SHELL_IDS = """
static int run_{name}(struct cli *cli, int argc, char *argv[]) {{
    return cli_ids(cli, argc, argv, dueq_{name}_submit);
}}

const struct command {name}_command = {{
    "{dashes}", "QUEUE ID...", "{summary}",
    CLI_IDS
{help}
    "\\n"
    "Examples:\\n" CLI_ID_EXAMPLES("{dashes}"), run_{name}}};
"""


def shell_reading(face: Face) -> tuple[str, str]:
    """The variables of a command's options, and how they are read and checked."""
    locals_, rows, cases = "", "", ""
    refused = [each.kind.shell_refuses for each in face.arguments if each.kind.shell_refuses[0]]
    for each in face.arguments:
        if not each.shell_default:
            option = f"--{each.dashes} {each.get('argument')}"
            refused.append((f"!has_{each.name}", f"give {option}"))
    for value, each in enumerate(face.arguments, 1):
        needs = "required" if each.kind.argument else "no"
        rows += f'{{"{each.dashes}", {needs}_argument, NULL, {value}}}, '
        declared = each.get("c").removesuffix(each.variable)
        locals_ += f"    {declared}{each.variable} = {each.shell_default or each.kind.zero};\n"
        cases += f"        case {value}:\n            {each.variable} = {each.get('shell')};\n"
        if f"has_{each.name}" in str(refused):
            locals_ += f"    bool has_{each.name} = false;\n"
            cases += f"            has_{each.name} = true;\n"
        cases += "            break;\n"
    checks = "".join(
        f'    if ({when})\n        cli_usage(cli, "{text}");\n' for when, text in refused
    )
    return (
        f"""    static const struct option options[] = {{
        {rows}CLI_OPTIONS}};
{locals_}""",
        f"""    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {{
        switch (option) {{
{cases}        }}
    }}
{checks}""",
    )


def shell_command(face: Face) -> str:
    if face.subject == "ids":
        words = {"name": face.name, "dashes": face.dashes, "summary": face.cli_summary}
        return SHELL_IDS.format(help=quoted(f"\n{face.cli_help}"), **words)
    id = face.subject.removesuffix("s")
    most = "1" if id else "0"
    locals_, read = shell_reading(face) if face.arguments else ("", "")
    begin = f"""    cli_words(cli, argc, {most}, {most});
    if (!cli_open(cli, argv, &code))
"""
    if not face.arguments:
        begin = f"    if (!cli_begin(cli, argc, argv, {most}, &code))\n"
    word = "argv[optind]" if id else "cli->queue_name"
    given = ["cli->queue", *face.on("subject"), *(each.variable for each in face.arguments)]
    submit = filled(f"    dueq_status status = dueq_{face.name}_submit(", given, ");")
    end = f'cli_outcome(cli, "{id or "queue"}", subject, '
    end = "cli_id_outcome(cli, subject, " if id == "id" else end
    return f"""
static int run_{face.name}(struct cli *cli, int argc, char *argv[]) {{
{locals_}    int code;
{read}{begin}        return code;
    const dueq_bytes subject = {{{word}, strlen({word})}};
{submit}
    return {end}cli_wait(cli, status, NULL));
}}

const struct command {face.name}_command = {{
    "{face.dashes}", "QUEUE{f" {id.upper()}" if id else ""}", "{face.cli_summary}",
{shell_help(face)},
    run_{face.name}}};
"""


def shell_commands(all_: list[Face]) -> str:
    commands = "".join(shell_command(face) for face in all_ if face.cli_summary)
    return f'{MADE_OF_C}#include "cli.h"\n\n#include <string.h>\n{commands}'


def shell_header(all_: list[Face]) -> str:
    """The declarations of the commands, and their lists by what a command works on."""
    declared, lists = "", {"MESSAGE": "", "ID": "", "QUEUE": ""}
    for face in all_:
        if face.cli_summary:
            declared += f"extern const struct command {face.name}_command;\n"
            of = "ID" if face.subject in {"id", "ids"} else face.of.upper()
            lists[of] += f" \\\n    , &{face.name}_command"
    defined = "\n".join(f"#define {of}_COMMANDS{listed}" for of, listed in lists.items())
    return f"""{MADE_OF_C}#ifndef DUEQ_CLI_VERBS_H
#define DUEQ_CLI_VERBS_H

#include "cli.h"

{declared}
/* The commands that work on a message, on ids and on a queue, for the list of all. */
{defined}

#endif
"""


# The contract's program in C


def contract_step(face: Face) -> str:
    start = f"static void do_{face.name}(struct run *run, json_object *step) {{\n"
    if face.subject == "ids":
        return f"\n{start}    do_ids(run, step, dueq_{face.name});\n}}\n"
    given = ["run->queue"]
    if face.of == "message":
        start += '    const struct capture *held = captured(run, step, "message");\n'
        given = ["held->queue", *face.on("held->ticket")]
    given += [each.get("contract") for each in face.parameters]
    given += ["NULL"] if face.returns else []
    call = filled(f"    dueq_status status = dueq_{face.name}(", given, ");")
    compare = '    compare_status(run, field(step, "expect"), status);\n'
    return f"\n{start}{call}\n{compare}}}\n"


def contract_steps(all_: list[Face]) -> str:
    rows = "".join(f'    {{"{face.name}", do_{face.name}}},\n' for face in all_)
    steps = "".join(map(contract_step, all_))
    table = f"const struct verb made_verbs[] = {{\n{rows}    {{NULL, NULL}}}};\n"
    return f'{MADE_OF_C}#include "run.h"\n{steps}\n{table}'


def contract_in_php(all_: list[Face]) -> str:
    """The verbs of the contract's PHP, with the outcome that null and false stand for."""
    rows = "".join(f"        '{face.name}' => '{face.none_is or 'OK'}',\n" for face in all_)
    return f"    private const MADE = [\n{rows}    ];\n"


PHP = "bindings/php/dueq.stub.php"
SECTIONS: list[tuple[str, str, str, Callable[[Face], str]]] = [
    ("bindings/python/dueq/aio/queue.py", "verbs of a queue", "queue", python),
    ("bindings/python/dueq/aio/message.py", "verbs of a message", "message", python),
    (PHP, "the verbs of QueueInterface", "queue", partial(php_stub, is_class=False)),
    (PHP, "the verbs of MessageInterface", "message", partial(php_stub, is_class=False)),
    (PHP, "the verbs of Queue", "queue", partial(php_stub, is_class=True)),
    (PHP, "the verbs of Message", "message", partial(php_stub, is_class=True)),
]
"""Parts of files: the file, the name of the part, whose methods it has, and what makes a method."""

FILES: dict[str, Callable[[list[Face]], str]] = {
    "bindings/php/verbs.c": php_methods,
    "cli/verbs.c": shell_commands,
    "cli/verbs.h": shell_header,
    "tests/contract/verbs.c": contract_steps,
}
"""The files that are made."""


def sections(all_: list[Face]) -> list[tuple[str, str, Callable[[], str]]]:
    def part(of: str, make: Callable[[Face], str]) -> Callable[[], str]:
        return lambda: "".join(make(face) for face in all_ if face.of == of) + "\n"

    return [
        *((file, name, part(of, make)) for file, name, of, make in SECTIONS),
        ("tests/contract/ContractTest.php", "the verbs", lambda: contract_in_php(all_)),
    ]
