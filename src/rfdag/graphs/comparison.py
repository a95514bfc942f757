"""A found graph beside the true one, pair by pair: what pictures and the report show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import GraphError, listed
from rfdag.graphs.dag import as_dag
from rfdag.graphs.sparse import entries_at, issparse
from rfdag.metrics import equivalence_class

if TYPE_CHECKING:
    from rfdag.result import Result
    from rfdag.result.exporting import Kind

VERDICTS = ("right", "missing", "extra", "turned")
ARROWS = np.array(["", "target", "source", "none"])
"""By how a pair is joined: not, forwards, backwards, or without direction."""


class Comparison(NamedTuple):
    """The pairs joined in either graph, by place in the order.

    ``wanted`` and ``found`` tell how a pair is joined: 0 not, 1 by an arrow forwards, 2 backwards, 3 without direction.
    """

    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    verdict: NDArray[np.str_]
    wanted: NDArray[np.int64]
    found: NDArray[np.int64]

    @property
    def arrow(self) -> NDArray[np.str_]:
        """The end at which the pair's arrow has its head, as found; of missing pairs, as in the truth."""
        heads: NDArray[np.str_] = ARROWS[np.where(self.found == 0, self.wanted, self.found)]
        return heads


def comparison(result: Result, truth: Any, graph: Kind = "cpdag") -> Comparison:
    """Return the verdict on every pair that is joined in either graph.

    Equivalence classes are compared for "cpdag", so that the mistakes add up to the structural Hamming distance; the
    DAGs themselves for "dag".

    >>> import rfdag
    >>> found = rfdag.learn([[0, 1, 1], [0, 0, 0], [0, 0, 0]], input="dag")
    >>> sorted(comparison(found, [[0, 1, 0], [0, 0, 0], [0, 0, 0]]).verdict.tolist())
    ['extra', 'right']
    """
    matrix = matrix_of(result, truth)
    wanted, found = (
        (as_dag(matrix), result.dag) if graph == "dag" else (equivalence_class(matrix), result.cpdag)
    )  # fmt: skip
    if wanted.shape != found.shape:
        raise GraphError(
            f"The truth has {wanted.shape[0]} nodes and the result {found.shape[0]}; compare graphs on the same nodes."
        )
    order, rank = result.causal_order, np.argsort(result.causal_order)
    pairs = np.unique(np.concatenate([_pairs(wanted, rank), _pairs(found, rank)]), axis=0)
    earlier, later = order[pairs].T
    expected, got = _joined(wanted, earlier, later), _joined(found, earlier, later)
    verdict = np.select([expected == got, got == 0, expected == 0], ["right", "missing", "extra"], "turned")
    return Comparison(pairs[:, 0], pairs[:, 1], verdict, expected, got)


def matrix_of(result: Result, truth: Any) -> Any:
    """Return the truth, be it a matrix or have it names, as a matrix in the order of the result's columns."""
    names = getattr(truth, "names", None)
    if names is None:
        return truth
    matrix = truth.dag if hasattr(truth, "dag") else truth.matrix
    of_truth, of_result = set(names), set(result.names)
    lacking = {
        "truth": [name for name in result.names if name not in of_truth],
        "result": [name for name in names if name not in of_result],
    }
    if any(lacking.values()):
        found = ", ".join(f"the {side} lacks {listed(missing)}" for side, missing in lacking.items() if missing)
        raise GraphError(f"{found[0].upper()}{found[1:]}; compare graphs on the same variables.")
    place = {name: at for at, name in enumerate(names)}
    into = np.array([place[name] for name in result.names])
    return matrix.tocsr()[into][:, into] if issparse(matrix) else matrix[np.ix_(into, into)]


def _pairs(graph: Any, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the joined pairs, by place, the earlier first."""
    ends: NDArray[np.int64] = np.sort(np.stack([rank[end] for end in graph.nonzero()], axis=1), axis=1)
    return ends


def _joined(graph: Any, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 for pairs that are not joined, 1 for arrows forwards, 2 for backwards, 3 for no direction."""
    forwards, backwards = entries_at(graph, earlier, later), entries_at(graph, later, earlier)
    return np.select([forwards == 2, forwards == 1, backwards == 1], [3, 1, 2], 0)
