"""Makes from core/results.toml all that the core and each face have by field of a result.

A kind says what the values of a field are in each language. A new field of a kind that exists needs
its row in core/results.toml alone, and the code that sets the field.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from sections import Section
from text import WIDTH, camel, joined, note, wrapped


class Kind(NamedTuple):
    """
    How fields of a kind are written. {name} is the field's name, {item} its item in a row between
    SWIG and Python. Each face has a macro for the kind, which makes a value of the member.
    """

    c: str
    """The member."""
    row: str
    """The type of the item."""
    python: str
    php: str
    read: str = "{item}"
    """The expression by which Python converts the item."""
    none: str = ""
    """The member's value in C if there is no value."""
    php_var: str = ""
    """The type of an array for static analysers."""
    macro: str = ""
    """The macro of the face, if it does not have the name of the kind."""


INTEGER = Kind("int64_t {name}", "int", "int", "int", macro="COUNT")
TEXT = Kind("dueq_bytes {name}", "str", "str", "string")
TIME = Kind("int64_t {name}_ms", "int", "datetime", "float", "moment({item})")
KINDS = {
    "count": INTEGER,
    # A count that is added up over the partitions of a queue.
    "sum": INTEGER,
    "number": INTEGER._replace(c="uint32_t {name}"),
    "size": INTEGER._replace(c="size_t {name}"),
    "optional": INTEGER._replace(
        python="int | None", php="?int", read="{item} or None", none="0", macro=""
    ),
    "index": INTEGER._replace(
        python="int | None",
        php="?int",
        read="None if {item} < 0 else {item}",
        none="-1",
        macro="",
    ),
    "flag": Kind("int {name}", "bool", "bool", "bool"),
    "limit": INTEGER._replace(
        c="uint32_t {name}",
        python="int | None",
        php="?int",
        read="{item} or None",
        none="DUEQ_NO_LIMIT",
        macro="OPTIONAL",
    ),
    "priority": INTEGER._replace(c="dueq_priority {name}"),
    "text": TEXT,
    "ticket": TEXT,
    "bytes": TEXT._replace(row="bytes", python="bytes"),
    "name": TEXT._replace(python="str | None", php="?string", read="{item} or None", none="Size 0"),
    "line": TEXT._replace(c="char {name}[256]", macro="WORD"),
    "word": TEXT._replace(c="const char *{name}"),
    "time": TIME,
    "maybe_time": TIME._replace(
        python="datetime | None", php="?float", read="optional_moment({item})", none="0"
    ),
    "span": TIME._replace(python="float", read="{item} / 1000"),
    # A length of time above 0.
    "kept": TIME._replace(
        python="float | None",
        php="?float",
        read="{item} / 1000 or None",
        none="0",
        macro="MAYBE_TIME",
    ),
    "measured": TIME._replace(
        python="float | None",
        php="?float",
        read="None if {item} < 0 else {item} / 1000",
        none="-1",
    ),
    # A part of the whole, from 0 to 1.
    "share": Kind(
        "double {name}",
        "float",
        "float | None",
        "?float",
        "None if {item} < 0 else {item}",
        none="-1",
    ),
    "state": Kind("dueq_state {name}", "int", "State", "State", "STATES[{item}]"),
    "failure_kind": Kind(
        "dueq_failure_kind {name}",
        "str",
        "FailureKind",
        "FailureKind",
        'cast("FailureKind", {item})',
    ),
    "headers": Kind(
        "const dueq_header *{name};\n    size_t header_count",
        "dict[str, str]",
        "dict[str, str]",
        "array",
        php_var="array<string, string>",
    ),
    "leases": Kind(
        "const void *{name};\n    size_t lease_count",
        "tuple[LeaseRow, ...]",
        "tuple[Lease, ...]",
        "array",
        "tuple(map(Lease.from_row, {item}))",
        php_var="list<Lease>",
    ),
    "group_limits": Kind(
        "const void *{name};\n    size_t group_count",
        "tuple[GroupLimitsRow, ...]",
        "tuple[GroupLimits, ...]",
        "array",
        "tuple(map(GroupLimits.from_row, {item}))",
        php_var="list<GroupLimits>",
    ),
    "examples": Kind(
        "dueq_bytes {name}[DUEQ_MAX_EXAMPLES];\n    size_t example_count",
        "tuple[str, ...]",
        "tuple[str, ...]",
        "array",
        php_var="list<string>",
    ),
}


class Field:
    def __init__(self, name: str, kind: str, text: str, none: str = "") -> None:
        self.name = name
        self.kind = kind
        self.text = joined(text)
        self.none = joined(none)

    def get(self, part: str, **words: str) -> str:
        """The text `part` of the field's kind, filled in for this field."""
        text: str = getattr(KINDS[self.kind], part)
        return text.format(name=self.name, **words)

    @property
    def member(self) -> str:
        """The name of the field in C and in the JSON of the shell."""
        return self.get("c").split(";")[0].split("[")[0].split()[-1].lstrip("*")

    @property
    def macro(self) -> str:
        return KINDS[self.kind].macro or self.kind.upper()

    def doc(self, none: str) -> str:
        """What the field means. none: the language's own word for no value."""
        return f"{self.text} {none}: {self.none}." if self.none else self.text

    def brief(self, none: str) -> str:
        """The text of doc(), without a capital and a full stop."""
        text = (self.text[0].lower() + self.text[1:]).rstrip(".")
        return f"{text}; {none}: {self.none}" if self.none else text


class Result:
    def __init__(self, name: str, row: dict[str, Any]) -> None:
        self.name = name
        self.row = "".join(word.capitalize() for word in name.split("_")) + "Row"
        self.header: str = row["header"]
        self.module: str = row["module"]
        self.title: str = row["class"]
        self.section: str = row.get("section", "")
        self.properties: bool = row.get("properties", False)
        self.fields = [Field(field, *parts) for field, parts in row["fields"].items()]


# C


def members(result: Result) -> str:
    """
    The members of the struct. A comment that fits there stands behind its member. As clang-format
    does it, the comments of lines that follow each other are in one column, if all of them fit.
    """
    lines: list[str] = []
    behind: list[tuple[str, str]] = []

    def flush() -> None:
        column = max((len(member) for member, _ in behind), default=0)
        lines.extend(f"{member:<{column}} {comment}" for member, comment in behind)
        behind.clear()

    for field in result.fields:
        none = KINDS[field.kind].none
        member, comment = f"    {field.get('c')};", f"/* {field.brief(none)} */"
        if len(member) + 1 + len(comment) > WIDTH or ". " in field.text or "\n" in member:
            flush()
            lines += [note(field.doc(none), "    "), member]
            continue
        rows = [*behind, (member, comment)]
        if max(len(row[0]) for row in rows) + 1 + max(len(row[1]) for row in rows) > WIDTH:
            flush()
        behind.append((member, comment))
    flush()
    return "\n".join(lines) + "\n"


def x_macro(name: str, rows: list[str]) -> str:
    return " \\\n".join([f"#define {name}(X)", *(f"    X({row})" for row in rows)])


def lists(results: list[Result]) -> str:
    """The lists of fields, as macros."""
    made = []
    for result in results:
        name = f"DUEQ_{result.name.upper()}"
        rows = [f"{field.macro}, {field.member}" for field in result.fields]
        made.append(x_macro(f"{name}_FIELDS", rows))
        if sums := [field.member for field in result.fields if field.kind == "sum"]:
            made.append(x_macro(f"{name}_SUMS", sums))
    return "\n".join(made)


# Python


def docstring(text: str, indent: str = "    ") -> str:
    if len(line := f'{indent}"""{text}"""') <= WIDTH:
        return f"{line}\n"
    return f'{indent}"""\n{wrapped(text, indent, indent)}\n{indent}"""\n'


def values(result: Result) -> Iterator[str]:
    """The arguments of Python's class, out of a row."""
    plain = groupby(enumerate(result.fields), lambda each: KINDS[each[1].kind].read == "{item}")
    for is_plain, group in plain:
        places = list(group)
        first, last = places[0][0], places[-1][0] + 1
        whole = f"[{first or ''}:{'' if last == len(result.fields) else last}]"
        mixed = len({field.get("row") for _, field in places}) > 1
        if is_plain and mixed and first > 0 and last < len(result.fields):
            # mypy takes a slice in the middle for items of one type.
            yield from (f"row[{place}]" for place, _ in places)
        elif is_plain:
            yield f"*row{'' if whole == '[:]' else whole}" if last - first > 1 else f"row[{first}]"
        else:
            yield from (field.get("read", item=f"row[{place}]") for place, field in places)


def python_properties(result: Result) -> str:
    """The properties of a class whose objects have a row."""
    made = []
    for place, field in enumerate(result.fields):
        text = docstring(field.doc("None"), " " * 8)
        read = field.get("read", item=f"self._row[{place}]")
        made.append(
            f"    @property\n    def {field.name}(self) -> {field.get('python')}:\n"
            f"{text}        return {read}\n\n"
        )
    return "".join(made)


def python_fields(result: Result) -> str:
    """The fields of the class, and the method that makes an object from a row."""
    if result.properties:
        return python_properties(result)
    fields = "".join(
        f"    {field.name}: {field.get('python')}\n{docstring(field.doc('None'))}"
        for field in result.fields
    )
    parts = list(values(result))
    made = f"cls({parts[0]})" if len(parts) == 1 else ""
    lines = "".join(f"            {part},\n" for part in parts)
    return f'''{fields}
    @classmethod
    def from_row(cls, row: _core.{result.row}) -> {result.title}:
        """Converts the row of the core."""
        return {made or f"cls({chr(10)}{lines}        )"}

'''


def row_types(results: list[Result]) -> str:
    made = []
    for result in results:
        names = ", ".join(field.member for field in result.fields)
        items = "".join(f"    {field.get('row')},\n" for field in result.fields)
        made.append(f"{wrapped(names, '# ', '# ')}\n")
        made.append(f"{result.row}: TypeAlias = tuple[\n{items}]\n")
    return "".join(made)


# PHP


def php_fields(result: Result) -> str:
    made = []
    for field in result.fields:
        var = field.get("php_var")
        text = f"@var {var} {field.doc('null')}" if var else field.doc("null")
        line = f"        /** {text} */"
        if len(line) > WIDTH:
            more = "         *     " if var else "         * "
            line = f"        /**\n{wrapped(text, '         * ', more)}\n         */"
        made.append(f"{line}\n        public readonly {field.get('php')} ${camel(field.name)};\n")
    return "\n" + "\n".join(made) + "\n"


# Documents


def table(result: Result) -> str:
    lines = ["| field | |\n| --- | --- |\n"]
    for field in result.fields:
        names = dict.fromkeys([field.name, camel(field.name)])
        text = field.brief("`None`, `null`")
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {text} |\n")
    return "".join(lines)


def sections(results: list[Result]) -> list[Section]:
    made = [
        Section(
            "bindings/python/dueq/_core.pyi", "the rows of results", partial(row_types, results)
        )
    ]
    for result in results:
        of_c, of_class = f"the fields of dueq_{result.name}", f"the fields of {result.title}"
        module = f"bindings/python/dueq/{result.module}.py"
        made += [
            Section(result.header, of_c, partial(members, result)),
            Section(module, of_class, partial(python_fields, result)),
            Section("bindings/php/dueq.stub.php", of_class, partial(php_fields, result)),
        ]
        if result.section:
            made.append(Section("docs/reference.md", result.section, partial(table, result)))
    return made
