"""Arguments of a chain's drafts that are not known when the chain is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dueq.errors import InvalidError

Place: TypeAlias = int | str
"""An argument of a task: its number, from 0 on, or its name."""


class Gap:
    """Stands for the argument in Task.draft()."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"dueq.{self.name}"


Unknown: TypeAlias = tuple[tuple[Place, Gap], ...]
"""The arguments that are not known yet, and what stands for each."""

PREVIOUS: Any = Gap("PREVIOUS")
"""
An argument of a link of dueq.chain(), behind the first one: what the handler of the link before
returns.
"""

FAILURE: Any = Gap("FAILURE")
"""
An argument of the `catch` of dueq.chain(): which link failed, and how. A dict: link (its number,
from 1 on), task, queue, id and error.
"""


def gaps_of(args: Sequence[object], kwargs: Mapping[str, object]) -> Unknown:
    """Which of the arguments are not known yet."""
    given: list[tuple[Place, object]] = [*enumerate(args), *kwargs.items()]
    return tuple((place, value) for place, value in given if isinstance(value, Gap))


def refuse_gaps(gaps: Unknown) -> None:
    """Raises InvalidError if there are such arguments: nobody will fill them in."""
    if gaps:
        text = f"{gaps[0][1]!r}: stands for an argument only in a draft of dueq.chain()"
        raise InvalidError(text)


def without_gaps(
    args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments with None in the place of those that are not known yet."""
    return (
        tuple(None if isinstance(value, Gap) else value for value in args),
        {name: None if isinstance(value, Gap) else value for name, value in kwargs.items()},
    )
