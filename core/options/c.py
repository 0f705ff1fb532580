"""Makes what the core has by option: the members of structs, their defaults and their checks."""

from options.model import Options
from options.text import WIDTH, filled, macro, note


def members(options: Options) -> str:
    """The members of the struct."""
    lines, durability = [], False
    for option in options.struct:
        if option.words["member"].startswith("durability."):
            if not durability:
                lines.append("    dueq_durability durability;\n")
            durability = True
            continue
        if "c" in option.row:
            lines.append(note(option.row["c"], "    ") + "\n")
        lines.append(f"    {option.get('c')};\n")
    return "".join(lines)


def defaults(options: Options) -> str:
    """The macro that begins the struct."""
    struct = options.target.struct
    values = [f".struct_size = sizeof({struct})"]
    for option in options.struct:
        value = option.row.get("value", "")
        if "constant" in option.row:
            value = f"DUEQ_{option.row['constant']}"
        elif option.is_time:
            continue  # it is in seconds
        if value:
            values.append(f".{option.words['member']} = {value}")
    name = struct.removesuffix("_options").upper()
    if len(line := f"#define {name} {{{', '.join(values)}}}") <= WIDTH:
        return line + "\n"
    lines = [f"     {value}," for value in values]
    lines[0], lines[-1] = f"    {{{values[0]},", f"{lines[-1][:-1]}}}"
    return macro([f"#define {name}", *lines])


def checks(options: Options) -> str:
    """The texts that the struct points to, and the checks that need no more than a range."""
    struct, variable = options.target.struct, options.target.variable
    texts = [option for option in options.struct if option.row["kind"] == "text"]
    ranges = []
    for option in options.struct:
        value = option.get("range")
        # Durability, which a queue may demand, too, has its own check.
        if "range" in option.row and value and "durability" not in value:
            name, least, most = option.row["range"]
            unit = '" ms"' if option.is_time else "NULL"
            ranges.append(f'        {{"{name}", {unit}, {value}, {least}, {most}}}')
    listed = ",\n".join(ranges)
    bounded = []
    for option in texts:
        if "range" in option.row:
            name, most = option.row["range"]
            text = option.words["lvalue"]
            bounded.append(f"    if (!status && {text}.size)\n")
            start = "        status = dueq__text_check("
            bounded.append(filled(start, [f'"{name}"', text, most, "error"], ");") + "\n")
    start = "static dueq_status check_options("
    parameters = [f"const {struct} *{variable}", "struct dueq__error *error"]
    made = f"""{filled(start, parameters, ") {")}
    const struct dueq__range ranges[] = {{
{listed}}};
    dueq_status status = dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
{"".join(bounded)}    return status;
}}
"""
    if not bounded:
        made = made.replace("dueq_status status =", "return").replace("    return status;\n", "")
    if not texts:
        return made
    offsets = [f"offsetof({struct}, {name})" for name in ["body", *(o.name for o in texts)]]
    listed = filled("static const size_t texts[] = {", offsets, "};")
    return f"/* The texts that a draft points to. */\n{listed}\n\n{made}"
