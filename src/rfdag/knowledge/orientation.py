"""The Markov equivalence class under background knowledge: a maximally oriented partially directed graph.

C. Meek: Causal inference and causal explanation with background knowledge, UAI 1995. A known direction implies others,
since reversing one of them would create a cycle or a v-structure that the class does not have. Meek's four rules find
them all, with one exception that is handled separately: tiers of some variables can also rule out directions through
variables without a tier.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rfdag.graphs.dag import Graph, as_dag
from rfdag.graphs.equivalence import cpdag
from rfdag.graphs.meek import Edge, Oriented
from rfdag.graphs.sparse import issparse
from rfdag.knowledge.constraints import Constraints


def oriented_class(dag: Any, constraints: Constraints | None, revealed: Iterable[Edge] = ()) -> Graph:
    """Return the members of a DAG's equivalence class that obey the constraints: 1 for i → j, 2 for i – j.

    The DAG itself obeys them. An edge is directed if it points the same way in all these members. ``revealed`` are
    edges of the DAG that something else than independences directs, such as interventions. Without constraints and
    these, the result is the CPDAG.

    >>> from rfdag.knowledge.knowledge import Knowledge
    >>> oriented_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]], Knowledge(roots=[0]).constraints(range(3)))
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    revealed = list(revealed)
    if constraints is None and not revealed:
        return cpdag(dag)
    dag = as_dag(dag)
    graph = Oriented(cpdag(dag))
    graph.direct(revealed)
    if constraints is None:
        return graph.matrix(sparse=issparse(dag))
    known = [pair for pair in graph.undirected_pairs() if _is_known(constraints, *pair)]
    graph.direct(known)
    if (constraints.tier >= 0).any() and (constraints.tier < 0).any():
        _close_detours(graph, constraints.tier.tolist())
    return graph.matrix(sparse=issparse(dag))


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
