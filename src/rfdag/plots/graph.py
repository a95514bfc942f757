"""The picture of a result's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from rfdag.graphs.sparse import entries_at
from rfdag.plots import palette
from rfdag.plots.network import Entry, Link, draw_network
from rfdag.plots.strengths import Weights, strengths
from rfdag.plots.strokes import Stroke

if TYPE_CHECKING:
    from rfdag.result import Result
    from rfdag.result.exporting import Kind

DIRECTED = Stroke(palette.BLUE, 1.4, "-", "causes")
UNDIRECTED = Stroke(palette.VERMILLION, 1.4, (0, (4, 1.6)), "undirected")
NARROWEST, WIDEST = 0.6, 3.2
WIDE = Stroke(palette.GREY, WIDEST, "-", "strong")


def draw_graph(result: Result, ax: Axes | None, graph: Kind, weights: Weights) -> Axes:
    """Draw the CPDAG or the DAG in layers, causes on the left; the wider an edge, the stronger."""
    sources, targets = result.dag.nonzero()
    rank = np.argsort(result.causal_order)
    strength, meaning = strengths(result, weights)
    directed = np.ones(len(sources), bool) if graph == "dag" else entries_at(result.cpdag, sources, targets) == 1
    width = NARROWEST + (WIDEST - NARROWEST) * strength if meaning else np.full(len(sources), DIRECTED.width)
    strokes = [DIRECTED if known else UNDIRECTED for known in directed]
    links = [
        Link(int(rank[source]), int(rank[target]), stroke, wide, "target" if stroke is DIRECTED else "none")
        for source, target, stroke, wide in zip(sources, targets, strokes, width.tolist(), strict=True)
    ]
    legend = [Entry(DIRECTED.meaning, DIRECTED, arrow=True)] if directed.any() else []
    legend += [] if directed.all() else [Entry(UNDIRECTED.meaning, UNDIRECTED)]
    legend += [Entry(f"wider: larger {meaning}", WIDE)] if meaning and links else []
    return draw_network(ax, result.order, links, legend)
