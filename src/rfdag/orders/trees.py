"""Which parents a variable takes among any predecessors: grow–shrink trees, made as far as a search asks for them.

From no parents on, or from the required ones, a variable adds the predecessor that lowers its score most; where none
does, the pair of them that does, among those known to tell something together. When no more help, it drops the parents
without which it scores better. What it adds next depends on its parents so far alone, so that all answers of a variable
form a tree (Andrews et al., 2023, for the search BOSS), and each set of parents is scored once however many orders are
compared.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.family_scores import FamilyScore, largest_family
from rfdag.orders.kernels.trees import PAIR, SINGLE, TO_SHRINK, UNSEEN, rank_branches
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_GAIN = 1e-6
"""Fall of a score that is more than rounding."""

SCANNED_AT_ONCE = 8
"""Families scanned between two looks at the time."""

WORK_FOR_THREADS = 2_000_000
"""Operations from which threads share a scan."""


Family = tuple[int, tuple[int, ...]]
"""A child and its parents, ascending."""

Pairs = list[list[tuple[int, int]]]
"""For each variable, pairs of others."""


class Trees:
    """The grow–shrink trees of all variables.

    Parameters
    ----------
    score
        Scores a variable given parents.
    candidates
        For each variable those that may be its parents, a row that ends with −1.
    constraints
        What parents must obey; required ones are never dropped.
    threads
        How many threads scan families.
    check
        Called again and again, and may raise.
    pairs
        For each variable the pairs of others that may be parents only together.

    Attributes
    ----------
    operations
        About how many operations scanning has taken so far.
    """

    def __init__(
        self,
        score: FamilyScore,
        candidates: Integers,
        constraints: Constraints | None = None,
        threads: int = 1,
        check: Callable[[], None] = lambda: None,
        pairs: Pairs | None = None,
    ) -> None:
        p = score.size
        self.score = score
        self.operations = 0
        self.check = check
        self._threads = threads
        self._lock = threading.Lock()
        self._required = [frozenset[int]()] * p
        if constraints is not None:
            self._required = [frozenset(constraints.required_of(y).tolist()) for y in range(p)]
            candidates = _allowed(candidates, constraints)
            pairs = None if pairs is None else [_obeying(each, y, constraints) for y, each in enumerate(pairs)]
        self._candidates = np.ascontiguousarray(candidates, np.int64)
        self._pairs = pairs or [[]] * p
        numbers = np.full((p, max(map(len, self._pairs))), -1)
        for y, each in enumerate(self._pairs):
            numbers[y, : len(each)] = [min(pair) | max(pair) << PAIR for pair in each]
        self._lists = np.concatenate([self._candidates, numbers], axis=1)
        self._most = largest_family(score, constraints)
        # Of each node: where its branches are, its score once its parents are shrunk, and which these are.
        self.first, self.count = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self.final = np.full(64, math.nan)
        self._families: list[Family] = []
        self._own: list[float] = []
        self._kept: dict[int, Integers] = {}
        # Of each branch: the variable that is added, or the two of a pair, and the node below.
        self.branches, self.child = np.empty(1024, np.int64), np.full(1024, UNSEEN)
        self._used = 0
        self._node_of: dict[Family, int] = {}
        self._scores: dict[Family, float] = {}
        self.root = np.array(self._nodes_of([(y, tuple(sorted(each))) for y, each in enumerate(self._required)]))

    def parents_at(self, node: int) -> Integers:
        """Return the parents that a variable keeps whose walk ends at a node."""
        return self._kept[node]

    def serve(self, wanted: Integers) -> None:
        """Make what walks have asked for: nodes below branches, and the shrunk parents of nodes."""
        with self._lock:
            grown, to_shrink = [], []
            # Another thread may have asked for the same in the meantime.
            for node, branch in sorted(set(map(tuple, wanted.tolist()))):
                if branch == TO_SHRINK:
                    if math.isnan(self.final[node]):
                        to_shrink.append(node)
                elif self.child[branch] == UNSEEN:
                    grown.append((node, branch))
            if grown:
                families = [_with(self._families[node], *self._added_by(branch)) for node, branch in grown]
                for (_, branch), node in zip(grown, self._nodes_of(families), strict=True):
                    self.child[branch] = node
            self._shrink(to_shrink)

    def _added_by(self, branch: int) -> tuple[int, ...]:
        """Return the variables that a branch adds: one, or the two of a pair."""
        added = int(self.branches[branch])
        return (added,) if added <= SINGLE else (added & SINGLE, added >> PAIR)

    def _nodes_of(self, families: list[Family]) -> list[int]:
        """Return the nodes of families, making those that are not there yet."""
        fresh = [family for family in dict.fromkeys(families) if family not in self._node_of]
        if fresh:
            begin = len(self._families)
            self._make_room(begin + len(fresh))
            children, parents, sizes = _as_arrays(fresh)
            own, out = self._scanned(children, parents, sizes)
            out[sizes >= self._most] = np.inf
            if self._lists.shape[1] > out.shape[1]:
                out = np.concatenate([out, self._with_pairs(fresh)], axis=1)
            needed = self._used + out.size
            if needed > len(self.branches):
                self.branches, self.child = _longer(self.branches, needed), _longer(self.child, needed, UNSEEN)
            nodes = np.arange(begin, begin + len(fresh))
            lists, singles = self._lists[children], self._candidates.shape[1]
            self._used = rank_branches(
                own, out, lists, singles, LEAST_GAIN, self.first, self.count, self.branches, nodes, self._used
            )
            scores = own.tolist()
            self._families += fresh
            self._own += scores
            self._node_of |= zip(fresh, nodes.tolist(), strict=True)
            self._scores |= zip(fresh, scores, strict=True)
        return [self._node_of[family] for family in families]

    def _with_pairs(self, families: list[Family]) -> Floats:
        """Return the scores of families with each pair of the child added, infinite where one of it is there."""
        scores = np.full((len(families), self._lists.shape[1] - self._candidates.shape[1]), math.inf)
        larger = {
            (row, at): _with(family, *pair)
            for row, family in enumerate(families)
            for at, pair in enumerate(self._pairs[family[0]])
            if len(family[1]) + 2 <= self._most and not set(pair) & set(family[1])
        }
        self._own_scores(list(larger.values()))
        for place, family in larger.items():
            scores[place] = self._scores[family]
        return scores

    def _make_room(self, nodes: int) -> None:
        if nodes > len(self.first):
            self.first, self.count = _longer(self.first, nodes), _longer(self.count, nodes)
            self.final = _longer(self.final, nodes, math.nan)

    def _scanned(self, children: Integers, parents: Integers, sizes: Integers) -> tuple[Floats, Floats]:
        """Return the scores of families and of those with each candidate added, scanned by all threads."""
        work = self.score.work(len(children), int(sizes.sum()), self._candidates.shape[1])
        self.operations += work
        if self._threads == 1 or work < WORK_FOR_THREADS:
            self.check()
            return self.score.scan(children, parents, sizes, self._candidates)
        own, out = np.empty(len(children)), np.empty((len(children), self._candidates.shape[1]))

        def some(worker: int, workers: int) -> None:
            for begin in range(worker * SCANNED_AT_ONCE, len(children), workers * SCANNED_AT_ONCE):
                require_wanted()
                self.check()
                here = slice(begin, begin + SCANNED_AT_ONCE)
                own[here], out[here] = self.score.scan(children[here], parents[here], sizes[here], self._candidates)

        share(some, self._threads)
        return own, out

    def _own_scores(self, families: list[Family]) -> None:
        """Score families alone, those not known already."""
        fresh = [family for family in dict.fromkeys(families) if family not in self._scores]
        if not fresh:
            return
        children, parents, sizes = _as_arrays(fresh)
        self.operations += self.score.work(len(children), int(sizes.sum()), 0)
        own, _ = self.score.scan(children, parents, sizes, np.full((self.score.size, 1), -1))
        self._scores |= zip(fresh, own.tolist(), strict=True)

    def _shrink(self, nodes: list[int]) -> None:
        """Find for nodes which of their parents stay; all together, a parent at a time."""
        now = {node: self._families[node] for node in nodes}
        best = {node: self._own[node] for node in nodes}
        waiting = list(nodes)
        while waiting:
            self.check()
            trials = {node: self._without_one(now[node]) for node in waiting}
            self._own_scores([family for each in trials.values() for family in each])
            waiting = []
            for node, families in trials.items():
                for family in families:
                    score = self._scores[family]
                    if score < best[node] - LEAST_GAIN:
                        best[node], now[node] = score, family
                if now[node] in families:
                    waiting.append(node)
        for node in nodes:
            self._kept[node] = np.array(now[node][1], np.int64)
            self.final[node] = best[node]

    def _without_one(self, family: Family) -> list[Family]:
        """Return a family without each of the parents that are not required."""
        child, parents = family
        required = self._required[child]
        return [
            (child, parents[:at] + parents[at + 1 :]) for at, parent in enumerate(parents) if parent not in required
        ]


def _with(family: Family, *added: int) -> Family:
    """Return a family with more parents."""
    child, parents = family
    return child, tuple(sorted({*parents, *added}))


def _as_arrays(families: list[Family]) -> tuple[Integers, Integers, Integers]:
    """Return children, a row of parents for each, and how many of them there are."""
    sizes = [len(parents) for _, parents in families]
    widest = max(1, *sizes)
    rows = [(*parents, *(0,) * (widest - size)) for (_, parents), size in zip(families, sizes, strict=True)]
    children = np.array([child for child, _ in families], np.int64)
    return children, np.array(rows, np.int64), np.array(sizes, np.int64)


def _longer(array: NDArray[Any], needed: int, fill: float = 0) -> NDArray[Any]:
    """Return a copy of an array with room for more."""
    longer = np.full(max(needed, 2 * len(array)), fill, array.dtype)
    longer[: len(array)] = array
    return longer


def _obeying(pairs: list[tuple[int, int]], y: int, constraints: Constraints) -> list[tuple[int, int]]:
    """Return the pairs both of which may be parents."""
    return [pair for pair in pairs if constraints.may_be_parents(np.array(pair), y).all()]


def _allowed(candidates: Integers, constraints: Constraints) -> Integers:
    """Return the candidates that may be parents, those required left out, since they are parents already."""
    kept = np.full_like(candidates, -1)
    for y in range(len(candidates)):
        listed = candidates[y][candidates[y] >= 0]
        listed = listed[constraints.may_be_parents(listed, y) & ~np.isin(listed, constraints.required_of(y))]
        kept[y, : len(listed)] = listed
    return kept
