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
