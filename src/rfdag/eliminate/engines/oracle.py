"""The oracle engine: a DAG's moral subgraphs, exact at any size and density.

Random edge weights are drawn from the integers modulo the prime 2³¹ − 1, and the precision matrix is
eliminated in that field. An entry is zero iff the pair is d-separated by the other remaining variables, except
for coincidences of probability about degree/2³¹ per draw; two independent draws must agree on a zero. Unlike in
floating point, there are no rounding errors and no tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.engines.oracle_state import OracleState, Scores
from rfdag.eliminate.kernels import oracle as kernels
from rfdag.runtime.threads import share

WORTH_SHARING = 100_000
"""Pairs to test below which using threads costs more than it saves."""

AT_ONCE = 2_000_000
"""Pairs to test after which scoring returns to Python."""


class OracleEngine(OracleState):
    """The moral subgraphs of a DAG on the CPU, by compiled kernels.

    Parameters
    ----------
    dag, seed
        As in `OracleState`.
    threads
        How many threads may score candidates.
    """

    def __init__(self, dag: ArrayLike, *, seed: int = 0, threads: int = 1) -> None:
        self._threads = threads
        self.check: Callable[[], None] = lambda: None
        """Called again and again while candidates are scored; may raise."""
        super().__init__(dag, seed=seed)

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        v = self._size
        edges: NDArray[np.bool_] = (self._theta[:, :v, :v] != 0).any(axis=0)
        np.fill_diagonal(edges, False)
        return edges

    def _near(self, position: int) -> Integers:
        return np.flatnonzero(self.adjacency()[position])

    def _score(self) -> Scores:
        v = self._size
        degrees, removals, fills = (np.empty(v, np.int64) for _ in range(3))

        def work(first: int, step: int) -> None:
            kernels.score(self._theta, v, first, step, degrees, removals, fills)

        edges = np.count_nonzero(self._theta[0, :v, :v])
        steps = int(edges * edges // v)
        pieces = 1 + steps // AT_ONCE
        for piece in range(pieces):
            self.check()

            def some(first: int, step: int, piece: int = piece) -> None:
                work(first + step * piece, step * pieces)

            share(some, self._threads if steps >= WORTH_SHARING else 1)
        return degrees, removals, fills

    def _score_one(self, position: int) -> tuple[int, int]:
        degrees, removals, fills = (np.empty(self._size, np.int64) for _ in range(3))
        kernels.score(self._theta, self._size, position, self._size, degrees, removals, fills)
        return int(removals[position]), int(fills[position])

    def _changes(self, position: int, near: Integers) -> tuple[Integers, Integers]:
        pairs = near[np.array(np.triu_indices(len(near), 1)).T].reshape(-1, 2)
        adjacent = self.adjacency()[pairs[:, 0], pairs[:, 1]]
        vanish = [kernels.vanishes(self._theta, i, j, position) for i, j in pairs[adjacent]]
        removed = self.remaining[pairs[adjacent][np.array(vanish, dtype=bool)]]
        return removed, self.remaining[pairs[~adjacent]]

    def _eliminate(self, theta: Any, v: int, position: int) -> bool:
        return bool(kernels.marginalise(theta, v, position))

    def _draw(self) -> NDArray[np.int64]:
        generator = np.random.default_rng(self._seed)
        size = len(self._dag)
        children, parents = np.nonzero(self._dag.T)
        start = np.searchsorted(children, np.arange(size + 1))
        draws = generator.integers(1, kernels.PRIME, size=(2, len(parents)))
        variances = generator.integers(1, kernels.PRIME, size=(2, size))
        theta = np.zeros((2, size, size), np.int64)
        kernels.precision(parents, start, draws, variances, theta)
        return theta
