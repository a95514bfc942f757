"""What it costs to reverse an edge of a DAG, by local scores: the parents of its two ends are chosen anew."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.local import LocalMoments, factors_at
from rfdag.graphs.dag import Graph, topological_order
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.limits import most_parents

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TINY = 1e-12
"""Share of a variance that is rounding, so that a fit down to it means nothing."""


class Alternative(NamedTuple):
    """Another DAG, and what it adds to the BIC."""

    cost: float
    dag: Graph


class Reversing:
    """Reverses edges of one DAG, each on its own.

    Parameters
    ----------
    dag
        The DAG, a full matrix.
    moments
        The moments in which each variable is scored, and the rows behind them.
    price
        What an edge costs in the BIC, where rows with gaps do not make it dearer.
    constraints
        Which variables may and must be parents of which, and which must precede which; the DAG obeys them.
    """

    def __init__(self, dag: Graph, moments: LocalMoments, price: float, constraints: Constraints | None = None) -> None:
        self._moments = moments
        self._price = price
        self._prepare(dag, most_parents(moments, constraints), constraints)

    def _prepare(self, dag: Graph, most: Integers, constraints: Constraints | None) -> None:
        self._dag = dag
        self._most = most
        self._constraints = constraints
        self._descends = _descendants(dag)

    def reverse(self, source: int, target: int) -> Alternative | None:
        """Return a DAG with ``target`` → ``source`` in place of ``source`` → ``target``; None where none is possible.

        Both ends choose their parents among those that the two have in the DAG, less the descendants of the source, so
        that no cycle arises; the source keeps the target. They start with all of these and drop, one by one, the parent
        without which the BIC is lowest, for as long as that lowers it. None is returned where the constraints rule the
        reversal out, and where these parents are too many for the rows, or determine each other.

        >>> from rfdag.evidence.local import SharedMoments
        >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
        >>> moments = SharedMoments(np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]]), n_samples=100)
        >>> reversal = Reversing(collider, moments, price=9.2).reverse(0, 2)
        >>> reversal.dag
        array([[0, 0, 0],
               [1, 0, 1],
               [1, 0, 0]], dtype=int8)
        >>> round(reversal.cost, 1)
        9.2
        """
        joined = np.flatnonzero(self._dag[:, source] | self._dag[:, target])
        candidates = joined[~self._descends[source, joined]]
        new = self._best(target, candidates), self._best(source, np.append(candidates, target), keep=target)
        old = [self._scored(end, np.flatnonzero(self._dag[:, end])) for end in (target, source)]
        if new[0] is None or new[1] is None or old[0] is None or old[1] is None:
            return None
        dag = self._dag.copy()
        for end, family in zip((target, source), new, strict=True):
            dag[:, end] = 0
            dag[family.parents, end] = 1  # type: ignore[union-attr]
        if self._constraints is not None and len(self._constraints.arrange(np.arange(len(dag)), dag)) < len(dag):
            return None
        return Alternative(new[0].score + new[1].score - old[0].score - old[1].score, dag)

    def _best(self, y: int, candidates: Integers, keep: int | None = None) -> Family | None:
        """Return y with the parents that are left of the candidates; ``keep`` and required parents stay."""
        fixed = [] if keep is None else [keep]
        if self._constraints is not None:
            fixed += self._constraints.required_of(y).tolist()
            candidates = candidates[self._constraints.may_be_parents(candidates, y)]
        if not np.isin(fixed, candidates).all() or len(candidates) > self._most[y]:
            return None
        family = self._scored(y, candidates)
        while family is not None:
            gains = np.where(np.isin(family.parents, fixed), np.inf, family.gains)
            if gains.min(initial=np.inf) >= 0:
                break
            family = self._scored(y, np.delete(family.parents, gains.argmin()))
        return family

    def _scored(self, y: int, parents: Integers) -> Family | None:
        """Return y with some parents and what each is worth; None where these determine each other."""
        n = self._moments.rows(y)
        try:
            inverse = np.linalg.inv(self._moments.gram(y, parents))
        except np.linalg.LinAlgError:
            return None
        diagonal = np.diag(inverse)
        if not (diagonal > 0).all() or diagonal.max() * TINY > 1:
            return None
        # The inverse of the correlations holds 1 / var(y | parents), and the partial correlations of y and each parent.
        squares = np.minimum(inverse[0, 1:] ** 2 / (diagonal[0] * diagonal[1:]), 1 - TINY)
        prices = self._price * factors_at(self._moments.price_factors, parents, y)
        score = -n * math.log(diagonal[0]) + float(prices.sum())
        return Family(parents, score, -n * np.log1p(-squares) - prices)


class Family(NamedTuple):
    """Parents of a variable, n ln var(y | parents) + their prices, and how much worse it is without each of them."""

    parents: Integers
    score: float
    gains: Floats


def _descendants(dag: Graph) -> NDArray[np.bool_]:
    """Return whether j is i or descends from it, at (i, j)."""
    reached: NDArray[np.bool_] = np.eye(len(dag), dtype=bool)
    for node in reversed(topological_order(dag)):
        reached[node] |= reached[dag[node] != 0].any(axis=0)
    return reached
