"""What oracle engines keep track of on every device: which variables are left, the draws, and their repetition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.engine import Integers, Removal

Scores = tuple[Integers, Integers, Integers]


class OracleState(ABC):
    """The moral subgraphs of a DAG, by elimination in a finite field.

    Parameters
    ----------
    dag
        Adjacency matrix; non-zero at (i, j) means i → j. Assumed acyclic.
    seed
        Seed of the draws. The answer does not depend on it, except for coincidences of probability ~2⁻⁶².
    """

    settled = 0.0

    def __init__(self, dag: ArrayLike, *, seed: int = 0) -> None:
        self._dag = np.asarray(dag) != 0
        self._seed = seed
        self._size = len(self._dag)
        self._variables = np.arange(self._size)
        self._gone: list[int] = []
        self._theta = self._draw()
        self._scores: Scores | None = None

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._variables[: self._size]

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._all_scores()[0]

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        return self._all_scores()[1]

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        return self._all_scores()[2]

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""
        near = self._near(position)
        removal, fill = self._score_one(position)
        removed, filled = self._changes(position, near) if with_edges else (None, None)
        happened = Removal(
            variable=int(self._variables[position]),
            parents=self.remaining[near],
            removal=removal,
            fill=fill,
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

    def _all_scores(self) -> Scores:
        if self._scores is None:
            self._scores = self._score()
        return self._scores

    def _marginalise(self, position: int) -> None:
        self._gone.append(int(self._variables[position]))
        done = self._eliminate(self._theta, self._size, position)
        self._size -= 1
        self._variables[position] = self._variables[self._size]
        self._scores = None
        while not done:
            self._seed += 1
            done = self._repeat()

    def _repeat(self) -> bool:
        """Repeat the whole elimination on a new draw, as a pivot happened to be zero."""
        theta = self._draw()
        variables = np.arange(len(self._dag))
        for size, gone in zip(range(len(variables), 0, -1), self._gone, strict=False):
            position = int(np.flatnonzero(variables[:size] == gone)[0])
            if not self._eliminate(theta, size, position):
                return False
            variables[position] = variables[size - 1]
        self._theta, self._variables = theta, variables
        return True

    @abstractmethod
    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph over the remaining variables."""

    @abstractmethod
    def _near(self, position: int) -> Integers:
        """Return the positions of a variable's neighbours in the moral subgraph."""

    @abstractmethod
    def _score(self) -> Scores:
        """Return the degrees, and how many edges each removal removes and adds."""

    @abstractmethod
    def _score_one(self, position: int) -> tuple[int, int]:
        """Return how many edges one removal removes and adds."""

    @abstractmethod
    def _changes(self, position: int, near: Integers) -> tuple[Integers, Integers]:
        """Return the edges that removing the variable removes and fills, as pairs of variables."""

    @abstractmethod
    def _eliminate(self, theta: Any, v: int, position: int) -> bool:
        """Remove a variable from both draws; return False when a pivot is zero."""

    @abstractmethod
    def _draw(self) -> Any:
        """Return a new precision matrix over all variables, drawn twice."""
