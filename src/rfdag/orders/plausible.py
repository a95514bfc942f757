"""Which predecessors may be parents of a variable, by its regression on all of them.

Growing parents from nothing misses those that show only beside others; where most predecessors are parents, leaving out
what the full regression finds needless does better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rfdag.evidence.local import GroupedMoments
from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.orders import tuning
from rfdag.orders.kernels import fits
from rfdag.orders.kernels.fits import TINY
from rfdag.orders.kernels.plausible import mark_plausible

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


def in_order(
    moments: GroupedMoments, state: fits.State, most_parents: Integers
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what may be a parent, along the lists of all variables, and for which variables it is known.

    Every variable is a candidate for every other.
    """
    order, places = state.places[fits.ORDER], state.places[fits.PLACE]
    p = len(order)
    found, known = np.zeros((p, p), bool), np.zeros(p, bool)
    for number, matrix in enumerate(moments.matrices):
        may_be, solid = along(matrix, order, state.values[fits.ROWS])
        here = (moments.which == number) & (places < solid)
        found[here], known[here] = may_be[here], True
    # A regression on nearly as many variables as there are rows is meaningless.
    known &= (places > 0) & (places <= most_parents)
    if state.knowledge.shape[1]:
        roles = state.knowledge[fits.ROLES]
        found = (found & (roles != FORBIDDEN)) | ((roles == REQUIRED) & (places[:, None] > places))
    return found.ravel(), known


class Among:
    """What may be a parent among few candidates, by regressions on them: some variables at a time, on any thread.

    ``found`` tells it along all lists, ``known`` for which variables.
    """

    def __init__(self, state: fits.State, widest: int, threads: int) -> None:
        self.found, self.known = np.zeros(state.starts[-1], bool), np.zeros(len(state.starts) - 1, bool)
        self._state = state
        self._least_z2 = np.array([least_z2(count) for count in range(widest)])
        self._rooms = [(np.empty(widest, np.int64), np.empty((widest + 1, widest))) for _ in range(threads)]

    def mark(self, variables: Integers, worker: int) -> int:
        """Mark the candidates of some variables; nothing of the order changes."""
        mark_plausible(variables, self._least_z2, self._state, *self._rooms[worker], self.found, self.known)
        return 0


def _inverse_factor(correlation: Floats) -> Floats:
    """Return L⁻¹ with L Lᵀ = correlation, of as many leading variables as do not depend on those before them."""
    lower, stopped = lapack.dpotrf(correlation, lower=1, overwrite_a=0)
    solid = stopped - 1 if stopped > 0 else len(correlation)
    dependent = np.flatnonzero(np.diag(lower)[:solid] ** 2 < TINY)
    if len(dependent):
        solid = int(dependent[0])
    inverse: Floats = lapack.dtrtri(np.asfortranarray(lower[:solid, :solid]), lower=1, overwrite_c=1)[0]
    return inverse
