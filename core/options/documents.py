"""Makes the tables of docs/reference.md, and what the contract's program in C has by option."""

from options.model import Options
from options.text import filled, joined

NONE = {
    "limit": "`None`, `null`, shell `none`",
    "patience": "`None`, `INF`, shell `forever`",
    "preset": "`None`, `null`",
}
"""By kind: the words of the languages for a value that is not the default and no value."""


def table(options: Options) -> str:
    lines = ["| option | value | default |\n| --- | --- | --- |\n"]
    for group in options.grouped.values():
        for option in group:
            words = option.words
            names = dict.fromkeys([option.name, words["camel"]])
            dashes = f"--{words['dashes']}"
            if "shell" in option.row and (len(names) > 1 or "shell_name" in option.row):
                names[dashes] = None
            shown = option.row.get("names", ", ".join(f"`{name}`" for name in names))
            default = option.row.get("default", option.row.get("value", option.row.get("none")))
            default = "no" if default is None and option.row["kind"] == "flag" else default
            default = "0" if default is None else joined(str(default))
            text = option.doc("reference", "")
            if none := NONE.get(option.row["kind"]):
                text += f"; {none}: {option.row['none']}"
            lines.append(f"| {shown} | {text} | {default} |\n")
    return "".join(lines)


def contract(options: Options) -> str:
    lines = [f"    {text};\n" for option in options.struct if (text := option.get("contract"))]
    into = options.arguments()
    parameters = ["struct run *run", "json_object *from", *into]
    name = "fill_options" if options.verb == "push" else f"fill_{options.verb}"
    return f"""{filled(f"static void {name}(", parameters, ") {")}
{"".join(lines)}}}
"""
