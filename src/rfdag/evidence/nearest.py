"""The correlation matrix nearest to a matrix that is not positive definite."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from rfdag.errors import DataMessage, keyword
from rfdag.evidence.arrangement import by_entries, given_back, in_arrangement
from rfdag.wording import counted

Floats = NDArray[np.float64]

SHARE, LEAST, MOST = 0.1, 1e-6, 0.05
"""Eigenvalues that a repaired matrix has at least: this share of p / n, within bounds.

Chance moves eigenvalues the more, the fewer rows there are per column. What is lifted to a lower floor looks like
columns that nearly depend on each other, which it is not: at p = 60, n = 300, degree 8, F1 by Spearman's ρ is .81, .92,
.92 and .95 with a share of .01, .025, .05 and .1, and .91 with .2. A floor above what the data have costs as much: at
p = 20, n = 2000, density ½, .98 with a share of .1, and .86 with 1.
"""

CLOSE = 1e-7
"""Distance of the diagonal from 1 at which the projections end."""

MOST_ROUNDS = 500


class Repaired(NamedTuple):
    """A correlation matrix, and what it took to make it positive definite."""

    correlation: Floats
    low: int
    """How many eigenvalues were below the floor."""
    lowest: float
    """The lowest of them."""
    floor: float
    """The floor."""
    moved: float
    """By how much an entry was changed at most."""

    def warning(self, what: str) -> str:
        """Return what was done, in words."""
        definite = "nearly singular" if self.lowest > 0 else "not positive definite"
        return DataMessage(
            f"The matrix of {what} is {definite}: {counted(self.low, 'eigenvalue')} below {self.floor:.2g}, the lowest "
            f"{self.lowest:.2g}. The nearest correlation matrix without such eigenvalues was used instead; its entries "
            f"differ by up to {self.moved:.2g}. If that is much, pass {keyword('correlation', 'normal-scores')}, which "
            "needs no repair."
        )


def floor_for(rows: int, columns: int) -> float:
    """Return the least eigenvalue that a matrix from so many rows and columns keeps.

    >>> floor_for(1000, 50), floor_for(40, 50)
    (0.005, 0.05)
    """
    return min(max(SHARE * columns / rows, LEAST), MOST)


def repaired(matrix: Floats, floor: float) -> Repaired | None:
    """Return the nearest correlation matrix with eigenvalues of at least ``floor``; None if the matrix is one already.

    Examples
    --------
    >>> signs = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    >>> found = repaired(signs, floor=0.0)
    >>> found.correlation.round(3), found.low, round(found.lowest, 3), round(found.moved, 3)
    (array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]]), 1, -0.8, 0.4)
    """
    places = by_entries(matrix)
    arranged = in_arrangement(matrix, places)
    values = np.linalg.eigvalsh(arranged)
    if values[0] >= floor:
        return None
    found = given_back(nearest_correlation(arranged, floor), places)
    moved = float(np.abs(found - matrix).max())
    return Repaired(found, int((values < floor).sum()), float(values[0]), floor, moved)


def nearest_correlation(matrix: Floats, floor: float) -> Floats:
    """Return the correlation matrix with eigenvalues of at least ``floor`` that is nearest in Frobenius norm.

    Projections onto matrices with such eigenvalues and onto those with a diagonal of ones alternate, with Dykstra's
    correction of the first: without it they would end at some matrix of both kinds, not at the nearest.

    References
    ----------
    N. Higham: Computing the nearest correlation matrix, a problem from finance, IMA Journal of Numerical Analysis 2002.
    """
    nearest = matrix
    correction = np.zeros_like(matrix)
    for _ in range(MOST_ROUNDS):
        shifted = nearest - correction
        values, vectors = eigh(shifted, check_finite=False)
        definite = (vectors * np.maximum(values, floor)) @ vectors.T
        correction = definite - shifted
        following = definite.copy()
        np.fill_diagonal(following, 1.0)
        settled = max(np.abs(np.diag(definite) - 1).max(), np.abs(following - nearest).max()) < CLOSE
        nearest = following
        if settled:
            break
    # Of the two last projections the one with positive eigenvalues, brought to ones on its diagonal.
    roots = np.sqrt(np.diag(definite))
    found: Floats = definite / roots / roots[:, None]
    found = (found + found.T) / 2
    np.fill_diagonal(found, 1.0)
    return found
