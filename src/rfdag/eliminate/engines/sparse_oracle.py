"""The sparse engine of a DAG as oracle: arithmetic in a finite field over lists of neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.engines.sparse import AT_ONCE, ListEngine, new_state, pieces
from rfdag.eliminate.kernels import field_arithmetic as field
from rfdag.eliminate.kernels import lists
from rfdag.eliminate.kernels import sparse as kernels


class SparseOracleEngine(ListEngine):
    """The moral subgraphs of a sparse DAG, by elimination in a finite field: `OracleEngine` with lists.

    Parameters
    ----------
    dag
        Adjacency matrix; an entry at (i, j) means i → j. Assumed acyclic.
    seed
        Seed of the draws. The answer does not depend on it, except for coincidences of probability ~2⁻⁶².

    Examples
    --------
    >>> SparseOracleEngine(csr_array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).removals()
    array([0, 0, 1])
    """

    def __init__(self, dag: csr_array, *, seed: int = 0) -> None:
        self._dag = csr_array(dag)
        self._seed = seed
        super().__init__(self._draw(), np.zeros(dag.shape[0] + 1), 0.0)

    def _draw(self) -> lists.State:
        children, parents = self._dag, self._dag.tocsc()
        size = children.shape[0]
        generator = np.random.default_rng(self._seed)
        weights, variances = (
            (generator.integers(1, field.PRIME, count) << field.BITS) | generator.integers(1, field.PRIME, count)
            for count in (parents.nnz, size)
        )
        graph = (children.indices, children.indptr, parents.indices, parents.indptr)
        mark, lengths = np.zeros(size, np.int32), np.zeros(size, np.int64)
        for first, last in pieces(size):
            field.list_lengths(*graph, first, last, mark, lengths)
        rooms = lengths + lengths // 4 + 2
        used = int(rooms.sum())
        state = new_state(size, used + used // 8 + 64, np.int64, moving=False)
        state.room[:] = rooms
        state.start[1:] = np.cumsum(rooms)[:-1]
        state.counters[lists.TAIL] = used
        state.counters[lists.ENTRIES] = lengths.sum()
        for first, last in pieces(size):
            field.precision(*graph, first, last, weights, variances, state)
        return state

    def _draw_again(self) -> None:
        """Repeat the whole elimination on a new draw, as a pivot happened to be zero."""
        old = self._state
        gone = old.record[0, : self.size - self.left].copy()
        done, status = 0, lists.ZERO_PIVOT
        while done < len(gone) or status == lists.ZERO_PIVOT:
            if status == lists.ZERO_PIVOT:
                self._seed += 1
                self._state, done = self._draw(), 0
            elif status == lists.NO_ROOM:
                self._make_room(int(gone[done]))
            more, status = kernels.repeat(self._state, gone[done : done + AT_ONCE], self._drop)
            done += more
        self._state = self._state._replace(waiting=old.waiting, earlier=old.earlier, earlier_from=old.earlier_from)
        self._state.record[:] = old.record
        self._state.random[:] = old.random
        self._score_all(kernels.RFD if self._rule is None else self._rule, lambda share: None)

    def _edges(self) -> Integers:
        i, j, _ = self._entries()
        return np.column_stack([i, j])
