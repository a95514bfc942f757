"""Some rows, spread over all of them, that show what numbers columns hold; of rows in pieces, joined piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELLS_LOOKED_AT = 2**18
"""Numbers of a sample: 2 megabytes, which are sent and joined with the summary of each block."""

LEAST_ROWS, MOST_ROWS = 1000, 10_000
"""Rows of a sample, however many columns there are, and however few."""

SEED = 7
"""Of the row that is drawn from each stretch of rows: a fixed step could fall in with a period of the rows."""


@dataclass(frozen=True, eq=False)
class SpreadSample:
    """One row of each stretch of rows, in their order, in a form in which two samples can be joined.

    Attributes
    ----------
    rows
        The rows of the sample.
    stretch
        How many rows there are for each of the sample: a power of two.
    """

    rows: Floats = field(repr=False)
    stretch: int = 1

    @classmethod
    def of(cls, block: NDArray[Any]) -> SpreadSample:
        """Return a sample of an n × p block.

        >>> sample = SpreadSample.of(np.arange(5000.0).reshape(2500, 2).repeat(200, axis=1))
        >>> sample.rows.shape, sample.stretch
        ((625, 400), 4)
        """
        n, p = block.shape
        stretch = 1
        while -(-n // stretch) > rows_looked_at(p):
            stretch *= 2
        # Column by column, as blocks lie in memory; a copy in any case, since they are overwritten.
        places = np.arange(n) if stretch == 1 else _drawn(n, stretch)
        return cls(np.take(block.T, places, axis=1).astype(np.float64, copy=False).T, stretch)

    def joined(self, other: SpreadSample) -> SpreadSample:
        """Return a sample of these rows and the other's together."""
        if not len(self.rows) or not len(other.rows):
            return self if len(self.rows) else other
        stretch = max(self.stretch, other.stretch)
        rows = np.concatenate([each.rows[:: stretch // each.stretch] for each in (self, other)])
        while len(rows) > rows_looked_at(rows.shape[1]):
            rows, stretch = rows[::2], 2 * stretch
        return SpreadSample(rows, stretch)


def rows_looked_at(columns: int) -> int:
    """Return how many rows a sample has at most.

    >>> rows_looked_at(10), rows_looked_at(100), rows_looked_at(5000)
    (10000, 2621, 1000)
    """
    return min(max(CELLS_LOOKED_AT // max(columns, 1), LEAST_ROWS), MOST_ROWS)


def some_rows(n: int, columns: int, most: int = MOST_ROWS) -> Any:
    """Return the places of all rows if they are few, else of one of each stretch of them.

    >>> some_rows(100, 3), len(some_rows(30_000, 3))
    (slice(None, None, None), 10000)
    """
    return _drawn(n, max(1, -(-n // min(most, rows_looked_at(columns)))))


def _drawn(n: int, stretch: int) -> Any:
    """Return the places of one row of each stretch."""
    if stretch == 1:
        return slice(None)
    starts = np.arange(0, n, stretch)
    draws = np.random.default_rng(SEED).integers(stretch, size=len(starts))
    return np.minimum(starts + draws, n - 1)
