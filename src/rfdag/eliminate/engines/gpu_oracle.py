"""The oracle engine on a GPU: elimination in a finite field, see `rfdag.eliminate.engines.oracle`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.engines.oracle_state import OracleState, Scores
from rfdag.eliminate.kernels.oracle import PRIME
from rfdag.runtime.device import blocks, cupy, kernels, with_shared

THREADS = 256


def bytes_of_oracle(p: int) -> float:
    """Return the device memory that the engine takes: two draws, their weights during construction, adjacency."""
    return (2 * 4 + 2 * 4 + 1 / 8) * p * p + 64.0 * p


class GpuOracleEngine(OracleState):
    """The moral subgraphs of a DAG on a GPU, by CUDA kernels, with the same draws as `OracleEngine`."""

    def __init__(self, dag: ArrayLike, *, seed: int = 0) -> None:
        self._cp = cupy()
        self._kernels = kernels("oracle")
        super().__init__(dag, seed=seed)

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        v = self._size
        edges: NDArray[np.bool_] = self._cp.asnumpy((self._theta[:, :v, :v] != 0).any(axis=0))
        np.fill_diagonal(edges, False)
        return edges

    def _near(self, position: int) -> Integers:
        adjacent = (self._cp.asnumpy(self._theta[:, position, : self._size]) != 0).any(axis=0)
        adjacent[position] = False
        return np.flatnonzero(adjacent)

    def _score_one(self, position: int) -> tuple[int, int]:
        _, removals, fills = self._all_scores()
        return int(removals[position]), int(fills[position])

    def _score(self) -> Scores:
        cp, v = self._cp, self._size
        ld, words = np.int32(self._theta.shape[1]), np.int32(blocks(v, 32))
        bits = cp.empty((v, int(words)), np.uint32)
        scores = cp.empty((3, v), np.int64)
        degrees, removals, fills = scores
        self._kernels.pattern((v,), (THREADS,), (self._theta, ld, np.int32(v), words, bits, degrees))
        with_shared(self._kernels.count_missing, 4 * int(words))(
            (v,), (THREADS,), (bits, np.int32(v), words, fills), shared_mem=4 * int(words)
        )
        with_shared(self._kernels.count_vanishing, 4 * v)(
            (v,), (THREADS,), (self._theta, ld, np.int32(v), bits, words, fills, removals), shared_mem=4 * v
        )
        host = cp.asnumpy(scores)
        return host[0], host[1], host[2]

    def _changes(self, position: int, near: Integers) -> tuple[Integers, Integers]:
        around = self._cp.asarray(np.append(near, position))
        theta = self._cp.asnumpy(self._theta[:, around[:, None], around]).astype(np.int64)
        i, j = np.triu_indices(len(near), 1)
        adjacent = (theta[:, i, j] != 0).any(axis=0)
        same = theta[:, i, j] * theta[:, -1:, -1] % PRIME == theta[:, i, -1] * theta[:, j, -1] % PRIME
        pairs = self.remaining[np.column_stack([near[i], near[j]])].reshape(-1, 2)
        return pairs[adjacent & same.all(axis=0)], pairs[~adjacent]

    def _eliminate(self, theta: Any, v: int, position: int) -> bool:
        pivots = [int(pivot) for pivot in self._cp.asnumpy(theta[:, position, position])]
        if 0 in pivots:
            return False
        if v > 1:
            ld = theta.shape[1]
            column = self._cp.empty((2, ld), np.uint32)
            size = (np.int32(ld), np.int32(v), np.int32(position))
            self._kernels.take((blocks(v, THREADS), 2), (THREADS,), (theta, *size, column))
            inverses = [np.uint32(pow(pivot, -1, PRIME)) for pivot in pivots]
            self._kernels.marginalise((v - 1, 2), (THREADS,), (theta, *size, column, *inverses))
        return True

    def _draw(self) -> Any:
        cp, size = self._cp, len(self._dag)
        generator = np.random.default_rng(self._seed)
        children, parents = np.nonzero(self._dag.T)
        draws = generator.integers(1, PRIME, size=(2, len(parents)))
        variances = generator.integers(1, PRIME, size=(2, size))
        factors = cp.zeros((2, size, size), np.uint32)
        factors[:, cp.arange(size), cp.arange(size)] = 1
        factors[:, cp.asarray(parents), cp.asarray(children)] = cp.asarray((PRIME - draws).astype(np.uint32))
        theta = cp.empty((2, size, size), np.uint32)
        tiles = blocks(size, 16)
        self._kernels.precision(
            (tiles, tiles, 2), (16, 16), (factors, cp.asarray(variances.astype(np.uint32)), np.int32(size), theta)
        )
        return theta
