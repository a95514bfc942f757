"""The parents that tests of independence give an order, with and without background knowledge.

Without knowledge, i is a parent of a later j iff the two are dependent given all other predecessors of j: the paper's
D_π. With knowledge, only the predecessors that may be parents enter, as candidates and as conditions. So the allowed
parents explain as much as they can of what a forbidden one would have explained, and no edge is deleted afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.evidence.independence import Independence
from rfdag.graphs.dag import Graph, check_order
from rfdag.knowledge.constraints import Constraints

Integers = NDArray[np.int64]


def induced_dag(
    order: ArrayLike,
    tests: Independence,
    constraints: Constraints | None = None,
    check: Callable[[], None] = lambda: None,
) -> Graph:
    """Return D_π: i → j iff i precedes j and the two are dependent given the other predecessors of j.

    ``check`` is called before each variable, and may raise.

    >>> from rfdag.evidence.independence import GraphIndependence
    >>> induced_dag([2, 0, 1], GraphIndependence([[0, 0, 1], [0, 0, 1], [0, 0, 0]]))
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]], dtype=int8)
    """
    sequence = np.array(check_order(order, np.size(order)), dtype=np.int64)
    dag = np.zeros((len(sequence), len(sequence)), np.int8)
    for at, node in enumerate(sequence):
        check()
        dag[needed_parents(int(node), sequence[:at], tests, constraints), node] = 1
    return dag


def amend(
    dag: Graph,
    order: Integers,
    tests: Independence,
    constraints: Constraints,
    check: Callable[[], None] = lambda: None,
) -> Graph:
    """Return D_π of an elimination, with new parents for the nodes for which knowledge forbids some predecessor."""
    amended = dag.copy()
    for at, node in enumerate(order):
        check()
        before = order[:at]
        if not constraints.may_be_parents(before, int(node)).all():
            amended[:, node] = 0
            amended[needed_parents(int(node), before, tests, constraints), node] = 1
    amended[constraints.required] = 1
    return amended


def needed_parents(node: int, before: Integers, tests: Independence, constraints: Constraints | None) -> Integers:
    """Return those of the predecessors ``before`` that tests or knowledge make parents of a node."""
    if constraints is None:
        return before[tests.dependent(node, before)]
    before = before[constraints.may_be_parents(before, node)]
    return before[tests.dependent(node, before) | np.isin(before, constraints.required_of(node))]
