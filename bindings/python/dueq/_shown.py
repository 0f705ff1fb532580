"""What others wrote, where people read it: texts of exceptions, repr() and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


def shown(text: str) -> str:
    """A text on one line, which no terminal obeys: what cannot be printed is escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def one_line(record: logging.LogRecord) -> bool:
    """A filter of the logger: what a record tells of messages and servers, as shown()."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            shown(str(value)) if isinstance(value, (str, Exception)) else value
            for value in record.args
        )
    return True
