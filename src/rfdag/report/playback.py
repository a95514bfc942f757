"""Eliminations as the page replays them: along the order that is the answer, and as it was before any refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rfdag.eliminate import OracleEngine, replay
from rfdag.eliminate.elimination import EDGES_UP_TO
from rfdag.eliminate.engines.engine import LostPrecision
from rfdag.eliminate.trace import Trace
from rfdag.errors import DataError
from rfdag.report.rounding import rounded

if TYPE_CHECKING:
    from rfdag.result import Result

Pair = tuple[int, int]

BY_DATA = "data"
BY_DAG = "dag"


def playback(result: Result) -> list[dict[str, Any]]:
    """Return the tracks of the player: the answer's order, and the recorded elimination where it ended in another.

    >>> import rfdag
    >>> (shown,) = playback(rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag"))
    >>> shown["initial"], shown["node"][0], shown["removed"][0]
    ([[0, 1], [0, 2], [1, 2]], 2, [[0, 1]])
    """
    # One that would have to be recorded first is of more variables than a player shows.
    if not isinstance(result.recorded, Trace) or not result.trace:
        return []
    if np.array_equal(result.trace.node[::-1], result.causal_order):
        return [_track(result.trace, "Elimination", BY_DATA)]
    recorded = _track(result.trace, "Before refinement", BY_DATA)
    answer = _along(result)
    return [recorded] if answer is None else [answer, recorded]


def _along(result: Result) -> dict[str, Any] | None:
    """Return the elimination along the answer's order; None where its edges would not be shown.

    What depends on what is decided by the data, at the level of the run. Where these are not at hand, or partial
    correlations were estimated in a way that a file does not keep, the DAG that was found decides by d-separation.
    """
    if len(result.names) > EDGES_UP_TO or issparse(result.dag):
        return None
    moments, method = result.moments, result.method
    if moments is not None and moments.worth is None and moments.by_columns is None:
        try:
            engine = moments.engine(alpha=method.alpha, pairs=method.scope, threads=1)
            return _track(replay(engine, result.causal_order).trace, "Answer", BY_DATA)
        except (DataError, LostPrecision):
            pass
    return _track(replay(OracleEngine(result.dag), result.causal_order).trace, "Answer", BY_DAG)


def _track(trace: Trace, title: str, source: str) -> dict[str, Any]:
    """Return scores and changed edges of every step, and the graph that the first one found."""
    recorded = trace.removed_edges is not None and trace.filled_edges is not None and trace.neighbours is not None
    return {
        "title": title,
        "by": source,
        "node": trace.node.tolist(),
        "removal": trace.removal.tolist(),
        "fill": trace.fill.tolist(),
        "degree": trace.degree.tolist(),
        "ties": trace.ties.tolist(),
        "threshold": rounded(trace.threshold),
        "initial": [list(pair) for pair in sorted(first_graph(trace))] if recorded else None,
        "removed": [edges.tolist() for edges in trace.removed_edges or ()],
        "filled": [edges.tolist() for edges in trace.filled_edges or ()],
    }


def first_graph(trace: Trace) -> set[Pair]:
    """Return the moral graph before the first removal, rebuilt from the last step backwards.

    Undoing a removal takes away the edges it filled in, puts back those that it removed, and makes the variable
    adjacent to the neighbours that it had.
    """
    graph: set[Pair] = set()
    for step in reversed(list(trace)):
        graph -= set(map(_pair, step.filled_edges or ()))
        graph |= set(map(_pair, step.removed_edges or ()))
        graph |= {_pair((step.node, neighbour)) for neighbour in step.neighbours or ()}
    return graph


def _pair(ends: Pair) -> Pair:
    return (min(ends), max(ends))
