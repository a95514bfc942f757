"""The best DAG of all by any local score of families: every set of parents is scored, every set of variables ordered.

The score is all that differs between kinds of data. `TreeOrder` takes the families as it takes grow–shrink trees: every
order then has the best parents of all, and orders that are nearly as good as the best are found as in any search.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.node_sets import as_bits
from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED, Constraints
from rfdag.orders.exact import best_order
from rfdag.orders.family_scores import FamilyScore, largest_family
from rfdag.orders.kernels.fits import WORTH
from rfdag.orders.trees import WORK_FOR_THREADS
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WORK_AT_ONCE = 10_000_000
"""Operations of a scan between two looks at the time, about: some hundredths of a second."""


class AllFamilies:
    """The best parents of every variable among any predecessors, of all sets that constraints and the score allow.

    It has the form of grow–shrink trees that are made already: a node is a variable with some of its predecessors, a
    branch adds another, and at each node the best parents among those so far are known.

    Parameters
    ----------
    score
        Scores a variable given parents.
    constraints
        What orders and parents must obey.
    threads
        How many threads score families.
    report
        Called with the share done; it may raise.

    Attributes
    ----------
    operations
        About how many operations scoring has taken.
    least
        For each variable and each set of others, a mask without it, the least score with parents within the set.

    Examples
    --------
    >>> from rfdag.orders.family_scores import BlockScore
    >>> pair = BlockScore(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 1, 2]), None, 100)
    >>> families = AllFamilies(pair)
    >>> families.least.round(2)
    array([[  0.  , -19.56],
           [  0.  , -19.56]])
    >>> families.best_order()
    array([1, 0])
    """

    def __init__(
        self,
        score: FamilyScore,
        constraints: Constraints | None = None,
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> None:
        p = score.size
        self.score, self.constraints = score, constraints
        self.operations = 0
        scores = self._all_scores(threads, report)
        best = _best_subsets(scores)
        self.least = np.take_along_axis(scores, best, axis=1)
        self._kept = [parents for y in range(p) for parents in _parents_of(best[y], _others(p, y))]
        sets = np.arange(1 << (p - 1))
        masks, places = np.nonzero(~_bits(sets, p - 1))
        nodes = sets + (np.arange(p) << (p - 1))[:, None]
        self.root = nodes[:, 0].copy()
        self.count = np.tile(p - 1 - np.bitwise_count(sets).astype(np.int64), p)
        self.first = np.cumsum(self.count) - self.count
        self.branches = np.concatenate([_others(p, y)[places] for y in range(p)])
        self.child = np.concatenate([each[masks | 1 << places] for each in nodes])
        self.final = self.least.ravel()

    def _all_scores(self, threads: int, report: Callable[[float], None]) -> Floats:
        """Return the scores of all families, infinite where they are not allowed."""
        p = self.score.size
        allowed = [self._allowed(y) for y in range(p)]
        of_one = self.score.work(1, p - 1, 1)
        at_once = max(1, int(WORK_AT_ONCE / max(of_one, 1)))
        parts = [(y, sets[at : at + at_once]) for y, sets in enumerate(allowed) for at in range(0, len(sets), at_once)]
        self.operations = of_one * sum(map(len, allowed))
        scores = np.full((p, 1 << (p - 1)), np.inf)

        def some(first: int, step: int) -> None:
            for at in range(first, len(parts), step):
                require_wanted()
                if first == 0:
                    report(at / len(parts))
                y, sets = parts[at]
                scores[y, sets] = self._scored(y, sets)

        share(some, threads if self.operations > WORK_FOR_THREADS else 1)
        return scores

    def _allowed(self, y: int) -> Integers:
        """Return the sets of parents, as masks over the others, that a variable may have."""
        p = self.score.size
        sets = np.arange(1 << (p - 1))
        sets = sets[np.bitwise_count(sets) <= largest_family(self.score, self.constraints)]
        if self.constraints is None:
            return sets
        roles = self.constraints.roles[y, _others(p, y)]
        forbidden, required = (as_bits(np.flatnonzero(roles == role)) for role in (FORBIDDEN, REQUIRED))
        return sets[(sets & forbidden == 0) & (sets & required == required)]

    def _scored(self, y: int, sets: Integers) -> Floats:
        """Return the scores of a variable with sets of parents."""
        p = self.score.size
        chosen = _bits(sets, p - 1)
        sizes = chosen.sum(axis=1)
        parents = np.zeros((len(sets), max(p - 1, 1)), np.int64)
        rows, places = np.nonzero(chosen)
        parents[rows, (np.cumsum(chosen, axis=1) - 1)[rows, places]] = _others(p, y)[places]
        return self.score.scan(np.full(len(sets), y), parents, sizes, np.full((p, 1), -1))[0]

    def best_order(self, report: Callable[[float], None] = lambda share: None) -> Integers:
        """Return the order of least score of all, a source first."""
        return best_order(self.least, self.constraints, report)

    def parents_at(self, node: int) -> Integers:
        """Return the best parents of a variable among the predecessors of a node; of equally good ones, few."""
        return self._kept[node]

    def serve(self, wanted: Integers) -> None:
        """Raise: all there is to ask for is made."""
        raise AssertionError(wanted)


def _best_subsets(scores: Floats) -> Integers:
    """Return, for each variable and set of others, the subset of least score; of equally good ones a smallest."""
    p, count = scores.shape
    sets = np.arange(count)
    # The smaller a set, and then its number, the sooner it is taken.
    rank = np.bitwise_count(sets).astype(np.int64) * count + sets
    best = np.tile(sets, (p, 1))
    for member in range(count.bit_length() - 1):
        halves = best.reshape(p, -1, 2, 1 << member)
        without, within = halves[:, :, 0], halves[:, :, 1]
        rows = np.arange(p)[:, None, None]
        least, score = scores[rows, without], scores[rows, within]
        as_good = (least <= score + WORTH) & (rank[without] < rank[within])
        within[...] = np.where((least < score - WORTH) | as_good, without, within)
    return best


def _parents_of(families: Integers, others: Integers) -> list[Integers]:
    """Return the members of sets of others; equal sets have the same array."""
    distinct, which = np.unique(families, return_inverse=True)
    arrays = [others[chosen] for chosen in _bits(distinct, len(others))]
    return [arrays[at] for at in which.tolist()]


def _others(p: int, y: int) -> Integers:
    return np.delete(np.arange(p), y)


def _bits(sets: Integers, size: int) -> NDArray[np.bool_]:
    """Return for each set which of so many members it has."""
    found: NDArray[np.bool_] = (sets[:, None] >> np.arange(size) & 1).astype(bool)
    return found
