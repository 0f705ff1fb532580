"""The verbs of core/verbs.toml whose faces are made, and their arguments."""

import json
import sys
from typing import Any, NamedTuple

from text import camel, joined

from faces.kinds import KINDS

SUBJECTS = ("ids", "id", "tickets", "ticket")
"""The arguments that name a verb's messages. A verb without such an argument is about the queue."""


class Result(NamedTuple):
    """What a method returns."""

    python: str
    none: str
    """The value in Python when `none_when` holds."""
    php: str
    read: str = ""
    """Behind `_` and `dueq_php_outcome_`, the functions that read the outcome of an item."""

    @property
    def php_doc(self) -> str:
        """The type for comments of PHP."""
        return self.python.replace(" | None", "|null")


RESULTS = {
    "": Result("None", "", "void"),
    "done": Result("bool", "False", "bool", "done"),
    "state": Result("State | None", "None", "?State", "state"),
}


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
        # json.dumps() writes false, Python False.
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
        self.struct: list[str] = row.get("struct", [])
        """The struct that holds the arguments, and its initializer; empty: there is none."""
        names = rows if self.struct else [each for each in row["args"] if each in rows]
        self.arguments = [Argument(each, rows[each]) for each in names]
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
        self.cli_outcome: str = row.get("cli_outcome", "cli_id_outcome")

    def in_c(self, values: list[str]) -> list[str]:
        """The arguments of a call in C, of which each of `values` is one, or a struct is all."""
        if not self.struct:
            return values
        members = [f".{e.variable} = {v}" for e, v in zip(self.arguments, values, strict=True)]
        begin = f"&({self.struct[0]}){{.struct_size = sizeof({self.struct[0]})"
        return [begin, *members[:-1], members[-1] + "}"]

    @property
    def indent(self) -> str | None:
        """Where the lines of such a call begin: text.filled()."""
        return " " * 6 if self.struct else None

    def on(self, subject: str) -> list[str]:
        """The first arguments of a call in C that is about the item in the variable `subject`."""
        if not self.subject:
            return []
        return [f"&{subject}", "1"] if self.subject.endswith("s") else [subject]
