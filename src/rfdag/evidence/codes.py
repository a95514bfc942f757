"""Whole numbers of few values: amounts, or codes of categories, whose groups do not lie on a line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

Floats = NDArray[np.float64]

FEW_VALUES = 10
"""Different values up to which a column has few."""

LIKE_CODES = 4
"""Different whole numbers up to which they may be codes even if nothing else shows it; two are always on a line."""

OFF_THE_LINE = 0.1
"""Share of another column's variance that the groups explain beyond a line, from which numbers are codes.

Chosen on 120 columns of seed 0, other than those that benchmarks/health.py reports: cut from Gaussian columns, at most
0.03; codes in any order, in nine of ten more than 0.17.
"""

ON_THE_LINE = 0.05
"""Share that the line itself explains, from which numbers of 3 or 4 values act as amounts, if none is off."""

LEVEL = 0.01
"""Chance of taking an amount for codes, or the reverse (Bonferroni over the other columns)."""

MOST_LOOKED_AT = 200
"""Columns of few values that are looked at, for the time that it takes; others are not reported."""


def look_like_codes(column: NDArray[Any], scores: NDArray[Any]) -> bool:
    """Return whether whole numbers of few values look like codes of categories.

    Parameters
    ----------
    column
        The numbers, of some rows.
    scores
        Other columns for the same rows, one in each row of the matrix, centred and of length 1.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> region = generator.integers(1, 5, size=400)
    >>> height = np.array([3.0, 0.0, 4.0, 1.0])[region - 1] + generator.normal(size=400)
    >>> steps = region + generator.normal(size=400)
    >>> scores = np.array([height - height.mean(), steps - steps.mean()])
    >>> scores /= np.linalg.norm(scores, axis=1)[:, None]
    >>> look_like_codes(region, scores), look_like_codes(region, scores[1:])
    (True, False)
    """
    values, places = np.unique(column, return_inverse=True)
    groups = len(values)
    if groups < 3:
        return False
    if not len(scores):
        return groups <= LIKE_CODES
    basis = np.column_stack([column - column.mean(), *(places == at for at in range(1, groups - 1))]).astype(np.float64)
    basis -= basis.mean(axis=0)
    shares = (np.linalg.qr(basis)[0].T @ scores.T) ** 2
    chance = LEVEL / len(scores)
    beyond = max(OFF_THE_LINE, float(chdtri(groups - 2, chance)) / len(column))
    along = max(ON_THE_LINE, float(chdtri(1, chance)) / len(column))
    if shares[1:].sum(axis=0).max() > beyond:
        return True
    return groups <= LIKE_CODES and bool(shares[0].max() < along)
