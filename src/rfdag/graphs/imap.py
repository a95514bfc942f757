"""Independence maps (I-MAPs): the DAG that an order induces, and tests for being an I-MAP."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, as_full_dag, check_order, topological_order
from rfdag.graphs.separation import connected_given_rest, d_separated


def minimal_imap(dag: ArrayLike, order: ArrayLike) -> Graph:
    """Return D_π: i → j iff i precedes j and the two are d-connected given the other predecessors of j.

    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> minimal_imap(collider, order=[2, 0, 1])
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]], dtype=int8)
    """
    dag = as_full_dag(dag, "minimal_imap")
    order = check_order(order, len(dag))
    induced = np.zeros_like(dag)
    for at, node in enumerate(order):
        for parent in connected_given_rest(dag, node, order[: at + 1]):
            induced[parent, node] = 1
    return induced


def is_imap(candidate: ArrayLike, dag: ArrayLike) -> bool:
    """Return whether every d-separation of ``candidate`` holds in ``dag``.

    By the ordered Markov property it suffices that each node is separated, given its parents, from its
    other predecessors.

    >>> is_imap([[0, 1], [0, 0]], [[0, 0], [0, 0]]), is_imap([[0, 0], [0, 0]], [[0, 1], [0, 0]])
    (True, False)
    """
    candidate, dag = _pair(candidate, dag)
    order = topological_order(candidate).tolist()
    for at, node in enumerate(order):
        parents = np.flatnonzero(candidate[:, node]).tolist()
        for other in set(order[:at]) - set(parents):
            if not d_separated(dag, node, other, parents):
                return False
    return True


def is_minimal_imap(candidate: ArrayLike, dag: ArrayLike) -> bool:
    """Return whether ``candidate`` is an I-MAP of ``dag``, and would not be one without any of its edges.

    >>> is_minimal_imap([[0, 1], [0, 0]], [[0, 0], [0, 0]])
    False
    """
    candidate, dag = _pair(candidate, dag)
    if not is_imap(candidate, dag):
        return False
    for parent, node in np.argwhere(candidate):
        others = [other for other in np.flatnonzero(candidate[:, node]) if other != parent]
        if d_separated(dag, int(parent), int(node), others):
            return False
    return True


def _pair(candidate: ArrayLike, dag: ArrayLike) -> tuple[Graph, Graph]:
    first, second = as_full_dag(candidate, "An I-MAP"), as_full_dag(dag, "An I-MAP")
    if first.shape != second.shape:
        raise GraphError(f"The graphs have {len(first)} and {len(second)} nodes; they need the same nodes.")
    return first, second
