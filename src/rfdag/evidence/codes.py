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

EVEN = 0.1
"""Chance below which frequencies are not those of equally frequent values.

Codes that act on nothing show by their frequencies alone. Those of counts and of answers on a scale rise to one value
and fall from it; those of codes are equal, or go up and down.
"""

VALLEY = 2.0
"""Standard deviations by which a value is less frequent than some on both sides, from which frequencies go up and down.

Chosen, as the chance above, on 200 columns each of counts, of answers and of codes (seed 5000).
"""

ENOUGH_ROWS = 100
"""Rows from which it shows that a column acts on nothing, and how frequent its values are."""

COMMON = 5
"""Rows from which a value counts as a group of its own."""

LEVEL = 0.01
"""Chance of taking any amount of a table for codes by what its groups explain (Bonferroni over pairs of columns).

It is also the chance that a line seems to explain some of a column where it does not (over the other columns).
"""

MOST_LOOKED_AT = 200
"""Columns of few values that are looked at, for the time that it takes; others are not reported."""


def look_like_codes(column: NDArray[Any], scores: NDArray[Any], among: int = 1) -> bool:
    """Return whether whole numbers of few values look like codes of categories.

    Parameters
    ----------
    column
        The numbers, of some rows.
    scores
        Other columns for the same rows, one in each row of the matrix, centred and of length 1.
    among
        How many columns are asked about in all.

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
    values, places, sizes = np.unique(column, return_inverse=True, return_counts=True)
    groups = len(values)
    if groups < 3:
        return False
    unseen = groups <= LIKE_CODES and len(column) >= ENOUGH_ROWS and not rise_and_fall(values, sizes)
    if not len(scores):
        return unseen
    # A value of few rows shows nothing of a category, and much of a single row.
    common = np.flatnonzero(sizes >= COMMON)[1:-1]
    basis = np.column_stack([column - column.mean(), *(places == at for at in common)]).astype(np.float64)
    basis -= basis.mean(axis=0)
    shares = (np.linalg.qr(basis)[0].T @ scores.T) ** 2
    chance = LEVEL / len(scores)
    beyond = max(OFF_THE_LINE, float(chdtri(len(common), chance / among)) / len(column))
    along = max(ON_THE_LINE, float(chdtri(1, chance)) / len(column))
    if len(common) and shares[1:].sum(axis=0).max() > beyond:
        return True
    return unseen and bool(shares[0].max() < along)


def rise_and_fall(values: NDArray[Any], sizes: NDArray[np.int64]) -> bool:
    """Return whether ascending whole numbers are as frequent as counts are, or answers on a scale.

    Those of several rows follow one another, but for one that may be missing. Frequencies are not equal, and rise to
    one value and fall from it, or do one of the two, as far as so many rows show.

    >>> numbers = np.arange(4)
    >>> rise_and_fall(numbers, np.array([37, 36, 19, 8])), rise_and_fall(numbers, np.array([9, 30, 45, 16]))
    (True, True)
    >>> rise_and_fall(numbers, np.array([26, 22, 27, 25])), rise_and_fall(numbers, np.array([40, 9, 38, 13]))
    (False, False)
    """
    common = values[sizes >= COMMON]
    if len(common) and common[-1] - common[0] > len(common):
        return False
    mean = sizes.mean()
    if ((sizes - mean) ** 2).sum() / mean < chdtri(len(sizes) - 1, EVEN):
        return False
    lower = np.minimum(np.maximum.accumulate(sizes), np.maximum.accumulate(sizes[::-1])[::-1])
    return bool((lower - sizes <= VALLEY * np.sqrt(lower + sizes)).all())
