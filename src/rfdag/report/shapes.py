"""Skewness, kurtosis, extremes and different values of columns, of a table or of blocks of rows that are joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

VALUES_KEPT = 2**20
"""Different values of all columns together that are kept of some rows while blocks are joined: 8 MB.

A column with its share or more, at least 100, counts as having that many.
"""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Shape of the distribution of every column.

    Sums of powers are those of the deviations from the mean, in ``units``, powers of two near the size of the column.

    >>> rows = np.random.default_rng(0).exponential(size=(1000, 2))
    >>> joined = Shapes.of(rows[:300]).joined(Shapes.of(rows[300:]))
    >>> np.allclose(joined.skewness, Shapes.of_table(rows).skewness), joined.distinct.tolist()
    (True, [1000, 1000])
    """

    count: int
    lowest: Floats
    highest: Floats
    missing: Integers
    infinite: Integers
    units: Floats = field(repr=False)
    means: Floats = field(repr=False)
    powers: Floats = field(repr=False)
    """Sums of the second, third and fourth powers of the deviations: 3 × p."""
    distinct: Integers
    values: tuple[Floats | None, ...] = field(default=(), repr=False)
    """Different values of each column, sorted; None where there are too many to keep."""

    @classmethod
    def of_table(cls, values: NDArray[np.float64]) -> Shapes:
        """Return the shapes of a table in memory, with all its different values counted."""
        columns = [cls.of(values[:, at : at + 1], most=None) for at in range(values.shape[1])]
        names = ("lowest", "highest", "missing", "infinite", "units", "means", "powers", "distinct")
        parts: dict[str, Any] = {
            name: np.concatenate([getattr(column, name) for column in columns], axis=-1) for name in names
        }
        return cls(count=len(values), **parts)

    @classmethod
    def of(cls, block: Floats, most: int | None = 0) -> Shapes:
        """Return the shapes of a block of rows, keeping at most so many values of each column.

        By default that is a share of `VALUES_KEPT`; with None values are counted, and none are kept.
        """
        count, p = block.shape
        limit = values_per_column(p) if most == 0 else most
        missing, infinite = np.isnan(block).sum(axis=0), np.isinf(block).sum(axis=0)
        if count == 0 or missing.any() or infinite.any():
            return cls._without_shapes(count, missing, infinite)
        lowest, highest = block.min(axis=0).astype(np.float64), block.max(axis=0).astype(np.float64)
        units, means, powers = np.ones(p), np.empty(p), np.empty((3, p))
        distinct = np.empty(p, np.int64)
        values: list[Floats | None] = []
        for at in range(p):
            # Near 1 first, so that fourth powers neither overflow nor vanish.
            largest = max(abs(lowest[at]), abs(highest[at]))
            units[at] = np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1023)) if largest else 1.0
            column = block[:, at] / units[at]
            means[at] = column.mean()
            column -= means[at]
            square = column**2
            powers[:, at] = square.sum(), (square * column).sum(), (square**2).sum()
            different = np.unique(block[:, at])
            distinct[at] = len(different) if limit is None else min(len(different), limit)
            values.append(None if limit is None or len(different) >= limit else different)
        return cls(count, lowest, highest, missing, infinite, units, means, powers, distinct, tuple(values))

    @classmethod
    def _without_shapes(cls, count: int, missing: Integers, infinite: Integers) -> Shapes:
        p = len(missing)
        nothing = np.full(p, np.nan)
        return cls(
            count, nothing, nothing, missing, infinite, np.ones(p), nothing, np.full((3, p), np.nan),
            np.zeros(p, np.int64), (None,) * p,
        )  # fmt: skip

    def joined(self, other: Shapes) -> Shapes:
        """Return the shapes of these rows and the other's together (Pébay 2008 has the formulas)."""
        if not self.count or not other.count:
            return self if self.count else other
        n, p = self.count + other.count, len(self.units)
        missing, infinite = self.missing + other.missing, self.infinite + other.infinite
        if missing.any() or infinite.any():
            return Shapes._without_shapes(n, missing, infinite)
        units = np.maximum(self.units, other.units)
        first, second = self.units / units, other.units / units
        two, three, four = _scaled(self.powers, first)
        other_two, other_three, other_four = _scaled(other.powers, second)
        mean = self.means * first
        apart = other.means * second - mean
        a, b = self.count / n, other.count / n
        product = self.count * b
        powers = np.array(
            [
                two + other_two + product * apart**2,
                three + other_three + product * (a - b) * apart**3 + 3 * apart * (a * other_two - b * two),
                four
                + other_four
                + product * (a * a - a * b + b * b) * apart**4
                + 6 * apart**2 * (a * a * other_two + b * b * two)
                + 4 * apart * (a * other_three - b * three),
            ]
        )
        limit = values_per_column(p)
        values = tuple(
            None if one is None or another is None else _merged(one, another, limit)
            for one, another in zip(self.values, other.values, strict=True)
        )
        return Shapes(
            n,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            missing,
            infinite,
            units,
            mean + apart * b,
            powers,
            np.array([limit if kept is None else len(kept) for kept in values]),
            values,
        )

    @property
    def skewness(self) -> Floats:
        """Third standardised moments; NaN where a column is constant."""
        return self._standardised(1)

    @property
    def kurtosis(self) -> Floats:
        """Fourth standardised moments, less the 3 of a Gaussian; NaN where a column is constant."""
        return self._standardised(2) - 3

    def _standardised(self, at: int) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            moments: Floats = self.powers[at] / self.count / (self.powers[0] / self.count) ** (1 + at / 2)
        return moments


def values_per_column(columns: int) -> int:
    """Return up to how many different values of a column are counted while blocks are joined.

    >>> values_per_column(10), values_per_column(10**6)
    (104857, 100)
    """
    return max(100, VALUES_KEPT // columns)


def _scaled(powers: Floats, units: Floats) -> Floats:
    return powers * np.array([units**2, units**3, units**4])


def _merged(one: Floats, another: Floats, limit: int) -> Floats | None:
    both = np.union1d(one, another)
    return both if len(both) < limit else None
