"""
What a verb is: steps that yield calls and are sent their answers. Each is written once; a blocking
face (_pool.py) and that of asyncio (aio/_pool.py) differ in how they run the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from inspect import signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from dueq import _core
from dueq._link import Answer, Link

P = ParamSpec("P")
R = TypeVar("R")


class Call(NamedTuple):
    """One call to the server."""

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


Steps: TypeAlias = Generator[Call, Answer, R]


def on(
    queue: str,
    submit: Callable[Concatenate[_core.Handle, P], int],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Call:
    """A call about one of a pool's queues."""
    return Call(lambda link: submit(link.queues[queue], *args, **kwargs))


def tell(method: Callable[..., Any], verb: Callable[..., Steps[Any]]) -> None:
    """Lets help() say of a method what its verb returns at the end, not that it has steps."""
    told = signature(verb)
    text = str(told.return_annotation).removeprefix("Steps[").removesuffix("]")
    method.__signature__ = told.replace(return_annotation=text)  # type: ignore[attr-defined]
