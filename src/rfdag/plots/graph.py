"""The picture of a result's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from rfdag.graphs.sparse import entries_at
from rfdag.plots import palette
from rfdag.plots.network import MARKED, Entry, Link, draw_network
from rfdag.plots.strengths import Weights, strengths
from rfdag.plots.strokes import Stroke
from rfdag.result.remarks import marked

if TYPE_CHECKING:
    from rfdag.result import Result
    from rfdag.result.exporting import Kind

DIRECTED = Stroke(palette.BLUE, 1.4, "-", "causes")
UNDIRECTED = Stroke(palette.VERMILLION, 1.4, (0, (4, 1.6)), "undirected")
CLOSE_DIRECTED = Stroke(palette.BLUE, 1.4, (0, (1, 1)), "causes (close call)")
CLOSE_UNDIRECTED = Stroke(palette.VERMILLION, 1.4, (0, (4, 1.2, 1, 1.2)), "undirected (close call)")
STROKES = DIRECTED, UNDIRECTED, CLOSE_DIRECTED, CLOSE_UNDIRECTED
NARROWEST, WIDEST = 0.6, 3.2
WIDE = Stroke(palette.GREY, WIDEST, "-", "strong")


def draw_graph(result: Result, ax: Axes | None, graph: Kind, weights: Weights) -> Axes:
    """Draw the CPDAG or the DAG in layers, causes on the left; the wider an edge, the stronger."""
    sources, targets = result.dag.nonzero()
    rank = np.argsort(result.causal_order)
    strength, meaning = strengths(result, weights)
    directed = entries_at(getattr(result, graph), sources, targets) == 1
    width = NARROWEST + (WIDEST - NARROWEST) * strength if meaning else np.full(len(sources), DIRECTED.width)
    marks = marked(result)
    close = [(result.names[i], result.names[j]) in marks for i, j in zip(sources, targets, strict=True)]
    strokes = [STROKES[2 * near + (not arrow)] for near, arrow in zip(close, directed.tolist(), strict=True)]
    links = [
        Link(int(rank[source]), int(rank[target]), stroke, wide, "target" if arrow else "none")
        for source, target, stroke, wide, arrow in zip(sources, targets, strokes, width.tolist(), directed, strict=True)
    ]
    legend = [
        Entry(stroke.meaning, stroke, arrow=stroke in (DIRECTED, CLOSE_DIRECTED))
        for stroke in STROKES
        if stroke in strokes
    ]
    legend += [Entry(f"wider: larger {meaning}", WIDE)] if meaning and links else []
    targets_of = {name for each in result.targets.values() for name in each}
    marked_nodes = {at for at, name in enumerate(result.order) if name in targets_of}
    legend += [Entry(MARKED.meaning, MARKED)] if marked_nodes else []
    return draw_network(ax, result.order, links, legend, marked_nodes)
