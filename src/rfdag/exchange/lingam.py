"""Matrices of lingam: coefficients with the effect first, and an order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import GraphError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.graphs.dag import check_order, square, topological_order
from rfdag.graphs.sparse import issparse
from rfdag.values import entries, numbers

MOST_NODES = 10_000
"""Nodes up to which a sparse graph is converted to a full matrix, which then takes 800 MB."""


class LingamGraph(NamedTuple):
    """What lingam's fitted models have, under the same names.

    ``adjacency_matrix_[i, j]`` is the coefficient of j in the equation of i, so that j → i; ``causal_order_`` lists
    columns, a source first.
    """

    adjacency_matrix_: NDArray[np.float64]
    causal_order_: list[int]


def to_lingam(
    graph: NamedGraph, coefficients: NDArray[np.float64] | None = None, order: Sequence[int] | None = None
) -> LingamGraph:
    """Return a DAG in lingam's form, where i → j stands at [j, i]: the effect is the row, the cause the column.

    ``coefficients`` (row → column) are ones unless given, and ``order`` is a topological order. A CPDAG raises an
    error: lingam has no undirected edges.

    >>> to_lingam(NamedGraph.of_edges("ab", [("a", "b")])).adjacency_matrix_
    array([[0., 0.],
           [1., 0.]])
    """
    named(graph).require_dag("lingam")
    weights: Any = graph.matrix if coefficients is None else coefficients
    p = len(graph.names)
    if issparse(weights):
        if len(graph.names) > MOST_NODES:
            raise GraphError(
                f"lingam has full matrices, and one of {len(graph.names)} × {len(graph.names)} is too large; write the "
                "edges with to_csv instead."
            )
        weights = weights.toarray()
    weights = numbers("coefficients", weights)
    if weights.shape != (p, p):
        raise GraphError(f"Found coefficients of shape {weights.shape} for {p} variables; pass a matrix, row → column.")
    places = topological_order(graph.matrix).tolist() if order is None else check_order(order, p)
    return LingamGraph(weights.T, places)


def from_lingam(model: Any, names: Sequence[Hashable] | None = None) -> NamedGraph:
    """Return the DAG of a fitted model of lingam, or of its adjacency matrix: [i, j] ≠ 0 means j → i.

    Nodes are numbered unless ``names`` are given. NaN, which lingam uses for pairs with a hidden common cause, raises
    an error.

    >>> from_lingam([[0, 0], [0.7, 0]], names=["a", "b"]).directed
    [('a', 'b')]
    """
    weights = square(getattr(model, "adjacency_matrix_", model), missing=True).astype(np.float64)
    labels = tuple(range(len(weights))) if names is None else entries("names", names)
    if weights.shape != (len(labels), len(labels)):
        raise GraphError(f"Found {len(labels)} names and an array of shape {weights.shape}; pass one name per row.")
    hidden = np.isnan(weights)
    if hidden.any():
        i, j = np.argwhere(hidden)[0]
        raise GraphError(
            f"The coefficient between {labels[i]!r} and {labels[j]!r} is NaN, which in lingam marks a hidden common "
            "cause; a DAG cannot represent it. Set these entries to 0, or choose a direction for them."
        )
    return NamedGraph(labels, (weights.T != 0).astype(np.int8))
