"""The oracle engine on a GPU: elimination in a finite field, see `rfdag.eliminate.engines.oracle`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.engine import Integers, Removal
from rfdag.eliminate.kernels.oracle import PRIME
from rfdag.runtime.device import blocks, cupy, kernels, with_shared

THREADS = 256


def bytes_of_oracle(p: int) -> float:
    """Return the device memory that the engine takes: two draws, their weights during construction, adjacency."""
    return (2 * 4 + 2 * 4 + 1 / 8) * p * p + 64.0 * p


class GpuOracleEngine:
    """The moral subgraphs of a DAG, by elimination in a finite field on a GPU.

    Parameters are those of `OracleEngine` without ``threads``.
    """

    settled = 0.0

    def __init__(self, dag: ArrayLike, *, seed: int = 0) -> None:
        self._cp = cupy()
        self._kernels = kernels("oracle")
        self._dag = np.asarray(dag) != 0
        self._seed = seed
        self._size = self._ld = len(self._dag)
        self._variables = np.arange(self._size)
        self._gone: list[int] = []
        self._theta = self._draw()
        self._scores: tuple[Integers, Integers, Integers] | None = None

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._variables[: self._size]

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        v = self._size
        edges: NDArray[np.bool_] = self._cp.asnumpy((self._theta[:, :v, :v] != 0).any(axis=0))
        np.fill_diagonal(edges, False)
        return edges

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._score()[0]

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        return self._score()[1]

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        return self._score()[2]

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""
        v = self._size
        row = self._cp.asnumpy(self._theta[:, position, :v])
        adjacent = (row != 0).any(axis=0)
        adjacent[position] = False
        near = np.flatnonzero(adjacent)
        _, removals, fills = self._score()
        removed, filled = self._changes(position, near) if with_edges else (None, None)
        happened = Removal(
            variable=int(self._variables[position]),
            parents=self.remaining[near],
            removal=int(removals[position]),
            fill=int(fills[position]),
            threshold=0.0,
            margin=np.inf,
            removed=removed,
            filled=filled,
        )
        self._marginalise(position)
        return happened

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        v = twin._ld = self._size
        twin._theta = self._theta[:, :v, :v].copy()
        twin._variables = self._variables[:v].copy()
        twin._gone = list(self._gone)
        return twin

    def _score(self) -> tuple[Integers, Integers, Integers]:
        if self._scores is None:
            cp, v = self._cp, self._size
            ld, words = np.int32(self._ld), np.int32(blocks(v, 32))
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
            self._scores = host[0], host[1], host[2]
        return self._scores

    def _changes(self, position: int, near: Integers) -> tuple[Integers, Integers]:
        """Return the edges that removing the variable removes and fills, as pairs of variables."""
        around = self._cp.asarray(np.append(near, position))
        theta = self._cp.asnumpy(self._theta[:, around[:, None], around]).astype(np.int64)
        i, j = np.triu_indices(len(near), 1)
        adjacent = (theta[:, i, j] != 0).any(axis=0)
        same = theta[:, i, j] * theta[:, -1:, -1] % PRIME == theta[:, i, -1] * theta[:, j, -1] % PRIME
        pairs = self.remaining[np.column_stack([near[i], near[j]])].reshape(-1, 2)
        return pairs[adjacent & same.all(axis=0)], pairs[~adjacent]

    def _marginalise(self, position: int) -> None:
        self._gone.append(int(self._variables[position]))
        done = self._eliminate(self._theta, self._ld, self._size, position)
        self._size -= 1
        self._variables[position] = self._variables[self._size]
        self._scores = None
        while not done:
            self._seed += 1
            done = self._replay()

    def _eliminate(self, theta: Any, ld: int, v: int, position: int) -> bool:
        """Remove a variable from both draws; return False, with theta untouched, when a pivot is zero."""
        pivots = [int(pivot) for pivot in self._cp.asnumpy(theta[:, position, position])]
        if 0 in pivots:
            return False
        if v > 1:
            column = self._cp.empty((2, ld), np.uint32)
            size = (np.int32(ld), np.int32(v), np.int32(position))
            self._kernels.take((blocks(v, THREADS), 2), (THREADS,), (theta, *size, column))
            inverses = [np.uint32(pow(pivot, -1, PRIME)) for pivot in pivots]
            self._kernels.marginalise((v - 1, 2), (THREADS,), (theta, *size, column, *inverses))
        return True

    def _draw(self) -> Any:
        """Return a new precision matrix over all variables, with the same draws as `OracleEngine`."""
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

    def _replay(self) -> bool:
        """Repeat the whole elimination on a new draw, as a pivot happened to be zero."""
        theta = self._draw()
        variables = np.arange(len(self._dag))
        for size, gone in zip(range(len(variables), 0, -1), self._gone, strict=False):
            position = int(np.flatnonzero(variables[:size] == gone)[0])
            if not self._eliminate(theta, len(self._dag), size, position):
                return False
            variables[position] = variables[size - 1]
        self._theta, self._variables, self._ld = theta, variables, len(self._dag)
        return True
