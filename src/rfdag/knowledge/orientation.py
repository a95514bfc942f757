"""The Markov equivalence class under background knowledge: a maximally oriented partially directed graph.

C. Meek: Causal inference and causal explanation with background knowledge, UAI 1995. Directions that are known direct
others, since a turned edge would make a circle or a v-structure that the class does not have; four rules find them all,
but for what tiers of some variables rule out through variables that have none, which is looked for by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from rfdag.graphs.dag import Graph, as_dag
from rfdag.graphs.equivalence import cpdag
from rfdag.graphs.sparse import entries_at, issparse
from rfdag.knowledge.constraints import Constraints

Edge = tuple[int, int]


def oriented_class(dag: Any, constraints: Constraints | None) -> Graph:
    """Return the members of a DAG's class that obey the constraints, as it does: 1 for i → j, 2 for an open i – j.

    An edge is directed if it points the same way in all of them. Without constraints that is the CPDAG.

    >>> from rfdag.knowledge.knowledge import Knowledge
    >>> oriented_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]], Knowledge(roots=[0]).constraints(range(3)))
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    if constraints is None:
        return cpdag(dag)
    dag = as_dag(dag)
    graph = Oriented(cpdag(dag))
    known = [pair for pair in graph.open_pairs() if _is_known(constraints, *pair)]
    graph.direct(known)
    if (constraints.tier >= 0).any() and (constraints.tier < 0).any():
        _close_detours(graph, constraints.tier.tolist())
    return graph.matrix(sparse=issparse(dag))


class Oriented:
    """A partially directed graph as sets of neighbours, closed under Meek's rules as edges are directed."""

    def __init__(self, graph: Any) -> None:
        self.size = graph.shape[0]
        self.parents: list[set[int]] = [set() for _ in range(self.size)]
        self.children: list[set[int]] = [set() for _ in range(self.size)]
        self.joined: list[set[int]] = [set() for _ in range(self.size)]
        rows, columns = graph.nonzero()
        values = entries_at(graph, rows, columns)
        for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
            if value == 1:
                self.children[i].add(j)
                self.parents[j].add(i)
            else:
                self.joined[i].add(j)

    def adjacent(self, i: int, j: int) -> bool:
        """Return whether two nodes are joined in whatever way."""
        return j in self.parents[i] or j in self.children[i] or j in self.joined[i]

    def open_pairs(self) -> Iterable[Edge]:
        """Return the undirected edges, each both ways."""
        return [(i, j) for i in range(self.size) for j in sorted(self.joined[i])]

    def direct(self, edges: Iterable[Edge]) -> None:
        """Direct undirected edges i – j as i → j, and all that follows from it."""
        waiting = list(edges)
        while waiting:
            i, j = waiting.pop()
            if j not in self.joined[i]:
                continue
            self.joined[i].discard(j)
            self.joined[j].discard(i)
            self.children[i].add(j)
            self.parents[j].add(i)
            waiting += [pair for pair in self._concerned(i, j) if self._follows(*pair)]

    def _concerned(self, i: int, j: int) -> Iterator[Edge]:
        """Yield the edges a – b that a new arrow i → j may direct as a → b, by the part it plays in the rules."""
        # The first arrow of rule 1.
        yield from ((j, b) for b in self.joined[j])
        # The second arrow of rule 2 or 4, or one of rule 3.
        yield from ((a, j) for a in self.joined[j])
        # The first arrow of rule 2 or 4.
        for b in self.children[j]:
            if b in self.joined[i]:
                yield i, b
            yield from ((a, b) for a in self.joined[b] & self.joined[i])

    def _follows(self, a: int, b: int) -> bool:
        """Return whether one of the four rules directs a – b as a → b."""
        # 1. c → a – b: the other way would make a v-structure at a.
        if any(not self.adjacent(c, b) for c in self.parents[a]):
            return True
        # 2. a → c → b: the other way would close a circle.
        if self.children[a] & self.parents[b]:
            return True
        # 3. a – c → b and a – d → b with c and d apart: b → a would make both c → a and d → a, a v-structure.
        heads = sorted(self.joined[a] & self.parents[b])
        if any(not self.adjacent(c, d) for at, c in enumerate(heads) for d in heads[:at]):
            return True
        # 4. a – c → d → b with a joined to d and c and b apart: b → a would make a → c and d → a, and so a circle.
        return any(
            self.adjacent(a, d) and not self.adjacent(c, b)
            for d in self.parents[b]
            for c in self.parents[d] & self.joined[a]
        )

    def matrix(self, *, sparse: bool) -> Graph:
        """Return the graph as a matrix in the encoding of `rfdag.graphs`."""
        pairs = [(i, j, 1) for i in range(self.size) for j in self.children[i]]
        pairs += [(i, j, 2) for i, j in self.open_pairs()]
        rows, columns, values = np.array(pairs, np.int64).reshape(-1, 3).T
        found = csr_array((values.astype(np.int8), (rows, columns)), shape=(self.size, self.size))
        return found if sparse else found.toarray()


def _is_known(constraints: Constraints, i: int, j: int) -> bool:
    """Return whether an edge between i and j must be i → j."""
    back = constraints.may_be_edges(np.array([j]), np.array([i]))[0]
    return not back or i in constraints.required_of(j).tolist()


def _close_detours(graph: Oriented, tier: list[int]) -> None:
    """Direct the open edges that would begin a path from a tier, through what has none, to an earlier tier.

    No single edge shows such a path. But take a shortest one: its first and third node are not joined, and so on along
    it, since that edge would be a shortcut. So rule 1 makes the whole path of its first arrow, which has to be turned.
    """
    while True:
        known: dict[Edge, int] = {}
        turned = [
            (j, i)
            for i, j in graph.open_pairs()
            if tier[i] >= 0 > tier[j] and _earliest_after((i, j), graph, tier, known) < tier[i]
        ]
        if not turned:
            return
        graph.direct(turned)


def _earliest_after(edge: Edge, graph: Oriented, tier: list[int], known: dict[Edge, int]) -> int:
    """Return the earliest tier at which the paths end that rule 1 makes of an arrow; ``known`` keeps it for arrows met.

    The paths end at the first node that has a tier; without any, the answer is later than all tiers.
    """
    waiting = [edge]
    while waiting:
        i, j = waiting[-1]
        ahead = [(j, k) for k in graph.joined[j] | graph.children[j] if k != i and not graph.adjacent(i, k)]
        unknown = [step for step in ahead if tier[step[1]] < 0 and step not in known]
        if unknown:
            waiting += unknown
        else:
            ends = [tier[step[1]] if tier[step[1]] >= 0 else known[step] for step in ahead]
            known[waiting.pop()] = min(ends, default=len(tier))
    return known[edge]
