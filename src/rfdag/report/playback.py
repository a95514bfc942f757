"""The elimination as the page replays it."""

from __future__ import annotations

from typing import Any

from rfdag.eliminate.trace import Trace
from rfdag.report.rounding import rounded

Pair = tuple[int, int]


def playback(trace: Trace, refined: bool) -> dict[str, Any]:
    """Return scores and changed edges of every step, and the graph that the first one found.

    >>> import rfdag
    >>> shown = playback(rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag").trace, refined=False)
    >>> shown["initial"], shown["node"][0], shown["removed"][0]
    ([[0, 1], [0, 2], [1, 2]], 2, [[0, 1]])
    """
    recorded = trace.removed_edges is not None and trace.filled_edges is not None and trace.neighbours is not None
    return {
        "node": trace.node.tolist(),
        "removal": trace.removal.tolist(),
        "fill": trace.fill.tolist(),
        "degree": trace.degree.tolist(),
        "ties": trace.ties.tolist(),
        "threshold": rounded(trace.threshold),
        "refined": refined,
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
