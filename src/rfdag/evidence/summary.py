"""Count, means and spread of rows, in a form in which those of two sets of rows can be joined without loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, lapack

from rfdag.evidence.arrangement import by_content
from rfdag.evidence.row_factor import RowFactor, rows_at_once
from rfdag.evidence.spread import powers_of_two
from rfdag.evidence.spread_sample import SpreadSample
from rfdag.input.weights import check_weights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SURELY_ROUND = 300.0
"""Condition up to which the factor of a block is taken from its products, four times as fast as a QR decomposition.

Products square the condition: below this, what is lost stays under 1e-10, the distance to a threshold which the
engines do not trust anyway.
"""

SQUARES_FROM, SQUARES_TO = 1e-100, 1e100
"""Sizes between which squares and their sums neither overflow nor vanish."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Count, means and spread of some rows, from which moments are made.

    The spread is a factor F, a triangle with its columns in some arrangement or with fewer rows than that, with FᵀF the
    centred sum of squares and products.
    Two summaries are joined by a QR decomposition of both factors and the difference of the means, so that nothing is
    ever squared, and large means cancel nothing.

    Attributes
    ----------
    count
        Number of rows; the sum of their weights where they have some.
    units
        Powers of two by which the columns were divided; 1 unless a column's numbers are extremely large or small.
    means, remainders
        Means, in these units, as the nearest number and what it misses.
    factor
        Matrix F, in these units; empty if there are unusable numbers.
    lowest, highest
        Extremes of each column, in the units of the data.
    missing, infinite
        How many numbers of each column are missing or infinite.
    incomplete
        Number of rows with a missing value.
    sample
        Some of the rows, as they were; none if there are unusable numbers.
    """

    count: float
    units: Floats = field(repr=False)
    means: Floats = field(repr=False)
    remainders: Floats = field(repr=False)
    factor: Floats = field(repr=False)
    lowest: Floats = field(repr=False)
    highest: Floats = field(repr=False)
    missing: Integers = field(repr=False)
    infinite: Integers = field(repr=False)
    incomplete: int = 0
    sample: SpreadSample = field(default_factory=lambda: SpreadSample(np.empty((0, 0))), repr=False)

    @classmethod
    def of(cls, rows: Floats, weights: Floats | None = None) -> Summary:
        """Return the summary of an n × p array, which is overwritten if it is in Fortran's order.

        ``weights`` says how often each row counts, where not once.

        Examples
        --------
        >>> summary = Summary.of(np.array([[1.0, 2.0], [3.0, 2.5], [2.0, 6.0]]))
        >>> summary.means
        array([2. , 3.5])
        >>> summary.factor.T @ summary.factor
        array([[2. , 0.5],
               [0.5, 9.5]])
        """
        rows = np.asfortranarray(rows, dtype=np.float64)
        n, p = rows.shape
        if n == 0:
            return cls._without_factor(0, p)
        lowest, highest = rows.min(axis=0), rows.max(axis=0)
        if not (np.isfinite(lowest).all() and np.isfinite(highest).all()):
            holes = np.isnan(rows)
            infinite = np.isinf(rows).sum(axis=0)
            return cls._without_factor(n, p, holes.sum(axis=0), infinite, int(holes.any(axis=1).sum()))
        sample = SpreadSample.of(rows)
        units = _units(np.maximum(np.abs(lowest), np.abs(highest)))
        means, remainders = np.empty(p), np.empty(p)
        # Column by column: each stays in a cache for all that is done with it.
        for at in range(p):
            column = rows[:, at]
            if units[at] != 1.0:
                column /= units[at]
            means[at] = np.average(column, weights=weights)
            column -= means[at]
            # What rounding left in the mean shows once the mean is gone.
            remainders[at] = np.average(column, weights=weights)
            if remainders[at]:
                column -= remainders[at]
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        zeros = np.zeros(p, np.int64)
        return cls(
            n if weights is None else float(weights.sum()),
            units,
            means,
            remainders,
            _factor(rows),
            lowest,
            highest,
            zeros,
            zeros,
            sample=sample,
        )

    @classmethod
    def of_weighted(cls, block: Floats) -> Summary:
        """Return the summary of rows whose last column says how often each counts.

        >>> repeated, weighted = np.array([[1.0, 5.0], [1.0, 5.0], [2.0, 3.0]]), np.array([[1.0, 5, 2], [2.0, 3, 1]])
        >>> bool(np.allclose(Summary.of(repeated).means, Summary.of_weighted(weighted).means))
        True
        """
        check_weights(block[:, -1])
        counted = block[block[:, -1] > 0]
        return cls.of(np.asfortranarray(counted[:, :-1]), counted[:, -1].copy())

    @classmethod
    def _without_factor(
        cls, n: float, p: int, missing: Integers | None = None, infinite: Integers | None = None, incomplete: int = 0
    ) -> Summary:
        none, nothing = np.zeros(p, np.int64), np.empty((0, p))
        lowest, highest = np.full(p, math.inf), np.full(p, -math.inf)
        missing, infinite = none if missing is None else missing, none if infinite is None else infinite
        return cls(n, np.ones(p), np.zeros(p), np.zeros(p), nothing, lowest, highest, missing, infinite, incomplete)

    @property
    def usable(self) -> bool:
        """Whether every number is finite."""
        return not (self.missing.any() or self.infinite.any())

    def joined(self, other: Summary) -> Summary:
        """Return the summary of these rows and the other's together."""
        n, p = self.count + other.count, len(self.units)
        if not (self.usable and other.usable):
            missing, infinite = self.missing + other.missing, self.infinite + other.infinite
            return Summary._without_factor(n, p, missing, infinite, self.incomplete + other.incomplete)
        if not self.count or not other.count:
            return self if self.count else other
        units = np.maximum(self.units, other.units)
        first, second = self.units / units, other.units / units
        apart = (other.means * second - self.means * first) + (other.remainders * second - self.remainders * first)
        height = len(self.factor)
        places = by_content(self.factor)

        def write(room: Floats) -> None:
            np.multiply(self.factor[:, places], first[places], out=room[:height])
            np.multiply(other.factor[:, places], second[places], out=room[height:-1])
            room[-1] = math.sqrt(self.count / n * other.count) * apart[places]

        both = RowFactor(p)
        both.add_written(height + len(other.factor) + 1, write)
        shift = self.remainders * first + apart * (other.count / n)
        means = self.means * first + shift
        return Summary(
            n,
            units,
            means,
            shift - (means - self.means * first),
            both.factor[:, np.argsort(places)],
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.missing,
            self.infinite,
            sample=self.sample.joined(other.sample),
        )


def _units(sizes: Floats) -> Floats:
    """Return 1 for columns of ordinary size, else the power of two next to their largest number."""
    ordinary = (sizes == 0) | ((sizes > SQUARES_FROM) & (sizes < SQUARES_TO))
    return np.where(ordinary, 1.0, powers_of_two(sizes))


def _factor(centred: Floats) -> Floats:
    """Return F with FᵀF = centredᵀ centred."""
    n, p = centred.shape
    places = by_content(centred)
    given = np.argsort(places)
    step = rows_at_once(n, p)
    pieces = [slice(start, start + step) for start in range(0, n, step)]
    if n >= 2 * p:
        products = np.zeros((p, p))
        for piece in pieces:
            some = centred[piece][:, places]
            products += some.T @ some
        factor = _factor_of_products(products)
        if factor is not None:
            return factor[:, given]
    by_qr = RowFactor(p)
    for piece in pieces:
        by_qr.add(centred[piece][:, places])
    factor = by_qr.factor
    return factor[:, given]


def _factor_of_products(products: Floats) -> Floats | None:
    """Return the Cholesky factor of products, which are overwritten, or None where that would lose accuracy."""
    norms = np.sqrt(np.diag(products))
    if not (norms > 0).all():
        return None
    products /= norms
    products /= norms[:, None]
    try:
        factor: Floats = cholesky(products, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return factor * norms if reciprocal_condition(factor) * SURELY_ROUND >= 1 else None


def reciprocal_condition(triangle: Floats) -> float:
    """Return 1 / (‖R‖ ‖R⁻¹‖) of an upper triangle in the 1-norm; 0 if it is singular.

    >>> round(reciprocal_condition(np.array([[1.0, 3.0], [0.0, 1.0]])), 4)
    0.0625
    """
    if hasattr(lapack, "dtrcon"):
        return float(lapack.dtrcon(triangle)[0])
    # SciPy before 1.15 lacks the estimate; the inverse itself costs p³/3 more.
    inverse, singular = lapack.dtrtri(triangle)
    condition = np.linalg.norm(triangle, 1) * np.linalg.norm(inverse, 1)
    return 0.0 if singular or not np.isfinite(condition) else float(1 / condition)
