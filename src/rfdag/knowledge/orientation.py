"""The Markov equivalence class under background knowledge: a maximally oriented partially directed graph.

C. Meek: Causal inference and causal explanation with background knowledge, UAI 1995. A known direction implies others,
since reversing one of them would create a cycle or a v-structure that the class does not have. Meek's four rules find
them all, with one exception that is handled separately: tiers of some variables can also rule out directions through
variables without a tier.
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
    """Return the members of a DAG's equivalence class that obey the constraints: 1 for i → j, 2 for i – j.

    The DAG itself obeys them. An edge is directed if it points the same way in all these members. Without constraints
    the result is the CPDAG.

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
    known = [pair for pair in graph.undirected_pairs() if _is_known(constraints, *pair)]
    graph.direct(known)
    if (constraints.tier >= 0).any() and (constraints.tier < 0).any():
        _close_detours(graph, constraints.tier.tolist())
    return graph.matrix(sparse=issparse(dag))


class Oriented:
    """A partially directed graph as sets of neighbours, kept closed under Meek's rules while edges are directed."""

    def __init__(self, graph: Any) -> None:
        self.size = graph.shape[0]
        self.parents: list[set[int]] = [set() for _ in range(self.size)]
        self.children: list[set[int]] = [set() for _ in range(self.size)]
        self.undirected: list[set[int]] = [set() for _ in range(self.size)]
        rows, columns = graph.nonzero()
        values = entries_at(graph, rows, columns)
        for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
            if value == 1:
                self.children[i].add(j)
                self.parents[j].add(i)
            else:
                self.undirected[i].add(j)

    def adjacent(self, i: int, j: int) -> bool:
        """Return whether two nodes are adjacent."""
        return j in self.parents[i] or j in self.children[i] or j in self.undirected[i]

    def undirected_pairs(self) -> Iterable[Edge]:
        """Return the undirected edges, each as (i, j) and as (j, i)."""
        return [(i, j) for i in range(self.size) for j in sorted(self.undirected[i])]

    def direct(self, edges: Iterable[Edge]) -> None:
        """Direct undirected edges i – j as i → j, and every edge whose direction follows."""
        waiting = list(edges)
        while waiting:
            i, j = waiting.pop()
            if j not in self.undirected[i]:
                continue
            self.undirected[i].discard(j)
            self.undirected[j].discard(i)
            self.children[i].add(j)
            self.parents[j].add(i)
            waiting += [pair for pair in self._concerned(i, j) if self._follows(*pair)]

    def _concerned(self, i: int, j: int) -> Iterator[Edge]:
        """Yield the edges a – b that a new arrow i → j may direct as a → b, by its role in the rules."""
        # The first arrow of rule 1.
        yield from ((j, b) for b in self.undirected[j])
        # The second arrow of rule 2 or 4, or one of rule 3.
        yield from ((a, j) for a in self.undirected[j])
        # The first arrow of rule 2 or 4.
        for b in self.children[j]:
            if b in self.undirected[i]:
                yield i, b
            yield from ((a, b) for a in self.undirected[b] & self.undirected[i])

    def _follows(self, a: int, b: int) -> bool:
        """Return whether one of the four rules directs a – b as a → b."""
        # 1. c → a – b: the other way would make a v-structure at a.
        if any(not self.adjacent(c, b) for c in self.parents[a]):
            return True
        # 2. a → c → b: the other way would close a cycle.
        if self.children[a] & self.parents[b]:
            return True
        # 3. a – c → b and a – d → b with c and d not adjacent: b → a would force c → a and d → a, a v-structure.
        heads = sorted(self.undirected[a] & self.parents[b])
        if any(not self.adjacent(c, d) for at, c in enumerate(heads) for d in heads[:at]):
            return True
        # 4. a – c → d → b with a adjacent to d, and c not to b: b → a would force a → c and d → a, and so a cycle.
        return any(
            self.adjacent(a, d) and not self.adjacent(c, b)
            for d in self.parents[b]
            for c in self.parents[d] & self.undirected[a]
        )

    def matrix(self, *, sparse: bool) -> Graph:
        """Return the graph as a matrix in the encoding of `rfdag.graphs`."""
        pairs = [(i, j, 1) for i in range(self.size) for j in self.children[i]]
        pairs += [(i, j, 2) for i, j in self.undirected_pairs()]
        rows, columns, values = np.array(pairs, np.int64).reshape(-1, 3).T
        found = csr_array((values.astype(np.int8), (rows, columns)), shape=(self.size, self.size))
        return found if sparse else found.toarray()


def _is_known(constraints: Constraints, i: int, j: int) -> bool:
    """Return whether an edge between i and j must be i → j."""
    back = constraints.may_be_edges(np.array([j]), np.array([i]))[0]
    return not back or i in constraints.required_of(j).tolist()


def _close_detours(graph: Oriented, tier: list[int]) -> None:
    """Direct undirected edges that would start a path from a tier, through variables without one, to an earlier tier.

    No single edge reveals such a path. But on a shortest one, no two nodes that are two steps apart are adjacent, since
    that edge would be a shortcut. So by rule 1 its first arrow implies the whole path, and must be reversed.
    """
    while True:
        known: dict[Edge, int] = {}
        reversed_edges = [
            (j, i)
            for i, j in graph.undirected_pairs()
            if tier[i] >= 0 > tier[j] and _earliest_after((i, j), graph, tier, known) < tier[i]
        ]
        if not reversed_edges:
            return
        graph.direct(reversed_edges)


def _earliest_after(edge: Edge, graph: Oriented, tier: list[int], known: dict[Edge, int]) -> int:
    """Return the earliest tier that the paths implied by an arrow (by rule 1) lead to; ``known`` caches the answers.

    A path ends at its first node with a tier. If no path reaches one, the answer is later than all tiers.
    """
    waiting = [edge]
    while waiting:
        i, j = waiting[-1]
        ahead = [(j, k) for k in graph.undirected[j] | graph.children[j] if k != i and not graph.adjacent(i, k)]
        unknown = [step for step in ahead if tier[step[1]] < 0 and step not in known]
        if unknown:
            waiting += unknown
        else:
            ends = [tier[step[1]] if tier[step[1]] >= 0 else known[step] for step in ahead]
            known[waiting.pop()] = min(ends, default=len(tier))
    return known[edge]
