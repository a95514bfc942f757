"""The engine of estimates that are made column by column: after a removal only some columns are estimated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Integers, Removal

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class Column(NamedTuple):
    """One column of an estimate over some variables: which others have an entry, and these entries.

    ``own`` is the entry of the variable itself. ``margin`` is how far the column is from having other entries: the
    smallest change of a number it was computed from that could add or drop one.
    """

    support: Integers
    values: Floats
    own: float = 1.0
    margin: float = np.inf


EMPTY = Column(np.empty(0, np.int64), np.empty(0))
"""A column without entries."""


class Columns(Protocol):
    """An estimator that makes each column by itself."""

    def solve(self, variable: int, others: Integers, start: Column = EMPTY) -> Column:
        """Return the column of a variable over itself and ``others``, ascending.

        ``start`` is a guess at it, perhaps over more variables.
        """


class _Ahead(NamedTuple):
    """A column as it will be after a removal, and the variables with an entry in it."""

    column: Column
    members: frozenset[int]


class ColumnsEngine:
    """The graph of an estimate over the remaining variables: i – j iff each has an entry in the other's column.

    When k is removed, a column without an entry for k stays, and the others are solved again. For the lasso this is the
    estimate from scratch, since the conditions of its optimum do not mention a variable with coefficient zero. For
    CLIME what stays is feasible with the same norm, and keeps the bound on its error.

    Columns that a removal would change are solved when a score asks for them, and kept: by the same argument they stay
    valid while variables without an entry in them are removed.

    Parameters
    ----------
    solver
        Solves a column over any set of variables.
    columns
        The columns over all variables.
    pairs
        Which pairs count as removed or filled: "all", or "neighbours" of the candidate.
    """

    settled = 1e-10
    """Entries are right to about this."""

    def __init__(
        self, solver: Columns, columns: Sequence[Column], *, pairs: Literal["all", "neighbours"] = "all"
    ) -> None:
        p = len(columns)
        self._solver = solver
        self._columns = list(columns)
        self._pairs = pairs
        self._remaining = np.arange(p)
        self._entries = np.zeros((p, p), np.bool_)
        for j, column in enumerate(columns):
            self._entries[column.support, j] = True
        self._after: list[dict[int, _Ahead]] = [{} for _ in range(p)]
        self._changed: dict[int, tuple[Integers, Integers]] = {}
        self._margin = min((column.margin for column in columns), default=np.inf)

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, one per position."""
        return self._remaining

    def column(self, variable: int) -> Column:
        """Return the column of a remaining variable."""
        return self._columns[variable]

    def adjacency(self) -> Booleans:
        """Return the graph over the remaining variables."""
        entries = self._entries[np.ix_(self._remaining, self._remaining)]
        return entries & entries.T

    def degrees(self) -> Integers:
        """Return each variable's degree."""
        return self.adjacency().sum(axis=1)

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        return self._score(0)

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        return self._score(1)

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Remove the variable at ``position`` and solve the columns again in which it has an entry."""
        variable = int(self._remaining[position])
        parents = np.flatnonzero(self._neighbours(variable))
        removed, filled = self._changes(variable)
        removal, fill = self._count(removed, variable), self._count(filled, variable)
        margin = self._margin
        touched = np.zeros(len(self._entries), np.bool_)
        touched[variable] = True
        for j, column in self._solved_without(variable).items():
            before = self._entries[:, j].copy()
            self._columns[j] = column
            self._entries[:, j] = False
            self._entries[column.support, j] = True
            touched |= before != self._entries[:, j]
            touched[j] = True
            self._margin = min(self._margin, column.margin)
        # What a removal changes depends on the columns in which the variable has an entry, and on their rows.
        stale = touched | (self._entries & touched).any(axis=1)
        self._entries[variable] = self._entries[:, variable] = False
        self._remaining = np.delete(self._remaining, position)
        self._after[variable] = {}
        for k in self._remaining.tolist():
            known = self._after[k]
            gone = [j for j, ahead in known.items() if j == variable or variable in ahead.members]
            for j in gone:
                del known[j]
            if gone or stale[k]:
                self._changed.pop(k, None)
        self._changed.pop(variable, None)
        edges = (removed, filled) if with_edges else (None, None)
        return Removal(variable, parents, removal, fill, 0.0, margin, *edges)

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._columns = list(self._columns)
        twin._remaining = self._remaining.copy()
        twin._entries = self._entries.copy()
        twin._after = [dict(known) for known in self._after]
        twin._changed = dict(self._changed)
        return twin

    def _neighbours(self, variable: int) -> Booleans:
        return self._entries[variable] & self._entries[:, variable]

    def _solved_without(self, variable: int) -> dict[int, Column]:
        """Return the columns that the removal of a variable changes, as they are after it."""
        known = self._after[variable]
        others = self._remaining[self._remaining != variable]
        found = {}
        for j in np.flatnonzero(self._entries[variable]).tolist():
            if j not in known:
                column = self._solver.solve(j, others[others != j], self._columns[j])
                known[j] = _Ahead(column, frozenset(column.support.tolist()))
            found[j] = known[j].column
        return found

    def _changes(self, variable: int) -> tuple[Integers, Integers]:
        """Return the edges that the removal of a variable removes and fills, as pairs of variables."""
        if variable not in self._changed:
            self._changed[variable] = self._compared(variable)
        return self._changed[variable]

    def _compared(self, variable: int) -> tuple[Integers, Integers]:
        """Return these edges by comparing the graph before with the graph after."""
        solved = self._solved_without(variable)
        changed = np.array(list(solved), np.int64)
        columns = self._entries[:, changed]
        before = columns & self._entries[changed].T
        columns = np.zeros_like(columns)
        for at, column in enumerate(solved.values()):
            columns[column.support, at] = True
        rows = self._entries[changed].T
        rows[changed] = columns[changed].T
        after = columns & rows
        before[variable] = False
        # A pair of two changed columns stands in both of them.
        twice = np.isin(np.arange(len(columns)), changed)[:, None] & (np.arange(len(columns))[:, None] > changed)
        return tuple(_edges(which & ~twice, changed) for which in (before & ~after, after & ~before))  # type: ignore[return-value]

    def _count(self, edges: Integers, variable: int) -> int:
        if self._pairs == "all":
            return len(edges)
        return int(self._neighbours(variable)[edges].all(axis=1).sum())

    def _score(self, which: int) -> Integers:
        return np.array([self._count(self._changes(k)[which], k) for k in self._remaining.tolist()], np.int64)


def _edges(which: Booleans, columns: Integers) -> Integers:
    """Return the pairs of row and column that are marked, ascending."""
    rows, at = np.nonzero(which)
    pairs = np.sort(np.column_stack([rows, columns[at]]), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]
