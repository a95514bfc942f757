"""Rulers: graphs that no contender learned, to read the others' numbers by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.graphs.dag import Graph, topological_order
from rfdag.orders.scores import ScoredOrder
from rfdag.studies.bench.interventional import Experiment

Floats = NDArray[np.float64]

RULERS = ("true order", "R² order", "empty graph", "complete graph")


def true_order(rows: Floats, true: Graph) -> Graph:
    """Return the DAG that grow–shrink by BIC finds on the true order: what the data would allow."""
    return _parents_along(topological_order(true), rows)


def r2_order(rows: Floats) -> Graph:
    """Return the DAG on the order of R², least first: what an artefact of simulated data gives away for nothing.

    R² is the share of a variable's variance that all others explain together. With no more rows than variables they
    explain everything, and the correlation is first shrunk towards the identity: a ridge regression.

    References
    ----------
    A. Reisach, M. Tami, C. Seiler, A. Chambaz, S. Weichwald: A scale-invariant sorting criterion to find a causal
    order in additive noise models, NeurIPS 2023.
    """
    n, p = rows.shape
    moments = Moments.from_data(rows)
    if n > p + 1:
        # The diagonal of the inverse correlation through its factor, which loses fewer digits.
        precision = (np.linalg.inv(moments.factor) ** 2).sum(axis=1)
    else:
        precision = np.diag(np.linalg.inv((n * moments.correlation + p * np.eye(p)) / (n + p)))
    unexplained = 1 / precision
    return _parents_along(np.argsort(-unexplained, kind="stable"), rows)


def empty(rows: Floats) -> Graph:
    """Return no edge at all."""
    return np.zeros((rows.shape[1], rows.shape[1]), np.int8)


def complete(rows: Floats) -> Graph:
    """Return every edge there can be."""
    return np.triu(np.ones((rows.shape[1], rows.shape[1]), np.int8), 1)


def true_order_in_environments(experiment: Experiment, true: Graph) -> Graph:
    """Return the DAG that grow–shrink by BIC finds on the true order, each variable by the rows that do not target it.

    A variable that is targeted in every environment has no parents.
    """
    order, found = topological_order(true), empty(experiment.rows)
    nodes_of: dict[tuple[str, ...], list[int]] = {}
    for node in range(len(true)):
        left_alone = tuple(label for label, columns in experiment.targets.items() if node not in columns)
        nodes_of.setdefault(left_alone, []).append(node)
    for labels, nodes in nodes_of.items():
        if labels:
            found[:, nodes] = _parents_along(order, experiment.among(list(labels)))[:, nodes]
    return found


LARGE_P = 200
"""Variables beyond which the true order is no ruler of experiments: each variable takes an order of its own rows."""


def names_in_environments(p: int) -> list[str]:
    """Return the names of the rulers of data with experiments."""
    return ["true order", "empty graph"] if p <= LARGE_P else ["empty graph"]


def lay_in_environments(experiment: Experiment, true: Graph) -> dict[str, Graph]:
    """Return the rulers of data with experiments by name, those that `names_in_environments` lists."""
    known = {"true order": true_order_in_environments(experiment, true)} if len(true) <= LARGE_P else {}
    return known | {"empty graph": empty(experiment.rows)}


OF_ORDERS = ("true order", "R² order")
"""Those that choose parents by BIC: for complete columns of numbers only."""


def names(true: Graph | None, *, numbers: bool = True) -> list[str]:
    """Return the names of a data set's rulers: that of the true order only where the truth is known.

    Without ``numbers``, where columns are categories or have gaps, there are none that need the rows.
    """
    left_out = () if numbers and true is not None else ("true order",) if numbers else OF_ORDERS
    return [name for name in RULERS if name not in left_out]


def lay(rows: Floats, true: Graph | None, *, numbers: bool = True) -> dict[str, Graph]:
    """Return the rulers of a data set by name, those that `names` lists."""
    known = {} if true is None or not numbers else {"true order": true_order(rows, true)}
    if numbers:
        known["R² order"] = r2_order(rows)
    return known | {"empty graph": empty(rows), "complete graph": complete(rows)}


def _parents_along(order: NDArray[np.int64], rows: Floats) -> Graph:
    return ScoredOrder(SharedMoments(Moments.from_data(rows).correlation, len(rows)), order).dag
