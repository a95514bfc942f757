"""The sparsest of all orders that obey background knowledge, by dynamic programming over sets of variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.independence import Independence
from rfdag.graphs.node_sets import as_bits
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.families import Families


def sparsest_order(
    tests: Independence, constraints: Constraints, report: Callable[[float], None] = lambda share: None
) -> NDArray[np.int64]:
    """Return an order of fewest edges: the best one of a set ends in some y of it, after the best one of the rest.

    ``report`` is called with the share done, and may raise.

    >>> from rfdag.knowledge import Knowledge
    >>> from rfdag.evidence.independence import GraphIndependence
    >>> collider = GraphIndependence([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> sparsest_order(collider, Knowledge(required=[(2, 0)]).constraints(range(3)))
    array([2, 1, 0])
    """
    p = constraints.size
    families = Families(tests, constraints)
    allowed = [as_bits(np.flatnonzero(column)) for column in constraints.allowed.T]
    followers = [as_bits(np.flatnonzero(row)) for row in constraints.before]
    fewest = [0] + [p * p] * ((1 << p) - 1)
    last = [-1] * (1 << p)
    for chosen in range(1, 1 << p):
        report(chosen / (1 << p))
        for y in range(p):
            if chosen >> y & 1 and not chosen & followers[y]:
                rest = chosen ^ 1 << y
                edges = fewest[rest] + families.needed(y, rest & allowed[y]).bit_count()
                if edges < fewest[chosen]:
                    fewest[chosen], last[chosen] = edges, y
    order = []
    left = (1 << p) - 1
    while left:
        order.append(last[left])
        left ^= 1 << last[left]
    return np.array(order[::-1])
