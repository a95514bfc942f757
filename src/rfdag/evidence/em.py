"""Means and covariance of rows with missing values, by maximum likelihood: the EM algorithm for a Gaussian.

A. Dempster, N. Laird, D. Rubin: Maximum likelihood from incomplete data via the EM algorithm, 1977.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from rfdag.evidence.arrangement import by_content, given_back
from rfdag.evidence.kernels.em import expect
from rfdag.runtime.threads import one_blas_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_STEPS = 200
"""Steps after which the estimate is taken as it is, and a remark says so."""

SETTLED = 1e-10
"""Change of the estimate by a step at which it counts as settled: relative to the variance in every direction, so that
a difference of two columns that hardly differ is as well estimated as the columns are."""

LOST = 1e-14
"""The same per share of a variance that others leave: what rounding leaves of a step where columns hardly differ."""

LEAST_SETTLED = 1e-5
"""The same at most."""

REMEMBERED = 8
"""Steps of EM that the next one is extrapolated from."""

SAME = 1e-10
"""Size, relative to the largest, of directions among remembered steps that count as rounding."""

ROUNDED = 1e-13
"""Share by which a log-likelihood may be lower by rounding."""

STEPS_AT_ONCE = 5e7
"""Multiplications after which filling rows returns to Python: less than a tenth of a second."""

RIDGE = 1e-8
"""Share of its variance that is added to a column before a singular covariance is inverted: levels may be aliased."""

SINGULAR = 1e-12
"""Share of the variance of a column that others leave below which the covariance counts as singular."""


class Estimate(NamedTuple):
    """What EM found.

    Attributes
    ----------
    mean, covariance
        The maximum-likelihood estimates.
    log_likelihoods
        That of the known values after every step.
    settled
        Whether the last step changed next to nothing, and little is to come.
    ridged
        Whether the covariance was singular, up to rounding.
    """

    mean: Floats
    covariance: Floats
    log_likelihoods: tuple[float, ...]
    settled: bool
    ridged: bool = False


def em_moments(
    values: Floats,
    weights: Floats | None = None,
    check: Callable[[], None] = lambda: None,
    report: Callable[[float], None] = lambda share: None,
) -> Estimate:
    """Return the means and the covariance under which the known values are likeliest.

    Values are taken as missing at random: whether one is missing may depend on what is known of its row, not on itself.

    Parameters
    ----------
    values
        Rows, NaN where a value is missing; every column has some.
    weights
        How often each row counts; once unless given.
    check
        Called at every step, and may raise.
    report
        Called with the share done, as far as the changes tell.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(2000, 1)) + np.random.default_rng(1).normal(size=(2000, 2))
    >>> rows[rows[:, 0] > 0, 1] = np.nan
    >>> bool(np.nanmean(rows, axis=0)[1] < -0.4), bool(np.abs(em_moments(rows).mean).max() < 0.1)
    (True, True)
    """
    places = by_content(values)
    mean, covariance = np.zeros(values.shape[1]), np.eye(values.shape[1])
    found: list[float] = []
    first, settled, memory = 1.0, False, _Memory(None, 1)
    with one_blas_thread():
        gappy = _Gappy(np.ascontiguousarray(values[:, places]), weights, check)
        here = gappy.step(mean, covariance)
        assert here is not None
        for _ in range(MOST_STEPS):
            found.append(here.log_likelihood)
            first = here.change if len(found) == 1 else first
            settled = here.change <= here.rounding or not gappy.gaps
            report(min(1.0, _digits(first, max(here.change, SETTLED)) / max(_digits(first, SETTLED), 1e-9)))
            if settled:
                break
            trial = gappy.step(*memory.ahead(here), if_definite=True)
            if trial is None or not trial.log_likelihood >= here.log_likelihood - ROUNDED * abs(here.log_likelihood):
                # Where steps tell little of those to come, more of them are awaited.
                memory = _Memory(here, min(2 * memory.awaited, REMEMBERED))
                trial = gappy.step(*here.following)
                assert trial is not None
            here = trial
    mean, covariance = here.following
    return Estimate(
        (mean * gappy.scales + gappy.means)[np.argsort(places)],
        given_back(covariance * gappy.scales * gappy.scales[:, None], places),
        tuple(found),
        settled,
        gappy.ridged,
    )


class _Step(NamedTuple):
    """A step of EM.

    Attributes
    ----------
    log_likelihood
        That of the known values where the step begins.
    following
        The means and the covariance where it ends.
    residual
        The step in units in which the covariance is the identity, each entry weighed as the likelihood of complete
        rows does.
    change
        The largest entry of the step in these units.
    rounding
        A change that is not worth another step.
    """

    log_likelihood: float
    following: tuple[Floats, Floats]
    residual: Floats
    change: float
    rounding: float


class _Gappy:
    """Rows with gaps in standard units, summed up as far as no estimate is needed for it."""

    def __init__(self, values: Floats, weights: Floats | None, check: Callable[[], None]) -> None:
        n, self._columns = values.shape
        counts = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        known = ~np.isnan(values)
        there = known.astype(np.float64)
        # How many rows have both columns, the sums of one in the rows of the other, and of their products.
        self._both = there.T @ (there * counts[:, None])
        sizes = np.diag(self._both)
        self.means = counts @ np.where(known, values, 0.0) / sizes
        self.scales = np.sqrt(counts @ np.where(known, values - self.means, 0.0) ** 2 / sizes)
        self.scales[self.scales == 0] = 1.0
        standard = (values - self.means) / self.scales
        filled = np.where(known, standard, 0.0)
        weighed = filled * counts[:, None]
        self._sums = weighed.T @ there
        self._products = filled.T @ weighed
        self._total = float(counts.sum())
        self._missing = float(counts @ (~known).sum(axis=1))
        self._constant = (self._columns * self._total - self._missing) * math.log(2 * math.pi)
        some = ~known.all(axis=1)
        self.gaps = bool(some.any())
        self._rows, self._counts, patterns = _by_pattern(standard[some], counts[some])
        self._pieces = _in_pieces(self._rows, patterns)
        self._check = check
        self._triangle = np.tril_indices(self._columns)
        self._weights = np.where(self._triangle[0] == self._triangle[1], math.sqrt(0.5), 1.0)
        self.ridged = False

    def step(self, mean: Floats, covariance: Floats, *, if_definite: bool = False) -> _Step | None:
        """Return the step of EM from an estimate; None, ``if_definite``, from a matrix that is no covariance."""
        self._check()
        lower = None if self.ridged else _factored(covariance)
        if lower is None:
            if if_definite and not self.ridged:
                return None
            try:
                lower = cholesky(covariance + RIDGE * np.diag(np.diag(covariance)), lower=True)
            except LinAlgError:
                if if_definite:
                    return None
                raise
            self.ridged = True
        precision = np.ascontiguousarray(cho_solve((lower, True), np.eye(self._columns)))
        # About the means of the estimate: of the known values, and of what is expected in the gaps.
        of_known = self._products - self._sums * mean - self._sums.T * mean[:, None] + self._both * np.outer(mean, mean)
        sums = np.diag(self._sums) - np.diag(self._both) * mean
        products = np.zeros_like(precision)
        logs = 0.0
        for some in self._pieces:
            self._check()
            logs += expect(self._rows, some, self._counts, precision, mean, products, sums)
        about = of_known + products + products.T
        # Of the covariances that are left, whose products with the precision are the identity, nothing is to be in it.
        quadratic = float((precision * about).sum()) - self._missing
        log_det = 2 * float(np.log(np.diag(lower)).sum())
        log_likelihood = -0.5 * (self._constant + self._total * log_det + logs + quadratic)
        shift = sums / self._total
        following = about / self._total - np.outer(shift, shift)
        half = solve_triangular(lower, following - covariance, lower=True)
        apart = solve_triangular(lower, half.T, lower=True)
        of_mean = solve_triangular(lower, shift, lower=True)
        share = 1 / float((np.diag(precision) * np.diag(covariance)).max())
        return _Step(
            log_likelihood,
            (mean + shift, following),
            np.concatenate([apart[self._triangle] * self._weights, of_mean]),
            float(max(np.abs(apart).max(), np.abs(of_mean).max())),
            min(max(SETTLED, LOST / share), LEAST_SETTLED),
        )


class _Memory:
    """The last steps of EM, from which the next estimate is extrapolated: Anderson's acceleration.

    Where steps change little from one to the next, what they converge to shows: the combination of the last estimates
    whose step is the smallest is where the next one begins.
    """

    def __init__(self, last: _Step | None, awaited: int) -> None:
        self._last = last
        self.awaited = awaited
        """Differences of steps without which nothing is extrapolated."""
        self._residuals: list[Floats] = []
        self._estimates: list[tuple[Floats, Floats]] = []

    def ahead(self, step: _Step) -> tuple[Floats, Floats]:
        """Return the estimate to go on from."""
        last, self._last = self._last, step
        if last is None:
            return step.following
        if len(self._residuals) >= self.awaited:
            # The last estimate was extrapolated, and not worse than the one before.
            self.awaited = 1
        self._residuals.append(step.residual - last.residual)
        self._estimates.append((step.following[0] - last.following[0], step.following[1] - last.following[1]))
        del self._residuals[:-REMEMBERED], self._estimates[:-REMEMBERED]
        if len(self._residuals) < self.awaited:
            return step.following
        shares = np.linalg.lstsq(np.array(self._residuals).T, step.residual, rcond=SAME)[0]
        mean, covariance = step.following
        for share, (of_mean, of_covariance) in zip(shares.tolist(), self._estimates, strict=True):
            mean, covariance = mean - share * of_mean, covariance - share * of_covariance
        return mean, covariance


def _factored(covariance: Floats) -> Floats | None:
    """Return L with L Lᵀ the covariance; None if it is singular, up to rounding."""
    try:
        lower = np.asarray(cholesky(covariance, lower=True))
    except LinAlgError:
        return None
    return lower if (np.diag(lower) ** 2 > SINGULAR * np.diag(covariance)).all() else None


def _digits(one: float, other: float) -> float:
    """Return how many times larger one change is than another, as a logarithm."""
    return math.log(max(one / max(other, SETTLED), 1.0))


def _by_pattern(rows: Floats, counts: Floats) -> tuple[Floats, Floats, Integers]:
    """Return rows sorted so that those with the same gaps stand together, their weights, and where groups begin."""
    if not len(rows):
        return rows, counts, np.zeros(1, np.int64)
    gaps = np.packbits(np.isnan(rows), axis=1)
    order = np.lexsort(gaps.T)
    ordered = gaps[order]
    new = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    patterns = np.concatenate([[0], new, [len(rows)]]).astype(np.int64)
    return np.ascontiguousarray(rows[order]), np.ascontiguousarray(counts[order]), patterns


def _in_pieces(rows: Floats, patterns: Integers) -> list[Integers]:
    """Cut groups of rows into pieces that are filled in less than a tenth of a second each; return their bounds."""
    columns = rows.shape[1]
    pieces, bounds, steps = [], [0], 0.0
    for first, last in pairwise(patterns.tolist()):
        missing = int(np.isnan(rows[first]).sum())
        at_once = max(1, int(STEPS_AT_ONCE / (missing * columns)))
        for begin in range(first, last, at_once):
            end = min(begin + at_once, last)
            bounds.append(end)
            steps += float(missing) ** 3 + missing * columns * (end - begin)
            if steps >= STEPS_AT_ONCE:
                pieces.append(np.array(bounds, np.int64))
                bounds, steps = [end], 0.0
    return [*pieces, np.array(bounds, np.int64)]
