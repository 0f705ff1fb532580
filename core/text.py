"""How lines of C, Python and documents are laid out."""

import textwrap

WIDTH = 100


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def joined(text: str) -> str:
    return " ".join(text.split())


def wrapped(text: str, first: str, others: str, width: int = WIDTH) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def filled(start: str, parts: list[str], end: str, indent: str | None = None) -> str:
    """
    A call, a declaration or a list, in the lines that clang-format makes. indent: of the lines
    behind the first; None: below the first part.
    """
    lines = [start]
    indent = " " * len(start.rsplit("\n", 1)[-1]) if indent is None else indent
    for place, part in enumerate(parts):
        part += end if place == len(parts) - 1 else ","
        if len(lines[-1]) + len(part) > WIDTH and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += part + " "
    return "\n".join(lines).rstrip()


def call(start: str, text: str, end: str) -> str:
    """`start`, the call `text`, and `end`, with line breaks between the call's arguments."""
    name, _, rest = text.partition("(")
    if not rest:
        return f"{start}{text}{end}"
    return filled(f"{start}{name}(", arguments(rest[:-1]), f"){end}")


def arguments(text: str) -> list[str]:
    """The arguments of a call. A comma in a string or in parentheses separates no arguments."""
    parts, quoted, depth = [""], False, 0
    for letter in text:
        quoted ^= letter == '"'
        depth += (letter == "(") - (letter == ")") if not quoted else 0
        if letter == "," and not quoted and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def note(text: str, indent: str) -> str:
    """A comment of C above a line."""
    if len(line := f"{indent}/* {joined(text)} */") <= WIDTH:
        return line
    body = wrapped(joined(text), f"{indent} * ", f"{indent} * ")
    return f"{indent}/*\n{body}\n{indent} */"


def macro(lines: list[str]) -> str:
    """The lines of a macro in C."""
    return "".join(f"{line:<{WIDTH - 1}}\\\n" for line in lines[:-1]) + f"{lines[-1]}\n"


def c_line(text: str) -> str:
    """A line of a text, as a string of C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}\\n"'


def separated(rows: list[str]) -> list[str]:
    """The rows of a list in C: a comma stands behind each row but the last."""
    return [f"{row}," for row in rows[:-1]] + rows[-1:]
