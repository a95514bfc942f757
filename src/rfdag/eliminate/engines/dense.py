"""The dense engine: partial correlations of data, or of an exact precision matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.dense_state import DenseState, Floats, Pairs
from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.kernels import dense as kernels
from rfdag.eliminate.thresholds import Threshold
from rfdag.runtime.threads import share

T = TypeVar("T")

WORTH_SHARING = 100_000
"""Inner steps of a kernel (blocks or pairs) below which using threads costs more than it saves."""

AT_ONCE = 2_000_000
"""Inner steps after which scoring returns to Python."""


class DenseEngine(DenseState):
    """The elimination on the CPU, by compiled kernels; see `DenseState`.

    Parameters
    ----------
    partial, threshold, pairs, recompute, settled
        As in `DenseState`.
    threads
        How many threads may score candidates.
    """

    BLOCK = kernels.BLOCK

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
        self._threads = threads
        self.check: Callable[[], None] = lambda: None
        """Called again and again while candidates are scored; may raise."""
        super().__init__(partial, threshold, pairs=pairs, recompute=recompute, settled=settled)

    @property
    def partial(self) -> Floats:
        """The matrix K over the remaining variables."""
        return np.array(self._K[: self._size, : self._size])

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
        tau_after = self._thresholds()[1]

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
        tau, tau_after = self._thresholds()

        def work(first: int, step: int) -> Integers:
            counts = np.zeros(self._K.shape[1], np.int64)
            kernels.count_fills(self._K, v, tau, tau_after, self._peaks, first, step, counts)
            return counts[:v]

        return self._sum(work, v * v * v // kernels.BLOCK)

    def _allocate(self) -> None:
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

    def _zeros(self, rows: int, columns: int) -> Floats:
        return np.zeros((rows, columns))

    def _write(self, partial: Any) -> None:
        self._K[: self._size, : self._size] = partial

    def _row(self, position: int) -> Floats:
        row: Floats = self._K[position, : self._size]
        return row

    def _copy_counts(self, twin: Self) -> None:
        v = self._size
        twin._degrees[:] = self._degrees[:v]
        twin._edges_i[: self._edge_count] = self._edges_i[: self._edge_count]
        twin._edges_j[: self._edge_count] = self._edges_j[: self._edge_count]
        twin._peaks[:] = self._peaks[:v, : twin._peaks.shape[1]]

    def _count_and_marginalise(
        self, position: int, removed: Integers | None, filled: Integers | None, degree: int
    ) -> tuple[int, int]:
        removal, fill = self._score_one(position, removed)
        if filled is not None and fill is None:
            fill = len(filled)
        others = self._edge_count - degree
        self._marginalise(position)
        # What cannot be counted before follows from the number of edges after.
        return removal, self._edge_count - (others - removal) if fill is None else fill

    def _marginalise(self, position: int) -> None:
        spoilt, self._edge_count, self._margin = kernels.marginalise(
            self._K, self._blocks, self._size, position, self._thresholds()[1], self._margin, *self._work,
            self._degrees, self._edges_i, self._edges_j, self._peaks,
        )  # fmt: skip
        self._leave(position, int(spoilt))

    def _changes(self, position: int) -> tuple[Integers, Integers]:
        # The number of changed edges is not known beforehand: guess, and try again with more room if it was too small.
        v = self._size
        room = 4 * v
        while True:
            removed, filled = np.empty((room, 2), np.int64), np.empty((room, 2), np.int64)
            n_removed, n_filled = kernels.list_changes(self._K, v, position, *self._thresholds(), removed, filled)
            if max(n_removed, n_filled) <= room:
                return self.remaining[removed[:n_removed]], self.remaining[filled[:n_filled]]
            room = max(n_removed, n_filled)

    def _score_one(self, position: int, removed: Integers | None) -> tuple[int, int | None]:
        """Return R and F of one candidate; F is None if it follows from the number of edges after the removal."""
        v = self._size
        if self._pairs == "all":
            if removed is not None:
                return len(removed), None
            if self._removals is not None:
                return int(self._removals[position]), None
            nothing = np.empty((0, 2), np.int64)
            removal, fill = kernels.list_changes(self._K, v, position, *self._thresholds(), nothing, nothing)
            return removal, fill
        removals, fills = np.empty(v, np.int64), np.empty(v, np.int64)
        # A step as long as the matrix makes the range consist of this candidate alone.
        kernels.neighbour_scores(self._K, v, *self._thresholds(), position, v, removals, fills)
        return int(removals[position]), int(fills[position])

    def _neighbour_scores(self) -> tuple[Integers, Integers]:
        v = self._size
        tau, tau_after = self._thresholds()
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
