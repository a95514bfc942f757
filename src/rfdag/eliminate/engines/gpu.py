"""The dense engine on a GPU: the same graphs, scores and removals as `DenseEngine`, by CUDA kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.dense_state import DenseState, Floats, Pairs
from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.thresholds import Threshold
from rfdag.runtime.device import blocks, cupy, kernels, with_shared

BLOCK = 32
"""Candidates per block of the pruning bound: a warp handles them together."""

EDGES, MARGIN, SPOILT, REMOVED, FILLED = range(5)
"""What the kernels count in one pass, in the order of their struct Tally."""

NOTHING_SPOILT = np.uint64(2**64 - 1)
THREADS = 256


def bytes_of_engine(p: int) -> float:
    """Return the device memory that the engine takes: K, the edge list, peaks."""
    return (8.0 + 4.0 + 8.0 / BLOCK) * p * (p + BLOCK) + 64.0 * p


class GpuEngine(DenseState):
    """The elimination on a GPU, by CUDA kernels; see `DenseState`. ``partial`` may be on the device already."""

    BLOCK = BLOCK

    def __init__(
        self,
        partial: Any,
        threshold: Threshold,
        *,
        pairs: Pairs = "all",
        recompute: Callable[[Integers], Floats] | None = None,
        settled: float = 1e-10,
    ) -> None:
        self._cp = cupy()
        self._kernels = kernels("dense")
        super().__init__(partial, threshold, pairs=pairs, recompute=recompute, settled=settled)

    @property
    def _ld(self) -> int:
        """The length of a row of K."""
        return int(self._K.shape[1])

    @property
    def partial(self) -> Floats:
        """The matrix K over the remaining variables, copied to the host."""
        return np.asarray(self._cp.asnumpy(self.on_device))

    @property
    def on_device(self) -> Any:
        """The matrix K over the remaining variables, on the device."""
        return self._K[: self._size, : self._size]

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        edges = np.asarray(self._cp.asnumpy(self._cp.abs(self.on_device) > self._threshold(self._size)))
        np.fill_diagonal(edges, False)
        return edges

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._fetch(self._degrees)

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        if self._removals is None:
            self._removals = self._neighbour_scores()[0] if self._pairs == "neighbours" else self._count_removals()
        return self._removals

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        if self._pairs == "neighbours":
            return self._neighbour_scores()[1]
        v = self._size
        tau, tau_after = self._thresholds()
        counts = self._cp.zeros(v, np.int32)
        self._kernels.count_fills(
            (v,), (THREADS,), (self._K, np.int32(self._ld), np.int32(v), tau, tau_after, self._peaks, counts)
        )
        return self._fetch(counts)

    def _zeros(self, rows: int, columns: int) -> Any:
        return self._cp.zeros((rows, columns))

    def _write(self, partial: Any) -> None:
        self._K[: self._size, : self._size] = self._cp.asarray(partial)

    def _row(self, position: int) -> Floats:
        row: Floats = self._fetch(self._K[position])
        return row

    def _copy_counts(self, twin: Self) -> None:
        twin._scan()

    def _count_and_marginalise(
        self, position: int, removed: Integers | None, filled: Integers | None, degree: int
    ) -> tuple[int, int]:
        if self._pairs == "all":
            return self._marginalise(position)
        removal, fill = (int(score[position]) for score in self._neighbour_scores(position))
        self._marginalise(position)
        return removal, fill

    def _allocate(self) -> None:
        cp, v = self._cp, self._size
        room = max(1, v * (v - 1) // 2)
        self._degrees = cp.zeros(v, np.int64)
        self._edges_i, self._edges_j = cp.empty(room, np.int32), cp.empty(room, np.int32)
        self._peaks = cp.zeros((v, self._ld // BLOCK))
        self._a, self._u = cp.empty(v), cp.empty(v)

    def _scan(self) -> None:
        v = self._size
        tally = self._new_tally()
        if v:
            self._kernels.scan(
                (v,), (THREADS,),
                (self._K, np.int32(self._ld), np.int32(v), self._threshold(v), self._degrees, self._peaks,
                 self._edges_i, self._edges_j, tally),
            )  # fmt: skip
        self._read(tally)

    def _marginalise(self, position: int) -> tuple[int, int]:
        """Remove a variable; return how many edges among the others were removed and added."""
        v = self._size
        tau, tau_after = self._thresholds()
        tally = self._new_tally()
        size = (self._K, np.int32(self._ld), np.int32(v), np.int32(position), self._a, self._u)
        self._kernels.take((blocks(v, THREADS),), (THREADS,), (*size, tally))
        if v > 1:
            self._kernels.marginalise(
                (v - 1,), (THREADS,),
                (*size, tau, tau_after, self._degrees, self._peaks, self._edges_i, self._edges_j, tally),
            )  # fmt: skip
        found = self._read(tally)
        spoilt = -1 if found[SPOILT] == NOTHING_SPOILT else int(found[SPOILT]) % v
        self._leave(position, spoilt)
        return int(found[REMOVED]), int(found[FILLED])

    def _changes(self, position: int) -> tuple[Integers, Integers]:
        v = self._size
        marks = self._cp.empty((v, v), np.uint8)
        self._kernels.mark_changes(
            (v,), (THREADS,),
            (self._K, np.int32(self._ld), np.int32(v), np.int32(position), *self._thresholds(), marks),
        )  # fmt: skip
        marks = self._cp.asnumpy(marks)
        return self.remaining[np.argwhere(marks == 1)], self.remaining[np.argwhere(marks == 2)]

    def _count_removals(self) -> Integers:
        counts = self._cp.zeros(self._size, np.int32)
        warps = THREADS // 32
        self._kernels.count_removals(
            (blocks(self._edge_count, warps),), (THREADS,),
            (self._K, np.int32(self._ld), np.int32(self._size), self._thresholds()[1], self._peaks,
             self._edges_i, self._edges_j, np.int64(self._edge_count), counts),
        )  # fmt: skip
        return self._fetch(counts)

    def _neighbour_scores(self, position: int | None = None) -> tuple[Integers, Integers]:
        """Return R and F among neighbours, of all candidates or of one (the others' are then undefined)."""
        v = self._size
        removals, fills = self._cp.empty(v, np.int64), self._cp.empty(v, np.int64)
        first, count = (0, v) if position is None else (position, 1)
        with_shared(self._kernels.neighbour_scores, 4 * v)(
            (count,), (THREADS,),
            (self._K, np.int32(self._ld), np.int32(v), *self._thresholds(), np.int32(first), removals, fills),
            shared_mem=4 * v,
        )  # fmt: skip
        return self._fetch(removals), self._fetch(fills)

    def _new_tally(self) -> Any:
        start = np.zeros(5, np.uint64)
        start[MARGIN] = np.array([self._margin]).view(np.uint64)[0]
        start[SPOILT] = NOTHING_SPOILT
        return self._cp.asarray(start)

    def _read(self, tally: Any) -> NDArray[np.uint64]:
        found: NDArray[np.uint64] = self._cp.asnumpy(tally)
        if found[SPOILT] == NOTHING_SPOILT:
            self._edge_count = int(found[EDGES])
            self._margin = float(found[MARGIN : MARGIN + 1].view(np.float64)[0])
        return found

    def _fetch(self, array: Any) -> Any:
        return self._cp.asnumpy(array)[: self._size].astype(np.result_type(array, np.int64), copy=False)
