"""Makes what the shell has by option."""

from typing import NamedTuple

from text import c_line, call, filled, joined, macro, separated, wrapped

from options.model import Option, Options


class Names(NamedTuple):
    """How a command writes the options of a verb."""

    prefix: str
    """Of the names in C."""
    base: str
    """The number of the first option for getopt_long()."""
    margin: int
    """The column where the texts of the help begin."""


NAMES = {
    "push": Names("DRAFT", "0x200", 23),
    "reserve": Names("RESERVE", "0x300", 20),
    "consume": Names("CONSUME", "0x300", 26),
}


def declarations(options: Options) -> str:
    """The options for getopt_long(), and the texts of --help."""
    names = NAMES[options.verb]
    values = [f"    {names.prefix}_{option.name.upper()}" for option in options.shell]
    values[0] += f" = {names.base}"
    rows = [
        f'    {{"{shell_name(option)}", {needs(option)}_argument, NULL, {value.split()[0]}}}'
        for option, value in zip(options.shell, values, strict=True)
    ]
    helps = "\n".join(help_texts(options, group) for group in options.grouped)
    enum = ",\n".join(values)
    return f"""/* clang-format off */
enum {{
{enum}
}};

/* These go into the list of a command's options. */
{macro([f"#define {names.prefix}_OPTIONS", *separated(rows)])}
/* The texts of --help{", by groups" * (len(options.grouped) > 1)}. */
{helps}/* clang-format on */
"""


def shell_name(option: Option) -> str:
    return "header" if option.name == "headers" else option.words["dashes"]


def needs(option: Option) -> str:
    return {"": "no", "=body": "optional"}.get(option.get("argument"), "required")


def lines_of(option: Option, margin: int) -> list[str]:
    argument = option.table.get("argument", option.get("argument"))
    argument = option.words["name"].upper() if argument == "TEXT" else argument
    optional = needs(option) == "optional"
    name = f"  --{shell_name(option)}"
    shown = name if optional or not argument else f"{name} {argument}"
    lines = entry(shown, option.table["shell"], margin)
    if optional:
        lines += entry(f"{name}{argument}", option.table["shell_value"], margin)
    return lines


def entry(name: str, text: str, width: int) -> list[str]:
    """The lines of an entry in a help. A text with a line that ends in a colon keeps its lines."""
    margin = " " * width
    text = text.strip()
    paragraphs = text.splitlines() if ":\n" in text else [joined(text)]
    lines = [line for each in paragraphs for line in wrapped(each, margin, margin, 90).splitlines()]
    if len(name) < len(margin) - 1:
        return [name.ljust(len(margin)) + lines[0].strip(), *lines[1:]]
    return [name, *lines]


def help_texts(options: Options, group: str) -> str:
    names = NAMES[options.verb]
    listed = [option for option in options.grouped[group] if "shell" in option.table]
    texts = [line for option in listed for line in lines_of(option, names.margin)]
    if not texts:
        return ""
    name = "_".join(part for part in (names.prefix, "HELP", group.upper()) if part)
    return macro([f"#define {name}", *(f"    {c_line(text)}" for text in texts)])


def cases(options: Options) -> str:
    """The function that puts an option of the command line into the struct."""
    prefix = NAMES[options.verb].prefix
    listed = "".join(
        f"    case {prefix}_{option.name.upper()}:\n{call('        ', option.get('shell'), ';')}\n"
        "        break;\n"
        for option in options.shell
    )
    if options.verb == "push":
        start, into = "void draft_option(", ["struct draft *drafting"]
        first = "    dueq_draft *draft = &drafting->draft;\n    drafting->given = true;\n"
    else:
        start, into, first = f"static void {options.verb}_option(", options.parameters(), ""
    parameters = ["const struct cli *cli", *into, "int option", "const char *given"]
    return f"""{filled(start, parameters, ") {")}
{first}    switch (option) {{
{listed}    }}
}}
"""


def command(options: Options) -> str:
    """The declarations and the function, where one file has both."""
    return f"{declarations(options)}\n{cases(options)}"
