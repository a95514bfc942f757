"""What background knowledge demands of orders and parents, as arrays over the columns.

Three demands follow from it: which variables may be parents of which, which must be, and which must come before which
in the order. The last are kept as the edges of a small DAG over the variables and a few *barriers*, nodes of its own
that stand between groups: all of one group → barrier → all of the next. So p variables in tiers take p edges, not p².
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.graphs.sparse import sparse_cycle, sparse_topological_order

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

FORBIDDEN, ALLOWED, REQUIRED = range(3)
"""What x may be to y, as `Constraints.roles` has it."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Demands on an order and its parents; node i is the i-th column.

    A DAG that obeys them always has an order that obeys `before`, so that asking it of orders loses nothing. Such an
    order exists for tiers and required edges by their meaning. A root has no parents, so it may move to the front: to
    the very front if no tier lies below it, and else to the front of its tier, past those of its tier and later ones,
    which are no ancestors of anything in an earlier tier. (Past a variable without a tier it may not move then: that
    may be an ancestor of an earlier tier.) For leaves the same holds backwards. A variable that is root and leaf has
    no edges and stands anywhere.

    Attributes
    ----------
    tier
        The tier of each variable, from 0; −1 for none.
    closed
        Whether edges inside a tier are forbidden, per tier.
    root
        Whether a variable has no parents.
    leaf
        Whether a variable has no children.
    required_edges
        Pairs (parent, child) that must be edges.
    forbidden_edges
        Pairs (parent, child) that must not.
    """

    tier: Integers
    closed: Flags
    root: Flags
    leaf: Flags
    required_edges: Integers
    forbidden_edges: Integers

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.tier)

    @cached_property
    def precedence(self) -> csr_array:
        """Who must come before whom, one step at a time: variables first, then the barriers between them."""
        return _precedence(self.tier, self.root, self.leaf, self.required_edges)

    @property
    def cycle(self) -> list[int]:
        """The variables of a circle that the demands make, the first repeated at the end; empty if they make none."""
        found = [node for node in sparse_cycle(self.precedence) if node < self.size]
        return found if not found or found[0] == found[-1] else [*found, found[0]]

    def may_be_edges(self, sources: Integers, targets: Integers) -> Flags:
        """Return which pairs may be edges, source → target."""
        early, late = self.tier[sources], self.tier[targets]
        may: Flags = (sources != targets) & ~self.leaf[sources] & ~self.root[targets]
        if len(self.closed):
            may &= (late < 0) | (early < late) | ((early == late) & ~self.closed[late])
        if len(self.forbidden_edges):
            may &= ~np.isin(sources * np.int64(self.size) + targets, self._forbidden)
        return may

    def may_be_parents(self, variables: Integers, child: int) -> Flags:
        """Return which of the variables may be parents of the child."""
        return self.may_be_edges(variables, np.full(len(variables), child))

    def required_of(self, child: int) -> Integers:
        """Return the required parents of a variable."""
        return self._required_of.get(child, np.empty(0, np.int64))

    @cached_property
    def _required_of(self) -> dict[int, Integers]:
        return _by_child(self.required_edges)

    @cached_property
    def _forbidden(self) -> Integers:
        found: Integers = self.forbidden_edges @ np.array([self.size, 1])
        return found

    @cached_property
    def roles(self) -> NDArray[np.int8]:
        """What x may be to y, at (y, x): FORBIDDEN, ALLOWED or REQUIRED as a parent."""
        everyone = np.arange(self.size)
        roles = np.array([self.may_be_parents(everyone, child) for child in range(self.size)]).astype(np.int8)
        roles[self.required_edges[:, 1], self.required_edges[:, 0]] = REQUIRED
        return roles

    @property
    def allowed(self) -> Flags:
        """Whether i may be a parent of j, at (i, j)."""
        return self.roles.T != FORBIDDEN

    @cached_property
    def required(self) -> Flags:
        """Whether i must be a parent of j, at (i, j)."""
        return self.roles.T == REQUIRED

    @cached_property
    def before(self) -> Flags:
        """Whether i must come before j in the order, at (i, j), directly or through others."""
        steps, p = self.precedence, self.size
        reached = np.zeros((steps.shape[0], p), bool)
        for node in sparse_topological_order(steps)[::-1].tolist():
            for after in steps.indices[steps.indptr[node] : steps.indptr[node + 1]].tolist():
                reached[node] |= reached[after]
                if after < p:
                    reached[node, after] = True
        return reached[:p]

    @cached_property
    def barriers(self) -> dict[int, Integers]:
        """The barriers with those right after them, the last barrier first."""
        steps = self.precedence
        return {
            node: steps.indices[steps.indptr[node] : steps.indptr[node + 1]]
            for node in sparse_topological_order(steps)[::-1].tolist()
            if node >= self.size
        }

    def free(self, remaining: Integers) -> Flags:
        """Return which of the remaining variables may be removed: those that none of the others must follow."""
        left = np.zeros(self.precedence.shape[0], np.int8)
        left[remaining] = 1
        for barrier, after in self.barriers.items():
            left[barrier] = left[after].any()
        waiting = np.add.reduceat(np.append(left[self.precedence.indices], 0), self._starts, dtype=np.int64)
        blocked = (waiting > 0) & self._has_followers
        return ~blocked[remaining]

    @cached_property
    def _starts(self) -> Integers:
        return np.asarray(self.precedence.indptr[:-1], np.int64)

    @cached_property
    def _has_followers(self) -> Flags:
        return np.diff(self.precedence.indptr) > 0

    def arrange(self, wish: Integers, edges: Any = None) -> Integers:
        """Return an order that obeys, and has the parent first in each of ``edges``, as near to the wish as may be.

        ``edges`` is a matrix over the variables. Of those that may come next, the one that stands first in the wish
        does.
        """
        p = self.size
        steps = self.precedence.tocoo()
        sources, targets = (steps.coords[0], steps.coords[1])
        if edges is not None:
            more = edges.nonzero()
            sources, targets = np.concatenate([sources, more[0]]), np.concatenate([targets, more[1]])
        nodes = self.precedence.shape[0]
        graph = csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(nodes, nodes))
        # Barriers pass as soon as they can.
        rank = np.full(nodes, -1)
        rank[wish] = np.arange(p)
        waiting = np.bincount(graph.indices, minlength=nodes)
        ready = [(int(rank[node]), node) for node in np.flatnonzero(waiting == 0).tolist()]
        heapq.heapify(ready)
        order = []
        while ready:
            _, node = heapq.heappop(ready)
            if node < p:
                order.append(node)
            for after in graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist():
                waiting[after] -= 1
                if waiting[after] == 0:
                    heapq.heappush(ready, (int(rank[after]), after))
        return np.array(order, np.int64)

    def obeyed_by(self, order: Integers) -> bool:
        """Return whether an order has everyone before those that must follow."""
        return bool(np.array_equal(self.arrange(order), order))


def _by_child(edges: Integers) -> dict[int, Integers]:
    found: dict[int, list[int]] = {}
    for parent, child in edges.tolist():
        found.setdefault(child, []).append(parent)
    return {child: np.array(sorted(parents)) for child, parents in found.items()}


def _precedence(tier: Integers, root: Flags, leaf: Flags, required: Integers) -> csr_array:
    """Return the steps of the order: tiers one after the other, roots first, leaves last, required edges."""
    p = len(tier)
    edges: list[Integers] = [required]
    count = p

    def barrier() -> int:
        nonlocal count
        count += 1
        return count - 1

    def put(nodes: Integers, before: int) -> None:
        edges.append(np.column_stack([nodes, np.full(len(nodes), before)]))

    def follow(barrier: int, nodes: Integers) -> None:
        edges.append(np.column_stack([np.full(len(nodes), barrier), nodes]))

    lone = root & leaf
    root, leaf = root & ~lone, leaf & ~lone
    used = np.unique(tier[tier >= 0])
    end = -1
    for t in used:
        members = tier == t
        opening, closing = barrier(), barrier()
        if end >= 0:
            follow(end, np.append(np.flatnonzero(members & root), opening))
        end = barrier()
        edges.append(np.array([[opening, closing], [closing, end]]))
        put(np.flatnonzero(members & root), opening)
        follow(opening, np.flatnonzero(members & ~root & ~leaf))
        put(np.flatnonzero(members & ~root & ~leaf), closing)
        follow(closing, np.flatnonzero(members & leaf))
        put(np.flatnonzero(members & leaf), end)
    first = root & np.isin(tier, [-1, *used[:1]])
    last = leaf & np.isin(tier, [-1, *used[-1:]])
    if first.any():
        front = barrier()
        put(np.flatnonzero(first), front)
        follow(front, np.flatnonzero(~first & ~lone))
    if last.any():
        back = barrier()
        put(np.flatnonzero(~last & ~lone), back)
        follow(back, np.flatnonzero(last))
    sources, targets = np.concatenate(edges).T
    steps = csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(count, count))
    steps.sum_duplicates()
    steps.data[:] = 1
    return steps
