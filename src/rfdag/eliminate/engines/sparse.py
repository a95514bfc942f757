"""The sparse engines: a removal only touches the neighbours of the removed variable.

There is one for a sparse matrix of partial correlations with a threshold, and one for a DAG as oracle. They give the
same answers as the dense engines, but store lists of neighbours instead of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from rfdag.eliminate.engines.engine import Integers, LostPrecision, Removal
from rfdag.eliminate.kernels import lists
from rfdag.eliminate.kernels import sparse as kernels
from rfdag.eliminate.thresholds import Threshold, Tolerance
from rfdag.knowledge.constraints import Constraints

RULES = {
    "rfd": kernels.RFD,
    "min-degree": kernels.MIN_DEGREE,
    "min-fill": kernels.MIN_FILL,
    "max-remove": kernels.MAX_REMOVE,
    "random": kernels.RANDOM,
}

MOST_VARIABLES = 2**kernels.DEGREE_BITS - 1
"""Variables up to which a degree fits into a key."""

PATIENCE = 1_000_000
"""List entries that a kernel visits before it returns: less than 100 ms."""

AT_ONCE = 10_000
"""Variables that are scored, drawn or removed in one call, after which Ctrl-C can interrupt."""

DROP, DROP_SHARE = 1e-12, 1e-4
"""|K| up to which an entry counts as cancelled to zero: the first, or this share of the threshold if smaller."""


class ListEngine:
    """What the two engines have in common: lists, scores kept up to date, and removal."""

    settled = 0.0
    _common = 2

    def __init__(self, state: lists.State, taus: NDArray[np.float64], drop: float) -> None:
        self._state = state
        self._taus = taus
        self._drop = drop
        self._rule: int | None = None

    @property
    def remaining(self) -> Integers:
        """The variables not yet removed, ascending."""
        return np.flatnonzero(self._state.alive)

    @property
    def size(self) -> int:
        """The number of variables at the start."""
        return len(self._state.start)

    @property
    def left(self) -> int:
        """The number of variables not yet removed."""
        return int(self._state.counters[lists.LEFT])

    @property
    def margin(self) -> float:
        """The least distance of a partial correlation to its threshold so far."""
        return float(self._state.margin[0])

    def degrees(self) -> Integers:
        """Return each variable's degree in the moral subgraph."""
        return self._scored().degree[self.remaining]

    def removals(self) -> Integers:
        """Return how many edges each variable's removal would remove."""
        return self._scored().removal[self.remaining]

    def fills(self) -> Integers:
        """Return how many edges each variable's removal would add."""
        return self._scored().fill[self.remaining]

    def adjacency(self) -> NDArray[np.bool_]:
        """Return the moral subgraph as a full matrix, for inspecting small graphs; the elimination does not use it."""
        left = self.remaining
        edges = np.zeros((self.size, self.size), bool)
        edges[tuple(self._edges().T)] = True
        return (edges | edges.T)[np.ix_(left, left)]

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""
        self._scored()
        before = self._edges() if with_edges else None
        variable = int(self.remaining[position])
        step, tau = self.size - self.left, float(self._taus[self.left])
        status = lists.PAUSED
        while status != lists.DONE:
            status = kernels.advance(self._state, variable, self._taus, self._rule, self._common, self._drop)
            self._handle(status, variable)
        removed = filled = None
        if before is not None:
            removed, filled = _changes(before[(before != variable).all(axis=1)], self._edges(), self.size)
        state = self._state
        first = state.start[variable]
        return Removal(
            variable=variable,
            parents=np.sort(state.neighbour[first : first + state.length[variable]]).astype(np.int64),
            removal=int(state.record[1, step]),
            fill=int(state.record[2, step]),
            threshold=tau,
            margin=self.margin,
            removed=removed,
            filled=filled,
        )

    def obey(self, constraints: Constraints) -> None:
        """Exclude, from now on, variables that must precede a remaining one; call this before the first removal."""
        earlier = csc_array(constraints.precedence)
        waiting = np.diff(constraints.precedence.indptr).astype(np.int64)
        # The last barriers have no successors and are released at once.
        for barrier in constraints.barriers:
            if waiting[barrier] == 0:
                waiting[earlier.indices[earlier.indptr[barrier] : earlier.indptr[barrier + 1]]] -= 1
        self._state = self._state._replace(
            waiting=waiting,
            earlier=earlier.indices.astype(np.int64),
            earlier_from=earlier.indptr.astype(np.int64),
        )
        self._rule = None

    def repeat(self, variables: Integers) -> None:
        """Remove the variables one after the other, without scores."""
        done = 0
        # The kernel is compiled for one layout.
        variables = np.ascontiguousarray(variables)
        while done < len(variables):
            more, status = kernels.repeat(self._state, variables[done : done + AT_ONCE], self._drop)
            done += more
            if status != lists.DONE:
                self._handle(status, int(variables[done]))

    def copy(self) -> Self:
        """Return an independent engine over the same remaining variables."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._state = lists.State(*(array.copy() for array in self._state))
        return twin

    def run(
        self,
        rule: str = "rfd",
        *,
        generator: np.random.Generator | None = None,
        report: Callable[[float], None] = lambda share: None,
    ) -> None:
        """Remove all variables in compiled code, which returns only to report progress."""
        if generator is not None:
            self._state.random[0] = generator.integers(2**63)
        self._score_all(RULES[rule], report)
        status, variable = lists.PAUSED, -1
        while status != lists.DONE:
            report(0.2 + 0.8 * (1 - self.left / self.size))
            status, variable = kernels.run(
                self._state, self._taus, self._rule, self._common, self._drop, generator is not None, PATIENCE
            )
            self._handle(status, variable)

    def dag(self, values: bool = False) -> csr_array:
        """Return the minimal I-MAP once all variables are removed; with ``values``, its regression coefficients."""
        state = self._state
        start = np.concatenate([[0], np.cumsum(state.length, dtype=np.int64)])
        rows, entries = np.empty(start[-1], np.int32), np.empty(start[-1], state.value.dtype)
        kernels.parents_of(state, start, rows, entries)
        if not values:
            entries = np.ones(len(rows), np.int8)
        by_child = csc_array((entries, rows, start), shape=(self.size, self.size))
        return by_child.tocsr()

    def _scored(self) -> lists.State:
        if self._rule != kernels.RFD:
            self._score_all(kernels.RFD, lambda share: None)
        return self._state

    def _score_all(self, rule: int, report: Callable[[float], None]) -> None:
        for first, last in pieces(self.size):
            kernels.score_range(self._state, first, last, self._taus, rule)
            report(0.2 * last / self.size)
        kernels.plant(self._state)
        self._rule = rule

    def _handle(self, status: int, variable: int) -> None:
        """Do what a kernel cannot, by its status: allocate memory, draw again, or raise."""
        if status == lists.NO_ROOM:
            self._make_room(variable)
        elif status == lists.ZERO_PIVOT:
            self._draw_again()
        elif status >= 0:
            raise LostPrecision(variable, status)

    def _make_room(self, variable: int) -> None:
        """Close the gaps in the pool, and enlarge it if that is not enough."""
        state = self._state
        near = state.neighbour[state.start[variable] : state.start[variable] + state.length[variable]]
        needed = int((2 * (state.length[near] + len(near)) + 2).sum())
        room = int(state.length.sum(dtype=np.int64) * 5 // 4) + 2 * self.size
        pool = room + max(room // 4, 2 * needed)
        neighbour, value = np.empty(pool, np.int32), np.empty(pool, state.value.dtype)
        lists.compact(state, neighbour, value)
        self._state = state._replace(neighbour=neighbour, value=value)

    def _draw_again(self) -> None:
        raise NotImplementedError

    def _edges(self) -> Integers:
        """Return the edges among the remaining variables as pairs, the lower first."""
        raise NotImplementedError

    def _entries(self) -> tuple[Integers, Integers, NDArray[Any]]:
        """Return variable, lower neighbour and value of all entries of the remaining variables."""
        state, left = self._state, self.remaining
        lengths = state.length[left]
        at = np.repeat(state.start[left] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        owners, others = np.repeat(left, lengths), state.neighbour[at].astype(np.int64)
        once = owners < others
        return owners[once], others[once], state.value[at[once]]


class SparseEngine(ListEngine):
    """A Gaussian elimination on sparse partial correlations: `DenseEngine` with pairs="neighbours", with lists.

    The two differ by rounding only. Entries that cancel to less than 1e-12 (or a ten-thousandth of the threshold) are
    removed, so that the lists shrink.

    Parameters
    ----------
    partial
        The matrix K: symmetric, with ones or no entries on its diagonal.
    threshold
        Which ``|K_ij|`` is an edge: `FisherZ` for data, `Tolerance` for an exact matrix. A threshold that changes is
        followed exactly: a variable is scored again when the threshold passes the value nearest to it.

    Examples
    --------
    >>> chain = csr_array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.4], [0.0, 0.4, 1.0]])
    >>> SparseEngine(chain, Tolerance()).fills()
    array([0, 1, 0])
    """

    settled = 1e-10
    # A removal changes the diagonal of its neighbours, and so the |K| of all variables with at least one of them.
    _common = 1

    def __init__(self, partial: csr_array, threshold: Threshold) -> None:
        size = partial.shape[0]
        fixed = isinstance(threshold, Tolerance)
        taus = np.full(size + 1, threshold(1)) if fixed else np.array([threshold(max(v, 1)) for v in range(size + 1)])
        entries = partial.tocoo()
        rows, columns = entries.coords
        off = rows != columns
        theta = csr_array((-entries.data[off], (rows[off], columns[off])), shape=partial.shape)
        pool = theta.nnz + theta.nnz // 4 + 2 * size
        state = new_state(size, pool + pool // 8 + 64, np.float64, moving=not fixed)
        state.diagonal[:] = 1.0
        lists.spread(theta.indptr, theta.indices, theta.data, state)
        super().__init__(state, taus, min(DROP, DROP_SHARE * float(taus.min())))

    def _edges(self) -> Integers:
        i, j, values = self._entries()
        d = self._state.diagonal
        pairs: Integers = np.column_stack([i, j])[np.abs(values) / np.sqrt(d[i] * d[j]) > self._taus[self.left]]
        return pairs

    def regressions(self) -> tuple[csr_array, NDArray[np.float64]]:
        """Return every variable's coefficients (row → column) on its predecessors, and its residual variance.

        Both are in the units in which the precision matrix has a unit diagonal.
        """
        return self.dag(values=True), 1.0 / self._state.diagonal

    def regress_on(self, variable: int, allowed: set[int]) -> tuple[Integers, NDArray[np.float64], float]:
        """Return the parents of a remaining variable among ``allowed``: those it depends on given the rest of them.

        All other remaining variables are marginalised out; it suffices to consider those connected to the variable
        without passing through ``allowed``. Returns the parents, their coefficients and the residual variance.
        """
        apart = [variable]
        near: set[int] = set()
        for node in apart:
            others = self._near(node)[0].tolist()
            near |= allowed.intersection(others)
            apart += [other for other in others if other not in allowed and other not in apart]
        inside = np.array([*apart, *sorted(near)])
        place = {int(node): at for at, node in enumerate(inside)}
        rows = np.zeros((len(apart), len(inside)))
        for at, node in enumerate(apart):
            rows[at, at] = self._state.diagonal[node]
            for other, value in zip(*(entries.tolist() for entries in self._near(node)), strict=True):
                rows[at, place[other]] = value
        # A Schur complement marginalises the variables that may not be parents.
        hidden, mine = rows[1:, 1 : len(apart)], np.r_[0, len(apart) : len(inside)]
        shift = np.linalg.solve(hidden, rows[1:][:, mine]) if len(hidden) else np.zeros((0, len(mine)))
        row = rows[0, mine] - rows[0, 1 : len(apart)] @ shift
        diagonal = self._state.diagonal[inside[mine]] - (rows[1:][:, mine] * shift).sum(axis=0)
        sizes = np.abs(row[1:]) / np.sqrt(row[0] * diagonal[1:])
        matter = sizes > self._taus[len(allowed) + 1]
        return inside[mine][1:][matter], -row[1:][matter] / row[0], float(1.0 / row[0])

    def _near(self, node: int) -> tuple[Integers, NDArray[np.float64]]:
        """Return the neighbours of a variable and their entries."""
        state = self._state
        mine = slice(state.start[node], state.start[node] + state.length[node])
        return state.neighbour[mine].astype(np.int64), state.value[mine]


def pieces(size: int) -> Iterator[tuple[int, int]]:
    """Return ranges of variables between which Ctrl-C can interrupt."""
    return ((first, min(first + AT_ONCE, size)) for first in range(0, size, AT_ONCE))


def _changes(before: Integers, after: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the pairs that are only in the first list, and those only in the second."""
    was, now = before @ [size, 1], after @ [size, 1]
    return before[~np.isin(was, now)], after[~np.isin(now, was)]


def new_state(size: int, pool: int, kind: type, *, moving: bool) -> lists.State:
    """Return the lists of ``size`` variables with room for ``pool`` entries, all empty."""
    leaves = 1 << max(size - 1, 1).bit_length()
    return lists.State(
        neighbour=np.zeros(pool, np.int32),
        value=np.zeros(pool, kind),
        start=np.zeros(size, np.int64),
        length=np.zeros(size, np.int64),
        room=np.zeros(size, np.int64),
        diagonal=np.zeros(size, kind),
        alive=np.ones(size, bool),
        counters=np.array([0, size, 0, 0]),
        degree=np.zeros(size, np.int64),
        removal=np.zeros(size, np.int64),
        fill=np.zeros(size, np.int64),
        key=np.full(2 * leaves, kernels.NEVER),
        tally=np.zeros(2 * leaves, np.int32),
        critical=np.zeros(2 * leaves if moving else 0),
        margin=np.full(1, np.inf),
        random=np.zeros(1, np.uint64),
        record=np.zeros((5, size), np.int64),
        mark=np.zeros(size, np.int32),
        seen=np.zeros(size, np.int32),
        queue=np.zeros(size, np.int32),
        after=np.zeros(size, kind),
        waiting=np.zeros(0, np.int64),
        earlier=np.zeros(0, np.int64),
        earlier_from=np.zeros(0, np.int64),
    )
