"""A proof that a DAG is the best of all by BIC, or a better one: branch and bound over sets of variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.node_sets import members
from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.orders import tuning
from rfdag.orders.exact import Problem, Proof, Solution
from rfdag.orders.kernels import branching as kernels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_VARIABLES = 62
"""Variables that the bits of an integer can stand for."""

STEPS_AT_ONCE = 20_000_000
"""Steps in which families are listed between two reports."""

STATES_AT_ONCE = 1 << 13
"""Sets that are expanded between two reports."""


class Families(NamedTuple):
    """The families of a variable that are the best within some set, as sets, and their scores, the best first."""

    masks: Integers
    scores: Floats


def prove(
    problem: Problem,
    known: float,
    *,
    most_sets: int,
    most_steps: float,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[Proof | None, Solution | None]:
    """Return what is known of the best score of all, and the best DAG where it is better than one that is known.

    Sets are the variables that stand first in an order. A set is left out if its cost and a bound on the cost of the
    rest come to the score known. The bound lets groups of variables choose among orders of their own, with any parents
    from elsewhere, and is the sum over the groups; of several ways to form groups, the best counts.

    C. Yuan, B. Malone: Learning optimal Bayesian networks: a shortest path perspective, 2013 (bounds by groups);
    S. Karan, J. Zola: Exact structure learning of Bayesian networks by optimal path extension, 2016 (variables that
    have their best parents already are placed at once); C. de Campos, Q. Ji: Efficient structure learning of Bayesian
    networks using constraints, 2011 (families that are never needed).

    Parameters
    ----------
    problem
        Whose best DAG is asked for; of at most `MOST_VARIABLES` variables.
    known
        The score of a DAG that is known.
    most_sets
        Sets that may be held in memory. Where they do not suffice, there is a bound and no proof.
    most_steps
        Steps that listing all families may take, a quarter of them for one variable, and once more so many that
        looking through the lists may take. Where the first do not suffice, nothing is known of the best score; where
        the second do not, there is a bound and no proof.
    report
        Called with the share done; may raise.
    """
    p = problem.p
    listed = []
    left = most_steps
    for y in range(p):
        check = partial(report, 0.5 * y / p)
        check()
        found = families_of(problem, y, min(left, most_steps / 4), check)
        if found is None:
            return None, None
        families, steps = found
        listed.append(families)
        left -= steps
    search = _Search(problem, listed, known, most_sets)
    complete = search.run(most_steps, report)
    bound = search.least if complete else min(search.least, search.least_open())
    return Proof(bound, complete, search.sets, exhaustive=False), search.solution()


def families_of(
    problem: Problem, y: int, most_steps: float, check: Callable[[], None] = lambda: None
) -> tuple[Families, int] | None:
    """Return the families of y that score better than all of their subsets, and how many steps that took.

    None if they are too many, or the columns too nearly dependent. ``check`` is called again and again; it may raise.
    """
    required = problem.having_role(y, REQUIRED)
    others = np.setdiff1d(np.arange(problem.p), np.concatenate([[y], problem.having_role(y, FORBIDDEN), required]))
    candidates = np.concatenate([required, others])
    gram = problem.moments.gram(y, candidates)
    if not np.linalg.cond(gram) < tuning.LARGEST_CONDITION_TO_BOUND:
        return None
    precision = np.linalg.inv(gram)
    # Strong candidates first: leaving one out then tells soonest that nothing can make up for it.
    first = 1 + len(required)
    strength = precision[0, first:] ** 2 / np.diag(precision)[first:]
    places = np.concatenate([np.arange(first), first + np.argsort(-strength, kind="stable")])
    gram, precision = (np.ascontiguousarray(matrix[np.ix_(places, places)]) for matrix in (gram, precision))
    bits = np.left_shift(np.int64(1), np.append(y, candidates)[places[1:]])
    rows, limit, m = float(problem.moments.rows(y)), int(problem.limits[y]), len(candidates)
    masks, scores = np.empty(tuning.MOST_FAMILIES, np.int64), np.empty(tuning.MOST_FAMILIES)
    matrices = np.empty((2, m + 1, m + 1, m + 1))
    matrices[0, 0], matrices[1, 0] = gram, precision
    known, lowest, at = np.zeros((6, m + 1), np.int64), np.full((2, m + 1), np.inf), np.zeros(3, np.int64)
    lowest[1, 0] = 0.0
    known[kernels.NEWEST] = -1
    if not len(required):
        masks[0], scores[0] = 0, rows * math.log(gram[0, 0])
        lowest[0, 0], at[kernels.COUNT] = scores[0], 1
    prices = problem.prices(y, candidates[places[1:] - 1])
    # What the cheapest of the candidates from each on costs.
    prices = np.array([prices, np.minimum.accumulate(prices[::-1])[::-1]])
    task = rows, np.ascontiguousarray(prices), limit, len(required), bits, float(most_steps), at
    room = matrices, known, lowest, np.empty_like(masks), masks, scores
    while kernels.list_families(*task, at[kernels.STEPS] + STEPS_AT_ONCE, *room):
        check()
    count = int(at[kernels.COUNT])
    if count < 0:
        return None
    ranking = np.argsort(scores[:count], kind="stable")
    return Families(masks[ranking], scores[ranking]), int(at[kernels.STEPS])


class _Search:
    """The sets that were looked at, and the best order that they lead to."""

    def __init__(self, problem: Problem, families: Sequence[Families], known: float, most_sets: int) -> None:
        p = self._p = problem.p
        self._families = families
        self._start = np.concatenate([[0], np.cumsum([len(each.masks) for each in families])]).astype(np.int64)
        self._masks = np.concatenate([each.masks for each in families])
        self._scores = np.concatenate([each.scores for each in families])
        self._earlier = problem.preceding()
        partitions = partitions_of(problem)
        self._bounds = np.zeros((len(partitions), len(partitions[0]), 1 << max(map(len, partitions[0]))))
        self._group, self._place = np.empty((2, len(partitions), p), np.int64)
        for k, groups in enumerate(partitions):
            for number, group in enumerate(groups):
                bounds = self._bounds[k, number]
                kernels.bound_group(group, self._earlier, self._start, self._masks, self._scores, bounds)
                self._group[k, group], self._place[k, group] = number, np.arange(len(group))
        self._states, self._costs = np.zeros(most_sets, np.int64), np.zeros(most_sets)
        self._origin, self._beside = np.full(most_sets, -1, np.int64), np.full(most_sets, -1, np.int64)
        self._table = np.full(1 << (2 * most_sets - 1).bit_length(), -1, np.int64)
        self._heads = np.full(p + 1, -1, np.int64)
        self._heads[0] = self._table[0] = 0
        self._counters = np.array([0, 0, 1, -1, 0], np.int64)
        self._least = np.array([known])

    @property
    def least(self) -> float:
        """The best score found, or known before."""
        return float(self._least[0])

    @property
    def sets(self) -> int:
        """The number of sets looked at."""
        return int(self._counters[kernels.STATES])

    def run(self, most_looks: float, report: Callable[[float], None]) -> bool:
        """Look at all sets that can matter; return False where there is not room or time enough for them."""
        while self._counters[kernels.LOOKS] <= most_looks:
            done = kernels.search_sets(
                self._p, self._earlier, self._start, self._masks, self._scores, self._group, self._place, self._bounds,
                self._states, self._costs, self._origin, self._beside, self._table, self._heads, self._counters,
                self._least, STATES_AT_ONCE,
            )  # fmt: skip
            if done <= 0:
                return bool(done == 0)
            report(0.5 + 0.5 * self._counters[kernels.LAYER] / self._p)
        return False

    def least_open(self) -> float:
        """Return the least cost and bound of the sets that are still to be expanded."""
        layer = int(self._counters[kernels.LAYER])
        waiting = []
        for size in range(layer, self._p):
            at = int(self._counters[kernels.NEXT] if size == layer else self._heads[size])
            while at >= 0:
                waiting.append(at)
                at = int(self._beside[at])
        placed, costs = self._states[waiting], self._costs[waiting]
        bounds = np.zeros((len(self._bounds), len(waiting)))
        for k, number in np.ndindex(self._bounds.shape[:2]):
            rest = np.zeros(len(waiting), np.int64)
            for z in np.flatnonzero(self._group[k] == number).tolist():
                rest |= (~placed >> z & 1) << self._place[k, z]
            bounds[k] += self._bounds[k, number, rest]
        return float((costs + bounds.max(axis=0)).min(initial=np.inf))

    def solution(self) -> Solution | None:
        """Return the best order found, with its DAG; None if none is better than the one known."""
        at = int(self._counters[kernels.GOAL])
        if at < 0:
            return None
        chain = [(1 << self._p) - 1]
        while at >= 0:
            chain.append(int(self._states[at]))
            at = int(self._origin[at])
        order: list[int] = []
        dag = np.zeros((self._p, self._p), np.int8)
        placed = 0
        for after in chain[::-1]:
            while placed != after:
                z, family = self._next(placed, after)
                dag[members(family), z] = 1
                order.append(z)
                placed |= 1 << z
        return Solution(np.array(order, np.int64), dag)

    def _next(self, placed: int, after: int) -> tuple[int, int]:
        """Return what to place next on the way to a set, and its family.

        Where several were placed at once, each has its best family of all among those before it.
        """
        several = (after ^ placed).bit_count() > 1
        for z in members(after ^ placed).tolist():
            if int(self._earlier[z]) & ~placed == 0:
                place = int(np.flatnonzero(self._families[z].masks & ~placed == 0)[0])
                if not several or place == 0:
                    return z, int(self._families[z].masks[place])
        raise AssertionError("a set was reached in a way that cannot be found again")


def partitions_of(problem: Problem) -> list[list[Integers]]:
    """Return partitions of the variables into groups of those that depend most on each other, of about equal size."""
    p = problem.p
    strengths = np.zeros((p, p))
    for y in range(p):
        others = np.delete(np.arange(p), y)
        precision = np.linalg.inv(problem.moments.gram(y, others))
        strengths[y, others] = precision[0, 1:] ** 2 / (precision[0, 0] * np.diag(precision)[1:])
    strengths = strengths + strengths.T
    # Along an eigenvector of their Laplacian, variables that depend on each other lie side by side.
    _, vectors = np.linalg.eigh(np.diag(strengths.sum(axis=0)) - strengths)
    ways = vectors[:, 1 : 1 + tuning.PARTITIONS] if p > 1 else vectors
    groups = -(-p // tuning.LARGEST_GROUP)
    return [[np.sort(part) for part in np.array_split(np.argsort(along, kind="stable"), groups)] for along in ways.T]
