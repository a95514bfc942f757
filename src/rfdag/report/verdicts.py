"""The found graph beside the true one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from rfdag import metrics
from rfdag.errors import GraphError, listed
from rfdag.graphs.sparse import entries_at
from rfdag.report.rounding import rounded

if TYPE_CHECKING:
    from rfdag.result import Result

INTERVENTIONS_UP_TO = 200
"""Number of variables up to which interventional distances are computed."""
MOST_SHOWN = 20_000
JOINED = ("", "→", "←", "–")


def against_truth(result: Result, truth: Any) -> dict[str, Any]:
    """Return scores, and every pair that the two equivalence classes join, with a verdict.

    >>> import rfdag
    >>> found = rfdag.learn([[0, 1, 1], [0, 0, 0], [0, 0, 0]], input="dag")
    >>> compared = against_truth(found, [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> compared["counts"], compared["missing"]
    ({'right': 1, 'missing': 0, 'extra': 1, 'turned': 0}, [])
    """
    matrix = _matrix_of(result, truth)
    wanted, found = metrics.equivalence_class(matrix), result.cpdag
    if wanted.shape != found.shape:
        raise GraphError(
            f"The truth has {wanted.shape[0]} nodes and the result {found.shape[0]}; compare graphs on the same nodes."
        )
    earlier, later = _pairs(wanted, found, result.causal_order)
    expected, got = _joined(wanted, earlier, later), _joined(found, earlier, later)
    verdict = np.select([expected == got, got == 0, expected == 0], ["right", "missing", "extra"], "turned")
    wrong = np.flatnonzero(verdict != "right")
    lost = verdict == "missing"
    return {
        "scores": _scores(result, matrix),
        "counts": {name: int((verdict == name).sum()) for name in ("right", "missing", "extra", "turned")},
        "verdicts": [
            [int(earlier[at]), int(later[at]), str(verdict[at]), JOINED[expected[at]], JOINED[got[at]]]
            for at in wrong[:MOST_SHOWN]
        ],
        "missing": np.column_stack([earlier[lost], later[lost]]).tolist(),
    }


def _pairs(wanted: Any, found: Any, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs joined in either graph, that which comes earlier in the order first."""
    rank = np.argsort(order)
    ends = [np.sort(np.stack([rank[end] for end in graph.nonzero()], axis=1), axis=1) for graph in (wanted, found)]
    pairs: NDArray[np.int64] = order[np.unique(np.concatenate(ends), axis=0)].T
    return pairs


def _joined(graph: Any, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 for pairs that are not joined, 1 for arrows forwards, 2 for backwards, 3 for no direction."""
    forwards, backwards = entries_at(graph, earlier, later), entries_at(graph, later, earlier)
    return np.select([forwards == 2, forwards == 1, backwards == 1], [3, 1, 2], 0)


def _matrix_of(result: Result, truth: Any) -> Any:
    """Return the truth as a matrix in the order of the result's columns, sparse where the result is."""
    names = getattr(truth, "names", None)
    if names is not None:
        matrix = truth.dag if hasattr(truth, "dag") else truth.matrix
        odd = set(names) ^ set(result.names)
        if odd:
            raise GraphError(f"Only one of truth and result has {listed(odd)}; compare graphs on the same variables.")
        place = {name: at for at, name in enumerate(names)}
        into = np.array([place[name] for name in result.names])
        truth = matrix.tocsr()[into][:, into] if issparse(matrix) else np.asarray(matrix)[np.ix_(into, into)]
    if issparse(result.dag) and not issparse(truth):
        return csr_array(np.asarray(truth))
    return truth.toarray() if issparse(truth) and not issparse(result.dag) else truth


def _scores(result: Result, truth: Any) -> list[list[Any]]:
    """Return names, values and meanings of the usual scores."""
    skeleton = metrics.skeleton(truth, result.dag)
    rows: list[list[Any]] = [
        ["SHD", metrics.shd(truth, result.cpdag), "pairs joined differently in the equivalence classes"],
        ["F1", skeleton.f1, "of the adjacencies"],
        ["TPR", skeleton.tpr, "true adjacencies found"],
        ["FPR", skeleton.fpr, "absent adjacencies found"],
        ["precision", skeleton.precision, "found adjacencies that are true"],
        [
            "order error",
            metrics.order_error(truth, result.causal_order),
            "compelled true edges turned round",
        ],
    ]
    directed = not issparse(truth) and not bool((np.asarray(truth) == 2).any())
    if directed and len(result.names) <= INTERVENTIONS_UP_TO:
        rows.append(["SID", metrics.sid(truth, result.dag).mistakes, "interventions predicted wrongly by the DAG"])
        rows.append(
            ["ancestor AID", metrics.aid(truth, result.dag).mistakes, "effects wrongly adjusted for by the DAG"]
        )
    return [
        [name, value if isinstance(value, int) else None if math.isnan(value) else rounded([value])[0], meaning]
        for name, value, meaning in rows
    ]
