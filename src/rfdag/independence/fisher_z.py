"""Fisher's z-test on partial correlations: for linear relations with Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rfdag.errors import DataError, keyword

LEAST_VARIANCE = 1e-13
"""Residual share of its variance below which a variable counts as determined by others: the size of rounding errors."""


class PartialCorrelation:
    """Fisher's z-test of a partial correlation.

    Parameters
    ----------
    rows
        The data, one row per sample.
    names
        The names of the columns.
    seed
        Not used: there is no chance in it.

    Examples
    --------
    >>> cause = np.random.default_rng(1).normal(size=200)
    >>> noise = np.random.default_rng(2).normal(size=(200, 2))
    >>> test = PartialCorrelation(np.column_stack([cause, cause + noise[:, 0], cause + noise[:, 1]]))
    >>> test(1, 2, ()) < 1e-6, test(1, 2, (0,)) > 0.05
    (True, True)
    """

    def __init__(self, rows: NDArray[Any], names: Sequence[Hashable] = (), seed: int = 0) -> None:
        self._count = len(rows)
        self._correlation = np.corrcoef(rows, rowvar=False)

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        freedom = self._count - len(given) - 3
        if freedom <= 0:
            raise DataError(
                f"{self._count} rows are too few to test a pair given {len(given)} others, which needs more than "
                f"{len(given) + 3}. Use more rows, fewer columns, or {keyword('conditioning', 'blanket')}."
            )
        pair, others = [i, j], list(given)
        covariance = self._correlation[np.ix_(pair, pair)]
        if given:
            across = self._correlation[np.ix_(others, pair)]
            # A pseudo-inverse: columns to condition on may repeat each other.
            covariance = covariance - across.T @ np.linalg.pinv(self._correlation[np.ix_(others, others)]) @ across
        variances = covariance[0, 0], covariance[1, 1]
        if min(variances) < LEAST_VARIANCE:
            # Determined by the others: no row tells whether the pair is independent, and an edge is dropped only if
            # independence was found.
            return 0.0
        size = min(abs(covariance[0, 1]) / math.sqrt(variances[0] * variances[1]), 1 - 1e-15)
        return float(2 * ndtr(-math.sqrt(freedom) * math.atanh(size)))
