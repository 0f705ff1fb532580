"""Makes the tables of docs/reference.md."""

from text import joined

from options.model import Options

NONE = {
    "limit": "`None`, `null`, shell `none`",
    "patience": "`None`, `INF`, shell `forever`",
    "preset": "`None`, `null`",
}
"""By kind: each language's word for no value, where that is not the default."""


def table(options: Options) -> str:
    lines = ["| option | value | default |\n| --- | --- | --- |\n"]
    for group in options.grouped.values():
        for option in group:
            words = option.words
            names = dict.fromkeys([option.name, words["camel"]])
            dashes = f"--{words['dashes']}"
            if "shell" in option.table and (len(names) > 1 or "shell_name" in option.table):
                names[dashes] = None
            shown = option.table.get("names", ", ".join(f"`{name}`" for name in names))
            default = option.table.get(
                "default", option.table.get("value", option.table.get("none"))
            )
            default = "no" if default is None and option.table["kind"] == "flag" else default
            default = "0" if default is None else joined(str(default))
            text = option.doc("reference", "")
            if none := NONE.get(option.table["kind"]):
                text += f"; {none}: {option.table['none']}"
            lines.append(f"| {shown} | {text} | {default} |\n")
    return "".join(lines)
