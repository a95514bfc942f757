"""Strictly monotone maps of columns: what a scale that somebody chose may do to a Gaussian variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

Floats = NDArray[np.float64]

MAPS: dict[str, Callable[[Floats], Floats]] = {
    "cube": lambda x: x**3,
    "exponential": np.exp,
    "wide exponential": lambda x: np.exp(2 * x),
    "hyperbolic sine": lambda x: np.sinh(2 * x),
    "signed root": lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    "logistic": lambda x: expit(3 * x),
    "cumulative": ndtr,
    "none": lambda x: x,
}
"""Increasing maps of standardised columns, by name."""


def monotone(rows: Floats, generator: np.random.Generator) -> Floats:
    """Return the rows with every column standardised and passed through a random map; half of them decrease.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> sorted_rows = np.sort(rows, axis=0)
    >>> steps = np.diff(monotone(sorted_rows, np.random.default_rng(1)), axis=0)
    >>> bool(((steps > 0).all(axis=0) | (steps < 0).all(axis=0)).all())
    True
    """
    standardised = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    columns = []
    for column in standardised.T:
        kind = list(MAPS)[generator.integers(len(MAPS))]
        columns.append(MAPS[kind](column) * generator.choice([-1.0, 1.0]))
    return np.column_stack(columns)
