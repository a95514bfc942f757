"""Rows of additive models with nonlinear effects, which partial correlations see in part or not at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph, topological_order

Floats = NDArray[np.float64]
Generator = np.random.Generator


def sigmoid(values: Floats, generator: Generator) -> Floats:
    """Return b(x + c) / (1 + |b(x + c)|) for random b and c: Bühlmann, Peters and Ernest's (2014) curves."""
    steepness = generator.uniform(0.5, 2.0) * generator.choice([-1, 1])
    moved = steepness * (values + generator.uniform(-2.0, 2.0))
    bent: Floats = moved / (1 + np.abs(moved))
    return bent


def quadratic(values: Floats, generator: Generator) -> Floats:
    """Return (x + c)² for a random c: where the vertex is near the mean, there is no correlation."""
    squared: Floats = (values + generator.uniform(-1.0, 1.0)) ** 2
    return squared


CURVES: dict[str, Callable[[Floats, Generator], Floats]] = {"sigmoid": sigmoid, "quadratic": quadratic}
"""The curves by name."""


def additive_sample(dag: Graph, n: int, curve: str, generator: Generator) -> Floats:
    """Return rows in which each variable is a sum of curves of its parents, and noise.

    A curve has unit variance times a weight from ±[.7, 1.5], the noise is Gaussian with unit variance; each variable is
    standardised before its children are drawn, so that variances do not tell the order.

    >>> additive_sample(np.array([[0, 1], [0, 0]]), 5, "sigmoid", np.random.default_rng(3)).shape
    (5, 2)
    """
    rows = np.zeros((n, len(dag)))
    for node in topological_order(dag):
        total = generator.normal(size=n)
        for parent in np.flatnonzero(dag[:, node]):
            bent = CURVES[curve](rows[:, parent], generator)
            weight = generator.uniform(0.7, 1.5) * generator.choice([-1, 1])
            total += weight * (bent - bent.mean()) / bent.std()
        rows[:, node] = (total - total.mean()) / total.std()
    return rows
