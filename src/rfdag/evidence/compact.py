"""Rows that come in pieces, some with gaps: complete rows summed up, the others kept as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.spread import silenced
from rfdag.evidence.summary import Summary
from rfdag.input.files import require_memory

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWER = "Rows with gaps are kept in memory: leave out columns with many gaps, or pass missing='drop'."
"""What to do if these do not fit."""


@dataclass(frozen=True, eq=False)
class Compact:
    """Rows some of which have gaps.

    Attributes
    ----------
    whole
        The summary of the complete rows.
    broken, weights
        The other rows, and how often each counts.
    missing
        How many values of each column are missing.
    rows
        How many rows there are.
    """

    whole: Summary
    broken: tuple[Floats, ...] = field(repr=False)
    weights: tuple[Floats, ...] = field(repr=False)
    missing: Integers
    rows: int

    @classmethod
    def of(cls, block: Floats, weights: Floats | None = None) -> Compact:
        """Return what there is in a block of rows, which may be overwritten.

        >>> found = Compact.of(np.array([[1.0, 2.0], [np.nan, 3.0], [2.0, 5.0]]))
        >>> found.whole.count, found.broken[0], found.missing
        (2, array([[nan,  3.]]), array([1, 0]))
        """
        # A sum tells whether there is anything to look for.
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = bool(np.isnan(block.sum()))
        gaps = np.isnan(block) if suspicious else np.zeros((1, block.shape[1]), bool)
        incomplete = gaps.any(axis=1)
        if not incomplete.any():
            zeros = np.zeros(block.shape[1], np.int64)
            return cls(Summary.of(block, weights), (), (), zeros, len(block))
        broken = block[incomplete]
        require_memory("The next rows with gaps", 2.0 * broken.nbytes, FEWER)
        own = np.ones(len(broken)) if weights is None else weights[incomplete]
        others = None if weights is None else weights[~incomplete]
        whole = Summary.of(np.asfortranarray(block[~incomplete]), others)
        return cls(whole, (broken,), (own,), gaps.sum(axis=0), len(block))

    def joined(self, other: Compact) -> Compact:
        """Return these rows and the other's together."""
        return Compact(
            self.whole.joined(other.whole),
            self.broken + other.broken,
            self.weights + other.weights,
            self.missing + other.missing,
            self.rows + other.rows,
        )

    @property
    def gappy(self) -> bool:
        """Whether there are gaps."""
        return bool(self.missing.any())

    def as_rows(self) -> tuple[Floats, Floats]:
        """Return rows with weights that have the same moments and the same gaps.

        The complete rows are replaced by twice as many as there are columns, μ ± √k · L_j with weights n / 2k, where
        L Lᵀ is their covariance: estimates depend on complete rows by their count, sums and products alone.

        >>> some = np.array([[1.0, 2.0], [3.0, 3.0], [2.0, 7.0], [0.0, 0.0]])
        >>> rows, weights = Compact.of(some.copy()).as_rows()
        >>> weights.sum(), (weights @ rows / 4).round(6)
        (np.float64(4.0), array([1.5, 3. ]))
        >>> np.allclose((rows * weights[:, None]).T @ rows, some.T @ some)
        True
        """
        parts, counts = list(self.broken), list(self.weights)
        count = self.whole.count
        if count:
            columns = len(self.missing)
            factor = np.zeros((columns, columns))
            factor[: len(self.whole.factor)] = self.whole.factor
            spread = factor * (math.sqrt(columns / count) * self.whole.units)
            means = self.whole.means * self.whole.units
            parts += [means + spread, means - spread]
            counts += [np.full(2 * columns, count / (2 * columns))]
        return silenced(np.concatenate(parts)), np.concatenate(counts)
