"""The picture of a small graph as inline SVG: no identifiers, which would clash with those of other cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfdag.notebooks.elements import BLUE, RED, escaped
from rfdag.report.drawing import drawing

if TYPE_CHECKING:
    from rfdag.result import Edge, Result

MOST_VARIABLES = 30
MOST_EDGES = 120
"""Sizes up to which a graph is drawn: more would be hard to read in a cell."""
MARGIN = 6.0
HEAD = "l-8 -3.5v7z"
"""An arrowhead, from its tip: edges arrive level, from the left."""


def picture(result: Result) -> str:
    """Return the graph in layers, causes on the left; nothing where it has no edges, or too many."""
    edges = result.edges if len(result.names) <= MOST_VARIABLES else ()
    if not 0 < len(edges) <= MOST_EDGES:
        return ""
    place = {name: at for at, name in enumerate(result.names)}
    ends = ([place[edge.source] for edge in edges], [place[edge.target] for edge in edges])
    layout = drawing(result, *ends, [])
    x, width = layout["x"], layout["width"]
    left = min(middle - wide / 2 for middle, wide in zip(x, width, strict=True)) - MARGIN
    right = max(middle + wide / 2 for middle, wide in zip(x, width, strict=True)) + MARGIN
    top, tall = layout["top"] + MARGIN, layout["bottom"] - layout["top"] - 2 * MARGIN
    lines = "".join(_drawn(edge, course) for edge, course in zip(edges, layout["courses"], strict=True))
    boxes = "".join(_box(layout, at) for at in range(len(x)))
    style = "max-width:100%;height:auto;display:block;margin:6px 0"
    return (
        f'<svg role="img" aria-label="The graph, causes on the left" width="{right - left:.0f}" height="{tall:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {right - left:.1f} {tall:.1f}" style="{style}">{lines}{boxes}</svg>'
    )


def _drawn(edge: Edge, course: str) -> str:
    color, dashes = (BLUE, "") if edge.directed else (RED, ' stroke-dasharray="5 3"')
    strength = 0.3 if edge.partial_correlation is None else min(1.0, abs(edge.partial_correlation))
    arrow = "→" if edge.directed else "–"
    title = escaped(f"{str(edge.source)[:200]} {arrow} {str(edge.target)[:200]}")
    path = f'<path d="{course}" fill="none" stroke="{color}" stroke-width="{0.8 + 2.4 * strength:.1f}"{dashes}>'
    head = f'<path d="M{_end(course)}{HEAD}" fill="{color}"/>' if edge.directed else ""
    return f"{path}<title>{title}</title></path>{head}"


def _end(course: str) -> str:
    """Return the point at which a course ends: level, so that its last two numbers are height and place.

    >>> _end("M0.0 5.0H10.0C20.0 5.0 20.0 8.5 30.0 8.5H40.0")
    '40.0 8.5'
    """
    before, _, place = course.rpartition("H")
    return f"{place} {before.rpartition(' ')[2]}"


def _box(layout: dict[str, Any], at: int) -> str:
    x, y, wide, tall = layout["x"][at], layout["y"][at], layout["width"][at], layout["height"]
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="7" '
        'fill="none" stroke="currentColor" stroke-width="1"/>'
        f'<text x="{x:.1f}" y="{y + 4.2:.1f}" text-anchor="middle" fill="currentColor" '
        f'style="font-size:12px;font-family:system-ui,sans-serif">{escaped(layout["label"][at])}</text>'
    )
