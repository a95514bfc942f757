"""Estimates that are made column by column, as evidence: the engine and the tests that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.columns import EMPTY, Column, Columns, ColumnsEngine
from rfdag.evidence.evidence import Pairs
from rfdag.evidence.independence import Answers, Independence, Integers


class ByColumns(NamedTuple):
    """What solves a column over any variables, and the columns over all of them."""

    solver: Columns
    columns: tuple[Column, ...]

    def engine(self, pairs: Pairs) -> ColumnsEngine:
        """Return the engine, ready to eliminate."""
        return ColumnsEngine(self.solver, self.columns, pairs=pairs)


class Watched:
    """A solver that asks, before each column, whether it may go on: ``check`` raises if not."""

    def __init__(self, solver: Columns, check: Callable[[], None]) -> None:
        self._solver = solver
        self._check = check

    def solve(self, variable: int, others: Integers, start: Column = EMPTY) -> Column:
        """Return the column of a variable over itself and ``others``."""
        self._check()
        return self._solver.solve(variable, others, start)


class ColumnsIndependence(Independence):
    """Dependence as an entry in the columns of both variables, estimated over just the variables in question."""

    def __init__(self, solver: Columns, columns: tuple[Column, ...]) -> None:
        self._solver = solver
        self._columns = columns

    def dependent(self, node: int, others: Integers) -> Answers:
        """Return, for each of ``others``, whether it depends on ``node`` given the rest of them."""
        chosen: NDArray[np.int64] = np.sort(np.append(others, node))
        near = self._support(node, chosen)
        return np.array([other in near and node in self._support(int(other), chosen) for other in others], bool)

    def _support(self, variable: int, chosen: Integers) -> Integers:
        return self._solver.solve(variable, chosen[chosen != variable], self._columns[variable]).support
