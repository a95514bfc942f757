"""The G² test of categories: likelihood ratios in contingency tables."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from rfdag.errors import DataError, DataMessage, as_columns, keyword
from rfdag.wording import counted

ROWS_PER_FREEDOM = 5
"""Rows per degree of freedom below which cells are too sparse for the distribution of G²."""

MOST_CODES = 1000
"""Different codes of a column above which it is no category."""


class G2:
    """The likelihood-ratio test of independence in every stratum of the others, for categories as integer codes.

    Only rows and columns of a stratum's table that occur in it count as degrees of freedom.

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
        self._codes = np.column_stack([codes.ravel() for _, codes in found])
        self._sizes = [len(values) for values, _ in found]
        self._lock = threading.Lock()
        self._tests = 0
        self._sparse = 0

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        strata = np.zeros(len(self._codes), np.int64)
        for other in given:
            # Numbered anew each time: the strata that occur are no more than the rows, whatever could occur.
            strata = np.unique(strata * self._sizes[other] + self._codes[:, other], return_inverse=True)[1].ravel()
        shape = int(strata.max()) + 1, self._sizes[i], self._sizes[j]
        place = (strata * shape[1] + self._codes[:, i]) * shape[2] + self._codes[:, j]
        cells, counts = np.unique(place, return_counts=True)
        of_i, of_j, of_stratum = (
            cells // shape[2],
            cells // (shape[1] * shape[2]) * shape[2] + cells % shape[2],
            (cells // (shape[1] * shape[2])),
        )
        sums = [np.bincount(where, counts, minlength=1) for where in (of_i, of_j, of_stratum)]
        expected = sums[0][of_i] * sums[1][of_j] / sums[2][of_stratum]
        statistic = 2 * float(xlogy(counts, counts / expected).sum())
        levels = [
            np.bincount(np.unique(where) // size, minlength=shape[0])
            for where, size in ((of_i, shape[1]), (of_j, shape[2]))
        ]
        freedom = int(((levels[0] - 1) * (levels[1] - 1)).sum())
        with self._lock:
            self._tests += 1
            self._sparse += len(self._codes) < ROWS_PER_FREEDOM * freedom
        return float(chdtrc(freedom, max(statistic, 0.0))) if freedom else 1.0

    def warnings(self) -> tuple[str, ...]:
        """Return how often cells were too sparse, if they were."""
        if not self._sparse:
            return ()
        return (
            DataMessage(
                f"In {self._sparse} of {counted(self._tests, 'test')} there were fewer than {ROWS_PER_FREEDOM} rows "
                "per degree of freedom: cells were too sparse for G², and edges may be missing. Use more rows, fewer "
                "categories, or smaller conditioning sets."
            ),
        )
