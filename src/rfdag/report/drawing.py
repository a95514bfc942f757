"""The graph as the page draws it: nodes and edges in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.plots.svg import svg_graph

if TYPE_CHECKING:
    from rfdag.result import Result


def drawing(result: Result, sources: list[int], targets: list[int], missing: list[list[int]]) -> dict[str, Any]:
    """Return centre, width and label of every node, and the path of every edge, then of every missing pair."""
    ends = [*sources, *(pair[0] for pair in missing)], [*targets, *(pair[1] for pair in missing)]
    labels, layout, paths = svg_graph(result.names, result.causal_order, *ends)
    return {
        "x": np.round(layout.centre[:, 0], 1).tolist(),
        "y": np.round(layout.centre[:, 1], 1).tolist(),
        "width": layout.width.tolist(),
        "label": labels,
        "height": layout.box,
        "paths": paths,
        "extent": [round(side, 1) for side in layout.extent],
    }
