"""The options of core/options.toml, by the verb that has them."""

from typing import Any, NamedTuple

from text import camel, joined

from options.kinds import DURATION, KINDS


class Target(NamedTuple):
    """Where the options of a verb go."""

    struct: str
    variable: str
    """The name of the pointer to the struct."""
    argument: str = ""
    """The Python variable that has an option's value; empty: it has the option's name."""
    given: str = ""
    """What stands in C before the name of the field that holds an option's value of PHP."""
    item: str = "-1"
    """In C: the index of the array of which the options are keys; "-1": they are parameters."""
    first: str = "1"
    """In C: the number of the first option among the parameters of PHP's method, from 1."""

    def place(self, index: int, name: str) -> str:
        first = str(int(self.first) + index) if self.first.isdigit() else f"{self.first} + {index}"
        return f'DUEQ_PHP_PLACE({first.removesuffix(" + 0")}, {self.item}, "{name}")'


TARGETS = {
    "push": Target("dueq_draft", "draft", "value", "fields->", "item", "2"),
    "reserve": Target("dueq_reserve_options", "options", first="many"),
    "consume": Target("dueq_consumer_options", "options"),
}


class Option:
    def __init__(self, name: str, table: dict[str, Any]) -> None:
        self.name = name
        self.table = table
        self.kind = KINDS[table["kind"]]
        self.is_time = self.kind.c == DURATION.c
        self.in_struct = bool(self.kind.c) and "argument_of" not in table
        self.is_many = bool(table.get("many"))
        """Only a method that takes several messages has it."""
        self.group: str = table.get("group", "")
        member = f"{name}_ms" if self.is_time else name
        bounds = table.get("range", ())
        self.words = {
            "member": member,
            **{key: str(value) for key, value in table.items()},
            "name": name,
            "camel": camel(name),
            "dashes": table.get("shell_name", name.replace("_", "-")),
            "least": bounds[1] if len(bounds) == 3 else "",
            "most": bounds[2] if len(bounds) == 3 else "",
            "python_value": "None" if table.get("value") == "INF" else table.get("value", ""),
        }

    def aim(self, target: Target, index: int) -> None:
        """Sets the words that say where the option goes. index: its place among those of PHP."""
        path = f"{target.variable}->{self.words['member']}"
        # An option that is no member has a pointer of its own: see Options.parameters().
        self.words["lvalue"] = path if self.in_struct else f"*{self.words['member']}"
        self.words["out"] = f"&{path}" if self.in_struct else self.words["member"]
        self.words["argument"], self.words["given"] = target.argument or self.name, target.given
        self.words["place"] = target.place(index, self.words["camel"])

    def get(self, part: str) -> str:
        """The text `part` of the option's kind, filled in for this option."""
        text: str = getattr(self.kind, part)
        return text.format_map(self.words)

    @property
    def php_doc(self) -> str:
        """The type for comments of PHP."""
        plain = self.kind.php
        nullable = f"{plain[1:]}|null" if plain.startswith("?") else plain
        return self.kind.php_doc or nullable

    @property
    def phpstan(self) -> str:
        """The type for static analysers, which accept no int for a float."""
        doc = self.php_doc
        return "int|" + doc.replace("|int", "", 1) if doc.startswith("float") else doc

    def doc(self, face: str, none: str) -> str:
        """What the option means. face: the key of a text of its own; none: "None" or "null"."""
        text = joined(self.table.get(face, self.table["doc"]))
        if none and "none" in self.table and face not in self.table:
            text += f"; {none}: {joined(self.table['none'])}"
        return text


class Options:
    """The options of a verb, and which of them the struct, a row and each face have."""

    def __init__(self, verb: str, tables: dict[str, dict[str, Any]]) -> None:
        self.verb = verb
        self.target = TARGETS[verb]
        self.all = [Option(name, table) for name, table in tables.items()]
        self.struct = [option for option in self.all if option.in_struct]
        self.row = [option for option in self.struct if option.kind.parse]
        self.python = [option for option in self.all if option.kind.python]
        self.php = [option for option in self.all if option.kind.php]
        self.shell = [option for option in self.all if "shell" in option.table]
        # The options that only C has are described in the header alone.
        shown = [option for option in self.all if "doc" in option.table]
        groups = {option.group: None for option in shown}
        self.grouped = {
            group: [option for option in shown if option.group == group] for group in groups
        }
        for option in self.all:
            option.aim(self.target, self.php.index(option) if option in self.php else 0)

    def parameters(self) -> list[str]:
        """The parameters of a function in C that puts the options into the struct."""
        others = [option for option in self.all if option.kind.c and not option.in_struct]
        return [
            f"{self.target.struct} *{self.target.variable}",
            *(f"int64_t *{option.words['member']}" for option in others),
        ]
