"""
A call to the server, and its result. dueq and dueq.aio differ in how they wait for the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec

from dueq import _core
from dueq.errors import Duplicate, InvalidError

if TYPE_CHECKING:
    from dueq._link import Link
    from dueq.draft import Options

P = ParamSpec("P")


class Answer(NamedTuple):
    """The result of a call. Each verb sets its own fields."""

    status: int
    messages: list[_core.MessageRow]
    rates: list[_core.RateRow]
    findings: list[_core.FindingRow]
    workers: list[_core.WorkerRow]
    failures: list[_core.FailureRow]
    groups: list[_core.GroupRow]
    ends: list[_core.EndRow]
    batches: list[_core.BatchRow]
    values: list[_core.ReadRow]
    jobs: list[_core.JobRow]
    outcomes: list[tuple[int, str]]
    """Status and id of the items that have no row of their own."""
    states: bytes
    """cancel: the state in which each item was; 0: the item did not exist."""
    counts: _core.CountsRow | None
    limits: _core.BoundsRow | None
    sizes: _core.SizesRow | None
    moved: _core.MovedRow | None
    quarantined: int
    purged: int
    kicked: int
    cursor: bytes
    queue: int
    """The index of the messages' queue among the queues of the call."""


class Call(NamedTuple):
    """One call to the server. It may be run more than once."""

    submit: Callable[[Link], int]
    waits: bool = False
    """Whether the call may wait for an event, such as a message."""
    undo: Callable[[Answer], Iterable[Call]] | None = None
    """Makes calls that give back what this call took, if its caller has gone away meanwhile."""
    behind: Callable[[Link], int] | None = None
    """
    For calls whose messages the core itself gives back when they are abandoned: another call, whose
    answer proves that the server has done so.
    """
    over: Callable[[], object] | None = None
    """Says whether the call has waited long enough. Blocking callers ask this from time to time."""


def on(
    queue: str,
    submit: Callable[Concatenate[_core.Handle, P], int],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Call:
    """Makes a call on one of a pool's queues."""
    return Call(lambda link: submit(link.queues[queue], *args, **kwargs))


def push_to(queue: str, target: str, rows: tuple[_core.DraftRow, ...]) -> Call:
    """Makes a call that pushes members of a batch of one queue to another queue."""
    return Call(
        lambda link: _core.push_to_submit(link.queues[queue], link.target(queue, target), rows)
    )


def stored_id(outcomes: list[tuple[int, str]], options: Options) -> str:
    """The id of the one message of a push. Raises Duplicate if the push was refused as one."""
    [(status, stored)] = outcomes
    if status == _core.DUPLICATE:
        id = stored or options["id"]
        raise Duplicate(f"an existing message has the id {id}, or it is still unique")
    return stored


def stored_ids(outcomes: list[tuple[int, str]]) -> list[str | None]:
    """The ids of the messages of a push, in order; None for a duplicate."""
    return [id if status == _core.OK else None for status, id in outcomes]


def counted(value: int, name: str, most: int = _core.MAX_BATCH) -> int:
    """
    Checks a number of items, 1 to `most`. Raises InvalidError, or TypeError if it is not an int.
    """
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an int") from None
    if not 1 <= number <= most:
        raise InvalidError(f"{name}: {number} is not 1 to {most}")
    return number
