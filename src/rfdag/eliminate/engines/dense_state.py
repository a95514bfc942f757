"""What dense engines keep track of on every device: the variables left, the threshold, how exact the matrix is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Integers, LostPrecision, Removal
from rfdag.eliminate.thresholds import Threshold

Floats = NDArray[np.float64]
Pairs = Literal["all", "neighbours"]

DRIFT = 1e-12
"""Rounding error after which K is recomputed.

Entries of an unscaled matrix lose about eps of its diagonal as it was at first. Where removals have left little of that
diagonal, a share that K knows as Π (1 − K²), this is much of what is left.
"""


class DenseState(ABC):
    """The state of a Gaussian elimination: the matrix K of partial correlations given all the rest.

    K has a unit diagonal and does not depend on the columns' scales. A removal is a rank-one update in O(v²):
    Appendix A of the paper, on the normalised matrix. Where K is, and what works on it, is known to each device.

    Parameters
    ----------
    partial
        The matrix K over all variables.
    threshold
        Which |K_ij| is an edge: `FisherZ` for data, `Tolerance` for an exact matrix.
    pairs
        "all" counts removed and fill edges among all pairs, the paper's definition; "neighbours" among
        pairs of neighbours of the candidate, equal in the population (Proposition 1), less noisy on data.
    recompute
        Returns K over the given variables, computed from the data. Called when rounding errors have made K invalid, or
        may have become too large.
    settled
        Distances to the threshold below this may be due to rounding.
    """

    BLOCK: int
    """Columns of K that are bounded together; rows of K are as many such blocks long as are needed."""

    _K: Any

    def __init__(
        self,
        partial: Any,
        threshold: Threshold,
        *,
        pairs: Pairs = "all",
        recompute: Callable[[Integers], Floats] | None = None,
        settled: float = 1e-10,
    ) -> None:
        v = len(partial)
        self._K = self._zeros(v, self._room(v))
        self._size = v
        self._write(partial)
        self._variables = np.arange(v)
        self._threshold = threshold
        self._pairs = pairs
        self._recompute = recompute
        self.settled = settled
        self._removals: Integers | None = None
        self._edge_count = 0
        self._left = np.ones(v)
        self._margin = np.inf
        self._allocate()
        self._scan()

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._variables[: self._size]

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position`` by one rank-one step."""
        tau, _ = self._thresholds()
        variable, margin = int(self._variables[position]), self._margin
        row = self._row(position)
        near = np.abs(row) > tau
        near[position] = False
        left = self._left * (1.0 - row**2)
        left[position] = left[-1]
        self._left = left[:-1]
        parents = self.remaining[near]
        removed, filled = self._changes(position) if with_edges else (None, None)
        removal, fill = self._count_and_marginalise(position, removed, filled, len(parents))
        if self.drift > DRIFT and self._recompute is not None and self._size > 1:
            self._recover(variable)
        return Removal(variable, parents, removal, fill, tau, margin, removed, filled)

    @property
    def drift(self) -> float:
        """About how much rounding has changed K since it was computed."""
        return float(np.finfo(float).eps / max(self._left.min(initial=1.0), np.finfo(float).tiny))

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        v = self._size
        twin._K = self._K[:v, : self._room(v)].copy()
        twin._variables = self._variables[:v].copy()
        twin._allocate()
        self._copy_counts(twin)
        return twin

    def _room(self, v: int) -> int:
        """Return the length of a row of K over v variables."""
        return -(-v // self.BLOCK) * self.BLOCK

    def _thresholds(self) -> tuple[float, float]:
        """Return the threshold for the current number of variables, and for one less."""
        return self._threshold(self._size), self._threshold(max(self._size - 1, 1))

    def _leave(self, position: int, spoilt: int) -> None:
        """Take note that a variable is gone; ``spoilt`` is where K has become invalid, negative if nowhere."""
        gone = int(self._variables[position])
        self._variables[position] = self._variables[self._size - 1]
        self._size -= 1
        self._removals = None
        if spoilt >= 0:
            self._recover(gone, int(self._variables[spoilt]))

    def _recover(self, gone: int, spoilt: int | None = None) -> None:
        """Go on with K recomputed from the data after the removal of ``gone``; raise if that is invalid, too."""
        if self._size == 1:
            fresh = np.ones((1, 1))
        elif self._recompute is not None:
            fresh = self._recompute(self.remaining)
        else:
            assert spoilt is not None
            raise LostPrecision(gone, spoilt)
        invalid = ~(np.abs(fresh) <= 1).all(axis=0)
        if invalid.any():
            raise LostPrecision(gone, int(self.remaining[int(invalid.argmax())]) if spoilt is None else spoilt)
        self._write(fresh)
        self._left = np.ones(self._size)
        self._scan()

    @abstractmethod
    def _zeros(self, rows: int, columns: int) -> Any:
        """Return a matrix of zeros where K is kept."""

    @abstractmethod
    def _write(self, partial: Any) -> None:
        """Store K over the remaining variables."""

    @abstractmethod
    def _row(self, position: int) -> Floats:
        """Return the row of K of a remaining variable."""

    @abstractmethod
    def _allocate(self) -> None:
        """Allocate what is kept besides K: degrees, the edge list, the largest |K| per row and block."""

    @abstractmethod
    def _scan(self) -> None:
        """Compute what is kept besides K."""

    @abstractmethod
    def _copy_counts(self, twin: Self) -> None:
        """Give a copy, whose room is allocated, what is kept besides K."""

    @abstractmethod
    def _changes(self, position: int) -> tuple[Integers, Integers]:
        """Return the edges that removing the variable removes and fills, as pairs of variables."""

    @abstractmethod
    def _count_and_marginalise(
        self, position: int, removed: Integers | None, filled: Integers | None, degree: int
    ) -> tuple[int, int]:
        """Remove a variable; return how many edges among the others were removed and filled.

        ``removed`` and ``filled`` are these edges where they have been listed, ``degree`` its number of neighbours.
        """
