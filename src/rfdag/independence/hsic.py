"""The Hilbert–Schmidt independence criterion on residuals: for any regression with additive noise.

A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf, A. Smola: A kernel statistical test of independence, 2007.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.special import gammaincc

from rfdag.independence.kernel_tests import require_square_matrices

Floats = NDArray[np.float64]

FEATURES = 100
"""Random Fourier features that a regression may use; a tenth of the rows at most."""

RIDGES = 10.0 ** np.arange(-4, 5)
"""Penalties of a regression; generalised cross-validation chooses."""

MOST_DISTANCES = 1000
"""Rows whose distances give the width of a kernel."""


class Hsic:
    """Both variables are regressed on the others, smoothly, and their residuals tested for any dependence.

    The regressions are ridge regressions on random Fourier features and the columns themselves; the null distribution
    is a gamma approximation. Where noise is not additive, residuals keep a dependence that this test takes for one
    between the pair.

    Parameters
    ----------
    rows
        The data, one row per sample.
    names
        The names of the columns.
    seed
        Seed of the random features.

    Examples
    --------
    >>> cause = np.random.default_rng(1).normal(size=300)
    >>> noise = np.random.default_rng(2).normal(size=(300, 2)) / 4
    >>> test = Hsic(np.column_stack([cause, cause**2 + noise[:, 0], cause**2 + noise[:, 1]]))
    >>> test(1, 2, ()) < 1e-6, test(1, 2, (0,)) > 0.01
    (True, True)
    """

    def __init__(self, rows: NDArray[Any], names: Sequence[Hashable] = (), seed: int = 0) -> None:
        require_square_matrices(len(rows), 5, "hsic", instead="rcit")
        rows = np.asarray(rows, np.float64)
        self._rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        self._seed = seed

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        pair = self._rows[:, [i, j]]
        if given:
            pair = self._residuals(pair, given)
        return _hsic(pair[:, 0], pair[:, 1])

    def _residuals(self, targets: Floats, given: tuple[int, ...]) -> Floats:
        """Return what regressions on others leave of the targets, in units of its standard deviation."""
        others = self._rows[:, list(given)]
        # Features depend on the set alone: then a swapped pair has the same residuals.
        generator = np.random.default_rng([self._seed, len(given), *given])
        count = min(FEATURES, max(1, len(others) // 10))
        width = _width(others)
        waves = np.cos(
            others @ (generator.normal(size=(len(given), count)) / width) + generator.uniform(0, 2 * np.pi, count)
        )
        features = np.column_stack([others, waves - waves.mean(axis=0)])
        left, sizes, _ = np.linalg.svd(features, full_matrices=False)
        inside = left.T @ targets
        outside = (targets**2).sum(axis=0) - (inside**2).sum(axis=0)
        kept = sizes**2 / (sizes**2 + RIDGES[:, None])
        freedom = len(targets) - kept.sum(axis=1)
        unexplained = ((1 - kept)[:, :, None] * inside) ** 2
        errors = (unexplained.sum(axis=1) + np.maximum(outside, 0)) / freedom[:, None] ** 2
        best = kept[errors.argmin(axis=0)].T
        residuals: Floats = targets - left @ (best * inside)
        spread = residuals.std(axis=0)
        return residuals / np.where(spread > 0, spread, 1.0)


def _width(points: Floats) -> float:
    """Return the median distance of points: the width of a Gaussian kernel between them."""
    distances = pdist(points[:MOST_DISTANCES])
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _hsic(x: Floats, y: Floats) -> float:
    """Return the p-value of independence of two samples."""
    n = len(x)
    kernels = [
        _centred(np.exp(-0.5 * cdist(each[:, None], each[:, None], "sqeuclidean") / _width(each[:, None]) ** 2))
        for each in (x, y)
    ]
    statistic = float((kernels[0] * kernels[1]).sum())
    traces = [float(np.trace(kernel)) for kernel in kernels]
    squares = [float((kernel**2).sum()) for kernel in kernels]
    mean = traces[0] * traces[1] / n
    variance = 2 * squares[0] * squares[1] / n**2
    if mean <= 0 or variance <= 0:
        # Nothing is left of one of the two: no row tells, and an edge is dropped only if independence was found.
        return 0.0
    return float(gammaincc(mean**2 / variance, statistic * mean / variance))


def _centred(kernel: Floats) -> Floats:
    means = kernel.mean(axis=0)
    centred: Floats = kernel - means - means[:, None] + means.mean()
    return centred
