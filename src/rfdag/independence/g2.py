"""The test of categories: counts in contingency tables against those expected of independent ones."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rfdag.errors import DataError, DataMessage, as_columns, keyword
from rfdag.evidence.kernels import independence as kernels
from rfdag.wording import counted

ROWS_PER_FREEDOM = 5
"""Rows per degree of freedom below which a test finds strong dependence only."""

SHRINKAGE = 0.5
"""κ / √N in a stratum of N rows: how much is added to the sums of rows and columns that differences are divided by.

Without it, one row in a cell where hardly any is expected decides a test. Chosen among 0, ½, 1 and 2, on seeds 4712 and
4713, by size at levels .05, .01 and .001, and by power: ½ has the best sizes, and 1 and 2 hardly more power. Where the
levels of both variables are equally frequent, it changes nothing.
"""

MOST_CODES = 1000
"""Different codes of a column above which it is no category."""


class G2:
    """A test of independence in every stratum of the others, for categories as integer codes.

    The statistic is Pearson's X² with rare levels weighed down, summed over strata. Its mean and variance over all
    permutations within strata are known exactly, however sparse the cells; the p-value is that of the gamma
    distribution with this mean and variance. Where cells are full and levels equally frequent, this is the χ² test.
    The likelihood ratio G², from which the name comes, has such a distribution only where cells are full.

    R. Kazi-Aoual, S. Hitier, R. Sabatier, J.-D. Lebreton: Refined approximations to permutation tests for multivariate
    inference, Computational Statistics & Data Analysis 1995. J. Josse, J. Pagès, F. Husson: Testing the significance of
    the RV coefficient, Computational Statistics & Data Analysis 2008.

    Parameters
    ----------
    rows
        The data, one row per sample: whole numbers, each a category.
    names
        The names of the columns.
    seed
        Not used: there is no chance in it.

    Examples
    --------
    >>> coins = np.random.default_rng(1).integers(2, size=(500, 2))
    >>> test = G2(np.column_stack([coins, coins.sum(axis=1)]))
    >>> test(0, 1, ()) > 0.05, test(0, 1, (2,)) < 1e-6
    (True, True)
    """

    def __init__(self, rows: NDArray[Any], names: Sequence[Hashable] = (), seed: int = 0) -> None:
        rows = np.asarray(rows)
        names = names or range(rows.shape[1])
        broken = [name for name, column in zip(names, rows.T, strict=True) if (column != np.round(column)).any()]
        if broken:
            raise DataError(
                f"{keyword('test', 'g2')} takes categories as whole numbers, and {as_columns(broken)} hold others. "
                "Encode each category as a whole number, or choose another test."
            )
        found = [np.unique(column, return_inverse=True) for column in rows.T]
        many = [name for name, (values, _) in zip(names, found, strict=True) if len(values) > MOST_CODES]
        if many:
            raise DataError(
                f"{keyword('test', 'g2')} takes categories, and {as_columns(many)} have more than {MOST_CODES} "
                "different values. Group these, or choose another test."
            )
        self._codes = np.array([codes.ravel() for _, codes in found], np.int64)
        self._sizes = np.array([len(values) for values, _ in found], np.int64)
        self._lock = threading.Lock()
        self._tests = 0
        self._sparse = 0

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        found = np.empty(5)
        kernels.contingency(self._codes, self._sizes, i, j, np.array(given, np.int64), SHRINKAGE, found)
        statistic, mean, variance, freedom, untested = found.tolist()
        n = self._codes.shape[1]
        with self._lock:
            self._tests += 1
            self._sparse += n < ROWS_PER_FREEDOM * freedom or 2 * untested > n
        if not variance:
            return 1.0
        return float(chdtrc(2 * mean * mean / variance, max(statistic, 0.0) * 2 * mean / variance))

    def warnings(self) -> tuple[str, ...]:
        """Return how often cells were sparse, if they were."""
        if not self._sparse:
            return ()
        return (
            DataMessage(
                f"In {self._sparse} of {counted(self._tests, 'test')} there were fewer than {ROWS_PER_FREEDOM} rows "
                "per degree of freedom, or most rows were alone or in pairs in their stratum: such tests find strong "
                "dependence only, and edges may be missing. Use more rows, fewer categories, or smaller conditioning "
                "sets."
            ),
        )
