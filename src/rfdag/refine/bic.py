"""The Gaussian BIC of an order: every variable with the best parents found among its predecessors."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.refine import _bic_kernels as kernels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ScoredOrder:
    """An order with the parents and scores of its variables, kept up to date as the order changes.

    Parameters
    ----------
    correlation
        Correlation matrix of the variables.
    n_samples
        Number of rows behind it.
    order
        The variables, a source first.
    penalty
        λ: each edge costs λ ln n.
    parents
        DAG to start choosing parents from; edges against the order are left out.
    """

    def __init__(
        self,
        correlation: Floats,
        n_samples: int,
        order: Integers,
        penalty: float = 2.0,
        parents: NDArray[np.int8] | None = None,
    ) -> None:
        p = len(order)
        self._C = np.ascontiguousarray(correlation)
        self._n = float(n_samples)
        self._per_edge = penalty * math.log(n_samples)
        self._limit = _most_parents(p, n_samples)
        self.order = np.array(order, dtype=np.int64)
        self._parents = np.zeros((p, self._limit + 1), np.int64)
        self._counts = np.zeros(p, np.int64)
        self._scores = np.zeros(p)
        if parents is not None:
            for child in range(p):
                given = np.flatnonzero(parents[:, child])[: self._limit]
                self._parents[child, : len(given)] = given
                self._counts[child] = len(given)
        self._work = _workspace(p, self._limit)
        self._rescore(0, p)

    @property
    def total(self) -> float:
        """The score of the order: n Σ ln var(y | parents) + λ ln n · edges; smaller is better."""
        return float(self._scores.sum())

    @property
    def exhausted(self) -> Integers:
        """The variables whose variance given their parents is down to rounding, so that their score says nothing."""
        per_edge = self._per_edge * self._counts
        return np.flatnonzero(self._scores - per_edge <= self._n * math.log(10 * kernels.TINY))

    @property
    def dag(self) -> NDArray[np.int8]:
        """The DAG of the chosen parents."""
        p = len(self.order)
        dag = np.zeros((p, p), np.int8)
        for child in range(p):
            dag[self._parents[child, : self._counts[child]], child] = 1
        return dag

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("order", "_parents", "_counts", "_scores"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def reinsert(self, variable: int) -> float:
        """Put a variable where it lowers the score most; return the change, 0 when it stays."""
        at = int(np.flatnonzero(self.order == variable)[0])
        mine, theirs, others = self._work[-1]
        gain, to = kernels.best_move(
            self._C, self._n, self._per_edge, self.order, at, self._limit,
            self._parents, self._counts, self._scores, mine, theirs, others, self._work[0],
        )  # fmt: skip
        return self.move(at, int(to)) if to != at and gain < 0 else 0.0

    def move(self, at: int, to: int, *, force: bool = False) -> float:
        """Move the variable at ``at`` to ``to`` and rescore; undo it unless the score fell or ``force``."""
        low, high = min(at, to), max(at, to) + 1
        touched = self.order[low:high].copy()
        before = self._parents[touched].copy(), self._counts[touched].copy(), self._scores[touched].copy()
        order = self.order.copy()

        def undo() -> None:
            self.order[:] = order
            self._parents[touched], self._counts[touched], self._scores[touched] = before

        try:
            kernels.move(self.order, at, to)
            self._rescore(low, high)
        except BaseException:
            # An interrupt must not leave an order whose parents are another order's.
            undo()
            raise
        change = float(self._scores[touched].sum() - before[2].sum())
        if change >= 0 and not force:
            undo()
            return 0.0
        return change

    def _rescore(self, first: int, last: int) -> None:
        kernels.score_order(
            self._C, self._n, self._per_edge, self.order, first, last, self._limit,
            self._parents, self._counts, self._scores, self._work[0],
        )  # fmt: skip


def best_order(correlation: Floats, n_samples: int, penalty: float = 2.0) -> Integers:
    """Return the order of least BIC of all orders, by dynamic programming over sets: for few variables only."""
    p = len(correlation)
    limit = _most_parents(p, n_samples)
    best, last = np.empty(1 << p), np.empty(1 << p, np.int64)
    kernels.least_scores(
        np.ascontiguousarray(correlation), float(n_samples), penalty * math.log(n_samples), limit,
        best, last, _workspace(p, limit)[0],
    )  # fmt: skip
    order: list[int] = []
    left = (1 << p) - 1
    while left:
        order.append(int(last[left]))
        left &= ~(1 << order[-1])
    return np.array(order[::-1])


def _most_parents(p: int, n_samples: int) -> int:
    # A fit with nearly as many parents as rows explains everything and means nothing.
    return max(1, min(p - 1, (n_samples - 1) // 2))


def _workspace(p: int, limit: int) -> tuple[Any, Any]:
    room = limit + 2
    choosing = (
        np.empty((p, room)),
        np.empty((room, room)),
        np.empty(room),
        np.empty((room, room)),
        np.empty(room),
        np.empty(p),
        np.empty(p),
        np.empty(p, np.bool_),
        np.full(p, -1, np.int64),
    )
    moving = (np.empty(room, np.int64), np.empty(room, np.int64), np.empty(p, np.int64))
    return choosing, moving
