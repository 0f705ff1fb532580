"""Makes what PHP has by option."""

import re

from text import call, filled, macro, separated, wrapped

from options.model import Option, Options

METHODS = {
    "push": ("push",),
    "reserve": ("reserve", "reserveStart", "reserveMany"),
    "consume": ("consume",),
}
"""The methods with the options of a verb as parameters."""


def keys(options: Options) -> str:
    """The keys of an array that stands for a message."""
    lines = "".join(
        f'    KEY("{option.words["camel"]}", {option.get("php_key")}, {option.name}),\n'
        for option in options.php
    )
    return f"""/* The keys of a message's array, in the order of push()'s parameters. */
static const dueq_php_key keys[] = {{
#define KEY(name, type, member) {{name, DUEQ_PHP_##type, offsetof(dueq_php_fields, member)}}
    KEY("body", STRING, body),
{lines}#undef KEY
}};
"""


def parsed(options: Options, required: str) -> str:
    """How a method parses its parameters. required: the lines for those that must be given."""
    lines = "".join(
        f"        {option.get('php_parse')}\n" for option in options.php if not option.is_many
    )
    return f"""{required}        Z_PARAM_OPTIONAL
{lines}    ZEND_PARSE_PARAMETERS_END_EX(return false);
"""


def stored(options: Options) -> str:
    """The statements that check the fields, and put them into the struct."""
    lines = []
    for option in options.php:
        if check := option.get("php_check"):
            lines.append(call("    if (!", check, ") {") + "\n        return false;\n    }\n")
        if store := option.get("php_store"):
            lines.append(f"    {store};\n")
    return "".join(lines)


def push_reads(options: Options) -> str:
    """How push() parses its parameters, and the function that puts them into a draft."""
    parameters = ["zend_execute_data *execute_data", "dueq_php_fields *fields"]
    required = f"""    ZEND_PARSE_PARAMETERS_START(1, {len(options.php) + 1})
        Z_PARAM_STR(fields->body)
"""
    return f"""{filled("bool dueq_php_fields_parse(", parameters, ") {")}
{parsed(options, required)}    return true;
}}

static bool fill_options(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {{
{stored(options)}    return true;
}}
"""


def reads(options: Options) -> str:
    """The function that reads the parameters of a method."""
    many = [option for option in options.php if option.is_many]
    count = len(options.php) - len(many)
    parameters = ["zend_execute_data *execute_data", *["bool many"] * len(many)]
    required = f"    ZEND_PARSE_PARAMETERS_START(0, {count})\n"
    if many:
        lines = "".join(f"            {option.get('php_parse')}\n" for option in many)
        required = f"""    ZEND_PARSE_PARAMETERS_START(many, many + {count})
        if (many) {{
{lines}        }}
"""
    fields = "".join(
        f"    {option.get('php_field')} = {option.get('php_initial')};\n" for option in options.php
    )
    start = "static bool" if options.verb == "consume" else "bool"
    start += f" {'dueq_php_' * bool(many)}{options.verb}_read("
    return f"""{filled(start, [*parameters, *options.parameters()], ") {")}
{fields}
{parsed(options, required)}
{stored(options)}    return true;
}}
"""


def fields(options: Options) -> str:
    """The struct of the values that push() was given, and its initializer."""
    lines = "".join(f"    {option.get('php_field')};\n" for option in options.php)
    limits = separated(
        [
            f"        .{option.name} = {option.get('php_initial')}"
            for option in options.php
            if option.table["kind"] == "limit"
        ]
    )
    return f"""/* One message as PHP values; NULL: not given. */
typedef struct dueq_php_fields {{
    zend_string *body;
{lines}}} dueq_php_fields;

{macro(["#define DUEQ_PHP_FIELDS", "    {", *limits, "    }"])}"""


def asserts(options: Options) -> str:
    """Assertions in C that the defaults in the stub are those of the header."""
    lines = []
    for option in options.php:
        if "constant" in option.table:
            value = option.table["value"]
            value = int(1000 * float(value)) if option.is_time else value
            text = f'"the stub names this default of {METHODS[options.verb][0]}()"'
            equal = f"DUEQ_{option.table['constant']} == {value}"
            lines.append(filled("_Static_assert(", [equal, text], ");") + "\n")
    return "".join(lines)


def parameter(option: Option, method: str) -> str:
    value = option.table.get(method, option.get("php_default"))
    default = "" if option.is_many else f" = {value}"
    return f"{option.get('php')} ${option.words['camel']}{default}"


def param(option: Option, doc: bool) -> str:
    """The lines of the option in a doc comment. doc: with its text, not its type alone."""
    start = f"         * @param {option.php_doc} ${option.words['camel']}"
    if not doc:
        return start + "\n"
    none = "INF" if option.table["kind"] == "patience" else "null"
    return wrapped(option.doc("php", none), f"{start} ", "         *     ") + "\n"


def shape(options: Options) -> str:
    """The array that stands for a message."""
    lines = [f"     *     {option.words['camel']}?: {option.phpstan}" for option in options.php]
    return ",\n".join(["     * @phpstan-type Draft array{\n     *     body: string", *lines]) + "\n"


def stub(old: str, options: Options) -> str:
    """The stub with the options as parameters of the verb's methods, in each class."""
    for method in METHODS[options.verb]:
        old = with_parameters(old, options, method)
    if options.verb != "push":
        return old
    begin = r"     \* @phpstan-type Draft array\{\n     \*     body: string,\n"
    return re.sub(rf"{begin}(?:     \*     .*\n)+", lambda _: shape(options), old, count=1)


def with_parameters(text: str, options: Options, method: str) -> str:
    """
    The stub with the options in the declarations of a method, and in the comments above them. If a
    comment does not describe the first option, it names only the types that PHP cannot declare:
    those of arrays.
    """
    shown = [option for option in options.php if method == "reserveMany" or not option.is_many]
    # Methods of other systems' queues have the same names, and other parameters.
    first = "body" if options.verb == "push" else shown[0].words["camel"]
    body = r" {12}string \$body,\n" if options.verb == "push" else ""
    declaration = re.compile(
        r"(?P<doc>(?: {8}/\*\*\n(?: {9}\*.*\n)+)?)"
        rf"(?P<start> {{8}}public function {method}\(\n(?=.* \${first}\b){body})"
        r"(?: {12}.*\n)+(?= {8}\))"
    )
    described = r"(?: {9}\* @param (?!string \$body).*\n(?: {9}\* {5}.*\n)*)+"

    def new(found: re.Match[str]) -> str:
        doc = found["doc"]
        full = re.search(rf"@param \S+ \${first}\b", doc) is not None
        lines = "".join(
            param(option, full)
            for option in shown
            if full or option.php_doc.startswith(("array", "float|array"))
        )
        doc, count = re.subn(described, lambda _: lines, doc, count=1)
        assert count or not lines, doc
        listed = ",\n".join(f"            {parameter(option, method)}" for option in shown)
        return f"{doc}{found['start']}{listed}\n"

    return declaration.sub(new, text)
