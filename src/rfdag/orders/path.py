"""The same search at several prices of an edge, and which of them to choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rfdag.orders import tuning
from rfdag.orders.scores import ScoredOrder


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
) -> list[ScoredOrder]:
    """Return an order for every penalty, each polished from the order of the penalty next to it.

    ``start`` is the order found for ``penalties[at]``; larger and smaller penalties follow from there.
    """
    found = {at: start}
    for place in (*range(at + 1, len(penalties)), *range(at - 1, -1, -1)):
        beside = found[place - 1 if place > at else place + 1]
        found[place] = polish(beside.at_price(penalties[place], beside.gamma))
    return [found[place] for place in range(len(penalties))]


def compare(orders: Sequence[ScoredOrder], penalties: Sequence[float]) -> tuple[int, tuple[PathPoint, ...]]:
    """Return which order to choose, and the points of the path."""
    criteria = [criterion(scored) for scored in orders]
    best = min(range(len(orders)), key=criteria.__getitem__)
    return best, tuple(
        PathPoint(penalty, scored.edges, scored.total, value, chosen=place == best)
        for place, (penalty, scored, value) in enumerate(zip(penalties, orders, criteria, strict=True))
    )


def criterion(scored: ScoredOrder) -> float:
    """Return the extended BIC of an order, whatever price it was found at."""
    price = math.log(scored.n_samples) + 2 * tuning.PATH_GAMMA * math.log(len(scored.order))
    return scored.misfit + price * scored.edges
