"""Which parents a variable takes among any predecessors: grow–shrink trees, made as far as a search asks for them.

From no parents on, or from the required ones, a variable adds the predecessor that lowers its score most, and when none
does, drops the parents without which it scores better. What it adds next depends on its parents so far alone, so that
all answers of a variable form a tree (Andrews et al., 2023, for the search BOSS), and each set of parents is scored
once however many orders are compared.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.family_scores import FamilyScore
from rfdag.orders.kernels.trees import TO_SHRINK, UNSEEN, rank_branches
from rfdag.runtime.threads import share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_GAIN = 1e-6
"""Fall of a score that is more than rounding."""

SCANNED_AT_ONCE = 8
"""Families scanned between two looks at the time."""

WORK_FOR_THREADS = 2_000_000
"""Operations from which threads share a scan."""


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
    ) -> None:
        p = score.size
        self.score = score
        self.operations = 0
        self.check = check
        self._threads = threads
        self._lock = threading.Lock()
        self._required = [np.empty(0, np.int64)] * p
        if constraints is not None:
            self._required = [np.sort(constraints.required_of(y)) for y in range(p)]
            candidates = _allowed(candidates, constraints)
        self._candidates = np.ascontiguousarray(candidates, np.int64)
        self._most = score.most_parents + max(map(len, self._required))
        self.first, self.count = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self._own, self.final = np.empty(64), np.empty(64)
        self._child_of, self._size = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self._chosen: Integers = np.empty((64, 4), np.int64)
        self.branches, self.child = np.empty(1024, np.int64), np.full(1024, UNSEEN)
        self._nodes = self._used = 0
        self._kept: dict[int, Integers] = {}
        self._known: dict[tuple[int, bytes], int] = {}
        self._scores: dict[tuple[int, bytes], float] = {}
        self.root = np.array(self._added([(y, each) for y, each in enumerate(self._required)]), np.int64)

    def parents_at(self, node: int) -> Integers:
        """Return the parents that a variable keeps whose walk ends at a node."""
        return self._kept[node]

    def serve(self, wanted: Integers) -> None:
        """Make what walks have asked for: nodes below branches, and the shrunk parents of nodes."""
        with self._lock:
            asked = np.unique(wanted, axis=0)
            # Another thread may have asked for the same in the meantime.
            grown = [
                (int(node), int(branch))
                for node, branch in asked
                if branch != TO_SHRINK and self.child[branch] == UNSEEN
            ]
            families = []
            for node, branch in grown:
                parents = np.append(self._chosen[node, : self._size[node]], self.branches[branch])
                families.append((int(self._child_of[node]), parents))
            made = self._added(families)
            for (_, branch), node in zip(grown, made, strict=True):
                self.child[branch] = node
            to_shrink = [int(node) for node, branch in asked if branch == TO_SHRINK and math.isnan(self.final[node])]
            self._shrink(to_shrink)

    def _added(self, families: list[tuple[int, Integers]]) -> list[int]:
        """Return the nodes of families, making those that are not there yet."""
        keys = [(y, np.sort(parents).tobytes()) for y, parents in families]
        new = [at for at, key in enumerate(dict.fromkeys(keys)) if key not in self._known]
        distinct = list(dict(zip(keys, families, strict=True)).items())
        fresh = [distinct[at] for at in new]
        if fresh:
            nodes = np.arange(self._nodes, self._nodes + len(fresh))
            widest = max(len(parents) for _, (_, parents) in fresh)
            self._make_room(len(fresh), widest)
            for node, (_, (y, parents)) in zip(nodes.tolist(), fresh, strict=True):
                self._child_of[node], self._size[node] = y, len(parents)
                self._chosen[node, : len(parents)] = parents
            self.final[nodes] = np.nan
            own, out = self._scanned(self._child_of[nodes], self._chosen[nodes, : max(widest, 1)], self._size[nodes])
            full = self._size[nodes] >= self._most
            out[full] = np.inf
            self._own[nodes] = own
            lists = self._candidates[self._child_of[nodes]]
            needed = self._used + out.size
            if needed > len(self.branches):
                self.branches = _longer(self.branches, needed)
                self.child = _longer(self.child, needed, UNSEEN)
            self._used = rank_branches(
                own, out, lists, LEAST_GAIN, self.first, self.count, self.branches, nodes, self._used
            )
            self._nodes += len(fresh)
            for node, (key, _) in zip(nodes.tolist(), fresh, strict=True):
                self._known[key] = node
                self._scores[key] = float(own[node - nodes[0]])
        return [self._known[key] for key in keys]

    def _make_room(self, nodes: int, widest: int) -> None:
        needed = self._nodes + nodes
        if needed > len(self.first):
            names = ("first", "count", "_own", "final", "_child_of", "_size")
            for name in names:
                setattr(self, name, _longer(getattr(self, name), needed))
        if needed > len(self._chosen) or widest > self._chosen.shape[1]:
            wider = np.empty((max(len(self.first), needed), max(widest, self._chosen.shape[1])), np.int64)
            wider[: self._nodes, : self._chosen.shape[1]] = self._chosen[: self._nodes]
            self._chosen = wider

    def _scanned(self, children: Integers, parents: Integers, sizes: Integers) -> tuple[Floats, Floats]:
        """Return the scores of families and of those with each candidate added, scanned by all threads."""
        own, out = np.empty(len(children)), np.empty((len(children), self._candidates.shape[1]))
        work = self.score.work(sizes, self._candidates.shape[1])
        self.operations += work
        parents = np.ascontiguousarray(parents)

        def some(worker: int, workers: int) -> None:
            for begin in range(worker * SCANNED_AT_ONCE, len(children), workers * SCANNED_AT_ONCE):
                self.check()
                here = slice(begin, begin + SCANNED_AT_ONCE)
                own[here], out[here] = self.score.scan(children[here], parents[here], sizes[here], self._candidates)

        share(some, self._threads if work > WORK_FOR_THREADS else 1)
        return own, out

    def _own_scores(self, families: list[tuple[int, Integers]]) -> list[float]:
        """Return the scores of families alone, those known already looked up."""
        keys = [(y, np.sort(parents).tobytes()) for y, parents in families]
        fresh = {key: each for key, each in zip(keys, families, strict=True) if key not in self._scores}
        if fresh:
            widest = max(1, *(len(parents) for _, parents in fresh.values()))
            parents = np.zeros((len(fresh), widest), np.int64)
            for at, (_, each) in enumerate(fresh.values()):
                parents[at, : len(each)] = each
            children = np.array([y for y, _ in fresh.values()], np.int64)
            sizes = np.array([len(each) for _, each in fresh.values()], np.int64)
            self.operations += self.score.work(sizes, 0)
            none = np.full((self.score.size, 1), -1)
            own, _ = self.score.scan(children, parents, sizes, none)
            self._scores |= dict(zip(fresh, own.tolist(), strict=True))
        return [self._scores[key] for key in keys]

    def _shrink(self, nodes: list[int]) -> None:
        """Find for nodes which of their parents stay; all together, a parent at a time."""
        now = {node: self._chosen[node, : self._size[node]].copy() for node in nodes}
        best = {node: float(self._own[node]) for node in nodes}
        waiting = list(nodes)
        while waiting:
            self.check()
            trials, owners = [], []
            for node in waiting:
                y = int(self._child_of[node])
                for at, parent in enumerate(now[node].tolist()):
                    if parent not in self._required[y]:
                        trials.append((y, np.delete(now[node], at)))
                        owners.append(node)
            scores = self._own_scores(trials)
            better: dict[int, tuple[float, Integers]] = {}
            for node, score, (_, parents) in zip(owners, scores, trials, strict=True):
                if score < best[node] - LEAST_GAIN and score < better.get(node, (math.inf, parents))[0] - LEAST_GAIN:
                    better[node] = score, parents
            for node, (score, parents) in better.items():
                best[node], now[node] = score, parents
            waiting = list(better)
        for node in nodes:
            self._kept[node] = np.sort(now[node])
            self.final[node] = best[node]


def _longer(array: NDArray[Any], needed: int, fill: int = 0) -> NDArray[Any]:
    """Return a copy of an array with room for more."""
    longer = np.full(max(needed, 2 * len(array)), fill, array.dtype)
    longer[: len(array)] = array
    return longer


def _allowed(candidates: Integers, constraints: Constraints) -> Integers:
    """Return the candidates that may be parents, those required left out, since they are parents already."""
    kept = np.full_like(candidates, -1)
    for y in range(len(candidates)):
        listed = candidates[y][candidates[y] >= 0]
        listed = listed[constraints.may_be_parents(listed, y) & ~np.isin(listed, constraints.required_of(y))]
        kept[y, : len(listed)] = listed
    return kept
