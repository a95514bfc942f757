"""Partially directed graphs under Meek's rules: what follows from directions that are known.

C. Meek: Causal inference and causal explanation with background knowledge, UAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from rfdag.graphs.dag import Graph
from rfdag.graphs.sparse import entries_at

Edge = tuple[int, int]


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
