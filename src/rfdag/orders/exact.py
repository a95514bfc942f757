"""The best DAG of all by BIC, by dynamic programming over all sets of variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.local import LocalMoments, factors_at
from rfdag.graphs.node_sets import as_bits
from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED, Constraints
from rfdag.orders import tuning
from rfdag.orders.kernels import exact
from rfdag.orders.kernels.fits import WORTH
from rfdag.orders.limits import most_parents
from rfdag.orders.scores import price_of_edge
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAMILIES_AT_ONCE = 1 << 18
"""Sets of parents that are scored between two reports."""

SETS_AT_ONCE = 1 << 18
"""Sets whose best order is found between two reports."""


@dataclass(frozen=True)
class Problem:
    """Whose best DAG is asked for: moments, the price of an edge, and what orders and parents must obey."""

    moments: LocalMoments
    penalty: float = 2.0
    gamma: float = 0.0
    constraints: Constraints | None = None

    @property
    def p(self) -> int:
        """The number of variables."""
        return self.moments.size

    @functools.cached_property
    def price(self) -> float:
        """The price of an edge."""
        return price_of_edge(self.moments.n_samples, self.p, self.penalty, self.gamma)

    def prices(self, y: int, others: Integers) -> Floats:
        """Return what others cost as parents of y."""
        return self.price * factors_at(self.moments.price_factors, others, y)

    @functools.cached_property
    def limits(self) -> Integers:
        """For each variable the most parents it may have."""
        return most_parents(self.moments, self.constraints)

    def having_role(self, y: int, role: int) -> Integers:
        """Return the variables that have this role as parents of y."""
        none = np.empty(0, np.int64)
        return none if self.constraints is None else np.flatnonzero(self.constraints.roles[y] == role)

    def preceding(self) -> Integers:
        """Return, for each variable, the set of those that must precede it."""
        return _sets_of(None if self.constraints is None else self.constraints.before.T, self.p)


@dataclass(frozen=True)
class Solution:
    """The best DAG of all and an order of it, a source first."""

    order: Integers
    dag: NDArray[np.int8]


@dataclass(frozen=True)
class Proof:
    """What is known of the best score of all, at the same price of an edge and under the same limits.

    Attributes
    ----------
    lower_bound
        No DAG scores less.
    complete
        Whether the search came to its end, so that the DAG returned is the best of all.
    sets
        How many sets of variables were looked at.
    exhaustive
        Whether these are all sets; otherwise, branch and bound left out those that could not lead to a better DAG.
    """

    lower_bound: float
    complete: bool
    sets: int
    exhaustive: bool


def bytes_of_all_sets(p: int) -> float:
    """Return the memory that `best_dag` takes: for each variable and set a score, for each set a score and a variable.

    >>> round(bytes_of_all_sets(20) / 1e6)
    93
    """
    return 8.0 * p * 2.0 ** (p - 1) + 9.0 * 2.0**p


def best_dag(problem: Problem, threads: int = 1, report: Callable[[float], None] = lambda share: None) -> Solution:
    """Return the DAG of least BIC of all (that obey the constraints), and an order of it.

    It is dynamic programming over sets: the best order of a set ends in one of its variables, with its best parents
    among the rest, after the best order of the rest. ``report`` is called with the share done, and may raise.

    T. Silander, P. Myllymäki: A simple approach for finding the globally optimal Bayesian network structure, 2006.
    """
    p = problem.p
    least = np.empty((p, 1 << (p - 1)))

    def score(first: int, step: int) -> None:
        def check() -> None:
            require_wanted()
            if first == 0:
                report(0.8 * y / p)

        for y in range(first, p, step):
            others = np.delete(np.arange(p), y)
            score_families(problem, y, others, least[y], check)
            for member in range(p - 1):
                check()
                exact.spread_to_supersets(least[y], p - 1, member, member + 1)

    share(score, min(threads, p) if p > tuning.LEAST_P_FOR_EXACT_THREADS else 1)
    order = best_order(least, problem.constraints, lambda share: report(0.8 + 0.2 * share))
    return _with_families(problem, order)


def best_order(
    least: Floats, constraints: Constraints | None, report: Callable[[float], None] = lambda share: None
) -> Integers:
    """Return the order of least score of all that obey the constraints, a source first.

    ``least[y, S]`` is the least score of y with parents within S, a mask over the variables without y. ``report`` is
    called with the share done, and may raise.
    """
    p = len(least)
    followers = _sets_of(None if constraints is None else constraints.before, p)
    best, last = np.zeros(1 << p), np.zeros(1 << p, np.int8)
    for first in range(1, 1 << p, SETS_AT_ONCE):
        exact.order_sets(first, min(first + SETS_AT_ONCE, 1 << p), least, followers, best, last)
        report(first / (1 << p))
    order: list[int] = []
    left = (1 << p) - 1
    while left:
        order.append(int(last[left]))
        left ^= 1 << order[-1]
    return np.array(order[::-1], np.int64)


def _sets_of(flags: NDArray[np.bool_] | None, p: int) -> Integers:
    """Return the rows of p × p flags as sets of bits; empty ones where there are none."""
    return np.zeros(p, np.int64) if flags is None else np.array([as_bits(np.flatnonzero(row)) for row in flags])


def scores_of_families(problem: Problem) -> Floats:
    """Return the score of each variable with every set of the others, as the bits of its number, as parents."""
    p = problem.p
    scores = np.empty((p, 1 << (p - 1)))
    for y in range(p):
        score_families(problem, y, np.delete(np.arange(p), y), scores[y])
    return scores


def score_families(
    problem: Problem, y: int, others: Integers, scores: Floats, check: Callable[[], None] = lambda: None
) -> None:
    """Fill in the score of y with every set of the others, as the bits of its number, as parents.

    ``check`` is called again and again, and may raise.
    """
    forbidden, required = (
        as_bits(np.flatnonzero(np.isin(others, problem.having_role(y, role)))) for role in (FORBIDDEN, REQUIRED)
    )
    gram = problem.moments.gram(y, others)
    rows, limit = float(problem.moments.rows(y)), int(problem.limits[y])
    given, chosen = np.empty((len(gram),) * 3), np.empty(len(gram), np.int64)
    given[0] = gram
    sets = forbidden, required, given, chosen, np.zeros(len(gram) + 1), np.zeros(2, np.int64)
    prices = problem.prices(y, others)
    while exact.score_families(rows, prices, limit, *sets, FAMILIES_AT_ONCE, scores):
        check()


def _with_families(problem: Problem, order: Integers) -> Solution:
    """Return an order with each variable's best parents of all among its predecessors; of equally good ones, few."""
    dag = np.zeros((problem.p, problem.p), np.int8)
    for at, y in enumerate(order.tolist()):
        # Ascending, so that of equally good parents those of the least column numbers are taken.
        others = np.sort(order[:at])
        scores = np.empty(1 << at)
        score_families(problem, y, others, scores)
        good = np.flatnonzero(scores <= scores.min() + WORTH)
        family = int(good[np.argmin(np.bitwise_count(good))]) if len(good) > 1 else int(good[0])
        dag[others[[x for x in range(at) if family >> x & 1]], y] = 1
    return Solution(order, dag)
