"""Drawing a graph: boxes with names in layers, lines and arrows between them, a legend below."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from rfdag.plots import palette
from rfdag.plots.canvas import LARGEST, LEAST, own_axes, size_in_points
from rfdag.plots.labels import PLAIN, labels, width_of
from rfdag.plots.sheet import BOX, FONT, Sheet, laid_out
from rfdag.plots.strokes import Stroke, handle

SMALLEST_FONT = 3.5
"""Below this size, in points, names are left out."""
MARGIN = 10.0
LEGEND = 0.38
"""Height in inches of the strip with a legend of one row."""
LEGEND_ROW = 0.21
"""Height in inches of every further row."""
HANDLE, HANDLE_GAP, ENTRY_GAP = 2.6, 0.8, 1.4
"""Lengths of a legend, in parts of its font's size: a piece of line, from it to its text, between entries."""


class Link(NamedTuple):
    """An edge as it is drawn: along the layers, whichever way its arrow points."""

    source: int
    target: int
    stroke: Stroke
    width: float
    arrow: str
    """Arrowhead at "target", at "source", or "none"."""


class Entry(NamedTuple):
    """A line of the legend."""

    text: str
    stroke: Stroke | None = None
    arrow: bool = False

    @property
    def handle(self) -> Any:
        """A piece of the line, or nothing."""
        if self.stroke is None:
            return Line2D([], [], linestyle="none")
        return handle(self.stroke._replace(mark=">" if self.arrow else ""))


ARROWS = {"target": "-|>", "source": "<|-", "none": "-"}


def draw_network(
    ax: Axes | None, names: Sequence[Hashable], links: Sequence[Link], legend: Sequence[Entry] = ()
) -> Axes:
    """Draw nodes, given in causal order, and links, each from an earlier node to a later; return the axes."""
    ends = np.array([(link.source, link.target) for link in links], np.int64).reshape(-1, 2)
    texts = labels(names)
    sheet = laid_out(texts, ends)
    left, right, low, high = sheet.extent
    wide, tall = right - left + 2 * MARGIN, high - low + 2 * MARGIN
    if not links:
        legend = [*legend, Entry("no edges")]
    axes = _own_axes(wide, tall, legend) if ax is None else ax
    room = size_in_points(axes)
    # Never larger than life: a small graph on large axes stays a small graph.
    scale = min(room[0] / wide, room[1] / tall, 1.0)
    _set_up(axes, ((left + right) / 2, (low + high) / 2), (room[0] / scale, room[1] / scale))
    for link, course in zip(links, sheet.courses, strict=True):
        _draw_link(axes, link, course, scale)
    _draw_nodes(axes, sheet, texts, scale)
    told = [] if FONT * scale >= SMALLEST_FONT else [Entry("too many names to show here")]
    _draw_legend(axes, [*legend, *told], room[0])
    return axes


def _own_axes(wide: float, tall: float, legend: Sequence[Entry]) -> Axes:
    """Return axes on a figure that has the shape of the sheet, and room for all rows of the legend below it."""
    shrunk = min(1.0, 72 * LARGEST[0] / wide, 72 * LARGEST[1] / tall)
    width = max(LEAST[0], shrunk * wide / 72)
    rows = math.ceil(len(legend) / _columns(legend, 72 * width))
    return own_axes(width, shrunk * tall / 72, below=LEGEND + LEGEND_ROW * (rows - 1))


def _columns(legend: Sequence[Entry], room: float) -> int:
    """Return in how many columns the entries fit side by side, filled one column after the other."""
    widths = [FONT * (HANDLE + HANDLE_GAP) + width_of(entry.text, FONT) for entry in legend]
    for columns in range(len(widths), 1, -1):
        widest = [float(part.max()) for part in np.array_split(widths, columns)]
        if sum(widest) + FONT * ENTRY_GAP * columns <= room:
            return columns
    return 1


def _set_up(axes: Axes, centre: tuple[float, float], size: tuple[float, float]) -> None:
    axes.set_axis_off()
    axes.set_xlim(centre[0] - size[0] / 2, centre[0] + size[0] / 2)
    axes.set_ylim(centre[1] - size[1] / 2, centre[1] + size[1] / 2)
    axes.set_aspect("equal")


def _draw_link(axes: Axes, link: Link, course: Any, scale: float) -> None:
    line = FancyArrowPatch(
        path=course,
        arrowstyle=ARROWS[link.arrow],
        mutation_scale=max(9 * scale, 2.5) + link.width,
        color=link.stroke.color,
        linewidth=link.width * max(scale, 0.4),
        linestyle=link.stroke.line,
        capstyle="butt",
        joinstyle="miter",
        zorder=2,
        label=f"_{link.stroke.meaning}",
    )
    # A path ends at the boxes already.
    line.shrinkA = line.shrinkB = 0
    axes.add_artist(line)


def _draw_nodes(axes: Axes, sheet: Sheet, texts: Sequence[str], scale: float) -> None:
    size = FONT * scale
    for (x, y), width, text in zip(sheet.centre, sheet.width, texts, strict=True):
        axes.add_artist(
            FancyBboxPatch(
                (x - width / 2, y - BOX / 2),
                width,
                BOX,
                boxstyle=f"round,pad=0,rounding_size={0.4 * BOX}",
                facecolor="white",
                edgecolor=palette.BLACK,
                linewidth=max(0.9 * scale, 0.3),
                zorder=3,
            )
        )
        if size >= SMALLEST_FONT:
            axes.text(
                x, y, text, ha="center", va="center_baseline", fontsize=size, color=palette.BLACK, zorder=4, **PLAIN
            )


def _draw_legend(axes: Axes, legend: Sequence[Entry], room: float) -> None:
    axes.legend(
        [entry.handle for entry in legend],
        [entry.text for entry in legend],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0.2,
        ncols=_columns(legend, room),
        frameon=False,
        fontsize=FONT,
        handlelength=HANDLE,
        handletextpad=HANDLE_GAP,
        columnspacing=ENTRY_GAP,
    )
