"""Makes from core/verbs.toml all that the core and each face have by option of a push.

A kind says what the values of an option are in each language. A new option of a kind that exists
needs its table in core/verbs.toml alone, and code only for what the option does.
"""

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

WIDTH = 100


class Kind(NamedTuple):
    """
    How options of a kind are written. In the texts {name} is the option's name, {camel} its name in
    PHP, {dashes} its name in the shell, {member} its member of dueq_draft, {least} and {most} its
    range. Each other {key} is the value of that key in the option's table in core/verbs.toml.
    """

    c: str = ""
    """The member of dueq_draft. Without it the option is Python's alone."""
    range: str = ""
    """The value in a struct dueq__range."""

    python: str = ""
    default: str = "None"
    types: str = ""
    """The types that Python accepts; empty: `read` checks the value."""
    read: str = "self.{name}"
    """The item of a row."""
    row: str = "int"

    parse: str = ""
    """The format of PyArg_ParseTuple() for the item."""
    into: str = "&draft->{member}"
    declare: str = ""
    """A local variable, as (type, name)."""
    store: str = ""
    """What puts the variable into the draft."""

    php: str = ""
    php_default: str = "null"
    php_doc: str = ""
    phpstan: str = ""
    php_key: str = "VALUE"
    """What a value in an item of an array may be: a DUEQ_PHP_ type."""
    php_field: str = "zval *{name}"
    php_parse: str = "Z_PARAM_ZVAL(fields->{name})"
    php_fill: str = ""
    """What puts the field into the draft: an assignment, or a call that is false if it threw."""

    argument: str = ""
    """What the shell calls the value; "": the option has no value."""
    shell: str = ""
    """What puts the value `given` into the draft."""

    contract: str = ""
    """What puts the value `from` of a situation into the draft."""


BACKOFF = "array<int|float|\\DateInterval>|Backoff|\\DateInterval|null"
DURATION = Kind(
    c="int64_t {name}_ms",
    range="draft->{member}",
    python="float | timedelta | None",
    read='optional_ms(self.{name}, "{name}")',
    parse="L",
    into="&{name}_ms",
    declare="long long {name}_ms",
    store="draft->{member} = {name}_ms",
    php="float|\\DateInterval|null",
    php_doc="float|\\DateInterval|null",
    phpstan="int|float|\\DateInterval|null",
    php_fill='fill_duration(&draft->{member}, fields->{name}, "{camel}", item)',
    argument="DURATION",
    shell='draft->{member} = cli_duration(cli, "{dashes}", given)',
    contract='draft->{member} = number(from, "{name}_ms", 0)',
)

KINDS = {
    "json": Kind(python="object"),
    "text": Kind(
        c="dueq_bytes {name}",
        python="str | None",
        types="str, type(None)",
        read='_text(self.{name}, "{name}")',
        row="str",
        parse="s#",
        into="&draft->{member}.data, &{name}_size",
        declare="Py_ssize_t {name}_size",
        store="draft->{member}.size = (size_t){name}_size",
        php="?string",
        php_doc="string|null",
        phpstan="string|null",
        php_key="TEXT",
        php_field="zend_string *{name}",
        php_parse="Z_PARAM_STR_OR_NULL(fields->{name})",
        php_fill='fill_text(&draft->{member}, fields->{name}, "{camel}", item)',
        argument="TEXT",
        shell='draft->{member} = read_text(cli, "{dashes}", given)',
        contract='draft->{member} = bytes(run, from, "{name}")',
    ),
    # A duration that may be 0.
    "duration": DURATION,
    # A duration above 0.
    "span": DURATION._replace(
        read='limit_ms(self.{name}, "{name}")',
        php_fill='fill_span(&draft->{member}, fields->{name}, "{camel}", item)',
    ),
    "delay": DURATION._replace(
        read="*due_ms(self.delay, self.at)",
        php_fill="fill_due(draft, fields->delay, fields->at, item)",
        shell="read_delay(cli, drafting, given)",
    ),
    # `read` of the delay reads both.
    "at": DURATION._replace(
        python="float | datetime | None",
        read="",
        php="float|int|\\DateTimeInterface|null",
        php_doc="float|int|\\DateTimeInterface|null",
        phpstan="int|float|\\DateTimeInterface|null",
        php_fill="",
        argument="TIME",
        shell='draft->at_ms = cli_point(cli, "at", given)',
    ),
    "limit": Kind(
        c="uint32_t {name}",
        range="draft->{member}",
        python="int | None",
        default="_core.{constant}",
        types="int, type(None)",
        read='_limit(self.{name}, "{name}", "{of_one}")',
        parse="I",
        php="?int",
        php_default="{value}",
        php_doc="int|null",
        phpstan="int|null",
        php_key="LIMIT",
        php_field="dueq_php_bound {name}",
        php_parse="Z_PARAM_LONG_OR_NULL(fields->{name}.number, fields->{name}.is_null)",
        php_fill=(
            'fill_limit(&draft->{member}, fields->{name}, "{camel}", '
            '"not be 0: use null for no limit, 1 for {of_one}", item)'
        ),
        argument="N",
        shell='draft->{member} = read_limit(cli, "{dashes}", given, "{of_one}")',
        contract='draft->{member} = (uint32_t)number(from, "{name}", draft->{member})',
    ),
    "flag": Kind(
        c="int {name}",
        python="bool",
        default="False",
        types="bool,",
        row="bool",
        parse="p",
        php="bool",
        php_default="false",
        php_doc="bool",
        phpstan="bool",
        php_key="TRUTH",
        php_field="bool {name}",
        php_parse="Z_PARAM_BOOL(fields->{name})",
        php_fill="draft->{member} = fields->{name}",
        shell="draft->{member} = 1",
        contract='draft->{member} = json_object_get_boolean(field(from, "{name}"))',
    ),
    "number": Kind(
        c="int {name}",
        range="draft->{member}",
        python="int",
        default="0",
        types="int,",
        parse="i",
        php="int",
        php_default="0",
        php_doc="int",
        phpstan="int",
        php_key="NUMBER",
        php_field="zend_long {name}",
        php_parse="Z_PARAM_LONG(fields->{name})",
        php_fill=(
            "fill_number(&draft->{member}, fields->{name}, {least}, {most}, "
            '"{camel}", "{php_range}", item)'
        ),
        argument="N",
        shell='draft->{member} = (int)cli_number(cli, "{dashes}", given, {least}, {most})',
        contract='draft->{member} = (int)number(from, "{name}", 0)',
    ),
    "headers": Kind(
        c="const dueq_header *headers; /* may be NULL when header_count is 0 */\n"
        "    size_t header_count",
        python="Mapping[str, str] | None",
        types="Mapping, type(None)",
        read="_header_row(self.headers)",
        row="tuple[tuple[str, str], ...]",
        parse="O",
        into="&headers",
        declare="PyObject *headers",
        php="array",
        php_default="[]",
        php_doc="array<string, string>",
        phpstan="array<string, string>",
        php_key="TABLE",
        php_field="HashTable *headers",
        php_parse="Z_PARAM_ARRAY_HT(fields->headers)",
        php_fill="fill_headers(draft, fields->headers, item, arena)",
        argument="NAME=VALUE",
        shell="add_header(cli, drafting, given)",
        contract='fill_headers(run, field(from, "headers"), draft)',
    ),
    "priority": Kind(
        c="dueq_priority priority",
        range="draft->priority",
        python="int",
        default="_core.NORMAL",
        types="int,",
        parse="i",
        into="&priority",
        declare="int priority",
        store="draft->priority = (dueq_priority)priority",
        php="int",
        php_default="0",
        php_doc="int",
        phpstan="int",
        php_key="NUMBER",
        php_field="zend_long priority",
        php_parse="Z_PARAM_LONG(fields->priority)",
        php_fill="fill_priority(draft, fields->priority, item)",
        argument="high|normal|low",
        shell="draft->priority = read_priority(cli, given)",
        contract='draft->priority = (dueq_priority)number(from, "priority", DUEQ_NORMAL)',
    ),
    "backoff": Kind(
        c="dueq_backoff backoff",
        python="BackoffLike | None",
        read="backoff_row(self.backoff)",
        row="BackoffRow",
        parse="O",
        into="&backoff",
        declare="PyObject *backoff",
        php="float|array|Backoff|\\DateInterval|null",
        php_doc=f"float|{BACKOFF}",
        phpstan=f"int|float|{BACKOFF}",
        php_fill="fill_backoff(&draft->backoff, fields->backoff, item, arena)",
        argument="HOW",
        shell="read_backoff(cli, drafting, given)",
        contract='fill_backoff(run, field(from, "backoff"), &draft->backoff)',
    ),
    "replace": Kind(
        c="dueq_replace replace",
        range="(int)draft->replace",
        python='bool | Literal["body"]',
        default="False",
        types="bool, str",
        read="_REPLACE[self.replace]",
        parse="i",
        into="&replace",
        declare="int replace",
        store="draft->replace = (dueq_replace)replace",
        php="?Replace",
        php_doc="Replace|null",
        phpstan="Replace|null",
        php_fill="fill_replace(draft, fields->replace, item)",
        argument="=body",
        shell="read_replace(cli, drafting, given)",
        contract='draft->replace = (dueq_replace)choice(run, from, "replace", replaces)',
    ),
}


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def joined(text: str) -> str:
    return " ".join(text.split())


class Option:
    def __init__(self, name: str, row: dict[str, Any]) -> None:
        self.name = name
        self.row = row
        self.kind: str = row["kind"]
        self.group: str = row["group"]
        is_time = KINDS[self.kind].c == DURATION.c
        bounds = row.get("range", ())
        self.words = {
            "member": f"{name}_ms" if is_time else name,
            **{key: str(value) for key, value in row.items()},
            "name": name,
            "camel": camel(name),
            "dashes": name.replace("_", "-"),
            "least": bounds[1] if len(bounds) == 3 else "",
            "most": bounds[2] if len(bounds) == 3 else "",
        }

    def get(self, part: str) -> str:
        """The text `part` of the option's kind, filled in for this option."""
        text: str = getattr(KINDS[self.kind], part)
        return text.format_map(self.words)

    def doc(self, face: str, none: str) -> str:
        """What the option means to a face. none: the language's own word for no value."""
        text = joined(self.row.get(face, self.row["doc"]))
        if none and "none" in self.row and face not in self.row:
            text += f"; {none}: {joined(self.row['none'])}"
        return text

    @property
    def shell_name(self) -> str:
        return "header" if self.kind == "headers" else self.words["dashes"]


class Options:
    def __init__(self, rows: dict[str, dict[str, Any]]) -> None:
        self.all = [Option(name, row) for name, row in rows.items()]
        self.core = [option for option in self.all if KINDS[option.kind].c]
        self.shell = [option for option in self.all if "shell" in option.row]
        groups = {option.group: None for option in self.all}
        self.grouped = {
            group: [option for option in self.all if option.group == group] for group in groups
        }


def wrapped(text: str, first: str, others: str, width: int = WIDTH) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def filled(start: str, parts: list[str], end: str, indent: str | None = None) -> str:
    """
    A call, a declaration or a list, in the lines that clang-format makes. indent: of the other
    lines; None: below the first part.
    """
    lines = [start]
    indent = " " * len(start.rsplit("\n", 1)[-1]) if indent is None else indent
    for place, part in enumerate(parts):
        part += end if place == len(parts) - 1 else ","
        if len(lines[-1]) + len(part) > WIDTH and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += part + " "
    return "\n".join(lines).rstrip()


def call(start: str, text: str, end: str) -> str:
    """A line `start` and a call, which is broken behind its arguments."""
    name, _, rest = text.partition("(")
    if not rest:
        return f"{start}{text}{end}"
    return filled(f"{start}{name}(", arguments(rest[:-1]), f"){end}")


def arguments(text: str) -> list[str]:
    """The arguments of a call: a comma in a string separates nothing."""
    parts, quoted = [""], False
    for letter in text:
        quoted ^= letter == '"'
        if letter == "," and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def note(text: str, indent: str) -> str:
    """A comment of C above a line."""
    if len(line := f"{indent}/* {joined(text)} */") <= WIDTH:
        return line
    body = wrapped(joined(text), f"{indent} * ", f"{indent} * ")
    return f"{indent}/*\n{body}\n{indent} */"


# The core


def members(options: Options) -> str:
    """The members of dueq_draft."""
    lines, durability = [], False
    for option in options.core:
        if option.words["member"].startswith("durability."):
            if not durability:
                lines.append("    dueq_durability durability;\n")
            durability = True
            continue
        if "c" in option.row:
            lines.append(note(option.row["c"], "    ") + "\n")
        lines.append(f"    {option.get('c')};\n")
    return "".join(lines)


def checks(options: Options) -> str:
    """The texts of a draft, and the checks that need no more than a range."""
    texts = [option for option in options.core if option.kind == "text"]
    offsets = [f"offsetof(dueq_draft, {name})" for name in ["body", *(o.name for o in texts)]]
    ranges = []
    for option in options.core:
        value = option.get("range")
        # Durability, which a queue may demand, too, has its own check.
        if "range" in option.row and value and "durability" not in value:
            name, least, most = option.row["range"]
            unit = '" ms"' if option.get("c").endswith("_ms") else "NULL"
            ranges.append(f'        {{"{name}", {unit}, {value}, {least}, {most}}}')
    listed = ",\n".join(ranges)
    bounded = []
    for option in texts:
        if "range" in option.row:
            name, most = option.row["range"]
            text = f"draft->{option.name}"
            bounded.append(f"    if (!status && {text}.size)\n")
            start = "        status = dueq__text_check("
            bounded.append(filled(start, [f'"{name}"', text, most, "error"], ");") + "\n")
    return f"""/* The texts that a draft points to. */
{filled("static const size_t texts[] = {", offsets, "};")}

static dueq_status check_options(const dueq_draft *draft, struct dueq__error *error) {{
    const struct dueq__range ranges[] = {{
{listed}}};
    dueq_status status = dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
{"".join(bounded)}    return status;
}}
"""


# Python, and SWIG between it and the core


def python_options(options: Options) -> str:
    return "".join(f"    {option.name}: {option.get('python')}\n" for option in options.all)


def python_types(options: Options) -> str:
    lines = [
        f'    "{option.name}": ({option.get("types")}),\n'
        for option in options.core
        if option.get("types")
    ]
    return f"_TYPES: dict[str, tuple[type, ...]] = {{\n{''.join(lines)}}}\n"


def entry(name: str, text: str) -> str:
    """An item of a list in a docstring."""
    indent, margin = " " * 4, " " * 18
    first = f"{indent}{name}".ljust(18)
    if len(name) > 12:
        return f"{indent}{name}\n{wrapped(text, margin, margin)}\n"
    return wrapped(text, first, margin) + "\n"


def python_fields(options: Options) -> str:
    """The docstring and the fields of Draft."""
    groups = [
        "".join(entry(option.name, option.doc("python", "None")) for option in group)
        for group in options.grouped.values()
    ]
    fields = "".join(
        f"    {option.name}: {option.get('python')} = "
        f"field(default={option.get('default')}, kw_only=True)\n"
        for option in options.core
    )
    body = "bytes, anything with a buffer, or a str, which is stored as UTF-8"
    return f'''    """
    A message to push. Durations are seconds or a timedelta.

{entry("body", body)}{chr(10).join(groups)}    """

    body: Body = None  # type: ignore[assignment] # never after __post_init__
    json: InitVar[object] = field(default=..., kw_only=True)
{fields}'''


def python_row(options: Options) -> str:
    items = "".join(f"            {item},\n" for o in options.core if (item := o.get("read")))
    return f"        return (\n            self.body,\n{items}        )\n"


def python_places(options: Options) -> str:
    names = [option.name for option in options.core]
    return "".join(
        f"_{name.upper()}: Final = {names.index(name) + 1}  # its index in a row\n"
        for name in ("id", "headers")
    )


def row_type(options: Options) -> str:
    items = ["Buffer | str", *(option.get("row") for option in options.core)]
    names = ["body", *(option.words["member"].split(".")[-1] for option in options.core)]
    lines = "".join(f"    {item},\n" for item in items)
    return f"{wrapped(', '.join(names), '# ', '# ')}\nDraftRow: TypeAlias = tuple[\n{lines}]\n"


def swig_fill(options: Options) -> str:
    """The function that reads a row."""
    names = ["body", *(option.words["member"].split(".")[-1] for option in options.core)]
    locals_: dict[str, list[str]] = {"PyObject *": ["body"]}
    for option in options.core:
        if declared := option.get("declare"):
            kind, _, name = declared.rpartition(" ")
            kind, name = (f"{kind} *", name[1:]) if name.startswith("*") else (f"{kind} ", name)
            locals_.setdefault(kind, []).append(name)
    lines = []
    for kind, (first, *others) in locals_.items():
        stars = "*" if kind.endswith("*") else ""
        lines.append(filled(f"    {kind}", [first, *(stars + name for name in others)], ";"))
    declared = "\n".join(lines)
    into = [part for option in options.core for part in option.get("into").split(", ")]
    form = "O" + "".join(option.get("parse") for option in options.core)
    parsed = filled("    if (!PyArg_ParseTuple(", ["row", f'"{form}:draft"', "&body", *into], "))")
    stores = "".join(f"    {store};\n" for option in options.core if (store := option.get("store")))
    return f"""/*
{wrapped("row: (" + ", ".join(names) + ").", " * ", " * ")}
 */
static int draft_fill(dueq_draft *draft, Py_buffer *view, PyObject *row) {{
{declared}

    *draft = (dueq_draft)DUEQ_DRAFT;
{parsed}
        return -1;
{stores}    if (borrow(body, "body", view, &draft->body) < 0 || draft_headers(draft, headers) < 0)
        return -1;
    return draft_backoff(&draft->backoff, backoff);
}}
"""


# PHP


def php_keys(options: Options) -> str:
    """The keys of an item."""
    keys = "".join(
        f'    KEY("{option.words["camel"]}", {option.get("php_key")}, {option.name}),\n'
        for option in options.core
    )
    return f"""/* The parameters of push() in their order, which are the keys of an item. */
static const dueq_php_key keys[] = {{
#define KEY(name, type, member) {{name, DUEQ_PHP_##type, offsetof(dueq_php_fields, member)}}
    KEY("body", STRING, body),
{keys}#undef KEY
}};
"""


RETURN = "\n        return false;\n    }\n"


def php_reads(options: Options) -> str:
    """How push() parses its parameters, and the function that puts them into a draft."""
    parsed = "".join(f"        {option.get('php_parse')}\n" for option in options.core)
    fills = [fill for option in options.core if (fill := option.get("php_fill"))]
    filled_in = "".join(
        f"    {fill};\n" if " = " in fill else call("    if (!", fill, ") {") + RETURN
        for fill in fills
    )
    start = "bool dueq_php_fields_parse("
    parameters = ["zend_execute_data *execute_data", "dueq_php_fields *fields"]
    return f"""{filled(start, parameters, ") {")}
    ZEND_PARSE_PARAMETERS_START(1, {len(options.core) + 1})
        Z_PARAM_STR(fields->body)
        Z_PARAM_OPTIONAL
{parsed}    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return true;
}}

static bool fill_options(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {{
{filled_in}    return true;
}}
"""


def php_fields(options: Options) -> str:
    """The struct of what push() was given."""
    lines = "".join(f"    {option.get('php_field')};\n" for option in options.core)
    defaults = [
        f".{option.name} = {{DUEQ_{option.row['constant']}, false}}"
        for option in options.core
        if option.kind == "limit"
    ]
    body = [f"        {default}," for default in defaults]
    body[-1] = body[-1].rstrip(",")
    macro = "".join(
        f"{line:<{WIDTH - 1}}\\\n" for line in ["#define DUEQ_PHP_FIELDS", "    {", *body]
    )
    return f"""/* One message as PHP values; NULL: not given. */
typedef struct dueq_php_fields {{
    zend_string *body;
{lines}}} dueq_php_fields;

{macro}    }}
"""


def php_parameter(option: Option) -> str:
    return f"{option.get('php')} ${option.words['camel']} = {option.get('php_default')}"


def php_param(option: Option, doc: bool) -> str:
    """The lines of the option in a doc comment."""
    start = f"         * @param {option.get('php_doc')} ${option.words['camel']}"
    if not doc:
        return start + "\n"
    return wrapped(option.doc("php", "null"), f"{start} ", "         *     ") + "\n"


def php_shape(options: Options) -> str:
    """The array that stands for a message."""
    lines = [
        f"     *     {option.words['camel']}?: {option.get('phpstan')}" for option in options.core
    ]
    return ",\n".join(["     * @phpstan-type Draft array{\n     *     body: string", *lines]) + "\n"


PUSH = re.compile(
    r"(?P<doc> {8}/\*\*\n(?: {9}\*.*\n)+)"
    r"(?P<start> {8}public function push\(\n {12}string \$body,\n)"
    r"(?: {12}.*\n)+(?= {8}\))"
)
"""A declaration of push(), with its comment."""


def php_stub(old: str, options: Options) -> str:
    """The stub with these parameters in each class that has push()."""

    def push(found: re.Match[str]) -> str:
        doc = found["doc"]
        full = "@param string $body" in doc
        lines = "".join(
            php_param(option, full)
            for option in options.core
            if full or option.get("php_doc").startswith(("array", "float|array"))
        )
        params = re.search(r"(?: {9}\* @param (?!string \$body).*\n(?: {9}\* {5}.*\n)*)+", doc)
        assert params, doc
        doc = doc[: params.start()] + lines + doc[params.end() :]
        declared = [php_parameter(option) for option in options.core]
        listed = ",\n".join(f"            {each}" for each in declared)
        return f"{doc}{found['start']}{listed}\n"

    text = PUSH.sub(push, old)
    shape = r"     \* @phpstan-type Draft array\{\n     \*     body: string,\n(?:     \*     .*\n)+"
    return re.sub(shape, lambda _: php_shape(options), text, count=1)


# The shell


def shell_enum(options: Options) -> str:
    names = [f"DRAFT_{option.name.upper()}" for option in options.shell]
    names[0] += " = 0x200"
    enum = ",\n".join(f"    {name}" for name in names)
    rows = [
        f'{{"{option.shell_name}", {needs(option)}_argument, NULL, DRAFT_{option.name.upper()}}}'
        for option in options.shell
    ]
    lines = ["#define DRAFT_OPTIONS", *(f"    {row}," for row in rows[:-1])]
    macro = "".join(f"{line:<{WIDTH - 1}}\\\n" for line in lines) + f"    {rows[-1]}\n"
    helps = "\n".join(shell_help(group, all_) for group, all_ in options.grouped.items())
    return f"""enum {{
{enum}
}};

/* These go into the list of a command's options. */
/* clang-format off */
{macro}
/* What --help says of them, by groups. */
{helps}/* clang-format on */
"""


def needs(option: Option) -> str:
    return {"": "no", "=body": "optional"}.get(option.get("argument"), "required")


def shell_lines(option: Option) -> list[str]:
    argument = option.row.get("argument", option.get("argument"))
    argument = option.words["name"].upper() if argument == "TEXT" else argument
    optional = needs(option) == "optional"
    name = f"  --{option.shell_name}"
    shown = name if optional or not argument else f"{name} {argument}"
    lines = shell_entry(shown, option.row["shell"])
    if optional:
        lines += shell_entry(f"{name}{argument}", option.row["shell_value"])
    return lines


def shell_entry(name: str, text: str) -> list[str]:
    """The lines of an entry in a help. A text with a line that ends in a colon keeps its lines."""
    margin = " " * 23
    text = text.strip()
    paragraphs = text.splitlines() if ":\n" in text else [joined(text)]
    lines = [line for each in paragraphs for line in wrapped(each, margin, margin, 90).splitlines()]
    if len(name) < len(margin) - 1:
        return [name.ljust(len(margin)) + lines[0].strip(), *lines[1:]]
    return [name, *lines]


def shell_help(group: str, options: Iterable[Option]) -> str:
    texts = [line for option in options if "shell" in option.row for line in shell_lines(option)]
    if not texts:
        return ""
    lines = [f"#define DRAFT_HELP_{group.upper()}", *(f'    "{text}\\n"' for text in texts)]
    return "".join(f"{line:<{WIDTH - 1}}\\\n" for line in lines[:-1]) + f"{lines[-1]}\n"


def shell_cases(options: Options) -> str:
    """The function that puts an option of the command line into the draft."""
    cases = "".join(
        f"    case DRAFT_{option.name.upper()}:\n{call('        ', option.get('shell'), ';')}\n"
        "        break;\n"
        for option in options.shell
    )
    start = "void draft_option("
    parameters = ["const struct cli *cli", "struct draft *drafting", "int option"]
    return f"""{filled(start, [*parameters, "const char *given"], ") {")}
    dueq_draft *draft = &drafting->draft;
    drafting->given = true;
    switch (option) {{
{cases}    }}
}}
"""


# Documents, and the contract's program in C


def table(options: Options) -> str:
    lines = ["| option | value | default |\n| --- | --- | --- |\n"]
    for group in options.grouped.values():
        for option in group:
            words = option.words
            names = dict.fromkeys([option.name, words["camel"]])
            if len(names) > 1 and "shell" in option.row:
                names[f"--{words['dashes']}"] = None
            shown = option.row.get("names", ", ".join(f"`{name}`" for name in names))
            default = option.row.get("default", option.row.get("value", option.row.get("none")))
            default = "no" if default is None and option.kind == "flag" else default
            default = "0" if default is None else joined(str(default))
            text = option.doc("reference", "")
            if option.kind == "limit":
                text += f"; `None`, `null`, shell `none`: {option.row['none']}"
            lines.append(f"| {shown} | {text} | {default} |\n")
    return "".join(lines)


def contract(options: Options) -> str:
    lines = [f"    {option.get('contract')};\n" for option in options.core]
    return f"""static void fill_options(struct run *run, json_object *from, dueq_draft *draft) {{
{"".join(lines)}}}
"""


Section = tuple[str, str, Callable[[Options], str]]
"""A file, the name of its section, and the function that makes the section."""

SECTIONS: list[Section] = [
    ("core/dueq.h", "the options of a push", members),
    ("core/verbs/draft.c", "the options of a push", checks),
    ("bindings/python/dueq/draft.py", "the keyword arguments of a push", python_options),
    ("bindings/python/dueq/draft.py", "what Python checks", python_types),
    ("bindings/python/dueq/draft.py", "the fields of a draft", python_fields),
    ("bindings/python/dueq/draft.py", "the row of a draft", python_row),
    ("bindings/python/dueq/draft.py", "places in a row", python_places),
    ("bindings/python/dueq/_core.pyi", "the row of a draft", row_type),
    ("swig/draft.i", "the row of a draft", swig_fill),
    ("bindings/php/php_dueq.h", "the options of a push", php_fields),
    ("bindings/php/draft.c", "the keys of a message", php_keys),
    ("bindings/php/draft.c", "the options of a push", php_reads),
    ("cli/draft.h", "the options of a push", shell_enum),
    ("cli/draft.c", "the options of a push", shell_cases),
    ("docs/reference.md", "the options of a push", table),
    ("tests/contract/drafts.c", "the options of a push", contract),
]
