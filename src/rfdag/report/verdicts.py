"""The found graph beside the true one, as the page shows it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rfdag import metrics
from rfdag.graphs.comparison import VERDICTS, aligned, comparison
from rfdag.report.rounding import rounded

if TYPE_CHECKING:
    from rfdag.result import Result

INTERVENTIONS_UP_TO = 200
"""Number of variables up to which interventional distances are computed."""
MOST_SHOWN = 20_000
"""Differing pairs on the page."""
RIGHT, MISSING, *_ = VERDICTS
ADJACENT = ("", "→", "←", "–")
"""How a pair is written, by how it is adjacent."""


def against_truth(result: Result, truth: Any) -> dict[str, Any]:
    """Return scores, and every pair in which the two equivalence classes differ.

    >>> import rfdag
    >>> found = rfdag.learn([[0, 1, 1], [0, 0, 0], [0, 0, 0]], input="dag")
    >>> compared = against_truth(found, [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> list(compared["counts"].values()), compared["missing"]
    ([1, 0, 1, 0], [])
    """
    matrix = _as_stored(result, aligned(truth, result.names))
    wanted = result.alike(matrix, "icpdag")
    compared = comparison(wanted, result.icpdag, result.causal_order)
    earlier, later = result.causal_order[compared.earlier], result.causal_order[compared.later]
    wrong = np.flatnonzero(compared.verdict != RIGHT)[:MOST_SHOWN].tolist()
    return {
        "scores": _scores(result, matrix, wanted),
        "counts": {name: int((compared.verdict == name).sum()) for name in VERDICTS},
        "verdicts": [
            [
                int(earlier[at]),
                int(later[at]),
                str(compared.verdict[at]),
                ADJACENT[compared.wanted[at]],
                ADJACENT[compared.found[at]],
            ]
            for at in wrong
        ],
        "missing": [[int(earlier[at]), int(later[at])] for at in wrong if compared.verdict[at] == MISSING],
    }


def _as_stored(result: Result, truth: Any) -> Any:
    """Return the truth sparse where the result is, and full where it is not."""
    if issparse(result.dag):
        return truth if issparse(truth) else csr_array(np.asarray(truth))
    return truth.toarray() if issparse(truth) else np.asarray(truth)


def _scores(result: Result, truth: Any, wanted: Any) -> list[list[Any]]:
    """Return names, values and meanings of the usual scores; ``wanted`` is the class of the truth."""
    skeleton = metrics.skeleton(truth, result.dag)
    rows: list[list[Any]] = [
        ["SHD", metrics.shd(wanted, result.icpdag, compare="graphs"), "pairs in which the equivalence classes differ"],
        ["F1", skeleton.f1, "of the adjacencies"],
        ["TPR", skeleton.tpr, "true adjacencies found"],
        ["FPR", skeleton.fpr, "absent adjacencies found"],
        ["precision", skeleton.precision, "found adjacencies that are true"],
        [
            "order error",
            metrics.order_error(wanted, result.causal_order, compare="graphs"),
            "share of the compelled true edges that the order reverses",
        ],
    ]
    if len(result.names) <= INTERVENTIONS_UP_TO and not issparse(truth) and not (truth == 2).any():
        rows.append(["SID", metrics.sid(truth, result.dag).mistakes, "interventions that the DAG predicts wrongly"])
        rows.append(
            ["ancestor AID", metrics.aid(truth, result.dag).mistakes, "effects that the DAG adjusts for wrongly"]
        )
    return [[name, _shown(value), meaning] for name, value, meaning in rows]


def _shown(value: float) -> float | None:
    return value if isinstance(value, int) else None if math.isnan(value) else rounded([value])[0]
