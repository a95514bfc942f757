"""d-separation, by following active paths."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, as_full_dag, check_node, check_nodes, reached


def d_separated(dag: ArrayLike, i: int, j: int, given: ArrayLike = ()) -> bool:
    """Return whether i and j are d-separated by the nodes ``given``.

    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> d_separated(collider, 0, 1), d_separated(collider, 0, 1, given=[2])
    (True, False)
    """
    dag = as_full_dag(dag, "d_separated")
    i, j = check_nodes([check_node(each, len(dag)) for each in (i, j)], len(dag))
    conditioned = set(check_nodes(given, len(dag)))
    if conditioned & {i, j}:
        raise GraphError(f"Nodes {i} and {j} cannot be conditioned on while asking about them.")
    return j not in _reached(dag, i, conditioned)


def connected_given_rest(dag: Graph, node: int, nodes: list[int]) -> set[int]:
    """Return the j of ``nodes`` that are d-connected to ``node`` given all other ``nodes``.

    One traversal answers for every j at once: an active path to j ends at the first of ``nodes`` that it meets as a
    non-collider, and a collider that is active only because of j (or ``node``) has a directed path to j itself.
    """
    return _reached(dag, node, set(nodes) - {node}) & set(nodes)


def _reached(dag: Graph, source: int, conditioned: set[int]) -> set[int]:
    """Return the nodes that active paths from ``source`` reach."""
    children = [np.flatnonzero(row).tolist() for row in dag]
    parents = [np.flatnonzero(column).tolist() for column in dag.T]
    opens_collider = reached((dag != 0).T, list(conditioned))
    met: set[int] = set()
    # A visit is a node, and whether it was reached from a parent (along an arrow) or from a child.
    visits = {(child, True) for child in children[source]} | {(parent, False) for parent in parents[source]}
    todo = list(visits)
    while todo:
        node, from_parent = todo.pop()
        if node == source:
            continue
        met.add(node)
        onward: set[tuple[int, bool]] = set()
        if node not in conditioned:
            onward |= {(child, True) for child in children[node]}
            if not from_parent:
                onward |= {(parent, False) for parent in parents[node]}
        if from_parent and node in opens_collider:
            onward |= {(parent, False) for parent in parents[node]}
        fresh = onward - visits
        visits |= fresh
        todo += fresh
    return met
