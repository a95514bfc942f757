"""Which predecessors may be parents of a variable, by its regression on all of them.

Growing parents from nothing misses those that show only beside others; where most predecessors are parents, leaving out
what the full regression finds needless does better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rfdag.orders import tuning
from rfdag.orders.kernels.fits import TINY

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def least_z2(predecessors: int) -> float:
    """Return z² from which one of so many predecessors may be a parent.

    >>> least_z2(10), round(least_z2(1000), 1)
    (4.0, 7.9)
    """
    return tuning.PLAUSIBLE_Z2 + tuning.PLAUSIBLE_Z2_PER_EFOLD * max(math.log(max(predecessors, 1) / 100), 0.0)


def along(correlation: Floats, order: Integers, rows: Floats) -> tuple[NDArray[np.bool_], int]:
    """Return whether x may be a parent of y, for all variables [y, x], and how many in the order this is known of.

    With L⁻¹ of the correlations along the order, predecessor j of the i-th variable has z² = (n − i) (L⁻¹)_ij² /
    Σ_k<i (L⁻¹)_kj². It is known of those before the first that depends on its predecessors.
    """
    squares = _inverse_factor(correlation[np.ix_(order, order)])
    solid = len(squares)
    np.square(squares, out=squares)
    sums = np.cumsum(squares, axis=0)
    sums -= squares
    before = order[:solid]
    found = np.zeros((len(order), len(order)), bool)
    numbers = np.arange(solid)
    bounds = np.array([least_z2(number) for number in range(solid)])
    squares *= (rows[before] - numbers)[:, None]
    sums *= bounds[:, None]
    found[np.ix_(before, before)] = (squares > sums) & (numbers < numbers[:, None])
    return found, solid


def _inverse_factor(correlation: Floats) -> Floats:
    """Return L⁻¹ with L Lᵀ = correlation, of as many leading variables as do not depend on those before them."""
    lower, stopped = lapack.dpotrf(correlation, lower=1, overwrite_a=0)
    solid = stopped - 1 if stopped > 0 else len(correlation)
    dependent = np.flatnonzero(np.diag(lower)[:solid] ** 2 < TINY)
    if len(dependent):
        solid = int(dependent[0])
    inverse: Floats = lapack.dtrtri(np.asfortranarray(lower[:solid, :solid]), lower=1, overwrite_c=1)[0]
    return inverse
