"""Sections of files that are made from a table. Two comments enclose each."""

import re
import sys
from collections.abc import Callable
from typing import NamedTuple


class Section(NamedTuple):
    file: str
    name: str
    """What the comment above the section says behind the file that the section is made from."""
    make: Callable[[], str]


def renewed(file: str, old: str, mark: str, made: str) -> str:
    """The text `old` of a file, with its section below the comment `mark` made anew."""
    begin = re.search(rf"^ *\S+ {re.escape(mark)}.*\n", old, flags=re.M)
    if not begin:
        sys.exit(f"{file} has no comment {mark}")
    rest = old[begin.end() :]
    end = re.search(r"^ *\S+ The end of what was made\.", rest, flags=re.M)
    assert end, f"{file}: the section below {mark} does not end"
    return old[: begin.end()] + made + rest[end.start() :]
