"""The logger, and what others wrote as people read it: in texts of exceptions, repr() and logs."""

from __future__ import annotations

import logging

from dueq import _core

log = logging.getLogger("dueq")
"""Where a program sets no logging up, Python writes warnings to standard error."""


def escaped(text: str) -> str:
    """A text on one line, which no terminal obeys, as dueq_escape() of the core makes it."""
    # Texts of exceptions can hold what has no UTF-8; to C a text ends at a NUL.
    return _core.escape(encoded(text).replace(b"\0", rb"\x00"))


def encoded(text: str) -> bytes:
    """A text as the core takes it, also one that has no UTF-8, such as the name of a file."""
    return text.encode("utf-8", "backslashreplace")


def escape_arguments(record: logging.LogRecord) -> bool:
    """A filter of the logger: escapes the texts of messages and servers."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            escaped(str(value)) if isinstance(value, (str, Exception)) else value
            for value in record.args
        )
    return True


log.addFilter(escape_arguments)
