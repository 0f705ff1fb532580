"""The table of task and queue that programs of all languages read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from dueq.errors import InvalidError
from dueq.serializers import checked_name

Routes: TypeAlias = Mapping[str, str] | str | os.PathLike[str]
"""The table, or where it is: a file, or a URL of http or https."""

VARIABLE = "DUEQ_ROUTES"
_TIMEOUT_S = 5.0


def read_routes(routes: Routes | None) -> dict[str, str]:
    """
    The queue of each task that the table names. None: the table is where $DUEQ_ROUTES says, if that
    is set. Raises InvalidError if the table cannot be read.
    """
    where: object = routes
    if routes is None:
        where = routes = os.environ.get(VARIABLE) or {}
    if isinstance(routes, Mapping):
        return _checked(dict(routes), "routes")
    try:
        return _checked(json.loads(_text(os.fspath(routes))), f"routes: {where}")
    except InvalidError:
        raise
    except (OSError, ValueError) as error:
        raise InvalidError(f"routes: {where}: {error}") from error


def _text(where: str) -> bytes:
    if where.startswith(("http://", "https://")):
        # Most programs have a file.
        from urllib.request import urlopen

        with urlopen(where, timeout=_TIMEOUT_S) as answer:
            text: bytes = answer.read()
            return text
    with open(where, "rb") as file:
        return file.read()


def _checked(table: Any, what: str) -> dict[str, str]:
    if not isinstance(table, dict):
        raise InvalidError(f'{what}: it is not an object such as {{"send_receipt": "mail"}}')
    for task, queue in table.items():
        if not isinstance(queue, str) or not queue:
            raise InvalidError(f"{what}: the task {task!r} has no name of a queue, but {queue!r}")
        checked_name(task)
    return table
