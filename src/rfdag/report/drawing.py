"""The graph as the page draws it: nodes and edges in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.plots.layout import LABELLED_UP_TO
from rfdag.plots.svg import svg_graph

if TYPE_CHECKING:
    from rfdag.result import Result


def drawing(
    result: Result, sources: list[int], targets: list[int], missing: list[list[int]], *, labelled: bool = False
) -> dict[str, Any]:
    """Return centre, width and label of every node, and the path of every edge, then of every missing pair.

    ``labelled`` leaves room for labels of edges, if they are not too many.
    """
    ends = [*sources, *(pair[0] for pair in missing)], [*targets, *(pair[1] for pair in missing)]
    labelled = labelled and len(sources) <= LABELLED_UP_TO
    labels, layout, paths, points = svg_graph(result.names, result.causal_order, *ends, labelled=labelled)
    return {
        "x": np.round(layout.centre[:, 0], 1).tolist(),
        "y": np.round(layout.centre[:, 1], 1).tolist(),
        "width": layout.width.tolist(),
        "label": labels,
        "height": layout.box,
        "paths": paths,
        "edge_labels": np.round(points[: len(sources)], 1).tolist() if labelled else None,
        "extent": [round(side, 1) for side in layout.extent],
    }
