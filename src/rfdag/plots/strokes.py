"""Kinds of edges: each differs from the others in line as well as in colour, so that it can be told apart in grey."""

from __future__ import annotations

from typing import Any, NamedTuple


class Stroke(NamedTuple):
    """How a kind of edge is drawn, its text in the legend, and its mark where it is drawn as one."""

    color: str
    width: float
    line: Any
    meaning: str
    mark: str = ""


def handle(stroke: Stroke) -> Any:
    """Return what a legend shows of a stroke: a piece of its line with its mark."""
    from matplotlib.lines import Line2D

    return Line2D(
        [0], [0], color=stroke.color, linewidth=stroke.width, linestyle=stroke.line,
        marker=stroke.mark or None, markersize=6, markeredgewidth=1.6,
    )  # fmt: skip
