"""The dense engine: partial correlations of data, or of an exact precision matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Integers, LostPrecision, Removal
from rfdag.eliminate.kernels import dense as kernels
from rfdag.eliminate.thresholds import Threshold
from rfdag.runtime.threads import share

Floats = NDArray[np.float64]
Pairs = Literal["all", "neighbours"]
T = TypeVar("T")

DRIFT = 1e-11
"""Accumulated rounding error after which K is recomputed: each step adds eps / (1 − K²) for its strongest pair."""

WORTH_SHARING = 100_000
"""Inner steps of a kernel (blocks or pairs) below which using threads costs more than it saves."""

AT_ONCE = 2_000_000
"""Inner steps after which scoring returns to Python."""


class DenseEngine:
    """The state of a Gaussian elimination: the matrix K of partial correlations given all the rest.

    K has a unit diagonal and does not depend on the columns' scales. A removal is a rank-one update in O(v²):
    Appendix A of the paper, on the normalised matrix.

    Parameters
    ----------
    partial
        The matrix K over all variables.
    threshold
        Which |K_ij| is an edge: `FisherZ` for data, `Tolerance` for an exact matrix.
    pairs
        "all" counts removed and fill edges among all pairs, the paper's definition; "neighbours" among
        pairs of neighbours of the candidate, equal in the population (Proposition 1), less noisy on data.
    threads
        How many threads may score candidates.
    recompute
        Returns K over the given variables, computed from the data. Called when rounding errors have made K invalid, or
        may have become too large.
    settled
        Distances to the threshold below this may be due to rounding.
    """

    def __init__(
        self,
        partial: Floats,
        threshold: Threshold,
        *,
        pairs: Pairs = "all",
        threads: int = 1,
        recompute: Callable[[Integers], Floats] | None = None,
        settled: float = 1e-10,
    ) -> None:
        v = len(partial)
        columns = -(-v // kernels.BLOCK) * kernels.BLOCK
        self._K = np.zeros((v, columns))
        self._K[:, :v] = partial
        self._size = v
        self._variables = np.arange(v)
        self._threshold = threshold
        self._pairs = pairs
        self._threads = threads
        self._recompute = recompute
        self.settled = settled
        self.check: Callable[[], None] = lambda: None
        """Called again and again while candidates are scored; may raise."""
        self._removals: Integers | None = None
        self._drift = 0.0
        self._margin = np.inf
        self._allocate()
        self._scan()

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._variables[: self._size]

    @property
    def partial(self) -> Floats:
        """The matrix K over the remaining variables."""
        return self._K[: self._size, : self._size].copy()

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        v = self._size
        edges = np.abs(self._K[:v, :v]) > self._threshold(v)
        np.fill_diagonal(edges, False)
        return edges

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._degrees[: self._size].copy()

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        if self._removals is not None:
            return self._removals
        if self._pairs == "neighbours":
            return self._neighbour_scores()[0]
        v, edges = self._size, self._edge_count
        tau_after = self._threshold(max(v - 1, 1))

        def work(first: int, step: int) -> Integers:
            counts = np.zeros((-(-v // kernels.BLOCK), kernels.BLOCK), np.int64)
            kernels.count_removals(
                self._blocks, tau_after, self._peaks, self._edges_i, self._edges_j, edges, first, step, counts
            )
            return counts.ravel()[:v]

        self._removals = self._sum(work, edges * v // kernels.BLOCK)
        return self._removals

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        if self._pairs == "neighbours":
            return self._neighbour_scores()[1]
        v = self._size
        tau, tau_after = self._threshold(v), self._threshold(max(v - 1, 1))

        def work(first: int, step: int) -> Integers:
            counts = np.zeros(self._K.shape[1], np.int64)
            kernels.count_fills(self._K, v, tau, tau_after, self._peaks, first, step, counts)
            return counts[:v]

        return self._sum(work, v * v * v // kernels.BLOCK)

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position`` by one rank-one step."""
        v = self._size
        tau, tau_after = self._threshold(v), self._threshold(max(v - 1, 1))
        variable, margin = int(self._variables[position]), self._margin
        near = np.abs(self._K[position, :v]) > tau
        near[position] = False
        parents = self.remaining[near]
        removed, filled = self._changes(position, tau, tau_after) if with_edges else (None, None)
        removal, fill = self._score_one(position, tau, tau_after, removed)
        if filled is not None and fill is None:
            fill = len(filled)
        others = self._edge_count - len(parents)
        self._marginalise(position, tau_after)
        if fill is None:
            fill = self._edge_count - (others - removal)
        self._refresh_if_drifted()
        return Removal(variable, parents, removal, fill, tau, margin, removed, filled)

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        v = self._size
        columns = -(-v // kernels.BLOCK) * kernels.BLOCK
        twin._K = self._K[:v, :columns].copy()
        twin._variables = self._variables[:v].copy()
        twin._allocate()
        twin._degrees[:] = self._degrees[:v]
        twin._edges_i[: self._edge_count] = self._edges_i[: self._edge_count]
        twin._edges_j[: self._edge_count] = self._edges_j[: self._edge_count]
        twin._peaks[:] = self._peaks[:v, : twin._peaks.shape[1]]
        return twin

    def _allocate(self) -> None:
        """Allocate what is kept besides K: degrees, the edge list, the largest |K| per row and block."""
        v = self._size
        room = v * (v - 1) // 2 + 1
        self._blocks = self._K.reshape(v, -1, kernels.BLOCK)
        self._degrees = np.empty(v, np.int64)
        self._edges_i, self._edges_j = np.empty(room, np.int32), np.empty(room, np.int32)
        self._peaks = np.empty((v, self._K.shape[1] // kernels.BLOCK))
        self._work = np.empty((2, v))

    def _scan(self) -> None:
        v = self._size
        self._edge_count, self._margin = kernels.scan(
            self._blocks, v, self._threshold(v), self._margin,
            self._degrees, self._edges_i, self._edges_j, self._peaks,
        )  # fmt: skip

    def _marginalise(self, position: int, tau_after: float) -> None:
        v = self._size
        gone = int(self._variables[position])
        spoilt, least, self._edge_count, self._margin = kernels.marginalise(
            self._K, self._blocks, v, position, tau_after, self._margin, *self._work,
            self._degrees, self._edges_i, self._edges_j, self._peaks,
        )  # fmt: skip
        self._variables[position] = self._variables[v - 1]
        self._size = v - 1
        self._removals = None
        if spoilt >= 0:
            self._recover(gone, int(self._variables[spoilt]))
        else:
            self._drift += np.finfo(float).eps / least

    def _refresh_if_drifted(self) -> None:
        """Recompute K from the data once the rounding errors of the steps so far may have added up."""
        if self._drift > DRIFT and self._recompute is not None and self._size > 1:
            self._take(self._recompute(self.remaining))

    def _take(self, fresh: Floats) -> None:
        self._K[: self._size, : self._size] = fresh
        self._drift = 0.0
        self._scan()

    def _recover(self, gone: int, spoilt: int) -> None:
        """Recompute K from the data after a step that made it invalid; raise if that does not help."""
        v = self._size
        if v == 1:
            fresh = np.ones((1, 1))
        elif self._recompute is None:
            raise LostPrecision(gone, spoilt)
        else:
            fresh = self._recompute(self.remaining)
        if not (np.abs(fresh) <= 1).all():
            raise LostPrecision(gone, spoilt)
        self._take(fresh)

    def _changes(self, position: int, tau: float, tau_after: float) -> tuple[Integers, Integers]:
        """Return the edges that removing the variable removes and fills, as pairs of variables."""
        # The number of changed edges is not known beforehand: guess, and try again with more room if it was too small.
        v = self._size
        room = 4 * v
        while True:
            removed, filled = np.empty((room, 2), np.int64), np.empty((room, 2), np.int64)
            n_removed, n_filled = kernels.list_changes(self._K, v, position, tau, tau_after, removed, filled)
            if max(n_removed, n_filled) <= room:
                return self.remaining[removed[:n_removed]], self.remaining[filled[:n_filled]]
            room = max(n_removed, n_filled)

    def _score_one(
        self, position: int, tau: float, tau_after: float, removed: Integers | None
    ) -> tuple[int, int | None]:
        """Return R and F of one candidate; F is None if it follows from the number of edges after the removal."""
        v = self._size
        if self._pairs == "all":
            if removed is not None:
                return len(removed), None
            if self._removals is not None:
                return int(self._removals[position]), None
            nothing = np.empty((0, 2), np.int64)
            removal, fill = kernels.list_changes(self._K, v, position, tau, tau_after, nothing, nothing)
            return removal, fill
        removals, fills = np.empty(v, np.int64), np.empty(v, np.int64)
        # A step as long as the matrix makes the range consist of this candidate alone.
        kernels.neighbour_scores(self._K, v, tau, tau_after, position, v, removals, fills)
        return int(removals[position]), int(fills[position])

    def _neighbour_scores(self) -> tuple[Integers, Integers]:
        v = self._size
        tau, tau_after = self._threshold(v), self._threshold(max(v - 1, 1))
        removals, fills = np.empty(v, np.int64), np.empty(v, np.int64)

        def work(first: int, step: int) -> None:
            kernels.neighbour_scores(self._K, v, tau, tau_after, first, step, removals, fills)

        steps = int((self.degrees() ** 2).sum())
        for piece in self._pieces(work, steps):
            share(piece, self._threads_for(steps))
        return removals, fills

    def _sum(self, work: Callable[[int, int], Integers], steps: int) -> Integers:
        threads = self._threads_for(steps)
        return np.sum([part for piece in self._pieces(work, steps) for part in share(piece, threads)], axis=0)

    def _pieces(self, work: Callable[[int, int], T], steps: int) -> Iterator[Callable[[int, int], T]]:
        """Yield the work in pieces of a tenth of a second or so: on dense graphs all of it takes seconds."""
        count = 1 + steps // AT_ONCE
        for piece in range(count):
            self.check()

            def some(first: int, step: int, piece: int = piece) -> T:
                return work(first + step * piece, step * count)

            yield some

    def _threads_for(self, steps: int) -> int:
        return self._threads if steps >= WORTH_SHARING else 1
