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

from rfdag.evidence.kernels.em import fill_rows
from rfdag.runtime.threads import one_blas_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_STEPS = 1000
"""Steps after which the estimate is taken as it is, and a remark says so."""

SETTLED = 1e-5
"""Change of the estimate from step to step at which it counts as settled: relative to the variance in every direction,
so that a difference of two columns that hardly differ is as well estimated as the columns are."""

TO_COME = 1e-3
"""Change that may still be to come, as the last two steps tell: where much is missing, steps are small but many."""

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
    n, columns = values.shape
    counts = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    known = ~np.isnan(values)
    sizes = counts @ known
    means = np.where(known, values, 0.0).T @ counts / sizes
    centred = np.where(known, values - means, 0.0)
    scales = np.sqrt((centred**2).T @ counts / sizes)
    scales[scales == 0] = 1.0
    standard = (values - means) / scales
    whole = known.all(axis=1)
    total = counts.sum()
    # Rows without gaps enter by their sums alone, once and for all.
    complete = standard[whole]
    weighed = complete * counts[whole][:, None]
    sums, squares = weighed.sum(axis=0), complete.T @ weighed
    rows, row_counts, patterns = _by_pattern(standard[~whole], counts[~whole])
    pieces = _in_pieces(rows, patterns)
    filled, spread = np.empty_like(rows), np.empty((columns, columns))
    mean, covariance = np.zeros(columns), np.eye(columns)
    # A start from what pairs of columns show saves the first steps.
    found: list[float] = []
    change, first, ridged, settled = math.inf, 1.0, False, False
    with one_blas_thread():
        for step in range(MOST_STEPS):
            check()
            lower = None if ridged else _factored(covariance)
            if lower is None:
                ridged = True
                lower = cholesky(covariance + RIDGE * np.diag(np.diag(covariance)), lower=True)
            precision = np.ascontiguousarray(cho_solve((lower, True), np.eye(columns)))
            spread[:] = logs = 0.0
            for some in pieces:
                check()
                logs += fill_rows(rows, some, precision, mean, filled, spread, row_counts)
            weighed = filled * row_counts[:, None]
            shift = (weighed.sum(axis=0) + sums - counts[whole].sum() * mean) / total
            # Squares about the current mean, of the filled rows and of those without gaps.
            of_whole = (
                squares - np.outer(sums, mean) - np.outer(mean, sums) + counts[whole].sum() * np.outer(mean, mean)
            )
            about = filled.T @ weighed + of_whole
            quadratic = float((precision * about).sum())
            log_det = 2 * float(np.log(np.diag(lower)).sum())
            observed = counts @ known.sum(axis=1)
            found.append(-0.5 * (observed * math.log(2 * math.pi) + total * log_det + logs + quadratic))
            following = (about + spread) / total - np.outer(shift, shift)
            before, change = change, _change(lower, following - covariance, shift)
            rate = min(change / before, 0.9999) if step else 0.0
            settled = not len(rows) or (change < SETTLED and change * rate / (1 - rate) < TO_COME)
            mean, covariance = mean + shift, (following + following.T) / 2
            first = change if step == 0 else first
            report(
                min(1.0, math.log(max(first / max(change, SETTLED), 1.0)) / math.log(max(first / SETTLED, 1.0 + 1e-9)))
            )
            if settled:
                break
    return Estimate(
        mean * scales + means,
        covariance * scales * scales[:, None],
        tuple(found),
        settled,
        ridged,
    )


def _factored(covariance: Floats) -> Floats | None:
    """Return L with L Lᵀ the covariance; None if it is singular, up to rounding."""
    try:
        lower = np.asarray(cholesky(covariance, lower=True))
    except LinAlgError:
        return None
    return lower if (np.diag(lower) ** 2 > SINGULAR * np.diag(covariance)).all() else None


def _change(lower: Floats, of_covariance: Floats, of_mean: Floats) -> float:
    """Return the largest change of a covariance L Lᵀ and of the means, in units in which that is the identity."""
    half = solve_triangular(lower, of_covariance, lower=True)
    whole = solve_triangular(lower, half.T, lower=True)
    return float(max(np.abs(whole).max(), np.abs(solve_triangular(lower, of_mean, lower=True)).max()))


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
