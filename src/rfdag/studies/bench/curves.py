"""Additive models whose effects are curves that a basis of few functions fits, and linear ones to compare with.

The sigmoids and parabolas are those of `additive`, whose source is part of what names the results of a study.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph, topological_order
from rfdag.studies.bench import additive

Floats = NDArray[np.float64]
Generator = np.random.Generator

FEATURES = 100
"""Random cosines whose sum stands for a draw of a Gaussian process."""


def gaussian_process(values: Floats, generator: Generator) -> Floats:
    """Return a smooth random function: about a draw of a Gaussian process whose kernel has bandwidth 1.

    >>> grid = np.linspace(-2, 2, 5)
    >>> gaussian_process(grid, np.random.default_rng(1)).shape
    (5,)
    """
    frequencies, phases = generator.normal(size=FEATURES), generator.uniform(0, 2 * np.pi, FEATURES)
    heights = generator.normal(size=FEATURES)
    drawn: Floats = np.cos(np.outer(values, frequencies) + phases) @ heights * np.sqrt(2 / FEATURES)
    return drawn


def line(values: Floats, generator: Generator) -> Floats:
    """Return the values as they are."""
    return values


SMOOTH: dict[str, Callable[[Floats, Generator], Floats]] = {
    "sigmoid": additive.sigmoid,
    "quadratic": additive.quadratic,
    "gaussian-process": gaussian_process,
    "linear": line,
}
"""The curves by name."""


def curved_sample(dag: Graph, n: int, curve: str, generator: Generator) -> Floats:
    """Return rows in which each variable is a sum of curves of its parents, and noise.

    As in `additive_sample`, a curve has unit variance times a weight from ±[.7, 1.5], the noise is Gaussian with unit
    variance, and each variable is standardised before its children are drawn. With lines instead of curves, such
    weights are those of a linear model.

    >>> curved_sample(np.array([[0, 1], [0, 0]]), 5, "linear", np.random.default_rng(3)).shape
    (5, 2)
    """
    rows = np.zeros((n, len(dag)))
    for node in topological_order(dag):
        total = generator.normal(size=n)
        for parent in np.flatnonzero(dag[:, node]):
            bent = SMOOTH[curve](rows[:, parent], generator)
            weight = generator.uniform(0.7, 1.5) * generator.choice([-1, 1])
            total += weight * (bent - bent.mean()) / bent.std()
        rows[:, node] = (total - total.mean()) / total.std()
    return rows
