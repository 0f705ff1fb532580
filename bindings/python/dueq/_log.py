"""The logger, and the escaping of foreign text in exceptions, repr() and logs."""

from __future__ import annotations

import logging

from dueq import _core

log = logging.getLogger("dueq")
"""If a program does not configure logging, Python writes warnings to standard error."""


def escaped(text: str) -> str:
    """A text on one line without control characters, as dueq_escape() of the core makes it."""
    # The text of an exception can contain surrogates, which have no UTF-8. A C string ends at a
    # NUL.
    return _core.escape(encoded(text).replace(b"\0", rb"\x00"))


def encoded(text: str) -> bytes:
    """
    The bytes of a text for the core, also of a text with surrogates, such as the name of a file.
    """
    return text.encode("utf-8", "backslashreplace")


def escape_arguments(record: logging.LogRecord) -> bool:
    """A filter for the logger: escapes texts that come from messages and servers."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            escaped(str(value)) if isinstance(value, (str, Exception)) else value
            for value in record.args
        )
    return True


log.addFilter(escape_arguments)
