"""What each edge of a DAG is worth by a local score, and what reversing one costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph
from rfdag.orders.family_scores import FamilyScore

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def scores_of(score: FamilyScore, families: list[tuple[int, Integers]]) -> Floats:
    """Return the scores of families: of a child with its parents each.

    >>> from rfdag.orders.family_scores import BlockScore
    >>> pair = BlockScore(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 1, 2]), None, 100)
    >>> scores_of(pair, [(0, np.array([], int)), (0, np.array([1]))]).round(2)
    array([  0.  , -19.56])
    """
    widest = max([1, *(len(parents) for _, parents in families)])
    table = np.zeros((len(families), widest), np.int64)
    for row, (_, parents) in zip(table, families, strict=True):
        row[: len(parents)] = parents
    children = np.array([child for child, _ in families], np.int64)
    sizes = np.array([len(parents) for _, parents in families], np.int64)
    return score.scan(children, table, sizes, np.full((score.size, 1), -1))[0]


def score_of(score: FamilyScore, dag: Graph) -> float:
    """Return the score of a DAG."""
    return float(scores_of(score, [(child, np.flatnonzero(dag[:, child])) for child in range(len(dag))]).sum())


def gains_of(score: FamilyScore, dag: Graph) -> Floats:
    """Return, at every edge, by how much the score would be worse without it."""
    gains = np.zeros(dag.shape)
    for child in range(len(dag)):
        parents = np.flatnonzero(dag[:, child])
        if len(parents):
            fewer = [(child, parents[parents != parent]) for parent in parents]
            whole, *others = scores_of(score, [(child, parents), *fewer])
            gains[parents, child] = np.array(others) - whole
    return gains
