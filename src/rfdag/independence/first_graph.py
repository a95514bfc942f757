"""The moral graph that an elimination by tests starts from.

Given all other variables, each pair needs one test. Kernel tests lose their power long before that, so blankets are
found from below: pairs that are dependent at all; without those that the neighbours of one of the two explain away;
with those that neighbours in common make dependent, as a common effect does; and again without those that neighbours,
which now include the Markov blanket, explain away. With exact answers the graph is the moral graph: true neighbours are
dependent whatever is given, spouses are given their common child, and the last pass tests every edge given a set that
includes the blanket of one end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.independence import Conditioning, Query, smaller_blanket
from rfdag.independence.questions import Questions

Edges = NDArray[np.bool_]
Pair = tuple[int, int]
Report = Callable[[float], None]


def first_graph(asked: Questions, alpha: float, conditioning: Conditioning, report: Report) -> Edges:
    """Return the moral graph at a level, as a symmetric matrix; pairs that time has not allowed to test are adjacent.

    >>> from rfdag.independence.d_separation import DSeparation
    >>> asked = Questions(DSeparation([[0, 0, 1], [0, 0, 1], [0, 0, 0]]), "abc", "d-separation")
    >>> first_graph(asked, 0.01, "blanket", lambda share: None).astype(int)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    p = len(asked.names)
    pairs = list(combinations(range(p), 2))
    if conditioning == "all":
        queries = [(i, j, tuple(at for at in range(p) if at not in (i, j))) for i, j in pairs]
        return _matrix(p, pairs, asked.p_values(queries, report), alpha)
    # Later passes ask about as many questions as there are pairs, more or less.
    marginal = asked.p_values([(i, j, ()) for i, j in pairs], lambda share: report(share / 2))
    edges = _matrix(p, pairs, marginal, alpha)
    # Weakest first: what hardly depends should not be in the way of what does.
    strength = {pair: -1.0 if value is None else value for pair, value in zip(pairs, marginal, strict=True)}
    ranked = sorted(pairs, key=lambda pair: (-strength[pair], pair))
    for number, step in enumerate((_without_blanket, _with_spouses, _without_blanket), start=1):
        edges = step(edges, ranked, asked, alpha)
        report((3 + number) / 6)
    return edges


def _matrix(p: int, pairs: Sequence[Pair], values: Sequence[float | None], alpha: float) -> Edges:
    edges = np.zeros((p, p), bool)
    for (i, j), value in zip(pairs, values, strict=True):
        edges[i, j] = edges[j, i] = value is None or value <= alpha
    return edges


def _without_blanket(edges: Edges, ranked: Sequence[Pair], asked: Questions, alpha: float) -> Edges:
    """Drop the edges that the neighbours of one end explain away."""
    for batch in _undisturbed([pair for pair in ranked if edges[pair]]):
        queries: list[Query] = [(i, j, tuple(np.flatnonzero(smaller_blanket(edges, i, j)))) for i, j in batch]
        for (i, j), gone in zip(batch, asked.independent(queries, alpha), strict=True):
            edges[i, j] = edges[j, i] = not gone
    return edges


def _with_spouses(edges: Edges, ranked: Sequence[Pair], asked: Questions, alpha: float) -> Edges:
    """Add the edges of pairs that depend given their common neighbours and the other neighbours of one of them."""
    apart = [pair for pair in ranked if not edges[pair] and (edges[pair[0]] & edges[pair[1]]).any()]
    # Each pair's common neighbours are neighbours of both.
    queries: list[Query] = [(i, j, tuple(np.flatnonzero(smaller_blanket(edges, i, j)))) for i, j in apart]
    found = edges.copy()
    for (i, j), independent in zip(apart, asked.independent(queries, alpha), strict=True):
        found[i, j] = found[j, i] = not independent
    return found


def _undisturbed(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield pairs in batches whose questions no answer of the same batch changes: as if one by one, in this order.

    >>> list(_undisturbed([(0, 1), (2, 3), (1, 2), (0, 3)]))
    [[(0, 1), (2, 3)], [(1, 2), (0, 3)]]
    """
    waiting = list(pairs)
    while waiting:
        batch: list[Pair] = []
        later: list[Pair] = []
        touched: set[int] = set()
        for pair in waiting:
            (later if touched & set(pair) else batch).append(pair)
            touched |= set(pair)
        yield batch
        waiting = later
