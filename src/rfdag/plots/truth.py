"""The picture of a graph against the truth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from rfdag.errors import GraphError, listed
from rfdag.graphs.dag import as_dag
from rfdag.graphs.sparse import entries_at, issparse
from rfdag.metrics import equivalence_class
from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.labels import labels
from rfdag.plots.network import Entry, Link, draw_network
from rfdag.plots.strokes import Stroke
from rfdag.plots.ticks import name_ticks

if TYPE_CHECKING:
    from rfdag.exchange.exporting import Kind
    from rfdag.result import Result

STROKES = {
    "right": Stroke(palette.BLACK, 0.9, "-", "right"),
    "missing": Stroke(palette.BLUE, 1.8, (0, (5, 1.8)), "missing"),
    "extra": Stroke(palette.VERMILLION, 1.8, (0, (5, 1.2, 1, 1.2)), "extra"),
    "turned": Stroke(palette.GREEN, 2.4, (0, (1.2, 1)), "directed otherwise"),
}
MARKS = {"right": ".", "missing": "s", "extra": "x", "turned": "^"}
GRAPH_UP_TO = 100
"""Number of variables up to which the graph is drawn; above, its matrix."""
ARROW_OF = np.array(["", "target", "source", "none"])
"""By how a pair is joined: not, forwards, backwards, or without direction."""


class Comparison(NamedTuple):
    """The pairs joined in either graph, by place in the order; missing ones are shown as in the truth."""

    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    verdict: NDArray[np.str_]
    arrow: NDArray[np.str_]


def draw_truth(result: Result, ax: Axes | None, graph: Kind, truth: Any) -> Axes:
    """Draw what is right, missing, extra and directed otherwise, with how many there are of each.

    Equivalence classes are compared for "cpdag", so that the mistakes add up to the structural Hamming distance; the
    DAGs themselves for "dag".
    """
    compared = comparison(result, truth, graph)
    if len(result.names) > GRAPH_UP_TO:
        return _draw_marks(result, ax, compared)
    links = [
        Link(earlier, later, STROKES[verdict], STROKES[verdict].width, arrow)
        for earlier, later, verdict, arrow in zip(*(column.tolist() for column in compared), strict=True)
    ]
    legend = [Entry(text, STROKES[verdict]) for verdict, text in _counted(compared).items()]
    return draw_network(ax, result.order, links, legend)


def comparison(result: Result, truth: Any, graph: Kind = "cpdag") -> Comparison:
    """Return the verdict on every pair that is joined in either graph.

    >>> import rfdag
    >>> found = rfdag.learn([[0, 1, 1], [0, 0, 0], [0, 0, 0]], input="dag")
    >>> sorted(comparison(found, [[0, 1, 0], [0, 0, 0], [0, 0, 0]]).verdict.tolist())
    ['extra', 'right']
    """
    matrix = _matrix_of(result, truth)
    wanted, found = (
        (as_dag(matrix), result.dag) if graph == "dag" else (equivalence_class(matrix), result.cpdag)
    )  # fmt: skip
    if wanted.shape != found.shape:
        raise GraphError(
            f"The truth has {wanted.shape[0]} nodes and the result {found.shape[0]}; compare graphs on the same nodes."
        )
    order, rank = result.causal_order, np.argsort(result.causal_order)
    pairs = np.unique(np.concatenate([_pairs(wanted, rank), _pairs(found, rank)]), axis=0)
    earlier, later = order[pairs].T
    expected, got = _joined(wanted, earlier, later), _joined(found, earlier, later)
    verdict = np.select([expected == got, got == 0, expected == 0], ["right", "missing", "extra"], "turned")
    return Comparison(*pairs.T, verdict, ARROW_OF[np.where(got == 0, expected, got)])


def _pairs(graph: Any, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the joined pairs, by place, the earlier first."""
    ends: NDArray[np.int64] = np.sort(np.stack([rank[end] for end in graph.nonzero()], axis=1), axis=1)
    return ends


def _joined(graph: Any, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 for pairs that are not joined, 1 for arrows forwards, 2 for backwards, 3 for no direction."""
    forwards, backwards = entries_at(graph, earlier, later), entries_at(graph, later, earlier)
    return np.select([forwards == 2, forwards == 1, backwards == 1], [3, 1, 2], 0)


def _matrix_of(result: Result, truth: Any) -> Any:
    """Return the truth as a matrix in the order of the result's columns."""
    names = getattr(truth, "names", None)
    if names is None:
        return truth
    matrix = truth.dag if hasattr(truth, "dag") else truth.matrix
    odd = set(names) ^ set(result.names)
    if odd:
        raise GraphError(f"Only one of truth and result has {listed(odd)}; compare graphs on the same variables.")
    place = {name: at for at, name in enumerate(names)}
    into = np.array([place[name] for name in result.names])
    return matrix.tocsr()[into][:, into] if issparse(matrix) else matrix[np.ix_(into, into)]


def _counted(compared: Comparison) -> dict[str, str]:
    count = Counter(compared.verdict.tolist())
    return {verdict: f"{count[verdict]} {stroke.meaning}" for verdict, stroke in STROKES.items()}


def _draw_marks(result: Result, ax: Axes | None, compared: Comparison) -> Axes:
    """Draw the same as marks in a matrix, which holds more variables."""
    p = len(result.names)
    axes = framed_axes(7.2, 7.6) if ax is None else ax
    size = float(np.clip(900 / p, 1.5, 5))
    for verdict, text in _counted(compared).items():
        own = compared.verdict == verdict
        axes.plot(
            compared.later[own] + 1, compared.earlier[own] + 1, MARKS[verdict], color=STROKES[verdict].color,
            markersize=size, markeredgewidth=0.8, label=text,
        )  # fmt: skip
    axes.set_xlim(0.5, p + 0.5)
    axes.set_ylim(p + 0.5, 0.5)
    axes.set_aspect("equal")
    places, names = np.arange(1, p + 1), labels(result.order, longest=14)
    name_ticks(axes.yaxis, places, names)
    name_ticks(axes.xaxis, places, names, rotation=90)
    axes.set_ylabel("earlier in the found order")
    axes.set_xlabel("later")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, fontsize=8, handletextpad=0.2)
    return axes
