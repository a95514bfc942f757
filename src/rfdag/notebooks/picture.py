"""The picture of a small graph as inline SVG, without identifiers, which would clash with those of other cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfdag.notebooks.elements import escaped
from rfdag.plots.palette import BLUE_ON_ANY, RED_ON_ANY
from rfdag.plots.svg import SvgGraph, svg_graph
from rfdag.result.remarks import marked

if TYPE_CHECKING:
    from rfdag.result import Edge, Result

MOST_VARIABLES = 30
MOST_EDGES = 120
"""Sizes up to which a graph is drawn: more would be hard to read in a cell."""
MARGIN = 6.0
DASHES = {(True, False): "", (True, True): "1.5 2.5", (False, False): "5 3", (False, True): "7 2 1.5 2"}
"""Dashes of a line, by whether the edge is directed and whether it is a close call."""
HEAD = "l-8 -3.5v7z"
"""An arrowhead, from its tip: edges arrive level, from the left."""


def picture(result: Result) -> str:
    """Return the graph in layers, causes on the left; nothing where it has no edges, or too many."""
    edges = result.edges if len(result.names) <= MOST_VARIABLES else ()
    if not 0 < len(edges) <= MOST_EDGES:
        return ""
    place = {name: at for at, name in enumerate(result.names)}
    ends = ([place[edge.source] for edge in edges], [place[edge.target] for edge in edges])
    graph = svg_graph(result.names, result.causal_order, *ends)
    left, right, top, bottom = graph.layout.extent
    x, y, wide, tall = left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    marks = marked(result)
    lines = "".join(_line(graph, at, edge, close=(edge.source, edge.target) in marks) for at, edge in enumerate(edges))
    boxes = "".join(_box(graph, at) for at in range(len(graph.labels)))
    style = "max-width:100%;height:auto;display:block;margin:6px 0"
    return (
        f'<svg role="img" aria-label="The graph, causes on the left" width="{wide:.0f}" height="{tall:.0f}" '
        f'viewBox="{x:.1f} {y:.1f} {wide:.1f} {tall:.1f}" style="{style}">{lines}{boxes}</svg>'
    )


def _line(graph: SvgGraph, at: int, edge: Edge, *, close: bool) -> str:
    color = BLUE_ON_ANY if edge.directed else RED_ON_ANY
    pattern = DASHES[edge.directed, close]
    dashes = f' stroke-dasharray="{pattern}"' if pattern else ""
    strength = 0.3 if edge.partial_correlation is None else min(1.0, abs(edge.partial_correlation))
    arrow = "→" if edge.directed else "–"
    note = " (close call)" if close else ""
    title = escaped(f"{str(edge.source)[:200]} {arrow} {str(edge.target)[:200]}{note}")
    width = f"{0.8 + 2.4 * strength:.1f}"
    path = f'<path d="{graph.paths[at]}" fill="none" stroke="{color}" stroke-width="{width}"{dashes}>'
    x, y = graph.layout.routes[at][-1]
    head = f'<path d="M{x:.1f} {y:.1f}{HEAD}" fill="{color}"/>' if edge.directed else ""
    return f"{path}<title>{title}</title></path>{head}"


def _box(graph: SvgGraph, at: int) -> str:
    (x, y), wide, tall = graph.layout.centre[at], graph.layout.width[at], graph.layout.box
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="7" '
        'fill="none" stroke="currentColor" stroke-width="1"/>'
        f'<text x="{x:.1f}" y="{y + 4.2:.1f}" text-anchor="middle" fill="currentColor" '
        f'style="font-size:12px;font-family:system-ui,sans-serif">{escaped(graph.labels[at])}</text>'
    )
