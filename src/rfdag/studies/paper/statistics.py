"""Means with their uncertainty, and exponents of growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 2000
LEVEL = 0.95
MOST_AT_ONCE = 10_000_000
"""Numbers drawn at once in a bootstrap."""


class Band(NamedTuple):
    """An estimate and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


class Growth(NamedTuple):
    """A fitted power law: the exponent and the ends of its 95 % interval, and the factor before."""

    exponent: float
    low: float
    high: float
    factor: float


def mean_band(values: ArrayLike, seed: int = 0) -> Band:
    """Return the mean and its interval by the percentile bootstrap over the values, which never leaves their range.

    >>> mean_band([1.0, 1.0, 1.0])
    Band(mean=1.0, low=1.0, high=1.0)
    >>> band = mean_band([0.0, 1.0] * 50)
    >>> 0.35 < band.low < 0.5 < band.high < 0.65
    True
    """
    return _band(values, seed, np.mean)


def median_band(values: ArrayLike, seed: int = 0) -> Band:
    """Return the median and its interval in the same way: for times, which a busy machine now and then stretches."""
    return _band(values, seed, np.median)


def _band(values: ArrayLike, seed: int, centre: Callable[..., Any]) -> Band:
    sample: NDArray[np.float64] = np.asarray(values, np.float64)
    if not sample.size:
        return Band(float("nan"), float("nan"), float("nan"))
    generator = np.random.default_rng(seed)
    resamples = min(RESAMPLES, max(200, MOST_AT_ONCE // sample.size))
    drawn = sample[generator.integers(sample.size, size=(resamples, sample.size))]
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(centre(drawn, axis=1), [tail, 100 - tail])
    return Band(float(centre(sample)), float(low), float(high))


def growth(sizes: Sequence[float], times: Sequence[float]) -> Growth:
    """Fit time = factor · size^exponent by least squares on logarithms.

    >>> fit = growth([10, 20, 40, 80], [1.0, 8.0, 64.0, 512.0])
    >>> round(fit.exponent, 6), round(fit.low, 6), round(fit.factor, 6)
    (3.0, 3.0, 0.001)
    """
    from scipy import stats

    if len(sizes) < 2:
        raise ValueError("A power law needs at least two sizes.")
    x, y = np.log(np.asarray(sizes, np.float64)), np.log(np.asarray(times, np.float64))
    fit = stats.linregress(x, y)
    # With two points nothing is left to judge the fit by.
    spread = float(stats.t.ppf((1 + LEVEL) / 2, len(x) - 2) * fit.stderr) if len(x) > 2 else float("nan")
    slope = float(fit.slope)
    return Growth(slope, slope - spread, slope + spread, float(np.exp(fit.intercept)))


def paired_difference(first: ArrayLike, second: ArrayLike, seed: int = 0) -> Band:
    """Return the mean of first − second, pair by pair, with its interval.

    >>> paired_difference([2.0, 3.0], [1.0, 2.0])
    Band(mean=1.0, low=1.0, high=1.0)
    """
    return mean_band(np.asarray(first, np.float64) - np.asarray(second, np.float64), seed)


def rounded(value: float, digits: int = 5) -> float:
    """Return a number with that many significant digits, for a table.

    >>> rounded(1.0034567), rounded(0.00012345678, 3)
    (1.0035, 0.000123)
    """
    return float(f"{value:.{digits}g}")
