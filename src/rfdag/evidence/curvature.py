"""Pairs of columns of which one depends on the square of the other: correlations of any kind do not see that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

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

COLUMNS_AT_ONCE = 100
"""Columns whose squares are correlated with all others at a time."""


class Curved(NamedTuple):
    """A pair of columns by number: the one depends on the square of the other, which explains this share of it."""

    column: int
    on: int
    share: float


def curved_pairs(scores: NDArray[np.float32], skewed: Floats) -> list[Curved]:
    """Return the pairs with strong curvature, the strongest first, each pair once.

    Columns are taken by their normal scores z: heavy tails cannot fake curvature then, and what an increasing
    transformation would straighten is none. The square z² − 1 is uncorrelated with z, so that its squared correlation
    with another column is the share of the variance that it explains beyond z itself.

    Parameters
    ----------
    scores
        What `rfdag.evidence.ranks.unit_scores` returns for some rows.
    skewed
        Skewness of each column by quantiles.

    Examples
    --------
    >>> from rfdag.evidence.ranks import unit_scores
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> scores = unit_scores(np.array([noise, x, x**2 + noise]), np.zeros(3, bool))
    >>> [(pair.column, pair.on) for pair in curved_pairs(scores, np.zeros(3))]
    [(2, 1)]
    """
    p, k = scores.shape
    straight = np.flatnonzero(np.abs(skewed) < SYMMETRIC)
    if p < 2 or not len(straight):
        return []
    # That of a correlation whose Fisher statistic is beyond the level.
    least = max(LEAST_SHARE, float(ndtri(LEVEL / (2 * p * (p - 1)))) ** 2 / k)
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
                found.append(Curved(column, int(on[row]), share))
    found.sort(key=lambda pair: -pair.share)
    once: dict[frozenset[int], Curved] = {}
    for pair in found:
        once.setdefault(frozenset(pair[:2]), pair)
    return list(once.values())
