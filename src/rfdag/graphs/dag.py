"""Checking that a matrix is a DAG, and following its edges."""

from __future__ import annotations

import heapq
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import GraphError, listed
from rfdag.graphs.sparse import (
    canonical,
    issparse,
    refuse_sparse,
    sparse_cycle,
    sparse_dag,
    sparse_topological_order,
)
from rfdag.values import is_masked, shown, unmasked

Graph = NDArray[np.int8]
Undirected = NDArray[np.bool_]


def as_dag(matrix: ArrayLike) -> Graph:
    """Return a checked copy with entries 0 and 1; raise if it is not square or has a cycle.

    For a sparse array the copy is a CSR array.

    >>> as_dag([[0, -0.5], [0, 0]])
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    if issparse(matrix):
        checked: Graph = sparse_dag(matrix)
        return checked
    dag = (square(matrix) != 0).astype(np.int8)
    cycle = _cycle(dag != 0)
    if cycle:
        arrows = " → ".join(map(str, cycle))
        raise GraphError(f"This is not a DAG: it has the cycle {arrows}. Remove or reverse one of these edges.")
    return dag


def as_full_dag(matrix: ArrayLike, what: str) -> Graph:
    """Return a checked copy as an array, for ``what`` has no use for a sparse one."""
    refuse_sparse(matrix, what)
    return as_dag(matrix)


def as_undirected(matrix: ArrayLike) -> Undirected:
    """Return a checked, symmetric boolean copy without loops."""
    refuse_sparse(matrix, "An undirected graph")
    graph = square(matrix) != 0
    if (graph != graph.T).any():
        i, j = np.argwhere(graph != graph.T)[0]
        raise GraphError(f"An undirected graph is symmetric; entry ({i}, {j}) differs from ({j}, {i}). Set both.")
    np.fill_diagonal(graph, False)
    return graph


def topological_order(dag: ArrayLike) -> NDArray[np.int64]:
    """Return an order with every parent before its children, sources of lowest index first.

    >>> topological_order([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    array([2, 1, 0])
    """
    dag = as_dag(dag)
    if issparse(dag):
        return sparse_topological_order(dag)
    waiting = dag.sum(axis=0, dtype=np.int64)
    order: list[int] = []
    ready = list(np.flatnonzero(waiting == 0))
    while ready:
        node = ready.pop(0)
        order.append(int(node))
        for child in np.flatnonzero(dag[node]):
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    return np.array(order, dtype=np.int64)


def order_near(order: ArrayLike, dag: ArrayLike) -> NDArray[np.int64]:
    """Return the topological order that differs from a given order only where the DAG requires it.

    Among the nodes whose parents are all placed, the one that comes first in the given order is next.

    >>> order_near([2, 0, 1], [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    array([0, 2, 1])
    """
    dag = as_dag(dag)
    rank = np.argsort(check_order(order, len(dag))).tolist()
    waiting = dag.sum(axis=0, dtype=np.int64)
    ready = [(rank[node], node) for node in np.flatnonzero(waiting == 0).tolist()]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        node = heapq.heappop(ready)[1]
        found.append(node)
        for child in np.flatnonzero(dag[node]).tolist():
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, (rank[child], child))
    return np.array(found, dtype=np.int64)


def find_cycle(graph: ArrayLike) -> list[int]:
    """Return the nodes of a directed cycle, the first repeated at the end, or an empty list."""
    return sparse_cycle(canonical(graph)) if issparse(graph) else _cycle(square(graph) != 0)


def _cycle(edges: NDArray[np.bool_]) -> list[int]:
    left = np.ones(len(edges), bool)
    # A node without a remaining parent lies on no cycle; remove such nodes until none is left, or all have one.
    while True:
        sources = left & ~edges[left].any(axis=0)
        if not sources.any():
            break
        left &= ~sources
    if not left.any():
        return []
    walk = [int(np.flatnonzero(left)[0])]
    while True:
        parent = int(np.flatnonzero(edges[:, walk[-1]] & left)[0])
        if parent in walk:
            return [parent, *reversed(walk[walk.index(parent) :])]
        walk.append(parent)


def descendants(dag: ArrayLike, node: int) -> set[int]:
    """Return the descendants of ``node``, without ``node`` itself.

    >>> sorted(descendants([[0, 1, 0], [0, 0, 1], [0, 0, 0]], 0))
    [1, 2]
    """
    edges = as_full_dag(dag, "descendants") != 0
    node = check_node(node, len(edges))
    return reached(edges, [node]) - {node}


def ancestors(dag: ArrayLike, nodes: ArrayLike) -> set[int]:
    """Return ``nodes`` and all their ancestors.

    >>> sorted(ancestors([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1]))
    [0, 1]
    """
    edges = as_full_dag(dag, "ancestors") != 0
    return reached(edges.T, check_nodes(nodes, len(edges)))


def reached(edges: NDArray[np.bool_], start: list[int]) -> set[int]:
    """Return the nodes that can be reached from ``start``, included, where an entry at (i, j) is a step from i to j.

    >>> sorted(reached(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], bool), [0]))
    [0, 1]
    """
    seen = set(start)
    todo = list(start)
    while todo:
        fresh = set(map(int, np.flatnonzero(edges[todo.pop()]))) - seen
        seen |= fresh
        todo += fresh
    return seen


def check_labels(labels: ArrayLike, size: int) -> list[int]:
    """Return one number for each node as a list; raise for another number of them, and for what is no number."""
    found = _whole_numbers(labels)
    if len(found) != size:
        raise GraphError(f"Found {len(found)} labels for a graph of {size} nodes; give one for each.")
    return found


def _whole_numbers(nodes: ArrayLike) -> list[int]:
    try:
        given = unmasked(nodes).ravel()
    except (TypeError, ValueError):
        raise GraphError(f"Nodes are numbers of rows and columns, not {shown(nodes)}.") from None
    if given.size and given.dtype.kind not in "iu":
        raise GraphError(
            f"Nodes are numbers of rows and columns, not {listed(given.tolist())}; a result has them as causal_order."
        )
    return [int(node) for node in given]


def check_node(node: int, size: int) -> int:
    """Return a node; raise for what is none."""
    if isinstance(node, Integral) and not isinstance(node, bool):
        return check_nodes([node], size)[0]
    raise GraphError(f"A node is the number of a row and column, not {shown(node)}.")


def check_nodes(nodes: ArrayLike, size: int) -> list[int]:
    """Return the nodes as a list of integers; raise when one is unknown or listed twice."""
    found = _whole_numbers(nodes)
    unknown = [node for node in found if not 0 <= node < size]
    if unknown:
        raise GraphError(f"Found nodes {listed(unknown)}; the graph has nodes 0 to {size - 1}.")
    if len(set(found)) < len(found):
        twice = sorted({node for node in found if found.count(node) > 1})
        raise GraphError(f"Nodes {listed(twice)} are listed more than once; list each node once.")
    return found


def check_order(order: ArrayLike, size: int) -> list[int]:
    """Return the order as a list; raise unless it contains every node exactly once."""
    found = check_nodes(order, size)
    if len(found) < size:
        missing = sorted(set(range(size)) - set(found))
        raise GraphError(f"The order lacks nodes {listed(missing)}; it needs all of 0 to {size - 1}.")
    return found


def square(matrix: ArrayLike, *, missing: bool = False) -> NDArray[np.generic]:
    """Return a copy of a square matrix of numbers, NaN among them if ``missing`` ones are; raise for anything else.

    >>> square("graph")
    Traceback (most recent call last):
    rfdag.errors.GraphError: Found an array of shape (); a graph is a square matrix with one row per node.
    """
    try:
        graph = unmasked(matrix).copy()
    except (TypeError, ValueError):
        what = "with masked entries" if is_masked(matrix) else "that is no matrix"
        raise GraphError(
            f"Found a {type(matrix).__name__} {what}; a graph is a square matrix with one row per node."
        ) from None
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise GraphError(f"Found an array of shape {graph.shape}; a graph is a square matrix with one row per node.")
    if graph.dtype.kind not in "biuf":
        raise GraphError(f"Found entries of type {graph.dtype}; an adjacency matrix holds numbers.")
    if graph.dtype.kind == "f" and not missing and not np.isfinite(graph).all():
        i, j = np.argwhere(~np.isfinite(graph))[0]
        raise GraphError(f"Entry ({i}, {j}) is {graph[i, j]}; write 0 where there is no edge.")
    return graph
