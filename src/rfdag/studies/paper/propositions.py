"""The statements of Sections 2 and 3, tried on every set of nodes of a small DAG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rfdag.eliminate import OracleEngine, eliminate
from rfdag.eliminate.search import position_of
from rfdag.graphs import edge_set, is_minimal_imap, markov_equivalent, maximal_nodes, minimal_imap, moral_subgraph
from rfdag.graphs.dag import Graph

Pair = tuple[int, int]
Edges = frozenset[Pair]

DEPTHS = (1, 2, 3)


class Removal(NamedTuple):
    """What happens when a node is taken from a set of nodes, by Definitions 1 to 3."""

    nodes: tuple[int, ...]
    node: int
    near: frozenset[int]
    """The node's neighbours."""
    removed: Edges
    filled: Edges
    missing: Edges
    """Pairs of neighbours that are not adjacent."""
    maximal: bool


class Tally(NamedTuple):
    """In how many cases a statement was tried, and in how many it held."""

    cases: int
    agreeing: int


def tallies(dag: Graph) -> dict[str, Tally]:
    """Return how often each statement was tried on a DAG, and how often it held.

    >>> tallies(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]]))["Proposition 2"]
    Tally(cases=1, agreeing=1)
    """
    cases: Counter[str] = Counter()
    agreeing: Counter[str] = Counter()
    for statement, held in trials(dag):
        cases[statement] += 1
        agreeing[statement] += held
    return {statement: Tally(cases[statement], agreeing[statement]) for statement in cases}


def every_removal(dag: Graph) -> Iterator[Removal]:
    """Yield every removal of a node from a set of nodes, by d-separation."""
    subsets = [nodes for size in range(len(dag) + 1) for nodes in combinations(range(len(dag)), size)]
    edges = {nodes: frozenset(edge_set(moral_subgraph(dag, list(nodes)), nodes)) for nodes in subsets}
    for nodes in subsets[1:]:
        maximal = maximal_nodes(dag, list(nodes))
        for node in nodes:
            near = frozenset(other for edge in edges[nodes] if node in edge for other in edge) - {node}
            before = frozenset(edge for edge in edges[nodes] if node not in edge)
            after = edges[tuple(other for other in nodes if other != node)]
            missing = frozenset(combinations(sorted(near), 2)) - before
            yield Removal(nodes, node, near, before - after, after - before, missing, node in maximal)


def trials(dag: Graph) -> Iterator[tuple[str, bool]]:
    """Yield the name of a statement and whether it held, once for each case that it speaks of."""
    scores: dict[tuple[int, ...], dict[int, tuple[int, int, int]]] = {}
    for removal in every_removal(dag):
        nodes, node = removal.nodes, removal.node
        yield "Proposition 1", removal.filled == removal.missing
        if removal.removed:
            yield "Proposition 2", removal.maximal
        if removal.filled:
            yield "Proposition 3", not removal.maximal
        if removal.maximal:
            yield "converse of Proposition 2", bool(removal.removed)
        if not removal.filled:
            yield "converse of Proposition 3", removal.maximal
        if nodes not in scores:
            scores[nodes] = _scores(dag, nodes)
        yield "engine", scores[nodes][node] == (len(removal.removed), len(removal.filled), len(removal.near))
    for depth in DEPTHS:
        found = eliminate(OracleEngine(dag), "rfd", depth=depth)
        induced = minimal_imap(dag, found.order)
        yield "minimal I-MAP", is_minimal_imap(found.dag, dag) and np.array_equal(found.dag, induced)
        yield "recovery", markov_equivalent(found.dag, dag)


def _scores(dag: Graph, nodes: tuple[int, ...]) -> dict[int, tuple[int, int, int]]:
    """Return removal score, fill score and degree of each node as the elimination has them."""
    engine = OracleEngine(dag)
    for other in sorted(set(range(len(dag))) - set(nodes)):
        engine.remove(position_of(engine, other))
    columns = engine.remaining, engine.removals(), engine.fills(), engine.degrees()
    return {int(node): (int(r), int(f), int(d)) for node, r, f, d in zip(*columns, strict=True)}
