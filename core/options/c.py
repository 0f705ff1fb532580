"""Makes what the core has by option: the members of structs, their defaults and their checks."""

from text import WIDTH, filled, macro, note, separated

from options.model import Option, Options


def members(options: Options) -> str:
    """The members of the struct."""
    lines, durability = [], False
    for option in options.struct:
        if option.words["member"].startswith("durability."):
            if not durability:
                lines.append("    dueq_durability durability;\n")
            durability = True
            continue
        if "c" in option.table:
            lines.append(note(option.table["c"], "    ") + "\n")
        lines.append(f"    {option.get('c')};\n")
    return "".join(lines)


def defaults(options: Options) -> str:
    """The initializer of the struct."""
    struct = options.target.struct
    values = [f".struct_size = sizeof({struct})"]
    for option in options.struct:
        value = option.table.get("value", "")
        if "constant" in option.table:
            value = f"DUEQ_{option.table['constant']}"
        elif option.is_time:
            # `value` is in seconds, the member in milliseconds.
            assert float(value or 0) == 0, f"{option.name}: this default needs a constant of C"
            continue
        if value:
            values.append(f".{option.words['member']} = {value}")
    name = struct.removesuffix("_options").upper()
    if len(line := f"#define {name} {{{', '.join(values)}}}") <= WIDTH:
        return line + "\n"
    lines = [f"     {value}," for value in values]
    lines[0], lines[-1] = f"    {{{values[0]},", f"{lines[-1][:-1]}}}"
    return macro([f"#define {name}", *lines])


def ranges(options: Options) -> list[str]:
    """The rows of an array of struct dueq__range."""
    rows = []
    for option in options.struct:
        value = option.get("range")
        # check_durability() of core/verbs/draft.c has these ranges: a queue has them too.
        if "range" in option.table and value and "durability" not in value:
            name, least, most = option.table["range"]
            unit = '" ms"' if option.is_time else "NULL"
            rows.append(f'        {{"{name}", {unit}, {value}, {least}, {most}}}')
    return separated(rows)


def text_check(option: Option) -> str:
    """What checks a text that is given."""
    name, most = option.table["range"]
    text = option.words["lvalue"]
    parts = [f'"{name}"', text, most, "error"]
    checked = filled("        status = dueq__text_check(", parts, ");")
    return f"    if (!status && {text}.size)\n{checked}\n"


def checks(options: Options) -> str:
    """The function that does the checks that need only a range, and the places of the texts."""
    struct, variable = options.target.struct, options.target.variable
    texts = [option for option in options.struct if option.table["kind"] == "text"]
    of_texts = "".join(text_check(option) for option in texts if "range" in option.table)
    parameters = [f"const {struct} *{variable}", "struct dueq__error *error"]
    listed = "\n".join(ranges(options))
    check = "dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);\n"
    end = f"    return {check}"
    if of_texts:
        end = f"    dueq_status status = {check}{of_texts}    return status;\n"
    made = f"""{filled("static dueq_status check_options(", parameters, ") {")}
    const struct dueq__range ranges[] = {{
{listed}}};
{end}}}
"""
    if not texts:
        return made
    offsets = [f"offsetof({struct}, {name})" for name in ["body", *(o.name for o in texts)]]
    # As clang-format does it with more than five.
    width = max(len(each) for each in offsets[:-1:2]) + 1 if len(offsets) > 5 else 0
    start = "static const size_t texts[] = {"
    rows = [offsets[place : place + 2] for place in range(0, len(offsets), 2)]
    lines = [
        ", ".join(row).replace(", off", ",".ljust(width - len(row[0]) + 1) + "off") for row in rows
    ]
    places = start + f",\n{' ' * len(start)}".join(lines) + "};"
    return f"/* The texts that a draft points to. */\n{places}\n\n{made}"
