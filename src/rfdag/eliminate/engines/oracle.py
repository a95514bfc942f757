"""The oracle engine: a DAG's moral subgraphs, exact at any size and density.

Random edge weights are drawn from the integers modulo the prime 2³¹ − 1, and the precision matrix is
eliminated in that field. An entry is zero iff the pair is d-separated by the other remaining variables, except
for coincidences of probability about degree/2³¹ per draw; two independent draws must agree on a zero. Unlike in
floating point, there are no rounding errors and no tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.engine import Integers, Removal
from rfdag.eliminate.kernels import oracle as kernels
from rfdag.runtime.threads import share

WORTH_SHARING = 100_000
"""Pairs to test below which using threads costs more than it saves."""

AT_ONCE = 2_000_000
"""Pairs to test after which scoring returns to Python."""


class OracleEngine:
    """The moral subgraphs of a DAG, by elimination in a finite field.

    Parameters
    ----------
    dag
        Adjacency matrix; non-zero at (i, j) means i → j. Assumed acyclic.
    seed
        Seed of the draws. The answer does not depend on it, except for coincidences of probability ~2⁻⁶².
    threads
        How many threads may score candidates.
    """

    settled = 0.0

    def __init__(self, dag: ArrayLike, *, seed: int = 0, threads: int = 1) -> None:
        self._dag = np.asarray(dag) != 0
        self._seed = seed
        self._threads = threads
        self.check: Callable[[], None] = lambda: None
        """Called again and again while candidates are scored; may raise."""
        self._size = len(self._dag)
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
        edges: NDArray[np.bool_] = (self._theta[:, :v, :v] != 0).any(axis=0)
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
        before = self.adjacency()
        near = np.flatnonzero(before[position])
        degrees, removals, fills = (np.empty(self._size, np.int64) for _ in range(3))
        kernels.score(self._theta, self._size, position, self._size, degrees, removals, fills)
        removed = filled = None
        if with_edges:
            pairs = near[np.array(np.triu_indices(len(near), 1)).T].reshape(-1, 2)
            adjacent = before[pairs[:, 0], pairs[:, 1]]
            vanish = [kernels.vanishes(self._theta, i, j, position) for i, j in pairs[adjacent]]
            removed = self.remaining[pairs[adjacent][np.array(vanish, dtype=bool)]]
            filled = self.remaining[pairs[~adjacent]]
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
        v = self._size
        twin._theta = self._theta[:, :v, :v].copy()
        twin._variables = self._variables[:v].copy()
        twin._gone = list(self._gone)
        return twin

    def _score(self) -> tuple[Integers, Integers, Integers]:
        if self._scores is None:
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
            self._scores = degrees, removals, fills
        return self._scores

    def _marginalise(self, position: int) -> None:
        self._gone.append(int(self._variables[position]))
        done = kernels.marginalise(self._theta, self._size, position)
        self._size -= 1
        self._variables[position] = self._variables[self._size]
        self._scores = None
        while not done:
            self._seed += 1
            done = self._replay()

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

    def _replay(self) -> bool:
        """Repeat the whole elimination on a new draw, as a pivot happened to be zero."""
        theta = self._draw()
        variables = np.arange(len(self._dag))
        for size, gone in zip(range(len(variables), 0, -1), self._gone, strict=False):
            position = int(np.flatnonzero(variables[:size] == gone)[0])
            if not kernels.marginalise(theta, size, position):
                return False
            variables[position] = variables[size - 1]
        self._theta, self._variables = theta, variables
        return True
