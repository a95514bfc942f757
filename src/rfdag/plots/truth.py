"""The picture of a graph against the truth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from rfdag.graphs.comparison import VERDICTS, Comparison, aligned, comparison
from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.labels import labels
from rfdag.plots.network import Entry, Link, draw_network
from rfdag.plots.strokes import Stroke
from rfdag.plots.ticks import name_ticks

if TYPE_CHECKING:
    from rfdag.result import Result
    from rfdag.result.exporting import Kind

RIGHT, MISSING, EXTRA, REVERSED = VERDICTS
STROKES = {
    RIGHT: Stroke(palette.BLACK, 0.9, "-", RIGHT, "."),
    MISSING: Stroke(palette.BLUE, 1.8, (0, (5, 1.8)), MISSING, "s"),
    EXTRA: Stroke(palette.VERMILLION, 1.8, (0, (5, 1.2, 1, 1.2)), EXTRA, "x"),
    REVERSED: Stroke(palette.GREEN, 2.4, (0, (1.2, 1)), REVERSED, "^"),
}
"""By verdict; the marks are those of the matrix."""
GRAPH_UP_TO = 100
"""Number of variables up to which the graph is drawn; above, its matrix."""


def draw_truth(result: Result, ax: Axes | None, graph: Kind, truth: Any) -> Axes:
    """Draw right, missing, extra and reversed edges, with how many there are of each.

    An edge is reversed where both graphs have it, with different directions.

    Equivalence classes are compared for "cpdag" and "icpdag", so that the mistakes add up to the structural Hamming
    distance; the DAGs themselves for "dag".
    """
    compared = compare_to_truth(result, truth, graph)
    if len(result.names) > GRAPH_UP_TO:
        return _draw_marks(result, ax, compared)
    columns = (compared.earlier, compared.later, compared.verdict, compared.arrow)
    links = [
        Link(earlier, later, STROKES[verdict], STROKES[verdict].width, arrow)
        for earlier, later, verdict, arrow in zip(*(column.tolist() for column in columns), strict=True)
    ]
    legend = [Entry(text, STROKES[verdict]) for verdict, text in _counted(compared).items()]
    return draw_network(ax, result.order, links, legend)


def compare_to_truth(result: Result, truth: Any, graph: Kind = "icpdag") -> Comparison:
    """Return the verdict on every pair that is adjacent in the truth or in a result's graph."""
    wanted = result.alike(aligned(truth, result.names), graph)
    return comparison(wanted, getattr(result, graph), result.causal_order)


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
            compared.later[own] + 1, compared.earlier[own] + 1, STROKES[verdict].mark, color=STROKES[verdict].color,
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
