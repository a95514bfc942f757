"""The picture of a bootstrap as a graph: every edge by how often it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from rfdag.graphs.dag import order_near
from rfdag.plots import palette
from rfdag.plots.graph import DIRECTED, NARROWEST, UNDIRECTED, WIDEST
from rfdag.plots.layout import LABELLED_UP_TO
from rfdag.plots.network import Entry, Link, draw_network
from rfdag.plots.strokes import Stroke

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap

FAINTEST = 0.3
"""Opacity of an edge that no run has."""
SHARE = Stroke(palette.GREY, WIDEST, "-", "often")
LABEL = "98/71: adjacent / this arrow, in % of the runs"


def draw_frequency_graph(bootstrap: Bootstrap, ax: Axes | None, threshold: float = 0.5) -> Axes:
    """Draw the pairs that are adjacent in enough runs, as the consensus directs them, causes on the left.

    An edge is wider and darker, the more runs have the pair; it is dashed, without an arrowhead, where more runs left
    it undirected, or had it the other way, than had the arrow.
    """
    consensus = bootstrap.consensus(threshold)
    order = order_near(bootstrap.result.causal_order, consensus)
    place = np.argsort(order)
    sources, targets = consensus.nonzero()
    often = bootstrap.edge_frequency[sources, targets]
    arrow = bootstrap.compelled_frequency[sources, targets]
    others = np.maximum(bootstrap.undirected[sources, targets], bootstrap.directed[targets, sources])
    directed = bootstrap.directed[sources, targets] >= others
    labelled = len(sources) <= LABELLED_UP_TO
    links = [
        Link(
            int(place[source]),
            int(place[target]),
            DIRECTED if known else UNDIRECTED,
            NARROWEST + (WIDEST - NARROWEST) * share,
            "target" if known else "none",
            FAINTEST + (1 - FAINTEST) * share,
            _label(share, way, arrow=known) if labelled else "",
        )
        for source, target, share, way, known in zip(
            sources.tolist(), targets.tolist(), often.tolist(), arrow.tolist(), directed.tolist(), strict=True
        )
    ]
    legend = [Entry("most often this way", DIRECTED, arrow=True)] if directed.any() else []
    legend += [] if directed.all() else [Entry("direction unsure", UNDIRECTED)]
    legend += [Entry("wider, darker: in more runs", SHARE)] if links else []
    legend += [Entry(LABEL)] if labelled and directed.any() else []
    legend += [Entry(f"pairs adjacent in {threshold:.0%} of {bootstrap.runs} runs or more")]
    names = [bootstrap.names[at] for at in order.tolist()]
    return draw_network(ax, names, links, legend)


def _label(share: float, way: float, *, arrow: bool) -> str:
    """Return how often a pair is adjacent, and directed this way, in per cent.

    >>> _label(0.984, 0.712, arrow=True), _label(0.984, 0.2, arrow=False)
    ('98/71', '98')
    """
    return f"{100 * share:.0f}/{100 * way:.0f}" if arrow else f"{100 * share:.0f}"
