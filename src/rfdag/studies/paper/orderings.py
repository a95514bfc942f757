"""Orders of the sparse Cholesky factorisation: minimum degree and minimum fill on the elimination graph.

The elimination graph starts as the moral graph; when a node is removed, its neighbours become adjacent. Unlike in a
moral subgraph no edge is ever taken away but those of the node itself, so these orders cannot see what marginalisation
makes independent. All are returned sources first: nodes are eliminated from their end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.graphs.dag import Undirected, as_undirected

Order = NDArray[np.int64]
Cost = Callable[[Undirected], NDArray[np.float64]]


def minimum_degree(graph: ArrayLike) -> Order:
    """Return the order that always eliminates a node of fewest neighbours, of several the lowest.

    >>> star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    >>> minimum_degree(star)
    array([3, 0, 2, 1])
    """
    return greedy(graph, lambda graph: graph.sum(axis=0).astype(np.float64))


def minimum_fill(graph: ArrayLike) -> Order:
    """Return the order that always eliminates a node that makes the fewest new pairs adjacent, of several the lowest.

    >>> path = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> minimum_fill(path)
    array([2, 0, 1])
    """
    return greedy(graph, missing_pairs)


def multiple_minimum_degree(graph: ArrayLike) -> Order:
    """Return the order of SuperLU's multiple minimum degree (Liu, 1985), as SciPy calls it.

    >>> path = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> int(multiple_minimum_degree(path)[-1]) in (1, 2)
    True
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    edges = as_undirected(graph)
    # Only the pattern matters to the order; a dominant diagonal keeps the factorisation from pivoting.
    dominant = csc_array(edges + np.diag(edges.sum(axis=0) + 1.0))
    factors = splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    # Column i is eliminated as number perm_c[i].
    return np.argsort(factors.perm_c)[::-1].astype(np.int64)


def greedy(graph: ArrayLike, cost: Cost) -> Order:
    """Return the order that always eliminates a node of least cost, of several the lowest."""
    left = as_undirected(graph).copy()
    gone: list[int] = []
    for _ in range(len(left)):
        costs = cost(left)
        costs[gone] = np.inf
        node = int(np.argmin(costs))
        near = np.flatnonzero(left[node])
        left[np.ix_(near, near)] = True
        left[near, near] = False
        left[node] = left[:, node] = False
        gone.append(node)
    return np.array(gone[::-1], np.int64)


def missing_pairs(graph: Undirected) -> NDArray[np.float64]:
    """Return how many pairs of each node's neighbours are not adjacent."""
    edges = graph.astype(np.float64)
    degrees = edges.sum(axis=0)
    triangles = ((edges @ edges) * edges).sum(axis=0) / 2
    return degrees * (degrees - 1) / 2 - triangles
