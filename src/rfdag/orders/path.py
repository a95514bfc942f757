"""The same search at several prices of an edge, and which of them to choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rfdag.orders import tuning
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.deadline import OutOfTime

DIGITS = 6
"""Decimals of a criterion that are more than rounding."""


@dataclass(frozen=True)
class PathPoint:
    """What one penalty gave.

    ``criterion`` is the extended BIC with λ = 1 and γ = ½ (Chen and Chen, Biometrika 2008), the same measure for every
    point, whatever penalty found it; the point where it is least is the one ``chosen``.
    """

    penalty: float
    edges: int
    score: float
    criterion: float
    chosen: bool = False


def follow_path(
    start: ScoredOrder,
    penalties: Sequence[float],
    at: int,
    polish: Callable[[ScoredOrder], ScoredOrder],
    check: Callable[[], None] = lambda: None,
) -> dict[float, ScoredOrder]:
    """Return an order by penalty, each polished from the order of the penalty next to it.

    ``start`` is the order found for ``penalties[at]``; larger and smaller penalties follow from there, until ``check``
    raises `OutOfTime`.
    """
    found = {at: start}
    for place in (*range(at + 1, len(penalties)), *range(at - 1, -1, -1)):
        beside = found[place - 1 if place > at else place + 1]
        try:
            check()
            other = beside.at_price(penalties[place], beside.gamma, check)
        except OutOfTime:
            break
        found[place] = polish(other)
    return {penalties[place]: found[place] for place in sorted(found)}


def compare(orders: Mapping[float, ScoredOrder]) -> tuple[ScoredOrder, tuple[PathPoint, ...]]:
    """Return which of the orders by penalty to choose, and the points of the path, by ascending penalty."""
    criteria = {penalty: criterion(orders[penalty]) for penalty in sorted(orders)}
    # Of one graph at several penalties the criteria differ by rounding alone: the least penalty is chosen then.
    best = min(criteria, key=lambda penalty: (round(criteria[penalty], DIGITS), penalty))
    return orders[best], tuple(
        PathPoint(penalty, orders[penalty].edges, orders[penalty].total, value, chosen=penalty == best)
        for penalty, value in criteria.items()
    )


def criterion(scored: ScoredOrder) -> float:
    """Return the extended BIC of an order, whatever price it was found at."""
    price = math.log(scored.n_samples) + 2 * tuning.PATH_GAMMA * math.log(len(scored.order))
    return scored.misfit + price * scored.priced_edges
