"""Distances of a found graph or order from the true one.

Graphs are matrices in the encoding of `rfdag.graphs`. Measures of the Markov equivalence class accept both DAGs and
CPDAGs, and compare the CPDAG of a DAG. `skeleton`, `shd`, `icpdag_shd` and `order_error` accept sparse arrays too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, triu

from rfdag.errors import GraphError, OptionError
from rfdag.graphs.dag import Graph, as_dag, check_order, find_cycle
from rfdag.graphs.equivalence import encoded, equivalence_class
from rfdag.graphs.imap import minimal_imap
from rfdag.graphs.interventional import icpdag
from rfdag.graphs.sparse import issparse, refuse_sparse
from rfdag.values import entries, one_of, shown

__all__ = [
    "Distance",
    "SkeletonScores",
    "TargetScores",
    "aid",
    "edge_ratio",
    "equivalence_class",
    "icpdag_shd",
    "order_error",
    "shd",
    "sid",
    "skeleton",
    "target_scores",
]

COMPARED = ("classes", "graphs")

TargetSets = Iterable[Collection[int]] | Mapping[Any, Collection[int]]
"""The nodes that each experiment targets, with or without labels of the experiments."""


class SkeletonScores(NamedTuple):
    """The adjacencies found compared with the true ones; NaN where there is nothing to count."""

    tpr: float
    fpr: float
    precision: float
    f1: float

    @property
    def recall(self) -> float:
        """The share of true adjacencies found; the same as ``tpr``."""
        return self.tpr


class TargetScores(NamedTuple):
    """The targets found compared with the true ones; NaN where there is nothing to count."""

    precision: float
    recall: float
    f1: float


class Distance(NamedTuple):
    """A distance as defined by Henckel, Würtheim and Weichwald: mistakes, and their share of all ordered pairs."""

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


def shd(true: ArrayLike, found: ArrayLike, compare: Literal["classes", "graphs"] = "classes") -> int:
    """Return the structural Hamming distance: the number of pairs whose edges differ.

    Parameters
    ----------
    true, found
        Graphs on the same nodes, full or sparse.
    compare
        "classes" compares Markov equivalence classes: of a graph without undirected edges, taken as a DAG, the CPDAG is
        compared, and any other graph as it is. "graphs" compares both as they are: two DAGs edge by edge, or classes in
        which background knowledge or experiments have directed more edges, perhaps all, than in a CPDAG.

    Examples
    --------
    >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    0
    >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]], compare="graphs")
    1
    """
    one_of("compare", compare, COMPARED)
    truth, guess = _same_size(true, found)
    if compare == "classes":
        truth, guess = equivalence_class(truth), equivalence_class(guess)
    if issparse(truth):
        differs = truth != guess
        return int(triu(differs + differs.T).nnz)
    differs = (truth != guess) | (truth != guess).T
    return int(np.triu(differs).sum())


def icpdag_shd(
    true: ArrayLike,
    found: ArrayLike,
    true_targets: TargetSets,
    targets: TargetSets | None = None,
    *,
    hard: bool = False,
) -> int:
    """Return the structural Hamming distance of interventional equivalence classes, as `rfdag.graphs.icpdag` has them.

    Parameters
    ----------
    true, found
        The true DAG, and a DAG or class that was found, full or sparse. Of a graph without undirected edges, taken as a
        DAG, the class is compared, and any other graph as it is.
    true_targets
        The nodes that each experiment targets: a collection for each, or a mapping from the experiments' labels.
    targets
        The targets that were found along with the graph, by which its class is formed; None if they were known.
    hard
        Whether targets lose all their parents, as in `rfdag.graphs.icpdag`.

    Examples
    --------
    An experiment on 0 reveals the direction of 0 → 1, one that was found to target nothing does not:

    >>> icpdag_shd([[0, 1], [0, 0]], [[0, 0], [1, 0]], [[], [0]])
    1
    >>> icpdag_shd([[0, 1], [0, 0]], [[0, 1], [0, 0]], [[], [0]], targets=[[], []])
    1
    >>> icpdag_shd([[0, 1], [0, 0]], [[0, 1], [0, 0]], {"control": (), "drug": (0,)})
    0
    """
    truth, guess = _same_size(true, found)
    expected = icpdag(truth, _sets(true_targets), hard=hard)
    if not (guess == 2).sum():
        guess = icpdag(guess, _sets(true_targets if targets is None else targets), hard=hard)
    return shd(expected, guess, compare="graphs")


def target_scores(true: Mapping[Any, Iterable[Hashable]], found: Mapping[Any, Iterable[Hashable]]) -> TargetScores:
    """Return precision, recall and F1 of the targets found: of the pairs of an environment and a variable it targets.

    Parameters
    ----------
    true, found
        The variables that each environment targets, by the environment's label.

    Examples
    --------
    >>> target_scores({"drug": ["a"], "both": ["a", "b"]}, {"drug": ["a"], "both": ["c"], "control": []})
    TargetScores(precision=0.5, recall=0.3333333333333333, f1=0.4)
    """
    truth, guess = (_pairs(targets) for targets in (true, found))
    hits = len(truth & guess)
    return TargetScores(
        precision=_ratio(hits, len(guess)),
        recall=_ratio(hits, len(truth)),
        f1=_ratio(2 * hits, len(truth) + len(guess)),
    )


def order_error(true: ArrayLike, order: ArrayLike, compare: Literal["classes", "graphs"] = "classes") -> float:
    """Return the share of the true CPDAG's directed edges that the order places backwards.

    With ``compare="graphs"`` these are the directed edges of the true graph as it is, as in `shd`.

    >>> order_error([[0, 0, 1], [0, 0, 1], [0, 0, 0]], order=[0, 2, 1])
    0.5
    >>> order_error([[0, 1], [0, 0]], [1, 0]), order_error([[0, 1], [0, 0]], [1, 0], compare="graphs")
    (nan, 1.0)
    """
    one_of("compare", compare, COMPARED)
    truth = equivalence_class(true) if compare == "classes" else encoded(true)
    rank = np.argsort(check_order(order, truth.shape[0]))
    sources, targets = (truth == 1).nonzero()
    return _ratio(int((rank[sources] > rank[targets]).sum()), len(sources))


def edge_ratio(true: ArrayLike, order: ArrayLike) -> float:
    """Return ``|D_π| / |D*|``: the edges of the minimal I-MAP that the order induces, over those of the true DAG.

    It is at least 1, and equal to 1 iff the two are Markov equivalent; see the paper's Section 5.1.

    >>> edge_ratio([[0, 0, 1], [0, 0, 1], [0, 0, 0]], order=[2, 0, 1])
    1.5
    """
    refuse_sparse(true, "edge_ratio")
    truth = as_dag(true)
    return _ratio(int(minimal_imap(truth, order).sum()), int(truth.sum()))


def sid(true: ArrayLike, found: ArrayLike) -> Distance:
    """Return the structural intervention distance of two DAGs (Peters and Bühlmann), computed by gadjid.

    Graphs with fewer than two nodes have distance 0.

    >>> sid([[0, 1], [0, 0]], [[0, 0], [1, 0]]).mistakes
    2
    """
    import gadjid

    refuse_sparse(true, "sid")
    refuse_sparse(found, "sid")
    truth, guess = (as_dag(graph) for graph in _same_size(true, found))
    if len(truth) < 2:
        return Distance(0.0, 0)
    return Distance(*gadjid.sid(truth, guess, edge_direction="from row to column"))


def aid(true: ArrayLike, found: ArrayLike, strategy: str = "ancestor") -> Distance:
    """Return the adjustment identification distance of two DAGs or CPDAGs, computed by gadjid.

    ``strategy`` is "ancestor", "parent" or "oset": how the adjustment set is read off the found graph. Graphs with
    fewer than two nodes have distance 0.

    >>> aid([[0, 1], [0, 0]], [[0, 1], [0, 0]]).mistakes
    0
    """
    import gadjid

    distances = {"ancestor": gadjid.ancestor_aid, "parent": gadjid.parent_aid, "oset": gadjid.oset_aid}
    one_of("strategy", strategy, tuple(distances))
    refuse_sparse(true, "aid")
    refuse_sparse(found, "aid")
    truth, guess = _same_size(true, found)
    for which, graph in (("true", truth), ("found", guess)):
        cycle = find_cycle((graph == 1) | np.diag(np.diag(graph) != 0))
        if cycle:
            arrows = " → ".join(map(str, cycle))
            raise GraphError(
                f"The {which} graph has the cycle {arrows}; aid compares DAGs and CPDAGs. Remove or reverse one of "
                "these edges, or write 2 in both places for an undirected one."
            )
    if len(truth) < 2:
        return Distance(0.0, 0)
    return Distance(*distances[strategy](truth, guess, edge_direction="from row to column"))


def _pairs(targets: Mapping[Any, Iterable[Hashable]]) -> set[tuple[Any, Hashable]]:
    if not isinstance(targets, Mapping):
        raise OptionError(f"Targets are a mapping from labels to lists of variables, not {shown(targets)}.")
    return {(label, each) for label, variables in targets.items() for each in entries("targets", variables)}


def _sets(targets: TargetSets) -> Iterable[Collection[int]]:
    return targets.values() if isinstance(targets, Mapping) else targets


def _same_size(true: ArrayLike, found: ArrayLike) -> tuple[Graph, Graph]:
    if issparse(true) or issparse(found):
        true, found = _as_sparse(true), _as_sparse(found)
    first, second = encoded(true), encoded(found)
    if first.shape != second.shape:
        raise GraphError(
            f"The graphs have {first.shape[0]} and {second.shape[0]} nodes; compare graphs on the same nodes."
        )
    return first, second


def _as_sparse(graph: ArrayLike) -> ArrayLike:
    return graph if issparse(graph) else csr_array(encoded(graph))


def _adjacent_pairs(graph: Graph) -> NDArray[np.int64]:
    """Return the adjacent pairs, each encoded as one number."""
    rows, columns = graph.nonzero()
    low, high = np.minimum(rows, columns).astype(np.int64), np.maximum(rows, columns).astype(np.int64)
    pairs: NDArray[np.int64] = np.unique((low * graph.shape[0] + high)[low < high])
    return pairs


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
