"""Drawing a laid-out graph with matplotlib: boxes with names, lines and arrows between them, a legend below."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from rfdag.plots import palette
from rfdag.plots.canvas import LARGEST, LEAST, own_axes, size_in_points
from rfdag.plots.labels import PLAIN, labels, width_of
from rfdag.plots.layout import Layout, laid_out
from rfdag.plots.strokes import Stroke, handle

FONT = 9.0
"""Size of a label where the drawing is shown at its own size; lengths are in points."""
LABEL_FONT = 6.5
"""Size of an edge's label."""
BOX = 17.0
"""Height of a node's box."""
PADDING = 6.0
"""From a label to either end of its box."""
UPWARDS = np.array([1.0, -1.0])
"""Turns the points of a layout, whose y grows downwards, into those of axes."""
SMALLEST_FONT = 3.5
"""Below this size, in points, names are left out."""
MARKED = Stroke(palette.ORANGE, 2.2, "-", "target of an intervention")
"""The frame of a marked node."""
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
    opacity: float = 1.0
    label: str = ""


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
    ax: Axes | None,
    names: Sequence[Hashable],
    links: Sequence[Link],
    legend: Sequence[Entry] = (),
    marked: Collection[int] = (),
) -> Axes:
    """Draw nodes, given in causal order, and links, each from an earlier node to a later; return the axes.

    The frames of the ``marked`` nodes, by their places in the order, stand out.
    """
    ends = np.array([(link.source, link.target) for link in links], np.int64).reshape(-1, 2)
    texts = labels(names)
    labelled = any(link.label for link in links)
    layout = laid_out([width_of(text, FONT) + 2 * PADDING for text in texts], ends, BOX, labelled=labelled)
    left, right, top, bottom = layout.extent
    wide, tall = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    if not links:
        legend = [*legend, Entry("no edges")]
    axes = _own_axes(wide, tall, legend) if ax is None else ax
    room = size_in_points(axes)
    # Never enlarged: a small graph on large axes stays a small graph.
    scale = min(room[0] / wide, room[1] / tall, 1.0)
    _set_up(axes, ((left + right) / 2, -(top + bottom) / 2), (room[0] / scale, room[1] / scale))
    for link, route, point in zip(links, layout.routes, layout.label_points(ends), strict=True):
        _draw_link(axes, link, path_of(route), scale)
        if link.label:
            _draw_label(axes, link, point * UPWARDS, scale)
    _draw_nodes(axes, layout, texts, scale, marked)
    notes = [] if FONT * scale >= SMALLEST_FONT else [Entry("too many names to show here")]
    _draw_legend(axes, [*legend, *notes], room[0])
    return axes


def path_of(route: NDArray[np.float64]) -> Path:
    """Return a route as a path of matplotlib."""
    curves = (len(route) - 2) // 4
    codes = [Path.MOVETO, *[Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4] * curves, Path.LINETO]
    return Path(route * UPWARDS, codes)


def _own_axes(wide: float, tall: float, legend: Sequence[Entry]) -> Axes:
    """Return axes on a figure that has the shape of the drawing, and room for all rows of the legend below it."""
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


def _draw_link(axes: Axes, link: Link, path: Path, scale: float) -> None:
    line = FancyArrowPatch(
        path=path,
        arrowstyle=ARROWS[link.arrow],
        mutation_scale=max(9 * scale, 2.5) + link.width,
        color=link.stroke.color,
        alpha=link.opacity,
        linewidth=link.width * max(scale, 0.4),
        linestyle=link.stroke.line,
        capstyle="butt",
        joinstyle="miter",
        zorder=2,
        label=f"_{link.stroke.meaning}",
    )
    # The path ends at the boxes already.
    line.shrinkA = line.shrinkB = 0
    axes.add_artist(line)


def _draw_label(axes: Axes, link: Link, point: NDArray[np.float64], scale: float) -> None:
    size = LABEL_FONT * scale
    if size < SMALLEST_FONT:
        return
    patch = {"facecolor": "white", "edgecolor": "none", "pad": 0.4 * scale, "alpha": 0.85}
    x, y = point.tolist()
    axes.text(
        x, y, link.label, ha="center", va="center", fontsize=size, color=link.stroke.color, bbox=patch, zorder=2.5,
        **PLAIN,
    )  # fmt: skip


def _draw_nodes(axes: Axes, layout: Layout, texts: Sequence[str], scale: float, marked: Collection[int]) -> None:
    size = FONT * scale
    for at, ((x, y), width, text) in enumerate(zip(layout.centre * UPWARDS, layout.width, texts, strict=True)):
        colour, frame = (MARKED.color, MARKED.width) if at in marked else (palette.BLACK, 0.9)
        axes.add_artist(
            FancyBboxPatch(
                (x - width / 2, y - BOX / 2),
                width,
                BOX,
                boxstyle=f"round,pad=0,rounding_size={0.4 * BOX}",
                facecolor="white",
                edgecolor=colour,
                linewidth=max(frame * scale, 0.3),
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
