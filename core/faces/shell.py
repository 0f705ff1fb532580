"""Makes the commands of the shell."""

from text import WIDTH, c_line, call, filled

from faces.model import Face


def quoted(text: str) -> str:
    return "\n".join(f"    {c_line(line)}" for line in text.split("\n"))


def help_text(face: Face) -> str:
    """The lines of --help behind the summary."""
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


IDS = """
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


def reading(face: Face) -> tuple[str, str]:
    """The variables of a command's options, and the statements that read and check them."""
    locals_, rows, cases = "", list[str](), ""
    refused = [each.kind.shell_refuses for each in face.arguments if each.kind.shell_refuses[0]]
    for each in face.arguments:
        if not each.shell_default:
            option = f"--{each.dashes} {each.get('argument')}"
            refused.append((f"!has_{each.name}", f"give {option}"))
    for value, each in enumerate(face.arguments, 1):
        needs = "required" if each.kind.argument else "no"
        rows.append(f'{{"{each.dashes}", {needs}_argument, NULL, {value}}}')
        declared = each.get("c").removesuffix(each.variable)
        locals_ += f"    {declared}{each.variable} = {each.shell_default or each.kind.zero};\n"
        read = f"            {each.variable} = {each.get('shell')};"
        if len(read) > WIDTH:
            read = call(f"            {each.variable} = ", each.get("shell"), ";")
        cases += f"        case {value}:\n{read}\n"
        if f"has_{each.name}" in str(refused):
            locals_ += f"    bool has_{each.name} = false;\n"
            cases += f"            has_{each.name} = true;\n"
        cases += "            break;\n"
    checks = "".join(
        f'    if ({when})\n        cli_usage(cli, "{text}");\n' for when, text in refused
    )
    listed = ", ".join([*rows, "CLI_OPTIONS"])
    if len(f"        {listed}}};") > WIDTH:
        listed = ",\n        ".join([*rows, "CLI_OPTIONS"])
    return (
        f"""    static const struct option options[] = {{
        {listed}}};
{locals_}""",
        f"""    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {{
        switch (option) {{
{cases}        }}
    }}
{checks}""",
    )


def command(face: Face) -> str:
    if face.subject == "ids":
        words = {"name": face.name, "dashes": face.dashes, "summary": face.cli_summary}
        return IDS.format(help=quoted(f"\n{face.cli_help}"), **words)
    id = face.subject.removesuffix("s")
    most = "1" if id else "0"
    locals_, read = reading(face) if face.arguments else ("", "")
    begin = f"""    cli_words(cli, argc, {most}, {most});
    if (!cli_open(cli, argv, &code))
"""
    if not face.arguments:
        begin = f"    if (!cli_begin(cli, argc, argv, {most}, &code))\n"
    word = "argv[optind]" if id else "cli->queue_name"
    values = face.in_c([each.variable for each in face.arguments])
    given = ["cli->queue", *face.on("subject"), *values]
    submit = filled(f"    dueq_status status = dueq_{face.name}_submit(", given, ");", face.indent)
    end = f'cli_outcome(cli, "{id or "queue"}", subject, '
    end = f"{face.cli_outcome}(cli, subject, " if id == "id" else end
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
{help_text(face)},
    run_{face.name}}};
"""


def commands(all_: list[Face]) -> str:
    made = "".join(command(face) for face in all_ if face.cli_summary)
    return f'#include "cli.h"\n\n#include <string.h>\n{made}'


def header(all_: list[Face]) -> str:
    """The declarations of the commands, and their lists by what each works on."""
    declared, lists = "", {"MESSAGE": "", "ID": "", "QUEUE": ""}
    for face in all_:
        if face.cli_summary:
            declared += f"extern const struct command {face.name}_command;\n"
            of = "ID" if face.subject in {"id", "ids"} else face.of.upper()
            lists[of] += f" \\\n    , &{face.name}_command"
    defined = "\n".join(f"#define {of}_COMMANDS{listed}" for of, listed in lists.items())
    return f"""#ifndef DUEQ_CLI_VERBS_H
#define DUEQ_CLI_VERBS_H

#include "cli.h"

{declared}
/* The commands on a message, on ids and on a queue: main.c lists all commands. */
{defined}

#endif
"""
