"""Lists of edges, as the journal of a bootstrap holds them, as matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph


def edge_matrix(pairs: Sequence[Sequence[int]], p: int) -> Graph:
    """Return the matrix of p variables with 1 at each pair.

    >>> edge_matrix([[0, 1]], 2)
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    matrix = np.zeros((p, p), np.int8)
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    matrix[sources, targets] = 1
    return matrix


def reached(arrows: Graph, order: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether there is a directed path from i to j, at (i, j), given an order of the arrows.

    >>> reached(edge_matrix([[0, 1], [1, 2]], 3), [0, 1, 2])[0]
    array([False,  True,  True])
    """
    found = arrows.astype(bool)
    for node in reversed(order):
        found[node] |= found[arrows[node] == 1].any(axis=0)
    return found
