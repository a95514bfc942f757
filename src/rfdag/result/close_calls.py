"""Edges that hang on little: those that a graph with nearly the same score does not have, or does not compel."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph
from rfdag.graphs.sparse import entries_at, issparse
from rfdag.knowledge.constraints import Constraints
from rfdag.knowledge.orientation import oriented_class
from rfdag.orders.family_reversals import FamilyReversing
from rfdag.orders.reversals import Alternative, Reversing
from rfdag.orders.rivals import CLOSE
from rfdag.orders.scores import price_of_edge

if TYPE_CHECKING:
    from rfdag.result.result import Result

Floats = NDArray[np.float64]

MARK = "≈"
"""Marks a close call in tables."""


class CloseCall(NamedTuple):
    """An edge of the DAG that a graph with nearly the same BIC lacks, or does not compel.

    ``change`` is "removal" if the two variables are not adjacent in that graph, and "reversal" if they are, but its
    equivalence class does not compel the arrow: it points the other way or is undirected. ``cost`` is by how many units
    the BIC of that graph is worse; below 0 it is better, and the search has missed it.
    """

    source: Hashable
    target: Hashable
    change: Literal["removal", "reversal"]
    cost: float


class Judging:
    """The attribute `close_calls` of a result."""

    @cached_property
    def close_calls(self) -> tuple[CloseCall, ...]:
        """Edges whose removal or reversal costs less than 6 BIC units, the closest first.

        The DAG is compared with three kinds of graphs: the DAG without one of its edges, which costs the edge's
        ``gain``; the DAG with one compelled edge reversed; and the `rivals`. For i → j to be reversed, i and j choose
        their parents anew among those that the two have in the DAG, less the descendants of i; the other variables keep
        theirs. An edge is a close call if one of these graphs costs less than 6 units and
        does not have it ("removal"), or its equivalence class does not compel it ("reversal"). So an arrow that is
        compelled only by a weak one elsewhere is a close call as well. Undirected edges are reversed at no cost, and
        only their removal counts. Graphs that contradict the knowledge do not count.

        It is empty where the result has no score: for exact input, and where tests or thresholds decided. Reversals
        need the moments of the data and full matrices; without them, only removals are found.

        Examples
        --------
        >>> import rfdag
        >>> sem = rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1, weights=(0.3, 0.3))
        >>> result = rfdag.learn(rfdag.simulate.sample(sem, 150, rng=4), names=["rain", "sprinkler", "wet"])
        >>> [(call.source, call.target, call.change, round(call.cost, 1)) for call in result.close_calls]
        [('rain', 'wet', 'reversal', 5.7), ('sprinkler', 'wet', 'reversal', 5.7)]
        """
        return tuple(_close_calls(self))  # type: ignore[arg-type]


def _close_calls(result: Result) -> list[CloseCall]:
    if result.score is None or not result.edges or result.edges[0].gain is None:
        return []
    sources, targets = result.dag.nonzero()
    constraints = result.knowledge.constraints(result.names) if result.knowledge else None
    required = set(map(tuple, constraints.required_edges.tolist())) if constraints else set()
    free = np.array([ends not in required for ends in zip(sources.tolist(), targets.tolist(), strict=True)])
    directed = np.array([edge.directed for edge in result.edges])
    removal = np.where(free, np.array([edge.gain for edge in result.edges], np.float64), np.inf)
    reversal = np.full(len(removal), np.inf)
    if (result.moments is not None or result.can_rescore) and not issparse(result.dag):
        close = _without_one(result.dag, removal), _reversed(result, directed & free, constraints), result.rivals
        for cost, dag in chain(*close):
            other = oriented_class(dag, constraints, result.revealed_by_targets(dag))
            there, back = entries_at(other, sources, targets), entries_at(other, targets, sources)
            absent = (there == 0) & (back == 0)
            for costs, concerned in ((removal, absent), (reversal, directed & (there != 1) & ~absent)):
                costs[concerned] = np.minimum(costs[concerned], cost)
    calls = [
        CloseCall(edge.source, edge.target, "removal" if lost <= turned else "reversal", min(lost, turned))
        for edge, lost, turned in zip(result.edges, removal.tolist(), reversal.tolist(), strict=True)
        if min(lost, turned) < CLOSE
    ]
    return sorted(calls, key=lambda call: call.cost)


def _without_one(dag: Graph, costs: Floats) -> Iterator[Alternative]:
    """Yield the DAG without each of the edges whose removal is close."""
    for source, target, cost in zip(*dag.nonzero(), costs.tolist(), strict=True):
        if cost < CLOSE:
            without = dag.copy()
            without[source, target] = 0
            yield Alternative(cost, without)


def _reversed(result: Result, chosen: NDArray[np.bool_], constraints: Constraints | None) -> Iterator[Alternative]:
    """Yield the DAG with each of the chosen edges reversed, where that is close."""
    if result.can_rescore:
        reversing: Reversing = FamilyReversing(result.dag, result.family_score, constraints)
    else:
        assert result.moments is not None
        assert result.n_samples is not None
        price = price_of_edge(result.n_samples, len(result.names), result.penalty, result.gamma)
        reversing = Reversing(result.dag, result.moments.local(), price, constraints)
    for source, target, wanted in zip(*result.dag.nonzero(), chosen.tolist(), strict=True):
        found = reversing.reverse(int(source), int(target)) if wanted else None
        if found is not None and found.cost < CLOSE:
            yield found
