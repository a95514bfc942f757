"""Two orders of the same variables, joined so that each part of the graph is that of the better one.

A score is a sum over variables. Where two DAGs differ in several places that have nothing to do with each other, each
place can be decided on its own, and the best of all combinations is found without trying them: the partition crossover
of Whitley, Hains and Howe (2009), who recombine tours of a travelling salesman. So a search over a large graph can
disturb it everywhere at once and still keep every single improvement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from rfdag.graphs.sparse import order_like
from rfdag.orders.reinsertion import IMPROVED
from rfdag.orders.scores import ScoredOrder

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def united(orders: Sequence[ScoredOrder], check: Callable[[], None] = lambda: None, threads: int = 1) -> ScoredOrder:
    """Return the first of several orders with all that is better in the others, and with the candidates of all."""
    best = orders[0]
    for other in orders[1:]:
        both = best.candidates.with_pairs(other.candidates.pairs)
        best = best.among(both, check, threads)
        recombine(best, other.among(best.candidates, check, threads))
    return best


def recombine(best: ScoredOrder, trial: ScoredOrder) -> int:
    """Give the best order all that is better in another one with the same candidates; return how many places differ.

    Variables whose parents differ make a place together if one is a parent of the other in either DAG. The places in
    which the trial scores better are taken over, unless that makes a cycle: then those of least gain are left.
    """
    ours, theirs = best.graph, trial.graph
    gains = best.scores - trial.scores
    differing = np.flatnonzero(np.abs(ours - theirs).sum(axis=0))
    if not len(differing):
        return 0
    places, count = _places(ours, theirs, differing)
    gained = np.bincount(places, weights=gains[differing], minlength=count)
    taken = gained > IMPROVED
    while taken.any():
        changed = differing[taken[places]]
        graph = _with_parents(ours, theirs, changed)
        cyclic, tangled = _tangled(graph, differing, places, taken)
        if not cyclic:
            order = _order_of(graph, best)
            if len(order) == len(best.order):
                best.adopt(trial, changed, order)
            break
        if not len(tangled):
            break
        # Of the places in cycles, those of least gain go, one of each cycle.
        for group in tangled:
            taken[min(group, key=lambda place: gained[place])] = False
    return count


def _places(ours: csr_array, theirs: csr_array, differing: Integers) -> tuple[Integers, int]:
    """Return for each differing variable the number of its place, and how many places there are."""
    union = (ours + theirs)[differing][:, differing]
    count, places = connected_components(union, directed=False)
    return places, count


def _with_parents(ours: csr_array, theirs: csr_array, changed: Integers) -> csr_array:
    """Return our graph with their parents of some variables."""
    p = ours.shape[0]
    of_trial = np.zeros(p, bool)
    of_trial[changed] = True
    parts = []
    for graph, wanted in ((ours, ~of_trial), (theirs, of_trial)):
        edges = graph.tocoo()
        kept = wanted[edges.col]
        parts.append((edges.row[kept], edges.col[kept]))
    sources, targets = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(p, p))


def _tangled(
    graph: csr_array, differing: Integers, places: Integers, taken: NDArray[np.bool_]
) -> tuple[bool, list[list[int]]]:
    """Return whether there are cycles, and for each tangle of them the places taken over that are in it."""
    count, labels = connected_components(graph, directed=True, connection="strong")
    if count == graph.shape[0]:
        return False, []
    in_cycle = np.bincount(labels, minlength=count)[labels] > 1
    groups: dict[int, set[int]] = {}
    for variable, place in zip(differing.tolist(), places.tolist(), strict=True):
        if in_cycle[variable] and taken[place]:
            groups.setdefault(int(labels[variable]), set()).add(place)
    return True, [sorted(group) for group in groups.values()]


def _order_of(graph: csr_array, best: ScoredOrder) -> Integers:
    """Return an order of the graph as close as can be to the best one; shorter where constraints forbid any."""
    if best.constraints is not None:
        return best.constraints.arrange(best.order, graph)
    return order_like(graph, np.argsort(best.order))
