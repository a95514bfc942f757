"""The dense engine on a GPU: the same graphs, scores and removals as `DenseEngine`, by CUDA kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.dense import DRIFT, Floats, Pairs
from rfdag.eliminate.engines.engine import Integers, LostPrecision, Removal
from rfdag.eliminate.thresholds import Threshold
from rfdag.runtime.device import blocks, cupy, kernels, with_shared

BLOCK = 32
"""Candidates per block of the pruning bound: a warp handles them together."""

EDGES, MARGIN, SPOILT, LEAST, REMOVED, FILLED = range(6)
"""What the kernels count in one pass, in the order of their struct Tally."""

NOTHING_SPOILT = np.uint64(2**64 - 1)
THREADS = 256


def bytes_of_engine(p: int) -> float:
    """Return the device memory that the engine takes: K, the edge list, peaks."""
    return (8.0 + 4.0 + 8.0 / BLOCK) * p * (p + BLOCK) + 64.0 * p


class GpuEngine:
    """The state of a Gaussian elimination on a GPU: the matrix K of partial correlations given all the rest.

    Parameters are those of `DenseEngine` without ``threads``; ``partial`` may be on the device already.
    """

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
        v = len(partial)
        self._ld = -(-v // BLOCK) * BLOCK
        self._K = self._cp.zeros((v, self._ld))
        self._K[:, :v] = self._cp.asarray(partial)
        self._size = v
        self._variables = np.arange(v)
        self._threshold = threshold
        self._pairs = pairs
        self._recompute = recompute
        self.settled = settled
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

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position`` by one rank-one step."""
        tau, tau_after = self._thresholds()
        variable, margin = int(self._variables[position]), self._margin
        near = np.abs(self._fetch(self._K[position])) > tau
        near[position] = False
        parents = self.remaining[near]
        removed, filled = self._changes(position) if with_edges else (None, None)
        scores = self._neighbour_scores(position) if self._pairs == "neighbours" else None
        removal, fill = self._marginalise(position, tau, tau_after)
        if scores is not None:
            removal, fill = (int(score[position]) for score in scores)
        if self._drift > DRIFT and self._recompute is not None and self._size > 1:
            self._take(self._recompute(self.remaining))
        return Removal(variable, parents, removal, fill, tau, margin, removed, filled)

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        v = self._size
        twin._ld = -(-v // BLOCK) * BLOCK
        twin._K = self._K[:v, : twin._ld].copy()
        twin._variables = self._variables[:v].copy()
        twin._allocate()
        twin._scan()
        return twin

    def _allocate(self) -> None:
        """Allocate what is kept besides K: degrees, the edge list, the largest |K| per row and block."""
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

    def _marginalise(self, position: int, tau: float, tau_after: float) -> tuple[int, int]:
        """Remove a variable; return how many edges among the others were removed and added."""
        v = self._size
        gone = int(self._variables[position])
        tally = self._new_tally()
        size = (self._K, np.int32(self._ld), np.int32(v), np.int32(position), self._a, self._u)
        self._kernels.take((blocks(v, THREADS),), (THREADS,), (*size, tally))
        if v > 1:
            self._kernels.marginalise(
                (v - 1,), (THREADS,),
                (*size, tau, tau_after, self._degrees, self._peaks, self._edges_i, self._edges_j, tally),
            )  # fmt: skip
        self._variables[position] = self._variables[v - 1]
        self._size = v - 1
        self._removals = None
        found = self._read(tally)
        if found[SPOILT] != NOTHING_SPOILT:
            self._recover(gone, int(self._variables[int(found[SPOILT])]))
        else:
            self._drift += np.finfo(float).eps / float(found[LEAST : LEAST + 1].view(np.float64)[0])
        return int(found[REMOVED]), int(found[FILLED])

    def _take(self, fresh: Any) -> None:
        v = self._size
        self._K[:v, :v] = self._cp.asarray(fresh)
        self._drift = 0.0
        self._scan()

    def _recover(self, gone: int, spoilt: int) -> None:
        """Recompute K from the data after a step that made it invalid; raise if that does not help."""
        if self._size == 1:
            fresh = np.ones((1, 1))
        elif self._recompute is None:
            raise LostPrecision(gone, spoilt)
        else:
            fresh = self._recompute(self.remaining)
        if not (np.abs(fresh) <= 1).all():
            raise LostPrecision(gone, spoilt)
        self._take(fresh)

    def _changes(self, position: int) -> tuple[Integers, Integers]:
        """Return the edges that removing the variable removes and fills, as pairs of variables."""
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

    def _thresholds(self) -> tuple[float, float]:
        """Return the threshold for the current number of variables, and for one less."""
        return self._threshold(self._size), self._threshold(max(self._size - 1, 1))

    def _new_tally(self) -> Any:
        start = np.zeros(6, np.uint64)
        start[MARGIN], start[LEAST] = np.array([self._margin, 1.0]).view(np.uint64)
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
