"""One call to the server, and what it answers. The faces differ in how they wait for the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec

from dueq import _core
from dueq.errors import InvalidError

if TYPE_CHECKING:
    from dueq._link import Link

P = ParamSpec("P")


class Answer(NamedTuple):
    """What a call answered. Each verb fills what is its own."""

    status: int
    messages: list[_core.MessageRow]
    rates: list[_core.RateRow]
    findings: list[_core.FindingRow]
    workers: list[_core.WorkerRow]
    failures: list[_core.FailureRow]
    values: list[_core.ReadRow]
    jobs: list[_core.JobRow]
    outcomes: list[tuple[int, str]]
    """Status and id of the items that are none of these."""
    states: bytes
    """cancel: of each item, the state that it was in; 0: there was none."""
    counts: _core.CountsRow | None
    sizes: _core.SizesRow | None
    moved: _core.MovedRow | None
    quarantined: int
    purged: int
    kicked: int
    cursor: bytes
    queue: int
    """The place of the messages' queue among those that were asked."""


class Call(NamedTuple):
    """One call to the server. It may be run more than once."""

    submit: Callable[[Link], int]
    waits: bool = False
    """Whether it may wait for something to happen."""
    undo: Callable[[Answer], Iterable[Call]] | None = None
    """The calls that give back what it took, where its caller went away meanwhile."""
    behind: Callable[[Link], int] | None = None
    """
    Where the core itself gives back what an abandoned call took: another call, whose answer tells
    that the server has done so.
    """
    over: Callable[[], object] | None = None
    """Whether it has waited enough; asked now and then by those who block."""


def on(
    queue: str,
    submit: Callable[Concatenate[_core.Handle, P], int],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Call:
    """A call about one of a pool's queues."""
    return Call(lambda link: submit(link.queues[queue], *args, **kwargs))


def counted(value: int, name: str, most: int = _core.MAX_BATCH) -> int:
    """A number of items from 1 to `most`. InvalidError, or TypeError where it is none."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an int") from None
    if not 1 <= number <= most:
        raise InvalidError(f"{name}: {number} is not 1 to {most}")
    return number
