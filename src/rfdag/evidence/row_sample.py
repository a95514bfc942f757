"""A random sample of rows that come in pieces, and the ranks that all rows have in it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.summary import Summary

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CELLS_KEPT = 2**22
"""Numbers of a sample: 32 megabytes."""

LEAST_ROWS = 10_000
"""Rows of a sample, however many columns there are."""

SEED = 20121
"""Of the draws. It goes with the numbers of each block, so that the sample depends neither on threads nor on chance."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows drawn at random without replacement, in a form in which two samples can be joined.

    Every row gets a random number, and those with the smallest stay: whichever way rows come in blocks, all have the
    same chance.

    Attributes
    ----------
    most
        How many rows are kept at most.
    count
        How many rows there are.
    rows, numbers
        The rows that are kept, all if they are no more than ``most``, and their random numbers.
    missing, infinite, incomplete
        Missing and infinite numbers of each column, and the rows with a missing one; no rows are kept where there are
        any.
    """

    most: int
    count: int
    rows: Floats = field(repr=False)
    numbers: Floats = field(repr=False)
    missing: Integers = field(repr=False)
    infinite: Integers = field(repr=False)
    incomplete: int = 0

    @classmethod
    def of(cls, most: int, block: Floats) -> RowSample:
        """Return a sample of an n × p block.

        >>> sample = RowSample.of(3, np.arange(20.0).reshape(10, 2))
        >>> sample.count, sample.rows.shape, sample.whole
        (10, (3, 2), False)
        """
        n, p = block.shape
        none = np.zeros(p, np.int64)
        if np.isfinite(block).all():
            content = zlib.crc32(np.ascontiguousarray(block.T).data)
            numbers: Floats = np.random.default_rng([SEED, content, n]).random(size=(n,))
            return cls(most, n, *_lowest(most, block, numbers), none, none)
        holes = np.isnan(block)
        nothing = np.empty((0, p)), np.empty(0)
        return cls(most, n, *nothing, holes.sum(axis=0), np.isinf(block).sum(axis=0), int(holes.any(axis=1).sum()))

    def joined(self, other: RowSample) -> RowSample:
        """Return a sample of these rows and the other's together."""
        missing, infinite = self.missing + other.missing, self.infinite + other.infinite
        rows, numbers = np.concatenate([self.rows, other.rows]), np.concatenate([self.numbers, other.numbers])
        kept = _lowest(self.most, rows, numbers)
        return RowSample(
            self.most, self.count + other.count, *kept, missing, infinite, self.incomplete + other.incomplete
        )

    @property
    def whole(self) -> bool:
        """Whether all rows are in the sample."""
        return len(self.rows) == self.count

    def scoring(self, transform: Callable[[Floats], Floats]) -> Callable[[Floats], Summary]:
        """Return the function from a block of rows to the summary of their transformed ranks in this sample."""
        return partial(_summed_up, np.sort(self.rows, axis=0).T.copy(), transform)


def rows_kept(columns: int) -> int:
    """Return how many rows a sample holds.

    >>> rows_kept(20), rows_kept(10_000)
    (209715, 10000)
    """
    return max(CELLS_KEPT // max(columns, 1), LEAST_ROWS)


def shares_in(columns: Floats, block: Floats) -> Floats:
    """Return rank / (k + 1) of every number of a block among the k sorted ones of its column, given as rows.

    Numbers that are not among them rank half way between their neighbours; of those that are, ties share the mean of
    their ranks, as in `rfdag.evidence.ranks.shares_below`.

    >>> shares_in(np.array([[1.0, 3.0, 3.0]]), np.array([[0.0], [1.0], [3.0], [4.0]]))
    array([[0.125],
           [0.25 ],
           [0.625],
           [0.875]])
    """
    k = columns.shape[1]
    shares = np.empty(block.shape, order="F")
    for at, known in enumerate(columns):
        below = np.searchsorted(known, block[:, at])
        ranks = below + 0.5
        equal = np.flatnonzero(known[np.minimum(below, k - 1)] == block[:, at])
        if len(equal):
            up_to = np.searchsorted(known, block[equal, at], side="right")
            ranks[equal] = (below[equal] + up_to + 1) / 2
        np.divide(ranks, k + 1, out=shares[:, at])
    return shares


def _summed_up(columns: Floats, transform: Callable[[Floats], Floats], block: Floats) -> Summary:
    return Summary.of(transform(shares_in(columns, block)))


def _lowest(most: int, rows: Floats, numbers: Floats) -> tuple[Floats, Floats]:
    """Return the rows with the lowest numbers, in the order in which they are, and these numbers."""
    if len(rows) <= most:
        return np.array(rows), numbers
    kept = np.sort(np.argpartition(numbers, most)[:most])
    return rows[kept], numbers[kept]
