"""The Gaussian BIC of an order: every variable with the best parents found among its predecessors."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.kernels import bic as kernels

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
        λ: each edge costs λ ln n + 2 γ ln p.
    gamma
        γ of the extended BIC.
    parents
        DAG to start choosing parents from; edges against the order are left out.
    constraints
        Which variables may and must be parents of which, and which must come before which; the order given obeys.

    Attributes
    ----------
    constraints
        Those given.
    settled
        Whether a descent has found that nothing improves the order; any change undoes it.
    """

    def __init__(
        self,
        correlation: Floats,
        n_samples: int,
        order: Integers,
        penalty: float = 2.0,
        gamma: float = 0.0,
        parents: NDArray[np.int8] | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        p = len(order)
        self.constraints = constraints
        self._C = np.ascontiguousarray(correlation)
        self.n_samples = n_samples
        self._n = float(n_samples)
        self.gamma = gamma
        self._price = price_of_edge(n_samples, p, penalty, gamma)
        self._limit = _most_parents(p, n_samples, constraints)
        self._state = kernels.State(
            order=np.array(order, dtype=np.int64),
            place=np.empty(p, np.int64),
            parents=np.zeros((p, self._limit + 1), np.int64),
            counts=np.zeros(p, np.int64),
            scores=np.zeros(p),
            variances=np.empty((p, p)),
            covariances=np.empty((p, p)),
            stale=np.ones(p, np.bool_),
            **_demands(constraints),
        )
        self._work = _workspace(p, self._limit)
        for child in range(p) if constraints is not None or parents is not None else ():
            given = _first_parents(child, parents, constraints)[: self._limit]
            self._state.parents[child, : len(given)] = given
            self._state.counts[child] = len(given)
        self.settled = False
        kernels.score_order(self._C, self._n, self._price, self._limit, self._state, self._work)
        self.renew()

    @property
    def order(self) -> Integers:
        """The variables, a source first."""
        return self._state.order

    @property
    def total(self) -> float:
        """The score of the order: n Σ ln var(y | parents) + price · edges; smaller is better."""
        return float(self._state.scores.sum())

    @property
    def edges(self) -> int:
        """The number of edges."""
        return int(self._state.counts.sum())

    @property
    def misfit(self) -> float:
        """The score without the price of the edges: n Σ ln var(y | parents)."""
        return self.total - self._price * self.edges

    @property
    def exhausted(self) -> Integers:
        """The variables whose variance given their parents is down to rounding, so that their score says nothing."""
        return np.flatnonzero(np.diag(self._state.variances) <= 10 * kernels.TINY)

    @property
    def dag(self) -> NDArray[np.int8]:
        """The DAG of the chosen parents."""
        p = len(self.order)
        dag = np.zeros((p, p), np.int8)
        for child in range(p):
            dag[self._state.parents[child, : self._state.counts[child]], child] = 1
        if self.constraints is not None:
            # A required parent that the others explain to the last has no place in their fit.
            dag[self.constraints.required] = 1
        return dag

    @property
    def stale(self) -> Integers:
        """The variables whose neighbourhood has changed since they were last tried elsewhere."""
        return np.flatnonzero(self._state.stale)

    def doubt_all(self) -> None:
        """Mark every variable stale."""
        self._state.stale[:] = True

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._state = kernels.State(*(array.copy() for array in self._state))
        twin._work = _workspace(len(self.order), self._limit)
        return twin

    def at_price(self, penalty: float, gamma: float) -> ScoredOrder:
        """Return the same order with parents chosen at another price of an edge, starting from those it has."""
        return ScoredOrder(self._C, self.n_samples, self.order, penalty, gamma, self.dag, self.constraints)

    def reinsert(self, variable: int) -> float:
        """Put a variable where it lowers the score most; return the change, 0 when it stays."""
        change: float = kernels.reinsert(self._C, self._n, self._price, variable, self._limit, self._state, self._work)
        self.settled &= change == 0.0
        return change

    def reinsert_stale(self, variables: Integers) -> int:
        """Reinsert those of ``variables`` that are stale, one after the other; return how many moved."""
        moves: int = kernels.reinsert_stale(
            self._C, self._n, self._price, variables, self._limit, self._state, self._work
        )
        self.settled &= moves == 0
        return moves

    def renew(self) -> int:
        """Choose parents anew from all predecessors where that is better; return how many variables it changed."""
        inverse = _inverse_factor(self._C[np.ix_(self.order, self.order)])
        changed: int = kernels.renew(self._C, self._n, self._price, self._limit, inverse, self._state, self._work)
        self.settled &= changed == 0
        return changed

    def move(self, at: int, to: int, *, force: bool = False) -> float:
        """Move the variable at ``at`` to ``to`` and rescore; undo it unless the score fell or ``force``."""
        change: float = kernels.move(self._C, self._n, self._price, at, to, self._limit, force, self._state, self._work)
        # A forced move may change the order and not the score.
        self.settled &= change == 0.0 and not force
        return change

    def turn_edge(self, generator: np.random.Generator) -> None:
        """Turn one edge around, drawn at random: its parent goes behind the child, or the child before the parent.

        Without edges, a variable goes anywhere. Nobody passes one that must stay behind or before.
        """
        children = np.flatnonzero(self._state.counts)
        if not len(children):
            at, to = generator.integers(len(self.order), size=2)
        else:
            child = generator.choice(children)
            parent = self._state.parents[child, generator.integers(self._state.counts[child])]
            at, to = self._state.place[parent], self._state.place[child]
            if generator.random() < 0.5:
                at, to = to, at
        self.move(int(at), kernels.within_reach(self._state, at, to), force=True)


def price_of_edge(n_samples: int, p: int, penalty: float, gamma: float = 0.0) -> float:
    """Return what an edge costs: λ ln n of the BIC, and 2 γ ln p more of the extended BIC."""
    return penalty * math.log(n_samples) + 2 * gamma * math.log(p)


def best_dag(
    correlation: Floats,
    n_samples: int,
    penalty: float = 2.0,
    gamma: float = 0.0,
    constraints: Constraints | None = None,
) -> tuple[Integers, NDArray[np.int8]]:
    """Return the DAG of least BIC of all (that obey the constraints), and an order of it.

    It is dynamic programming over sets, for few variables only.

    T. Silander, P. Myllymäki: A simple approach for finding the globally optimal Bayesian network structure, 2006.
    """
    p = len(correlation)
    C, n = np.ascontiguousarray(correlation), float(n_samples)
    price, limit = price_of_edge(n_samples, p, penalty, gamma), _most_parents(p, n_samples, constraints)
    demands = _demands(constraints)
    least, family = np.empty((p, 1 << (p - 1))), np.empty((p, 1 << (p - 1)), np.int64)
    for y in range(p):
        kernels.best_families(C, n, price, limit, y, demands["roles"], least[y], family[y])
    best, last = np.empty(1 << p), np.empty(1 << p, np.int64)
    kernels.best_orders(p, least, demands["first"], best, last)
    order: list[int] = []
    dag = np.zeros((p, p), np.int8)
    left = (1 << p) - 1
    while left:
        y = int(last[left])
        left &= ~(1 << y)
        order.append(y)
        parents = int(family[y, left & ((1 << y) - 1) | (left >> (y + 1)) << y])
        for x in range(p - 1):
            if parents >> x & 1:
                dag[x if x < y else x + 1, y] = 1
    return np.array(order[::-1]), dag


def _inverse_factor(correlation: Floats) -> Floats:
    """Return L⁻¹ with L Lᵀ = correlation, of as many leading variables as do not depend on those before them."""
    lower, stopped = lapack.dpotrf(correlation, lower=1, overwrite_a=0)
    solid = stopped - 1 if stopped > 0 else len(correlation)
    dependent = np.flatnonzero(np.diag(lower)[:solid] ** 2 < kernels.TINY)
    if len(dependent):
        solid = int(dependent[0])
    inverse, _ = lapack.dtrtri(np.asfortranarray(lower[:solid, :solid]), lower=1, overwrite_c=1)
    return np.ascontiguousarray(inverse)


def _most_parents(p: int, n_samples: int, constraints: Constraints | None = None) -> int:
    # A fit with nearly as many parents as rows explains everything and means nothing.
    enough = max(1, min(p - 1, (n_samples - 1) // 2))
    return enough if constraints is None else max(enough, int(constraints.required.sum(axis=0).max()))


def _demands(constraints: Constraints | None) -> dict[str, NDArray[Any]]:
    """Return the matrices of the kernels, empty where nothing is demanded."""
    if constraints is None:
        return {"roles": np.empty((0, 0), np.int8), "first": np.empty((0, 0), np.bool_)}
    return {"roles": constraints.roles, "first": constraints.before}


def _first_parents(child: int, parents: NDArray[np.int8] | None, constraints: Constraints | None) -> Integers:
    """Return the parents that a variable's fit begins with: the required ones, then those given that may be."""
    given = np.empty(0, np.int64) if parents is None else np.flatnonzero(parents[:, child])
    if constraints is None:
        return given
    required = constraints.required_of(child)
    others = given[constraints.may_be_parents(given, child)]
    return np.concatenate([required, others[~np.isin(others, required)]])


def _workspace(p: int, limit: int) -> kernels.Work:
    room = limit + 2

    def fit() -> kernels.Fit:
        return kernels.Fit(
            parents=np.empty(room, np.int64),
            rows=np.empty((room, p)),
            variances=np.empty(p),
            covariances=np.empty(p),
        )

    return kernels.Work(
        mine=fit(),
        theirs=fit(),
        triangle=np.empty((room, room)),
        weights=np.empty(room),
        column=np.empty(room),
        path=np.empty(p),
    )
