"""Ranks of columns in place of their values: what they are, and the Gaussian correlations behind them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]


def shares_below(values: NDArray[Any], report: Callable[[float], None] = lambda done: None) -> Floats:
    """Return rank / (n + 1) of every number among those of its column; ties share the mean of their ranks.

    >>> shares_below(np.array([[3, 0.5], [1, 0.5], [9, 7.0]]))
    array([[0.5  , 0.375],
           [0.25 , 0.375],
           [0.75 , 0.75 ]])
    """
    n, p = values.shape
    shares = np.empty((n, p), order="F")
    for at in range(p):
        # The same as scipy.stats.rankdata, which takes most of a second to import.
        _, which, counts = np.unique(values[:, at], return_inverse=True, return_counts=True)
        np.divide((np.cumsum(counts) - (counts - 1) / 2)[which], n + 1, out=shares[:, at])
        report((at + 1) / p)
    return shares


def normal_scores(shares: Floats) -> Floats:
    """Return the quantiles of the standard normal distribution at these shares, which are overwritten.

    Of columns that are increasing functions of jointly Gaussian variables (a nonparanormal distribution), they estimate
    these variables, in standard units.

    References
    ----------
    H. Liu, J. Lafferty, L. Wasserman: The nonparanormal: semiparametric estimation of high dimensional undirected
    graphs, JMLR 2009.

    >>> normal_scores(np.array([0.5, 0.975])).round(2)
    array([0.  , 1.96])
    """
    ndtri(shares, out=shares)
    return shares


def unit_scores(columns: Floats, tied: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the normal scores of columns, given one in each row of the matrix: centred, of length 1, in floats.

    ``tied`` tells which columns have equal numbers; a column may be constant, and is 0 then.

    >>> unit_scores(np.array([[3.0, 5.0, 4.0], [2.0, 2.0, 2.0]]), np.array([False, True])).round(2)
    array([[-0.71,  0.71,  0.  ],
           [ 0.  ,  0.  ,  0.  ]], dtype=float32)
    """
    p, k = columns.shape
    scores = np.empty((p, k), np.float32)
    quantiles = ndtri(np.arange(1, k + 1) / (k + 1)).astype(np.float32)
    np.put_along_axis(scores, columns.argsort(axis=1), quantiles[None], axis=1)
    if tied.any():
        of_ties = normal_scores(shares_below(columns[tied].T)).T
        scores[tied] = of_ties - of_ties.mean(axis=1)[:, None]
    norms = np.sqrt(np.einsum("ij,ij->i", scores, scores))
    # Rounding leaves a little of a constant column.
    scores /= np.where(norms > 1e-4, norms, np.inf)[:, None]
    return scores


def behind_spearman(correlation: Floats) -> Floats:
    """Return the correlations of Gaussian variables that have these rank correlations of Spearman's: 2 sin(π ρ / 6).

    References
    ----------
    H. Liu, F. Han, M. Yuan, J. Lafferty, L. Wasserman: High-dimensional semiparametric Gaussian copula graphical
    models, Annals of Statistics 2012. L. Xue, H. Zou: Regularized rank-based estimation of high-dimensional
    nonparanormal graphical models, Annals of Statistics 2012.

    >>> behind_spearman(np.array([0.0, 0.5, 1.0])).round(3)
    array([0.   , 0.518, 1.   ])
    """
    found: Floats = 2 * np.sin(math.pi / 6 * correlation)
    return found


def behind_kendall(correlation: Floats) -> Floats:
    """Return the correlations of Gaussian variables that have these rank correlations of Kendall's: sin(π τ / 2).

    The references are those of `behind_spearman`.

    >>> behind_kendall(np.array([0.0, 0.5, 1.0])).round(3)
    array([0.   , 0.707, 1.   ])
    """
    found: Floats = np.sin(math.pi / 2 * correlation)
    return found
