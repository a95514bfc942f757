"""The found graph compared with the true one, pair by pair, for plots and the report."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import GraphError, listed
from rfdag.graphs.dag import Graph, find_cycle
from rfdag.graphs.equivalence import encoded
from rfdag.graphs.sparse import entries_at, issparse

VERDICTS = ("right", "missing", "extra", "reversed")
"""The verdict on a pair; "reversed" is any wrong direction, also a direction where the true edge has none."""

ARROWS = np.array(["", "target", "source", "none"])
"""The end with the arrowhead, by the kind of a pair's edge: none, forwards, backwards, undirected."""


class Comparison(NamedTuple):
    """The pairs adjacent in either graph, by place in the order.

    ``wanted`` and ``found`` are the kinds of a pair's edge: 0 none, 1 forwards, 2 backwards, 3 undirected.
    """

    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    verdict: NDArray[np.str_]
    wanted: NDArray[np.int64]
    found: NDArray[np.int64]

    @property
    def arrow(self) -> NDArray[np.str_]:
        """The end with the arrowhead, in the found graph; of missing pairs, in the true graph."""
        heads: NDArray[np.str_] = ARROWS[np.where(self.found == 0, self.wanted, self.found)]
        return heads


def comparison(truth: ArrayLike, found: ArrayLike, order: NDArray[np.int64]) -> Comparison:
    """Return the verdict on every pair that is adjacent in either graph.

    Parameters
    ----------
    truth, found
        Two DAGs, or two equivalence classes, whose mistakes add up to the structural Hamming distance; full or sparse.
    order
        The found order; pairs are given by their places in it.

    Examples
    --------
    >>> found = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    >>> comparison([[0, 1, 0], [0, 0, 0], [0, 0, 0]], found, np.arange(3)).verdict
    array(['right', 'extra'], dtype='<U8')
    """
    wanted: Any = encoded(truth)
    given: Any = found if issparse(found) else np.asarray(found)
    if wanted.shape != given.shape:
        raise GraphError(
            f"The truth has {wanted.shape[0]} nodes and the result {given.shape[0]}; compare graphs on the same nodes."
        )
    rank = np.argsort(order)
    pairs = np.unique(np.concatenate([_pairs(wanted, rank), _pairs(given, rank)]), axis=0)
    earlier, later = order[pairs].T
    expected, got = _edge_kinds(wanted, earlier, later), _edge_kinds(given, earlier, later)
    verdict = np.select([expected == got, got == 0, expected == 0], ["right", "missing", "extra"], "reversed")
    return Comparison(pairs[:, 0], pairs[:, 1], verdict, expected, got)


def aligned(truth: Any, names: Sequence[Hashable]) -> Any:
    """Return the true graph as a matrix with rows and columns in the order of ``names``.

    ``truth`` is a matrix, which is in that order already, or an object with ``names`` and a ``dag`` or ``matrix``, such
    as a `NamedGraph` or another result.
    """
    matrix = getattr(truth, "dag", getattr(truth, "matrix", None))
    if matrix is None or not hasattr(truth, "names"):
        return _checked(truth, len(names))
    given = truth.names
    known, needed = set(given), set(names)
    lacking = {
        "truth": [name for name in names if name not in known],
        "result": [name for name in given if name not in needed],
    }
    if any(lacking.values()):
        found = ", ".join(f"the {side} lacks {listed(missing)}" for side, missing in lacking.items() if missing)
        raise GraphError(f"{found[0].upper()}{found[1:]}; compare graphs on the same variables.")
    place = {name: at for at, name in enumerate(given)}
    into = np.array([place[name] for name in names])
    return matrix.tocsr()[into][:, into] if issparse(matrix) else matrix[np.ix_(into, into)]


def _checked(truth: Any, size: int) -> Graph:
    """Return a true graph in the encoding of `rfdag.graphs`; raise unless it has so many nodes and no cycle."""
    matrix = encoded(truth)
    if matrix.shape[0] != size:
        raise GraphError(f"The truth has {matrix.shape[0]} nodes and the result {size}; compare graphs on the same.")
    loops = np.flatnonzero(matrix.diagonal()).tolist()
    cycle = loops[:1] * 2 if loops else find_cycle(matrix == 1)
    if cycle:
        arrows = " → ".join(repr(node) for node in cycle)
        raise GraphError(f"The truth has the cycle {arrows}. Remove or reverse one of these edges.")
    return matrix


def _pairs(graph: Any, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the adjacent pairs, by place, the earlier first."""
    ends: NDArray[np.int64] = np.sort(np.stack([rank[end] for end in graph.nonzero()], axis=1), axis=1)
    return ends


def _edge_kinds(graph: Any, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each pair's edge: 0 not adjacent, 1 forwards, 2 backwards, 3 undirected."""
    forwards, backwards = entries_at(graph, earlier, later), entries_at(graph, later, earlier)
    return np.select([forwards == 2, forwards == 1, backwards == 1], [3, 1, 2], 0)
