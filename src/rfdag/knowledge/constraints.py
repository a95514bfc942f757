"""Constraints on orders and parents that follow from background knowledge, as arrays over the columns.

There are three kinds: which variables may be parents of which, which must be, and which must precede which in the
order. Precedence is stored as a small DAG over the variables and a few *barriers*, extra nodes between two groups: all
of one group → barrier → all of the next. So p variables in tiers need about p edges, not p².
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.graphs.sparse import order_like, sparse_cycle, sparse_topological_order

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

FORBIDDEN, ALLOWED, REQUIRED = range(3)
"""Entries of `Constraints.roles`: whether x is a forbidden, an allowed or a required parent of y."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on an order and its parents; node i is the i-th column.

    Every DAG that obeys them has a topological order that obeys `before`, so restricting the search to such orders
    excludes no valid DAG. For tiers and required edges this holds by definition. A root has no parents, so it can move
    forward in the order: to the very front if there is no earlier tier, otherwise to the front of its tier, past
    variables of its own and later tiers, none of which is an ancestor of an earlier tier. (It cannot move past a
    variable without a tier, which may be an ancestor of an earlier tier.) The same holds for leaves, backwards. A
    variable that is both root and leaf has no edges and can stand anywhere.

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

    def arranged(self, places: Integers) -> Constraints:
        """Return the same constraints on columns in another arrangement: the i-th is the one at places[i] here."""
        number = np.argsort(places)
        return replace(
            self,
            tier=self.tier[places],
            root=self.root[places],
            leaf=self.leaf[places],
            required_edges=number[self.required_edges],
            forbidden_edges=number[self.forbidden_edges],
        )

    @cached_property
    def precedence(self) -> csr_array:
        """The DAG of direct precedences: variables come first, then the barriers between them."""
        return _precedence(self.tier, self.root, self.leaf, self.required_edges)

    @property
    def cycle(self) -> list[int]:
        """The variables of a cycle in the constraints, the first repeated at the end; empty if there is none."""
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
        """Whether x is FORBIDDEN, ALLOWED or REQUIRED as a parent of y, at (y, x)."""
        variables = np.arange(self.size)
        roles = np.array([self.may_be_parents(variables, child) for child in range(self.size)]).astype(np.int8)
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
        """Each barrier with its direct successors, the last barrier first."""
        steps = self.precedence
        return {
            node: steps.indices[steps.indptr[node] : steps.indptr[node + 1]]
            for node in sparse_topological_order(steps)[::-1].tolist()
            if node >= self.size
        }

    def free(self, remaining: Integers) -> Flags:
        """Return which remaining variables may be removed: those that need not precede another remaining one."""
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

    def arrange(self, preferred: Integers, edges: Any = None) -> Integers:
        """Return an order that obeys the constraints and stays as close to the preferred one as possible.

        ``edges`` is an adjacency matrix; every parent then precedes its children as well. Among the variables that may
        come next, the one that the preferred order has first is taken.
        """
        p = self.size
        steps = self.precedence.tocoo()
        sources, targets = (steps.coords[0], steps.coords[1])
        if edges is not None:
            more = edges.nonzero()
            sources, targets = np.concatenate([sources, more[0]]), np.concatenate([targets, more[1]])
        nodes = self.precedence.shape[0]
        graph = csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(nodes, nodes))
        # Barriers rank first, so that they are passed as soon as possible.
        rank = np.full(nodes, -1)
        rank[preferred] = np.arange(p)
        order = order_like(graph, rank)
        return order[order < p]

    def obeyed_by(self, order: Integers) -> bool:
        """Return whether every variable precedes all that must follow it."""
        return bool(np.array_equal(self.arrange(order), order))


def _by_child(edges: Integers) -> dict[int, Integers]:
    found: dict[int, list[int]] = {}
    for parent, child in edges.tolist():
        found.setdefault(child, []).append(parent)
    return {child: np.array(sorted(parents)) for child, parents in found.items()}


def _precedence(tier: Integers, root: Flags, leaf: Flags, required: Integers) -> csr_array:
    """Return the DAG of direct precedences: tiers in sequence, roots first, leaves last, required edges."""
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
