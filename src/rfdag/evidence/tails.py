"""Columns of which one row decides the correlations, as extremes, mean and spread show without another pass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from rfdag.errors import DataMessage, as_column, as_columns, keyword

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

ROWS_LOOKED_AT = 10_000
"""Rows, spread over all, that the middle half is taken from."""

CELLS_AT_ONCE = 2**15
"""Numbers of which percentiles are taken at once."""

TWO_VALUED = 1e-9
"""Relative distance of a variance from that of a column with two values, up to which it counts as one."""


def warnings_about_tails(
    names: Sequence[Hashable],
    n: int,
    lowest: NDArray[Any],
    highest: NDArray[Any],
    means: Floats,
    deviations: Floats,
    middles: Floats | None = None,
) -> tuple[str, ...]:
    """Return a warning that names the columns whose correlations few rows decide; none if there are none.

    Parameters
    ----------
    names
        One per column.
    n
        Number of rows.
    lowest, highest, means, deviations
        Extremes, means and standard deviations (those that divide by n − 1) of the columns.
    middles
        What `middle_deviations` returns; None where rows come in pieces.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> rows[7, 1] = 60.0
    >>> facts = rows.min(axis=0), rows.max(axis=0), rows.mean(axis=0), rows.std(axis=0, ddof=1)
    >>> print(*warnings_about_tails(["age", "income"], 200, *facts))
    Column 'income' has such heavy tails that few rows decide its correlations: one row alone holds 94% of the variance.
    Pass correlation='normal-scores', which works with ranks; or, if such a row is an error, correct or drop
    it.
    """
    shares = shares_of_one_row(n, lowest, highest, means, deviations)
    heavy = shares > unlikely_share(n, len(names))
    if middles is not None and n >= LEAST_ROWS_THEN:
        # A column of which more than half is one value has no middle to compare with.
        heavy |= (middles > 0) & (deviations / TIMES_THE_MIDDLE > middles) & (shares > LEAST_SHARE_THEN)
    heavy &= ~_two_valued(n, lowest, highest, means, deviations)
    if not heavy.any():
        return ()
    columns = [names[at] for at in np.argsort(-shares, kind="stable") if heavy[at]]
    share = f"{np.floor(100 * shares[heavy].min()):.0f}%"
    if len(columns) == 1:
        name = as_column(columns[0])
        subject = f"{name.capitalize() if name.startswith('column ') else f'Column {name}'} has such heavy tails that"
        finding = f"few rows decide its correlations: one row alone holds {share} of the variance"
    else:
        subject = f"Columns have such heavy tails that few rows decide their correlations: in {as_columns(columns)}"
        finding = f"one row alone holds {share} of the variance or more"
    return (
        DataMessage(
            f"{subject} {finding}. Pass {keyword('correlation', 'normal-scores')}, which works with ranks; or, if such "
            "a row is an error, correct or drop it."
        ),
    )


def middle_deviations(values: NDArray[Any]) -> Floats:
    """Return the standard deviation of a Gaussian distribution with the same middle half, for each column.

    >>> middle_deviations(np.random.default_rng(0).normal(size=(9000, 2))).round(1)
    array([1., 1.])
    """
    some = values[:: -(-len(values) // ROWS_LOOKED_AT)]
    # Some columns at a time, since percentiles take a copy of them.
    step = max(1, CELLS_AT_ONCE // len(some))
    widths: Floats = np.empty(values.shape[1])
    for first in range(0, len(widths), step):
        # Halves, since a difference of the largest numbers would overflow.
        part = np.asarray(some[:, first : first + step], np.float64) / 2
        low, high = np.percentile(part, [25, 75], axis=0, overwrite_input=True)
        widths[first : first + step] = (high - low) / (ndtri(0.75) - ndtri(0.25)) * 2
    return widths


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
