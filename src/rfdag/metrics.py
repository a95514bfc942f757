"""How near a found graph or order is to the truth.

Graphs are matrices in the encoding of `rfdag.graphs`. Where a measure is about the Markov equivalence class,
DAGs and CPDAGs are both accepted and DAGs are turned into their CPDAG. `skeleton`, `shd` and `order_error` take sparse
arrays too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, triu

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, as_dag, check_order
from rfdag.graphs.equivalence import cpdag
from rfdag.graphs.imap import minimal_imap
from rfdag.graphs.sparse import canonical, issparse, refuse_sparse, same_pattern

__all__ = [
    "Distance",
    "SkeletonScores",
    "aid",
    "edge_ratio",
    "equivalence_class",
    "order_error",
    "shd",
    "sid",
    "skeleton",
]


class SkeletonScores(NamedTuple):
    """Adjacencies found against adjacencies true; NaN where there was nothing to count."""

    tpr: float
    fpr: float
    precision: float
    f1: float

    @property
    def recall(self) -> float:
        """The share of true adjacencies found: another name of ``tpr``."""
        return self.tpr


class Distance(NamedTuple):
    """A distance of Henckel, Würtheim and Maathuis' kind: mistakes, and their share of all ordered pairs."""

    normalised: float
    mistakes: int


def skeleton(true: ArrayLike, found: ArrayLike) -> SkeletonScores:
    """Return TPR (recall), FPR, precision and F1 of the adjacencies.

    >>> skeleton([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    SkeletonScores(tpr=0.5, fpr=1.0, precision=0.5, f1=0.5)
    """
    first, second = _same_size(true, found)
    truth, guess = _adjacent_pairs(first), _adjacent_pairs(second)
    hits = len(np.intersect1d(truth, guess, assume_unique=True))
    n_true, n_found = len(truth), len(guess)
    n_absent = first.shape[0] * (first.shape[0] - 1) // 2 - n_true
    return SkeletonScores(
        tpr=_ratio(hits, n_true),
        fpr=_ratio(n_found - hits, n_absent),
        precision=_ratio(hits, n_found),
        f1=_ratio(2 * hits, n_true + n_found),
    )


def shd(true: ArrayLike, found: ArrayLike) -> int:
    """Return the structural Hamming distance of the CPDAGs: the number of pairs joined differently.

    >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    0
    """
    truth, guess = (equivalence_class(graph) for graph in _same_size(true, found))
    if issparse(truth):
        differs = truth != guess
        return int(triu(differs + differs.T).nnz)
    differs = (truth != guess) | (truth != guess).T
    return int(np.triu(differs).sum())


def order_error(true: ArrayLike, order: ArrayLike) -> float:
    """Return the share of the true CPDAG's directed edges that the order places backwards.

    >>> order_error([[0, 0, 1], [0, 0, 1], [0, 0, 0]], order=[0, 2, 1])
    0.5
    """
    truth = equivalence_class(true)
    rank = np.argsort(check_order(order, truth.shape[0]))
    sources, targets = (truth == 1).nonzero()
    return _ratio(int((rank[sources] > rank[targets]).sum()), len(sources))


def edge_ratio(true: ArrayLike, order: ArrayLike) -> float:
    """Return |D_π| / |D*|: edges of the minimal I-MAP that the order induces, over those of the truth.

    It is at least 1, and 1 iff the two are Markov equivalent: the measure of Section 5.1.

    >>> edge_ratio([[0, 0, 1], [0, 0, 1], [0, 0, 0]], order=[2, 0, 1])
    1.5
    """
    refuse_sparse(true, "edge_ratio")
    truth = as_dag(true)
    return _ratio(int(minimal_imap(truth, order).sum()), int(truth.sum()))


def sid(true: ArrayLike, found: ArrayLike) -> Distance:
    """Return the structural intervention distance of two DAGs (Peters and Bühlmann), by gadjid.

    >>> sid([[0, 1], [0, 0]], [[0, 0], [1, 0]]).mistakes
    2
    """
    import gadjid

    refuse_sparse(true, "sid")
    refuse_sparse(found, "sid")
    truth, guess = _same_size(true, found)
    return Distance(*gadjid.sid(as_dag(truth), as_dag(guess), edge_direction="from row to column"))


def aid(true: ArrayLike, found: ArrayLike, strategy: str = "ancestor") -> Distance:
    """Return the adjustment identification distance of two DAGs or CPDAGs, by gadjid.

    ``strategy`` is "ancestor", "parent" or "oset": how the found graph chooses what to adjust for.

    >>> aid([[0, 1], [0, 0]], [[0, 1], [0, 0]]).mistakes
    0
    """
    import gadjid

    distances = {"ancestor": gadjid.ancestor_aid, "parent": gadjid.parent_aid, "oset": gadjid.oset_aid}
    if strategy not in distances:
        raise GraphError(f"strategy is 'ancestor', 'parent' or 'oset', not {strategy!r}.")
    refuse_sparse(true, "aid")
    refuse_sparse(found, "aid")
    truth, guess = _same_size(true, found)
    return Distance(*distances[strategy](truth, guess, edge_direction="from row to column"))


def equivalence_class(graph: ArrayLike) -> Graph:
    """Return the CPDAG of a DAG; a graph with undirected edges is one already.

    >>> equivalence_class([[0, 0.7], [0, 0]])
    array([[0, 2],
           [2, 0]], dtype=int8)
    """
    matrix = _encoded(graph)
    return matrix if (matrix == 2).sum() else cpdag(matrix)


def _same_size(true: ArrayLike, found: ArrayLike) -> tuple[Graph, Graph]:
    if issparse(true) or issparse(found):
        true, found = _as_sparse(true), _as_sparse(found)
    first, second = _encoded(true), _encoded(found)
    if first.shape != second.shape:
        raise GraphError(
            f"The graphs have {first.shape[0]} and {second.shape[0]} nodes; compare graphs on the same nodes."
        )
    return first, second


def _as_sparse(graph: ArrayLike) -> ArrayLike:
    return graph if issparse(graph) else csr_array(_encoded(graph))


def _encoded(graph: ArrayLike) -> Graph:
    if issparse(graph):
        return _encoded_sparse(graph)
    matrix = np.array(graph)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"Found an array of shape {matrix.shape}; a graph is a square matrix.")
    # Weights are as good as ones; a 2 marks an undirected edge only where its mirror is a 2 as well.
    undirected = (matrix == 2) & (matrix == 2).T
    return np.where(undirected, 2, matrix != 0).astype(np.int8)


def _encoded_sparse(graph: ArrayLike) -> Graph:
    """Return the same of a sparse array, as CSR."""
    matrix = canonical(graph)
    twos = same_pattern(matrix, (matrix.data == 2).astype(np.int8))
    # One in both places makes two of either.
    mutual = (twos + twos.T).multiply(same_pattern(matrix, np.ones(matrix.nnz, np.int8))).tocsr()
    encoded: Graph = (same_pattern(matrix, np.ones(matrix.nnz, np.int8)) + (mutual == 2)).astype(np.int8)
    return encoded


def _adjacent_pairs(graph: Graph) -> NDArray[np.int64]:
    """Return the adjacent pairs, each as one number."""
    rows, columns = graph.nonzero()
    low, high = np.minimum(rows, columns).astype(np.int64), np.maximum(rows, columns).astype(np.int64)
    pairs: NDArray[np.int64] = np.unique((low * graph.shape[0] + high)[low < high])
    return pairs


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
