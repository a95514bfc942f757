"""The engine of tests: the moral subgraph by any test of conditional independence.

Fill needs no test: removing k joins all its neighbours (Proposition 1). An edge can vanish only between two neighbours
of k, and only if removing k fills nothing in, since R > 0 implies F = 0; so only these pairs are tested again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Integers, Removal

Query = tuple[int, int, tuple[int, ...]]
"""Two variables, i < j, and a sorted tuple of others to condition on."""

Conditioning = Literal["all", "blanket"]
"""Whether a test conditions on all other variables, or on the neighbours of one of the pair."""


class IndependenceEngine:
    """The moral subgraphs of a distribution that answers questions of conditional independence.

    Parameters
    ----------
    graph
        The moral graph over all variables, as a symmetric matrix.
    independent
        Answers several questions at once: whether each pair was found independent given the others. An edge stays
        unless it was.
    conditioning
        "all" conditions on all other variables that remain, the paper's definition; "blanket" on the neighbours of one
        of the pair, which include its Markov blanket: equal in the population, with fewer variables.
    level
        The level of the tests, which the trace shows as the threshold.
    margin
        Returns the smallest distance of a p-value from the level so far.
    """

    settled = 0.0

    def __init__(
        self,
        graph: NDArray[np.bool_],
        independent: Callable[[Sequence[Query]], Sequence[bool]],
        *,
        conditioning: Conditioning = "all",
        level: float = 0.0,
        margin: Callable[[], float] = lambda: np.inf,
    ) -> None:
        self._edges = np.array(graph, dtype=bool)
        self._variables = np.arange(len(self._edges))
        self._independent = independent
        self._conditioning = conditioning
        self._level = level
        self._margin = margin
        self._vanishing: dict[int, list[tuple[int, int]]] = {}

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._variables

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""
        return self._edges.copy()

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._edges.sum(axis=0).astype(np.int64)

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add: one for each pair of neighbours without one."""
        # Products of floats are far faster than those of integers, and exact for counts.
        edges, degrees = self._edges.astype(np.float64), self.degrees()
        adjacent = (edges @ edges * edges).sum(axis=0).astype(np.int64)
        filled: Integers = (degrees * (degrees - 1) - adjacent) // 2
        return filled

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        self._test(np.flatnonzero(self.fills() == 0).tolist())
        return np.array([len(self._vanishing.get(at, ())) for at in range(len(self._variables))], np.int64)

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""
        near = np.flatnonzero(self._edges[position])
        apart = np.argwhere(np.triu(~self._edges[np.ix_(near, near)], 1))
        filled = list(zip(*near[apart.T].tolist(), strict=True))
        if not filled:
            self._test([position])
        removed = self._vanishing.get(position, [])
        happened = Removal(
            variable=int(self._variables[position]),
            parents=self._variables[near],
            removal=len(removed),
            fill=len(filled),
            threshold=self._level,
            margin=self._margin(),
            removed=self._pairs(removed) if with_edges else None,
            filled=self._pairs(filled) if with_edges else None,
        )
        for pairs, edge in ((filled, True), (removed, False)):
            for i, j in pairs:
                self._edges[i, j] = self._edges[j, i] = edge
        self._edges = np.delete(np.delete(self._edges, position, axis=0), position, axis=1)
        self._variables = np.delete(self._variables, position)
        self._vanishing = {}
        return happened

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._edges = self._edges.copy()
        twin._vanishing = dict(self._vanishing)
        return twin

    def _test(self, positions: Sequence[int]) -> None:
        """Find the edges that vanish with each of several variables whose neighbours are all adjacent."""
        wanted = [at for at in positions if at not in self._vanishing]
        pairs = {at: list(combinations(np.flatnonzero(self._edges[at]).tolist(), 2)) for at in wanted}
        answers = iter(self._independent([self._query(i, j, at) for at in wanted for i, j in pairs[at]]))
        for at in wanted:
            self._vanishing[at] = [pair for pair in pairs[at] if next(answers)]

    def _query(self, i: int, j: int, gone: int) -> Query:
        """Return the question whether i and j are independent once a third is gone, as variables."""
        if self._conditioning == "all":
            given = np.ones(len(self._variables), bool)
        else:
            # Neighbours of all of these are adjacent, so removing it fills nothing in.
            given = smaller_blanket(self._edges, i, j)
        given[[i, j, gone]] = False
        first, second = sorted((int(self._variables[i]), int(self._variables[j])))
        return first, second, tuple(sorted(self._variables[given].tolist()))

    def _pairs(self, pairs: list[tuple[int, int]]) -> Integers:
        listed: Integers = self._variables[np.array(pairs, np.int64).reshape(-1, 2)]
        return listed


def smaller_blanket(edges: NDArray[np.bool_], i: int, j: int) -> NDArray[np.bool_]:
    """Return the neighbours of i or of j, whichever are fewer, but for the two, as a mask."""
    counts = edges[i].sum(), edges[j].sum()
    given = edges[i if counts[0] <= counts[1] else j].copy()
    given[[i, j]] = False
    return given
