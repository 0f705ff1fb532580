"""Converts the weights of several queues to the order in which the queues take turns."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from dueq import _core
from dueq.errors import InvalidError


def weighted_order(weights: Mapping[str, int]) -> tuple[str, ...]:
    """
    Returns each name as often as its weight says, evenly spread. Raises InvalidError for wrong
    weights.
    """
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int) or weight < 1:
            raise InvalidError(f"names: the weight {weight!r} of {name!r} is not a number above 0")
    divisor = gcd(*weights.values())
    share = {name: weight // divisor for name, weight in weights.items()}
    total = sum(share.values())
    if not 0 < total <= _core.MAX_QUEUES:
        raise InvalidError(f"names: the sum of the weights is {total}, not 1 to {_core.MAX_QUEUES}")
    credit = dict.fromkeys(share, 0)
    turns = []
    for _ in range(total):
        for name in share:
            credit[name] += share[name]
        turns.append(max(credit, key=credit.__getitem__))
        credit[turns[-1]] -= total
    return tuple(turns)
