"""Columns of which one row decides the correlations, as extremes, mean and spread show without another pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Floats = NDArray[np.float64]

LEAST_SHARE = 0.2
"""Share of a column's sum of squares in one row from which its correlations may rest on that row."""

FREEDOM = 5.0
"""Degrees of freedom of the t distribution that columns are compared with: its tails are heavy, and still harmless.

Pearson's correlation has its usual error where fourth moments are finite, which takes more than four.
"""

LEVEL = 0.01
"""Chance of a warning about a table of such columns (Bonferroni over rows and columns)."""

TIMES_THE_MIDDLE, LEAST_SHARE_THEN, LEAST_ROWS_THEN = 3.0, 0.1, 50
"""Standard deviation, in units of the one that the middle half of a Gaussian column would tell, from which a column is
heavy-tailed, if one row has this share of its sum of squares, and there are this many rows.

On 15 to 60 tables of each kind, other than those reported, this found all single Cauchy columns from 1000 rows on, and
named none of the ordinary columns.
"""

TWO_VALUED = 1e-9
"""Relative distance of a variance from that of a column with two values, up to which it counts as one."""


def heavy_tailed(
    n: int,
    lowest: NDArray[Any],
    highest: NDArray[Any],
    means: Floats,
    deviations: Floats,
    middles: Floats,
) -> tuple[NDArray[np.bool_], Floats]:
    """Return the columns whose correlations few rows decide, and the share of the variance that one row holds.

    Parameters
    ----------
    n
        Number of rows.
    lowest, highest, means, deviations
        Extremes, means and standard deviations (those that divide by n − 1) of the columns.
    middles
        Standard deviations of Gaussian columns with the same middle half.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> rows[7, 1] = 60.0
    >>> facts = rows.min(axis=0), rows.max(axis=0), rows.mean(axis=0), rows.std(axis=0, ddof=1)
    >>> heavy_tailed(200, *facts, np.ones(2))[0]
    array([False,  True])
    """
    shares = shares_of_one_row(n, lowest, highest, means, deviations)
    heavy = shares > unlikely_share(n, len(means))
    if n >= LEAST_ROWS_THEN:
        # A column of which more than half is one value has no middle to compare with.
        heavy |= (middles > 0) & (deviations / TIMES_THE_MIDDLE > middles) & (shares > LEAST_SHARE_THEN)
    heavy &= ~_two_valued(n, lowest, highest, means, deviations)
    return heavy, shares


def shares_of_one_row(n: int, lowest: NDArray[Any], highest: NDArray[Any], means: Floats, deviations: Floats) -> Floats:
    """Return the share of each column's sum of squared deviations that its most extreme row holds.

    It is Grubbs' statistic in other units: G² / (n − 1).

    >>> column = np.array([0.0, 0.0, 0.0, 4.0])
    >>> shares_of_one_row(4, column[:1], column[3:], np.array([1.0]), column[None].std(axis=1, ddof=1))
    array([0.75])
    """
    # Halves, since a difference of the largest numbers would overflow.
    low, high, centre = (np.asarray(part, np.float64) / 2 for part in (lowest, highest, means))
    farthest = np.maximum(high - centre, centre - low) / (deviations / 2)
    shares: Floats = np.minimum(farthest**2 / (n - 1), 1.0)
    return shares


def unlikely_share(n: int, p: int) -> float:
    """Return the share of one row that n rows of p columns with tails of a t distribution hardly ever reach.

    A row's deviation is compared with a spread that the other rows tell. Where these are few, this alone makes it
    larger: by as much as Grubbs' bound for Gaussian rows exceeds the normal quantile.

    >>> [round(unlikely_share(n, 10), 2) for n in (20, 200, 2000, 20_000)]
    [0.86, 0.57, 0.24, 0.2]
    """
    if n < 3:
        return 1.0
    chance = LEVEL / (2 * n * p)
    heavy = -float(stdtrit(FREEDOM, chance)) / np.sqrt(FREEDOM / (FREEDOM - 2))
    inflated = float(stdtrit(n - 2, chance) / ndtri(chance))
    # A deviation from the others, in units of their spread, as a share of the sum of squares of all.
    square = (heavy * inflated) ** 2
    return max(LEAST_SHARE, float((n - 1) / n * square / (n - 2 + square)))


def _two_valued(n: int, lowest: NDArray[Any], highest: NDArray[Any], means: Floats, deviations: Floats) -> Any:
    """Return which columns have two values, such as 0 and 1: there a rare value is no tail, and ranks change nothing.

    Only then is the variance (highest − mean)(mean − lowest), the largest that there can be (Bhatia and Davis, 2000).
    """
    low, high, centre = (np.asarray(part, np.float64) / 2 for part in (lowest, highest, means))
    largest = ((high - centre) / (deviations / 2)) * ((centre - low) / (deviations / 2))
    return np.abs(largest * n / (n - 1) - 1) < TWO_VALUED * n
