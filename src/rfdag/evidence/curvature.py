"""Pairs of columns of which one depends on the square of the other: correlations of any kind do not see that."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rfdag.evidence.ranks import normal_scores, shares_below

Floats = NDArray[np.float64]

LEVEL = 0.01
"""Chance of naming a pair in a table without any (Bonferroni over pairs)."""

LEAST_SHARE = 0.2
"""Share of a column's variance, by ranks, that the square of another explains at least: and no less than its rank does.

Chosen, with the next number, on linear SEMs and squares of seed 1, other than those that benchmarks/health.py reports:
half of the variance due to x² gives 0.38, a fifth 0.18. Linear effects give 0.06 with Gaussian, uniform or heavy-tailed
noise; with skewed noise 0.2 is reached now and then, since uncorrelated is not independent there.
"""

SYMMETRIC = 0.2
"""Skewness by quantiles up to which a column's square is looked at: beyond, it hardly bends the column itself."""

ROWS, COLUMNS = 500, 5000
"""Rows, spread over those of the sample, and columns up to which all pairs are looked at: a few seconds at most."""

COLUMNS_AT_ONCE = 1000
"""Columns whose squares are correlated with all others at a time."""


class Curved(NamedTuple):
    """A pair of columns by number: the one depends on the square of the other, which explains this share of it."""

    column: int
    on: int
    share: float


def curved_pairs(
    rows: NDArray[Any], places: NDArray[np.int64], skewed: Floats, tied: NDArray[np.bool_]
) -> list[Curved]:
    """Return the pairs with strong curvature, the strongest first, each pair once.

    Columns are taken by their normal scores z: heavy tails cannot fake curvature then, and what an increasing
    transformation would straighten is none. The square z² − 1 is uncorrelated with z, so that its squared correlation
    with another column is the share of the variance that it explains beyond z itself.

    Parameters
    ----------
    rows
        Some rows.
    places
        Which columns to look at.
    skewed
        Skewness of each column by quantiles.
    tied
        Which columns have equal numbers.

    Examples
    --------
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> rows = np.column_stack([noise, x, x**2 + noise])
    >>> [(pair.column, pair.on) for pair in curved_pairs(rows, np.arange(3), np.zeros(3), np.zeros(3, bool))]
    [(2, 1)]
    """
    p = len(places)
    straight = np.flatnonzero(np.abs(skewed[places]) < SYMMETRIC)
    if p < 2 or p > COLUMNS or not len(straight):
        return []
    columns = np.ascontiguousarray(rows[:: -(-len(rows) // ROWS), places].T, np.float64)
    scores = _scores(columns, tied[places])
    # That of a correlation whose Fisher statistic is beyond the level.
    least = max(LEAST_SHARE, float(ndtri(LEVEL / (2 * p * (p - 1)))) ** 2 / columns.shape[1])
    found: list[Curved] = []
    for first in range(0, len(straight), COLUMNS_AT_ONCE):
        on = straight[first : first + COLUMNS_AT_ONCE]
        squares = scores[on] ** 2
        squares -= squares.mean(axis=1)[:, None]
        # Ties leave a square correlated with its column.
        squares -= np.einsum("ij,ij->i", squares, scores[on])[:, None] * scores[on]
        lengths = np.einsum("ij,ij->i", squares, squares)
        shares = (squares @ scores.T) ** 2
        shares /= np.where(lengths > 0, lengths, np.inf)[:, None]
        for row, column in np.argwhere(shares > least).tolist():
            share = float(shares[row, column])
            if share >= float(scores[on[row]] @ scores[column]) ** 2:
                found.append(Curved(int(places[column]), int(places[on[row]]), share))
    found.sort(key=lambda pair: -pair.share)
    once: dict[frozenset[int], Curved] = {}
    for pair in found:
        once.setdefault(frozenset(pair[:2]), pair)
    return list(once.values())


def _scores(columns: Floats, tied: NDArray[np.bool_]) -> Floats:
    """Return the normal scores of columns, centred and of length 1."""
    p, k = columns.shape
    scores: Floats = np.empty((p, k))
    quantiles = ndtri(np.arange(1, k + 1) / (k + 1))
    np.put_along_axis(scores, columns.argsort(axis=1), quantiles[None], axis=1)
    if tied.any():
        scores[tied] = normal_scores(shares_below(columns[tied].T)).T
        scores[tied] -= scores[tied].mean(axis=1)[:, None]
    norms = np.sqrt(np.einsum("ij,ij->i", scores, scores))
    # A column may be constant in these rows.
    scores /= np.where(norms > 0, norms, 1.0)[:, None]
    return scores
