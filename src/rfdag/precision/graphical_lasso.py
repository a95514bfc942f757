"""The graphical lasso, component by component."""

from __future__ import annotations

import math
import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from rfdag.errors import NumericalError, keyword
from rfdag.evidence.moments import Moments
from rfdag.orders import tuning
from rfdag.precision.definite import made_definite, partial_correlations
from rfdag.precision.estimator import Estimator, Request
from rfdag.precision.selection import strengths

Floats = NDArray[np.float64]

SECONDS = 2e-7
"""A solution for one strength over p variables in one component takes about SECONDS · p³."""

GAP, MOST_GAP = 1e-4, 1e-2
"""Gap between a solution and its dual at which the iterations end, and that a solution may have, per variable."""


class GraphicalLasso(Estimator):
    """The precision matrix of largest likelihood less λ times the sum of its entries, by scikit-learn.

    It falls apart into the components of the graph of correlations above λ, which are solved one by one. λ is that of
    the least extended BIC.

    J. Friedman, T. Hastie, R. Tibshirani: Sparse inverse covariance estimation with the graphical lasso, 2008.
    R. Mazumder, T. Hastie: Exact covariance thresholding into connected components, 2012.
    R. Foygel, M. Drton: Extended Bayesian information criteria for Gaussian graphical models, 2010.
    """

    name: ClassVar[str] = "graphical-lasso"
    start: ClassVar[str] = "the graphical lasso"
    regularised: ClassVar[bool] = True

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations of the graphical lasso."""
        moments.refuse_copies()
        correlation, rows = moments.correlation, moments.rows
        given = request.regularisation
        grid = strengths(rows, len(correlation)) if given is None else np.array([given])
        best: tuple[float, float, Floats] | None = None
        for at, strength in enumerate(grid):
            # A solution cannot be interrupted, and takes longer the weaker the strength is.
            seconds = seconds_of_solution(correlation, float(strength))
            if best is None:
                request.limit.require_room(seconds)
            elif request.deadline.passed() or not request.deadline.allows(seconds):
                break
            precision = sparse_precision(correlation, float(strength))
            request.report((at + 1) / len(grid))
            if precision is None:
                break
            score = extended_bic(correlation, precision, rows, request.gamma)
            if best is not None and score > best[0]:
                break
            best = score, float(strength), precision
        if best is None:
            raise NumericalError(
                f"The graphical lasso did not converge with λ = {grid[0]:.3g}. Pass a larger "
                f"{keyword('regularisation')}, or {keyword('precision', 'nodewise')}."
            )
        partial, remarks = made_definite(partial_correlations(best[2]), self.name)
        return moments.estimated(partial, rows + len(partial), remarks, regularisation=best[1])

    def seconds(self, columns: int, threads: int, *, removals: bool = False) -> float:
        """Return how long it is expected to take, if the graph does not fall apart."""
        return len(tuning.STRENGTHS) * SECONDS * float(columns) ** 3


def seconds_of_solution(correlation: Floats, strength: float) -> float:
    """Return how long one solution is expected to take: that of the components of correlations above the strength.

    >>> seconds_of_solution(np.eye(3), 0.5) < seconds_of_solution(np.ones((3, 3)), 0.5)
    True
    """
    _, labels = connected_components(np.abs(correlation) > strength, directed=False)
    sizes = np.bincount(labels).astype(float)
    return float(SECONDS * (sizes[sizes > 1] ** 3).sum())


def sparse_precision(correlation: Floats, strength: float) -> Floats | None:
    """Return the precision matrix of the graphical lasso; None if it did not converge.

    >>> S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 1.0]])
    >>> sparse_precision(S, 0.2).round(3)
    array([[ 1.099, -0.33 ,  0.   ],
           [-0.33 ,  1.099,  0.   ],
           [ 0.   ,  0.   ,  1.   ]])
    """
    from sklearn.covariance import graphical_lasso
    from sklearn.exceptions import ConvergenceWarning

    precision = np.eye(len(correlation))
    count, labels = connected_components(np.abs(correlation) > strength, directed=False)
    for label in range(count):
        members = np.flatnonzero(labels == label)
        if len(members) == 1:
            continue
        with warnings.catch_warnings():
            # Whether it is good enough is judged by the gap that is left.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            part = correlation[np.ix_(members, members)]
            try:
                _, found, costs = graphical_lasso(
                    part, strength, tol=GAP * len(members), enet_tol=1e-6, max_iter=50, return_costs=True
                )
            except FloatingPointError:
                return None
            if not abs(costs[-1][1]) <= MOST_GAP * len(members):
                return None
        precision[np.ix_(members, members)] = (found + found.T) / 2
    return precision


def extended_bic(correlation: Floats, precision: Floats, rows: int, gamma: float) -> float:
    """Return −2 ln likelihood + edges · (ln n + 4 γ ln p)."""
    p = len(correlation)
    edges = np.count_nonzero(np.triu(precision, 1))
    fit = rows * (float((correlation * precision).sum()) - float(np.linalg.slogdet(precision)[1]))
    return fit + edges * (math.log(rows) + 4 * gamma * math.log(p))
